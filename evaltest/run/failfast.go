package run

import (
	"errors"
	"fmt"
	"sync"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// ErrUnreachable is wrapped by what [FailFast.Observe] returns.
var ErrUnreachable = errors.New("the run cannot reach its model")

// Defaults of a [FailFast].
const (
	DefaultFatal = 5
	DefaultAlike = 10
)

// A FailFast tells from records, as they come, that the run cannot reach its
// model, so that a wrong key costs one call instead of a thousand. The zero
// value works. Safe for concurrent use.
//
// An error is fatal if its kind is ([llm.ErrorKind.Fatal]): no key, no money,
// no such model. Before any answer has come, the first fatal error is enough;
// after one has, Fatal in a row are, for then some items do work. Errors that
// may pass (a refused connection, a server error) are enough if no answer has
// come and the first Alike items all ended with the same one. A rate limit is
// enough later, too, if Alike items in a row ended with one: each of them has
// waited as long as it could, or was told to wait for longer than that. What has
// not run by then can be resumed, and would only end in errors.
type FailFast struct {
	// Fatal is how many fatal errors of one kind in a row stop a run that has
	// had answers; default [DefaultFatal].
	Fatal int
	// Alike is how many errors of one kind and status in a row stop a run that
	// has had no answer, and how many rate limits any run; default
	// [DefaultAlike].
	Alike int

	mu       sync.Mutex
	answered bool
	kind     llm.ErrorKind
	status   int
	inARow   int
	err      error
}

// Observe takes note of a finished record. It returns nil to go on, else why
// the run should stop; once it has returned an error it returns that error for
// good. Do not show it records of an earlier run: they prove nothing.
func (f *FailFast) Observe(rec *result.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil || rec.Outcome == result.NotRun {
		return f.err
	}
	if rec.Outcome != result.Errored || rec.Error == nil {
		f.answered, f.inARow = true, 0
		return nil
	}
	e := rec.Error
	if e.Kind != f.kind || e.Status != f.status {
		f.kind, f.status, f.inARow = e.Kind, e.Status, 0
	}
	f.inARow++
	if f.inARow >= f.limit(e.Kind) {
		who := "an item"
		if f.inARow > 1 {
			who = fmt.Sprintf("%d items in a row", f.inARow)
		}
		f.err = fmt.Errorf("%w: %s ended with %s: %s", ErrUnreachable, who, e.Kind, e.Message)
	}
	return f.err
}

const never = int(^uint(0) >> 1)

// limit returns how many errors of a kind in a row are enough.
func (f *FailFast) limit(kind llm.ErrorKind) int {
	switch {
	case kind.Fatal() && !f.answered:
		return 1
	case kind.Fatal():
		return orDefault(f.Fatal, DefaultFatal)
	case kind == llm.KindRateLimit:
		return orDefault(f.Alike, DefaultAlike)
	case f.answered:
		return never
	}
	switch kind {
	case llm.KindConnection, llm.KindServer, llm.KindBadRequest, llm.KindBadResponse, llm.KindIncomplete, llm.KindTimeout:
		return orDefault(f.Alike, DefaultAlike)
	}
	return never // an item's own trouble: a panic, a row that does not decode, a recording that is missing
}

func orDefault(n, standard int) int {
	if n <= 0 {
		return standard
	}
	return n
}
