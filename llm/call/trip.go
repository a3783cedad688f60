package call

import (
	"errors"
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
)

// ErrStopped is wrapped where a scope makes no more calls, because they would
// all fail alike: a bad key, no money, a day's quota, no such model.
var ErrStopped = errors.New("call: stopped, since every further call would fail alike")

// tripAfter is how many failures of one such kind in a row, without a success
// in between, stop a scope that had a success before: one may be an outlier of
// the provider's, or one model of several.
const tripAfter = 5

// A trip stops a scope for good.
type trip struct {
	succeeded bool // ever
	kind      llm.ErrorKind
	first     error // of its row
	row       int
	err       error // what every further call gets; nil while it goes on
}

func (t *trip) success() {
	t.succeeded, t.row = true, 0
}

// fatal takes in a failure that every further call would meet too, and reports
// whether it stops the scope.
func (t *trip) fatal(kind llm.ErrorKind, err error) bool {
	if t.err != nil {
		return false
	}
	if t.row == 0 || t.kind != kind {
		t.kind, t.first, t.row = kind, err, 0
	}
	if t.row++; t.succeeded && t.row < tripAfter {
		return false
	}
	t.err = fmt.Errorf("%w: %w", ErrStopped, t.first)
	return true
}

// stop fails all who wait.
func (s *Scope) stop(now time.Duration) {
	for s.line.front != nil {
		s.fail(s.line.front, s.trip.err, now)
	}
}
