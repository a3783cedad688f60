package evaltest

import (
	"sync"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// told is what failed calls have said in this run, and of which item it was
// shown. A provider that is down says the same to every item in flight.
type told struct {
	mu    sync.Mutex
	texts map[said]string
}

// said is what failed calls have in common.
type said struct {
	kind llm.ErrorKind
	text string
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
	what := said{rec.Error.Kind, rec.Error.Message}
	// Why there was no other attempt, which the item's error says too, differs
	// in its times alone.
	if n := len(rec.Attempts); n > 0 && rec.Attempts[n-1].Error != nil {
		what.text = rec.Attempts[n-1].Error.Message
	}
	first := r.told.before(what, name)
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
func (t *told) before(what said, name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.texts[what]
	if first == "" && len(t.texts) < maxTold {
		if t.texts == nil {
			t.texts = map[said]string{}
		}
		t.texts[what] = name
	}
	return first
}
