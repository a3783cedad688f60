package client

import (
	"fmt"

	"github.com/goevals/evals/llm"
)

// CheckUsage makes usage unknown that cannot be: servers that do not count send
// zeros, and a call that is billed by them costs nothing. Where only the output
// is none it warns. It comes before [Answer.Complete].
func CheckUsage(r *llm.Response) {
	n := len(r.Text) + len(r.Reasoning) // a refusal may be a filter's, which is free
	for _, c := range r.ToolCalls {
		n += len(c.Name) + len(c.Arguments)
	}
	switch u := r.Usage; {
	case !u.Known || u.Output > 0 || n == 0:
	case u.Input == 0:
		r.Usage = llm.Usage{}
		r.Warnings = append(r.Warnings, fmt.Sprintf("usage is unknown: the server counts no tokens for an answer of %d bytes", n))
	default:
		r.Warnings = append(r.Warnings, fmt.Sprintf("usage is doubtful: the server counts %d input and 0 output tokens for an answer of %d bytes", u.Input, n))
	}
}
