package arrival

import (
	"math"
	"math/bits"
	"time"
)

// A Pace says how well due times were kept.
type Pace struct {
	// N is how many arrivals there were.
	N int `json:"n"`
	// Asked is the rate at which they were due and Achieved the one at which
	// they were handed over, per second, both by [Rate]; 0 where there is
	// none. They are of the same arrivals, so the chance in a random schedule
	// is in both.
	Asked    float64 `json:"asked_per_s"`
	Achieved float64 `json:"achieved_per_s"`
	// Late counts those handed over more than the limit for lateness after they
	// were due.
	Late int `json:"late"`
	// The lag. The percentiles are nearest-rank and rounded up by less than
	// 0.8 %, so that they take the same memory however long the run is; the
	// maximum is exact. 0 without arrivals.
	LagP50 time.Duration `json:"lag_p50_ns"`
	LagP99 time.Duration `json:"lag_p99_ns"`
	LagMax time.Duration `json:"lag_max_ns"`
}

// Shortfall is the share of the asked rate that was not achieved, such as 0.47
// where 10/s were asked and 5.3/s achieved. It is negative where arrivals bunched
// up at the start, 0 where there is no rate.
func (p Pace) Shortfall() float64 {
	if p.Asked == 0 {
		return 0
	}
	return 1 - p.Achieved/p.Asked
}

// A Meter makes a [Pace] of due and real times, in 58 KB however many there are.
// It may also be given the times at which requests were really sent, which shows
// what the pacer cannot see: a client that does not get to send. The zero value
// works; it is not for concurrent use.
type Meter struct {
	// LateAfter is the limit for lateness; 0 or below: [DefaultLateAfter].
	LateAfter time.Duration

	n, late         int
	firstDue, first time.Duration
	lastDue, last   time.Duration
	most            time.Duration
	counts          [octaves * perOctave]int
}

// DefaultLateAfter is the lag from which an arrival counts as late.
const DefaultLateAfter = time.Millisecond

// Add takes in an arrival that was due and one that came, as offsets from one
// start. One that came before it was due has no lag.
func (m *Meter) Add(due, at time.Duration) {
	if m.n == 0 {
		m.firstDue, m.lastDue, m.first, m.last = due, due, at, at
	}
	m.firstDue, m.lastDue = min(m.firstDue, due), max(m.lastDue, due)
	m.first, m.last = min(m.first, at), max(m.last, at)
	m.n++
	lag := max(0, at-due)
	limit := m.LateAfter
	if limit <= 0 {
		limit = DefaultLateAfter
	}
	if lag > limit {
		m.late++
	}
	m.most = max(m.most, lag)
	m.counts[bucket(lag)]++
}

// Pace returns the numbers of what was added so far.
func (m *Meter) Pace() Pace {
	p := Pace{N: m.n, Late: m.late, LagMax: m.most, LagP50: m.quantile(0.5), LagP99: m.quantile(0.99)}
	p.Asked, _ = Rate(m.n, m.firstDue, m.lastDue)
	p.Achieved, _ = Rate(m.n, m.first, m.last)
	return p
}

func (m *Meter) quantile(q float64) time.Duration {
	rank := int(math.Ceil(q * float64(m.n)))
	for i, n := range m.counts {
		if rank -= n; rank <= 0 && m.n > 0 {
			return min(m.most, upper(i))
		}
	}
	return 0
}

// Lags are counted in buckets: one a nanosecond up to 128 ns, and 128 in every
// octave above, so a bucket's upper end is less than 1/128 above its lower one.
const (
	perOctave = 128
	octaves   = 64 - 7 // the lowest stands for 0 to 127, the others for 2⁷ to 2⁶³
)

func bucket(lag time.Duration) int {
	v := uint64(lag)
	if v < perOctave {
		return int(v)
	}
	shift := bits.Len64(v) - 8 // leaves 8 bits, the highest of which is set
	return (shift+1)*perOctave + int(v>>shift) - perOctave
}

// upper returns the largest lag in a bucket.
func upper(i int) time.Duration {
	if i < perOctave {
		return time.Duration(i)
	}
	shift := i/perOctave - 1
	return time.Duration(uint64(i%perOctave+perOctave+1)<<shift - 1)
}
