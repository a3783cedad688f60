package client

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// How much of a server's own words is kept, in bytes: of a message, of a body
// that has none, and of a code or another name.
const (
	MaxMessage = 600
	MaxExcerpt = 400
	MaxName    = 256
)

// maxMasked is how much of a text is masked, in bytes: far more than what is
// shown of one.
const maxMasked = 16 << 10

// Cut is at most most bytes of s, and a mark if there was more. Mask a
// server's words before they are cut: half a key would not be found.
func Cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// Mask is the beginning of a text without the request's keys, nor what looks
// like another.
func (a *Answer) Mask(s string) string {
	if len(s) <= maxMasked {
		return wire.Mask(s, a.Secrets...)
	}
	longest := 0
	for _, secret := range a.Secrets {
		for _, form := range wire.Spellings(secret) {
			longest = max(longest, len(form))
		}
	}
	s = wire.Mask(s[:maxMasked], a.Secrets...)
	return s[:max(len(s)-longest, 0)] // the beginning of a key may end it
}

// hide removes the keys themselves from an answer. A server that sends one back
// must not bring it into journals and logs; what looks like some other key
// stays.
func (a *Answer) hide(r *llm.Response, found bool) {
	names := []*string{&r.Model, &r.ID, (*string)(&r.Finish)}
	texts := append([]*string{&r.Text, &r.Reasoning, &r.Refusal}, names...)
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		texts = append(texts, &c.ID, &c.Name, &c.Arguments)
	}
	for i := range r.Warnings {
		texts = append(texts, &r.Warnings[i])
	}
	for _, s := range texts {
		if m := wire.MaskSecrets(*s, a.Secrets...); m != *s {
			*s, found = m, true
		}
	}
	for _, s := range names {
		*s = Cut(*s, MaxName)
	}
	for i := range r.Warnings {
		r.Warnings[i] = Cut(r.Warnings[i], MaxMessage)
	}
	if found {
		r.Warnings = append(r.Warnings, "the answer held the key of the request, which was removed")
	}
}

// Describe says what came instead of an answer.
func (a *Answer) Describe(why string) string {
	// Masked as it came: in small letters a key would not be found.
	media, _, _ := strings.Cut(a.Mask(a.Head.Get("Content-Type")), ";")
	s := fmt.Sprintf("%s (status %d, content type %s)", why, a.Status, cmp.Or(Cut(strings.TrimSpace(media), MaxName), "none"))
	if e := a.Excerpt(a.Body); e != "" {
		s += fmt.Sprintf(": %q", e)
	}
	return s
}

// MediaType is the answer's content type without its parameters.
func (a *Answer) MediaType() string {
	media := a.Head.Get("Content-Type")
	if m, _, err := mime.ParseMediaType(media); err == nil {
		return m
	}
	return media
}

var tags = regexp.MustCompile(`(?s)<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>`)

// Excerpt is the beginning of a body's text, without HTML tags and keys.
func (a *Answer) Excerpt(body []byte) string {
	s := a.Mask(string(body[:min(len(body), 2*maxMasked)]))
	if strings.HasPrefix(strings.TrimSpace(s), "<") {
		s = tags.ReplaceAllString(s, " ")
	}
	return Cut(strings.Join(strings.Fields(s), " "), MaxExcerpt)
}

// Called names the URL that was called.
func (a *Answer) Called() string { return "POST " + a.bare(*a.URL) }

// Redirected says where a server that answers with a redirect points to.
func (a *Answer) Redirected() string {
	to := "nowhere"
	if u, err := url.Parse(a.Head.Get("Location")); err == nil && a.Head.Get("Location") != "" {
		to = fmt.Sprintf("%q", a.bare(*u))
	}
	return fmt.Sprintf("the server redirects to %s, where the request was not sent: set BaseURL to the API's own address", to)
}

// bare is a URL without what may hold a key.
func (a *Answer) bare(u url.URL) string {
	u.RawQuery, u.User, u.Fragment = "", nil, ""
	return Cut(a.Mask(u.String()), 200)
}

// Misplaced reports whether the base URL may be what is wrong: there is no such
// path, or what lies there is a page for people. about are words that a server
// uses where it is something else that it did not find; said is what it said.
func (a *Answer) Misplaced(said string, about ...string) bool {
	switch a.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		said = strings.ToLower(said)
		for _, w := range about {
			if strings.Contains(said, w) {
				return false
			}
		}
		return true
	case http.StatusOK:
		return a.MediaType() == "text/html"
	}
	return false
}
