package load

import (
	"context"
	"errors"
	"fmt"

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
// A run that is not valid counts as a rate that this client could not offer: the
// search goes no higher, and does not blame the server. Other errors of a run
// end the search.
func Search(ctx context.Context, s arrival.Search, at func(rate float64) (Load, error), each func(rate float64, r *Report)) (arrival.Found, error) {
	return s.Run(ctx, func(ctx context.Context, rate float64) (float64, error) {
		l, err := at(rate)
		if err != nil {
			return 0, err
		}
		if l.Metric.SLO == (metric.SLO{}) {
			return 0, &OptionError{"Metric.SLO", "empty", "a search needs limits: which requests are good?"}
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

// goodShare is what a search learns from a run.
func goodShare(r *Report) (float64, error) {
	problem := r.Problem()
	if errors.Is(problem, ErrInvalid) {
		return 0, fmt.Errorf("%w: %w", arrival.ErrNotOffered, problem)
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
