package gate

import (
	"slices"
	"time"
)

// Evidence is what gates decide on.
type Evidence struct {
	// Counts are those of the whole run.
	Counts Counts
	// Narrowed says that only part of the dataset was asked for.
	Narrowed bool
	// Curtailed says that the run was stopped because [Settled] said that its
	// remaining answers cannot change a decision: answers that did not run do
	// not fail it then. They are still not correct.
	Curtailed bool
	// Final says that the run cannot be resumed, as a benchmark cannot: what is
	// missing stays so.
	Final bool
	// Groups are the counts by group; those of items without one are under "".
	// nil takes them from Run. The group minima need one of the two.
	Groups map[string]Counts
	// Latencies are those of the answers that have one, in any order.
	Latencies []time.Duration
	// Run is the run by its items, those not run included, for the comparison
	// with [Config.Baseline].
	Run *Baseline
	// Comparison is that comparison if it was made before, for
	// [Comparison.Confirm]; nil compares Run. That of a curtailed run must be
	// made with [CompareOptions.Curtailed].
	Comparison *Comparison
}

func (e Evidence) groups() map[string]Counts {
	if e.Groups == nil && e.Run != nil {
		return e.Run.Groups()
	}
	return e.Groups
}

// at returns how many latencies are longer than l allows, and the one at its
// rank, 0 without any.
func (e Evidence) at(l Percentile) (over int, d time.Duration) {
	if len(e.Latencies) == 0 {
		return 0, 0
	}
	for _, t := range e.Latencies {
		over += one(t > l.Max)
	}
	sorted := slices.Sorted(slices.Values(e.Latencies))
	return over, sorted[l.rank(len(sorted))-1]
}
