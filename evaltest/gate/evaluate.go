package gate

import (
	"fmt"
	"math/big"

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
	items := c.Items
	if items == 0 {
		items = c.Total
	}
	return stat.WilsonItems(c.Correct, c.Total, items, Level)
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
)

// The names of gates. MinAccuracy, MaxErrored and MaxUngraded are configured,
// the others always hold: they speak up only to fail.
const (
	MinAccuracy = "MinAccuracy"
	MaxErrored  = "MaxErrored"
	MaxUngraded = "MaxUngraded"
	Items       = "Items"    // at least one item
	Complete    = "Complete" // no item that was not run
	Answered    = "Answered" // at least one answer that is not an error
)

// A Decision is what one gate decided, and on what.
type Decision struct {
	Gate   string `json:"gate"` // its name, such as MinAccuracy
	Status Status `json:"status"`
	// Text says what was decided on in one line without the gate's name: the
	// numbers, the limit and what would pass. It holds no text from outside.
	Text string `json:"text"`
}

// String is the decision in one line: "MinAccuracy failed: accuracy …".
func (d Decision) String() string {
	status := string(d.Status)
	if d.Status == NotEvaluated {
		status = "not evaluated"
	}
	return d.Gate + " " + status + ": " + d.Text
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

// Evaluate holds the run against every gate. Narrowed says that only part of
// the dataset was asked for (by -run, by ids, failed items first): the
// accuracy gate is then not evaluated, because it was accepted for the whole.
// The order of decisions is fixed. An empty run fails, and so does one with
// items that never ran, or in which every answer is an error.
//
// It panics on a config that [Config.Check] refuses, and on counts that
// contradict each other.
func Evaluate(c Counts, cfg Config, narrowed bool) []Decision {
	if err := cfg.Check(); err != nil {
		panic(err)
	}
	c.check()
	var ds []Decision
	if c.Total == 0 {
		ds = append(ds, Decision{Items, Failed, "no item was run: nothing was shown; check the dataset, the limit, the filter and the ids"})
	}
	if c.NotRun > 0 {
		ds = append(ds, Decision{Complete, Failed, fmt.Sprintf("%d of %s never ran; resume the run to finish it", c.NotRun, c.answers())})
	}
	if c.Total > 0 && c.Errored > 0 && c.Errored+c.NotRun == c.Total {
		ran := "the only answer"
		if c.Errored > 1 {
			ran = fmt.Sprintf("all %d answers", c.Errored)
		}
		ds = append(ds, Decision{Answered, Failed, ran + " that ran ended in an error: the model was not reached or could not be used"})
	}
	if cfg.MinAccuracy != nil {
		ds = append(ds, minAccuracy(c, *cfg.MinAccuracy, narrowed))
	}
	return append(ds,
		atMost(MaxErrored, "errored", c.Errored, cfg.MaxErrored, c),
		atMost(MaxUngraded, "ungraded", c.Ungraded, cfg.MaxUngraded, c))
}

// answers is Total with its noun.
func (c Counts) answers() string {
	if c.Items != 0 && c.Items != c.Total {
		return fmt.Sprintf("%s to %s", plural(c.Total, "answer"), plural(c.Items, "item"))
	}
	return plural(c.Total, "item")
}

func minAccuracy(c Counts, v float64, narrowed bool) Decision {
	want := percentOf(v)
	if narrowed {
		return Decision{MinAccuracy, NotEvaluated, fmt.Sprintf("at least %s is required of the whole dataset, and only part of it was run", want)}
	}
	if c.Total == 0 {
		return Decision{MinAccuracy, Failed, fmt.Sprintf("no accuracy without items; at least %s is required", want)}
	}
	need := needed(v, c.Total)
	got := fmt.Sprintf("accuracy %s (%d of %s correct; 95%% interval %s)", distinct(c.Correct, c.Total, v), c.Correct, c.answers(), c.Interval())
	if c.Correct >= need {
		return Decision{MinAccuracy, Passed, fmt.Sprintf("%s is at least the %s required; %s to spare", got, want, plural(c.Correct-need, "correct answer"))}
	}
	return Decision{MinAccuracy, Failed, fmt.Sprintf("%s is below the %s required; %s would pass", got, want, more(need-c.Correct))}
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
	return decimal(r.Mul(r, big.NewRat(100, 1))) + "%"
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
