package evaltest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/gate"
)

// Baseline is the file of the accepted run that this one is compared with, item
// by item: more items broke than were fixed, beyond chance, and the test fails.
// It belongs under testdata and into version control; with a name that ends in .gz
// it is compressed. go test -evaltest.update (EVALTEST_UPDATE=1) writes it from a
// whole run without errors, and says what changed; such a run is not compared.
// With -evaltest.resume=JOURNAL it accepts a run that is over, without asking
// again. Each test needs a baseline of its own. Runs that were not made in the same way
// are not compared unless [OnMismatch] says so, which is told before anything
// is asked, unless it is the model that answered.
//
// A benchmark does not compare: each -count would test anew, and chance has as
// many more tries. A run of another part of the dataset, by -run, ids, a limit
// of the command line, compares nothing either.
//
// With a Baseline an item that is not correct ends as skipped, as with
// [MinAccuracy]. Default: none. EVALTEST_BASELINE, -evaltest.baseline; there, none takes it
// back.
func Baseline(path string) Option {
	return optionFunc(func(s *settings) {
		if path == "" {
			s.refuse(`Baseline(""): want a file, such as "testdata/support.baseline.jsonl.gz"`)
		}
		s.baseline = path
	})
}

// Alpha is how often the comparison with the [Baseline] may fail a run of an
// equal model, above 0 and below 0.5; the default is 0.05. EVALTEST_ALPHA,
// -evaltest.alpha.
func Alpha(p float64) Option {
	return optionFunc(func(s *settings) {
		if err := setAlphaTo(s, p); err != nil {
			s.refuse(fmt.Sprintf("Alpha(%v): %v", p, err))
		}
	})
}

func setAlphaTo(s *settings, p float64) error {
	err := gate.CompareOptions{Alpha: p}.Check()
	if p == 0 {
		err = errors.New("want a chance above 0 and below 0.5, such as 0.05")
	}
	if err == nil {
		s.gate.Compare.Alpha = p
	}
	return err
}

// MaxDrop is the largest drop of accuracy since the [Baseline] that passes,
// whether it is significant or not, 0 to 1: 0.02 is 2 points. Without a baseline
// it is refused. Default: none. EVALTEST_MAX_DROP, -evaltest.max-drop; there, none takes it back.
func MaxDrop(share float64) Option {
	return optionFunc(func(s *settings) {
		if err := (gate.CompareOptions{MaxDrop: &share}).Check(); err != nil {
			s.refuse(fmt.Sprintf("MaxDrop(%v): %v", share, err))
			return
		}
		s.gate.Compare.MaxDrop = &share
	})
}

// What [OnMismatch] does.
const (
	Refuse = gate.Refuse // do not compare, and fail: the default
	Warn   = gate.Warn   // compare, and say loudly in what the runs differ
)

// OnMismatch says what becomes of a comparison with a [Baseline] that was not
// made as this run is: of another dataset, strategy, prompt, model, grader,
// judge, other numbers of samples or attempts, or by another version of this
// library. Either way the fields are named with their values. The default is
// [Refuse].
// EVALTEST_ON_MISMATCH, -evaltest.on-mismatch: refuse or warn.
func OnMismatch(p gate.Policy) Option {
	return optionFunc(func(s *settings) {
		if err := (gate.CompareOptions{OnMismatch: p}).Check(); err != nil {
			s.refuse(fmt.Sprintf("OnMismatch(%q): %v", p, err))
			return
		}
		s.gate.Compare.OnMismatch = p
	})
}

// Comparing says more of how the run is compared with its [Baseline]: exactly,
// item by item although they have groups, each group, scores, the drop that the
// dataset must be able to show. The fields that have options of their own
// (Alpha, MaxDrop, OnMismatch) and Curtailed must be zero. In code alone; default:
// the zero value.
func Comparing(o gate.CompareOptions) Option {
	return optionFunc(func(s *settings) {
		if o.Alpha != 0 || o.MaxDrop != nil || o.OnMismatch != "" || o.Curtailed {
			s.refuse("Comparing with Alpha, MaxDrop, OnMismatch or Curtailed set: give the options of these names")
			return
		}
		if err := o.Check(); err != nil {
			s.refuse(fmt.Sprintf("Comparing: %v", err))
			return
		}
		c := &s.gate.Compare
		o.Alpha, o.MaxDrop, o.OnMismatch = c.Alpha, c.MaxDrop, c.OnMismatch
		*c = o
	})
}

// Confirm asks the items that broke k more times, at least once, before a drop
// since the [Baseline] fails the test: one that is then correct in most of all
// its answers was flaky, and the test must fire again without it. It makes
// false alarms rarer, never more frequent. The further answers are subtests and
// records of their own, in which they are samples beyond the run's. They are
// paid like all others, and no part of the accuracy. Without a baseline it is
// refused. Default: nobody is asked. EVALTEST_CONFIRM,
// -evaltest.confirm; there, 0 asks nobody.
func Confirm(k int) Option { return atLeast("Confirm", k, 1, func(s *settings) { s.confirm = k }) }

// Curtail ends the run when no answer that is still to come can change what a
// gate decides. That is arithmetic, not a forecast: the gates decide what they
// would have decided, but for [MaxErrored] and [MaxUngraded]: what is not asked
// ends in no error. A drop that [Confirm] is to confirm is not settled. Items that
// were not asked are told, and do not fail the test. It needs a gate of accuracy,
// and is not for a run whose numbers are wanted whole: a benchmark, a run of a part
// of the dataset and one that writes its baseline are never curtailed. Default: off.
// EVALTEST_CURTAIL, -evaltest.curtail; there, 0 takes it back.
func Curtail() Option { return optionFunc(func(s *settings) { s.curtail = true }) }

// LowerBound holds [MinAccuracy], [MinGroups] and [MinGroup] against the lower
// end of the 95% interval: a run passes if the model is surely that good, and
// not because it was lucky. [RequireAgreement] is held against it too. Default: the
// share itself. EVALTEST_LOWER_BOUND, -evaltest.lower-bound; there, 0 takes it back.
func LowerBound() Option { return optionFunc(func(s *settings) { s.gate.LowerBound = true }) }

// MinGroups is the least share of correct answers, 0 to 1, in every group of
// items that has a name. Default: none. EVALTEST_MIN_GROUPS, -evaltest.min-groups;
// there, none takes it back.
func MinGroups(share float64) Option {
	return optionFunc(func(s *settings) {
		if err := (gate.Config{MinGroups: &share}).Check(); err != nil {
			s.refuse(fmt.Sprintf("MinGroups(%v): %v", share, err))
			return
		}
		s.gate.MinGroups = &share
	})
}

// MinGroup is the same of one group, 0 to 1, and goes before [MinGroups]; "" are the
// items without a group. A group that the run does not have fails. Default: none.
// EVALTEST_MIN_GROUP and -evaltest.min-group take group=share, or a JSON object
// of several, instead of all in the options; there, none takes all back.
func MinGroup(name string, share float64) Option {
	return optionFunc(func(s *settings) {
		if err := (gate.Config{MinGroup: map[string]float64{name: share}}).Check(); err != nil {
			s.refuse(fmt.Sprintf("MinGroup(%q, %v): %v", name, share, err))
			return
		}
		m := maps.Clone(s.gate.MinGroup)
		if m == nil {
			m = map[string]float64{}
		}
		m[name] = share
		s.gate.MinGroup = m
	})
}

// MaxLatency is the longest that the model may take, above 0, for a share of the
// answers, above 0 and at most 1: MaxLatency(0.99, 5*time.Second) is a p99 of 5
// seconds. It may be given for several shares. It also holds for a part of the
// dataset. Default: none. EVALTEST_MAX_LATENCY and -evaltest.max-latency take p99=5s, or several with commas between, instead
// of all in the options; there, none takes all back.
func MaxLatency(share float64, most time.Duration) Option {
	return optionFunc(func(s *settings) {
		l := gate.Percentile{P: share, Max: most}
		if err := (gate.Config{MaxLatency: []gate.Percentile{l}}).Check(); err != nil {
			s.refuse(fmt.Sprintf("MaxLatency(%v, %v): %v", share, most, err))
			return
		}
		list := slices.DeleteFunc(slices.Clone(s.gate.MaxLatency), func(o gate.Percentile) bool { return o.P == share })
		s.gate.MaxLatency = append(list, l)
	})
}

// FailNotEnough makes a gate fail that has not enough data to decide on. By
// default it says so and lets the test pass: that a dataset is too small is no
// fault of the model. Of a test that passes go test shows nothing without -v, so it
// is said on the terminal too, if there is one; where nobody looks, this option
// makes it seen. EVALTEST_FAIL_NOT_ENOUGH, -evaltest.fail-not-enough; there,
// 0 takes it back.
func FailNotEnough() Option { return optionFunc(func(s *settings) { s.gate.FailNotEnough = true }) }

// gated reports whether a gate of accuracy decides, so that an item that is not
// correct is none of its own.
func (s *settings) gated() bool {
	g := &s.gate
	return g.MinAccuracy != nil || g.MinGroups != nil || len(g.MinGroup) > 0 || s.baseline != ""
}

// checkGates reports gates that contradict each other.
func (s *settings) checkGates(refuse func(format string, args ...any)) {
	c := &s.gate.Compare
	if s.baseline == "" && !s.unbased {
		for _, o := range []struct {
			name string
			set  bool
		}{{"MaxDrop", c.MaxDrop != nil}, {"Confirm", s.confirm > 0}} {
			if o.set {
				refuse("%s without a Baseline: there is nothing to compare with; add evaltest.Baseline", o.name)
			}
		}
	}
	if s.curtail && !s.gated() {
		refuse("Curtail without MinAccuracy, MinGroups or Baseline: every item is an assertion then, and each answer decides; add a gate")
	}
	if s.baseline != "" && s.samples > gate.MaxSamples {
		refuse("Baseline with Samples(%d): a baseline holds at most %d answers to an item", s.samples, gate.MaxSamples)
	}
	if err := s.gate.Check(); err != nil {
		refuse("%v", err)
	}
	s.checkCalibration(refuse)
	if s.update && (s.failed || len(s.ids) > 0) {
		refuse("-evaltest.update with Failed or IDs: a baseline is of the whole dataset; leave them away")
	}
}

// gateOptions notes the gates in a journal's header.
func (s *settings) gateOptions(options map[string]string) {
	share := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	put := func(name string, set bool, value string) {
		if set {
			options[name] = value
		}
	}
	shared := func(name string, v *float64) {
		if v != nil {
			options[name] = share(*v)
		}
	}
	g := &s.gate
	options["max-errored"], options["max-ungraded"] = strconv.Itoa(g.MaxErrored), strconv.Itoa(g.MaxUngraded)
	shared("min-accuracy", g.MinAccuracy)
	shared("min-groups", g.MinGroups)
	shared("max-drop", g.Compare.MaxDrop)
	put("lower-bound", g.LowerBound, "on")
	put("baseline", s.baseline != "", s.baseline)
	put("alpha", g.Compare.Alpha != 0, share(g.Compare.Alpha))
	put("on-mismatch", g.Compare.OnMismatch != "", string(g.Compare.OnMismatch))
	shared("require-agreement", s.agreement)
	put("confirm", s.confirm > 0, strconv.Itoa(s.confirm))
	put("curtail", s.curtail, "on")
	put("fail-not-enough", g.FailNotEnough, "on")
	var list []string
	for _, name := range slices.Sorted(maps.Keys(g.MinGroup)) {
		list = append(list, strconv.Quote(name)+"="+share(g.MinGroup[name]))
	}
	put("min-group", len(list) > 0, strings.Join(list, ", "))
	list = nil
	for _, l := range g.MaxLatency {
		list = append(list, fmt.Sprintf("p%s=%v", share(100*l.P), l.Max))
	}
	put("max-latency", len(list) > 0, strings.Join(list, ", "))
}
