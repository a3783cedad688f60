package evaltest

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/gate"
)

// gateKnobs are the twins of the options of gates.
var gateKnobs = []knob{
	{name: "min-accuracy", usage: "least `share` of correct answers, or none", want: "a share between 0 and 1, or none", set: setMinAccuracy},
	shareKnob("min-groups", "least `share` of correct answers in each group, or none", func(s *settings, v *float64) { s.gate.MinGroups = v }, func(v *float64) error { return gate.Config{MinGroups: v}.Check() }),
	{name: "min-group", usage: "least `group=share` of correct answers in one group, or none", want: `group=share with a share from 0 to 1, a JSON object of several, or none`, set: setMinGroup},
	onOff("lower-bound", "hold minima against the lower end of the 95% interval", func(s *settings, on bool) { s.gate.LowerBound = on }),
	{name: "baseline", usage: "compare with the accepted run in this `file`, or none", want: "a file, or none", set: setBaseline},
	{name: "alpha", usage: "accepted `chance` of a false alarm", want: "a chance above 0 and below 0.5", set: setAlpha},
	shareKnob("max-drop", "largest drop of accuracy that passes, as a `share`, or none", func(s *settings, v *float64) { s.gate.Compare.MaxDrop = v }, func(v *float64) error { return gate.CompareOptions{MaxDrop: v}.Check() }),
	{name: "on-mismatch", usage: "`what` to do if the baseline was made otherwise: refuse or warn", want: "refuse or warn", set: setOnMismatch},
	number("confirm", "ask broken items so often again", 0, func(s *settings, n int) { s.confirm = n }),
	onOff("curtail", "end the run when no gate's decision can change", func(s *settings, on bool) { s.curtail = on }),
	onOff("fail-not-enough", "fail where a gate has not enough data", func(s *settings, on bool) { s.gate.FailNotEnough = on }),
	{name: "max-latency", usage: "longest latencies as `p99=5s`, commas between, or none", want: "percentiles with durations, such as p99=5s,p50=800ms, or none", set: setMaxLatency},
	shareKnob("require-agreement", "least agreement of the judge with people (`kappa`), or none", func(s *settings, v *float64) { s.agreement = v }, func(v *float64) error { return checkKappa(*v) }),
	onOff("update", "accept this run as the baseline", func(s *settings, on bool) { s.update = on }),
	onOff("plan", "print what the run would cost and show, and ask nobody", func(s *settings, on bool) { s.planning = on }),
}

// onOff is a knob that is on or off.
func onOff(name, usage string, set func(*settings, bool)) knob {
	return knob{name: name, usage: usage, want: "1 or 0", bare: true, set: func(s *settings, v string) error {
		on, err := strconv.ParseBool(v)
		if err != nil {
			return errKnob
		}
		set(s, on)
		return nil
	}}
}

// shareKnob is a knob that is a share or none.
func shareKnob(name, usage string, set func(*settings, *float64), check func(*float64) error) knob {
	return knob{name: name, usage: usage, want: "a share between 0 and 1, or none", set: func(s *settings, v string) error {
		if v == "none" {
			set(s, nil)
			return nil
		}
		share, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return errKnob
		}
		if err := check(&share); err != nil {
			return err
		}
		set(s, &share)
		return nil
	}}
}

func setMinAccuracy(s *settings, v string) error {
	if v == "none" {
		s.gate.MinAccuracy = nil
		return nil
	}
	share, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(share) {
		return errKnob
	}
	if err := (gate.Config{MinAccuracy: &share}).Check(); err != nil {
		return err
	}
	s.gate.MinAccuracy = &share
	return nil
}

func setBaseline(s *settings, v string) error {
	s.baseline, s.unbased = v, v == "none"
	if s.unbased {
		s.baseline = "" // and MaxDrop and Confirm mean nothing
	}
	return nil
}

func setAlpha(s *settings, v string) error {
	p, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return errKnob
	}
	return setAlphaTo(s, p)
}

func setOnMismatch(s *settings, v string) error {
	switch v {
	case "refuse":
		s.gate.Compare.OnMismatch = Refuse
	case "warn":
		s.gate.Compare.OnMismatch = Warn
	default:
		return errKnob
	}
	return nil
}

func setMinGroup(s *settings, v string) error {
	m := map[string]float64{}
	switch {
	case v == "none":
	case strings.HasPrefix(v, "{"):
		if json.Unmarshal([]byte(v), &m) != nil || len(m) == 0 {
			return errKnob
		}
	default:
		i := strings.LastIndexByte(v, '=')
		if i < 0 {
			return errKnob
		}
		share, err := strconv.ParseFloat(v[i+1:], 64)
		if err != nil {
			return errKnob
		}
		m[v[:i]] = share
	}
	if err := (gate.Config{MinGroup: m}).Check(); err != nil {
		return err
	}
	s.gate.MinGroup = m
	return nil
}

func setMaxLatency(s *settings, v string) error {
	if v == "none" {
		s.gate.MaxLatency = nil
		return nil
	}
	var list []gate.Percentile
	for part := range strings.SplitSeq(v, ",") {
		name, most, _ := strings.Cut(part, "=")
		percent, ok := new(big.Rat).SetString(strings.TrimPrefix(name, "p"))
		d, err := time.ParseDuration(most)
		if !strings.HasPrefix(name, "p") || !ok || err != nil {
			return errKnob
		}
		// The decimal that is written, not what dividing by 100 leaves of it.
		share, _ := percent.Quo(percent, big.NewRat(100, 1)).Float64()
		list = append(list, gate.Percentile{P: share, Max: d})
	}
	if err := (gate.Config{MaxLatency: list}).Check(); err != nil {
		return err
	}
	s.gate.MaxLatency = list
	return nil
}
