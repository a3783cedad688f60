package run_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
)

// A hooked strategy notes when its hooks are called.
type hooked struct {
	*script
	name            string
	notes           *[]string
	prepare, closes error
	panics          bool
}

func (h *hooked) Prepare(context.Context) error {
	*h.notes = append(*h.notes, "prepare "+h.name)
	if h.panics {
		panic("no index")
	}
	return h.prepare
}

func (h *hooked) Close() error {
	*h.notes = append(*h.notes, "close "+h.name)
	return h.closes
}

func (h *hooked) Name() string { return h.name }

func (h *hooked) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, nil
}

func TestHooks(t *testing.T) {
	full := errors.New("disk full")
	prompt := func(dataset.Item) llm.Request { return llm.Prompt("x") }
	for _, tc := range []struct {
		name, reason string
		make         func(a, b *hooked) run.Strategy
		notes        []string
	}{
		{"one", "", func(a, _ *hooked) run.Strategy { return a }, []string{"prepare a", "close a"}},
		{"two", "the last prepared may need the first", func(a, b *hooked) run.Strategy { return run.Escalate(a, b, 2) },
			[]string{"prepare a", "prepare b", "close b", "close a"}},
		{"twice the same", "is one strategy", func(a, _ *hooked) run.Strategy { return run.Escalate(a, a, 2) }, []string{"prepare a", "close a"}},
		{"nested", "", func(a, b *hooked) run.Strategy { return run.Escalate(a, run.Escalate(b, a, 3), 2) },
			[]string{"prepare a", "prepare b", "close b", "close a"}},
		{"a model", "the model under Ask may have them", func(a, _ *hooked) run.Strategy { return run.Ask(a, prompt) }, []string{"prepare a", "close a"}},
		{"none", "a strategy need not have them", func(*hooked, *hooked) run.Strategy { return answers(says("18")) }, nil},
		{"a function", "cannot be compared", func(*hooked, *hooked) run.Strategy {
			f := run.StrategyFunc(func(context.Context, dataset.Item, run.Attempt) (llm.Response, error) { return llm.Response{}, nil })
			return run.Escalate(f, f, 2)
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var notes []string
			s := tc.make(&hooked{name: "a", notes: &notes}, &hooked{name: "b", notes: &notes})
			require.NoError(t, run.Prepare(t.Context(), s))
			require.Empty(t, run.Close(s))
			assert.Equal(t, tc.notes, notes, tc.reason)
		})
	}
	var notes []string
	a, b := &hooked{name: "a", notes: &notes, closes: full}, &hooked{name: "b", notes: &notes, prepare: full, closes: full}
	s := run.Escalate(a, b, 2)
	assert.EqualError(t, run.Prepare(t.Context(), s), "strategy b: Prepare: disk full")
	errs := run.Close(s)
	require.Len(t, errs, 2, "every one is closed, and every error told")
	assert.ErrorIs(t, errs[0], full)
	a.panics = true
	err := run.Prepare(t.Context(), a)
	assert.Equal(t, llm.KindPanic, llm.KindOf(err))
	assert.ErrorContains(t, err, "no index")
}

type draft struct{}

// TestTrap20StateOfOneItem: T20, a strategy that is shared keeps nothing of one
// item for another: each has a state of its own, from its first attempt to its
// last.
func TestTrap20StateOfOneItem(t *testing.T) {
	var lasts []*run.Last
	s := run.StrategyFunc(func(_ context.Context, it dataset.Item, a run.Attempt) (llm.Response, error) {
		said, _ := a.State.Get(draft{}).(string)
		said += it.ID
		a.State.Set(draft{}, said)
		lasts = append(lasts, a.Last)
		switch a.Number {
		case 1:
			return llm.Response{Text: "?"}, nil
		case 2:
			return llm.Response{Text: "half"}, llm.Unusable(errBoom)
		}
		return llm.Response{Text: said}, nil
	})
	c := config(s)
	for _, id := range []string{"a", "b"} {
		for sample := range 2 {
			rec := c.Item(t.Context(), dataset.Item{ID: id, Target: id + id + id}, sample)
			assert.Equal(t, result.Correct, rec.Outcome, "item %s, sample %d answered %q", id, sample, rec.Response.Text)
		}
	}
	require.Len(t, lasts, 12)
	assert.Nil(t, lasts[0])
	assert.Equal(t, "?", lasts[1].Response.Text)
	assert.NotNil(t, lasts[1].Verdict, "why the answer did not do")
	assert.NoError(t, lasts[1].Err)
	assert.Equal(t, "half", lasts[2].Response.Text)
	assert.ErrorIs(t, lasts[2].Err, errBoom)
}

func TestStateByHand(t *testing.T) {
	var s *run.State
	assert.Nil(t, s.Get("x"), "an Attempt made by hand may have none")
	assert.PanicsWithValue(t, "evaltest/run: State.Set on a nil State: an Attempt made by hand needs State: new(run.State)", func() { s.Set("x", 1) })
}
