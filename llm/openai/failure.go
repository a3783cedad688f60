package openai

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

// failure turns what went wrong into an *llm.Error: by the error's type first,
// then by the server's code, then by the status, and by its words last.
func (c *Client) failure(ctx context.Context, ex *exchange, resp *llm.Response, err error) error {
	if err == nil {
		return nil
	}
	out := llm.Error{Provider: c.cfg.Provider, Status: ex.Status, Usage: resp.Usage}
	var no *client.NoAnswer
	if !errors.As(err, &no) {
		return ex.Failure(ctx, out, err)
	}
	c.refused(&out, ex, no)
	return ex.MaskError(out)
}

// refused fills out from a body that is an error or no answer at all.
func (c *Client) refused(out *llm.Error, ex *exchange, no *client.NoAnswer) {
	d := dig(no.Body)
	status := ex.Status
	if status == http.StatusOK && d.HTTP >= 400 {
		status = d.HTTP // an error sent after the status had gone out
	}
	// Masked before it is cut: half a key is one too much.
	out.Code, out.Message = client.Cut(ex.Mask(d.code()), client.MaxName), client.Cut(ex.Mask(d.words()), client.MaxMessage)
	if out.Code == "" && status != ex.Status {
		out.Code = strconv.Itoa(status)
	}
	c.limits(out, ex, status, d, no.Body)
	switch {
	case ex.Status >= 300 && ex.Status < 400:
		out.Kind, out.Message = llm.KindBadResponse, ex.Redirected()
	case !no.IsError && d.Message == "":
		out.Kind = llm.KindBadResponse
		if no.Server {
			out.Kind = llm.KindServer
		}
		out.Message = ex.Describe(no.Why)
	case d.Message == "" && d.code() == "":
		out.Kind = d.kindOf(status)
		out.Message = ex.Describe(no.Why)
		if len(ex.Body) == 0 && len(no.Body) > 0 {
			out.Message = fmt.Sprintf("%s: %q", no.Why, ex.Excerpt(no.Body))
		}
	default:
		out.Kind = d.kindOf(status)
		if no.Server && out.Kind == llm.KindBadResponse {
			out.Kind = llm.KindServer
		}
	}
	out.Hint = c.hint(out, ex, d)
	if out.Kind == llm.KindBadResponse && !no.IsError && ex.Status == http.StatusOK && out.Hint == "" {
		out.Hint = "what came is not of the Chat Completions API: check Config.BaseURL, or ask those who run the server"
	}
}

// limits notes what the server said of its limits and of when to come back:
// in the header, in a header that a gateway put into the body, in the body.
func (c *Client) limits(out *llm.Error, ex *exchange, status int, d detail, body []byte) {
	head := ex.Head
	if len(d.head) > 0 {
		head = ex.Head.Clone()
		if head == nil {
			head = http.Header{}
		}
		maps.Copy(head, d.head)
	}
	now := time.Now()
	out.RateLimit = wire.RateLimits(head, now)
	if wait, ok := wire.Wait(status, head, body, now); ok {
		out.RetryAfter = &wait
	}
}

// misplaced reports whether the base URL may be what is wrong.
func misplaced(ex *exchange, d detail) bool {
	return ex.Misplaced(d.code()+d.Message, "model", "deployment")
}

var versionPath = regexp.MustCompile(`/v\d`)

// called names the URL that was asked, and says what base URLs look like if
// this one does not.
func called(ex *exchange) string {
	s := ex.Called()
	if !versionPath.MatchString(ex.URL.Path) {
		s += "; most servers want a base URL that ends in /v1"
	}
	return s
}
