package gate

import (
	"fmt"
	"math/big"
	"sort"
	"strings"

	"github.com/goevals/evals/grade/stat"
)

// Counts are what a run came to. An answer is one item's sample; without
// samples there are as many answers as items.
type Counts struct {
	// Total is how many answers the run owed. Every one is in it: errored and
	// ungraded answers too, and those that never ran.
	Total int
	// Items is how many different items they belong to; 0 means Total. The
	// interval is as wide as Items trials make it.
	Items int
	// Correct, Errored, Ungraded and NotRun are how many answers had that
	// outcome. The rest of Total had others, none of them correct.
	Correct, Errored, Ungraded, NotRun int
}

// check panics on counts that no run can have.
func (c Counts) check() {
	if c.Total < 0 || c.Items < 0 || c.Items > c.Total || c.Correct < 0 || c.Errored < 0 || c.Ungraded < 0 || c.NotRun < 0 ||
		c.Correct+c.Errored+c.Ungraded+c.NotRun > c.Total {
		panic(fmt.Sprintf("gate: impossible counts %+v", c))
	}
}

// Interval is the 95% interval around the accuracy (see [stat.WilsonItems]).
func (c Counts) Interval() stat.Interval {
	return stat.WilsonItems(c.Correct, c.Total, c.items(), Level)
}

func (c Counts) items() int {
	if c.Items == 0 {
		return c.Total
	}
	return c.Items
}

// Level is the confidence of the interval that decisions print.
const Level = 0.95

// A Status is what a gate decided.
type Status string

// The statuses.
const (
	Passed       Status = "passed"
	Failed       Status = "failed"
	NotEvaluated Status = "not_evaluated" // the run is not the one that the gate is about
	// NotEnoughData is a gate that cannot see what it is there for. It does not
	// fail the run unless [Config.FailNotEnough] is set, but it has not passed.
	NotEnoughData Status = "not_enough_data"
)

// The names of gates. Items, Complete and Answered always hold and speak up
// only to fail; the others are configured.
const (
	MinAccuracy = "MinAccuracy"
	MinGroup    = "MinGroup"
	MaxErrored  = "MaxErrored"
	MaxUngraded = "MaxUngraded"
	MaxLatency  = "MaxLatency"
	NoDrop      = "Baseline" // no drop since the baseline, by test
	MaxDrop     = "MaxDrop"  // no drop of more than so many points
	Items       = "Items"    // at least one item
	Complete    = "Complete" // no item that was not run
	Answered    = "Answered" // at least one answer that is not an error
)

// A Decision is what one gate decided, and on what.
type Decision struct {
	Gate   string `json:"gate"` // its name, such as MinAccuracy
	Status Status `json:"status"`
	// Text says what was decided on in one line without the gate's name: the
	// numbers, the limit and what would pass. Text from outside (ids, groups,
	// models) is quoted, cut, and without anything that a terminal obeys.
	Text string `json:"text"`
}

// String is the decision in one line: "MinAccuracy failed: accuracy …".
func (d Decision) String() string {
	return d.Gate + " " + strings.ReplaceAll(string(d.Status), "_", " ") + ": " + d.Text
}

// AnyFailed reports whether one of the decisions is that the run fails.
func AnyFailed(ds []Decision) bool {
	for _, d := range ds {
		if d.Status == Failed {
			return true
		}
	}
	return false
}

// Evaluate is [Decide] for gates that need the counts only.
func Evaluate(c Counts, cfg Config, narrowed bool) []Decision {
	return Decide(Evidence{Counts: c, Narrowed: narrowed}, cfg)
}

// Decide holds the run against every gate. If it was narrowed (by -run, by ids,
// failed items first), the gates of accuracy are not evaluated, because they
// were accepted for the whole dataset: MinAccuracy, MinGroup, Baseline and
// MaxDrop. The order of decisions is fixed. An empty run fails, and so does one
// with items that never ran, or in which every answer is an error.
//
// It panics on a config that [Config.Check] refuses, on counts that contradict
// each other, and if there is a baseline but neither Run nor Comparison.
func Decide(e Evidence, cfg Config) []Decision {
	if err := cfg.Check(); err != nil {
		panic(err)
	}
	ds := always(e)
	if cfg.MinAccuracy != nil {
		ds = append(ds, minAccuracy(e.Counts, cfg, e.Narrowed))
	}
	ds = append(ds, minGroups(e, cfg)...)
	ds = append(ds, sinceBaseline(e, cfg)...)
	ds = append(ds,
		atMost(MaxErrored, "errored", e.Counts.Errored, cfg.MaxErrored, e.Counts),
		atMost(MaxUngraded, "ungraded", e.Counts.Ungraded, cfg.MaxUngraded, e.Counts))
	for _, l := range cfg.MaxLatency {
		over, at := e.at(l)
		ds = append(ds, l.decide(over, len(e.Latencies), at))
	}
	for i := range ds {
		if cfg.FailNotEnough && ds[i].Status == NotEnoughData {
			ds[i].Status, ds[i].Text = Failed, "not enough data: "+ds[i].Text
		}
	}
	return ds
}

// always are the gates that hold without being configured.
func always(e Evidence) []Decision {
	c := e.Counts
	c.check()
	var ds []Decision
	if c.Total == 0 {
		ds = append(ds, Decision{Items, Failed, "no item was run: nothing was shown; check the dataset, the limit, the filter and the ids"})
	}
	if c.NotRun > 0 && !e.Curtailed {
		todo := "resume the run to finish it"
		if e.Final {
			todo = "it has to run anew"
		}
		ds = append(ds, Decision{Complete, Failed, fmt.Sprintf("%d of %s never ran; %s", c.NotRun, c.answers(), todo)})
	}
	if c.Total > 0 && c.Errored > 0 && c.Errored+c.NotRun == c.Total {
		ran := "the only answer"
		if c.Errored > 1 {
			ran = fmt.Sprintf("all %d answers", c.Errored)
		}
		ds = append(ds, Decision{Answered, Failed, ran + " that ran ended in an error: the model was not reached or could not be used"})
	}
	return ds
}

// answers is Total with its noun.
func (c Counts) answers() string {
	if c.Items != 0 && c.Items != c.Total {
		return fmt.Sprintf("%s to %s", plural(c.Total, "answer"), plural(c.Items, "item"))
	}
	return plural(c.Total, "item")
}

func minAccuracy(c Counts, cfg Config, narrowed bool) Decision {
	v := *cfg.MinAccuracy
	want := percentOf(v)
	if narrowed {
		return Decision{MinAccuracy, NotEvaluated, fmt.Sprintf("at least %s is required of the whole dataset, and only part of it was run", want)}
	}
	if c.Total == 0 {
		return Decision{MinAccuracy, Failed, fmt.Sprintf("no accuracy without items; at least %s is required", want)}
	}
	if cfg.LowerBound {
		return lowerBound(c, v)
	}
	need := needed(v, c.Total)
	got := fmt.Sprintf("accuracy %s (%d of %s correct; 95%% interval %s)", distinct(c.Correct, c.Total, v), c.Correct, c.answers(), c.Interval())
	if c.Correct >= need {
		return Decision{MinAccuracy, Passed, fmt.Sprintf("%s is at least the %s required; %s to spare", got, want, plural(c.Correct-need, "correct answer"))}
	}
	return Decision{MinAccuracy, Failed, fmt.Sprintf("%s is below the %s required; %s would pass", got, want, more(need-c.Correct))}
}

// lowerBound holds the lower end of the interval against v.
func lowerBound(c Counts, v float64) Decision {
	reaches := func(correct int) bool {
		d := c
		d.Correct = correct
		return d.Interval().Lo >= v
	}
	need := sort.Search(c.Total, reaches) // the lower end rises with the number
	got := fmt.Sprintf("the 95%% interval %s of the accuracy (%d of %s correct)", c.Interval(), c.Correct, c.answers())
	want := percentOf(v)
	switch {
	case reaches(c.Correct):
		return Decision{MinAccuracy, Passed, fmt.Sprintf("%s starts at or above the %s required; %s to spare", got, want, plural(c.Correct-need, "correct answer"))}
	case !reaches(c.Total):
		return Decision{MinAccuracy, Failed, fmt.Sprintf("%s starts below the %s required; not even %s would show that, %d items all correct would",
			got, want, plural(c.Total, "correct answer"), allCorrect(v))}
	}
	return Decision{MinAccuracy, Failed, fmt.Sprintf("%s starts below the %s required; %s would pass", got, want, more(need-c.Correct))}
}

// allCorrect is how many items, all correct, have an interval that starts at v.
func allCorrect(v float64) int {
	return sort.Search(1<<40, func(n int) bool { return stat.Wilson(n, n, Level).Lo >= v })
}

// distinct prints the accuracy with as many decimals as show on which side of
// v it lies: never "75.0% is below the 75% required".
func distinct(part, whole int, v float64) string {
	acc := big.NewRat(int64(part), int64(whole))
	limit := threshold(v)
	text := stat.Percent(part, whole)
	percent := new(big.Rat).Mul(acc, big.NewRat(100, 1))
	side := acc.Cmp(limit)
	for decimals := 2; decimals <= 20; decimals++ {
		shown, _ := new(big.Rat).SetString(text[:len(text)-1])
		shown.Quo(shown, big.NewRat(100, 1))
		if s := shown.Cmp(limit); side >= 0 && s >= 0 || side < 0 && s < 0 {
			break
		}
		text = percent.FloatString(decimals) + "%"
	}
	return text
}

func percentOf(v float64) string {
	r, _ := exact(v)
	return digits(r.Mul(r, big.NewRat(100, 1))) + "%"
}

func atMost(gate, what string, got, limit int, c Counts) Decision {
	text := fmt.Sprintf("%d of %s %s, at most %d allowed", got, c.answers(), what, limit)
	if got <= limit {
		return Decision{gate, Passed, text}
	}
	return Decision{gate, Failed, text + fmt.Sprintf("; %d too many", got-limit)}
}

func more(n int) string { return fmt.Sprintf("%d more correct %s", n, noun(n, "answer")) }

func plural(n int, word string) string { return fmt.Sprintf("%d %s", n, noun(n, word)) }

func noun(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
