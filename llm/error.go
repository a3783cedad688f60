package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An ErrorKind is what a failure means for the caller, whatever the provider
// called it.
type ErrorKind string

// The kinds. Retryable says which of them another try may heal.
const (
	KindUnknown     ErrorKind = "unknown"
	KindAuth        ErrorKind = "auth"         // the key is missing, wrong or not allowed
	KindBalance     ErrorKind = "balance"      // no money or quota left; waiting does not help
	KindRateLimit   ErrorKind = "rate_limit"   // too fast; waiting helps
	KindQuota       ErrorKind = "quota"        // a daily quota; waiting within the run does not help
	KindBadRequest  ErrorKind = "bad_request"  // the request itself is refused
	KindNotFound    ErrorKind = "not_found"    // no such model or path
	KindContext     ErrorKind = "context"      // the prompt is longer than the model takes
	KindBlocked     ErrorKind = "blocked"      // a content filter stopped it
	KindServer      ErrorKind = "server"       // the provider failed
	KindConnection  ErrorKind = "connection"   // the network failed before or while answering
	KindIncomplete  ErrorKind = "incomplete"   // a stream or body ended early
	KindBadResponse ErrorKind = "bad_response" // a 200 that is not an answer: HTML, an error object, no choices
	KindTimeout     ErrorKind = "timeout"      // the attempt's or the item's time was up
	KindCanceled    ErrorKind = "canceled"     // the caller gave up
	KindMiss        ErrorKind = "miss"         // a strict replay has no such recording
	KindPanic       ErrorKind = "panic"        // the strategy or application panicked
	KindBudget      ErrorKind = "budget"       // the caller's own budget allows no further call
	KindUnusable    ErrorKind = "unusable"     // an answer came that cannot be used: ask again at once
)

// Retryable reports whether another try of the same request may succeed.
func (k ErrorKind) Retryable() bool {
	switch k {
	case KindRateLimit, KindServer, KindConnection, KindIncomplete, KindTimeout, KindUnusable:
		return true
	}
	return false
}

// Fatal reports whether every further request of the run must fail alike, so
// that going on only costs time and money.
func (k ErrorKind) Fatal() bool {
	switch k {
	case KindAuth, KindBalance, KindQuota, KindNotFound:
		return true
	}
	return false
}

// An Error is a failed call. Its text never holds a key.
type Error struct {
	Kind     ErrorKind
	Provider string // "openai", … or "" if none was reached
	Status   int    // HTTP status; 0 if there was none
	Code     string // the provider's own code
	Message  string // the provider's own words, cut to a sane length
	// RetryAfter is how long the server asked to wait; nil if it did not say,
	// which is not the same as a 0: come back at once.
	RetryAfter *time.Duration
	// RateLimit is what the answer's headers said of the caller's limits; nil
	// if they said nothing.
	RateLimit *RateLimit
	// Hint says what a person can do about it ("top up the account's
	// balance"); "" if that is not known.
	Hint string
	// Usage is what the failed call was billed, if known.
	Usage Usage
	Err   error // the cause
}

// Error says who failed, how, and what to do where that is known.
func (e *Error) Error() string {
	head := string(e.kind())
	if e.Status != 0 {
		head += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	return e.text(head)
}

// Detail is the text of Error without the kind, for where the kind is told
// beside it. It is never empty.
func (e *Error) Detail() string {
	head := ""
	if e.Status != 0 {
		head = fmt.Sprintf("HTTP %d", e.Status)
	}
	if s := e.text(head); s != "" {
		return s
	}
	return string(e.kind())
}

// text puts the provider before head, and what was said after it.
func (e *Error) text(head string) string {
	if e.Code != "" {
		head = strings.TrimSpace(head + " [" + e.Code + "]")
	}
	parts := []string{e.Provider, head, e.Message}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	s := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
	if e.Hint != "" && s != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *Error) kind() ErrorKind {
	if e.Kind == "" {
		return KindUnknown
	}
	return e.Kind
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first [Error] in err's tree; for a context's
// error KindTimeout or KindCanceled, else KindUnknown. It is "" for nil.
func KindOf(err error) ErrorKind {
	if err == nil {
		return "" // before e, which escapes
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.kind()
	case errors.Is(err, context.DeadlineExceeded):
		return KindTimeout
	case errors.Is(err, context.Canceled):
		return KindCanceled
	}
	return KindUnknown
}

// Unusable marks err as an answer that came but cannot be used: the next
// attempt follows at once, without backoff. A nil err gets a text of its own.
func Unusable(err error) error {
	if err == nil {
		err = errors.New("the answer cannot be used")
	}
	return &Error{Kind: KindUnusable, Err: err}
}
