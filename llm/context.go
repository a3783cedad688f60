package llm

import (
	"context"
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
func WithItem(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, itemKey{}, id)
}

// ItemID returns the item's id that ctx carries, or "".
func ItemID(ctx context.Context) string {
	id, _ := ctx.Value(itemKey{}).(string)
	return id
}

// A Call is one physical call as the transport saw it.
type Call struct {
	Response Response
	Err      error
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
