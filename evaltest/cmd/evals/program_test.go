package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// ran is what the program did.
type ran struct {
	stdout, stderr string
	code           int
}

func noEnv(string) string { return "" }

// evals runs the program on words, with stdin.
func evals(stdin string, env func(string) string, words ...string) ran {
	var out, errs bytes.Buffer
	code := execute(strings.NewReader(stdin), &out, &errs, words, env)
	return ran{out.String(), errs.String(), code}
}

// golden compares text with testdata/name, or writes it with -update.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update to make it")
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s mismatch (-want +got); go test -update rewrites it:\n%s", path, diff)
	}
}

// borrowed is what other packages word; their own tests see to it.
var borrowed = []struct {
	re  *regexp.Regexp
	put string
}{
	{regexp.MustCompile(`(:[0-9]+: grade: ).*`), "$1…"},
	{regexp.MustCompile(`(: result: ).*`), "$1…"},
	{regexp.MustCompile(`\(known: .*\)`), "(known: …)"},
}

func (r ran) section(b *strings.Builder, title, stdin string) {
	for _, w := range borrowed {
		r.stderr = w.re.ReplaceAllString(r.stderr, w.put)
	}
	fmt.Fprintf(b, "=== %s\n", title)
	if stdin != "" {
		fmt.Fprintf(b, "--- stdin\n%s\n", strings.TrimSuffix(stdin, "\n"))
	}
	for _, part := range []struct{ name, text string }{{"stdout", r.stdout}, {"stderr", r.stderr}} {
		if part.text != "" {
			fmt.Fprintf(b, "--- %s\n%s", part.name, part.text)
			if !strings.HasSuffix(part.text, "\n") {
				b.WriteString("\n(no newline)\n")
			}
		}
	}
	fmt.Fprintf(b, "--- exit %d\n\n", r.code)
}

// TestProgram shows the program's whole output for each command line.
func TestProgram(t *testing.T) {
	tests := []struct {
		name, reason, args, stdin string
		code                      int
	}{
		{"nothing", "a person who tries it sees what there is", "", "", 2},
		{"help", "asked for: standard output, no error", "help", "", 0},
		{"help grade", "flags and examples", "help grade", "", 0},
		{"help show", "flags and examples", "help show", "", 0},
		{"help merge", "flags and examples", "help merge", "", 0},
		{"merge to nowhere", "needs a file to write", "merge a", "", 2},
		{"merge nothing", "needs parts", "merge -o out.jsonl.gz", "", 2},
		{"merge a missing file", "exit 1", "merge -o testdata/none.out testdata/none.jsonl", "", 1},
		{"help cost", "flags and examples", "help cost", "", 0},
		{"grade -h", "the same as help grade", "grade -h", "", 0},
		{"help of nothing", "names the commands", "help graed", "", 2},
		{"help of two", "one at a time", "help grade show", "", 2},
		{"unknown command", "names the nearest", "gradee", "", 2},
		{"unlike anything", "names no nearest", "xylophone", "", 2},
		{"unknown flag", "says where the flags are listed", "grade -greder numeric", "", 2},
		{"flag without value", "flag's own words", "grade -grader", "", 2},
		{"no grader", "lists them", "grade answers.jsonl", "", 2},
		{"unknown grader", "names the nearest and lists them", "grade -grader numerik", "", 2},
		{"two files", "one at a time", "grade -grader exact-strict a b", "", 2},
		{"list with a file", "a mistake", "grade -list a", "", 2},
		{"list", "one line each", "grade -list", "", 0},
		{"missing file", "exit 1", "grade -grader exact-strict testdata/none.jsonl", "", 1},
		{"folder", "no rows in it", "grade -grader exact-strict testdata", "", 1},
		{"no pattern", "regexp needs one", "grade -grader regexp", "", 2},
		{"bad pattern", "regexp's own words", "grade -grader regexp -pattern (", "", 2},
		{"pattern for another", "would be ignored", "grade -grader f1 -pattern x", "", 2},
		{"locale for another", "would be ignored", "grade -grader choice -locale de", "", 2},
		{"empty locale", "a variable that was not set", "grade -grader numeric -locale=", "", 2},
		{"unknown locale", "refused before any row", "grade -grader numeric -locale tlh", "", 2},
		{"threshold", "out of range", "grade -grader f1 -threshold 1.5", "", 2},
		{"threshold not a number", "flag's own words", "grade -grader f1 -threshold much", "", 2},
		{"cost of two files", "one at a time", "cost a b", "", 2},
		{"cost of a missing file", "exit 1", "cost testdata/none.jsonl", "", 1},
		{"cost by a missing table", "exit 1", "cost -prices testdata/none.tsv testdata/usage.jsonl", "", 1},
		{"cost by no table", "names file, line, field and value", "cost -prices testdata/broken-prices.tsv testdata/usage.jsonl", "", 1},
		{"cost by a table of one's own", "over the default's", "cost -prices testdata/prices.tsv -model our-model testdata/unnamed.jsonl", "", 0},
		{"show nothing", "needs a name", "show", "", 2},
		{"show two", "one at a time", "show a b", "", 2},
		{"show a missing file", "exit 1", "show testdata/none.jsonl", "", 1},
		{"show no journal", "a file of rows is none", "show testdata/answers.jsonl", "", 1},
		{"show a file under a folder", "would be ignored", "show a -journal b", "", 2},
		{"show failures", "out of range", "show a -failures -2", "", 2},
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, tt := range tests {
		require.NotEmpty(t, tt.reason, tt.name)
		require.False(t, seen[tt.name], "two rows %q", tt.name)
		seen[tt.name] = true
		r := evals(tt.stdin, noEnv, strings.Fields(tt.args)...)
		assert.Equal(t, tt.code, r.code, "%s: %s\n%s", tt.name, tt.reason, r.stderr)
		assert.Equal(t, tt.code == 0, r.stderr == "", "%s: an error, and only that, is on stderr", tt.name)
		r.section(&b, tt.name+": evals "+tt.args, tt.stdin)
	}
	golden(t, "program.golden", b.String())
}

func TestEscapedErrors(t *testing.T) {
	r := evals("", noEnv, "show", "a\x1b]0;x\x07\u202eb\n.jsonl")
	assert.Equal(t, 1, r.code)
	assert.NotContains(t, r.stderr, "\x1b")
	assert.NotContains(t, r.stderr, "\u202e")
	assert.Contains(t, r.stderr, `\x1b`)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestOutputError(t *testing.T) {
	var errs bytes.Buffer
	for _, args := range [][]string{
		{"help"},
		{"grade", "-list"},
		{"grade", "-grader", "exact-strict", "testdata/answers.jsonl"},
		{"cost", "testdata/usage.jsonl"},
	} {
		errs.Reset()
		code := execute(strings.NewReader(""), fullDisk{}, &errs, args, noEnv)
		assert.Equal(t, 1, code, "%v", args)
		assert.Contains(t, errs.String(), "file already closed", "%v", args)
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"grade", "help", "show"}
	for name, want := range map[string]string{
		"gradee": "grade", "SHOW": "show", "sho": "show", "hlep": "help", "": "", "xylophone": "", strings.Repeat("x", 1000): "",
	} {
		got := didYouMean(name, known)
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		assert.Equal(t, want, got, "%.20q", name)
	}
}

var _ io.Writer = fullDisk{}
