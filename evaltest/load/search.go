package load

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/metric"
)

// Search looks for the highest rate of arrivals that the server sustains: the
// one at which the share s.Target of the requests is answered within
// Metric.SLO, which is needed. at returns the load of one run at a rate; it must
// have a Schedule of that rate and measured phases that end, and a source and
// seed of its own, so that repeats are no copies of one another. each, if it is
// not nil, gets every run's report.
//
// A run in which this client fell behind counts as a rate that it could not
// offer: the search goes no higher, and does not blame the server. Arrivals that
// were dropped because too many were in flight are not good, as if the server had
// refused them. Answers from a prefix cache that was not wanted, and other errors
// of a run, end the search.
func Search(ctx context.Context, s arrival.Search, at func(rate float64) (Load, error), each func(rate float64, r *Report)) (arrival.Found, error) {
	return s.Run(ctx, func(ctx context.Context, rate float64) (float64, error) {
		l, err := at(rate)
		if err != nil {
			return 0, err
		}
		switch {
		case l.Metric.SLO == (metric.SLO{}):
			return 0, &OptionError{"Metric.SLO", "empty", "a search needs limits: which requests are good?"}
		case l.Source != nil && l.endless():
			return 0, &OptionError{"Phases", "without an end", "each run of a search has to end: limit the measured phase"}
		}
		report, err := Run(ctx, l)
		if err != nil {
			return 0, err
		}
		if each != nil {
			each(rate, report)
		}
		return goodShare(report)
	})
}

// broken reports whether a check of this name is.
func (r *Report) broken(name string) bool {
	return slices.ContainsFunc(r.Result.Validity.Broken(), func(c metric.Check) bool { return c.Name == name })
}

// goodShare is what a search learns from a run.
func goodShare(r *Report) (float64, error) {
	problem := r.Problem()
	if errors.Is(problem, ErrInvalid) {
		switch {
		case r.broken("cached input"):
			return 0, problem // a repeat would measure the cache again
		case r.Result.Counts.Dropped == 0, r.broken("lag p99"), r.broken("lag max"), r.broken("client CPU share"), r.broken("GC pause share"), r.broken("fd errors"), r.SinkWait > sinkPatience:
			return 0, fmt.Errorf("%w: %w", arrival.ErrNotOffered, problem)
		}
	}
	g := r.Result.Goodput
	if g == nil {
		return 0, fmt.Errorf("load: the run has no goodput: %w", problem)
	}
	if good, ok := g.Fraction.Get(); ok {
		return good, nil
	}
	if problem != nil { // nothing was answered: none of what was due is good
		return 0, nil
	}
	return 0, errors.New("load: the run has no goodput: nothing was due in its measured phase")
}
