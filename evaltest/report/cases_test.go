package report_test

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// The tests of this file are real failures of other frameworks, as far as a
// summary has to do with them.

func textOf(t *testing.T, s *report.Stats) string {
	var b strings.Builder
	require.NoError(t, report.Text(&b, s, report.Options{}))
	return b.String()
}

// J16: errors left the denominator, and 50% read as 90%.
func TestJ16ErrorsStayInTheDenominator(t *testing.T) {
	s := statsOf(report.Labels{}, outcomes(map[result.Outcome]int{result.Correct: 80, result.Incorrect: 10, result.Errored: 10}))
	text := textOf(t, s)
	assert.Contains(t, text, "80.0%: 80/100 correct, 10 incorrect, 10 errored")
	assert.NotContains(t, text, "88.9%")
	assert.NotContains(t, text, "90.0%")
	assert.Equal(t, 0.8, s.Accuracy())

	s = statsOf(report.Labels{}, outcomes(map[result.Outcome]int{result.Correct: 5, result.Ungraded: 5}))
	assert.Contains(t, textOf(t, s), "50.0%: 5/10 correct, 5 ungraded")
	least := 0.6
	ds := gate.Evaluate(s.Counts(), gate.Config{MinAccuracy: &least, MaxUngraded: 5}, false)
	assert.True(t, gate.AnyFailed(ds), "the gate compares 5/10, not 5/5: %v", ds)
}

// J16 for the kind: whatever the outcomes are, each is in the headline and all
// are in the denominator.
func TestEveryOutcomeIsCounted(t *testing.T) {
	for _, o := range append(slices.Clone(result.Outcomes), "of_tomorrow") {
		s := statsOf(report.Labels{}, []*result.Record{record(0, result.Correct), record(1, o), record(2, o)})
		assert.Equal(t, 3, s.Total, o)
		sum := 0
		for _, n := range s.Outcomes {
			sum += n
		}
		assert.Equal(t, 3, sum, o)
		if o != result.Correct {
			word := strings.ReplaceAll(string(o), "_", " ")
			if o == "of_tomorrow" {
				word = `"of_tomorrow"`
			}
			assert.Equal(t, "1/3 correct, 2 "+word, report.Headline(s), o)
		}
	}
}

// C15: answers cut at the token limit were scored as wrong.
func TestC15TruncatedIsNotWrong(t *testing.T) {
	s := statsOf(report.Labels{}, outcomes(map[result.Outcome]int{result.Correct: 1, result.Truncated: 2}))
	text := textOf(t, s)
	assert.Contains(t, text, "1/3 correct, 2 truncated")
	assert.Contains(t, text, "2 of 3 truncated")
	assert.NotContains(t, text, "incorrect")
}

// G24: empty, refused and wrong could not be told apart.
func TestG24ReasonsAreCountedApart(t *testing.T) {
	empty, refused, wrong := record(0, result.Unparsed), record(1, result.Refused), record(2, result.Incorrect)
	empty.Response.Text = ""
	empty.Verdict.Reason = grade.ReasonNoResponse
	s := statsOf(report.Labels{}, []*result.Record{empty, refused, wrong})
	assert.Equal(t, map[grade.Reason]int{grade.ReasonNoResponse: 1, grade.ReasonRefusal: 1, grade.ReasonWrong: 1}, s.Reasons)
	assert.Contains(t, textOf(t, s), "0/3 correct, 1 incorrect, 1 unparsed, 1 refused")
	assert.Contains(t, textOf(t, s), "no_response 1, refusal 1, wrong 1")
}

// U10: an unknown cost or usage was shown as $0.
func TestU10UnknownIsNotZero(t *testing.T) {
	priced := func(i int, usd string) *result.Record {
		r := record(i, result.Correct)
		r.CostUSD = usd
		return r
	}
	unpriced := func(i int, model string) *result.Record {
		r := priced(i, "")
		r.Response.Model = model
		return r
	}
	silent := func(i int) *result.Record { // the server sends no usage
		r := priced(i, "")
		r.Usage = llm.UsageTotal{Calls: 1, Unknown: 1}
		return r
	}
	free := func(i int) *result.Record { // an application of which nothing is known
		r := priced(i, "")
		r.Usage, r.Response.Model = llm.UsageTotal{}, ""
		return r
	}
	for _, tt := range []struct {
		name, reason string
		records      []*result.Record
		says         []string
	}{
		{
			"no price at all", "unknown, and why",
			[]*result.Record{unpriced(0, "X"), unpriced(1, "X")}, []string{"cost      unknown (model X has no price)"},
		},
		{
			"some unpriced", "a lower bound",
			[]*result.Record{priced(0, "0.12"), unpriced(1, "X"), unpriced(2, "X"), unpriced(3, "Y")},
			[]string{"cost      >= $0.12, 3 rows unpriced (models X, Y have no price)"},
		},
		{
			"usage absent in one of three", "tokens of two, one unknown",
			[]*result.Record{priced(0, "0.06"), silent(1), priced(2, "0.06")},
			[]string{"at least 200 in, 40 out in 3 calls; partial: 1 call without usage", ">= $0.12, 1 row unpriced (1 call without usage)"},
		},
		{
			"usage absent everywhere", "no number to print",
			[]*result.Record{silent(0), silent(1)},
			[]string{"tokens    unknown: none of 2 calls reported usage", "cost      unknown (2 calls without usage)"},
		},
		{
			"nothing known", "an answer without a counted call may still have cost something",
			[]*result.Record{free(0)}, []string{"tokens    unknown: no call was counted", "cost      unknown (no price is known)"},
		},
		{
			"known to be free", "a local model's price is 0",
			[]*result.Record{priced(0, "0")}, []string{"cost      $0\n"},
		},
		{
			"errored before any call", "that is known to cost nothing",
			[]*result.Record{priced(0, "0.5"), record(1, result.Errored)}, []string{"cost      $0.5\n"},
		},
		{
			"errored after a call", "that may have been billed",
			[]*result.Record{priced(0, "0.5"), func() *result.Record {
				r := record(1, result.Errored)
				r.Usage = llm.UsageTotal{Calls: 1, Unknown: 1}
				return r
			}()},
			[]string{">= $0.5, 1 row unpriced (1 call without usage)"},
		},
		{
			"not a number", "a damaged journal adds nothing",
			[]*result.Record{priced(0, "0.5"), priced(1, "NaN"), priced(2, "-1"), priced(3, "1e999999999"), priced(4, "1e-999999999"), priced(6, "1e100"), priced(7, "1e-100"), priced(5, strings.Repeat("9", 1000))},
			[]string{">= $0.5, 7 rows unpriced"},
		},
		{
			"no floats", "ten times 0.1 is 1, and the smallest price is kept",
			[]*result.Record{priced(0, "0.1"), priced(1, "0.1"), priced(2, "0.1"), priced(3, "0.1"), priced(4, "0.1"), priced(5, "0.1"), priced(6, "0.000000000001"), priced(7, "0.4")},
			[]string{"cost      $1.000000000001\n"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := textOf(t, statsOf(report.Labels{}, tt.records))
			for _, says := range tt.says {
				assert.Contains(t, text, says, tt.reason)
			}
		})
	}
}

// U11: only the last attempt's tokens were summed, and replays were billed.
func TestU11EveryCallIsCounted(t *testing.T) {
	r := record(0, result.Correct)
	r.Replayed, r.Response.Replayed = true, true // a cached candidate and a live judge
	r.Usage.Calls = 2                            // of two attempts, both replayed
	r.Graded = &grade.Verdict{Mark: grade.Unparsed}
	r.Verdict.Calls = []llm.Response{{Model: "judge-1"}, {Model: "judge-1"}} // the first reply was no verdict
	r.JudgeUsage = llm.UsageTotal{Usage: llm.Usage{Input: 20, Output: 2, Known: true}, Calls: 2}
	r.JudgeCostUSD = "0.02"
	s := statsOf(report.Labels{}, []*result.Record{r})
	text := textOf(t, s)
	assert.Contains(t, text, "cost      $0 billed: all was replayed; when recorded it cost $0.0012")
	assert.Contains(t, text, "tokens 20 in, 2 out in 2 calls")
	assert.Contains(t, text, "cost $0.02\n")
	assert.Equal(t, report.Judge{Called: 1, Overturned: 1, Decided: 1, Passed: 1}, s.Judge)

	r.JudgeReplayed = true
	assert.Contains(t, textOf(t, statsOf(report.Labels{}, []*result.Record{r})), "cost $0 billed: all was replayed; when recorded it cost $0.02\n")

	mixed := statsOf(report.Labels{}, []*result.Record{r, record(1, result.Correct), record(2, result.Correct)})
	assert.Contains(t, textOf(t, mixed), "cost      billed $0.0024; what was replayed cost $0.0012 when recorded")
	assert.Contains(t, textOf(t, mixed), "replayed  1 answer came from a recording, 2 did not")
}

// U12: one attempt without usage wiped the totals.
func TestU12OneUnknownKeepsTheRest(t *testing.T) {
	rs := []*result.Record{record(0, result.Correct), record(1, result.Correct), record(2, result.Correct)}
	rs[0].Usage = llm.UsageTotal{Usage: llm.Usage{Input: 100, Output: 20, Known: true}, Calls: 2, Unknown: 1} // a reset, then an answer
	rs[0].Attempts = []result.Attempt{{Number: 1, Error: &result.Error{Kind: llm.KindConnection}}, {Number: 2}}
	text := textOf(t, statsOf(report.Labels{}, rs))
	assert.Contains(t, text, "at least 300 in, 60 out in 4 calls; partial: 1 call without usage")
	assert.Contains(t, text, "attempts  2 answers after 1 attempt, 1 answer after 2 attempts")

	rs[0].CostUSD, rs[0].AtLeastUSD = "", "0.0010" // the other two cost 0.0012 each
	s := statsOf(report.Labels{}, rs)
	assert.Equal(t, "0.0034", s.Cost.Billed.USD.String(), "what the answer cost that came")
	assert.Contains(t, textOf(t, s), ">= $0.0034, 1 row unpriced (1 call without usage)")
	assert.Contains(t, textOf(t, statsOf(report.Labels{}, rs[:1])), ">= $0.001, 1 row unpriced (1 call without usage)")
}

// D13: a corrected label is shown with its reason.
func TestD13OverridesAreShown(t *testing.T) {
	labels := report.Labels{Overrides: []report.Override{
		{ID: "gsm8k-0025", Action: "target", Reason: "8 + 14 is not 18"},
		{ID: "gsm8k-0099", Action: "skip", Reason: "no right answer among the choices"},
	}}
	text := textOf(t, statsOf(labels, outcomes(map[result.Outcome]int{result.Correct: 1})))
	assert.Contains(t, text, "override  gsm8k-0025 (target): 8 + 14 is not 18\n")
	assert.Contains(t, text, "override  gsm8k-0099 (skip): no right answer among the choices\n")
}

// T01, T02: what a model says forged results, or broke a line that held one.
func TestT01T02NothingForgesAResult(t *testing.T) {
	var text strings.Builder
	for _, c := range textCases() {
		text.WriteString(c.text(t))
	}
	_, err := report.Failures(&text, slices.Values(hostileRecords()), report.FailureOptions{Max: -1})
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(text.String(), "\n"), "no half line: the next result would be lost in it")
	want := map[string]int{"start": 1, "run TestEval": 1, "pass TestEval": 1, "pass": 1}
	for _, indent := range []string{"", "    ", "        "} { // as testing indents a log
		for _, mark := range []string{"\x16", ""} {
			block := indent + strings.ReplaceAll(strings.TrimSuffix(text.String(), "\n"), "\n", "\n"+indent)
			assert.Equal(t, want, test2jsonOf(t, mark, block), "indent %d, mark %q", len(indent), mark)
		}
	}
}

// T04: control characters made CI refuse the whole report.
func TestT04TextIsLegalXML(t *testing.T) {
	for _, c := range textCases() {
		text := c.text(t)
		var x strings.Builder
		require.NoError(t, xml.EscapeText(&x, []byte(text)))
		var back string
		require.NoError(t, xml.Unmarshal([]byte("<a>"+x.String()+"</a>"), &back), c.name)
		assert.Equal(t, text, back, c.name)
	}
	for b := range 256 {
		reply := fmt.Sprintf("a%cb\xff\ufffe", byte(b))
		checkEscaped(t, reply, report.Escape(reply, 0))
	}
}

// TestErrorIsShownWhole: a miss and a server's validation text are cut where it
// matters if only their ends are shown.
func TestErrorIsShownWhole(t *testing.T) {
	r := record(1, result.Errored)
	r.Error = &result.Error{Kind: llm.KindServer, Status: 500, Message: strings.Repeat("words ", 50) + "end"}
	text := textOf(t, statsOf(report.Labels{}, []*result.Record{r}))
	assert.Equal(t, 50, strings.Count(text, "words"))
	assert.NotContains(t, text, "bytes cut")
}
