package evaltest

import (
	"cmp"
	"slices"

	"github.com/goevals/evals/dataset"
)

// A unit is one sample of one item: one subtest.
type unit struct {
	item   dataset.Item
	sample int
}

func (u *unit) name() string { return subtestName(u.item.ID, u.sample) }

// A plan is the units of a run, in order: every item's first sample, then
// every item's second, so that a run that stops early has seen all it can.
type plan struct {
	ds      *dataset.Dataset
	samples int
	// total is how many units there are, selected how many of them -run and
	// -skip are expected to let through.
	total, selected int
	filter          nameFilter
	order           []int // of the dataset's items; nil as they stand
}

func newPlan(test string, ds *dataset.Dataset, samples int, f nameFilter) plan {
	p := plan{ds: ds, samples: samples, total: ds.Len() * samples, filter: f}
	p.selected = p.total
	if f.deeper(test) {
		p.selected = 0
		for i := range p.total {
			u := p.at(i)
			if f.selects(test + "/" + u.name()) {
				p.selected++
			}
		}
	}
	return p
}

// narrowed reports whether -run or -skip leaves something out.
func (p *plan) narrowed() bool { return p.selected < p.total }

// at returns the i-th of total units. It shares the dataset's memory.
func (p *plan) at(i int) *unit {
	n := p.ds.Len()
	k := i % n
	if p.order != nil {
		k = p.order[k]
	}
	return &unit{item: p.ds.At(k), sample: i / n}
}

// begin puts the items with these ids, if there are any, before all others.
func (p *plan) begin(ids []string) {
	if len(ids) == 0 {
		return
	}
	rank := make(map[string]int, len(ids))
	for i, id := range ids {
		rank[id] = i - len(ids)
	}
	p.order = make([]int, p.ds.Len())
	for i := range p.order {
		p.order[i] = i
	}
	slices.SortStableFunc(p.order, func(a, b int) int {
		return cmp.Compare(rank[p.ds.At(a).ID], rank[p.ds.At(b).ID])
	})
}

// filters reports whether -run and -skip leave the subtest of this full name
// out.
func (p *plan) filters(name string) bool { return p.narrowed() && !p.filter.selects(name) }
