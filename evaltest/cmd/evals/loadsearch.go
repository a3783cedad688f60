package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/workload"
)

// searchFlags ask for the highest rate that a server sustains.
type searchFlags struct {
	on                                          bool
	start, target, growth, tolerance, low, high optional[float64]
	lead, repeats, tries                        optional[int]
}

func (s *searchFlags) declare(fs *flag.FlagSet) {
	fs.BoolVar(&s.on, "search", false, "look for the highest rate at which answers keep to the limits of -slo, in many runs of -duration or -requests each")
	fs.Var(&s.start, "search-start", "begin with `R` requests a second: a guess")
	fs.Var(&s.target, "search-target", "this `SHARE` of the due requests must be good (default 0.99)")
	fs.Var(&s.growth, "search-growth", "multiply or divide the rate by `FACTOR` until the answer is enclosed (default 2)")
	fs.Var(&s.tolerance, "search-tolerance", "end when the rates that enclose the answer are this `SHARE` apart (default 0.05)")
	fs.Var(&s.lead, "search-lead", "a rate is decided when good runs lead bad ones, or bad ones good, by `N` (default 2)")
	fs.Var(&s.repeats, "search-max-repeats", "a rate gets `N` runs at most; undecided then, it is not sustained (default 7)")
	fs.Var(&s.tries, "search-max-tries", "make `N` runs at most (default 100)")
	fs.Var(&s.low, "search-min", "try no rate below `R` (default: the start divided by 1024)")
	fs.Var(&s.high, "search-max", "try no rate above `R`")
}

// search is what the flags ask for. A value that was given and is 0 would be
// taken for its default.
func (s *searchFlags) search() (arrival.Search, error) {
	a := arrival.Search{
		Start: s.start.or(0), Target: s.target.or(0), Growth: s.growth.or(0), Tolerance: s.tolerance.or(0), Min: s.low.or(0), Max: s.high.or(0),
		Lead: s.lead.or(0), MaxRepeats: s.repeats.or(0), MaxTries: s.tries.or(0),
	}
	for _, c := range []struct {
		ok    bool
		flag  string
		value any
		want  string
	}{
		{a.Start > 0 && a.Start <= arrival.MaxRate, "start", a.Start, "requests a second, above 0"},
		{s.target.p == nil || a.Target > 0 && a.Target <= 1, "target", a.Target, "a share above 0 and at most 1"},
		{s.growth.p == nil || a.Growth > 1 && a.Growth <= 1e6, "growth", a.Growth, "a factor above 1"},
		{s.tolerance.p == nil || a.Tolerance > 0 && a.Tolerance <= 1e6, "tolerance", a.Tolerance, "a share above 0"},
		{s.lead.p == nil || a.Lead >= 1, "lead", a.Lead, "at least 1"},
		{s.repeats.p == nil || a.MaxRepeats >= max(1, a.Lead), "max-repeats", a.MaxRepeats, "at least 1, and no less than -search-lead"},
		{s.tries.p == nil || a.MaxTries >= 1, "max-tries", a.MaxTries, "at least 1"},
		{s.low.p == nil || a.Min > 0 && a.Min <= a.Start, "min", a.Min, "a rate above 0 and at most -search-start"},
		{s.high.p == nil || a.Max >= a.Start && a.Max <= arrival.MaxRate, "max", a.Max, "a rate of at least -search-start"},
	} {
		if !c.ok {
			return a, usagef("-search-%s is %v: want %s", c.flag, c.value, c.want)
		}
	}
	return a, nil
}

// A searchReport is what -json keeps of a search.
type searchReport struct {
	Schema  string        `json:"schema"`
	Started time.Time     `json:"started"`
	URL     string        `json:"url"`
	Model   string        `json:"model"`
	Version string        `json:"evals_version"`
	Seed    uint64        `json:"seed"`
	Salt    uint64        `json:"salt,omitempty"`
	Arrival string        `json:"arrival"`
	SLO     metric.SLO    `json:"slo"`
	Found   arrival.Found `json:"found"`
	Error   string        `json:"error,omitempty"`
}

// searchLoad looks for the highest rate and prints each run and the answer.
func (p *program) searchLoad(ctx context.Context, f *loadFlags, s *loadStuff, seed, salt uint64) error {
	search, err := f.search.search()
	if err != nil {
		return err
	}
	first, err := f.plan(s, p.env, seed, salt, search.Start)
	if err != nil {
		return err
	}
	if err := f.out.open(); err != nil {
		return err
	}
	p.tell(f, &first, s, salt)
	rep := searchReport{
		Schema: "evals-load-search/1", Started: time.Now().UTC(), URL: serverURL(first.Client), Model: first.Client.Model, Version: version(), Seed: seed, SLO: first.Metric.SLO,
	}
	if f.salted(s) {
		rep.Salt = salt
	}
	process, _ := f.when.gaps() // plan has looked
	rep.Arrival = process.String()
	tries := 0
	at := func(rate float64) (load.Load, error) {
		tries++ // each run has its own times and texts, all from one seed
		l, err := f.plan(s, p.env, root(seed, tries, workload.Arrivals), root(salt, tries, workload.OwnSalt), rate)
		l.Progress, l.Tick = f.out.progress()
		return l, err
	}
	var found arrival.Found
	found, err = load.Search(ctx, search, at, func(rate float64, r *load.Report) {
		fmt.Fprintf(p.stdout, "Run %d: %s\n", tries, tried(rate, r)) //nolint:errcheck // the last write tells
	})
	rep.Found = found
	if err != nil {
		rep.Error = err.Error()
	}
	answer := answered(&found)
	_, printed := fmt.Fprintf(p.stdout, "%s\nSeed: %d\n", answer, seed)
	kept := toFile(f.out.json, os.O_TRUNC, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(rep)
	})
	return errors.Join(err, unanswered(&found, err), printed, kept)
}

// tried is what one run came to.
func tried(rate float64, r *load.Report) string {
	c := r.Result.Counts
	line := fmt.Sprintf("%.4g requests/s: ", rate)
	if g := r.Result.Goodput; g != nil {
		if v, ok := g.Fraction.Get(); ok {
			line += fmt.Sprintf("%.2f %% good, ", 100*v)
		}
	}
	line += fmt.Sprintf("%d of %d answered", c.OK, c.Due)
	if v, ok := r.Result.Dists[metric.ResponseTTFT].At(0.99).Value.Get(); ok {
		line += fmt.Sprintf(", response TTFT p99 %v", time.Duration(v).Round(10*time.Microsecond))
	}
	if err := r.Problem(); errors.Is(err, load.ErrInvalid) {
		line += "; not valid: " + visible(reason(err))
	}
	return line
}

// answered is the answer in a sentence.
func answered(f *arrival.Found) string {
	n := fmt.Sprintf("%d runs", f.Tries)
	switch f.Ended {
	case arrival.Enclosed:
		return fmt.Sprintf("Sustained: %.4g requests/s; not sustained: %.4g requests/s (%s)", f.Rate, f.Above, n)
	case arrival.AtMax:
		return fmt.Sprintf("Sustained: %.4g requests/s, the highest that was allowed; the server may do more (%s)", f.Rate, n)
	case arrival.AtMin:
		return fmt.Sprintf("Sustained: none; not even %.4g requests/s, the lowest that was allowed (%s)", f.Above, n)
	case arrival.ClientBound:
		return fmt.Sprintf("Sustained: %.4g requests/s; %.4g requests/s could not be offered by this client (%s)", f.Rate, f.Above, n)
	}
	return fmt.Sprintf("Not decided: at least %.4g requests/s were sustained (%s)", f.Rate, n)
}

// unanswered is why a search that ended has no answer, or one that is this
// client's.
func unanswered(f *arrival.Found, err error) error {
	switch {
	case err != nil || f.Ended == arrival.Enclosed || f.Ended == arrival.AtMax:
		return nil
	case f.Ended == arrival.AtMin:
		return fmt.Errorf("no rate was sustained: lower -search-min, or the limits of -slo")
	case f.Ended == arrival.ClientBound:
		return fmt.Errorf("the search ended at this client's own limit, not at the server's")
	}
	return fmt.Errorf("the search was not decided in %d runs: raise -search-max-tries", f.Tries)
}

// root is the root of a run's random numbers. It is drawn and not mixed: of roots
// that differ as the streams of one root do, the requests of one run would be
// those of the next, one further on.
func root(of uint64, try int, s workload.Stream) uint64 {
	return workload.Rand(of, uint64(try), s).Uint64()
}
