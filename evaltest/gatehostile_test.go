package evaltest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/llm"
)

// nasty are texts that files and models may hold.
var nasty = []string{
	"a/b", `q"'` + "`$HOME", "new\nline\r\t", "日本é\u202e", "%s%d%", "\x1b[31mred", "\x16=== PASS x", "--- FAIL: x", "~s1", "x~s2",
	strings.Repeat("long", 60), "#01", " ", "a b", `\`, "<&>", "\u2028", "^$|()", "zero\x00",
}

// rude answers with nasty text if it is to be wrong.
type rude struct{ name, model string }

func (r rude) Name() string { return r.name }

func (r rude) Execute(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	text := it.Target
	if os.Getenv("RUDE_WRONG") != "" && it.ID != "good" {
		text = "\x1b[2J\x16=== " + it.ID
	}
	return llm.Response{Text: text, Model: r.model, Usage: llm.Usage{Input: 10, Output: 1, Known: true}}, nil
}

func init() {
	scenarios["nasty"] = func(t *testing.T) {
		items := []dataset.Item{{ID: "good", Input: "?", Target: "yes"}}
		for i, s := range nasty {
			items = append(items, dataset.Item{ID: s, Input: "what is " + s, Target: "t" + s, Group: nasty[i%3+4]})
		}
		ds, err := dataset.New("nasty\x1b\x16", items)
		require.NoError(t, err)
		opts := []evaltest.Option{exact, evaltest.Baseline("b.jsonl.gz"), evaltest.MinGroups(0.1)}
		if os.Getenv("RUDE_BY_ITEM") != "" {
			opts = append(opts, evaltest.Comparing(gate.CompareOptions{ByItem: true, EachGroup: true}))
		}
		evaltest.Run(t, ds, rude{"rude\x1b[1m" + os.Getenv("RUDE_NAME"), "m\x1b]0;x\a" + os.Getenv("RUDE_MODEL")}, opts...)
	}
}

// TestNastyTexts: nothing that comes from files and models reaches the output as
// it is, and the items can be run again by the list of the broken ones and by the
// printed command.
func TestNastyTexts(t *testing.T) {
	dir, journals := t.TempDir(), t.TempDir()
	run := func(env []string, args ...string) *child {
		c := newChild(t, "nasty", args...).at(journals)
		c.cmd.Dir, c.cmd.Path = dir, must(filepath.Abs(c.cmd.Path))
		c.cmd.Env = append(c.cmd.Env, env...)
		c.run()
		for i, line := range strings.Split(c.out.String(), "\n") {
			assert.NotRegexp(t, regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u202e\u2028]"), line, "line %d", i)
		}
		assert.NotContains(t, c.out.String(), "%!", "a text was taken for a format")
		return c
	}
	require.Equal(t, 0, run(nil, "-evaltest.update", "-test.v=false").code)
	byItem := "RUDE_BY_ITEM=1"
	c := run([]string{"RUDE_WRONG=1", byItem})
	assert.Equal(t, 1, c.code)
	assert.Contains(t, flat(c), `19 broke ("\x16=== PASS x", "\x1b[31mred", " " and 16 more)`, "escaped once")
	again := run([]string{"RUDE_WRONG=1", byItem}, "-evaltest.failed")
	assert.Contains(t, again.out.String(), fmt.Sprintf("0/%d correct, %d incorrect", len(nasty), len(nasty)))
	assert.Contains(t, again.out.String(), "--- FAIL: TestChild/a%2Fb")
	assert.Contains(t, run([]string{"RUDE_NAME=2"}).out.String(), `strategy was "rude\x1b[1m", is "rude\x1b[1m2"`)
	other := run([]string{"RUDE_MODEL=2"})
	assert.Contains(t, other.out.String(), `model was "m\x1b]0;x\a", is "m\x1b]0;x\a2"`)
	assert.Regexp(t, `(?m)^ +accept +go test .* -evaltest.update '?-evaltest.resume=`, other.out.String(), "it is paid")
	assert.Contains(t, flat(run([]string{"RUDE_MODEL=3"}, "-evaltest.update", "-test.v")), `0 broke, 0 fixed, 0 new, 0 gone; model was "m\x1b]0;x\a"`)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
