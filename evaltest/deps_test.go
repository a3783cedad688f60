package evaltest_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/goevals/evals"

// rank is the order of the top-level folders: an arrow goes from a higher rank
// to a lower one. The root tests ("") stand above all.
var rank = map[string]int{"dataset": 0, "llm": 0, "grade": 1, "judge": 2, "evaltest": 3, "": 4}

// only says which packages may import a standard package outside tests. A name
// ending in /… stands for what lies below it.
var only = map[string][]string{
	"testing":  {"evaltest", "evaltest/load", "llm/llmtest"},
	"flag":     {"evaltest", "evaltest/load", "evaltest/cmd/…"},
	"net/http": {"llm/…", "dataset/gsm8k", "evaltest/load", "evaltest/load/…", "evaltest/service/…", "evaltest/service", "evaltest/cmd/…"},
}

// evaltest must not make every test pay for these, not even indirectly.
var heavy = []string{"github.com/sashabaranov/go-openai", "google.golang.org/genai", "html/template", "database/sql"}

// policy returns the arrows in imports (folder → what its non-test files
// import) that the design forbids, each as a sentence.
func policy(imports map[string][]string) (bad []string) {
	refuse := func(from, to, why string) { bad = append(bad, fmt.Sprintf("%s imports %s: %s", from, to, why)) }
	for from, list := range imports {
		for _, to := range list {
			if allowed, ok := only[to]; ok && !slices.ContainsFunc(allowed, func(a string) bool { return a == from || below(from, a) }) {
				refuse(from, to, "only "+strings.Join(allowed, ", ")+" may")
			}
			if from == "llm" && strings.Contains(strings.Split(to, "/")[0], ".") {
				refuse(from, to, "the contract imports the standard library only")
			}
			inner, ok := strings.CutPrefix(to, module+"/")
			if !ok {
				continue
			}
			fromTop, toTop := top(from), top(inner)
			switch {
			case fromTop != toTop && rank[toTop] >= rank[fromTop]:
				refuse(from, inner, "arrows go dataset, llm ← grade ← judge ← evaltest ← root")
			case fromTop != "evaltest" && strings.HasPrefix(inner, from+"/"):
				refuse(from, inner, "a contract never imports its children")
			case inner == "evaltest" && from != "" && !below(from, "evaltest/cmd/…"):
				refuse(from, inner, "under evaltest only the programs import it")
			}
		}
	}
	for dep, via := range closure(imports, "evaltest") {
		if slices.ContainsFunc(heavy, func(h string) bool { return dep == h || strings.HasPrefix(dep, h+"/") }) {
			refuse("evaltest", dep, "through "+via+": a test that uses an SDK pays for it, not every test")
		}
	}
	slices.Sort(bad)
	return bad
}

func top(dir string) string { return strings.Split(dir, "/")[0] }

func below(dir, pattern string) bool {
	prefix, ok := strings.CutSuffix(pattern, "…")
	return ok && strings.HasPrefix(dir, prefix)
}

// closure returns all that dir reaches inside the module, each with the
// package that imports it.
func closure(imports map[string][]string, dir string) map[string]string {
	via, queue := map[string]string{}, []string{dir}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, to := range imports[from] {
			if _, seen := via[to]; seen {
				continue
			}
			via[to] = from
			if inner, ok := strings.CutPrefix(to, module+"/"); ok {
				queue = append(queue, inner)
			}
		}
	}
	return via
}

// readImports parses every non-test file below root, whatever its build tags.
func readImports(t *testing.T, root string) map[string][]string {
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		require.NoError(t, err)
		rel, err := filepath.Rel(root, filepath.Dir(name))
		require.NoError(t, err)
		dir := path.Clean(filepath.ToSlash(rel))
		if dir == "." {
			dir = ""
		}
		for _, spec := range file.Imports {
			to, _ := strconv.Unquote(spec.Path.Value)
			imports[dir] = append(imports[dir], to)
		}
		return nil
	})
	require.NoError(t, err)
	return imports
}

// TestDependencies keeps the direction of imports that design.md draws.
func TestDependencies(t *testing.T) {
	imports := readImports(t, "..")
	require.Greater(t, len(imports), 10, "the walk found too few packages to be true")
	assert.Empty(t, policy(imports))
}

func TestDependencyPolicy(t *testing.T) {
	m := func(s string) string { return module + "/" + s }
	for _, row := range []struct{ name, reason, from, to, want string }{
		{"grade to llm", "an arrow that the design draws", "grade", m("llm"), ""},
		{"child to contract", "an arrow that the design draws", "llm/openai", m("llm"), ""},
		{"evaltest to its rooms", "the roof stands on its rooms", "evaltest", m("evaltest/run"), ""},
		{"program to evaltest", "programs may", "evaltest/cmd/evals", m("evaltest"), ""},
		{"upward", "graders know nothing of runs", "grade", m("evaltest/result"), "arrows go"},
		{"sideways", "items know nothing of models", "dataset", m("llm"), "arrows go"},
		{"contract to child", "every client would come along", "llm", m("llm/wire"), "never imports its children"},
		{"room to roof", "rooms must work without testing", "evaltest/run", m("evaltest"), "only the programs"},
		{"testing in a room", "would link testing into servers", "evaltest/gate", "testing", "may"},
		{"flag in a library", "would define flags in every program", "dataset", "flag", "may"},
		{"http in a grader", "graders are pure", "grade/peer", "net/http", "may"},
		{"dependency of the contract", "the contract is for everybody", "llm", "github.com/x/y", "standard library only"},
		{"SDK under evaltest", "one hop away still costs", "evaltest/report", "html/template", "every test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			imports := map[string][]string{"evaltest": {m("evaltest/report")}}
			imports[row.from] = append(imports[row.from], row.to)
			got := strings.Join(policy(imports), "\n")
			if row.want == "" {
				assert.Empty(t, got, row.reason)
			} else {
				assert.Contains(t, got, row.want, row.reason)
			}
		})
	}
}
