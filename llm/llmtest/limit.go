package llmtest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Limits are what a server lets one caller do. It counts strictly: what was
// admitted in any rolling minute never exceeds RPM. A call beyond a limit gets
// a 429 that says, truly, when it may come back. The zero value limits nothing.
type Limits struct {
	// RPM is the most calls a minute. TPM is the most tokens a minute: a call
	// is refused if its input does not fit; what it then takes beyond that
	// (its output, or what Reply.Tokens says) counts too, from when it was let
	// in.
	RPM, TPM int
	// Concurrency is the most calls in flight.
	Concurrency int
	// CountRefused counts refused calls against RPM as well, whichever limit
	// refused them, as OpenAI does.
	CountRefused bool
}

func (l Limits) isSet() bool { return l != Limits{} }

const minute = time.Minute

// window holds what happened in the last minute, in order: an entry's time is
// taken under the lock under which it is added.
type window struct {
	at     []time.Time
	tokens []int
	head   int // how many at the front are over
	gone   int // how many were in front of them
	sum    int // of the tokens that are not over
}

// roll forgets what is over.
func (w *window) roll(now time.Time) {
	for w.head < len(w.at) && now.Sub(w.at[w.head]) >= minute {
		w.sum -= w.tokens[w.head]
		w.head++
	}
	if w.head > 1024 && w.head > len(w.at)/2 {
		n := copy(w.at, w.at[w.head:])
		copy(w.tokens, w.tokens[w.head:])
		w.at, w.tokens, w.gone, w.head = w.at[:n], w.tokens[:n], w.gone+w.head, 0
	}
}

// add returns the entry's number, by which charge knows it.
func (w *window) add(now time.Time, tokens int) (n int) {
	w.at, w.tokens = append(w.at, now), append(w.tokens, tokens)
	w.sum += tokens
	return w.gone + len(w.at) - 1
}

// charge adds tokens to an entry, if it is not over.
func (w *window) charge(n, tokens int) {
	if i := n - w.gone; i >= w.head {
		w.tokens[i] += tokens
		w.sum += tokens
	}
}

func (w *window) count() int { return len(w.at) - w.head }

// free is how long until so many fewer than now are left of the calls.
func (w *window) free(calls int, now time.Time) time.Duration {
	if calls <= 0 || w.count() == 0 {
		return 0
	}
	i := min(w.head+calls, len(w.at)) - 1
	return w.at[i].Add(minute).Sub(now)
}

// freeTokens is how long until so many tokens are over.
func (w *window) freeTokens(n int, now time.Time) time.Duration {
	for i := w.head; i < len(w.at); i++ {
		if n -= w.tokens[i]; n <= 0 {
			return w.at[i].Add(minute).Sub(now)
		}
	}
	return 0
}

// A ticket is what a call holds while it is answered: its places in the
// windows, and one of the calls that may run at once.
type ticket struct {
	received int  // in Server.received
	admitted int  // in Server.admitted, if held
	input    int  // tokens that it was admitted with
	held     bool // it was admitted by Limits
}

// admit counts a call whose input has this many tokens, or says why it may not
// start. The caller holds mu.
func (s *Server) admit(c Chat, k *ticket, input int) *problem {
	l, w, now := s.Limits, &s.admitted, time.Now()
	w.roll(now)
	crowded := l.Concurrency > 0 && s.running >= l.Concurrency
	often := l.RPM > 0 && w.count() >= l.RPM
	much := l.TPM > 0 && w.sum+input > l.TPM
	if !crowded && !often && !much {
		k.admitted, k.input, k.held = w.add(now, input), input, true
		s.running++
		return nil
	}
	if l.CountRefused {
		w.add(now, 0)
	}
	var wait time.Duration // until neither limit is in the way
	if often {
		wait = w.free(w.count()-l.RPM+1, now)
	}
	if much {
		wait = max(wait, w.freeTokens(w.sum+input-l.TPM, now))
	}
	switch {
	case crowded:
		return &problem{status: http.StatusTooManyRequests, typ: "requests", code: "rate_limit_exceeded",
			message:       fmt.Sprintf("Too many concurrent requests: limit %d.", l.Concurrency),
			geminiMessage: "Resource has been exhausted (e.g. check quota)."} // when one of the others ends, nobody knows
	case often && (input <= l.TPM || l.TPM == 0):
		return refusal(c, "requests", "requests per min (RPM)", quotaRequestsMinute, l.RPM, w.count(), 1, wait)
	case input > l.TPM: // no waiting heals it
		p := refusal(c, "tokens", "tokens per min (TPM)", quotaTokensMinute, l.TPM, w.sum, input, 0)
		p.header, p.details = nil, quotaDetails(c.Model, l.TPM, quotaTokensMinute, "")
		p.message = fmt.Sprintf("Request too large for %s on tokens per min (TPM): Limit %d, Requested %d. The input or output tokens must be reduced in order to run successfully.", c.Model, l.TPM, input)
		p.geminiMessage = p.message
		return p
	}
	return refusal(c, "tokens", "tokens per min (TPM)", quotaTokensMinute, l.TPM, w.sum, input, wait)
}

func refusal(c Chat, typ, what, quota string, limit, used, asked int, wait time.Duration) *problem {
	wait = max(wholeMillis(wait), time.Millisecond)
	return &problem{
		status: http.StatusTooManyRequests, typ: typ, code: "rate_limit_exceeded",
		message:       fmt.Sprintf("Rate limit reached for %s in organization org-0 on %s: Limit %d, Used %d, Requested %d. Please try again in %v.", c.Model, what, limit, used, asked, wait),
		geminiMessage: plans + " Please retry in " + retryDelay(wait) + ".",
		details:       quotaDetails(c.Model, limit, quota, retryDelay(wait)),
		header:        retryAfter(wait),
	}
}

// wholeMillis is d in whole milliseconds, rounded up: who comes when he was
// told to is never early.
func wholeMillis(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// limitHeader says what is left, as OpenAI does: when a limit is used up, reset
// is when one more call or token may come; else when nothing is used any more.
// Gemini says nothing.
func (s *Server) limitHeader(h http.Header, api API) {
	if api != OpenAI || s.Limits.RPM == 0 && s.Limits.TPM == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, now := &s.admitted, time.Now()
	w.roll(now)
	set := func(name string, limit, used int, next time.Duration) {
		if limit == 0 {
			return
		}
		left, reset := max(limit-used, 0), next
		if left > 0 && w.count() > 0 {
			reset = w.at[len(w.at)-1].Add(minute).Sub(now)
		}
		h.Set("X-Ratelimit-Limit-"+name, strconv.Itoa(limit))
		h.Set("X-Ratelimit-Remaining-"+name, strconv.Itoa(left))
		h.Set("X-Ratelimit-Reset-"+name, wholeMillis(max(reset, 0)).String())
	}
	set("Requests", s.Limits.RPM, w.count(), w.free(w.count()-s.Limits.RPM+1, now))
	set("Tokens", s.Limits.TPM, w.sum, w.freeTokens(w.sum-s.Limits.TPM+1, now))
}
