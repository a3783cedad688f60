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
