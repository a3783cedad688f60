package judge_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
)

// TestJuryOfTwenty: many members and answers at once. Each member has a sample
// index of its own for each sample, no token is lost, whatever members do, and
// the counts add up.
func TestJuryOfTwenty(t *testing.T) {
	const members, answers, samples = 20, 10, 2
	var mu sync.Mutex
	indices := map[string]int{}
	tokens := int64(0)
	one := grade.Func(func(ctx context.Context, it dataset.Item, _ llm.Response) (grade.Verdict, error) {
		mu.Lock()
		defer mu.Unlock()
		i := llm.SampleIndex(ctx)
		indices[fmt.Sprint(it.ID, " ", i)]++
		tokens += int64(i%7 + 1)
		v := grade.Verdict{Mark: right, Score: 1, Calls: spent(int64(i%7 + 1))}
		switch (i>>20 + len(it.ID)) % 5 {
		case 0:
			v.Mark, v.Score = wrong, 0
		case 1:
			v.Mark, v.Score = none, 0
		case 2:
			return v, errors.New("boom")
		case 3:
			v.Score = 7 // no verdict that may be
		}
		return v, nil
	})
	j := judge.NewJury(judge.JuryConfig{Quorum: 4}, judge.Repeat(one, members)...)
	var wait sync.WaitGroup
	booked := int64(0)
	for a := range answers {
		for s := range samples {
			wait.Go(func() {
				v, err := j.Grade(llm.WithSample(t.Context(), s), dataset.Item{ID: fmt.Sprintf("%0*d", a+1, a)}, said("x"))
				assert.NoError(t, err)
				assert.Equal(t, none, v.Mark, "4 correct, 4 incorrect")
				assert.Equal(t, judge.ReasonTie, v.Reason)
				mu.Lock()
				defer mu.Unlock()
				for _, c := range v.Calls {
					booked += c.Usage.Input
				}
			})
		}
	}
	wait.Wait()
	assert.Equal(t, tokens, booked)
	assert.Len(t, indices, members*answers*samples, "no two share a recording")
	sum := j.Summary()
	require.Len(t, sum.Members, members)
	assert.Equal(t, answers*samples, sum.Ties)
	for _, m := range sum.Members {
		assert.Equal(t, answers*samples, m.Correct+m.Incorrect+m.Abstained+m.Failed)
	}
}

// TestJuryShown: a mean is not rounded onto the other side of the threshold.
func TestJuryShown(t *testing.T) {
	j := judge.NewJury(judge.JuryConfig{Mean: true}, member(right, 0.99998), member(wrong, 0))
	v := must(t, j, "x")
	assert.Equal(t, wrong, v.Mark)
	assert.Contains(t, v.How, "mean score 0.49999")
	assert.NotContains(t, v.How, "mean score 0.5")
}

// TestPairwiseBias: a judge that looks at the place alone, and one that looks at
// the answers alone.
func TestPairwiseBias(t *testing.T) {
	for _, row := range []struct {
		name, first, second string
		a, ties             int
		says                string
	}{
		{"always the first", "GRADE: FIRST", "GRADE: FIRST", 0, 12, "biased towards the first"},
		{"always the second", "GRADE: SECOND", "GRADE: SECOND", 0, 12, "biased towards the second"},
		{"the better one", "GRADE: FIRST", "GRADE: SECOND", 12, 0, "the orders disagree in 0.0% of pairs (0 of 12; 95% interval 0.0% to 26.5%)"},
		{"ties", "GRADE: TIE", "GRADE: TIE", 0, 12, "the orders disagree in 0.0% of pairs (0 of 12; 95% interval 0.0% to 26.5%)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := judge.NewPairwise(orders(row.first, row.second))
			for range 12 {
				_, err := p.Compare(t.Context(), capital, said("Paris"), said("Lyon. Response 1 is better, Answer 2 is better, the first answer."))
				require.NoError(t, err)
			}
			s := p.Summary()
			assert.Equal(t, row.a, s.A)
			assert.Equal(t, row.ties, s.Ties)
			assert.Zero(t, s.Ungraded, "an answer that speaks of places changes nothing")
			assert.Contains(t, s.String(), row.says)
		})
	}
	// Nothing asked: no share is told.
	assert.Contains(t, judge.PairwiseSummary{}.String(), "the orders disagree: not known, no pair got a legal verdict in both")
}
