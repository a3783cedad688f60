package metric

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Metric is one number of a benchmark.
type Metric struct {
	// Unit is as testing.B.ReportMetric wants it, such as "ttft-p99-ns". Times
	// are in ns: benchstat shows those as seconds with a prefix.
	Unit  string
	Value float64 // finite
	// Better is "higher", "lower" or, of what is neither, "".
	Better string
}

// ErrNothing is wrapped by the error for a run of which there is nothing to
// report: a number of no answers would be compared with one of many.
var ErrNothing = errors.New("no request was answered")

// percentileUnits are the quantiles that a benchmark reports.
var percentileUnits = []struct {
	p    float64
	name string
}{{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}}

// clockGrain stands for a time of exactly 0, in ns: benchstat makes seconds of
// nanoseconds, but leaves a 0 as it is, in a table of its own.
const clockGrain = 1

// Metrics returns the result as numbers of a benchmark, in a fixed order. What
// is absent is left out, and so is a percentile of fewer than 1/(1-p) values:
// benchstat has no mark for it. A time of 0, which is below what the clock tells
// apart, is 1 ns. The error wraps [ErrNothing] and says why nothing was answered.
func (r *Result) Metrics() ([]Metric, error) {
	if r.Counts.OK == 0 {
		return nil, r.nothing()
	}
	var list []Metric
	r.each(func(unit string, f Figure, better string) {
		if v, ok := f.Get(); ok && !math.IsInf(v, 0) {
			if v == 0 && strings.HasSuffix(unit, "-ns") {
				v = clockGrain
			}
			list = append(list, Metric{unit, v, better})
		}
	})
	return list, nil
}

// each calls put for every number that a benchmark may have, absent ones too.
func (r *Result) each(put func(unit string, f Figure, better string)) {
	for _, d := range []struct {
		name Name
		unit string
	}{
		{TTFT, "ttft"}, {TTFO, "ttfo"}, {ResponseTTFT, "response-ttft"}, {TPOT, "tpot"}, {ITL, "itl"}, {ICL, "icl"},
		{E2E, "e2e"}, {ResponseE2E, "response-e2e"}, {Lag, "lag"},
	} {
		for _, p := range percentileUnits {
			if q := r.Dists[d.name].At(p.p); !q.Few {
				put(d.unit+"-"+p.name+"-ns", q.Value, "lower")
			}
		}
	}
	put("requests/s", r.Whole.RequestRate, "higher")
	put("output-tok/s", r.Whole.OutputRate, "higher")
	put("total-tok/s", r.Whole.TotalRate, "higher")
	put("steady-requests/s", r.Steady.RequestRate, "higher")
	put("steady-output-tok/s", r.Steady.OutputRate, "higher")
	put("user-tok/s", r.Dists[UserRate].At(0.5).Value, "higher")
	put("arrivals/s", r.Rates.Achieved, "")
	put("concurrency", r.Whole.Concurrency, "")
	put("cached-%", r.Tokens.CachedShare.times(100), "")
	put("ok-%", ratio(100*float64(r.Counts.OK), float64(r.Counts.OK+r.Counts.Failed+r.Counts.Dropped)), "higher")
	put("input-tok/req", r.Tokens.Input.over(r.Counts.OK), "")
	put("output-tok/req", Some(float64(r.Tokens.Output)).over(r.Counts.OK), "")
	if g := r.Goodput; g != nil {
		put("good-requests/s", g.PerSecond, "higher")
		put("goodput-%", g.Fraction.times(100), "higher")
	}
	if j := r.Jobs; j != nil {
		put("jobs/h", j.PerHour, "higher")
		put("job-ok-%", j.Success.times(100), "higher")
		put("job-p50-ns", j.Wall.At(0.5).Value, "lower")
	}
}

// AllUnits returns the metadata of every unit that a result may have, as [Units]
// does of a list: a benchmark prints it before it knows what it will measure.
func AllUnits() []string { return Units(every()) }

// UnitNames returns the names of all units that a result may have, in order.
func UnitNames() []string {
	var names []string
	for _, m := range every() {
		names = append(names, m.Unit)
	}
	return names
}

// every is the metrics that there may be, without values.
func every() (list []Metric) {
	r := &Result{Goodput: &Goodput{}, Jobs: &Jobs{}}
	r.each(func(unit string, _ Figure, better string) { list = append(list, Metric{Unit: unit, Better: better}) })
	return list
}

// over returns f/n.
func (f Figure) over(n int64) Figure {
	if !f.known {
		return f
	}
	return ratio(f.v, float64(n))
}

// nothing says why there is nothing to report.
func (r *Result) nothing() error {
	why := fmt.Sprintf("%d due, %d failed, %d dropped, %d unfinished", r.Counts.Due, r.Counts.Failed, r.Counts.Dropped, r.Counts.Incomplete)
	if len(r.Errors) > 0 {
		e := r.Errors[0]
		why += fmt.Sprintf("; most were %s", e.Class)
		if len(e.Examples) > 0 {
			why += ": " + e.Examples[0]
		}
	}
	return fmt.Errorf("metric: %w: %s", ErrNothing, why)
}

// Units returns the metrics' metadata as benchmark-format lines, such as
// "Unit ttft-p99-ns better=lower".
func Units(list []Metric) []string {
	var lines []string
	for _, m := range list {
		if line := fmt.Sprintf("Unit %s better=%s", m.Unit, m.Better); m.Better != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// WriteBench writes the result as a benchmark that benchstat reads: metadata
// of the units, the configuration as "key: value" lines, and one line named
// Benchmark<name>, whose iterations are the answers and whose values are
// [Result.Metrics] in full precision. Nothing is written if there is an error.
//
// In the name white space becomes "_", and it always ends in "/load": benchstat
// takes digits behind a last "-" for a number of processors, and puts two runs
// side by side only if the rest of their names is the same. Keys of the
// configuration begin with a lower-case letter and have no upper-case letter,
// white space or colon; values are one line.
func (r *Result) WriteBench(w io.Writer, name string, config map[string]string) error {
	list, err := r.Metrics()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, line := range Units(list) {
		b.WriteString(line + "\n")
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if err := checkConfig(key, config[key]); err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s: %s\n", key, config[key])
	}
	if err := CheckBenchName(name); err != nil {
		return err
	}
	fmt.Fprintf(&b, "Benchmark%s/load\t%d", strings.Map(nameRune, name), r.Counts.OK)
	for _, m := range list {
		fmt.Fprintf(&b, "\t%s %s", strconv.FormatFloat(m.Value, 'g', -1, 64), m.Unit)
	}
	if _, err := io.WriteString(w, b.String()+"\n"); err != nil {
		return fmt.Errorf("metric: writing benchmark lines: %w", err)
	}
	return nil
}

// CheckBenchName returns an error for a name that [Result.WriteBench] refuses, so
// that it can be found before anything is measured: one that does not begin with
// an upper-case letter, which no benchmark may.
func CheckBenchName(name string) error {
	if name == "" || !unicode.IsUpper([]rune(name)[0]) {
		return fmt.Errorf("metric: benchmark name %q: want it to begin with an upper-case letter, such as Load/model=x", name)
	}
	return nil
}

func nameRune(r rune) rune {
	if unicode.IsSpace(r) || !unicode.IsPrint(r) {
		return '_'
	}
	return r
}

func checkConfig(key, value string) error {
	bad := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsSpace(r) || r == ':' || !unicode.IsPrint(r) }
	if key == "" || !unicode.IsLower([]rune(key)[0]) || strings.ContainsFunc(key, bad) {
		return fmt.Errorf("metric: configuration key %q: want a lower-case word such as model", key)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("metric: configuration %s: value %q: want one line of printable text", key, value)
	}
	return nil
}
