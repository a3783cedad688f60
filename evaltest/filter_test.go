package evaltest

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNameFilter(t *testing.T) {
	for _, row := range []struct {
		name, reason, run, skip string
		deeper                  bool
		ids                     map[string]bool // subtest of TestX: selected
	}{
		{"none", "nothing given", "", "", false, map[string]bool{"a": true}},
		{"test only", "the pattern ends at the test", "TestX", "", false, map[string]bool{"a": true}},
		{"one item", "the printed -run", "^TestX$/^a$", "", true, map[string]bool{"a": true, "ab": false}},
		{"any test", "an empty element matches all", "/^a$", "", true, map[string]bool{"a": true, "b": false}},
		{"deeper still", "t.Run runs what may have such a subtest", "TestX/a/b", "", true, map[string]bool{"a": true, "b": false}},
		{"alternation", "split at the top level", "TestY|TestX/^b$", "", true, map[string]bool{"a": false, "b": true}},
		{"alternation within", "not split in parentheses", "TestX/^(a|b)$", "", true, map[string]bool{"a": true, "b": true, "c": false}},
		{"slash in a class", "not split in brackets", "TestX/[a/]$", "", true, map[string]bool{"a": true, "b": false}},
		{"escaped", "as the printed -run escapes", `TestX/^a\|b$`, "", true, map[string]bool{"a": false}},
		{"skip one", "the rest runs", "", "TestX/^a$", true, map[string]bool{"a": false, "b": true}},
		{"skip deeper", "a partial match does not skip", "", "TestX/a/b", true, map[string]bool{"a": true}},
		{"run and skip", "both count", "TestX/a", "TestX/ab", true, map[string]bool{"a": true, "ab": false, "c": false}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newNameFilter(row.run, row.skip)
			assert.Equal(t, row.deeper, f.deeper("TestX"), row.reason)
			for id, want := range row.ids {
				assert.Equal(t, want, f.selects("TestX/"+id), "%s: %s", row.reason, id)
			}
		})
	}
}

// FuzzAlternatives: what testing accepts never panics here, and a quoted name
// selects itself.
func FuzzAlternatives(f *testing.F) {
	for _, s := range []string{"", "a", "a/b", "a|b/c", "[a/]|(b|c)/d", `a\/b`, `\`, "]", ")", "(", "a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		newNameFilter(s, s).selects("TestX/a")
		name := subtestName(s, 0)
		if !newNameFilter("^TestX$/^"+regexp.QuoteMeta(name)+"$", "").selects("TestX/" + name) {
			t.Errorf("%q does not select itself", name)
		}
	})
}
