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

// unaffordable makes the item one to be run again.
func (o *one) unaffordable(where string, err error) {
	o.set(func(rec *result.Record) {
		o.interrupt(rec, "stopped "+where+": "+err.Error())
		rec.Error.Kind = llm.KindBudget
	})
}
