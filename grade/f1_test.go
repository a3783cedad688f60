package grade_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func TestF1(t *testing.T) {
	for _, r := range []struct {
		name, why, reply, target string
		others                   []string
		score                    float64
	}{
		{name: "same", why: "all words", reply: "the Normans", target: "Normans", score: 1},
		{name: "punctuation and case", why: "normalised", reply: "NORMANS!", target: "normans", score: 1},
		{name: "half", why: "1 shared of 1 and 3: 2·1/4", reply: "Denver", target: "Denver Broncos team", score: 0.5},
		{name: "counts", why: "a word shared once counts once: 2·1/4", reply: "x x x", target: "x", score: 0.5},
		{name: "counts both", why: "two shared of 3 and 2: 2·2/5", reply: "x x y", target: "x x", score: 0.8},
		{name: "best target", why: "the maximum over targets", reply: "b", target: "a c", others: []string{"c d", "b"}, score: 1},
		{name: "none", why: "nothing shared", reply: "x", target: "y", score: 0},
		{name: "articles", why: "removed on both sides", reply: "a cat", target: "the cat", score: 1},
		{name: "article inside", why: "only whole words are articles", reply: "then", target: "n", score: 0},
		{name: "article at a dash", why: "removed beside other punctuation, as the script does: 2·1/(2+1)", reply: "the—cat end", target: "end", score: 2.0 / 3},
	} {
		t.Run(r.name, func(t *testing.T) {
			item := dataset.Item{ID: r.name, Target: r.target, Targets: r.others}
			v, err := grade.F1(0.8).Grade(context.Background(), item, llm.Response{Text: r.reply})
			require.NoError(t, err)
			require.NoError(t, v.Check())
			assert.Equal(t, r.score, v.Score, r.why)
			assert.Equal(t, r.score >= 0.8, v.Mark == right)
		})
	}
}

func TestF1Edges(t *testing.T) {
	grade1 := func(threshold float64, reply, target string) (grade.Verdict, error) {
		return grade.F1(threshold).Grade(context.Background(), dataset.Item{ID: "q", Target: target}, llm.Response{Text: reply})
	}
	v, err := grade1(1, "The.", "cat")
	require.NoError(t, err)
	assert.Equal(t, grade.ReasonNoAnswer, v.Reason, "nothing is left of the reply")
	_, err = grade1(1, "cat", "The.")
	require.ErrorIs(t, err, grade.ErrTarget, "nothing is left of the target")
	v, err = grade1(math.Nextafter(0.8, 0), "x x y", "x x")
	require.NoError(t, err)
	assert.Equal(t, right, v.Mark)
	v, err = grade1(math.Nextafter(0.8, 1), "x x y", "x x")
	require.NoError(t, err)
	assert.Equal(t, wrong, v.Mark)
	assert.Equal(t, 0.8, v.Score, "the score is kept")
	for _, bad := range []float64{0, -1, 1.1, math.NaN(), math.Inf(1)} {
		assert.Panics(t, func() { grade.F1(bad) }, "%v", bad)
	}
}

func FuzzF1(f *testing.F) {
	f.Add("the cat", "a cat sat")
	f.Add("—a—", "\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		v, err := grade.F1(1).Grade(context.Background(), dataset.Item{Target: b}, llm.Response{Text: a})
		if err != nil {
			require.ErrorIs(t, err, grade.ErrTarget)
			return
		}
		require.NoError(t, v.Check())
	})
}
