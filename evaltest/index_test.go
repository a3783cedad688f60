package evaltest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// namedCases are the cases of clients, limits, usage and cost. Those of other
// kinds have tests under other names.
var namedCases = []string{
	"C01", "C03", "C04", "C06", "C08", "C09", "C11", "C12", "C13", "C15", "C16", "C18",
	"L01", "L03", "L05", "L07", "L08", "L10", "L11", "L13",
	"U01", "U03", "U05", "U06", "U08", "U10", "U11", "U12", "U14", "U15",
}

// namedTraps is how many traps there are: 1 to 25.
const namedTraps = 25

var namedTest = regexp.MustCompile(`(?m)^func Test(Case[A-Z]\d\d|Trap\d\d)([A-Z]\w*)?\(t \*testing\.T\)`)

// namedTests are the files that have a test for a case or a trap, relative to
// root, by "CaseC01" and "Trap01".
func namedTests(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		for _, m := range namedTest.FindAllSubmatch(src, -1) {
			found[string(m[1])] = append(found[string(m[1])], filepath.ToSlash(rel)+" Test"+string(m[1])+string(m[2]))
		}
		return err
	}))
	return found
}

// TestIndex finds a test for each trap and each case by its name, and lists
// them with -v.
func TestIndex(t *testing.T) {
	var want []string
	for _, id := range namedCases {
		want = append(want, "Case"+id)
	}
	for n := range namedTraps {
		want = append(want, fmt.Sprintf("Trap%02d", n+1))
	}
	found := namedTests(t, "..")
	for _, name := range want {
		if assert.NotEmpty(t, found[name], "no test is called Test%s…", name) {
			t.Logf("%s\n\t%s", name, strings.Join(found[name], "\n\t"))
		}
	}
	for name, tests := range found {
		if strings.HasPrefix(name, "Trap") {
			assert.Contains(t, want, name, "%v: there is no such trap", tests)
		}
	}
	t.Run("shared", sharedIndex)
}

// sharedIndex compares the two lists with where they come from, which lies
// beside the project, in the folder that EVALTEST_SHARED names.
func sharedIndex(t *testing.T) {
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(dir, "cases", "cases.json"))
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("EVALTEST_SHARED") == "" {
		t.Skip("cases/cases.json is not here; EVALTEST_SHARED names its folder (default ../shared)")
	}
	require.NoError(t, err)
	var cases []struct{ ID, Area string }
	require.NoError(t, json.Unmarshal(text, &cases))
	var ids []string
	for _, c := range cases {
		if c.Area == "client" || c.Area == "limits" || c.Area == "usage-cost" {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	assert.Equal(t, namedCases, ids)

	text, err = os.ReadFile(filepath.Join(dir, "reference", "async-batch-llm.md"))
	require.NoError(t, err)
	assert.Len(t, regexp.MustCompile(`(?m)^\| T\d+ \|`).FindAll(text, -1), namedTraps)
}
