package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCases grades the real answers of the shared cases as a user would: the
// fixture itself is the row. Replies of judges are read by judge-reply, and what
// is ungraded must be.
func TestCases(t *testing.T) {
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(dir, "cases", "cases.json"))
	if os.IsNotExist(err) {
		t.Skip("cases/cases.json is not here; it lies beside the project, in the folder that EVALTEST_SHARED names (default ../shared)")
	}
	require.NoError(t, err)
	var cases []struct {
		ID, Title string
		Fixtures  []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(text, &cases))
	graded, judged := 0, 0
	for _, c := range cases {
		for _, row := range c.Fixtures {
			var f struct{ Grader, Expect any }
			require.NoError(t, json.Unmarshal(row, &f))
			name, _ := f.Grader.(string)
			if name == "judge" {
				name = "judge-reply"
			}
			if _, err := kindByName(name); err != nil {
				continue // of a price
			}
			graded++
			r := evals(oneLine(t, row), noEnv, "grade", "-grader", name)
			require.Equal(t, 0, r.code, "%s %s: %s\n%s", c.ID, c.Title, row, r.stderr)
			out := outRows(t, r.stdout)
			require.Len(t, out, 1)
			if name == "judge-reply" {
				want := map[any]string{"pass": "correct", "fail": "incorrect", "ungraded": "ungraded"}[f.Expect]
				assert.Equal(t, want, out[0].Verdict, "%s %s: %s\n%s", c.ID, c.Title, row, r.stdout)
				judged++
				continue
			}
			assert.Equal(t, f.Expect == "pass", out[0].Verdict == "correct", "%s %s: %s\n%s", c.ID, c.Title, row, r.stdout)
		}
	}
	assert.Greater(t, graded, 50)
	assert.Greater(t, judged, 10)
}

func oneLine(t *testing.T, v json.RawMessage) string {
	t.Helper()
	b, err := json.Marshal(v) // compacts
	require.NoError(t, err)
	return string(b)
}
