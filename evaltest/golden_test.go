package evaltest_test

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOutput compares what scenarios print with golden files.
func TestOutput(t *testing.T) {
	for _, row := range []struct {
		name, reason, scenario string
		args, env              []string
		code                   int
	}{
		{name: "pass", reason: "a passing run prints nothing", scenario: "pass"},
		{name: "pass-verbose", reason: "one line an item, then the summary", scenario: "pass", args: []string{"-test.v"}},
		{name: "assertion", reason: "without a gate every item is an assertion", scenario: "assertion", code: 1},
		{name: "gate-failed", reason: "the gate decides, items are skipped", scenario: "gate failed", code: 1},
		{name: "gate-failed-verbose", reason: "a skipped item says why, and is never a false PASS", scenario: "gate failed", args: []string{"-test.v"}, code: 1},
		{name: "gate-passed-verbose", reason: "items that are not correct are skipped", scenario: "gate passed", args: []string{"-test.v"}},
		{name: "narrowed", reason: "-run makes an assertion of the item and leaves the gate out", scenario: "gate passed", args: []string{"-test.run=^TestChild$/^spain$"}, code: 1},
		{name: "narrowed-verbose", reason: "a correct item passes, the gate is not evaluated", scenario: "gate failed", args: []string{"-test.run=^TestChild$/^italy$", "-test.v"}},
		{name: "narrowed-by-skip", reason: "-skip narrows too", scenario: "gate failed", args: []string{"-test.skip=^TestChild$/^(spain|peru)$", "-test.v"}},
		{name: "narrowed-by-ids", reason: "as with -run", scenario: "gate failed", env: []string{"EVALTEST_IDS=peru"}, code: 1},
		{name: "narrowed-to-nothing", reason: "no green run on nothing", scenario: "gate passed", args: []string{"-test.run=^TestChild$/^Spain$"}, code: 1},
		{name: "failfast", reason: "what -failfast leaves out did not run", scenario: "assertion", args: []string{"-test.failfast"}, code: 1},
		{name: "failfast-flags", reason: "the command to go on has the flags that the run had", scenario: "assertion", args: []string{"-test.failfast", "-evaltest.limit=3", "-evaltest.dir=$DIR/it's"}, code: 1},
		{name: "wrong-grader", reason: "told before anything is asked and paid for", scenario: "wrong grader", code: 1},
		{name: "past-the-cassette", reason: "what was asked was not what was recorded, so a pass would say nothing", scenario: "past the cassette", code: 1},
		{name: "hostile", reason: "a reply forges nothing", scenario: "hostile", code: 1},
		{name: "hostile-verbose", reason: "nor in the line of a correct item", scenario: "hostile accepted", args: []string{"-test.v"}},
		{name: "dead-endpoint", reason: "T12: nothing passes, the cause is told once, the rest is not tried", scenario: "dead endpoint", code: 1},
		{name: "prepare-fails", reason: "nothing is run and the cause is told once", scenario: "prepare fails", code: 1},
		{name: "close-fails", reason: "T23: what was not given back fails the test, the answers stand", scenario: "close fails", code: 1},
		{name: "budget", reason: "the money is spent: the rest is not begun, and the test fails", scenario: "budget", code: 1},
		{name: "budget-unpriced", reason: "U10: what has no price is not free", scenario: "budget unpriced", code: 1},
		{name: "bad-budget", reason: "every limit that cannot be meant, with its value", scenario: "bad budget", code: 1},
		{name: "three-times", reason: "T16: the times of attempt, item and run are three, and the text says which it was", scenario: "three times", code: 1},
		{name: "second-run", reason: "refused", scenario: "second run", code: 1},
		{name: "bubble", reason: "refused before anything is written", scenario: "bubble", code: 1},
		{name: "name-taken", reason: "an item under another name could not be found by -run", scenario: "name taken", code: 1},
		{name: "nil-dataset", reason: "misuse", scenario: "nil dataset", code: 1},
		{name: "nil-strategy", reason: "misuse", scenario: "nil strategy", code: 1},
		{name: "no-grader", reason: "misuse", scenario: "no grader", code: 1},
		{name: "bad-options", reason: "all at once, with their values", scenario: "bad options", code: 1},
		{name: "bad-environment", reason: "the variable, its value, what is allowed", scenario: "pass", env: []string{"EVALTEST_PARALLEL=many", "EVALTEST_TIMEOUT=5", "EVALTEST_MIN_ACCURACY=80"}, code: 1},
		{name: "misspelt", reason: "a limit that nobody reads is none; a project's own variable is let be", scenario: "pass", env: []string{"EVALTEST_LIMT=2", "EVALTEST_MAXCOST=1", "EVALTEST_MODEL=m", "EVALTEST_SHARED=x", "EVALTEST_DB=y"}, code: 1},
		{name: "bad-flags", reason: "a flag wins over the variable, and is named", scenario: "pass", env: []string{"EVALTEST_PARALLEL=4"}, args: []string{"-evaltest.parallel=0", "-evaltest.sample=5/x", "-evaltest.limit="}, code: 1},
		{name: "unknown-id", reason: "a typo is not an empty run", scenario: "pass", env: []string{"EVALTEST_IDS=frances"}, code: 1},
		{name: "no-file", reason: "the caller's line and what to do", scenario: "no file", code: 1},
		{name: "samples", reason: "one subtest a sample", scenario: "samples", code: 1},
		{name: "allowed-errors-verbose", reason: "an allowed error is skipped, not failed", scenario: "allowed errors", args: []string{"-test.v"}},
		{name: "report", reason: "what the test itself can read of the run", scenario: "report"},
		{name: "nothing-to-resume", reason: "says so", scenario: "pass", args: []string{"-evaltest.resume"}, code: 1},
		{name: "nothing-failed", reason: "says so", scenario: "pass", args: []string{"-evaltest.failed"}, code: 1},
		{name: "count", reason: "each count asks and pays anew", scenario: "pass", args: []string{"-test.count=2", "-test.v"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newChild(t, row.scenario)
			for _, arg := range row.args {
				c.cmd.Args = append(c.cmd.Args, strings.ReplaceAll(arg, "$DIR", c.dir))
			}
			c.cmd.Env = append(c.cmd.Env, row.env...)
			c.run()
			assert.Equal(t, row.code, c.code, row.reason)
			golden(t, row.name, c.text())
		})
	}
}

// event is one of go test -json.
type event struct{ Action, Test, Output, Key, Value string }

// events converts what the child printed, as go test -json does.
func (c *child) events() []event {
	c.t.Helper()
	conv := exec.Command("go", "tool", "test2json", "-t", "-p", "m")
	conv.Stdin = &c.out
	out, err := conv.Output()
	require.NoError(c.t, err)
	var all []event
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		var e event
		require.NoError(c.t, json.Unmarshal(lines.Bytes(), &e))
		all = append(all, e)
	}
	return all
}

// TestJSON: T01, T02, T04. Under -json every subtest has exactly one terminal
// event and one attribute, whatever replies hold, and nothing that XML cannot
// carry is printed.
func TestJSON(t *testing.T) {
	for _, row := range []struct {
		name, scenario string
		want           map[string]string // subtest: its terminal event
	}{
		{"hostile", "hostile", map[string]string{"france": "fail", "spain": "fail", "italy": "pass"}},
		{"hostile accepted", "hostile accepted", map[string]string{"france": "pass", "spain": "pass", "italy": "pass"}},
		{"gate", "gate failed", map[string]string{"france": "pass", "spain": "skip", "italy": "pass", "peru": "skip"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, attrs := map[string]string{}, map[string]int{}
			for _, e := range newChild(t, row.scenario, "-test.v=test2json").run().events() {
				for _, r := range e.Output {
					require.True(t, r == '\n' || r == '\t' || r >= ' ' && r != 0xfffe && r != 0xffff && r != 0x7f, "%q in %q", r, e.Output)
				}
				item, ok := strings.CutPrefix(e.Test, "TestChild/")
				if !ok {
					require.Contains(t, []string{"", "TestChild"}, e.Test, "a forged test")
					continue
				}
				switch e.Action {
				case "pass", "fail", "skip":
					require.Empty(t, got[item], "a second terminal event of %s", item)
					got[item] = e.Action
				case "attr":
					assert.Equal(t, "evaltest", e.Key)
					assert.Contains(t, e.Value, "outcome=")
					attrs[item]++
				}
			}
			assert.Equal(t, row.want, got)
			for item := range row.want {
				assert.Equal(t, 1, attrs[item], item)
			}
		})
	}
}

// TestMisbehaving: T06. A strategy that panics, ends its goroutine, misuses
// the outer t, or hangs, costs its own item only.
func TestMisbehaving(t *testing.T) {
	t.Parallel()
	c := newChild(t, "misbehaving", "-test.v").run()
	text := c.text()
	assert.Equal(t, 1, c.code)
	for _, id := range []string{"france", "spain", "italy", "peru", "n004"} {
		assert.Contains(t, text, "--- FAIL: TestChild/"+id+" ")
	}
	for _, id := range []string{"n005", "n006", "n007"} {
		assert.Contains(t, text, "--- PASS: TestChild/"+id+" ")
	}
	assert.Contains(t, text, "no such model")
	assert.Contains(t, text, "scenario_test.go", "the panic's stack leads to the strategy")
	assert.Contains(t, text, "must not call methods of the outer *testing.T")
	assert.Contains(t, text, "abandoned")
	assert.Contains(t, text, "warning   1 call was abandoned and may still be running and spending")
	assert.NotContains(t, text, "test timed out")
	assert.Len(t, c.journal().Records, 8, "each has its one record")
}

// TestLinesTogether: under -v testing prints a log line by line; those of one
// item stay together however many run at once.
func TestLinesTogether(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"-test.v", "-test.v=test2json"} {
		t.Run(v, func(t *testing.T) {
			text := newChild(t, "many wrong", v).run().out.String()
			apart := regexp.MustCompile(`(?m)^\x16?=== (NAME|RUN|ATTR|PASS|CONT) .*\n {8,}.*$`).FindAllString(text, 3)
			assert.Empty(t, apart, "a line of an item comes after something else was printed")
			assert.Equal(t, 300, strings.Count(text, "  run       go test -run '^TestChild$/^n"), "but nothing is lost")
		})
	}
}
