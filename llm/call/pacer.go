package call

import (
	"slices"
	"time"
)

// A pacer spaces the starts of a whole scope after a pause, so that those who
// waited do not come back all at once and are refused all at once.
//
// The rule is TCP's after a loss (RFC 5681), with a rate in place of a window:
//
//   - The first call goes alone, like TCP's one segment after a timeout. The
//     others wait until it is back, or for a second: a refusal comes quickly,
//     and an answer that takes a minute must not hold all.
//   - They start at half the rate before the pause (multiplicative decrease).
//   - Each success adds to the rate, so that as many as were in flight when the
//     pause began, at least 10, restore what it was (additive increase): those
//     who were refused together come back spaced out. From there on it grows by
//     a share of itself.
//   - At twice the rate before the pause it ends, once nobody waits for it: an
//     end that lets a crowd go is the next stampede.
//
// A refusal now and then is no crowd ([refusals]): the calls go on at the rate
// before the pause, and nobody goes alone. Halving for each would make a crawl
// of many calls, however few of them are refused.
//
// A pacer that is off, the zero value, delays nobody.
type pacer struct {
	rate   float64 // starts a second; 0 when off
	before float64 // the rate before the pause
	crowd  float64 // how many successes restore it
	last   time.Duration
	probe  *grant // the first one, while it is out
	begun  bool   // it has started
}

const (
	probeTime = time.Second
	// slowest bounds how slow a pacer begins, in starts a second: the spacing
	// is for crowds, and what is slower than this is none.
	slowest = 1.0
)

// begin starts it after a crowd was refused: before is the rate so far.
func (p *pacer) begin(before float64, inFlight int) {
	before = max(before, 2*slowest)
	*p = pacer{rate: before / 2, before: before, crowd: float64(max(inFlight, 10))}
}

// keep starts it after one call among many was refused.
func (p *pacer) keep(before float64, inFlight int) {
	if p.rate > 0 {
		return // it is on its way
	}
	before = max(before, 2*slowest)
	*p = pacer{rate: before, before: before, crowd: float64(max(inFlight, 10)), last: never, begun: true}
}

// next is when the next start may come.
func (p *pacer) next() time.Duration {
	if p.rate == 0 || !p.begun {
		return never
	}
	at := time.Duration(float64(time.Second) / p.rate)
	if p.probe != nil {
		at = max(at, probeTime)
	}
	return p.last + at
}

func (p *pacer) started(g *grant, now time.Duration) {
	if p.rate == 0 {
		return
	}
	if !p.begun {
		p.begun, p.probe = true, g
	}
	p.last = now
}

// ended takes in what became of a call, and whether somebody waits. If the
// first one never left, the next takes its place.
func (p *pacer) ended(g *grant, left, success, waiting bool) {
	if p.probe == g {
		p.probe = nil
		p.begun = left
	}
	if p.rate == 0 || !success {
		return
	}
	p.rate += max(p.before, p.rate) / 2 / p.crowd
	if p.rate >= 2*p.before && !waiting {
		*p = pacer{}
	}
}

// A meter measures the rate of starts over the last 10 seconds, or since its
// first one.
type meter struct {
	second int64 // the one that counts belongs to
	counts [10]int32
	first  time.Duration
	any    bool
}

func (m *meter) turn(now time.Duration) {
	second := int64(now / time.Second)
	for n := min(second-m.second, int64(len(m.counts))); n > 0; n-- {
		m.counts[(second-n+1)%int64(len(m.counts))] = 0
	}
	m.second = max(m.second, second)
}

func (m *meter) start(now time.Duration) {
	if !m.any {
		m.any, m.first, m.second = true, now, int64(now/time.Second)
	}
	m.turn(now)
	m.counts[m.second%int64(len(m.counts))]++
}

// rate is in starts a second. Less than a second counts as one: a crowd that
// came at once has no rate.
func (m *meter) rate(now time.Duration) float64 {
	if !m.any {
		return 0
	}
	m.turn(now)
	sum := int32(0)
	for _, n := range m.counts {
		sum += n
	}
	took := min(now-m.first, time.Duration(len(m.counts))*time.Second)
	return float64(sum) / max(took, time.Second).Seconds()
}

// most is the most starts in one of those seconds.
func (m *meter) most(now time.Duration) float64 {
	if !m.any {
		return 0
	}
	m.turn(now)
	return float64(slices.Max(m.counts[:]))
}

// A clock is the meter's: it stands still during pauses, which say nothing of
// the rate.
type clock struct {
	stood time.Duration // in all, until to
	to    time.Duration
}

// stand stops it until then.
func (c *clock) stand(now, until time.Duration) {
	if from := max(now, c.to); until > from {
		c.stood += until - from
		c.to = until
	}
}

func (c *clock) read(now time.Duration) time.Duration { return max(now, c.to) - c.stood }
