package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// Failure makes an llm.Error of an error that is none of the server's words,
// by its type. out is what is known already. Keys are masked in the result.
func (a *Answer) Failure(ctx context.Context, out llm.Error, err error) *llm.Error {
	var known *llm.Error
	switch {
	case errors.As(err, &known):
		out = *known
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		out.Kind, out.Err = llm.KindOf(err), err
		if over := ctx.Err(); over != nil {
			// Whatever broke first, the context's end is why.
			out.Kind = llm.KindOf(over)
			if !errors.Is(err, over) {
				out.Err = fmt.Errorf("%w (%w)", over, err)
			}
		}
	case a.URL == nil: // refused before it was sent, by the SDK
		out.Kind, out.Err = llm.KindBadRequest, err
	case errors.Is(err, io.ErrUnexpectedEOF) && a.Status != 0:
		out.Kind, out.Err = llm.KindIncomplete, err
	case errors.Is(err, ErrTooLong), errors.Is(err, wire.ErrEventTooLong):
		out.Kind, out.Err = llm.KindBadResponse, err
	default:
		out.Kind, out.Err = llm.KindConnection, err
		out.Hint = unreachable(err)
	}
	return a.MaskError(out)
}

// MaskError is e without the request's keys.
func (a *Answer) MaskError(e llm.Error) *llm.Error {
	e.Message, e.Hint, e.Err = a.Mask(e.Message), a.Mask(e.Hint), wire.MaskError(e.Err, a.Secrets...)
	return &e
}

// unreachable is the hint for a call that reached no server.
func unreachable(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "no server listens there: start it, or set BaseURL"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host: check BaseURL"
	}
	return ""
}
