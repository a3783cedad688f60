package evaltest

import (
	"sync"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
)

// confirmed are the answers of broken items that were asked again.
type confirmed struct {
	mu      sync.Mutex
	answers map[string][]bool // by id: correct or not
	records map[result.Key]bool
	ended   int // of records, those that ran
}

// add takes a record that confirms. One without a graded answer says nothing.
func (c *confirmed) add(rec *result.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.records == nil {
		c.answers, c.records = map[string][]bool{}, map[result.Key]bool{}
	}
	c.records[rec.Key()] = true
	if rec.Outcome != result.NotRun {
		c.ended++
	}
	switch rec.Outcome {
	case result.NotRun, result.Errored, result.Ungraded:
	default:
		c.answers[rec.Item.ID] = append(c.answers[rec.Item.ID], rec.Outcome == result.Correct)
	}
}

// confirm asks the items that broke again, if it is on them that the run would
// fail. Their answers are samples beyond the run's own.
func (r *runner) confirm(t *testing.T, crew *run.Crew) {
	if r.set.confirm > 0 && r.comparison != nil && r.gov.cause() == nil && r.drops() {
		broke := r.comparison.Broke
		items := itemsByID(r.plan.ds, broke)
		n := len(broke)
		r.queue = &queue{total: n * r.set.confirm, at: func(i int) *unit {
			return &unit{item: items[broke[i%n].ID], sample: r.set.samples + i/n}
		}}
		r.each(t, crew, func(ending) {})
		r.unconfirmed = r.gov.cause() != nil
		if n := r.queue.total - r.confirmed.ended; n > 0 && r.unconfirmed {
			r.warn("the run stopped while it asked the broken items again: %d of %d answers are missing", n, r.queue.total)
		}
		r.comparison = r.comparison.Confirm(r.confirmed.answers)
	}
	r.reconfirmed = true
	for key, rec := range r.journal.carried { // asked for by an earlier run, and paid
		if rec.Confirms && !r.confirmed.records[key] {
			r.sum.AddSpent(rec)
		}
	}
}

// drops reports whether the comparison fails the run.
func (r *runner) drops() bool {
	ds := gate.Decide(gate.Evidence{Counts: r.sum.Stats().Counts(), Groups: r.evidence.groups, Comparison: r.comparison, Curtailed: true}, r.gates())
	return failed(ds, gate.NoDrop, gate.MaxDrop)
}

// failed reports whether a decision of one of these gates is that the run fails.
func failed(ds []gate.Decision, gates ...string) bool {
	for _, d := range ds {
		for _, name := range gates {
			if d.Gate == name && d.Status == gate.Failed {
				return true
			}
		}
	}
	return false
}

func itemsByID(ds *dataset.Dataset, list []gate.ItemChange) map[string]dataset.Item {
	items := make(map[string]dataset.Item, len(list))
	for _, ch := range list {
		items[ch.ID] = dataset.Item{}
	}
	for it := range ds.All() {
		if _, wanted := items[it.ID]; wanted {
			items[it.ID] = it
		}
	}
	return items
}
