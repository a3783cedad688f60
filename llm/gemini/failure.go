package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

// failure turns what went wrong into an *llm.Error: by the error's type first,
// then by the status, then by the server's words for why.
func (c *Client) failure(ctx context.Context, ex *exchange, resp *llm.Response, err error) error {
	if err == nil {
		return nil
	}
	out := llm.Error{Provider: ex.to.provider, Status: ex.Status, RateLimit: resp.RateLimit, Usage: resp.Usage}
	var no *client.NoAnswer
	var blocked *blockedPrompt
	switch {
	case errors.As(err, &no):
		c.refused(&out, ex, no)
	case errors.As(err, &blocked):
		out.Kind, out.Code, out.Message = llm.KindBlocked, client.Cut(ex.Mask(blocked.reason), client.MaxName), "the prompt was blocked"
		if blocked.message != "" {
			out.Message += ": " + client.Cut(ex.Mask(blocked.message), client.MaxMessage)
		}
		out.Hint = "the same prompt will be blocked again: change it, or the safetySettings in Extra"
	default:
		return ex.Failure(ctx, out, err)
	}
	return ex.MaskError(out)
}

// refused fills out from a body that is an error or no answer at all.
func (c *Client) refused(out *llm.Error, ex *exchange, no *client.NoAnswer) {
	d := readDetail(no.Body, ex.Mask)
	status := ex.Status
	if status == http.StatusOK { // an error sent after the status had gone out
		status = d.status()
	}
	if wait, ok := wire.Wait(status, ex.Head, no.Body, time.Now()); ok {
		out.RetryAfter = &wait
	}
	// Masked before it is cut: half a key is one too much.
	out.Code = client.Cut(ex.Mask(cmp.Or(d.Reason, d.Status, d.Code, d.Type)), client.MaxName)
	out.Message = client.Cut(ex.Mask(d.Message), client.MaxMessage)
	switch {
	case ex.Status >= 300 && ex.Status < 400:
		out.Kind, out.Message = llm.KindBadResponse, ex.Redirected()
	case !no.IsError && !failed(d.ErrorBody):
		out.Kind = llm.KindBadResponse
		out.Message = ex.Describe(no.Why)
		out.Hint = "what came is not of the Gemini API: check Config.BaseURL, or ask those who run the server"
	default:
		out.Kind = d.kind(status)
		out.Hint = d.hint(out.Kind, ex.to)
		if d.Message == "" && out.Code == "" {
			out.Message = ex.Describe(no.Why)
			if len(ex.Body) == 0 && len(no.Body) > 0 {
				out.Message = fmt.Sprintf("%s: %q", no.Why, ex.Excerpt(no.Body))
			}
		}
	}
	if ex.Misplaced(d.Message, "model") {
		out.Message += " (" + ex.Called() + ")"
	}
}
