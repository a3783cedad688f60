package run

import (
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm/call"
)

// made is how many physical calls there were.
func made(tries []call.Try) (n int) {
	for i := range tries {
		if !tries[i].Unsent {
			n++
		}
	}
	return n
}

// tryLog is how a record keeps physical calls; nil where that would say nothing.
func tryLog(tries []call.Try) (kept []result.Try) {
	dull := true
	for i := range tries {
		dull = dull && tries[i].Kind == "" && tries[i].Waits == (call.Waits{})
	}
	if dull && len(tries) <= 1 {
		return nil
	}
	for i := range tries {
		t := &tries[i]
		k := result.Try{
			Start: t.Start.UTC(), PauseWait: t.Waits.Pause, LimitWait: t.Waits.Limit, SlotWait: t.Waits.Slot, Duration: t.Duration,
			Usage: t.Usage, CostUSD: t.CostUSD, Replayed: t.Replayed, RetryAfter: t.RetryAfter, Unsent: t.Unsent,
		}
		if t.Kind != "" {
			k.Error = &result.Error{Kind: t.Kind, Message: t.Message, Status: t.Status}
		}
		kept = append(kept, k)
	}
	return kept
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
