package evaltest

import (
	"github.com/goevals/evals/llm/call"
)

// budget returns what keeps MaxCost and MaxTokens; nil for neither.
func (s *settings) budget() *call.Budget {
	if s.maxCost == "" && s.maxTokens == 0 {
		return nil
	}
	b, err := call.NewBudget(call.Caps{MaxUSD: s.maxCost, MaxTokens: int64(s.maxTokens), Price: s.price})
	if err != nil {
		panic(err) // options and knobs have checked both
	}
	return b
}

// afford stops the run where its budget allows no further item.
func (r *runner) afford() bool {
	if r.cfg.Budget == nil {
		return true
	}
	err := r.cfg.Budget.Admit()
	if err != nil {
		r.gov.stop(&halt{reason: "budget", text: err.Error()}, -1)
	}
	return err == nil
}
