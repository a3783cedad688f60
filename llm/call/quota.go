package call

import "time"

// Times in a Scope are durations since its epoch, a moment before its first
// call: monotonic, exact, and cheap to compare.

const (
	// never lies before all times, and leaves room for sums.
	never = -1 << 61 * time.Nanosecond
	// lateness is the most of a timer's lateness that is made good. Timers come up
	// to a millisecond late on a quiet machine, which would cost a limit of
	// 6,000 requests a minute a tenth. The window keeps the limit exact.
	lateness = 100 * time.Millisecond
	// maxCost bounds what one call is charged, so that nothing overflows:
	// 134 million tokens.
	maxCost = 1 << 27
	// latest bounds when the next start may come, however much was used: some
	// 36 years.
	latest = 1 << 60 * time.Nanosecond
)

// A quota is one limit a minute, of requests or of tokens. It spaces starts
// (the generic cell rate algorithm, in whole nanoseconds: no drift): a start of
// n moves the next one n minutes/perMin away. What is in the last minute's
// window bounds it exactly. The zero value limits nothing.
type quota struct {
	perMin int64
	most   int64         // in any rolling minute
	burst  time.Duration // how much earlier than evenly spaced a start may come
	// due is when the next start may come.
	due time.Duration
	// provider is the provider's own bucket as its answers tell, which holds
	// up to a minute's limit: when it is, or was, empty. never until an answer
	// said something.
	provider time.Duration
}

// newQuota returns a quota of perMin, of which extra may go at once.
func newQuota(perMin, extra int64) quota {
	q := quota{perMin: perMin, most: perMin + extra, due: never, provider: never}
	q.burst = time.Duration(extra) * q.cost(1)
	return q
}

// cost is the time in which n come in, rounded up.
func (q *quota) cost(n int64) time.Duration {
	if q.perMin == 0 || n <= 0 {
		return 0
	}
	return time.Duration((min(n, maxCost)*int64(time.Minute) + q.perMin - 1) / q.perMin)
}

// ready is when n may start, if spent of the last minute's and the oldest of
// them leaving at leaves.
func (q *quota) ready(n, spent int64, leaves time.Duration) time.Duration {
	if q.perMin == 0 {
		return never
	}
	at := q.due
	if q.provider != never {
		at = max(at, q.provider+q.cost(min(n, q.perMin))-lateness)
	}
	if spent > 0 && spent+min(n, q.most) > q.most {
		at = max(at, leaves)
	}
	return at
}

// from is what the starts after now are counted from: a quota that nobody has
// used for long, or ever, gives no more than its burst for that.
func (q *quota) from(now time.Duration) time.Duration { return max(q.due, now-q.burst) }

// take starts n, which a timer has woken so late.
func (q *quota) take(now time.Duration, n int64, late time.Duration) {
	if q.perMin == 0 {
		return
	}
	q.due = max(q.due, now-max(q.burst, late)) + q.cost(n)
	if q.provider != never {
		q.provider = max(q.provider, now-time.Minute) + q.cost(n)
	}
}

// correct charges what was n as m.
func (q *quota) correct(n, m int64) {
	d := min(q.cost(m), latest) - q.cost(n)
	q.due = min(q.due+d, latest)
	if q.provider != never {
		q.provider = min(q.provider+d, latest)
	}
}

// observe takes over what the provider said was left of its bucket when a call
// started at start, since which another since have started. It only ever
// lowers what we think.
func (q *quota) observe(left int64, start time.Duration, since int64) {
	if q.perMin > 0 {
		empty := start - q.cost(max(min(left, q.perMin), 0)) + min(q.cost(since), latest)
		q.provider = min(max(q.provider, empty), latest)
	}
}

// A quotas is RPM and TPM, reserved together.
type quotas struct {
	requests, tokens quota
	window           window
}

func newQuotas(l Limits) quotas {
	q := quotas{window: window{grain: time.Minute >> 16}}
	if l.Share != "" {
		q.window.grain, q.window.drift = shareGrain, shareDrift
	}
	q.limit(int64(l.RPM), int64(l.TPM), l.Burst)
	return q
}

// limit sets what is not 0, and leaves the other as it is.
func (q *quotas) limit(rpm, tpm int64, burst time.Duration) {
	part := func(perMin int64) int64 {
		return perMin * int64(burst/time.Millisecond) / int64(time.Minute/time.Millisecond)
	}
	if rpm > 0 {
		q.requests.change(newQuota(rpm, max(part(rpm)-1, 0))) // one may go at once anyway
	}
	if tpm > 0 {
		q.tokens.change(newQuota(tpm, part(tpm)))
	}
}

// change makes q another limit. What is due stays: a provider whose models
// have limits of their own states now this one and now that.
func (q *quota) change(to quota) {
	if q.perMin > 0 {
		to.due, to.provider = q.due, q.provider
	}
	*q = to
}

// none reports that nothing is limited, so that nothing need be counted.
func (q *quotas) none() bool { return q.requests.perMin == 0 && q.tokens.perMin == 0 }

// ready is when a call of so many tokens may start.
func (q *quotas) ready(now time.Duration, tokens int64) time.Duration {
	if q.none() {
		return never
	}
	q.window.expire(now)
	leaves := q.window.leaves()
	return max(q.requests.ready(1, q.window.requests, leaves), q.tokens.ready(tokens, q.window.tokens, leaves))
}

func (q *quotas) take(now time.Duration, tokens int64, late time.Duration) {
	if q.none() {
		return
	}
	q.requests.take(now, 1, late)
	q.tokens.take(now, tokens, late)
	q.window.add(now, tokens)
}

// correct charges a call that started at start with m tokens instead of n, or,
// if it was none at all, with nothing.
func (q *quotas) correct(start time.Duration, n, m int64, none bool) {
	if q.none() {
		return
	}
	requests := int64(0)
	if none {
		requests, m = -1, 0
		q.requests.correct(1, 0)
	}
	q.tokens.correct(n, m)
	q.window.correct(start, requests, min(m, maxCost)-min(n, maxCost))
}
