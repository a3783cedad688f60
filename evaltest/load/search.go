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
// A run in which this client fell behind is repeated; after s.Lead of them the
// search goes no higher, and does not blame the server. Arrivals that
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

// clientChecks are those of which a broken one says that this client could not
// offer the rate, and loadChecks those that a server breaks which is too slow for
// it: what was dropped, or cut, is not good.
var (
	clientChecks = []string{"lag p99", "lag max", "client CPU share", "wake-up p99", "GC pause share", "fd errors", "blocked arrivals", "pool waits", "held by the sink"}
	loadChecks   = []string{"answers", "dropped arrivals", achievedCheck, "unfinished requests"}
)

// achievedCheck is about the client, unless arrivals were dropped.
const achievedCheck = "achieved / scheduled rate"

// goodShare is what a search learns from a run.
func goodShare(r *Report) (float64, error) {
	problem := r.Problem()
	if errors.Is(problem, ErrInvalid) {
		for _, c := range r.Result.Validity.Broken() {
			switch {
			case slices.Contains(clientChecks, c.Name), c.Name == achievedCheck && r.Result.Counts.Dropped == 0:
				return 0, fmt.Errorf("%w: %w", arrival.ErrNotOffered, problem)
			case !slices.Contains(loadChecks, c.Name):
				return 0, problem // a repeat would find the same
			}
		}
	}
	if r.Result.Counts.Due == 0 {
		return 0, fmt.Errorf("load: the run says nothing: %w", problem)
	}
	g := r.Result.Goodput
	if g == nil {
		return 0, fmt.Errorf("load: the run has no goodput: %w", problem)
	}
	if good, ok := g.FractionLow.Get(); ok { // a Drain that ends early decides nothing
		return good, nil
	}
	if problem != nil { // nothing was answered: none of what was due is good
		return 0, nil
	}
	return 0, errors.New("load: the run has no goodput: nothing was due in its measured phase")
}
