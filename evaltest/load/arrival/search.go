package arrival

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// ErrNotOffered is what a [Try] returns, or wraps, when the client could not
// offer the rate: its schedule lag or its achieved rate say so. After
// [Search.Lead] such runs at a rate the search goes no higher, and does not blame
// the server.
var ErrNotOffered = errors.New("arrival: the asked rate was not offered")

// A Try offers a rate of requests a second to the server, for as long as it sees
// fit, and returns the share of all due requests that were good: answered within
// the latency limits. Failed, refused and unanswered requests are due and not
// good. Each call must be a run of its own with its own randomness: of repeats
// that are copies of one another a decision learns nothing.
type Try func(ctx context.Context, rate float64) (good float64, err error)

// Defaults of [Search].
const (
	DefaultTarget     = 0.99
	DefaultGrowth     = 2
	DefaultTolerance  = 0.05
	DefaultLead       = 2
	DefaultMaxRepeats = 7
	DefaultMaxTries   = 100
	DefaultSlack      = 0.01
)

// A Search looks for the capacity of a server: the highest rate at which at
// least Target of the requests are good, in more than half of the runs.
//
// From Start the rate is multiplied by Growth while it is sustained, or divided
// while it is not, until one sustained and one unsustained rate enclose the
// capacity. Then the geometric middle of the two is tried until they are within
// Tolerance of each other.
//
// A rate is tried until the runs that met the target lead those that did not by
// Lead, or the other way round: Wald's sequential test of a coin. Where one run
// errs with probability q the decision errs with [Misjudged](q, Lead): 1.2 % for
// q = 0.1 and a lead of 2. A rate undecided after MaxRepeats runs counts as not
// sustained; with 7 that happens in 0.6 % of the cases at q = 0.1, and often
// near the capacity, where q is near one half. Runs in which the client did not
// offer the rate are repeated, and Lead of them say that it cannot.
//
// If every decision at a rate more than a Tolerance away from the capacity c is
// right, the answer lies in [c/(1+Tolerance)², c·(1+Tolerance)]. So an answer
// outside has at most the probability of one wrong decision times the number of
// rates tried: some 10 for a start within a factor of 8.
//
// All this supposes that a higher rate is never easier. The search sees only the
// rates that it tries; where these contradict the supposition the [Found] lists
// it under Violations.
type Search struct {
	// Start is the first rate, in requests a second; above 0. A guess.
	Start float64
	// Target is the share of good requests that a run must reach, above 0 and
	// at most 1; 0: [DefaultTarget].
	Target float64
	// Growth is the factor between rates until the capacity is enclosed, above
	// 1; 0: [DefaultGrowth].
	Growth float64
	// Tolerance is how far apart the enclosing rates may end, as a share of the
	// lower one, above 0; 0: [DefaultTolerance].
	Tolerance float64
	// Lead is by how many runs one side must lead; 0: [DefaultLead]. With 1
	// every rate is tried once.
	Lead int
	// MaxRepeats is how many runs a rate gets; at least Lead; 0:
	// [DefaultMaxRepeats], or Lead if that is more.
	MaxRepeats int
	// MaxTries is how many runs there are in all; 0: [DefaultMaxTries].
	MaxTries int
	// Min and Max are the lowest and highest rates that are tried; 0: Start/1024
	// and [MaxRate].
	Min, Max float64
	// Slack is by how much the mean share of good requests may be higher at a
	// higher rate before that is a violation; 0: [DefaultSlack].
	Slack float64
}

// Misjudged returns the probability that a decision by a lead of the given
// length is wrong if each run errs with probability q: the gambler's ruin,
// q^lead / (q^lead + (1-q)^lead). A q outside [0, 1] and a lead below 1 panic.
func Misjudged(q float64, lead int) float64 {
	if !(q >= 0 && q <= 1) || lead < 1 {
		panic(fmt.Sprintf("arrival.Misjudged: q is %v and lead is %d; they must be from 0 to 1 and at least 1", q, lead))
	}
	wrong, right := math.Pow(q, float64(lead)), math.Pow(1-q, float64(lead))
	return wrong / (wrong + right)
}

// Run searches. It is over when the capacity is enclosed, a bound is reached, or
// the tries are used up; see [Found]. Errors: an *[OptionError] before anything
// is tried; the try's own error, wrapped with the rate; a *[ShareError]; and the
// context's cause. What was found until then is returned with them.
func (s Search) Run(ctx context.Context, try Try) (Found, error) {
	if try == nil {
		panic("arrival.Search.Run: try is nil")
	}
	s, err := s.complete()
	if err != nil {
		return Found{}, err
	}
	r := &searching{Search: s, ctx: ctx, try: try}
	err = r.enclose()
	if err == nil && r.Ended == "" {
		err = r.narrow()
	}
	if errors.Is(err, errTries) {
		r.Ended, err = OutOfTries, nil
	}
	r.Found.Target = s.Target
	r.Violations = violations(r.Points, s.Slack)
	return r.Found, err
}

// complete checks the options and fills in the defaults.
func (s Search) complete() (Search, error) {
	set := func(x *float64, to float64) {
		if *x == 0 {
			*x = to
		}
	}
	set(&s.Target, DefaultTarget)
	set(&s.Growth, DefaultGrowth)
	set(&s.Tolerance, DefaultTolerance)
	set(&s.Slack, DefaultSlack)
	set(&s.Min, s.Start/1024)
	set(&s.Max, MaxRate)
	if s.Lead == 0 {
		s.Lead = DefaultLead
	}
	if s.MaxRepeats == 0 {
		s.MaxRepeats = max(DefaultMaxRepeats, s.Lead)
	}
	if s.MaxTries == 0 {
		s.MaxTries = DefaultMaxTries
	}
	in := func(x, lo, hi float64) bool { return x >= lo && x <= hi } // false for a NaN
	return s, errors.Join(
		refuse(s.Start > 0 && in(s.Start, s.Min, s.Max), "Search: Start", s.Start, fmt.Sprintf("it must be above 0 and from Min (%v) to Max (%v)", s.Min, s.Max)),
		refuse(s.Target > 0 && s.Target <= 1, "Search: Target", s.Target, "it must be above 0 and at most 1: 0.99 for 99 %"),
		refuse(s.Growth > 1 && !math.IsInf(s.Growth, 0), "Search: Growth", s.Growth, "it must be above 1"),
		refuse(in(s.Tolerance, 1e-6, 1e6), "Search: Tolerance", s.Tolerance, "it must be from 1e-6 to 1e6: 0.05 for 5 %"),
		refuse(in(s.Slack, 0, 1), "Search: Slack", s.Slack, "it must be from 0 to 1"),
		refuse(s.Min > 0, "Search: Min", s.Min, "it must be above 0"),
		refuse(s.Max <= MaxRate, "Search: Max", s.Max, "it must be at most 1e9"),
		refuse(s.Lead >= 1, "Search: Lead", s.Lead, "it must be at least 1"),
		refuse(s.MaxRepeats >= s.Lead, "Search: MaxRepeats", s.MaxRepeats, fmt.Sprintf("it must be at least Lead (%d), or nothing is ever decided", s.Lead)),
		refuse(s.MaxTries >= 1, "Search: MaxTries", s.MaxTries, "it must be at least 1"),
	)
}

var errTries = errors.New("arrival: out of tries")

// A searching is a running Search.
type searching struct {
	Search
	Found
	ctx context.Context
	try Try
}

// enclose finds a sustained and an unsustained rate, or why there are none.
func (r *searching) enclose() error {
	rate := r.Start
	for {
		v, err := r.decide(rate)
		if err != nil {
			return err
		}
		up := v == Sustained
		switch {
		case r.Rate > 0 && r.Above > 0:
			return nil
		case up && rate >= r.Max:
			r.Ended = AtMax
			return nil
		case !up && rate <= r.Min:
			r.Ended = AtMin
			if v == NotOffered {
				r.Ended = ClientBound
			}
			return nil
		case up:
			rate = min(r.Max, rate*r.Growth)
		default:
			rate = max(r.Min, rate/r.Growth)
		}
	}
}

// narrow brings the enclosing rates together.
func (r *searching) narrow() error {
	for r.Above > r.Rate*(1+r.Tolerance) {
		if _, err := r.decide(math.Sqrt(r.Rate) * math.Sqrt(r.Above)); err != nil {
			return err
		}
	}
	r.Ended = Enclosed
	for _, p := range r.Points {
		if p.Rate == r.Above && p.Verdict == NotOffered {
			r.Ended = ClientBound
		}
	}
	return nil
}

// decide tries a rate until it is decided, and moves a bound to it.
func (r *searching) decide(rate float64) (Verdict, error) {
	r.Points = append(r.Points, Point{Rate: rate, Verdict: Unfinished})
	p := &r.Points[len(r.Points)-1]
	lead, missed := 0, 0
	for p.Verdict == Unfinished {
		if r.Tries == r.MaxTries {
			return p.Verdict, errTries
		}
		if r.ctx.Err() != nil {
			return p.Verdict, context.Cause(r.ctx)
		}
		r.Tries++
		good, err := r.try(r.ctx, rate)
		switch {
		case errors.Is(err, ErrNotOffered):
			// One hiccup of this host must not end a search; a rate that is
			// beyond the client is beyond it again.
			if missed++; missed == r.Lead {
				p.Verdict, p.Why = NotOffered, err.Error()
			}
			continue
		case err != nil:
			return p.Verdict, fmt.Errorf("arrival: run %d of the search, at %v requests/s: %w", r.Tries, rate, err)
		case !(good >= 0 && good <= 1):
			return p.Verdict, &ShareError{Rate: rate, Good: good}
		}
		p.Good = append(p.Good, good)
		if good >= r.Search.Target {
			lead++
		} else {
			lead--
		}
		switch {
		case lead == r.Lead:
			p.Verdict = Sustained
		case lead == -r.Lead:
			p.Verdict = NotSustained
		case len(p.Good) == r.MaxRepeats:
			p.Verdict = Undecided
		}
	}
	if p.Verdict == Sustained {
		r.Rate = rate
	} else {
		r.Above = rate
	}
	return p.Verdict, nil
}
