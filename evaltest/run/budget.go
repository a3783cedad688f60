package run

import (
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// afford returns why no further call may be made; nil if one may.
func (c *Config) afford() error {
	if c.Budget == nil {
		return nil
	}
	return c.Budget.Admit()
}

// stopped makes the item one to be run again: its scope makes no more calls,
// since they would all fail as another one has. The kind is that one's.
func (o *one) stopped(where string, err error) {
	o.set(func(rec *result.Record) {
		o.interrupt(rec, "not asked "+where+": "+err.Error())
		rec.Error.Kind = llm.KindOf(err)
	})
}

// unaffordable makes the item one to be run again.
func (o *one) unaffordable(where string, err error) {
	o.set(func(rec *result.Record) {
		o.interrupt(rec, "stopped "+where+": "+err.Error())
		rec.Error.Kind = llm.KindBudget
	})
}
