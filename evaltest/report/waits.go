package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// add counts what the calls of an answer waited for.
func (w *Waits) add(r *result.Record) {
	var pause, spacing time.Duration
	for i := range r.Attempts {
		for _, t := range r.Attempts[i].TryLog {
			if t.Error != nil && t.Error.Kind == llm.KindRateLimit && !t.Unsent {
				w.RateLimits++
			}
			pause += t.PauseWait
			spacing += t.LimitWait + t.SlotWait
		}
	}
	if pause > 0 {
		w.Paused++
		w.LongestPause = max(w.LongestPause, pause)
	}
	if spacing > 0 {
		w.Spaced++
		w.LongestSpacing = max(w.LongestSpacing, spacing)
	}
}

// minSpacing is the least that is worth a word: a scope with limits makes
// nearly every call wait for a moment.
const minSpacing = 100 * time.Millisecond

// text is for people; "" if there is nothing to tell.
func (w Waits) text() string {
	var parts []string
	if w.RateLimits > 0 {
		parts = append(parts, plural(w.RateLimits, "call")+" met a rate limit")
	}
	if w.Paused > 0 {
		parts = append(parts, fmt.Sprintf("%s paused for one, up to %s", plural(w.Paused, "answer"), duration(w.LongestPause)))
	}
	if w.LongestSpacing >= minSpacing {
		parts = append(parts, fmt.Sprintf("%s waited for the scope's own limits, up to %s", plural(w.Spaced, "answer"), duration(w.LongestSpacing)))
	}
	return strings.Join(parts, "; ")
}
