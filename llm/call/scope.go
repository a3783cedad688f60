package call

import (
	"context"
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
)

// A Scope is who shares a quota: an account, a key, a server. All calls that go
// through one Scope wait in one line, pause together when the provider says
// that it is too much, and share its limits. The zero value works: no limit is
// known, and only what the provider says is obeyed. Safe for concurrent use; do
// not copy it.
type Scope struct {
	limits Limits
}

// NewScope returns a Scope with these limits. It panics if they cannot be
// meant, naming the field and the value.
func NewScope(l Limits) *Scope {
	if err := l.Check(); err != nil {
		panic(err)
	}
	return &Scope{limits: l}
}

// Limits are what a [Scope] may do. The zero value limits nothing.
type Limits struct {
	// RPM is the most requests a minute; 0 for no limit.
	RPM int
	// TPM is the most tokens a minute, input and output together; 0 for none.
	TPM int
	// Burst is the part of a minute's limit that may go at once after a quiet
	// time. Any rolling minute may see up to the limit and the burst. Default
	// 0: calls are spaced evenly, and no rolling minute sees more than RPM.
	Burst time.Duration
	// Concurrency is the most calls in flight; 0 for no limit.
	Concurrency int
	// Adaptive looks for the limits that the provider does not state.
	Adaptive Adaptive
	// Cooldown spaces the pauses after rate limits for which the provider did
	// not say how long to wait: the first one is Cooldown.First (default 2 s),
	// then twice that, up to Cooldown.Max (default 30 s), until a call
	// succeeds.
	Cooldown Backoff
	// MaxWait is the longest wait that a provider may ask for; default 2
	// minutes. If it asks for more the call fails at once with its words.
	MaxWait time.Duration
	// Share names the quota for other processes on this machine: all Scopes
	// of the same user with the same Share, RPM and TPM share one budget and
	// pause together, through a locked file in the user's cache folder. ""
	// shares with nobody. Never put a key here.
	Share string
	// Estimate says how many tokens a request will take, input and output
	// together; used with TPM, and corrected by what the answer reports.
	// Default: see [EstimateTokens].
	Estimate func(llm.Request) int64
}

// Adaptive says how a [Scope] looks for limits that it was not told.
type Adaptive string

// The ways.
const (
	// AdaptOff looks for none.
	AdaptOff Adaptive = ""
	// AdaptRate starts at 60 requests a minute, goes up by a fifth after 10
	// successes in a row, to at most 1,000, and down to half on a rate limit,
	// to at least 10.
	AdaptRate Adaptive = "rate"
	// AdaptConcurrency adds one call in flight after as many successes as are
	// allowed in flight, and halves them on a rate limit (AIMD).
	AdaptConcurrency Adaptive = "concurrency"
	// AdaptAuto is AdaptConcurrency, and takes the limits that the provider's
	// headers state.
	AdaptAuto Adaptive = "auto"
)

// Check reports limits that cannot be meant, naming the field and the value.
func (l Limits) Check() error {
	switch {
	case l.RPM < 0:
		return fmt.Errorf("call: Limits.RPM is %d; it must not be negative (0 is no limit)", l.RPM)
	}
	return l.Cooldown.Check()
}

// Waits are how long a call waited before it started.
type Waits struct {
	// Pause is for the scope's pause and the pacing after it, Limit for RPM
	// and TPM, Slot for a call in flight to end.
	Pause, Limit, Slot time.Duration
}

// Total is the sum.
func (w Waits) Total() time.Duration { return w.Pause + w.Limit + w.Slot }

// admit waits until a call of about this many tokens may start, and returns
// the grant that it runs under. No slot is held while it waits for anything
// else. It fails at once, with ErrNoTime or ErrTooLong and what the provider
// said last, where the wait is known not to fit ctx's deadline or MaxWait; with
// the trip's error where the scope is stopped (an account without money); and
// with ctx's error if that ends first. After a failure nothing is owed.
func (s *Scope) admit(ctx context.Context, tokens int64) (*grant, Waits, error) {
	return &grant{}, Waits{}, ctx.Err()
}

// A grant is one admitted call. end must be called exactly once.
type grant struct{}

// An outcome is what an admitted call came to.
type outcome struct {
	// sent is false if nothing left the process: all is given back.
	sent bool
	// resp and err are what the call returned. Unknown usage keeps the
	// estimate; a replayed answer gives all back.
	resp llm.Response
	err  error
}

// end settles the call with the scope: gives the slot back, corrects the
// tokens, and on a rate limit pauses the scope. It returns how long this call's
// own next try must wait beside what admit will see: the stale report's
// Retry-After.
func (g *grant) end(o outcome) time.Duration { return 0 }

// EstimateTokens is the default of [Limits.Estimate]: a token for each 4 bytes
// of the request's texts, schema and tools, at least 1, plus MaxOutputTokens
// or, without one, expect.
func EstimateTokens(req llm.Request, expect int64) int64 { return 1 }
