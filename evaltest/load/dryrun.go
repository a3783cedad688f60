package load

import (
	"context"
	"iter"
	"time"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/workload"
)

// A Planned request is one that a run would send.
type Planned struct {
	// Seq is its place in the run, from 0. User is the closed-loop user that
	// sends it, or -1 if that is not known before.
	Seq, User int
	// Due is when it would be due, and Timed says whether that is known: in an
	// open loop always, in a closed one of each user's first request only.
	Due   time.Duration
	Timed bool
	// Phase is the part of the run that it belongs to; "" if that depends on
	// when answers come.
	Phase record.Phase
	// Request is what the source made, and Body what would be sent. Whole says
	// that the answer is asked for in one piece.
	Request workload.Request
	Body    []byte
	Whole   bool
	// Err is why it cannot be sent; Body is nil then.
	Err error
}

// Check returns what Run would refuse, an ErrConfig, without running.
func (l Load) Check() error {
	r, err := prepare(&l)
	if err != nil {
		return err
	}
	r.client.Close()
	return nil
}

func prepare(l *Load) (*runner, error) {
	if err := l.fill(); err != nil {
		return nil, err
	}
	return newRunner(l)
}

// DryRun makes every request of a load, in order, and sends none: it calls each
// with one after the other. An open loop has the times that a run with the same
// Seed has. Where the answers decide how many requests there are, as in a closed
// loop that ends after a time, they are each user's first ones. A request that
// cannot be made is no error of DryRun.
//
// Errors are ErrConfig, each's own, or the context's cause.
func DryRun(ctx context.Context, l Load, each func(Planned) error) error {
	r, err := prepare(&l)
	if err != nil {
		return err
	}
	defer r.client.Close()
	if r.open() && r.endless() {
		return &OptionError{"Phases", "without an end", "a dry run of an open loop needs one"}
	}
	lanes, ahead := r.room()
	ctx, cancel := context.WithCancel(ctx)
	r.stock.open(ctx, lanes, ahead)
	defer r.stock.close()
	defer cancel()
	for p := range r.planned() {
		lane, i := 0, p.Seq
		if !r.shared {
			lane, i = p.User, p.Seq/r.Users
		}
		g, ok := r.stock.take(ctx, lane, i)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !ok {
			return nil // the source has no more
		}
		p.Request, p.Body, p.Whole, p.Err = g.req, g.body, g.whole, g.err
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// planned are the requests of a run, without what they send.
func (r *runner) planned() iter.Seq[Planned] {
	if r.open() {
		return func(yield func(Planned) bool) {
			for a := range r.Phases.Label(r.Schedule.Times(r.random(0, workload.Arrivals))) {
				if !yield(Planned{Seq: a.Seq, User: -1, Due: a.Due, Timed: true, Phase: a.Phase}) {
					return
				}
			}
		}
	}
	total := r.total()
	if n := r.Source.Len(); r.shared && (total < 0 || n < total) {
		total = n
	}
	if total < 0 {
		total = r.Users
	}
	return func(yield func(Planned) bool) {
		for seq := range total {
			p := Planned{Seq: seq, User: seq % r.Users, Timed: seq < r.Users, Phase: r.counted(seq)}
			switch {
			case p.Timed:
				p.Due = r.Join * time.Duration(p.User) / time.Duration(r.Users)
			case r.shared && r.Users > 1:
				p.User = -1
			}
			if !yield(p) {
				return
			}
		}
	}
}

// counted is the phase of a closed loop's seq-th request, if counts alone say.
func (r *runner) counted(seq int) record.Phase {
	w, m, c := r.Phases.Warmup, r.Phases.Measured, r.Phases.Cooldown
	switch {
	case w.For > 0, m.For > 0 && seq >= w.Count:
		return ""
	case seq < w.Count:
		return record.Warmup
	case m.Count == 0, seq < w.Count+m.Count:
		return record.Measured
	case c.For > 0 && c.Count == 0:
		return ""
	}
	return record.Cooldown
}

// room is how many lanes the stock has and how far ahead it makes requests.
func (r *runner) room() (lanes, ahead int) {
	if r.shared {
		return 1, r.Lookahead
	}
	return r.Users, max(1, r.Lookahead/r.Users)
}

// total is how many requests a closed loop will send, if that is known; else -1.
func (r *runner) total() int {
	total := -1
	if r.RequestsPerUser > 0 {
		total = r.RequestsPerUser * r.Users
	}
	counted := r.Phases.Measured.Count
	for _, p := range []arrival.Limit{r.Phases.Warmup, r.Phases.Cooldown} {
		if p != (arrival.Limit{}) && p.Count == 0 {
			return total
		}
		counted += p.Count
	}
	switch {
	case r.Phases.Measured.Count == 0:
		return total
	case total < 0:
		return counted
	}
	return min(total, counted)
}
