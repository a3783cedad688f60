package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

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
// then by the server's code, then by the status, and by its words last.
func (c *Client) failure(ctx context.Context, ex *exchange, resp *llm.Response, err error) error {
	if err == nil {
		return nil
	}
	out := &llm.Error{Provider: c.cfg.Provider, Status: ex.status, Usage: resp.Usage}
	var known *llm.Error
	var bad *badAnswer
	switch {
	case errors.As(err, &known):
		k := *known
		k.Message, k.Err = ex.mask(k.Message), wire.MaskError(k.Err, ex.secrets...)
		return &k
	case errors.As(err, &bad):
		c.refused(out, ex, bad)
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		out.Kind, out.Err = llm.KindOf(err), err
		if over := ctx.Err(); over != nil {
			// Whatever broke first, the context's end is why.
			out.Kind = llm.KindOf(over)
			if !errors.Is(err, over) {
				out.Err = fmt.Errorf("%w (%w)", over, err)
			}
		}
	case ex.status == 0 && ex.err == nil:
		// Refused before it was sent, by the SDK.
		out.Kind, out.Err = llm.KindBadRequest, err
	case errors.Is(err, io.ErrUnexpectedEOF) && ex.status != 0:
		out.Kind, out.Err = llm.KindIncomplete, err
	case errors.Is(err, errTooLong), errors.Is(err, wire.ErrEventTooLong):
		out.Kind, out.Err = llm.KindBadResponse, err
	case sdkStatus(err) != 0:
		out.Status = sdkStatus(err)
		out.Kind, out.Err = wire.StatusKind(out.Status), err
		c.limits(out, ex, out.Status, detail{}, nil)
	default:
		out.Kind, out.Err = llm.KindConnection, err
		out.Hint = unreachable(err)
	}
	out.Message = ex.mask(out.Message)
	out.Err = wire.MaskError(out.Err, ex.secrets...)
	return out
}

// sdkStatus is the status in the SDK's own errors. A RequestError may wrap an
// empty APIError whose status is 0, so it is asked first.
func sdkStatus(err error) int {
	var re *sdk.RequestError
	var ae *sdk.APIError
	switch {
	case errors.As(err, &re):
		return re.HTTPStatusCode
	case errors.As(err, &ae):
		return ae.HTTPStatusCode
	}
	return 0
}

// refused fills out from a body that is an error or no answer at all.
func (c *Client) refused(out *llm.Error, ex *exchange, bad *badAnswer) {
	d := dig(bad.body)
	status := ex.status
	if status == http.StatusOK && d.status >= 400 {
		status = d.status // an error sent after the status had gone out
	}
	// Masked before it is cut: half a key is one too much.
	out.Code, out.Message = cut(ex.mask(d.code), maxCode), cut(ex.mask(d.words()), maxMessage)
	if out.Code == "" && status != ex.status {
		out.Code = strconv.Itoa(status)
	}
	c.limits(out, ex, status, d, bad.body)
	switch {
	case ex.status >= 300 && ex.status < 400:
		out.Kind, out.Message = llm.KindBadResponse, redirected(ex)
	case !bad.isErr && d.message == "":
		out.Kind = llm.KindBadResponse
		if bad.server {
			out.Kind = llm.KindServer
		}
		out.Message = describe(bad.why, ex)
	case d.message == "" && d.code == "":
		out.Kind = kind(status, d)
		out.Message = describe(bad.why, ex)
		if len(ex.body) == 0 && len(bad.body) > 0 {
			out.Message = fmt.Sprintf("%s: %q", bad.why, excerpt(bad.body, ex))
		}
	default:
		out.Kind = kind(status, d)
		if bad.server && out.Kind == llm.KindBadResponse {
			out.Kind = llm.KindServer
		}
	}
	out.Hint = c.hint(out, ex, d)
}

// limits notes what the server said of its limits and of when to come back:
// in the header, in a header that a gateway put into the body, in the body.
func (c *Client) limits(out *llm.Error, ex *exchange, status int, d detail, body []byte) {
	head := ex.head
	if len(d.head) > 0 {
		head = ex.head.Clone()
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

// misplaced reports whether the base URL may be what is wrong: there is no such
// path, or what lies there is a page for people.
func misplaced(ex *exchange, d detail) bool {
	switch ex.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		text := strings.ToLower(d.code + d.message)
		return !strings.Contains(text, "model") && !strings.Contains(text, "deployment")
	case http.StatusOK:
		return mediaType(ex.head) == "text/html"
	}
	return false
}

var versionPath = regexp.MustCompile(`/v\d`)

// called names the URL that was asked, and says what base URLs look like if
// this one does not.
func called(ex *exchange) string {
	u := *ex.url
	u.RawQuery, u.User, u.Fragment = "", nil, ""
	s := "POST " + cut(ex.mask(u.String()), 200)
	if !versionPath.MatchString(u.Path) {
		s += "; most servers want a base URL that ends in /v1"
	}
	return s
}

// describe says what came instead of an answer.
func describe(why string, ex *exchange) string {
	s := fmt.Sprintf("%s (status %d, content type %s)", why, ex.status, cmp.Or(mediaType(ex.head), "none"))
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
	s := ex.mask(string(b[:min(len(b), 16<<10)]))
	if strings.HasPrefix(strings.TrimSpace(s), "<") {
		s = tags.ReplaceAllString(s, " ")
	}
	s = strings.Join(strings.Fields(s), " ")
	return cut(s, maxExcerpt)
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
