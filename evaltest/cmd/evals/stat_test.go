package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
)

// marked are records of one item each: x is correct, . is not.
func marked(marks string) (list []result.Record) {
	for i, m := range marks {
		if m == 'x' {
			list = append(list, record(fmt.Sprintf("i%02d", i), "a", "a", result.Correct, grade.Correct))
		} else {
			list = append(list, record(fmt.Sprintf("i%02d", i), "b\x1b[2J", "a", result.Incorrect, grade.Incorrect))
		}
	}
	return list
}

func TestStat(t *testing.T) {
	done := &result.End{Complete: true}
	good, bad := strings.Repeat("x", 20), "......."+strings.Repeat("x", 13)
	old := journal(t, t.TempDir(), "TestA", done, "", marked(good)...)
	worse := journal(t, t.TempDir(), "TestA", done, "", marked(bad)...)
	cut := journal(t, t.TempDir(), "TestA", nil, "", marked(good[:15])...)
	few := journal(t, t.TempDir(), "TestA", done, "", marked("xx.")...)

	base := filepath.Join(t.TempDir(), "base.jsonl.gz")
	run, _, err := readRun(old)
	require.NoError(t, err)
	f, err := os.Create(base)
	require.NoError(t, err)
	require.NoError(t, run.WriteGzip(f))
	require.NoError(t, f.Close())
	other := filepath.Join(t.TempDir(), "other.jsonl")
	run.Header.Fingerprint["grader"] = "numeric"
	f, err = os.Create(other)
	require.NoError(t, err)
	require.NoError(t, run.Write(f))
	require.NoError(t, f.Close())
	damaged := filepath.Join(t.TempDir(), "damaged.jsonl")
	require.NoError(t, os.WriteFile(damaged, []byte(`{"format":"evals.baseline/9"}`+"\n"), 0o600))

	bom := filepath.Join(t.TempDir(), "bom.jsonl")
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(bom, append([]byte("\ufeff"), text...), 0o600))
	in := func(group string, list []result.Record) []result.Record {
		for i := range list {
			list[i].Item.Group = group
		}
		return list
	}
	alone := in("h", marked(strings.Repeat("x", 21)))[20:]
	grouped := journal(t, t.TempDir(), "TestA", done, "", append(in("g", marked(good)), alone...)...)
	fallen := journal(t, t.TempDir(), "TestA", done, "", append(in("g", marked(strings.Repeat(".", 20))), alone...)...)

	for _, tt := range []struct {
		name, reason string
		args         []string
		code         int
		out, err     string
	}{
		{"the same", "nothing changed", []string{old, old}, 0, "verdict  no evidence of a drop: accuracy 100.0% before, 100.0% now", ""},
		{"worse", "a verdict is no mistake", []string{old, worse}, 0, "verdict  regressed: accuracy 100.0% before, 65.0% now (-35.0 points, 95% interval -56.7 to -13.2) over 20 items in both runs; 7 broke", ""},
		{"worse, fail", "for scripts", []string{"-fail", old, worse}, 1, "verdict  regressed", "evals: stat: regressed"},
		{"flags after", "as everywhere", []string{old, worse, "-exact", "-alpha", "0.001"}, 0, "verdict  no evidence of a drop", ""},
		{"better", "", []string{worse, old}, 0, "verdict  improved", ""},
		{"items", "the first", []string{"-items", "2", old, worse}, 0, "broke    i01: correct, incorrect\nbroke    and 5 more; -items -1 lists all\n", ""},
		{"all items", "", []string{"-items", "-1", old, worse}, 0, "broke    i06: correct, incorrect\n", ""},
		{"a baseline", "either kind of file", []string{base, worse}, 0, "verdict  regressed", ""},
		{"another grader", "compared, and told", []string{other, old}, 0, "differs  grader was \"numeric\", is \"exact-strict\"\nverdict  no evidence", ""},
		{"cut off", "what is missing is told", []string{old, cut}, 0, "warning  new: the run did not come to an end", ""},
		{"gone", "and listed", []string{old, cut}, 0, "gone     i15: correct, not there\n", ""},
		{"a byte order mark", "a baseline all the same, and what to do", []string{bom, old}, 1, "", "line 1: a byte order mark: save it without one"},
		{"a group", "no p of 0, no 1 items", []string{"-each-group", "-by-item", grouped, fallen}, 0, "group    \"g\": 20 items, 20 broke, 0 fixed, p < 0.0001, corrected < 0.0001\ngroup    \"h\": 1 item, ", ""},
		{"few", "", []string{few, few, "-fail"}, 1, "verdict  not enough data: not even", "evals: stat: not enough data"},
		{"detect", "", []string{"-detect", "0.01", old, old}, 0, "the drop to be detected is 1.0 points, which takes about", ""},
		{"one run", "", []string{old}, 2, "", "name two runs"},
		{"alpha", "", []string{"-alpha", "5", old, old}, 2, "", "Alpha 5"},
		{"alpha 0", "not the default by accident", []string{"-alpha", "0", old, old}, 2, "", "-alpha 0"},
		{"no file", "", []string{old, filepath.Join(t.TempDir(), "none")}, 1, "", "none"},
		{"damaged", "file, line and field", []string{damaged, old}, 1, "", `damaged.jsonl: line 1, field "format"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := evals("", noEnv, append([]string{"stat"}, tt.args...)...)
			assert.Equal(t, tt.code, r.code, "%s: %s%s", tt.reason, r.stdout, r.stderr)
			assert.Contains(t, r.stdout, tt.out, tt.reason)
			assert.Contains(t, r.stderr, tt.err, tt.reason)
			assert.NotContains(t, r.stdout+r.stderr, "\x1b")
		})
	}
	assert.Equal(t, 0.05, gate.DefaultAlpha, "as the help says")
}
