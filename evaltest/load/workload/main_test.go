package workload

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update to make it")
	text := strings.ReplaceAll(string(want), "\r\n", "\n")
	if diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got). A seed must give the same bytes in every release: is that meant to change?\n%s", path, diff)
	}
}

var longNumber = regexp.MustCompile(`\d+\.\d{7,}`)

// rounded writes numbers with 6 decimals: the last digits may differ between
// processors, of which some multiply and add in one step.
func rounded(text string) string {
	return longNumber.ReplaceAllStringFunc(text, func(s string) string {
		x, _ := strconv.ParseFloat(s, 64)
		return strconv.FormatFloat(x, 'f', 6, 64)
	})
}

// file writes content into a new folder and returns its path.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func ptr[T any](v T) *T { return &v }

var wordList = strings.Fields(`apple river stone cloud maple tiger bread light ocean piano
	green house table music paper glass north south early quiet sharp round plain brave
	seven world field horse train clock money plant`)

// words is a Text of words, as token.Words is: a word is a token, and all texts
// begin with "the".
type words struct{}

func (w words) Make(r *rand.Rand, n int) (string, error) {
	more, err := w.Continue(r, "the", n-1)
	return "the" + more, err
}

func (words) Continue(r *rand.Rand, _ string, n int) (string, error) {
	var b strings.Builder
	b.Grow(6 * n)
	for range n {
		b.WriteByte(' ')
		b.WriteString(wordList[r.IntN(len(wordList))])
	}
	return b.String(), nil
}

// distinct is a Text of words that are all different: what two of its texts
// have in common was meant to be so.
type distinct struct{}

func (d distinct) Make(r *rand.Rand, n int) (string, error) {
	s, err := d.Continue(r, "", n)
	return strings.TrimPrefix(s, " "), err
}

func (distinct) Continue(r *rand.Rand, _ string, n int) (string, error) {
	var b strings.Builder
	for range n {
		b.WriteString(" " + strconv.FormatUint(r.Uint64(), 36))
	}
	return b.String(), nil
}

// searching is a Text as token.Random is: a shorter text is not the beginning
// of a longer one.
type searching struct{ distinct }

func (s searching) Make(r *rand.Rand, n int) (string, error) {
	for range n {
		r.Uint64()
	}
	return s.distinct.Make(r, n)
}

func (s searching) Continue(r *rand.Rand, prefix string, n int) (string, error) {
	for range n + len(prefix)%3 {
		r.Uint64()
	}
	return s.distinct.Continue(r, prefix, n)
}

var errNoText = errors.New("no such text")

// failing is a Text that cannot make some lengths.
type failing struct {
	distinct
	bad func(n int) bool
}

func (f failing) Make(r *rand.Rand, n int) (string, error) {
	if f.bad(n) {
		return "", errNoText
	}
	return f.distinct.Make(r, n)
}

func (f failing) Continue(r *rand.Rand, prefix string, n int) (string, error) {
	if f.bad(n) {
		return "", errNoText
	}
	return f.distinct.Continue(r, prefix, n)
}

// count counts the tokens of words and distinct.
func count(text string) int { return len(strings.Fields(text)) }
