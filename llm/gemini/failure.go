package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// How much of a server's own words is kept, in bytes: of a message, of a body
// that has none, and of a code or another name.
const (
	maxMessage = 600
	maxExcerpt = 400
	maxCode    = 256
)

// failure turns what went wrong into an *llm.Error: by the error's type first,
// then by the status, then by the server's words for why.
func (c *Client) failure(ctx context.Context, ex *exchange, resp *llm.Response, err error) error {
	if err == nil {
		return nil
	}
	out := &llm.Error{Provider: ex.to.provider, Status: ex.status, RateLimit: resp.RateLimit, Usage: resp.Usage}
	var known *llm.Error
	var bad *badAnswer
	var blocked *blockedPrompt
	switch {
	case errors.As(err, &known):
		k := *known
		k.Message, k.Err = ex.mask(k.Message), wire.MaskError(k.Err, ex.secrets...)
		return &k
	case errors.As(err, &bad):
		c.refused(out, ex, bad)
	case errors.As(err, &blocked):
		out.Kind, out.Code, out.Message = llm.KindBlocked, cut(ex.mask(blocked.reason), maxCode), "the prompt was blocked"
		if blocked.message != "" {
			out.Message += ": " + cut(ex.mask(blocked.message), maxMessage)
		}
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		out.Kind, out.Err = llm.KindOf(err), err
		if over := ctx.Err(); over != nil {
			// Whatever broke first, the context's end is why.
			out.Kind = llm.KindOf(over)
			if !errors.Is(err, over) {
				out.Err = fmt.Errorf("%w (%w)", over, err)
			}
		}
	case ex.status == 0 && ex.url == nil:
		// Refused before it was sent, by the SDK.
		out.Kind, out.Err = llm.KindBadRequest, err
	case errors.Is(err, io.ErrUnexpectedEOF) && ex.status != 0:
		out.Kind, out.Err = llm.KindIncomplete, err
	case errors.Is(err, errTooLong), errors.Is(err, wire.ErrEventTooLong):
		out.Kind, out.Err = llm.KindBadResponse, err
	default:
		out.Kind, out.Err = llm.KindConnection, err
	}
	out.Message = ex.mask(out.Message)
	out.Hint = ex.mask(out.Hint)
	out.Err = wire.MaskError(out.Err, ex.secrets...)
	return out
}

// refused fills out from a body that is an error or no answer at all.
func (c *Client) refused(out *llm.Error, ex *exchange, bad *badAnswer) {
	d := readDetail(bad.body, ex.mask)
	status := ex.status
	if status == http.StatusOK { // an error sent after the status had gone out
		status = d.status()
	}
	if wait, ok := wire.Wait(status, ex.head, bad.body, time.Now()); ok {
		out.RetryAfter = &wait
	}
	// Masked before it is cut: half a key is one too much.
	out.Code = cut(ex.mask(cmp.Or(d.Reason, d.Status, d.Code)), maxCode)
	out.Message = cut(ex.mask(d.Message), maxMessage)
	switch {
	case ex.status >= 300 && ex.status < 400:
		out.Kind, out.Message = llm.KindBadResponse, redirected(ex)
	case !bad.isErr:
		out.Kind = llm.KindBadResponse
		out.Message = describe(bad.why, ex)
	default:
		out.Kind = d.kind(status)
		out.Hint = d.hint(out.Kind, ex.to)
		if d.Message == "" && out.Code == "" {
			out.Message = describe(bad.why, ex)
			if len(ex.body) == 0 && len(bad.body) > 0 {
				out.Message = fmt.Sprintf("%s: %q", bad.why, excerpt(bad.body, ex))
			}
		}
	}
	if misplaced(ex, d) {
		out.Message += " (" + called(ex) + ")"
	}
}

// misplaced reports whether the base URL may be what is wrong: there is no such
// path, or what lies there is a page for people.
func misplaced(ex *exchange, d detail) bool {
	switch ex.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return !strings.Contains(strings.ToLower(d.Message), "model")
	case http.StatusOK:
		return mediaType(ex.head) == "text/html"
	}
	return false
}

// called names the URL that was asked.
func called(ex *exchange) string {
	u := *ex.url
	u.RawQuery, u.User, u.Fragment = "", nil, ""
	return "POST " + cut(ex.mask(u.String()), 200)
}

// describe says what came instead of an answer.
func describe(why string, ex *exchange) string {
	s := fmt.Sprintf("%s (status %d, content type %s)", why, ex.status, cmp.Or(cut(ex.mask(mediaType(ex.head)), maxCode), "none"))
	if e := excerpt(ex.body, ex); e != "" {
		s += fmt.Sprintf(": %q", e)
	}
	return s
}

func mediaType(h http.Header) string {
	media := h.Get("Content-Type")
	if m, _, err := mime.ParseMediaType(media); err == nil {
		return m
	}
	return media
}

var tags = regexp.MustCompile(`(?s)<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>`)

// excerpt is the beginning of a body's text, HTML tags and keys removed.
func excerpt(b []byte, ex *exchange) string {
	s := ex.mask(string(b[:min(len(b), 2*maxMasked)]))
	if strings.HasPrefix(strings.TrimSpace(s), "<") {
		s = tags.ReplaceAllString(s, " ")
	}
	return cut(strings.Join(strings.Fields(s), " "), maxExcerpt)
}

func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// redirected says where a server that answers with a redirect points to.
func redirected(ex *exchange) string {
	to := "nowhere"
	if u, err := url.Parse(ex.head.Get("Location")); err == nil && ex.head.Get("Location") != "" {
		u.RawQuery, u.User, u.Fragment = "", nil, ""
		to = fmt.Sprintf("%q", cut(ex.mask(u.String()), 200))
	}
	return fmt.Sprintf("the server redirects to %s, where the request was not sent: set BaseURL to the API's own address", to)
}
