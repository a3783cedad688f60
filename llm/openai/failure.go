package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	if wait, ok := wire.RetryAfter(ex.head, time.Now()); ok {
		out.RetryAfter = &wait
	}
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
	default:
		out.Kind, out.Err = llm.KindConnection, err
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
	out.Code, out.Message = cut(ex.mask(d.code), maxCode), cut(ex.mask(d.message), maxMessage)
	switch {
	case ex.status >= 300 && ex.status < 400:
		out.Kind, out.Message = llm.KindBadResponse, redirected(ex)
	case !bad.isErr && d.message == "":
		out.Kind = llm.KindBadResponse
		out.Message = describe(bad.why, ex)
	case d.message == "" && d.code == "":
		out.Kind = kind(status, d)
		out.Message = describe(bad.why, ex)
		if len(ex.body) == 0 && len(bad.body) > 0 {
			out.Message = fmt.Sprintf("%s: %q", bad.why, excerpt(bad.body, ex))
		}
	default:
		out.Kind = kind(status, d)
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

// detail is what an error body says, whichever of its shapes it has.
type detail struct {
	message, code, kind, inner string
	status                     int // an HTTP status inside the body
}

// dig finds the server's words in an error body: {"error":{…}},
// {"error":"text"}, [{"error":…}], {"object":"error","message":…},
// {"detail":…}, {"message":…}, {"errors":[…]}.
func dig(body []byte) detail {
	var any any
	if json.Unmarshal(body, &any) != nil {
		return detail{}
	}
	var d detail
	d.read(any, 0)
	return d
}

func (d *detail) read(v any, depth int) {
	if depth > 4 {
		return
	}
	switch v := v.(type) {
	case string:
		if d.message == "" {
			d.message = v
		}
	case []any:
		if len(v) > 0 {
			d.read(v[0], depth+1)
		}
	case map[string]any:
		d.object(v, depth)
	}
}

func (d *detail) object(m map[string]any, depth int) {
	if e, ok := m["error"]; ok && e != nil && e != false {
		d.read(e, depth+1)
	}
	for _, name := range []string{"message", "detail", "msg", "errors", "error_description"} {
		if d.message == "" {
			d.read(m[name], depth+1)
			if where := place(m["loc"]); name == "msg" && d.message != "" && where != "" {
				d.message = where + ": " + d.message
			}
		}
	}
	for _, name := range []string{"code", "status"} {
		switch c := m[name].(type) {
		case string:
			if n, err := strconv.Atoi(c); err == nil && n >= 400 && n < 600 {
				d.status = n
			} else if d.code == "" {
				d.code = c
			}
		case float64:
			if c >= 400 && c < 600 {
				d.status = int(c)
			} else if d.code == "" {
				d.code = strconv.FormatFloat(c, 'f', -1, 64)
			}
		}
	}
	if t, ok := m["type"].(string); ok && d.kind == "" && t != "error" {
		d.kind = t
	}
	for _, name := range []string{"innererror", "inner_error"} {
		if in, ok := m[name].(map[string]any); ok {
			d.inner, _ = in["code"].(string)
		}
	}
}

// place is where in the request a validator found a fault: body.tools.0.type.
func place(loc any) string {
	list, _ := loc.([]any)
	var names []string
	for _, e := range list {
		names = append(names, fmt.Sprint(e))
	}
	return strings.Join(names, ".")
}
