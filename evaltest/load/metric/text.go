package metric

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the result for people: the verdict first, then what was
// asked and what came, latencies as a table, and the errors. A percentile of
// too few values is marked with ~; absent numbers are "-".
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	r.textVerdict(&b)
	r.textCounts(&b)
	r.textRates(&b)
	r.textLatency(&b)
	r.textTokens(&b)
	r.textGoodput(&b)
	r.textJobs(&b)
	textBuckets(&b, "input tokens", r.Contexts)
	textBuckets(&b, "turn", r.Turns)
	r.textErrors(&b)
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "note: %s\n", warning)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("metric: writing the summary: %w", err)
	}
	return nil
}

func (r *Result) textVerdict(b *strings.Builder) {
	broken := r.Validity.Broken()
	if len(broken) == 0 {
		fmt.Fprintf(b, "VALID: %d checks held", r.Validity.tally(Passed))
		if n := r.Validity.tally(Unmeasured); n > 0 {
			fmt.Fprintf(b, ", %d were not measured (%s)", n, strings.Join(r.Validity.named(Unmeasured), ", "))
		}
		if n := r.Validity.tally(TooFew); n > 0 {
			fmt.Fprintf(b, ", %d had too few arrivals to tell (%s)", n, strings.Join(r.Validity.named(TooFew), ", "))
		}
		b.WriteString("\n")
		return
	}
	b.WriteString("NOT VALID: these numbers are not the server's\n")
	for _, c := range broken {
		fmt.Fprintf(b, "  %s is %s, limit %s: %s\n", c.Name, quantity(c.Figure, c.Unit), quantity(c.Limit, c.Unit), c.Why)
	}
}

func (v Verdict) tally(s State) int { return len(v.named(s)) }

func (v Verdict) named(s State) []string {
	var names []string
	for _, c := range v.Checks {
		if c.State == s {
			names = append(names, c.Name)
		}
	}
	return names
}

func (r *Result) textCounts(b *strings.Builder) {
	c := r.Counts
	fmt.Fprintf(b, "requests: %d due = %d answered + %d failed + %d unfinished + %d dropped", c.Due, c.OK, c.Failed, c.Incomplete, c.Dropped)
	if c.Warmup+c.Cooldown > 0 {
		fmt.Fprintf(b, "; %d in warm-up and %d in cool-down not counted", c.Warmup, c.Cooldown)
	}
	if c.Retries > 0 {
		fmt.Fprintf(b, "; failed tries that were followed by another: %d", c.Retries)
	}
	b.WriteString("\n")
	switch r.Loop {
	case Open:
		fmt.Fprintf(b, "open loop: asked %s/s, scheduled %s/s, sent %s/s; %d late\n",
			number(r.Rates.Asked), number(r.Rates.Offered), number(r.Rates.Achieved), c.Late)
	case Closed:
		fmt.Fprintf(b, "closed loop: asked %s in flight; queueing that the users did not cause is not seen\n", number(r.Rates.AskedConcurrency))
	case Sessions:
		fmt.Fprintf(b, "sessions: asked %s at a time; %d turns late\n", number(r.Rates.AskedConcurrency), c.Late)
	}
}

func (r *Result) textRates(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tseconds\trequests/s\toutput tok/s\ttotal tok/s\tin flight, mean\tmost\t")
	for _, w := range []struct {
		name string
		Window
	}{{"whole run", r.Whole}, {"steady", r.Steady}} {
		if w.Absent != "" {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t-\t\n", w.name)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", w.name, number(Some(w.Length().Seconds())), number(w.RequestRate),
			number(w.OutputRate), number(w.TotalRate), number(w.Concurrency), w.InFlight)
	}
	t.Flush()
	fmt.Fprintf(b, "steady: %s\n", r.Steady.Rule)
}

func (r *Result) textLatency(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\tn\tmean\tsd\tmin")
	for _, q := range quantiles {
		fmt.Fprintf(t, "\tp%s", strconv.FormatFloat(100*q, 'f', -1, 64))
	}
	fmt.Fprintln(t, "\tmax\t")
	row := func(label string, d Dist) {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s", label, d.N, nanos(d.Mean), nanos(d.SD), nanos(d.Min))
		for _, q := range d.Quantiles {
			mark := ""
			if q.Few {
				mark = "~"
			}
			fmt.Fprintf(t, "\t%s%s", mark, nanos(q.Value))
		}
		fmt.Fprintf(t, "\t%s\t\n", nanos(d.Max))
	}
	for _, n := range []Name{TTFT, TTFO, ResponseTTFT, TPOT, ITL, ICL, NTPOT, E2E, ResponseE2E, Answer, Lag, Queue, Retry, Connection} {
		if d, ok := r.Dists[n]; ok {
			row(strings.TrimSuffix(string(n), "_ns"), d)
		}
	}
	for _, n := range []Name{ResponseTTFT, ResponseE2E} {
		if d, ok := r.ErrorsAsInfinite[n]; ok {
			row(strings.TrimSuffix(string(n), "_ns")+", errors as inf", d)
		}
	}
	t.Flush()
}

func (r *Result) textTokens(b *strings.Builder) {
	t := r.Tokens
	var sources []string
	for s, n := range r.Tokens.Sources {
		sources = append(sources, fmt.Sprintf("%s %d", s, n))
	}
	slices.Sort(sources)
	fmt.Fprintf(b, "tokens: %s in, %d out, counted by %s; user rate %s tok/s at the median\n",
		number(t.Input), t.Output, strings.Join(sources, ", "), number(r.Dists[UserRate].At(0.5).Value))
	fmt.Fprintf(b, "cached input: %s by the server, %d at best\n", number(t.Cached), t.PossibleCached)
	l := r.Lengths
	if l.InputAsked+l.OutputAsked > 0 {
		fmt.Fprintf(b, "lengths: %d of %d inputs and %d of %d outputs off the asked one by more than is tolerated\n", l.Input, l.InputAsked, l.Output, l.OutputAsked)
	}
	if len(r.Finishes) > 0 {
		var words []string
		for _, w := range r.Finishes {
			if w.Text == "" {
				w.Text = "(none)"
			}
			words = append(words, fmt.Sprintf("%s %d", w.Text, w.Count))
		}
		fmt.Fprintf(b, "finish reasons: %s\n", strings.Join(words, ", "))
	}
}

func (r *Result) textGoodput(b *strings.Builder) {
	g := r.Goodput
	if g == nil {
		return
	}
	var limits []string
	for _, l := range []struct {
		name  string
		limit time.Duration
		share Figure
	}{{"TTFT", g.SLO.TTFT, g.WithinTTFT}, {"TPOT", g.SLO.TPOT, g.WithinTPOT}, {"E2E", g.SLO.E2E, g.WithinE2E}} {
		if l.limit > 0 {
			limits = append(limits, fmt.Sprintf("%s <= %v: %s", l.name, l.limit, percent(l.share)))
		}
	}
	fmt.Fprintf(b, "goodput: %s/s, %s of due requests", number(g.PerSecond), percent(g.Fraction))
	if g.Undecided > 0 {
		fmt.Fprintf(b, " (%s if all %d unfinished are bad)", percent(g.FractionLow), g.Undecided)
	}
	fmt.Fprintf(b, "; %s", strings.Join(limits, ", "))
	if g.Met != nil {
		word := "missed"
		if *g.Met {
			word = "met"
		}
		fmt.Fprintf(b, "; %s %s: %s", g.SLO.Name, percent(Some(g.SLO.Share)), word)
	}
	b.WriteString("\n")
}

func (r *Result) textJobs(b *strings.Builder) {
	j := r.Jobs
	if j == nil {
		return
	}
	fmt.Fprintf(b, "jobs: %d = %d completed + %d failed + %d unfinished; %s/h, success %s\n",
		j.Total, j.Completed, j.Failed, j.Canceled, number(j.PerHour), percent(j.Success))
	fmt.Fprintf(b, "a job, mean: %s = model %s + tools %s + client lag %s + other %s; waited %s for a slot\n", nanos(j.Wall.Mean),
		nanos(j.ModelTime.Mean), nanos(j.ToolTime.Mean), nanos(j.ClientLag.Mean), nanos(j.Other.Mean), nanos(j.QueueWait.Mean))
}

// textBuckets writes a table by turn or by input length, if there is more than
// one row to compare.
func textBuckets(b *strings.Builder, label string, list []Bucket) {
	if len(list) < 2 {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s\tn\twait p50\tttft p50\tttft p90\te2e p50\te2e p90\tcached\t\n", label)
	for _, row := range list {
		name := strconv.FormatInt(row.From, 10)
		if row.To > row.From {
			name += "-" + strconv.FormatInt(row.To, 10)
		}
		fmt.Fprintf(t, "%s\t%d", name, row.N)
		for _, q := range []Quantile{row.Wait.At(0.5), row.TTFT.At(0.5), row.TTFT.At(0.9), row.E2E.At(0.5), row.E2E.At(0.9)} {
			mark := ""
			if q.Few {
				mark = "~"
			}
			fmt.Fprintf(t, "\t%s%s", mark, nanos(q.Value))
		}
		fmt.Fprintf(t, "\t%s\t\n", percent(row.CachedShare))
	}
	t.Flush()
}

func (r *Result) textErrors(b *strings.Builder) {
	for _, l := range []struct {
		label string
		list  []ErrorClass
	}{{"failed", r.Errors}, {"tried again", r.Retried}} {
		for _, e := range l.list {
			fmt.Fprintf(b, "%s: %d %s\n", l.label, e.Count, e.Class)
			for _, example := range e.Examples {
				fmt.Fprintf(b, "  such as: %s\n", example)
			}
		}
	}
}

// number writes a figure with four significant digits.
func number(f Figure) string {
	v, ok := f.Get()
	switch {
	case !ok:
		return "-"
	case math.IsInf(v, 0):
		return "inf"
	case math.Abs(v) >= 1000 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func percent(f Figure) string {
	if !f.Known() {
		return "-"
	}
	return number(f.times(100)) + " %"
}

// nanos writes a time with its unit.
func nanos(f Figure) string {
	v, ok := f.Get()
	switch {
	case !ok:
		return "-"
	case v == 0:
		return "0"
	case math.IsInf(v, 0):
		return "inf"
	}
	for _, u := range []struct {
		name string
		size float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if math.Abs(v) >= u.size*0.99995 {
			return number(Some(v/u.size)) + u.name
		}
	}
	return number(f) + "ns"
}

func quantity(f Figure, unit string) string {
	switch unit {
	case "ns":
		return nanos(f)
	case "1":
		return number(f)
	}
	return number(f) + " " + unit
}
