package metric

import "time"

// timeline counts what happened when, in bins of equal width that double when
// the run outgrows them. It is what lets a window be chosen after the fact
// without keeping every token's time.
type timeline struct {
	width time.Duration
	bins  []bin
}

// bin counts the events of [i·width, (i+1)·width).
type bin struct {
	started, ended int64
	// startedLeft is the time from each start to the bin's end, added up, and
	// endedLeft that from each end: time in flight without keeping spans.
	startedLeft, endedLeft time.Duration
	answers                int64
	output, input          int64 // tokens; input at the time of the first fragment
	unknownInput           int64 // answers whose input nobody counted
}

const (
	firstWidth = time.Millisecond
	maxBins    = 1 << 16
)

func (t *timeline) at(when time.Duration) *bin {
	if t.width == 0 {
		t.width = firstWidth
	}
	for when/t.width >= maxBins {
		t.double()
	}
	i := int(when / t.width)
	for len(t.bins) <= i {
		t.bins = append(t.bins, bin{})
	}
	return &t.bins[i]
}

// double merges pairs of bins.
func (t *timeline) double() {
	half := (len(t.bins) + 1) / 2
	for i := range half {
		b := t.bins[2*i]
		b.startedLeft += time.Duration(b.started) * t.width
		b.endedLeft += time.Duration(b.ended) * t.width
		if 2*i+1 < len(t.bins) {
			c := t.bins[2*i+1]
			b.started, b.startedLeft = b.started+c.started, b.startedLeft+c.startedLeft
			b.ended, b.endedLeft = b.ended+c.ended, b.endedLeft+c.endedLeft
			b.answers, b.unknownInput = b.answers+c.answers, b.unknownInput+c.unknownInput
			b.output, b.input = b.output+c.output, b.input+c.input
		}
		t.bins[i] = b
	}
	t.bins = t.bins[:half]
	t.width *= 2
}

func (t *timeline) left(when time.Duration) time.Duration { return t.width - when%t.width }

func (t *timeline) inFlight(from, to time.Duration) {
	// Take the later first: it may double the width, and with it what is left.
	b := t.at(to)
	b.ended++
	b.endedLeft += t.left(to)
	b = t.at(from)
	b.started++
	b.startedLeft += t.left(from)
}

// tally is what a timeline says of [from, to), both at edges of bins.
type tally struct {
	from, to               time.Duration
	answers, output, input int64
	unknownInput           int64
	busy                   time.Duration // time in flight, added up
	most                   int64         // in flight at an edge
}

// between counts [from, to) with its edges moved inwards to edges of bins; ok
// is false if nothing is left of it.
func (t *timeline) between(from, to time.Duration) (c tally, ok bool) {
	if t.width == 0 || to <= from {
		return c, false
	}
	first, end := int((from+t.width-1)/t.width), int(to/t.width)
	if end <= first {
		return c, false
	}
	c.from, c.to = time.Duration(first)*t.width, time.Duration(end)*t.width
	flying := int64(0)
	for i := range min(end, len(t.bins)) {
		b := t.bins[i]
		if i >= first {
			c.most = max(c.most, flying)
			c.busy += time.Duration(flying)*t.width + b.startedLeft - b.endedLeft
			c.answers, c.output, c.input = c.answers+b.answers, c.output+b.output, c.input+b.input
			c.unknownInput += b.unknownInput
		}
		flying += b.started - b.ended
	}
	c.most = max(c.most, flying)
	return c, true
}
