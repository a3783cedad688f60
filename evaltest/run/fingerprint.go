package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A Fingerprinter is a [Strategy] whose answers depend on more than its name
// says: a prompt, settings, an index. A run goes on with an earlier one only if
// both have the same.
type Fingerprinter interface {
	// Fingerprint returns a short text that changes whenever what is asked
	// for this item changes, and never holds a key. "" is unknown.
	Fingerprint(item dataset.Item) string
}

const fingerprinting stage = "Fingerprint of strategy"

// FingerprintOf returns the strategy's fingerprint for an item; "" if it has
// none, panics, or says something else each time (a prompt with the time in it).
func FingerprintOf(s Strategy, item dataset.Item) string {
	f, ok := s.(Fingerprinter)
	if !ok {
		return ""
	}
	var first, second string
	done := make(chan struct{}) // a goroutine, lest a Goexit in the user's code be the caller's
	go func() {
		defer close(done)
		_ = guard(fingerprinting, s, func() error {
			a, b := f.Fingerprint(item), f.Fingerprint(item)
			first, second = a, b
			return nil
		})
	}()
	<-done
	if first != second {
		return ""
	}
	return first
}

// Fingerprint hashes the request: messages and every setting that is sent.
func (s ask) Fingerprint(item dataset.Item) string { return hashRequest(s.prompt(item)) }

// Fingerprint is that of both parts; "" if either has none.
func (s escalate) Fingerprint(item dataset.Item) string {
	fast, thinking := FingerprintOf(s.fast, item), FingerprintOf(s.thinking, item)
	if fast == "" || thinking == "" {
		return ""
	}
	return fast + " " + thinking
}

func hashRequest(req llm.Request) string {
	b, err := json.Marshal(req)
	if err != nil {
		return "" // a raw field that is no JSON: the call will say so
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

var (
	_ Fingerprinter = ask{}
	_ Fingerprinter = escalate{}
	_ Requester     = ask{}
	_ Requester     = escalate{}
)

// A Requester is a [Strategy] that knows, without calling anybody, what it will
// ask about an item.
type Requester interface {
	// Request returns the request of the first attempt; false if there is none
	// of its own.
	Request(item dataset.Item) (llm.Request, bool)
}

const requesting stage = "Request of strategy"

// RequestOf returns what the strategy will ask about an item; false if it does
// not say, or panics.
func RequestOf(s Strategy, item dataset.Item) (req llm.Request, ok bool) {
	r, is := s.(Requester)
	if !is {
		return req, false
	}
	done := make(chan struct{}) // as in FingerprintOf
	go func() {
		defer close(done)
		err := guard(requesting, s, func() error {
			req, ok = r.Request(item)
			return nil
		})
		ok = ok && err == nil
	}()
	<-done
	return req, ok
}

// Request is what prompt makes.
func (s ask) Request(item dataset.Item) (llm.Request, bool) { return s.prompt(item), true }

// Request is that of the fast part, if it says.
func (s escalate) Request(item dataset.Item) (llm.Request, bool) {
	if r, ok := s.fast.(Requester); ok {
		return r.Request(item)
	}
	return llm.Request{}, false
}
