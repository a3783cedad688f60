package call

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// A Try is one physical call and what it came to.
type Try struct {
	// Start is when it was admitted and handed on; that of an Unsent one is when
	// it was given up.
	Start time.Time
	// Waits are how long it waited before, the provider's pause included.
	Waits Waits
	// Duration is how long it took, Waits not counted.
	Duration time.Duration
	// Unsent is set if it was never admitted: Kind and Message say why, and
	// Waits how long it had waited by then.
	Unsent bool
	// Kind is "" for a good answer.
	Kind llm.ErrorKind
	// Status is the HTTP status of a failed try; 0 if it is not known.
	Status int
	// RetryAfter is what the server asked for; nil if it did not.
	RetryAfter *time.Duration
	// Message is the failure's text, without keys, cut to 600 bytes; "" for a
	// good answer.
	Message string
	// Usage is what it was billed, failed or not. Unknown is not zero.
	Usage llm.Usage
	// CostUSD is what the provider said it cost, as an exact decimal; "" if it
	// said nothing.
	CostUSD string
	// Model is the model's id as the provider reported it.
	Model string
	// Replayed is set if the answer came from a recording.
	Replayed bool
}

// maxTryMessage is how much of a failure's text a [Try] keeps, in bytes.
const maxTryMessage = 600

// Tries collects the tries made under one context, in the order in which they
// ended. Safe for concurrent use; the zero value works.
type Tries struct {
	mu    sync.Mutex
	all   []Try
	first [1]Try // room for all of most
	under *try   // under way, the last one begun; the others are below it
}

type triesKey struct{}

// WithTries returns a context under which tries are logged to log. The nearest
// one counts. Nothing is logged twice: a [Policy] or [Model] logs a try of its
// own only if nothing inside it has logged one.
func WithTries(ctx context.Context, log *Tries) context.Context {
	return context.WithValue(ctx, triesKey{}, log)
}

// All returns the tries logged so far.
func (t *Tries) All() []Try { return t.Append(nil) }

// Append adds the tries logged so far to buf and returns it, as append does.
func (t *Tries) Append(buf []Try) []Try {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(buf, t.all...)
}

// Usage is what all tries were billed. A failed one without a usage is counted
// as unknown, and takes nothing from what the others said.
func (t *Tries) Usage() llm.UsageTotal {
	var sum llm.UsageTotal
	for _, try := range t.All() {
		if !try.Unsent {
			sum.Count(try.Usage)
		}
	}
	return sum
}

// Abandon ends the tries under way, of which nobody waits for what they come to
// any more: they are logged as failed with err, which says why, and their scopes
// have their slots back. The calls themselves go on if they ignore their
// context, and nothing of what they come to is logged.
func (t *Tries) Abandon(err error) {
	t.mu.Lock()
	var under []*try
	for try := t.under; try != nil; try = try.below {
		under = append(under, try)
	}
	t.mu.Unlock()
	for _, try := range under { // the inner ones, which are the calls, come first
		try.Cancel()
		try.conclude(&llm.Response{}, err)
	}
}

func (t *Tries) begin(try *try) {
	if t == nil {
		return
	}
	t.mu.Lock()
	try.below, t.under = t.under, try
	t.mu.Unlock()
}

func (t *Tries) end(try *try) {
	if t == nil {
		return
	}
	t.mu.Lock()
	for at := &t.under; *at != nil; at = &(*at).below {
		if *at == try {
			*at = try.below
			break
		}
	}
	t.mu.Unlock()
}

func (t *Tries) add(try Try) {
	t.mu.Lock()
	if t.all == nil {
		t.all = t.first[:0]
	}
	t.all = append(t.all, try)
	t.mu.Unlock()
}

// triesOf returns the log that counts; nil if there is none.
func triesOf(ctx context.Context) *Tries {
	log, _ := ctx.Value(triesKey{}).(*Tries)
	return log
}

// logTry logs what a try came to and tells whatever it is inside of that it need
// not.
func logTry(outer *try, log *Tries, e Try, resp *llm.Response, err error) {
	for ; outer != nil; outer = outer.outer {
		outer.logged.Store(true)
	}
	if log == nil {
		return
	}
	e.Usage, e.CostUSD, e.Model, e.Replayed = resp.Usage, resp.CostUSD, resp.Model, resp.Replayed
	if err != nil {
		e.failed(err)
	}
	log.add(e)
}

func (e *Try) failed(err error) {
	e.Kind, e.Message = llm.KindOf(err), cut(wire.Mask(err.Error()), maxTryMessage)
	var known *llm.Error
	if !errors.As(err, &known) {
		return
	}
	e.Status = known.Status
	if known.RetryAfter != nil {
		e.RetryAfter = new(*known.RetryAfter)
	}
	if !e.Usage.Known {
		e.Usage = known.Usage
	}
}

// cut cuts a text between characters and says how much is missing.
func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	kept := strings.ToValidUTF8(s[:most], "")
	return kept + fmt.Sprintf(" … (%d bytes more)", len(s)-len(kept))
}
