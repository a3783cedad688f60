package evaltest

import (
	"strings"
	"sync"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// told is what failed calls have said in this run, and of which item it was
// shown. A provider that is down says the same to every item in flight.
type told struct {
	mu    sync.Mutex
	texts map[string]string // of messages
	kinds map[llm.ErrorKind]string
}

// maxTold is how many texts are kept: each item may have one of its own.
const maxTold = 100

// brief is rec with its error as it is shown: one that an item before it has
// been shown with is told by that item's name. A panic is always shown whole,
// with its stack.
func (r *runner) brief(rec *result.Record, name string) *result.Record {
	if rec.Outcome != result.Errored || rec.Error == nil || rec.Error.Stack != "" {
		return rec
	}
	first := r.told.before(rec.Error, name)
	if first == "" {
		return rec
	}
	e := *rec.Error
	e.Message = "the same as item " + first
	short := *rec
	short.Error = &e
	return &short
}

// before returns the item that was shown with the same error; "" if this is
// the first.
func (t *told) before(e *result.Error, name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.texts == nil {
		t.texts, t.kinds = map[string]string{}, map[llm.ErrorKind]string{}
	}
	// Why there was no other attempt differs in its times alone.
	text, _, _ := strings.Cut(e.Message, " (no attempt ")
	key := string(e.Kind) + ": " + text
	first := t.texts[key]
	if first == "" && strings.HasPrefix(text, call.ErrStopped.Error()) {
		first = t.kinds[e.Kind] // which is why the scope made no call
	}
	if first == "" && len(t.texts) < maxTold {
		t.texts[key] = name
	}
	if t.kinds[e.Kind] == "" {
		t.kinds[e.Kind] = name
	}
	return first
}
