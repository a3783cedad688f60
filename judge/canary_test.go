package judge_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// birds are canaries: what people say and what the judge will.
func birds(pairs string) []judge.Labelled {
	all := labelled(pairs)
	for i := range all {
		all[i].Item.ID = "bird-" + all[i].Item.ID
	}
	return all
}

func gradeMany(t *testing.T, g grade.Grader, n int) (calls int) {
	t.Helper()
	for i := range n {
		v, err := g.Grade(llm.WithItem(t.Context(), strconv.Itoa(i)), dataset.Item{ID: strconv.Itoa(i)}, said("i"))
		require.NoError(t, err)
		assert.Equal(t, wrong, v.Mark, "an item's verdict is the judge's own")
		calls += len(v.Calls)
	}
	return calls
}

func TestCanariesOnce(t *testing.T) {
	k := judge.WithCanaries(obeys, birds("cc cc ii ii ii"), judge.CanaryConfig{})
	assert.Equal(t, 3+3, gradeMany(t, k, 3), "one beside each answer, and booked")
	assert.Equal(t, 2, k.Report().Waiting)
	assert.Equal(t, 10+2, gradeMany(t, k, 10), "each once")
	c := k.Report()
	assert.Equal(t, []int{13, 5, 5, 0, 0, 0, 0}, []int{c.Answers, c.Canaries, c.Hit, c.Missed, c.Ungraded, c.Errored, c.Waiting})
	ids := map[string]bool{}
	for _, r := range c.Results {
		ids[r.Item] = true
		assert.Empty(t, r.Verdict.Calls)
	}
	assert.Len(t, ids, 5)
	require.NoError(t, k.Verdict())
	var _ judge.CanaryReport = k
	assert.Equal(t, "func", k.Name(), "canaries change no verdict")
	assert.Equal(t, "5 canaries beside 13 judged answers: hit 5, missed 0, ungraded 0, errors 0", c.String())
}

func TestCanariesVerdict(t *testing.T) {
	for _, row := range []struct {
		name, birds string
		config      judge.CanaryConfig
		answers     int
		says        string // "" for no error
	}{
		{"all hit", "cc ii", judge.CanaryConfig{}, 5, ""},
		{"a wrong one passed", "cc ii ic", judge.CanaryConfig{}, 5, `missed 1 of 3 (0 may be missed): "bird-2" is incorrect and was judged correct`},
		{"a right one failed", "ci ii", judge.CanaryConfig{}, 5, `"bird-0" is correct and was judged incorrect`},
		{"a miss allowed", "cc ci ii", judge.CanaryConfig{Misses: 1}, 5, ""},
		{"one more than allowed", "cc ci ic ii", judge.CanaryConfig{Misses: 1}, 5, "missed 2 of 4"},
		{"one ungraded", "cc c? ii", judge.CanaryConfig{}, 5, ""},
		{"all of a kind ungraded", "cc cc i? i?", judge.CanaryConfig{}, 5, "none of the 2 judgements of incorrect ones"},
		{"all failed", "ce ie", judge.CanaryConfig{}, 9, "the last call failed"},
		{"nothing judged", "cc ic", judge.CanaryConfig{}, 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := judge.WithCanaries(obeys, birds(row.birds), row.config)
			gradeMany(t, k, row.answers)
			err := k.Verdict()
			if row.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, judge.ErrCanary)
			assert.Contains(t, err.Error(), row.says)
		})
	}
}

// TestCanariesFail: a canary whose call fails is tried thrice, and what breaks
// in it breaks nothing else.
func TestCanariesFail(t *testing.T) {
	k := judge.WithCanaries(obeys, birds("ce cp ig ii"), judge.CanaryConfig{})
	gradeMany(t, k, 30)
	c := k.Report()
	assert.Equal(t, 9, c.Errored)
	assert.Equal(t, 1, c.Hit)
	require.ErrorIs(t, k.Verdict(), judge.ErrCanary)

	// The item's own error is its own, and the canary's spend is beside it.
	k = judge.WithCanaries(obeys, birds("cc ii"), judge.CanaryConfig{})
	v, err := k.Grade(t.Context(), capital, said("e"))
	assert.Equal(t, llm.KindServer, llm.KindOf(err))
	assert.Len(t, v.Calls, 2)

	// A run that ends says nothing of the judge.
	ctx, cancel := context.WithCancel(t.Context())
	gone := grade.Func(func(ctx context.Context, it dataset.Item, r llm.Response) (grade.Verdict, error) {
		cancel()
		return grade.Verdict{}, ctx.Err()
	})
	k = judge.WithCanaries(gone, birds("cc ii"), judge.CanaryConfig{})
	_, err = k.Grade(ctx, capital, said("x"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = k.Grade(ctx, capital, said("x"))
	require.ErrorIs(t, err, context.Canceled)
	c = k.Report()
	assert.Empty(t, c.Results)
	assert.Equal(t, 2, c.Waiting)
	require.NoError(t, k.Verdict())
}

// TestCanariesRate: which answers have one, and which, depends on the seed, the
// item and the sample alone.
func TestCanariesRate(t *testing.T) {
	run := func(seed uint64, order []int) (beside []string, samples map[string]bool) {
		var mu sync.Mutex
		samples = map[string]bool{}
		g := grade.Func(func(ctx context.Context, it dataset.Item, r llm.Response) (grade.Verdict, error) {
			if strings.HasPrefix(it.ID, "bird") {
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, "canary "+it.ID, llm.ItemID(ctx))
				samples[fmt.Sprint(it.ID, " ", llm.SampleIndex(ctx))] = true
			}
			return obeys(ctx, it, r)
		})
		k := judge.WithCanaries(g, birds("cc ii cc ii"), judge.CanaryConfig{Rate: 0.2, Seed: seed})
		for _, i := range order {
			for range 2 { // another attempt at the same answer has none
				v, err := k.Grade(t.Context(), dataset.Item{ID: strconv.Itoa(i)}, said("i"))
				require.NoError(t, err)
				if len(v.Calls) > 1 {
					beside = append(beside, fmt.Sprint(i, v.Calls[1].Text))
				}
			}
		}
		slices.Sort(beside)
		require.NoError(t, k.Verdict())
		return beside, samples
	}
	order := make([]int, 1000)
	for i := range order {
		order[i] = i
	}
	one, samples := run(1, order)
	// Binomial of 1000 and 0.2: 200 with a standard deviation of 12.6.
	assert.InDelta(t, 200, len(one), 3*12.65)
	assert.Len(t, samples, len(one), "no recording answers for two")
	slices.Reverse(order)
	again, same := run(1, order)
	assert.Equal(t, one, again, "whatever the order")
	assert.Equal(t, samples, same)
	other, _ := run(2, order)
	assert.NotEqual(t, one, other)
}

func TestCanariesGraderContract(t *testing.T) {
	pure := grade.FuncOf("has Paris", func(_ dataset.Item, r llm.Response) (bool, string) {
		return strings.Contains(r.Text, "Paris"), "no Paris"
	})
	known := []judge.Labelled{
		{Item: dataset.Item{ID: "a"}, Response: said("Paris"), Label: right},
		{Item: dataset.Item{ID: "b"}, Response: said("Lyon"), Label: wrong},
	}
	evaltest.TestGrader(t, func() grade.Grader { return judge.WithCanaries(pure, known, judge.CanaryConfig{Rate: 0.5}) },
		evaltest.GraderExample{Name: "right", Item: capital, Response: said("Paris"), Mark: right},
		evaltest.GraderExample{Name: "wrong", Item: capital, Response: said("Lyon"), Mark: wrong},
		evaltest.GraderExample{Name: "empty", Item: capital, Response: said(""), Mark: grade.Unparsed},
	)
}

func TestCanariesConcurrent(t *testing.T) {
	k := judge.WithCanaries(obeys, birds("cc ii cc ii"), judge.CanaryConfig{})
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			v, err := k.Grade(context.Background(), dataset.Item{ID: strconv.Itoa(i)}, said("i"))
			assert.NoError(t, err)
			assert.Equal(t, wrong, v.Mark)
			_ = k.Report().String()
		})
	}
	wait.Wait()
	assert.Equal(t, 4, k.Report().Hit)
}

func TestCanariesNotAsked(t *testing.T) {
	m := texts("GRADE: C")
	k := judge.WithCanaries(judge.New(m), birds("cc ii"), judge.CanaryConfig{})
	v, err := k.Grade(t.Context(), capital, said(""))
	require.NoError(t, err)
	assert.Equal(t, grade.Unparsed, v.Mark)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = k.Grade(ctx, capital, said("Paris"))
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, m.Calls(), "no answer was judged, and so no canary")
}

func TestCanariesMisuse(t *testing.T) {
	set := func(do func(all []judge.Labelled)) func() {
		return func() {
			all := birds("cc ii")
			do(all)
			judge.WithCanaries(obeys, all, judge.CanaryConfig{})
		}
	}
	panics(t, map[string]panicRow{
		"twice": {func() {
			judge.WithCanaries(judge.WithCanaries(obeys, birds("cc ii"), judge.CanaryConfig{}), birds("cc ii"), judge.CanaryConfig{})
		}, "has canaries already"},
		"nil":          {func() { judge.WithCanaries(nil, birds("cc ii"), judge.CanaryConfig{}) }, "the judge is nil"},
		"none":         {func() { judge.WithCanaries(obeys, nil, judge.CanaryConfig{}) }, "0 canaries are correct and 0 incorrect"},
		"one kind":     {func() { judge.WithCanaries(obeys, birds("cc cc"), judge.CanaryConfig{}) }, "2 canaries are correct and 0 incorrect"},
		"rate":         {func() { judge.WithCanaries(obeys, birds("cc ii"), judge.CanaryConfig{Rate: 1.1}) }, "Rate is 1.1"},
		"rate NaN":     {func() { judge.WithCanaries(obeys, birds("cc ii"), judge.CanaryConfig{Rate: math.NaN()}) }, "NaN"},
		"misses":       {func() { judge.WithCanaries(obeys, birds("cc ii"), judge.CanaryConfig{Misses: 2}) }, "Misses is 2 of 2"},
		"misses below": {func() { judge.WithCanaries(obeys, birds("cc ii"), judge.CanaryConfig{Misses: -1}) }, "Misses is -1"},
		"label":        {set(func(all []judge.Labelled) { all[1].Label = none }), `the label is "ungraded"`},
		"no id":        {set(func(all []judge.Labelled) { all[1].Item.ID = "" }), `the item's id ""`},
		"same id":      {set(func(all []judge.Labelled) { all[1].Item.ID = "bird-0" }), "stands twice"},
		"no answer":    {set(func(all []judge.Labelled) { all[1].Response.Text = " " }), "nothing can be judged"},
	})
	k := judge.WithCanaries(grade.Numeric(), birds("cc ii"), judge.CanaryConfig{})
	assert.Error(t, k.CheckTarget(dataset.Item{ID: "1", Target: "x"}))
}

func ExampleWithCanaries() {
	// A judge that passes everything.
	model := &llmtest.Model{Reply: func(int, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "Looks fine.\nGRADE: C", Finish: llm.FinishStop}, nil
	}}
	known := []judge.Labelled{
		{Item: dataset.Item{ID: "known-right", Input: "2+2?", Target: "4"}, Response: llm.Response{Text: "It is 4."}, Label: grade.Correct},
		{Item: dataset.Item{ID: "known-wrong", Input: "2+3?", Target: "5"}, Response: llm.Response{Text: "It is 6."}, Label: grade.Incorrect},
	}
	j := judge.WithCanaries(judge.New(model), known, judge.CanaryConfig{})
	for _, id := range []string{"a", "b", "c"} {
		v, err := j.Grade(context.Background(), dataset.Item{ID: id, Input: "What is the capital of France?", Target: "Paris"}, llm.Response{Text: "Paris"})
		fmt.Println(v.Mark, len(v.Calls), err)
	}
	fmt.Println(j.Report())
	fmt.Println(j.Verdict())
	// Output:
	// correct 2 <nil>
	// correct 2 <nil>
	// correct 1 <nil>
	// 2 canaries beside 3 judged answers: hit 1, missed 1, ungraded 0, errors 0
	// judge: canaries: the judge missed 1 of 2 (0 may be missed): "known-wrong" is incorrect and was judged correct
}
