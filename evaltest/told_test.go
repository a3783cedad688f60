package evaltest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// TestToldOnce: what a provider says to all items in flight is shown once.
func TestToldOnce(t *testing.T) {
	r := &runner{}
	for _, c := range []struct {
		name, reason string
		outcome      result.Outcome
		err          *result.Error
		attempt      string // the last attempt's message; "" for the same
		want         string // the message that is shown
	}{
		{"a", "the first", result.Errored, &result.Error{Kind: llm.KindAuth, Message: "HTTP 401"}, "", "HTTP 401"},
		{"b", "the same again", result.Errored, &result.Error{Kind: llm.KindAuth, Message: "HTTP 401"}, "", "the same as item a"},
		{"d", "another kind with the same words", result.Errored, &result.Error{Kind: llm.KindBalance, Message: "HTTP 401"}, "", "HTTP 401"},
		{"e", "another text of the kind", result.Errored, &result.Error{Kind: llm.KindAuth, Message: "HTTP 403"}, "", "HTTP 403"},
		{"f", "times of its own", result.Errored, &result.Error{Kind: llm.KindTimeout, Message: "300ms (no attempt 3: it would come in 1s)"}, "300ms", "300ms (no attempt 3: it would come in 1s)"},
		{"g", "the same but for these", result.Errored, &result.Error{Kind: llm.KindTimeout, Message: "300ms (no attempt 2: it would come in 4s)"}, "300ms", "the same as item f"},
		{"h", "a panic has its stack", result.Errored, &result.Error{Kind: llm.KindPanic, Message: "boom", Stack: "s"}, "", "boom"},
		{"i", "and so has the next", result.Errored, &result.Error{Kind: llm.KindPanic, Message: "boom", Stack: "s"}, "", "boom"},
		{"j", "a block is the item's own", result.Blocked, &result.Error{Kind: llm.KindBlocked, Message: "filter"}, "", "filter"},
		{"k", "each of them", result.Blocked, &result.Error{Kind: llm.KindBlocked, Message: "filter"}, "", "filter"},
	} {
		rec := &result.Record{Outcome: c.outcome, Error: c.err}
		if c.attempt != "" {
			rec.Attempts = []result.Attempt{{Error: &result.Error{Kind: c.err.Kind, Message: "earlier"}}, {Error: &result.Error{Kind: c.err.Kind, Message: c.attempt}}}
		}
		was := *c.err
		assert.Equal(t, c.want, r.brief(rec, c.name).Error.Message, "%s: %s", c.name, c.reason)
		assert.Equal(t, was, *rec.Error, "the record stays as it was")
	}
}
