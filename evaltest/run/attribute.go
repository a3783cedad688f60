package run

import (
	"errors"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// attribute gives an error that says nothing of its cause the one that the
// transport saw: an application with an SDK of its own, or none, seldom returns
// more than a text. calls are those of the same try. Only the last one counts:
// after a call that went well the error is the application's own.
//
// An error that says what it is keeps that, and learns how long the server asked
// to wait, which most SDKs drop.
func attribute(err error, calls []llm.Call) error {
	if len(calls) == 0 {
		return err
	}
	var known, seen *llm.Error
	if errors.As(err, &known) || !errors.As(calls[len(calls)-1].Err, &seen) {
		return err
	}
	known = call.Classify(err)
	guessed := known.Kind == llm.KindUnknown || known.Kind == llm.KindRateLimit && known.Status == 0 // from a text
	if !guessed && (known.Kind != seen.Kind || known.RetryAfter != nil) {
		return err
	}
	out := *seen // a copy: the log keeps its own
	// The application's words say what the server said, or better.
	out.Message, out.Code, out.Err = "", "", err
	return &out
}
