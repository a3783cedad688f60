package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/metric"
)

// requireFlag are thresholds on the numbers of a benchmark.
type requireFlag struct{ list []threshold }

// A threshold is what one number must be.
type threshold struct {
	text  string // as it was given
	unit  string
	least bool // the value is the least that will do, else the most
	equal bool // the value itself will do
	value float64
}

func (r *requireFlag) String() string { return "" }

func (r *requireFlag) Set(s string) error {
	t, err := parseThreshold(s)
	if err == nil {
		r.list = append(r.list, t)
	}
	return err
}

// parseThreshold reads "UNIT<=VALUE" with one of <, <=, > and >=. A value of a
// unit that ends in ns may be a time, such as 500ms; else it is a number, with or
// without a "%" where the unit has one.
func parseThreshold(s string) (threshold, error) {
	t := threshold{text: s}
	at := strings.IndexAny(s, "<>")
	if at < 0 {
		return t, errors.New("want a unit, one of < <= > >=, and a value")
	}
	t.least = s[at] == '>'
	rest := s[at+1:]
	if t.equal = strings.HasPrefix(rest, "="); t.equal {
		rest = rest[1:]
	}
	t.unit, rest = strings.TrimSpace(s[:at]), strings.TrimSpace(rest)
	if !knownUnit(t.unit) {
		return t, fmt.Errorf("no unit is called %q; the units are %s", t.unit, strings.Join(allUnits(), ", "))
	}
	if strings.HasSuffix(t.unit, "-ns") {
		if d, err := time.ParseDuration(rest); err == nil {
			t.value = float64(d)
			return t, nil
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(rest, "%"), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return t, fmt.Errorf("%q is no number of the unit %s", rest, t.unit)
	}
	t.value = v
	return t, nil
}

func allUnits() []string { return metric.UnitNames() }

func knownUnit(name string) bool {
	for _, u := range allUnits() {
		if u == name {
			return true
		}
	}
	return false
}

func (t threshold) holds(v float64) bool {
	switch {
	case v == t.value:
		return t.equal
	case t.least:
		return v > t.value
	}
	return v < t.value
}

// check returns an error for each threshold that does not hold. A number that
// there is not cannot hold: a percentile of too few answers is none.
func (r *requireFlag) check(result *metric.Result) error {
	list, err := result.Metrics()
	if err != nil {
		return err
	}
	values := map[string]float64{}
	for _, m := range list {
		values[m.Unit] = m.Value
	}
	var errs []error
	for _, t := range r.list {
		v, ok := values[t.unit]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("-require %q: there is no %s: %s", t.text, t.unit, missing(t.unit, result)))
		case !t.holds(v):
			errs = append(errs, fmt.Errorf("-require %q: %s is %s", t.text, t.unit, inUnit(v, t.unit)))
		}
	}
	return errors.Join(errs...)
}

// inUnit is a number as a person reads it.
func inUnit(v float64, unit string) string {
	if strings.HasSuffix(unit, "-ns") {
		return time.Duration(v).String()
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// missing is why there is no number of a unit.
func missing(unit string, r *metric.Result) string {
	for name, p := range map[string]float64{"-p50-": 0.5, "-p90-": 0.9, "-p99-": 0.99} {
		if need := metric.Needed(p); strings.Contains(unit, name) && r.Counts.OK < need {
			return fmt.Sprintf("it takes %d answers, and there were %d", need, r.Counts.OK)
		}
	}
	return "nothing was measured of it; times between tokens need streamed answers, goodput needs limits"
}
