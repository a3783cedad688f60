package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// RateLimits is what an answer's headers say of the caller's limits, nil if
// they say nothing. It reads the families that providers use:
//
//   - x-ratelimit-{limit,remaining,reset}-{requests,tokens} of OpenAI, Azure,
//     Groq and many others, with or without a window behind it (-minute, -day);
//   - anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset};
//   - X-RateLimit-{Limit,Remaining,Reset} of OpenRouter and Together, which
//     count requests;
//   - RateLimit-{Limit,Remaining,Reset} and RateLimit with RateLimit-Policy of
//     the IETF's drafts.
//
// A reset may be seconds, an interval ("6m0s", "8ms"), a moment since 1970 in
// seconds or milliseconds, an HTTP date or one of RFC 3339; moments are taken
// relative to the answer's own Date where it has one, and else to now. Where
// several limits of one kind are reported (a minute's and a day's, input's and
// output's) the one that is used up is returned, the one with the latest reset
// if several are; if none is, the first in the order above. A field that cannot
// be read is left out.
func RateLimits(h http.Header, now time.Time) *llm.RateLimit {
	if !speaksOfLimits(h) {
		return nil // nearly all servers of one's own
	}
	now = serverNow(h, now)
	var requests, tokens []llm.Window
	for _, f := range requestFamilies {
		requests = append(requests, f.window(h, now))
	}
	requests = append(requests, structuredLimits(h, now)...)
	for _, f := range tokenFamilies {
		tokens = append(tokens, f.window(h, now))
	}
	l := &llm.RateLimit{Requests: tightest(requests), Tokens: tightest(tokens)}
	if l.Requests == (llm.Window{}) && l.Tokens == (llm.Window{}) {
		return nil
	}
	return l
}

func speaksOfLimits(h http.Header) bool {
	for name := range h {
		if strings.Contains(name, "Ratelimit") || strings.HasPrefix(name, "X-Rate-Limit") || strings.HasPrefix(name, "X-Tokenlimit") {
			return true
		}
	}
	return false
}

// A limitFamily are the names of the headers of one limit. They are made once:
// a header is read with every call.
type limitFamily struct{ limit, remaining, reset string }

var (
	requestFamilies = families([][2]string{
		{"X-Ratelimit-", "-Requests"}, {"Anthropic-Ratelimit-Requests-", ""},
		{"X-Ratelimit-", "-Requests-Minute"}, {"X-Ratelimit-", "-Req-Minute"},
		{"X-Ratelimit-", "-Requests-Hour"}, {"X-Ratelimit-", "-Requests-Day"},
		{"X-Ratelimit-", ""}, {"X-Rate-Limit-", ""}, {"Ratelimit-", ""},
	})
	tokenFamilies = families([][2]string{
		{"X-Ratelimit-", "-Tokens"}, {"Anthropic-Ratelimit-Tokens-", ""},
		{"Anthropic-Ratelimit-Input-Tokens-", ""}, {"Anthropic-Ratelimit-Output-Tokens-", ""},
		{"X-Ratelimit-", "-Tokens-Minute"}, {"X-Ratelimit-", "-Tokens-Hour"}, {"X-Ratelimit-", "-Tokens-Day"},
		{"X-Ratelimit-", "-Tokens-Prompt"}, {"X-Ratelimit-", "-Tokens-Generated"},
		{"X-Tokenlimit-", ""}, {"Ratelimitbysize-", ""},
	})
)

// families are the headers with these texts before and after the words limit,
// remaining and reset.
func families(names [][2]string) (out []limitFamily) {
	for _, n := range names {
		name := func(word string) string { return http.CanonicalHeaderKey(n[0] + word + n[1]) }
		out = append(out, limitFamily{name("Limit"), name("Remaining"), name("Reset")})
	}
	return out
}

func (f limitFamily) window(h http.Header, now time.Time) llm.Window {
	var w llm.Window
	set(&w, "limit", first(h[f.limit]), now)
	set(&w, "remaining", first(h[f.remaining]), now)
	set(&w, "reset", first(h[f.reset]), now)
	return limited(w)
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// limited takes out of a window what cannot be meant as a limit: a limit below
// zero is a server's word for none, and then what remains of it is as well. A
// remaining below zero stays: servers that let a call through on credit say so.
func limited(w llm.Window) llm.Window {
	if w.Limit != nil && *w.Limit < 0 {
		if w.Remaining != nil && *w.Remaining < 0 {
			w.Remaining = nil
		}
		w.Limit = nil
	}
	return w
}

// count reads a number of requests or tokens. The first of a list counts: the
// drafts put the policies behind it.
func count(v string) (int64, bool) {
	v, _, _ = strings.Cut(v, ",")
	v, _, _ = strings.Cut(v, ";")
	v = strings.TrimSpace(v)
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		return n, n > -1<<53 && n < 1<<53
	}
	f, ok := decimalNumber(strings.TrimPrefix(v, "-"))
	if !ok || f >= 1<<53 {
		return 0, false
	}
	if strings.HasPrefix(v, "-") {
		f = -f
	}
	return int64(math.Floor(f)), true
}

// tightest is the window to obey: the one that is used up, the one that resets
// last if several are, else the first that says anything.
func tightest(ws []llm.Window) llm.Window {
	var best llm.Window
	for _, w := range ws {
		switch {
		case w == (llm.Window{}):
		case best == (llm.Window{}), w.Exhausted() && !best.Exhausted(),
			w.Exhausted() && w.Reset != nil && (best.Reset == nil || *w.Reset > *best.Reset):
			best = w
		}
	}
	return best
}

// structuredLimits reads the RateLimit header of the later drafts:
// limit=100, remaining=50, reset=5 (draft 7) and "name";r=50;t=5 with the
// limit in RateLimit-Policy: "name";q=100;w=60 (draft 8 and later).
func structuredLimits(h http.Header, now time.Time) (out []llm.Window) {
	limits := map[string]string{} // of a policy's name
	for _, p := range items(h.Values("Ratelimit-Policy")) {
		limits[p.name] = p.params["q"]
	}
	var flat llm.Window
	for _, item := range items(h.Values("Ratelimit")) {
		name, params := item.name, item.params
		if eq := strings.IndexByte(name, '='); eq >= 0 { // draft 7
			set(&flat, strings.ToLower(name[:eq]), name[eq+1:], now)
			continue
		}
		var w llm.Window
		set(&w, "remaining", params["r"], now)
		set(&w, "reset", params["t"], now)
		if w != (llm.Window{}) {
			set(&w, "limit", limits[name], now)
		}
		out = append(out, limited(w))
	}
	return append(out, limited(flat))
}

// set reads a field's value; what cannot be read, the empty text included, is
// not stated.
func set(w *llm.Window, field, v string, now time.Time) {
	if v == "" {
		return
	}
	switch field {
	case "limit":
		if n, ok := count(v); ok {
			w.Limit = &n
		}
	case "remaining":
		if n, ok := count(v); ok {
			w.Remaining = &n
		}
	case "reset":
		if d, ok := until(v, now); ok {
			w.Reset = &d
		}
	}
}

// maxLimitLines is how many lines of a header are read: it is read with every
// call, and may be megabytes long.
const maxLimitLines = 16

// An item is one of a structured header's list: name;key=value;key=value.
type item struct {
	name   string
	params map[string]string
}

// items splits a header's values. Commas and semicolons in quotes do not split;
// such names are a server's own and are compared as they stand.
func items(values []string) (out []item) {
	for _, v := range values[:min(len(values), maxLimitLines)] {
		if len(v) > 4<<10 {
			continue // no limit takes that long to say
		}
		for _, part := range splitOutside(v, ',') {
			fields := splitOutside(part, ';')
			it := item{name: strings.TrimSpace(fields[0]), params: map[string]string{}}
			for _, f := range fields[1:] {
				k, val, _ := strings.Cut(strings.TrimSpace(f), "=")
				it.params[strings.ToLower(k)] = strings.Trim(val, `"`)
			}
			if it.name != "" {
				out = append(out, it)
			}
		}
	}
	return out
}

// splitOutside splits s at sep where it stands outside of quotes.
func splitOutside(s string, sep byte) (out []string) {
	quoted, from := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '"' && (i == 0 || s[i-1] != '\\'):
			quoted = !quoted
		case s[i] == sep && !quoted:
			out, from = append(out, s[from:i]), i+1
		}
	}
	return append(out, s[from:])
}
