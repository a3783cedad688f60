package evaltest

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A tally is a lap under way, and whether its leg does what legs must: a leg is
// somebody else's code, and one that left items out would be the fastest.
type tally struct {
	mu    sync.Mutex
	lap   bakeoff.Lap
	first error // of an item
	done  []int // how often each item was begun
	limit int   // the most at once
	now   int   // calls in flight
	peak  int
	bad   error // the first thing that no leg may do
}

// begin takes note of a call for the i-th item, and reports whether there is one.
func (t *tally) begin(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i < 0 || i >= len(t.done) {
		t.bad = cmp.Or(t.bad, fmt.Errorf("called do(%d), and the items are 0 to %d", i, len(t.done)-1))
		return false
	}
	t.done[i]++
	t.now++
	t.peak = max(t.peak, t.now)
	return true
}

func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now--
}

// add counts what became of an item.
func (t *tally) add(mark grade.Mark, calls []llm.Call, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.lap.Errors++
		t.first = cmp.Or(t.first, err)
	} else {
		t.lap.Answered++
	}
	if mark == grade.Correct {
		t.lap.Correct++
	}
	for _, c := range calls {
		t.lap.Usage.Count(c.Usage())
		if llm.KindOf(c.Err) == llm.KindRateLimit {
			t.lap.RateLimits++
		}
	}
}

// result is the lap once its leg has returned, the first error of an item, and
// what the leg did wrong. One that was stopped need not have begun all items.
func (t *tally) result(stopped bool) (lap bakeoff.Lap, first, wrong error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wrong = t.bad
	if wrong == nil && t.now > 0 {
		wrong = fmt.Errorf("returned while %d of its calls were running", t.now)
	}
	if wrong == nil && t.peak > t.limit {
		wrong = fmt.Errorf("did %d items at once, and may do %d", t.peak, t.limit)
	}
	for i, n := range t.done {
		if wrong == nil && (n > 1 || n == 0 && !stopped) {
			wrong = fmt.Errorf("did item %d %d times, and each is to be done once", i, n)
		}
	}
	if wrong != nil {
		wrong = fmt.Errorf("leg %q %w", t.lap.Leg, wrong)
	}
	return t.lap, t.first, wrong
}
