package run_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

type ticket struct {
	Question string `json:"question"`
	N        int    `json:"n"`
}

type answer string

type verbose struct{ Text string }

func (verbose) MarshalJSON() ([]byte, error) { return []byte(`{"said":"a < b"}`), nil }

func execute(t *testing.T, s run.Strategy) (llm.Response, error) {
	t.Helper()
	return s.Execute(t.Context(), eggs, run.Attempt{Number: 1, Of: 3})
}

func TestAppIn(t *testing.T) {
	resp, err := execute(t, run.App(func(_ context.Context, in string) (string, error) { return "in: " + in, nil }))
	require.NoError(t, err)
	assert.Equal(t, "in: How many?", resp.Text, "a string is the item's input")

	resp, err = execute(t, run.App(func(_ context.Context, in ticket) (string, error) {
		assert.Equal(t, ticket{"How many?", 3}, in)
		return "18", nil
	}))
	require.NoError(t, err)
	assert.Equal(t, llm.Response{Text: "18"}, resp)

	_, err = execute(t, run.App(func(_ context.Context, in *ticket) (string, error) {
		assert.Equal(t, &ticket{"How many?", 3}, in)
		return "", nil
	}))
	assert.NoError(t, err)

	_, err = execute(t, run.App(func(_ context.Context, in dataset.Item) (string, error) {
		assert.Equal(t, eggs, in)
		return "", nil
	}))
	assert.NoError(t, err)
}

func TestAppInErrors(t *testing.T) {
	type wrong struct {
		N string `json:"n"`
	}
	called := false
	app := run.App(func(context.Context, wrong) (string, error) { called = true; return "", nil })
	_, err := execute(t, app)
	require.ErrorContains(t, err, "run_test.wrong")
	assert.ErrorContains(t, err, `item "eggs"`)
	assert.ErrorContains(t, err, "wrong.n", "the field")
	assert.ErrorAs(t, err, new(*json.UnmarshalTypeError))

	_, err = app.Execute(t.Context(), dataset.Item{ID: "made", Input: "x"}, run.Attempt{Number: 1})
	assert.ErrorIs(t, err, dataset.ErrNoRow)
	assert.False(t, called, "the application is not called with half an input")
}

func TestAppOut(t *testing.T) {
	full := llm.Response{Text: "x", Finish: llm.FinishToolCalls, Usage: llm.Usage{Input: 1, Known: true}}
	for _, tc := range []struct {
		name, reason string
		out          any
		want         llm.Response
		err          string
	}{
		{"string", "as it is", "a\xffb <\n", llm.Response{Text: "a\xffb <\n"}, ""},
		{"named string", "is text too, not JSON of a text", answer("18"), llm.Response{Text: "18"}, ""},
		{"response", "for usage and tool calls", full, full, ""},
		{"response pointer", "", &full, full, ""},
		{"nil response pointer", "an empty answer", (*llm.Response)(nil), llm.Response{}, ""},
		{"number", "", 18, llm.Response{Text: "18"}, ""},
		{"struct", "", ticket{"<q>&", 1}, llm.Response{Text: `{"question":"<q>&","n":1}`}, ""},
		{"map", "keys in order, so that equal answers are equal", map[string]int{"b": 1, "a": 2}, llm.Response{Text: `{"a":2,"b":1}`}, ""},
		{"nil", "", nil, llm.Response{Text: "null"}, ""},
		{"raw JSON", "", json.RawMessage(`{"a": 1}`), llm.Response{Text: `{"a":1}`}, ""},
		{"marshaler", "decides for itself", verbose{}, llm.Response{Text: `{"said":"a < b"}`}, ""},
		{"not JSON", "the item's error, naming it", math.NaN(), llm.Response{}, `item "eggs": the application's answer is graded as JSON: json: unsupported value: NaN`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, err := execute(t, run.App(func(context.Context, string) (any, error) { return tc.out, nil }))
			if tc.err != "" {
				require.EqualError(t, err, tc.err)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, tc.want, resp, tc.reason)

			_, err = execute(t, run.App(func(context.Context, string) (any, error) { return tc.out, errBoom }))
			assert.Equal(t, errBoom, err, "the application's error goes before ours")
		})
	}
}

func TestAsk(t *testing.T) {
	var got llm.Request
	m := llm.ModelFunc(func(_ context.Context, req llm.Request) (llm.Response, error) {
		got = req
		return llm.Response{Text: "18"}, errBoom
	})
	resp, err := execute(t, run.Ask(m, func(it dataset.Item) llm.Request { return llm.Prompt("Q: " + it.Input) }))
	assert.Equal(t, errBoom, err)
	assert.Equal(t, "18", resp.Text, "what came beside the error is passed on")
	assert.Equal(t, "Q: How many?", got.Messages[0].Content)
}

// TestCaseC18StopText: which stop texts are warned of, and when.
func TestCaseC18StopText(t *testing.T) {
	for _, row := range []struct {
		name, stop string
		finish     llm.FinishReason
		warned     bool
	}{
		{"word", "Question", llm.FinishStop, true},
		{"words", " The end", llm.FinishStop, true},
		{"no Latin", "問題", llm.FinishStop, true},
		{"line break", "\n\nQuestion", llm.FinishStop, false},
		{"colon", "Question:", llm.FinishStop, false},
		{"token", "</s>", llm.FinishStop, false},
		{"blank", " ", llm.FinishStop, false},
		{"cut elsewhere", "Question", llm.FinishLength, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			mine := []string{"mine"}
			m := llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
				return llm.Response{Text: "18", Finish: row.finish, Warnings: mine[:1:1]}, nil
			})
			resp, err := execute(t, run.Ask(m, func(dataset.Item) llm.Request {
				r := llm.Prompt("?")
				r.Stop = []string{row.stop}
				return r
			}))
			require.NoError(t, err)
			require.Equal(t, "mine", resp.Warnings[0])
			if !row.warned {
				assert.Len(t, resp.Warnings, 1)
			} else if assert.Len(t, resp.Warnings, 2) {
				assert.Contains(t, resp.Warnings[1], row.stop)
			}
		})
	}
}

func TestStrategyMisuse(t *testing.T) {
	s := answers(says("18"))
	assert.PanicsWithValue(t, "evaltest/run.Escalate: from is 1; it must be at least 2, or the first strategy is never asked", func() { run.Escalate(s, s, 1) })
	assert.Panics(t, func() { run.Escalate(nil, s, 2) })
	assert.Panics(t, func() { run.Escalate(s, nil, 2) })
	assert.Panics(t, func() { run.Ask(nil, func(dataset.Item) llm.Request { return llm.Request{} }) })
	assert.Panics(t, func() { run.Ask(llm.ModelFunc(nil), nil) })
	assert.Panics(t, func() { run.App[string, string](nil) })
}

type silent struct{}

func (silent) Name() string { panic("no name") }

type bot struct{}

func (bot) Answer(_ context.Context, in string) (string, error) { return in, nil }

func TestNameOf(t *testing.T) {
	s := answers(says("18"))
	for _, tc := range []struct {
		v    any
		want string
	}{
		{nil, ""},
		{s, "script"},
		{silent{}, "run_test.silent"},
		{(*script)(nil), "script"},
		{time.Second, "1s"},
		{exact, "func"},
		{run.StrategyFunc(s.Execute), "run_test.(*script).Execute"},
		{run.App(bot{}.Answer), "app run_test.bot.Answer"},
		{run.Escalate(s, s, 2), "script, from attempt 2 script"},
		{run.Ask(llm.ModelFunc(nil), func(dataset.Item) llm.Request { return llm.Request{} }), "ask llm.ModelFunc"},
	} {
		assert.Equal(t, tc.want, run.NameOf(tc.v))
	}
}

func TestConfigCheck(t *testing.T) {
	good := func() *run.Config { return &run.Config{Strategy: answers(says("18")), Grader: exact} }
	require.NoError(t, good().Check())
	for _, tc := range []struct {
		name string
		set  func(*run.Config)
		want string // "" for good
	}{
		{"no strategy", func(c *run.Config) { c.Strategy = nil }, "Strategy is nil"},
		{"no grader", func(c *run.Config) { c.Grader = nil }, "Grader is nil: use one of package grade"},
		{"judge option without judge", func(c *run.Config) { c.JudgeIncorrect = true }, "JudgeIncorrect is set and Judge is nil"},
		{"attempts", func(c *run.Config) { c.Attempts = -1 }, "Attempts is -1; it must be at least 1, or 0 for the default of 3"},
		{"tries", func(c *run.Config) { c.Tries = -2 }, "Tries is -2"},
		{"backoff", func(c *run.Config) { c.Backoff = call.Backoff{Max: -1} }, "Backoff.Max is -1ns"},
		{"attempt longer than item", func(c *run.Config) { c.AttemptTimeout = 6 * time.Minute }, "AttemptTimeout 6m0s is longer than ItemTimeout 5m0s"},
		{"a short item alone", func(c *run.Config) { c.ItemTimeout = time.Second }, ""},
		{"no item timeout", func(c *run.Config) { c.ItemTimeout, c.AttemptTimeout = -1, time.Hour }, ""},
		{"no timeouts", func(c *run.Config) { c.ItemTimeout, c.AttemptTimeout, c.Grace = -1, -1, -1 }, ""},
		{"judge option", func(c *run.Config) { c.Judge, c.JudgeIncorrect = judge(grade.Verdict{}, nil), true }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := good()
			tc.set(c)
			err := c.Check()
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, run.ErrConfig)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}
