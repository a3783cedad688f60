package evaltest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWorkflows holds the workflows to what makes them safe to run on pull
// requests of strangers. There is no YAML parser among this module's
// dependencies, so it looks at lines.
func TestWorkflows(t *testing.T) {
	dir := filepath.Join("..", ".github", "workflows")
	files, err := filepath.Glob(filepath.Join(dir, "*.yml"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, fault := range workflowFaults(string(text)) {
			t.Errorf("%s: %s", path, fault)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(text)
	}
	assert.Regexp(t, `(?m)^ +bash \.ci/compare -count=10 `, read("compare.yml"))
	assert.NotContains(t, read("compare.yml")+read("test.yml"), "secrets.", "no secret where a pull request's code runs")
	assert.Contains(t, read("compare.yml"), "head.repo.full_name == github.repository", "no comment for forks")
	assert.Equal(t, 1, strings.Count(read("live.yml"), "secrets."), "the key is in one step")
	assert.Contains(t, read("live.yml"), "LIVE_BUDGET_USD: ${{ vars.LIVE_BUDGET_USD || '")
}

// workflowFaults says what in a workflow is unsafe.
func workflowFaults(text string) (faults []string) {
	if !regexp.MustCompile(`(?m)^permissions:( \{\}$|\n  contents: read\n)`).MatchString(text) {
		faults = append(faults, "the workflow does not begin with no more than the right to read")
	}
	if strings.Contains(text, "pull_request_target") {
		faults = append(faults, "pull_request_target has the base's secrets and rights")
	}
	if strings.ContainsRune(text, '\t') {
		faults = append(faults, "a tab: YAML has none")
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		trimmed := strings.TrimPrefix(strings.TrimSpace(line), "- ")
		if action, ok := strings.CutPrefix(trimmed, "uses: "); ok && !regexp.MustCompile(`@v\d+\.\d+\.\d+$`).MatchString(action) {
			faults = append(faults, action+" is not pinned by its version")
		}
		if strings.HasPrefix(trimmed, "uses: actions/checkout@") && !strings.Contains(strings.Join(lines[i:min(i+5, len(lines))], "\n"), "persist-credentials: false") {
			faults = append(faults, "a checkout leaves its token behind")
		}
		if strings.HasPrefix(trimmed, "run: ") {
			faults = append(faults, workflowScript(lines, i)...)
		}
	}
	return faults
}

// workflowScript looks at the script of the step that begins at line i.
func workflowScript(lines []string, i int) (faults []string) {
	at := len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
	if strings.TrimPrefix(strings.TrimSpace(lines[i]), "- ") != "run: |" {
		return []string{"a script of one line, without set -euo pipefail: " + lines[i]}
	}
	if strings.TrimSpace(lines[i+1]) != "set -euo pipefail" {
		faults = append(faults, "a script that does not begin with set -euo pipefail: "+lines[i+1])
	}
	for _, line := range lines[i+1:] {
		if strings.TrimSpace(line) != "" && len(line)-len(strings.TrimLeft(line, " ")) <= at {
			break
		}
		if strings.Contains(line, "${{") {
			faults = append(faults, "what an expression comes to becomes part of a script; give it by env: "+line)
		}
	}
	return faults
}

// TestWorkflowFaults: the checks see what they are for.
func TestWorkflowFaults(t *testing.T) {
	good := "name: x\npermissions:\n  contents: read\njobs:\n  x:\n    steps:\n      - uses: actions/checkout@v6.0.2\n        with:\n          persist-credentials: false\n      - run: |\n          set -euo pipefail\n          echo\n      - env: ${{ github.token }}\n"
	require.Empty(t, workflowFaults(good))
	for _, row := range []struct{ name, reason, old, put, want string }{
		{"rights", "all of them by default", "contents: read", "contents: write", "right to read"},
		{"target", "runs with secrets", "name: x", "on: pull_request_target", "pull_request_target"},
		{"branch", "moves", "@v6.0.2", "@main", "not pinned"},
		{"major", "moves", "@v6.0.2", "@v6", "not pinned"},
		{"credentials", "any later step could push", "persist-credentials: false", "fetch-depth: 0", "token"},
		{"unset", "a failed command goes on", "set -euo pipefail", "true", "set -euo pipefail"},
		{"one line", "a failed command goes on", "run: |", "run: echo", "set -euo pipefail"},
		{"expression", "a branch's name is code", "echo", "echo ${{ github.head_ref }}", "give it by env"},
		{"tab", "no YAML", "name: x", "name:\tx", "a tab"},
	} {
		require.NotEmpty(t, row.reason)
		assert.Contains(t, strings.Join(workflowFaults(strings.Replace(good, row.old, row.put, 1)), "\n"), row.want, row.name)
	}
}
