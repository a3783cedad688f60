package llmtest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

func streamed(text string) llm.Request {
	req := llm.Prompt(text)
	req.Stream = true
	return req
}

// slow answers "one two three" in a second and two half ones.
func slow() *llmtest.Model {
	return &llmtest.Model{
		Reply: func(int, llm.Request) (llm.Response, error) {
			return llm.Response{Reasoning: "hm ", Text: "one two three", Finish: llm.FinishStop}, nil
		},
		Latency:  func(int, llm.Request) time.Duration { return time.Second },
		PerToken: func(int, llm.Request) time.Duration { return time.Second / 2 },
		Usage:    llmtest.WordUsage,
	}
}

func TestModelStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stream := range []bool{false, true} {
			req := llm.Prompt("how many")
			req.Stream = stream
			r, err := slow().Generate(t.Context(), req)
			require.NoError(t, err)
			assert.Equal(t, "one two three", r.Text)
			assert.Equal(t, llm.Usage{Input: 2, Output: 4, Reasoning: 1, Known: true}, r.Usage)
			assert.Equal(t, 2500*time.Millisecond, r.Timing.Total, "an answer that is not streamed takes as long")
			if !stream {
				assert.Nil(t, r.Chunks)
				assert.Zero(t, r.Timing.FirstToken)
				continue
			}
			assert.Equal(t, time.Second, r.Timing.FirstToken)
			assert.Equal(t, []time.Duration{time.Second, 1500 * time.Millisecond, 2 * time.Second, 2500 * time.Millisecond}, r.Chunks)
		}
	})
}

func TestModelStopsWithItsContext(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		stream       bool
		after        time.Duration
		text         string
		chunks       int
	}{
		{"before the first word", "nothing has come", true, 500 * time.Millisecond, "", 0},
		{"within the thoughts", "they are no text", true, 1200 * time.Millisecond, "", 1},
		{"in the middle", "what has come is kept", true, 2200 * time.Millisecond, "one two ", 3},
		{"not streamed", "nothing comes before the end", false, 2200 * time.Millisecond, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := slow()
				ctx, cancel := context.WithTimeout(t.Context(), tc.after)
				defer cancel()
				req := streamed("q")
				req.Stream = tc.stream
				r, err := m.Generate(ctx, req)
				assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, tc.text, r.Text, tc.reason)
				assert.Len(t, r.Chunks, tc.chunks)
				assert.Equal(t, tc.after, r.Timing.Total)
				assert.False(t, r.Usage.Known)
				assert.Equal(t, 1, m.Canceled())
				assert.Equal(t, 0, m.InFlight())
			})
		})
	}
}

func TestModelFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &llm.Error{Kind: llm.KindRateLimit, Provider: "p", RetryAfter: new(time.Second)}
		m := slow()
		m.Log = true
		m.Fault = llmtest.Nth(map[int]llmtest.ModelFault{
			1: {Err: busy}, 2: {Err: busy, Partial: 2}, 3: {Hang: true}, 4: {Panic: "oh"}, 5: {Err: busy, Partial: 99},
		})
		ask := func() (llm.Response, error) { return m.Generate(t.Context(), streamed("q")) }
		r, err := ask()
		assert.Equal(t, busy, err)
		assert.Empty(t, r.Text)
		assert.Equal(t, time.Second, r.Timing.Total, "it fails when its answer would have begun")

		r, err = ask()
		assert.Equal(t, busy, err)
		assert.Equal(t, "one ", r.Text, "of two words one was a thought")
		assert.Len(t, r.Chunks, 2)

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r, err = m.Generate(ctx, streamed("q"))
		assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
		assert.Equal(t, time.Hour, r.Timing.Total)

		assert.PanicsWithValue(t, "oh", func() { _, _ = ask() })
		assert.Equal(t, 0, m.InFlight(), "a panic leaves no call behind")

		r, err = ask()
		assert.Equal(t, busy, err)
		assert.Equal(t, "one two three", r.Text, "there are not so many words")

		r, err = ask()
		require.NoError(t, err)
		assert.Equal(t, "one two three", r.Text)
		assert.Equal(t, 6, m.Calls())
		assert.Equal(t, 1, m.Canceled())
		assert.Equal(t, 1, m.Peak())
	})
}

func TestModelForgets(t *testing.T) {
	m := &llmtest.Model{Forget: true}
	for range 3 {
		_, err := m.Generate(t.Context(), llm.Prompt("q"))
		require.NoError(t, err)
	}
	assert.Equal(t, 3, m.Calls())
	assert.Empty(t, m.Requests())
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = m.Generate(context.Background(), llm.Request{}) }), "it is what an engine is measured against")
}

func TestModelOfReplyErrors(t *testing.T) {
	want := errors.New("no")
	m := &llmtest.Model{Usage: llmtest.WordUsage, Reply: func(int, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "half"}, want
	}}
	r, err := m.Generate(t.Context(), streamed("q"))
	assert.Equal(t, want, err)
	assert.Equal(t, "half", r.Text, "as the script says")
	assert.False(t, r.Usage.Known)
}

func BenchmarkModel(b *testing.B) {
	m := &llmtest.Model{Forget: true}
	ctx, req := context.Background(), llm.Prompt("q")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := m.Generate(ctx, req); err != nil {
				b.Fatal(err)
			}
		}
	})
}
