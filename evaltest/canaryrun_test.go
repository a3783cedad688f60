package evaltest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
)

// canaryRun runs n wordless answers under a judge with three canaries, whose
// model replies by the text that it is given; in a subtest, unless its journal is
// to be kept.
func canaryRun(t *testing.T, keep bool, n int, s *llmtest.Server, opts ...evaltest.Option) (rep *evaltest.Report, all map[string]result.Record, k *judge.Canaries) {
	t.Helper()
	known := func(id, text string, label grade.Mark) judge.Labelled {
		return judge.Labelled{Item: dataset.Item{ID: id, Input: "canary " + id, Target: "18"}, Response: llm.Response{Text: text}, Label: label}
	}
	k = judge.WithCanaries(judge.New(modelAt(llmtest.Gemini, s)), []judge.Labelled{
		known("good", "eighteen", grade.Correct), known("bad", "seventeen", grade.Incorrect), known("worse", "a goose", grade.Incorrect),
	}, judge.CanaryConfig{Seed: 7})
	play := func(t *testing.T) {
		rep = evaltest.RunInBubble(t, questions(t, n),
			evaltest.Ask(modelAt(llmtest.OpenAI, s), func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }),
			evaltest.Grader(grade.Numeric()), evaltest.Judge(k), evaltest.MinAccuracy(0), evaltest.MaxUngraded(n), evaltest.Attempts(1),
			evaltest.Price(pricedAt(t, map[string]string{"in": "1", "out": "10"})), evaltest.Options(opts...))
		all = outcomes(t, rep)
	}
	if keep {
		play(t)
	} else {
		t.Run("run", play)
		require.Len(t, all, n)
	}
	return rep, all, k
}

// judgeOf is a provider whose subject answers without a number, and whose judge
// says what policy makes of the text that it judges.
func judgeOf(policy func(text string) string) *llmtest.Server {
	return &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		r := llmtest.Reply{Text: wordless, Tokens: &llm.Usage{Input: 100, Output: 20}}
		if c.API != llmtest.OpenAI {
			r.Text = `{"reasoning":"so","verdict":"` + policy(string(c.Body)) + `"}`
		}
		return r
	}}
}

// honest knows which canaries are right, and passes each second question.
func honest(text string) string {
	for _, bad := range []string{"seventeen", "a goose", "question 001", "question 003", "question 005", "question 007"} {
		if strings.Contains(text, bad) {
			return "I"
		}
	}
	return "C"
}

// TestCanariesInARun: a judge that cannot tell the canaries apart decides
// nothing of a run, whatever it says; what it cost is counted, and canaries are
// in no number of the run's answers.
func TestCanariesInARun(t *testing.T) {
	const n = 8
	for _, row := range []struct {
		name             string
		policy           func(string) string
		correct, ungrade int
		calls            int // of the judge
		note             string
	}{
		{"honest", honest, 4, 0, n + 3, ""},
		{"always correct", func(string) string { return "C" }, 0, n, n + 3, "missed 2 of 3"},
		{"always incorrect", func(string) string { return "I" }, 0, n, n + 3, "missed 1 of 3"},
		{"off the menu", func(string) string { return "maybe" }, 0, n, 2 * (n + 3), "none of the 1 judgements of correct ones gave a legal verdict"},
		{"by length", func(s string) string { return []string{"C", "I"}[len(s)%2] }, -1, -1, n + 3, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, parallel := range []int{1, 8} {
				rep, all, k := canaryRun(t, false, n, judgeOf(row.policy), evaltest.Parallel(parallel))
				correct, ungraded := 0, 0
				for id, rec := range all {
					assert.True(t, strings.HasPrefix(id, "row"), "canaries are no items")
					switch rec.Outcome {
					case result.Correct:
						correct++
					case result.Ungraded:
						ungraded++
					}
				}
				if row.correct < 0 { // whatever it is, the run believes it exactly if the canaries do
					if k.Verdict() != nil {
						assert.Equal(t, n, ungraded)
					} else {
						assert.Zero(t, ungraded)
					}
					continue
				}
				assert.Equal(t, row.correct, correct)
				assert.Equal(t, row.ungrade, ungraded)
				assert.Equal(t, row.calls, rep.Stats.JudgeUsage.Calls, "canaries are paid for")
				assert.EqualValues(t, 100*row.calls, rep.Stats.JudgeUsage.Input)
				assert.Equal(t, n, rep.Stats.Total, "and are not among the answers")
				assert.Contains(t, rep.Summary+fmt.Sprint(rep.Warnings), row.note)
			}
		})
	}
}

// TestCanariesRecorded: a strict replay finds the canaries, in any order, and a
// run that goes on believes no more of an earlier part than its own canaries do.
func TestCanariesRecorded(t *testing.T) {
	for name, policy := range map[string]func(string) string{"honest": honest, "always correct": func(string) string { return "C" }} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "canaries.jsonl.gz")
			s := judgeOf(policy)
			_, recorded, first := canaryRun(t, false, 8, s, evaltest.Cassette(path, cassette.Record), evaltest.Parallel(1))
			calls := s.Counts().Calls
			for _, parallel := range []int{1, 3, 8} {
				_, all, k := canaryRun(t, false, 8, s, evaltest.Cassette(path, cassette.Replay), evaltest.Parallel(parallel))
				for id, rec := range all {
					assert.Equal(t, recorded[id].Outcome, rec.Outcome, id)
				}
				assert.Equal(t, first.Report().Hit, k.Report().Hit)
				assert.Equal(t, 3, k.Report().Hit+k.Report().Missed)
			}
			assert.Equal(t, calls, s.Counts().Calls, "nobody was asked")
		})
	}
}

// TestCanariesResumed: a run that goes on does not count what a judge decided
// that was not to be relied on, before or now, and pays for nothing twice.
func TestCanariesResumed(t *testing.T) {
	always := func(string) string { return "C" }
	for _, row := range []struct {
		name        string
		first, then func(string) string
		budget      string
		ungraded    int
	}{
		{"missed before", always, always, "100", 8},
		{"missed in both parts", always, always, "0.0029", 8},
		{"missed now", honest, always, "0.0029", 8},
		{"relied on", honest, honest, "0.0029", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := judgeOf(row.first)
			rep, _, _ := canaryRun(t, true, 8, s, evaltest.Parallel(1), evaltest.MaxCost(row.budget))
			spent := rep.Stats.JudgeUsage.Calls
			s = judgeOf(row.then)
			again, all, k := canaryRun(t, false, 8, s, evaltest.Resume(rep.Journal))
			ungraded := 0
			for _, rec := range all {
				if rec.Outcome == result.Ungraded {
					ungraded++
				}
			}
			assert.Equal(t, row.ungraded, ungraded, "%v %s", k.Report(), again.Summary)
			assert.Equal(t, row.ungraded, again.Stats.Outcomes[result.Ungraded])
			assert.GreaterOrEqual(t, again.Stats.JudgeUsage.Calls, spent)
		})
	}
}
