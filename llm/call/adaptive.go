package call

import (
	"math"
	"time"
)

// The rule of AdaptRate, in requests a minute.
const (
	rateStart, rateLeast, rateMost = 60, 10, 1000
	rateUp                         = 1.2
	rateDown                       = 0.5
	rateRow                        = 10 // successes in a row before it goes up
)

// The bounds of an adaptive concurrency.
const (
	callsStart = 16
	callsMost  = 1000
)

// adaptive looks for limits that nobody stated. Which it does is in the
// Limits: a zero rate or calls limits nothing.
type adaptive struct {
	rate float64 // requests a minute
	row  int     // successes since the last change or failure
	due  time.Duration

	calls int // in flight
	good  int // successes since the last change
}

func newAdaptive(l Limits) adaptive {
	a := adaptive{}
	switch l.Adaptive {
	case AdaptRate:
		a.rate = min(rateStart, rateTop(l))
	case AdaptConcurrency, AdaptAuto:
		a.calls = callsStart
		if l.Concurrency > 0 {
			a.calls = min(l.Concurrency, callsMost)
		}
	}
	return a
}

func rateTop(l Limits) float64 {
	if l.RPM > 0 {
		return min(float64(l.RPM), rateMost)
	}
	return rateMost
}

func callsTop(l Limits) int {
	if l.Concurrency > 0 {
		return l.Concurrency
	}
	return callsMost
}

// take spaces starts by the rate, as a [quota] does.
func (a *adaptive) take(now, late time.Duration) {
	if a.rate == 0 {
		return
	}
	a.due = max(a.due, now-late) + a.spacing()
}

func (a *adaptive) giveBack() { a.due -= a.spacing() }

func (a *adaptive) spacing() time.Duration {
	if a.rate == 0 {
		return 0
	}
	return time.Duration(math.Ceil(float64(time.Minute) / a.rate))
}

func (a *adaptive) succeeded(l Limits) {
	if a.rate > 0 {
		if a.row++; a.row >= rateRow {
			a.row, a.rate = 0, min(a.rate*rateUp, rateTop(l))
		}
	}
	if a.calls > 0 {
		if a.good++; a.good >= a.calls {
			a.good, a.calls = 0, min(a.calls+1, callsTop(l))
		}
	}
}

// failed ends a row of successes.
func (a *adaptive) failed() { a.row = 0 }

// limited is called once a pause: the calls that were refused together speak
// of one event.
func (a *adaptive) limited(l Limits) {
	a.row = 0
	if a.rate > 0 {
		a.rate = max(a.rate*rateDown, min(rateLeast, rateTop(l)))
	}
}

// crowded is called once a pause, if more than a call now and then was refused.
func (a *adaptive) crowded() {
	a.good = 0
	if a.calls > 0 {
		a.calls = max(a.calls/2, 1)
	}
}
