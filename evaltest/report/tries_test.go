package report_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// refused is a try that met a rate limit.
func refused(asked time.Duration) result.Try {
	return result.Try{Duration: 120 * time.Millisecond, RetryAfter: &asked, Error: &result.Error{Kind: llm.KindRateLimit, Status: 429, Message: "slow down"}}
}

// TestTries: what became of each call of an item, in a line each.
func TestTries(t *testing.T) {
	answered := result.Try{PauseWait: 5 * time.Second, SlotWait: 20 * time.Millisecond, Duration: 1500 * time.Millisecond, Usage: llm.Usage{Input: 1200, Output: 34, Known: true}}
	unsent := result.Try{PauseWait: 2 * time.Minute, Unsent: true, Error: &result.Error{Kind: llm.KindRateLimit, Status: 429}}
	hostileTry := result.Try{Duration: time.Second, Error: &result.Error{Kind: hostile}}
	many := make([]result.Try, 20)
	for i := range many {
		many[i] = refused(time.Duration(i+1) * time.Second)
	}
	var text string
	for _, row := range []struct {
		name     string
		outcome  result.Outcome
		attempts [][]result.Try
	}{
		{"one that waited, of a wrong answer", result.Incorrect, [][]result.Try{{answered}}},
		{"one that waited in vain", result.Errored, [][]result.Try{{unsent}}},
		{"one that failed: the error says it", result.Errored, [][]result.Try{{refused(time.Second)}}},
		{"a rate limit, then an answer", result.Incorrect, [][]result.Try{{refused(5 * time.Second), answered}}},
		{"of two attempts", result.Errored, [][]result.Try{{{Duration: time.Second, Error: &result.Error{Kind: llm.KindServer, Status: 502}}}, {unsent}}},
		{"a recording, then what a server sent", result.Errored, [][]result.Try{{{Replayed: true, Duration: time.Second}, hostileTry}}},
		{"busy to the end", result.Errored, [][]result.Try{many}},
	} {
		r := record(0, row.outcome)
		r.Attempts = nil
		for i, tries := range row.attempts {
			r.Attempts = append(r.Attempts, result.Attempt{Number: i + 1, Tries: len(tries), TryLog: tries})
		}
		listed, n := failures(t, slices.Values([]*result.Record{r}), report.FailureOptions{})
		assert.Equal(t, 1, n)
		text += "== " + row.name + "\n" + listed + "\n"
	}
	golden(t, "tries.golden", text)
}
