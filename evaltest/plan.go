package evaltest

import "github.com/goevals/evals/dataset"

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
	return &unit{item: p.ds.At(i % n), sample: i / n}
}

// filters reports whether -run and -skip leave the subtest of this full name
// out.
func (p *plan) filters(name string) bool { return p.narrowed() && !p.filter.selects(name) }
