package call

import (
	"errors"
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// Limits are what a [Scope] may do. The zero value limits nothing.
type Limits struct {
	// RPM is the most requests a minute; 0 for no limit.
	RPM int
	// TPM is the most tokens a minute, input and output together; 0 for none.
	// A call is counted as its estimate when it starts, and as what it took
	// when it has ended.
	TPM int
	// Burst is the part of a minute's limit that may go at once after a quiet
	// time, up to a minute. Any rolling minute may see up to the limit and the
	// burst. Default 0: calls are spaced evenly, and no rolling minute sees
	// more than RPM.
	Burst time.Duration
	// Concurrency is the most calls in flight; 0 for no limit.
	Concurrency int
	// Adaptive looks for the limits that the provider does not state.
	Adaptive Adaptive
	// Cooldown spaces the pauses after rate limits for which the provider did
	// not say how long to wait: the first one is Cooldown.First (default 2 s),
	// then twice that, up to Cooldown.Max (default 30 s, or First if that is
	// longer), until a call succeeds. A pause has no jitter, so Rand must not
	// be set.
	Cooldown Backoff
	// MaxWait is the longest wait that a provider may ask for; default 2
	// minutes. If it asks for more the call fails at once with its words. A
	// provider that has answered nothing yet, and refused every call for as long
	// as that (and at least 2 minutes and 20 calls), is not waited for any more
	// either: see [ErrBusy].
	MaxWait time.Duration
	// Share names the quota for other processes on this machine: all Scopes
	// of the same user with the same Share, RPM and TPM share one budget and
	// pause together, through a locked file in the user's cache folder. ""
	// shares with nobody. Never put a key here.
	Share string
	// Estimate says how many tokens a request will take, input and output
	// together, at least 0; used with TPM, and corrected by what the answer
	// reports. It must be safe for concurrent use. Default: see
	// [EstimateTokens]. A [Policy], and with it evaltest.Scope, admits a call
	// before it is known what it will ask, and gives an empty request: code
	// with long prompts of its own says what they are with [Announce], as
	// evaltest.Ask does.
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
	// to at least 10. RPM is a limit beside it.
	AdaptRate Adaptive = "rate"
	// AdaptConcurrency adds one call in flight after as many successes as are
	// allowed in flight, and halves them when calls are refused (AIMD): more
	// than 1 in 32 of late, or a quarter of those in flight together, or the
	// first one after a pause. A call that is refused now and then says nothing
	// of the limit. It starts at 16 or, where that is set, at Concurrency, and
	// goes up to Concurrency or 1,000.
	AdaptConcurrency Adaptive = "concurrency"
	// AdaptAuto is AdaptConcurrency, and takes the limits that the provider's
	// headers state for RPM and TPM where these are 0. It takes them as a
	// minute's, which is what most providers mean.
	AdaptAuto Adaptive = "auto"
)

// Defaults of [Limits].
const (
	defaultCooldown    = 2 * time.Second
	defaultCooldownMax = 30 * time.Second
)

// maxPerMinute bounds RPM and TPM, so that nothing overflows: a thousand
// million.
const maxPerMinute = 1_000_000_000

// Check reports limits that cannot be meant, naming the field and the value.
func (l Limits) Check() error {
	negative := func(field string, v any, zero string) error {
		return fmt.Errorf("call: Limits.%s is %v; it must not be negative (0 is %s)", field, v, zero)
	}
	switch {
	case l.RPM < 0:
		return negative("RPM", l.RPM, "no limit")
	case l.RPM > maxPerMinute:
		return fmt.Errorf("call: Limits.RPM is %d; the most is %d (0 is no limit)", l.RPM, maxPerMinute)
	case l.TPM < 0:
		return negative("TPM", l.TPM, "no limit")
	case l.TPM > maxPerMinute:
		return fmt.Errorf("call: Limits.TPM is %d; the most is %d (0 is no limit)", l.TPM, maxPerMinute)
	case l.Burst < 0:
		return negative("Burst", l.Burst, "even spacing")
	case l.Burst > time.Minute:
		return fmt.Errorf("call: Limits.Burst is %v; it is the part of a minute's limit that may go at once, so at most 1m0s", l.Burst)
	case l.Burst > 0 && l.RPM == 0 && l.TPM == 0 && l.Adaptive != AdaptAuto:
		return fmt.Errorf("call: Limits.Burst is %v, but there is no RPM or TPM that it could be a part of", l.Burst)
	case l.Concurrency < 0:
		return negative("Concurrency", l.Concurrency, "no limit")
	case l.MaxWait < 0:
		return negative("MaxWait", l.MaxWait, "the default of "+DefaultMaxWait.String())
	case wire.Mask(l.Share) != l.Share: // the value would be a key in an error
		return errors.New("call: Limits.Share looks as if it held a key; it is a name for the account, such as \"openai-team\"")
	}
	switch l.Adaptive {
	case AdaptOff, AdaptRate, AdaptConcurrency, AdaptAuto:
	default:
		return fmt.Errorf("call: Limits.Adaptive is %q; it must be %q, %q, %q or empty for off", l.Adaptive, AdaptRate, AdaptConcurrency, AdaptAuto)
	}
	return l.checkCooldown()
}

func (l Limits) checkCooldown() error {
	c := l.Cooldown
	switch {
	case c.First < 0:
		return fmt.Errorf("call: Limits.Cooldown.First is %v; it must not be negative (0 is the default of %v)", c.First, defaultCooldown)
	case c.Max < 0:
		return fmt.Errorf("call: Limits.Cooldown.Max is %v; it must not be negative (0 is the default of %v)", c.Max, defaultCooldownMax)
	case c.Max > 0 && c.Max < l.cooldown(1):
		return fmt.Errorf("call: Limits.Cooldown.Max is %v, less than the first pause of %v", c.Max, l.cooldown(1))
	case c.Rand != nil:
		return errors.New("call: Limits.Cooldown.Rand is set; a pause is one for all and has no jitter")
	}
	return nil
}

// cooldown is the n-th pause in a row, from 1, that the provider gave no
// length.
func (l Limits) cooldown(n int) time.Duration {
	d, most := l.Cooldown.First, l.Cooldown.Max
	if d <= 0 {
		d = defaultCooldown
	}
	if n <= 1 {
		return d
	}
	if most <= 0 {
		most = max(defaultCooldownMax, d)
	}
	for ; n > 1 && d < most; n-- { // ends before d can overflow
		d *= 2
	}
	return min(d, most)
}
