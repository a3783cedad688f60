package client

import (
	"fmt"

	"github.com/goevals/evals/llm"
)

// CheckUsage makes usage unknown that cannot be: servers that do not count send
// zeros, and a call that is billed by them costs nothing. It comes before
// [Answer.Complete].
func CheckUsage(r *llm.Response) {
	n := len(r.Text) + len(r.Reasoning) // a refusal may be a filter's, which is free
	for _, c := range r.ToolCalls {
		n += len(c.Name) + len(c.Arguments)
	}
	if u := r.Usage; u.Known && u.Output == 0 && n > 0 {
		r.Usage = llm.Usage{}
		r.Warnings = append(r.Warnings, fmt.Sprintf("usage is unknown: the server counts %d input and 0 output tokens for an answer of %d bytes", u.Input, n))
	}
}
