package run_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func used(in, out int64) llm.Response {
	return llm.Response{Usage: llm.Usage{Input: in, Output: out, Known: true}}
}

// A cent a token, so that sums can be read.
func cents(r llm.Response) (string, bool) {
	if r.Model == "unpriced" {
		return "", false
	}
	return []string{"0.00", "0.01", "0.02", "0.03"}[min(r.Usage.Input, 3)], true
}

func TestItemUsage(t *testing.T) {
	logged := func(t turn, calls ...llm.Call) turn { t.logs = calls; return t }
	ok := func(in, out int64) llm.Call { return llm.Call{Response: used(in, out)} }
	failed := func(kind llm.ErrorKind, u llm.Usage) llm.Call { return llm.Call{Err: &llm.Error{Kind: kind, Usage: u}} }
	unpriced := used(1, 0)
	unpriced.Model = "unpriced"
	reported := used(9, 9)
	reported.CostUSD = "0.000000001"
	replayed := used(1, 0)
	replayed.Replayed = true
	answer := turn{resp: llm.Response{Text: "18", Usage: llm.Usage{Input: 3, Output: 3, Known: true}}}
	for _, tc := range []struct {
		name, reason   string
		turns          []turn
		in, out        int64
		calls, unknown int
		usd            string
		least          string // where usd is not known
		attempts       int
		replayed       bool
	}{
		{name: "returned", reason: "no transport of ours: the response's own", turns: []turn{answer}, in: 3, out: 3, calls: 1, usd: "0.03", attempts: 1},
		{name: "logged", reason: "an application's several calls are counted whole, and its own word is not added to them",
			turns: []turn{logged(answer, ok(1, 1), ok(2, 5))}, in: 3, out: 6, calls: 2, usd: "0.03", attempts: 1},
		{name: "failed attempts (U11)", reason: "what was paid for counts",
			turns: []turn{{err: &llm.Error{Kind: llm.KindServer, Usage: llm.Usage{Input: 1, Output: 1, Known: true}}}, answer}, in: 4, out: 4, calls: 2, usd: "0.04", attempts: 2},
		{name: "unknown (U12)", reason: "does not wipe out what is known, and is no zero",
			turns: []turn{fails(llm.KindConnection), answer}, in: 3, out: 3, calls: 2, unknown: 1, usd: "", least: "0.03", attempts: 2},
		{name: "unparsed attempts", reason: "count", turns: []turn{{resp: llm.Response{Text: "?", Usage: used(1, 1).Usage}}, answer}, in: 4, out: 4, calls: 2, usd: "0.04", attempts: 2},
		{name: "refused tries", reason: "a 429 is not billed: a call, and no unknown usage",
			turns: []turn{logged(answer, failed(llm.KindRateLimit, llm.Usage{}), ok(2, 2))}, in: 2, out: 2, calls: 2, usd: "0.02", attempts: 1},
		{name: "a logged failure with usage", reason: "a stream that broke late is billed",
			turns: []turn{logged(answer, failed(llm.KindIncomplete, llm.Usage{Input: 1, Output: 7, Known: true}), ok(2, 2))}, in: 3, out: 9, calls: 2, usd: "0.03", attempts: 1},
		{name: "no usage reported (U10)", reason: "unknown, not $0", turns: []turn{says0("18")}, calls: 1, unknown: 1, attempts: 1},
		{name: "no price", reason: "unknown, not $0, and not the sum of the rest", turns: []turn{logged(answer, ok(1, 1), llm.Call{Response: unpriced})}, in: 2, out: 1, calls: 2, least: "0.01", attempts: 1},
		{name: "reported cost (U14)", reason: "is believed, to the last digit", turns: []turn{logged(answer, llm.Call{Response: reported}, ok(1, 0))},
			in: 10, out: 9, calls: 2, usd: "0.010000001", attempts: 1},
		{name: "replayed", reason: "all calls came from a recording", turns: []turn{logged(answer, llm.Call{Response: replayed})}, in: 1, calls: 1, usd: "0.01", attempts: 1, replayed: true},
		{name: "half replayed", reason: "something was spent", turns: []turn{logged(answer, llm.Call{Response: replayed}, ok(1, 0))}, in: 2, calls: 2, usd: "0.02", attempts: 1},
		{name: "blocked by error", reason: "prompt tokens count (C09)", turns: []turn{{err: &llm.Error{Kind: llm.KindBlocked, Usage: llm.Usage{Input: 2, Known: true}}}}, in: 2, calls: 1, usd: "0.02", attempts: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := config(answers(tc.turns...))
				c.Price = cents
				rec := must(t, c.Item(t.Context(), eggs, 0))
				want := llm.UsageTotal{Usage: llm.Usage{Input: tc.in, Output: tc.out, Known: tc.calls > tc.unknown}, Calls: tc.calls, Unknown: tc.unknown}
				assert.Equal(t, want, rec.Usage, tc.reason)
				assert.Equal(t, tc.usd, rec.CostUSD, tc.reason)
				assert.Equal(t, tc.least, rec.AtLeastUSD, tc.reason)
				assert.Len(t, rec.Attempts, tc.attempts)
				assert.Equal(t, tc.replayed, rec.Replayed)
				assert.Zero(t, rec.JudgeUsage.Calls)
				assert.Empty(t, rec.JudgeCostUSD)
			})
		})
	}
}

func says0(text string) turn { return turn{resp: llm.Response{Text: text}} }

func TestJudgeUsage(t *testing.T) {
	verdict := func(calls ...llm.Response) grade.Verdict {
		return grade.Verdict{Mark: grade.Correct, Score: 1, Calls: calls}
	}
	for _, tc := range []struct {
		name, reason string
		judge        grade.Func
		want         llm.UsageTotal
		usd          string
	}{
		{"verdict's calls", "a judge of any kind", func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
			return verdict(used(1, 2), used(1, 3)), nil
		}, llm.UsageTotal{Usage: llm.Usage{Input: 2, Output: 5, Known: true}, Calls: 2}, "0.02"},
		{"logged", "and not twice", func(ctx context.Context, _ dsItem, _ llm.Response) (grade.Verdict, error) {
			llm.LogCall(ctx, llm.Call{Response: used(2, 2)})
			return verdict(used(2, 2)), nil
		}, llm.UsageTotal{Usage: llm.Usage{Input: 2, Output: 2, Known: true}, Calls: 1}, "0.02"},
		{"failed", "a judge that failed was paid all the same", func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
			return grade.Verdict{}, &llm.Error{Kind: llm.KindBlocked, Usage: llm.Usage{Input: 3, Known: true}}
		}, llm.UsageTotal{Usage: llm.Usage{Input: 3, Known: true}, Calls: 1}, "0.03"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := config(answers(turn{resp: llm.Response{Text: "?", Usage: used(1, 1).Usage}}))
			c.Price, c.Judge, c.Attempts = cents, tc.judge, 1
			rec := must(t, c.Item(t.Context(), eggs, 0))
			assert.Equal(t, tc.want, rec.JudgeUsage, tc.reason)
			assert.Equal(t, tc.usd, rec.JudgeCostUSD)
			assert.EqualValues(t, 1, rec.Usage.Input, "apart from the strategy's")
			assert.Equal(t, "0.01", rec.CostUSD)
		})
	}
}

// TestReplayed: strategy and judge are marked apart, for either may be
// recorded while the other is asked and billed.
func TestReplayed(t *testing.T) {
	call := func(replayed bool) llm.Response {
		r := used(1, 1)
		r.Text, r.Replayed = "?", replayed
		return r
	}
	for _, tc := range []struct{ strategy, judge bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		c := config(answers(turn{resp: call(tc.strategy)}))
		c.Judge, c.Attempts = judge(grade.Verdict{Mark: grade.Correct, Score: 1, Calls: []llm.Response{call(tc.judge)}}, nil), 1
		rec := must(t, c.Item(t.Context(), eggs, 0))
		assert.Equal(t, tc.strategy, rec.Replayed, "%+v", tc)
		assert.Equal(t, tc.judge, rec.JudgeReplayed, "%+v", tc)
	}
	rec := must(t, config(answers(turn{resp: call(true)})).Item(t.Context(), eggs, 0))
	assert.False(t, rec.JudgeReplayed, "no judge was asked")
}

func TestItemLatency(t *testing.T) {
	timed := func(d time.Duration) llm.Response { return llm.Response{Text: "18", Timing: llm.Timing{Total: d}} }
	for _, tc := range []struct {
		name, reason string
		turns        []turn
		want         time.Duration
	}{
		{"reported", "waiting in the strategy is not the model's time", []turn{{take: time.Minute, resp: timed(2 * time.Second)}}, 2 * time.Second},
		{"logged", "the sum of the calls", []turn{{take: time.Minute, resp: llm.Response{Text: "18"},
			logs: []llm.Call{{Response: timed(time.Second)}, {Response: timed(3 * time.Second)}}}}, 4 * time.Second},
		{"neither", "the attempt's duration", []turn{{take: 5 * time.Second, resp: llm.Response{Text: "18"}}}, 5 * time.Second},
		{"the last attempt's", "", []turn{{resp: llm.Response{Text: "?", Timing: llm.Timing{Total: time.Hour}}}, {resp: timed(time.Second)}}, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := must(t, config(answers(tc.turns...)).Item(t.Context(), eggs, 0))
				assert.Equal(t, tc.want, rec.Latency, tc.reason)
			})
		})
	}
}
