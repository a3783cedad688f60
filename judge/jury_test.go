package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// member is a grader that always says the same, for 10 tokens.
func member(mark grade.Mark, score float64) grade.Grader {
	return scripted{name: string(mark), v: grade.Verdict{Mark: mark, Score: score, How: "scripted", Why: "so", Calls: spent(10)}}
}

func spent(tokens int64) []llm.Response {
	return []llm.Response{{Text: "x", Usage: llm.Usage{Input: tokens, Known: true}}}
}

func failing(err error) grade.Grader {
	return scripted{name: "failing", v: grade.Verdict{Calls: spent(7)}, err: err}
}

type scripted struct {
	name string
	v    grade.Verdict
	err  error
	do   func(ctx context.Context)
}

func (s scripted) Name() string { return s.name }
func (s scripted) Grade(ctx context.Context, _ dataset.Item, _ llm.Response) (grade.Verdict, error) {
	if s.do != nil {
		s.do(ctx)
	}
	return s.v, s.err
}

func TestJuryDecides(t *testing.T) {
	yes, no, silent, empty := member(right, 1), member(wrong, 0), member(none, 0), member(grade.Unparsed, 0)
	boom := failing(&llm.Error{Kind: llm.KindServer, Message: "boom"})
	for _, row := range []struct {
		name, reason string
		config       judge.JuryConfig
		members      []grade.Grader
		want         grade.Mark
		score        float64
		why          grade.Reason
		fails        bool
	}{
		{"majority for", "two of three", judge.JuryConfig{}, []grade.Grader{yes, no, yes}, right, 1, "", false},
		{"majority against", "two of three", judge.JuryConfig{}, []grade.Grader{no, no, yes}, wrong, 0, grade.ReasonWrong, false},
		{"tie", "as many for as against", judge.JuryConfig{}, []grade.Grader{yes, no}, none, 0, judge.ReasonTie, false},
		{"ungraded do not vote", "two voters agree", judge.JuryConfig{}, []grade.Grader{yes, silent, yes}, right, 1, "", false},
		{"ungraded is not against", "the one vote against decides nothing", judge.JuryConfig{}, []grade.Grader{yes, silent, no}, none, 0, judge.ReasonTie, false},
		{"no quorum", "one of three is not more than half", judge.JuryConfig{}, []grade.Grader{yes, silent, silent}, none, 0, judge.ReasonNoQuorum, false},
		{"half is no quorum", "two of four are not more than half", judge.JuryConfig{}, []grade.Grader{yes, yes, silent, silent}, none, 0, judge.ReasonNoQuorum, false},
		{"own quorum", "one is enough if asked for", judge.JuryConfig{Quorum: 1}, []grade.Grader{yes, silent, silent}, right, 1, "", false},
		{"full quorum", "all must vote if asked for", judge.JuryConfig{Quorum: 3}, []grade.Grader{yes, yes, silent}, none, 0, judge.ReasonNoQuorum, false},
		{"one fails", "the others have a quorum", judge.JuryConfig{}, []grade.Grader{yes, boom, yes}, right, 1, "", false},
		{"two fail", "their votes were needed", judge.JuryConfig{}, []grade.Grader{yes, boom, boom}, "", 0, "", true},
		{"failure that changes nothing", "with it there would be no quorum either", judge.JuryConfig{}, []grade.Grader{silent, silent, boom}, none, 0, judge.ReasonNoQuorum, false},
		{"nothing to judge", "all say so", judge.JuryConfig{}, []grade.Grader{empty, empty}, grade.Unparsed, 0, "", false},
		{"one finds nothing", "it does not vote", judge.JuryConfig{}, []grade.Grader{empty, no, no}, wrong, 0, grade.ReasonWrong, false},
		{"mean", "partial credit counts", judge.JuryConfig{Mean: true}, []grade.Grader{yes, member(wrong, 0.5), member(wrong, 0.3)}, right, 0.6, "", false},
		{"mean below", "the mean decides, not the majority", judge.JuryConfig{Mean: true, Threshold: 0.9}, []grade.Grader{yes, yes, member(wrong, 0.5)}, wrong, 2.5 / 3, grade.ReasonWrong, false},
		{"mean at the threshold", "it is reached, as a decimal", judge.JuryConfig{Mean: true, Threshold: 0.3}, []grade.Grader{member(wrong, 0.1), member(wrong, 0.2), member(right, 0.6)}, right, 0.3, "", false},
		{"mean of all", "1 is reached", judge.JuryConfig{Mean: true, Threshold: 1}, []grade.Grader{yes, yes}, right, 1, "", false},
		{"mean tie", "neither above nor below, and evenly split", judge.JuryConfig{Mean: true}, []grade.Grader{yes, no}, none, 0, judge.ReasonTie, false},
		{"bad verdict", "a score of 2 is a failure, not a vote", judge.JuryConfig{Mean: true}, []grade.Grader{yes, yes, member(right, 2)}, right, 1, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			j := judge.NewJury(row.config, row.members...)
			v, err := j.Grade(t.Context(), capital, said("Paris"))
			want := 0
			for _, m := range row.members {
				want += len(m.(scripted).v.Calls)
			}
			assert.Len(t, v.Calls, want, "nobody's spend is lost")
			s := j.Summary()
			assert.Equal(t, 1, s.Answers)
			assert.Equal(t, 1, s.Decided+s.Unparsed+s.Ties+s.NoQuorum+s.Errors)
			if row.fails {
				require.ErrorIs(t, err, judge.ErrQuorum)
				assert.Equal(t, llm.KindServer, llm.KindOf(err), "a run asks again")
				return
			}
			require.NoError(t, err)
			require.NoError(t, v.Check())
			assert.Equal(t, row.want, v.Mark, "%s: %s", row.reason, v.Why)
			assert.InDelta(t, row.score, v.Score, 1e-15)
			assert.Equal(t, row.why, v.Reason)
			assert.Contains(t, v.How, "jury: ")
			if row.want != right {
				assert.NotEmpty(t, v.Why)
			}
		})
	}
}

func TestJuryGraderContract(t *testing.T) {
	model := llm.ModelFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if err := ctx.Err(); err != nil {
			return llm.Response{}, err
		}
		if strings.Contains(req.Messages[1].Content, "Paris\n[END ANSWER") {
			return said("GRADE: C"), nil
		}
		return said("GRADE: I"), nil
	})
	evaltest.TestGrader(t, func() grade.Grader { return judge.NewJury(judge.JuryConfig{}, judge.Repeat(judge.New(model), 3)...) },
		evaltest.GraderExample{Name: "right", Item: capital, Response: said("Paris"), Mark: right},
		evaltest.GraderExample{Name: "wrong", Item: capital, Response: said("Lyon"), Mark: wrong},
		evaltest.GraderExample{Name: "empty", Item: capital, Response: said(""), Mark: grade.Unparsed},
	)
}

// TestJurySamples: repeats of one model are told apart, and the first keeps the
// index that it has alone.
func TestJurySamples(t *testing.T) {
	var mu sync.Mutex
	var seen []int
	m := scripted{v: grade.Verdict{Mark: right, Score: 1}, do: func(ctx context.Context) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, llm.SampleIndex(ctx))
	}}
	j := judge.NewJury(judge.JuryConfig{}, judge.Repeat(m, 3)...)
	for k := range 4 {
		_, err := j.Grade(llm.WithSample(t.Context(), k), capital, said("Paris"))
		require.NoError(t, err)
	}
	slices.Sort(seen)
	assert.Equal(t, []int{0, 1, 2, 3}, seen[:4])
	assert.Len(t, slices.Compact(seen), 12)
}

// TestJuryCache: repeats of one judge with a cache ask once each.
func TestJuryCache(t *testing.T) {
	m := texts("GRADE: C")
	one := judge.New(m, judge.Named("fake"), judge.Cache(judge.Dir(t.TempDir())))
	j := judge.NewJury(judge.JuryConfig{}, judge.Repeat(one, 3)...)
	for range 2 {
		assert.Equal(t, right, must(t, j, "Paris").Mark)
		assert.Equal(t, 3, m.Calls())
	}
}

// TestJuryRunsAtOnce: members wait for each other here; one after the other they
// would wait forever, which the bubble finds out.
func TestJuryRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var meet sync.WaitGroup
		meet.Add(3)
		m := scripted{v: grade.Verdict{Mark: right, Score: 1}, do: func(context.Context) { meet.Done(); meet.Wait() }}
		v, err := judge.NewJury(judge.JuryConfig{}, m, m, m).Grade(t.Context(), capital, said("Paris"))
		require.NoError(t, err)
		assert.Equal(t, right, v.Mark)
	})
}

// TestJuryMemberBreaks: what would end the process ends one vote.
func TestJuryMemberBreaks(t *testing.T) {
	for name, do := range map[string]func(context.Context){
		"panic":  func(context.Context) { panic("no such key") },
		"Goexit": func(context.Context) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			bad := scripted{name: "bad", do: do}
			j := judge.NewJury(judge.JuryConfig{}, member(right, 1), bad, member(right, 1))
			v, err := j.Grade(t.Context(), capital, said("Paris"))
			require.NoError(t, err)
			assert.Equal(t, right, v.Mark)
			assert.Contains(t, v.How, "bad no vote")
			assert.Equal(t, 1, j.Summary().Members[1].Failed)
			_, err = judge.NewJury(judge.JuryConfig{}, bad, bad).Grade(t.Context(), capital, said("Paris"))
			assert.Equal(t, llm.KindPanic, llm.KindOf(err))
		})
	}
}

func TestJuryCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := texts("GRADE: C")
	gone := scripted{name: "gone", v: grade.Verdict{Calls: spent(1)}, err: context.Canceled, do: func(context.Context) { cancel() }}
	j := judge.NewJury(judge.JuryConfig{}, member(right, 1), member(right, 1), gone)
	v, err := j.Grade(ctx, capital, said("Paris"))
	require.ErrorIs(t, err, context.Canceled, "who gave up did not abstain")
	assert.Len(t, v.Calls, 3)
	_, err = judge.NewJury(judge.JuryConfig{}, judge.Repeat(judge.New(m), 2)...).Grade(ctx, capital, said("Paris"))
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, m.Calls())
}

func TestJurySummary(t *testing.T) {
	// Three members on six answers: what each says is written in the answer.
	says := func(i int) grade.Grader {
		return grade.Func(func(_ context.Context, _ dataset.Item, r llm.Response) (grade.Verdict, error) {
			switch r.Text[i] {
			case 'c':
				return grade.Verdict{Mark: right, Score: 1}, nil
			case 'i':
				return grade.Verdict{Mark: wrong, Why: "x"}, nil
			case 'e':
				return grade.Verdict{}, errors.New("failed")
			}
			return grade.Verdict{Mark: none, Why: "x"}, nil
		})
	}
	j := judge.NewJury(judge.JuryConfig{}, says(0), says(1), says(2))
	for _, text := range []string{"ccc", "cci", "iii", "iic", "ccc", "iii", "ci?", "c?e", "???"} {
		_, _ = j.Grade(t.Context(), capital, said(text))
	}
	s := j.Summary()
	assert.Equal(t, []int{9, 6, 4, 1, 1, 1}, []int{s.Answers, s.Decided, s.Unanimous, s.Ties, s.NoQuorum, s.Errors})
	// Pairs: 3 of 3 four times, 1 of 3 twice, 0 of 1 once.
	assert.Equal(t, 14, s.Agreement().Successes)
	assert.Equal(t, 19, s.Agreement().N)
	// By hand: the six full answers have P = 1, 1/3, 1, 1/3, 1, 1, mean 7/9;
	// 9 of 18 votes are correct, so that chance is 1/2, and kappa (7/9-1/2)/(1/2).
	kappa, n, err := s.Kappa()
	require.NoError(t, err)
	assert.Equal(t, 6, n)
	assert.InDelta(t, 5.0/9, kappa, 1e-15)
	assert.Equal(t, judge.MemberSummary{Name: "func", Correct: 3, Incorrect: 3, Abstained: 2, Failed: 1, WithVerdict: 4}, s.Members[2])
	assert.Contains(t, s.String(), "Fleiss' kappa 0.556 over 6 answers")
	_, _, err = judge.NewJury(judge.JuryConfig{}, says(0), says(1)).Summary().Kappa()
	require.Error(t, err)
}

func TestJuryMisuse(t *testing.T) {
	yes := member(right, 1)
	panics(t, map[string]panicRow{
		"nobody": {func() { judge.NewJury(judge.JuryConfig{}) }, "0 members"},
		"one":    {func() { judge.NewJury(judge.JuryConfig{}, yes) }, "1 members"},
		"nil":    {func() { judge.NewJury(judge.JuryConfig{}, yes, nil) }, "member 2 is nil"},
		"nested": {func() { judge.NewJury(judge.JuryConfig{}, yes, judge.NewJury(judge.JuryConfig{}, yes, yes)) }, "member 2 is a Jury"},
		"canaries within": {func() {
			judge.NewJury(judge.JuryConfig{}, yes, judge.WithCanaries(yes, birds("cc ii"), judge.CanaryConfig{}))
		}, "member 2 has canaries of its own"},
		"quorum":             {func() { judge.NewJury(judge.JuryConfig{Quorum: 3}, yes, yes) }, "Quorum is 3"},
		"quorum below":       {func() { judge.NewJury(judge.JuryConfig{Quorum: -1}, yes, yes) }, "Quorum is -1"},
		"threshold":          {func() { judge.NewJury(judge.JuryConfig{Threshold: 0.5}, yes, yes) }, "Mean is not set"},
		"threshold NaN":      {func() { judge.NewJury(judge.JuryConfig{Mean: true, Threshold: math.NaN()}, yes, yes) }, "NaN"},
		"threshold above":    {func() { judge.NewJury(judge.JuryConfig{Mean: true, Threshold: 1.5}, yes, yes) }, "1.5"},
		"threshold negative": {func() { judge.NewJury(judge.JuryConfig{Mean: true, Threshold: -1}, yes, yes) }, "-1"},
		"repeat":             {func() { judge.Repeat(yes, 0) }, "Repeat(…, 0)"},
	})
	assert.Equal(t, "jury(majority, quorum 2: correct, correct, incorrect)", judge.NewJury(judge.JuryConfig{}, yes, yes, member(wrong, 0)).Name())
	assert.Equal(t, "jury(mean from 0.5, quorum 1: correct, correct)", judge.NewJury(judge.JuryConfig{Mean: true, Quorum: 1}, yes, yes).Name())
	assert.Error(t, judge.NewJury(judge.JuryConfig{}, yes, grade.Numeric()).CheckTarget(dataset.Item{ID: "1", Target: "x"}))
	assert.NoError(t, judge.NewJury(judge.JuryConfig{}, yes, yes).CheckTarget(capital))
}

func ExampleNewJury() {
	strict := judge.New(llmtest.Answers("It names Paris.\nGRADE: C"))
	other := judge.New(llmtest.Answers("It names a river too.\nGRADE: I"))
	third := judge.New(llmtest.Answers("Right.\nGRADE: C"))
	jury := judge.NewJury(judge.JuryConfig{}, strict, other, third)
	v, err := jury.Grade(context.Background(), capital, llm.Response{Text: "Paris, on the Seine"})
	fmt.Println(v.Mark, v.Score, len(v.Calls), err)
	fmt.Println(jury.Summary().Agreement().Share())
	// Output:
	// correct 1 3 <nil>
	// 0.3333333333333333
}

// TestJuryUnderPolicy: as a run asks it. Members that wait for a busy provider at
// the same time do not use up the time of the try that they are part of.
func TestJuryUnderPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := 50 * time.Second
		busy := func() grade.Grader {
			return judge.New(&llmtest.Model{
				Latency: func(int, llm.Request) time.Duration { return time.Second },
				Reply:   func(int, llm.Request) (llm.Response, error) { return said("GRADE: C"), nil },
				Fault:   llmtest.Nth(map[int]llmtest.ModelFault{1: {Err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: &wait}}}),
			})
		}
		j := judge.NewJury(judge.JuryConfig{}, busy(), busy(), busy())
		var v grade.Verdict
		_, err := call.Policy{Scope: call.NewScope(call.Limits{}), Timeout: 30 * time.Second}.Do(t.Context(), func(ctx context.Context) (resp llm.Response, err error) {
			v, err = j.Grade(ctx, capital, said("Paris"))
			return resp, err
		})
		require.NoError(t, err)
		assert.Equal(t, right, v.Mark)
		assert.Len(t, v.Calls, 3)
	})
}
