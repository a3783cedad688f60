package run_test

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

func TestJudge(t *testing.T) {
	yes := judge(grade.Verdict{Mark: grade.Correct, Score: 1, How: "judge"}, nil)
	for _, tc := range []struct {
		name, reason string
		turn         turn
		judge        grade.Grader
		incorrect    bool // JudgeIncorrect
		outcome      result.Outcome
		graded       grade.Mark // "" if the grader decided
	}{
		{"parsed", "the judge costs money and is not asked", says("17"), yes, false, result.Incorrect, ""},
		{"unparsed", "the judge decides", says("?"), yes, false, result.Correct, grade.Unparsed},
		{"incorrect, asked to", "a second look at what was found wrong", says("17"), yes, true, result.Correct, grade.Incorrect},
		{"correct, asked to", "nobody doubts a match", says("18"), yes, true, result.Correct, ""},
		{"judge says no", "", says("?"), judge(grade.Verdict{Mark: grade.Incorrect, Reason: grade.ReasonWrong}, nil), false, result.Incorrect, grade.Unparsed},
		{"judge says ungraded", "never correct or incorrect", says("17"), judge(grade.Verdict{Mark: grade.Ungraded}, nil), true, result.Ungraded, grade.Incorrect},
		{"judge fails (J15, T1)", "a failed judge is no verdict, even if the grader had one", says("17"), judge(grade.Verdict{}, errBoom), true, result.Ungraded, grade.Incorrect},
		{"judge returns nothing", "the zero Verdict is none", says("?"), judge(grade.Verdict{}, nil), false, result.Ungraded, grade.Unparsed},
		{"judge contradicts itself (J02)", "correct with score 0", says("?"), judge(grade.Verdict{Mark: grade.Correct}, nil), false, result.Ungraded, grade.Unparsed},
		{"empty answer", "there is nothing to judge", says(""), yes, false, result.Unparsed, ""},
		{"blank answer", "nor is there in white space", turn{resp: llm.Response{Text: " \n"}, err: llm.Unusable(nil)}, yes, false, result.Unparsed, ""},
		{"unusable with a text", "the judge may still read it", turn{resp: llm.Response{Text: "eighteen"}, err: llm.Unusable(nil)}, yes, false, result.Correct, grade.Unparsed},
		{"truncated", "half an answer is not judged (C15)", turn{resp: llm.Response{Text: "?", Finish: llm.FinishLength}}, yes, true, result.Truncated, ""},
		{"errored", "no answer", fails(llm.KindAuth), yes, true, result.Errored, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answers(tc.turn)
				c := config(s)
				c.Judge, c.JudgeIncorrect = tc.judge, tc.incorrect
				require.NoError(t, c.Check())
				rec := must(t, c.Item(t.Context(), eggs, 0))
				assert.Equal(t, tc.outcome, rec.Outcome, tc.reason)
				if tc.graded == "" {
					assert.Nil(t, rec.Graded)
					return
				}
				require.NotNil(t, rec.Graded)
				assert.Equal(t, tc.graded, rec.Graded.Mark)
				assert.Equal(t, tc.graded, rec.Attempts[len(rec.Attempts)-1].Verdict.Mark)
				assert.Equal(t, rec.Score, rec.Verdict.Score)
				if tc.graded == grade.Unparsed {
					assert.Len(t, s.attempts, 3, "the judge comes after the last attempt")
				}
			})
		})
	}
}

func TestJudgeIsAskedAgainWhereThatHelps(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		kind         llm.ErrorKind
		calls        int
		took         time.Duration
	}{
		{"server", "as many attempts as the strategy, with the same waits", llm.KindServer, 3, 1500 * time.Millisecond},
		{"rate limit", "pauses of 2+4+8+16 s, then 30 s each, till the item's time cannot hold the next", llm.KindRateLimit, 13, 30*time.Second + 8*30*time.Second},
		{"unusable", "the judge's reply held no verdict: at once", llm.KindUnusable, 3, 0},
		{"auth", "never heals", llm.KindAuth, 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				c := config(answers(says("?")))
				c.Judge = grade.Func(func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
					calls++
					return grade.Verdict{}, &llm.Error{Kind: tc.kind}
				})
				rec := must(t, c.Item(t.Context(), eggs, 0))
				assert.Equal(t, tc.calls, calls, tc.reason)
				assert.Equal(t, tc.took, rec.Duration)
				assert.Equal(t, result.Ungraded, rec.Outcome)
				assert.Equal(t, tc.kind, rec.Error.Kind)
			})
		})
	}
}

// TestGraderContract: a grader that breaks its contract is found out, and the
// message names it.
func TestGraderContract(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		v            grade.Verdict
		err          error
		want         string
	}{
		{"zero verdict", "returned by mistake", grade.Verdict{}, nil, `grade: invalid verdict: mark "" is none of`},
		{"NaN", "would pass every comparison", grade.Verdict{Mark: grade.Incorrect, Score: math.NaN()}, nil, "score NaN lies outside 0..1"},
		{"above 1", "", grade.Verdict{Mark: grade.Correct, Score: math.Nextafter(1, 2)}, nil, "lies outside 0..1"},
		{"below 0", "", grade.Verdict{Mark: grade.Incorrect, Score: math.Nextafter(0, -1)}, nil, "lies outside 0..1"},
		{"correct with 0", "", grade.Verdict{Mark: grade.Correct}, nil, "correct with a score of 0"},
		{"error", "a target that is no number", grade.Verdict{Mark: grade.Correct, Score: 1}, errBoom, "boom"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := config(answers(says("18")))
			c.Grader = judge(tc.v, tc.err)
			rec := must(t, c.Item(t.Context(), eggs, 0))
			assert.Equal(t, result.Errored, rec.Outcome, tc.reason)
			assert.Contains(t, rec.Error.Message, "grader func: ")
			assert.Contains(t, rec.Error.Message, tc.want)
			assert.Nil(t, rec.Verdict)
			assert.Zero(t, rec.Score)
			assert.Equal(t, "18", rec.Response.Text, "the answer is kept to be graded again")
		})
	}
}

func TestGraderScores(t *testing.T) {
	c := config(answers(says("18")))
	c.Grader = judge(grade.Verdict{Mark: grade.Incorrect, Score: 0.25, Why: "one word of four"}, nil)
	rec := must(t, c.Item(t.Context(), eggs, 0))
	assert.Equal(t, result.Incorrect, rec.Outcome)
	assert.Equal(t, 0.25, rec.Score)

	c.Grader = judge(grade.Verdict{Mark: grade.Ungraded}, nil)
	rec = must(t, c.Item(t.Context(), eggs, 0))
	assert.Equal(t, result.Ungraded, rec.Outcome, "a grader that is itself a judge may say so")
}

// TestGraderAudit: graders are asked twice at the 1st, 2nd, 4th, 7th, … answer.
func TestGraderAudit(t *testing.T) {
	var calls atomic.Int64
	c := config(answers(says("18")))
	c.Grader = grade.Func(func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
		calls.Add(1)
		return grade.Verdict{Mark: grade.Correct, Score: 1}, nil
	})
	var audited []int
	for i := range 1000 {
		before := calls.Load()
		assert.Equal(t, result.Correct, c.Item(t.Context(), eggs, 0).Outcome)
		if calls.Load() == before+2 {
			audited = append(audited, i)
		}
	}
	assert.Equal(t, []int{0, 1, 3, 6, 10, 15, 21, 28, 36, 45}, audited[:10])
	assert.Len(t, audited, 45, "44·45/2 = 990 is the last below 1000")
}

func TestGraderAuditFinds(t *testing.T) {
	for _, tc := range []struct {
		name, reason  string
		first, second grade.Verdict
		err           error
		want          string // "" for no complaint
	}{
		{"mark", "", grade.Verdict{Mark: grade.Correct, Score: 1}, grade.Verdict{Mark: grade.Incorrect}, nil,
			`said first correct (score 1, answer ""), then incorrect (score 0, answer "")`},
		{"answer", "the same mark by luck", grade.Verdict{Mark: grade.Incorrect, Answer: "a"}, grade.Verdict{Mark: grade.Incorrect, Answer: "b"}, nil, `answer "b"`},
		{"error", "", grade.Verdict{Mark: grade.Correct, Score: 1}, grade.Verdict{}, errBoom, "then error: grader func: boom"},
		{"explanation", "words may differ", grade.Verdict{Mark: grade.Incorrect, Why: "a"}, grade.Verdict{Mark: grade.Incorrect, Why: "b"}, nil, ""},
		{"a judge as grader", "may change its mind, and is not paid twice",
			grade.Verdict{Mark: grade.Correct, Score: 1, Calls: []llm.Response{{}}}, grade.Verdict{Mark: grade.Incorrect}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			calls := 0
			c := config(answers(says("18")))
			c.Grader = grade.Func(func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
				if calls++; calls == 1 {
					return tc.first, nil
				}
				return tc.second, tc.err
			})
			rec := must(t, c.Item(t.Context(), eggs, 0))
			if tc.want == "" {
				assert.Nil(t, rec.Error, tc.reason)
				assert.Equal(t, &tc.first, rec.Verdict)
				return
			}
			assert.Equal(t, result.Errored, rec.Outcome)
			assert.Contains(t, rec.Error.Message, "grader func is not deterministic")
			assert.Contains(t, rec.Error.Message, tc.want)
		})
	}
}

func make20ones() (list []int) { return slices.Repeat([]int{1}, call.DefaultTries) }

func TestEscalation(t *testing.T) {
	cut := turn{resp: llm.Response{Text: "1", Finish: llm.FinishLength}}
	for _, tc := range []struct {
		name, reason string
		fast         turn
		attempts     int
		outcome      result.Outcome
		fasts, slows []int
	}{
		{"answered", "the dear one is not asked", says("18"), 3, result.Correct, []int{1}, nil},
		{"wrong", "a wrong answer is an answer", says("17"), 3, result.Incorrect, []int{1}, nil},
		{"unparsed", "think harder", says("?"), 3, result.Correct, []int{1}, []int{2}},
		{"truncated", "the dear one may have a larger cap", cut, 3, result.Correct, []int{1}, []int{2}},
		{"marked unusable", "as good as unparsed", fails(llm.KindUnusable), 3, result.Correct, []int{1}, []int{2}},
		{"failed", "a broken server says nothing of how hard the question is", fails(llm.KindServer), 3, result.Errored, []int{1, 2, 3}, nil},
		{"busy", "throttling is no reason to think harder", fails(llm.KindRateLimit), 3, result.Errored, make20ones(), nil},
		{"blocked", "is not appealed", fails(llm.KindBlocked), 3, result.Blocked, []int{1}, nil},
		{"no attempt left", "never escalates", says("?"), 1, result.Unparsed, []int{1}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fast, slow := answers(tc.fast), answers(says("18"))
				c := config(run.Escalate(fast, slow, 2))
				c.Attempts, c.ItemTimeout = tc.attempts, time.Hour
				rec := must(t, c.Item(t.Context(), eggs, 0))
				assert.Equal(t, tc.outcome, rec.Outcome, tc.reason)
				assert.Equal(t, tc.fasts, fast.numbers())
				assert.Equal(t, tc.slows, slow.numbers())
			})
		})
	}
	both := run.Escalate(answers(cut), run.Escalate(answers(cut), answers(cut), 4), 2).(run.Escalator)
	for attempt, want := range map[int]bool{1: true, 2: true, 3: true, 4: false, 5: false} {
		assert.Equal(t, want, both.Escalates(attempt), "attempt %d of three stages", attempt)
	}
}

// TestEscalationAfterFailure: once an answer was unusable the dear one is asked,
// also if it was not the last.
func TestEscalationAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, slow := answers(says("?"), fails(llm.KindServer)), answers(says("18"))
		rec := must(t, config(run.Escalate(fast, slow, 3)).Item(t.Context(), eggs, 0))
		assert.Equal(t, result.Correct, rec.Outcome)
		assert.Equal(t, []int{1, 2}, fast.numbers())
		assert.Equal(t, []int{3}, slow.numbers())
		assert.Equal(t, 1, slow.attempts[0].Unusable)
	})
}
