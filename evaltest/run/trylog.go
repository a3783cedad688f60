package run

import (
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm/call"
)

// logTries keeps an attempt's physical calls. executed is how often the
// strategy was called for it, whose calls may be seen by nobody.
func logTries(a *result.Attempt, executed int, tries []call.Try) {
	sent, dull := 0, true
	for i := range tries {
		if !tries[i].Unsent {
			sent++
		}
		dull = dull && tries[i].Kind == "" && tries[i].Waits == (call.Waits{})
	}
	a.Tries = max(sent, executed)
	if dull && len(tries) <= 1 {
		return
	}
	for i := range tries {
		t := &tries[i]
		kept := result.Try{
			Start: t.Start.UTC(), PauseWait: t.Waits.Pause, LimitWait: t.Waits.Limit, SlotWait: t.Waits.Slot, Duration: t.Duration,
			Usage: t.Usage, CostUSD: t.CostUSD, Replayed: t.Replayed, RetryAfter: t.RetryAfter, Unsent: t.Unsent,
		}
		if t.Kind != "" {
			kept.Error = &result.Error{Kind: t.Kind, Message: t.Message, Status: t.Status}
		}
		a.TryLog = append(a.TryLog, kept)
	}
}

// sent reports whether any of an attempt's calls was made.
func sent(tries []call.Try) bool {
	for i := range tries {
		if !tries[i].Unsent {
			return true
		}
	}
	return len(tries) == 0
}
