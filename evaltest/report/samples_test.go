package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
)

// TestSamples: each row is the answers of items, 3 an item: Y is correct, a and b
// are two wrong answers, . is none that was found.
func TestSamples(t *testing.T) {
	for _, row := range []struct {
		name, reason, answers string
		want                  report.Consistency
		text                  string
	}{
		{"unanimous", "", "YYY YYY", report.Consistency{Items: 2, All: 2, K: 3, PassAt: 1, PassAll: 1, Majority: 2}, "pass@3 100.0%"},
		{"majority correct", "two of three", "YYa", report.Consistency{Items: 1, Some: 1, K: 3, PassAt: 1, Majority: 1}, "pass^3 0.0%"},
		{"majority wrong", "the same wrong answer twice", "Yaa", report.Consistency{Items: 1, Some: 1, K: 3, PassAt: 1}, "correct in 0.0%"},
		{"plurality", "two different wrong answers are no majority over one correct: a tie", "Yab", report.Consistency{Items: 1, Some: 1, K: 3, PassAt: 1, Ties: 1}, "undecided in 100.0%"},
		{"no answer has no vote", "one correct beats none", "Y..", report.Consistency{Items: 1, Some: 1, K: 3, PassAt: 1, Majority: 1}, "correct in 100.0%"},
		{"none at all", "", "...", report.Consistency{Items: 1, None: 1, K: 3}, "pass@3 0.0%"},
		{"unequal", "numbers of samples that differ have no pass@k", "YYY Y", report.Consistency{Items: 2, All: 2}, "every answer correct in 2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := report.New(report.Labels{})
			for i, item := range strings.Fields(row.answers) {
				for k, a := range item {
					rec := record(i, result.Incorrect)
					switch a {
					case 'Y':
						rec = record(i, result.Correct)
					case '.':
						rec = record(i, result.Unparsed)
					default:
						rec.Verdict = &grade.Verdict{Mark: grade.Incorrect, Answer: string(a), Reason: grade.ReasonWrong}
					}
					rec.Sample = k
					s.Add(rec)
				}
			}
			got := s.Stats()
			var b strings.Builder
			assert.NoError(t, report.Text(&b, got, report.Options{}))
			assert.Contains(t, strings.Join(strings.Fields(b.String()), " "), row.text)
			got.Consistency.Split = nil
			assert.Equal(t, row.want, got.Consistency, row.reason)
		})
	}
}

// TestConfirmingAnswers: what they spent counts, and nothing else.
func TestConfirmingAnswers(t *testing.T) {
	s := report.New(report.Labels{Samples: 1})
	s.Add(record(0, result.Correct))
	again := record(0, result.Incorrect)
	again.Sample, again.Confirms = 1, true
	s.Add(again)
	got := s.Stats()
	assert.Equal(t, 1, got.Total)
	assert.Equal(t, 1, got.Confirmed)
	assert.Equal(t, map[result.Outcome]int{result.Correct: 1}, got.Outcomes)
	assert.Equal(t, int64(200), got.Usage.Input)
	assert.Equal(t, "0.0024", got.Cost.Billed.USD.String())
}
