package llm

import "time"

// A RateLimit is what a provider's headers say of the limits that a call
// counted against. Requests and Tokens are told apart, because either may be
// what runs out.
type RateLimit struct {
	Requests, Tokens Window
}

// A Window is one limit. A field that the provider did not report is nil: a
// remaining 0 is not an unknown one.
type Window struct {
	// Limit is how many are allowed a minute, or in whatever window the
	// provider has.
	Limit *int64
	// Remaining is how many are left of it.
	Remaining *int64
	// Reset is how long after the answer it is full, or usable, again.
	Reset *time.Duration
}

// Exhausted reports whether the provider said that nothing is left.
func (w Window) Exhausted() bool { return w.Remaining != nil && *w.Remaining <= 0 }
