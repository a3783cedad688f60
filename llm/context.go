package llm

import (
	"context"
	"errors"
	"slices"
	"sync"
)

type (
	sampleKey struct{}
	callsKey  struct{}
	itemKey   struct{}
)

// WithSample returns a context that carries the sample index: the k-th
// independent answer to the same item, from 0. A cassette keys recordings by
// it, so that equal requests of two samples get answers of their own.
func WithSample(ctx context.Context, sample int) context.Context {
	return context.WithValue(ctx, sampleKey{}, sample)
}

// SampleIndex returns the sample index that ctx carries, or 0.
func SampleIndex(ctx context.Context) int {
	k, _ := ctx.Value(sampleKey{}).(int)
	return k
}

// WithItem returns a context that carries the id of the item being answered.
// Call it once an item and sample, around all its attempts: equal requests are
// told apart by the order in which they are made under it (see
// [TakeOccurrence]), and a second call starts that count again.
func WithItem(ctx context.Context, id string) context.Context {
	return &itemScope{Context: ctx, id: id}
}

// ItemID returns the item's id that ctx carries, or "".
func ItemID(ctx context.Context) string {
	if s, _ := ctx.Value(itemKey{}).(*itemScope); s != nil {
		return s.id
	}
	return ""
}

// A Call is one physical call as the transport saw it.
type Call struct {
	Response Response
	Err      error
}

// Usage returns what the call was billed: the answer's usage, or else that of
// the [Error] that it failed with. It is not Known where neither says.
func (c Call) Usage() Usage {
	if c.Response.Usage.Known || c.Err == nil {
		return c.Response.Usage // before failed, which escapes
	}
	var failed *Error
	if errors.As(c.Err, &failed) {
		return failed.Usage
	}
	return Usage{}
}

// A CallLog collects the calls made under one context. The framework puts one
// under every attempt, so that an application that makes several calls through
// its own SDK is counted whole. Safe for concurrent use; the zero value works.
type CallLog struct {
	mu    sync.Mutex
	calls []Call
}

// WithCallLog returns a context under which calls are logged to log.
func WithCallLog(ctx context.Context, log *CallLog) context.Context {
	return context.WithValue(ctx, callsKey{}, log)
}

// LogCall logs a call to the log that ctx carries, if any. Transports call it;
// a Model that does not sit on llm/wire may.
func LogCall(ctx context.Context, c Call) {
	if log, _ := ctx.Value(callsKey{}).(*CallLog); log != nil {
		log.mu.Lock()
		log.calls = append(log.calls, c)
		log.mu.Unlock()
	}
}

// Calls returns the calls logged so far, in the order in which they ended.
func (l *CallLog) Calls() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Call(nil), l.calls...)
}

// HasCallLog reports whether ctx carries a log, so that a transport may spare
// the work of reading usage that nobody counts.
func HasCallLog(ctx context.Context) bool {
	log, _ := ctx.Value(callsKey{}).(*CallLog)
	return log != nil
}

// TakeOccurrence returns which equal request of this item the caller is about
// to make: 0 for the first call with key, 1 for the second. Occurrences are
// counted under the nearest [WithItem], so they do not depend on what other
// items do; ok is false if ctx carries no item. A call that came to nothing
// gives its number back with release, and the next one takes it again.
//
// A cassette uses it to tell the equal requests of one item apart.
func TakeOccurrence(ctx context.Context, key string) (n int, release func(), ok bool) {
	s, _ := ctx.Value(itemKey{}).(*itemScope)
	if s == nil {
		return 0, func() {}, false
	}
	n = s.take(key)
	var once sync.Once
	return n, func() { once.Do(func() { s.release(key, n) }) }, true
}

// itemScope is one item being answered: its id, and how often each request
// has been made for it. It is its own context.
type itemScope struct {
	context.Context
	id   string
	mu   sync.Mutex
	next map[string]int
	free map[string][]int // numbers given back, ascending
}

func (s *itemScope) Value(key any) any {
	if key == (itemKey{}) {
		return s
	}
	return s.Context.Value(key)
}

func (s *itemScope) take(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.free[key]; len(f) > 0 {
		s.free[key] = f[1:]
		return f[0]
	}
	if s.next == nil {
		s.next = map[string]int{}
	}
	n := s.next[key]
	s.next[key]++
	return n
}

func (s *itemScope) release(key string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == nil {
		s.free = map[string][]int{}
	}
	f := append(s.free[key], n)
	slices.Sort(f)
	s.free[key] = f
}
