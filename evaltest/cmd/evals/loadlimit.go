package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/metric"
)

// limitFlag moves the limits beyond which a run is not valid.
type limitFlag struct {
	text   []string
	limits metric.Limits
}

const limitNames = "lag-p99, lag-max, wake-up, cpu, gc-pause, achieved, unfinished, cached"

func (l *limitFlag) declare(fs *flag.FlagSet) {
	fs.Var(l, "limit", "move a limit beyond which a run is not valid, or switch it off, as `NAME=VALUE`; may be given several times. Names are "+limitNames+": times such as lag-p99=50ms, shares such as cpu=0.95, or cpu=off")
}

func (l *limitFlag) String() string { return strings.Join(l.text, " ") }

// Set reads NAME=VALUE: a time for a lag, a share from 0 to 1 for the others, or
// off.
func (l *limitFlag) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("want NAME=VALUE, such as lag-p99=50ms or cpu=off")
	}
	times := map[string]*time.Duration{"lag-p99": &l.limits.LagP99, "lag-max": &l.limits.LagMax, "wake-up": &l.limits.Wakeup}
	shares := map[string]*float64{"cpu": &l.limits.CPU, "gc-pause": &l.limits.GCPause, "achieved": &l.limits.Achieved, "unfinished": &l.limits.Unfinished, "cached": &l.limits.Cached}
	t, share := times[name], shares[name]
	switch {
	case t == nil && share == nil:
		return fmt.Errorf("no limit is called %q; they are %s", name, limitNames)
	case value == "off" && t != nil:
		*t = -1
	case value == "off":
		*share = -1
	case t != nil:
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is no time above 0", value)
		}
		*t = d
	default:
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v > 0 && v <= 1) {
			return fmt.Errorf("%q is no share above 0 and at most 1", value)
		}
		*share = v
	}
	l.text = append(l.text, s)
	return nil
}
