package llmtest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

func ExamplePupil() {
	pupil := &llmtest.Pupil{Answers: map[string]string{"2+3": "5", "4*4": "16"}, Wrong: 0.5, Seed: 3}
	for _, q := range []string{"2+3", "4*4"} {
		fmt.Println(q, pupil.Fate(q))
	}
	// Output:
	// 2+3 right
	// 4*4 wrong
}

// TestPupilFates: the shares are kept, and depend on the seed and the question
// only.
func TestPupilFates(t *testing.T) {
	const n = 20_000
	p := llmtest.Pupil{Wrong: 0.1, Vague: 0.05, Mumbled: 0.02, Seed: 7}
	again, other := p, p
	other.Seed = 8
	counts, differ := map[llmtest.Fate]int{}, 0
	for i := range n {
		q := fmt.Sprintf("question %d", i)
		f := p.Fate(q)
		counts[f]++
		require.Equal(t, f, again.Fate(q))
		if other.Fate(q) != f {
			differ++
		}
	}
	for fate, share := range map[llmtest.Fate]float64{"wrong": 0.1, "vague": 0.05, "mumbled": 0.02, "right": 0.83} {
		se := math.Sqrt(share * (1 - share) / n)
		assert.InDelta(t, share, float64(counts[fate])/n, 4*se, fate)
	}
	assert.Greater(t, differ, n/5, "another seed is another pupil")
}

// TestPupilReply: each fate is answered as it says, over the wire.
func TestPupilReply(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		pupil        llmtest.Pupil
		level        string
		has, hasNot  string
	}{
		{"right", "the answer, marked", llmtest.Pupil{}, "minimal", "#### 5", "57"},
		{"wrong", "another number", llmtest.Pupil{Wrong: 1}, "minimal", "#### 57", ""},
		{"vague", "nothing to compare", llmtest.Pupil{Vague: 1}, "minimal", "closer look", "####"},
		{"vague, thinking", "thinking helps", llmtest.Pupil{Vague: 1}, "high", "#### 5", ""},
		{"mumbled, thinking", "thinking does not help", llmtest.Pupil{Mumbled: 1}, "high", "as it should be", "5"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := row.pupil
			p.Answers = map[string]string{"2+3": "5"}
			p.Question = func(s string) string { _, q, _ := strings.Cut(s, "Problem: "); return q }
			p.Thinks = func(c llmtest.Chat) bool { return string(c.Field("reasoning_effort")) == `"high"` }
			s := &llmtest.Server{Reply: p.Reply}
			m := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: s.Client()}.New()
			req := llm.Prompt("Solve.\nProblem: 2+3")
			req.Thinking = &llm.Thinking{Level: row.level}
			resp, err := m.Generate(t.Context(), req)
			require.NoError(t, err)
			assert.Contains(t, resp.Text, row.has, row.reason)
			if row.hasNot != "" {
				assert.NotContains(t, resp.Text, row.hasNot, row.reason)
			}
			assert.Equal(t, row.level == "high", resp.Reasoning != "")
			_, err = m.Generate(t.Context(), llm.Prompt("Problem: 2+4"))
			assert.Equal(t, llm.KindBadRequest, llm.KindOf(err), "a question that is not known")
		})
	}
}

// TestPupilMisuse: shares that are none are refused, with their value.
func TestPupilMisuse(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		pupil        llmtest.Pupil
		fails        string
	}{
		{"all wrong", "1 is a share", llmtest.Pupil{Wrong: 1}, ""},
		{"rounded", "1 in all, but for the float's last digit", llmtest.Pupil{Wrong: 0.8, Vague: 0.1, Mumbled: 0.1 + 1e-12}, ""},
		{"not a number", "every comparison with it is false", llmtest.Pupil{Wrong: math.NaN()}, "Pupil.Wrong is NaN"},
		{"negative", "it would be given to the next fate", llmtest.Pupil{Wrong: 0.5, Vague: -0.25}, "Pupil.Vague is -0.25"},
		{"percent", "a share is none", llmtest.Pupil{Mumbled: 12}, "are 0, 0 and 12, which is 12 in all"},
		{"too many", "the last fate would be rarer than it says", llmtest.Pupil{Wrong: 0.5, Vague: 0.5, Mumbled: 0.25}, "0.5, 0.5 and 0.25, which is 1.25 in all"},
		{"infinite", "no share", llmtest.Pupil{Vague: math.Inf(1)}, "+Inf"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.pupil.Answers = map[string]string{"2+3": "5"}
			for name, ask := range map[string]func(){
				"Fate":  func() { row.pupil.Fate("2+3") },
				"Reply": func() { row.pupil.Reply(llmtest.Chat{Messages: []llmtest.ChatMessage{{Content: "2+3"}}}) },
			} {
				if row.fails == "" {
					assert.NotPanics(t, ask, "%s: %s", name, row.reason)
					continue
				}
				func() {
					defer func() { assert.Contains(t, recover(), row.fails, "%s: %s", name, row.reason) }()
					ask()
				}()
			}
		})
	}
}

// TestPupilCached: what a Pupil says of its tokens is what the server would have
// counted, but for those from the cache, and is billed whatever the server's own
// Tokens and CapOutput are.
func TestPupilCached(t *testing.T) {
	ask := func(cached int, s *llmtest.Server, most int64) llm.Usage {
		p := &llmtest.Pupil{Answers: map[string]string{"what is 2+3": "5"}, Cached: cached, Thinks: func(llmtest.Chat) bool { return true }}
		s.Reply = p.Reply
		m := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: s.Client()}.New()
		req := llm.Prompt("what is 2+3")
		if most > 0 {
			req.MaxOutputTokens = &most
		}
		resp, err := m.Generate(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, s.Counts().Billed, resp.Usage)
		return resp.Usage
	}
	counted := ask(0, &llmtest.Server{}, 0)
	require.Positive(t, counted.Reasoning)
	want := counted
	want.CachedInput = 2
	assert.Equal(t, want, ask(2, &llmtest.Server{}, 0))
	want.CachedInput = counted.Input
	assert.Equal(t, want, ask(1000, &llmtest.Server{}, 0), "no more than there is")

	triple := func(s string) int { return 3 * llmtest.CountWords(s) }
	assert.Equal(t, 3*counted.Output, ask(0, &llmtest.Server{Tokens: triple}, 0).Output)
	assert.Equal(t, counted.Output, ask(1, &llmtest.Server{Tokens: triple}, 0).Output, "Tokens does not count what is said")
	assert.EqualValues(t, 4, ask(0, &llmtest.Server{CapOutput: true}, 4).Output)
	assert.Equal(t, counted.Output, ask(1, &llmtest.Server{CapOutput: true}, 4).Output, "what is cut is billed whole")
}
