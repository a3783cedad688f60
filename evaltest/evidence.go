package evaltest

import (
	"sync"
	"time"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
)

// An evidence is what the gates need to know of a run beyond its counts, kept
// while it goes on. It is kept only for gates that ask.
type evidence struct {
	mu        sync.Mutex
	counts    gate.Counts
	groups    map[string]gate.Counts
	latencies []time.Duration
	byItem    *gate.Recorder // nil unless there is a baseline
	seen      int            // records
}

// newEvidence returns nil if no gate needs it.
func newEvidence(s *settings) *evidence {
	based := s.baseline != ""
	if !based && !s.curtail && s.gate.MinGroups == nil && len(s.gate.MinGroup) == 0 && len(s.gate.MaxLatency) == 0 {
		return nil
	}
	e := &evidence{groups: map[string]gate.Counts{}}
	if based {
		e.byItem = &gate.Recorder{}
	}
	return e
}

// owe adds what a pass over the plan owes.
func (e *evidence) owe(p *plan) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	first := e.counts.Total == 0
	for i := range p.ds.Len() {
		it := p.ds.At(i)
		for _, into := range []bool{true, false} {
			c := e.counts
			if into {
				c = e.groups[it.Group]
			}
			c.Total += p.samples
			c.NotRun += p.samples
			if first { // another pass has the same items
				c.Items++
			}
			if into {
				e.groups[it.Group] = c
			} else {
				e.counts = c
			}
		}
		if e.byItem != nil {
			e.byItem.Owe(it.ID, it.Group)
		}
	}
}

// add counts a record that the run owed, and returns how many there are.
func (e *evidence) add(rec *result.Record) int {
	if e == nil || rec.Confirms {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen++
	count(&e.counts, rec.Outcome)
	g := e.groups[rec.Item.Group]
	count(&g, rec.Outcome)
	e.groups[rec.Item.Group] = g
	if rec.Latency > 0 {
		e.latencies = append(e.latencies, rec.Latency)
	}
	if e.byItem != nil {
		e.byItem.Add(rec)
	}
	return e.seen
}

func count(c *gate.Counts, o result.Outcome) {
	if o == result.NotRun {
		return
	}
	c.NotRun--
	switch o {
	case result.Correct:
		c.Correct++
	case result.Errored:
		c.Errored++
	case result.Ungraded:
		c.Ungraded++
	}
}

// forGates is what gates decide on; h is the run's header. Its maps and slices stay the evidence's:
// once the run goes on no more, or while e.mu is held.
func (e *evidence) forGates(h gate.BaselineHeader) (gate.Evidence, error) {
	if e == nil {
		return gate.Evidence{}, nil
	}
	ev := gate.Evidence{Counts: e.counts, Groups: e.groups, Latencies: e.latencies}
	var err error
	if e.byItem != nil {
		ev.Run, err = e.byItem.Baseline(h)
	}
	return ev, err
}
