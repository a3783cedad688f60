package report

import (
	"cmp"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/grade/stat"
	"github.com/goevals/evals/llm"
)

// Labels say what was run. All are optional, and all may hold any text.
type Labels struct {
	Name     string // the test, such as TestGSM8K
	Dataset  string // its name or path, and which items were selected
	Strategy string // the strategy under test; the models are known from the records
	// Planned is how many answers the run owes: items times samples. What of
	// them has no record counts as not run. 0 is as many as there are records.
	Planned int
	// Samples is how many answers an item gets; 0 is unknown: the summary then
	// watches the items' ids, which 1 saves.
	Samples int
	// Overrides are the dataset's rows whose label was corrected or that were
	// left out, with the reason.
	Overrides []Override
}

// LabelsOf are what a journal's header says.
func LabelsOf(h result.Header) Labels {
	dataset := cmp.Or(h.Dataset.Name, h.Dataset.Path)
	if h.Dataset.Selection != "" {
		dataset = strings.TrimLeft(dataset+" ("+h.Dataset.Selection+")", " ")
	}
	return Labels{
		Name: h.Test, Dataset: dataset, Strategy: h.Strategy,
		Planned: h.Dataset.Items * max(1, h.Samples), Samples: h.Samples,
	}
}

// An Override is a row whose known-wrong label was corrected, or that was left
// out.
type Override struct {
	ID     string
	Action string // what was done, such as "target" or "skip"
	Reason string
}

// Stats are the numbers of a run. They are the same whatever the order in
// which the records came. The caller may set Wall before it prints them.
type Stats struct {
	Labels
	// Total is how many answers the run owed: the denominator. Recorded of
	// them have a record; Resumed of those come from an earlier run.
	Total, Recorded, Resumed int
	// Answered is how many of Recorded are answers: neither errored nor not run.
	// AnsweredBefore of them come from an earlier run.
	Answered, AnsweredBefore int
	// Replaced is how many earlier records, on which something was spent,
	// others have replaced. They count in Usage and Cost and nowhere else.
	Replaced int
	// Confirmed is how many answers were asked for again to confirm that items
	// are broken. They too count in Usage and Cost and nowhere else.
	Confirmed int
	// Curtailed says that what did not run was left out because it could not
	// change what a gate decides. The caller sets it.
	Curtailed bool
	// Items is how many different items the answers belong to.
	Items int
	// Outcomes counts answers; the counts add up to Total.
	Outcomes map[result.Outcome]int
	// Reasons counts the verdicts' reasons for not being correct.
	Reasons map[grade.Reason]int
	// Groups are sorted by accuracy, then by name: the worst come first.
	// Empty if no item has a group.
	Groups []Group
	// Consistency is how the samples of an item agree. Zero without samples.
	Consistency Consistency
	// MeanScore is the mean over Total, an answer without a verdict counting
	// 0, exact to 1e-9. HasScores says that some score is neither 0 nor 1;
	// without it the mean is the accuracy.
	MeanScore float64
	HasScores bool
	// Usage is what all attempts of all answers spent, JudgeUsage what judges
	// spent. An unknown usage is counted, never taken for 0.
	Usage, JudgeUsage llm.UsageTotal
	Cost, JudgeCost   Cost
	// Attempts counts answers by their number of attempts, Failed what errored
	// or did not run to its end.
	Attempts, Failed map[int]int
	Waits            Waits
	Latency          Latency
	// Wall is how long the run took; by default from the first record's start
	// to the last one's end (Spanned is then true), 0 if that is unknown.
	Wall    time.Duration
	Spanned bool
	Judge   Judge
	// Replayed is how many answers came from a recording, Live how many did
	// not. The rest of Recorded got no answer.
	Replayed, Live int
	// Abandoned is how many answers were given up because a strategy, grader
	// or judge ignored the end of its time.
	Abandoned int
	// Models counts answers by the model that the provider reported, at most
	// 20 of them.
	Models map[string]int
	// Errors are sorted by count, the most frequent first.
	Errors []ErrorGroup
	// Slowest are the answers with the longest latency, at most 3.
	Slowest []Slow
	// Warnings are the distinct warnings of the records, the most frequent
	// first, at most 50; MoreWarnings is how many records warned of others.
	Warnings     []Warning
	MoreWarnings int
}

// Correct is how many answers are correct.
func (s *Stats) Correct() int { return s.Outcomes[result.Correct] }

// Counts are what gates decide on.
func (s *Stats) Counts() gate.Counts {
	return gate.Counts{
		Total: s.Total, Items: s.Items, Correct: s.Correct(),
		Errored: s.Outcomes[result.Errored], Ungraded: s.Outcomes[result.Ungraded], NotRun: s.Outcomes[result.NotRun],
	}
}

// Accuracy is the share of Total that is correct; 0 without answers.
func (s *Stats) Accuracy() float64 {
	if s.Total == 0 {
		return 0
	}
	return float64(s.Correct()) / float64(s.Total)
}

// Interval is the 95% interval around the accuracy: [stat.WilsonItems].
func (s *Stats) Interval() stat.Interval { return s.Counts().Interval() }

// A Group is the part of a run whose items share a group.
type Group struct {
	Name           string
	Total, Correct int
}

// A Cost is what answers cost, in two sums: replayed answers are not billed. An
// answer of which only some calls were replayed is billed whole: at most that
// was spent.
type Cost struct {
	Billed Sum // answers with live calls
	// Recorded is what replayed calls had cost when they were recorded.
	Recorded Sum
	// Models are the models of the unpriced answers, as far as they are
	// known, at most 5, sorted.
	Models []string
}

// A Sum is an exact sum in US dollars.
type Sum struct {
	USD decimal.Decimal
	// Priced is how many answers are in USD, Unpriced how many spent
	// something unknown: if it is not 0, USD is a lower bound, in which is what
	// is known of those too.
	Priced, Unpriced int
}

// Waits are what calls waited for before they were made.
type Waits struct {
	// RateLimits is how many calls the provider refused as too fast.
	RateLimits int
	// Paused is how many answers waited for such a refusal to pass, Spaced how
	// many for the limits of their own scope; LongestPause and LongestSpacing
	// are the longest that one of them waited in all.
	Paused, Spaced               int
	LongestPause, LongestSpacing time.Duration
}

// Latency is the time that models took for the last attempt of each answer; what
// errored has none.
// Percentiles are by nearest rank: the least value that at least that share of
// the values does not exceed.
type Latency struct {
	N int
	// Recorded is how many of N were replayed: they are the recorded times.
	Recorded int
	// P99 is shown only where [Latency.HasP99] says so.
	P50, P90, P99, Max time.Duration
}

// minForP99 is the least n of which a 99th percentile is not the maximum.
const minForP99 = 100

// HasP99 reports whether there are enough values for a 99th percentile: of fewer
// than 100 it is the maximum.
func (l Latency) HasP99() bool { return l.N >= minForP99 }

// Judge is what judges did.
type Judge struct {
	// Called is how many answers were given to a judge, Overturned how many
	// got another mark than the grader's, Ungraded how many no legal verdict.
	Called, Overturned, Ungraded int
	// Decided is how many answers the judge's verdict stands for, correct or
	// incorrect, and Passed how many of them are correct.
	Decided, Passed int
}

// An ErrorGroup is the answers that failed for one kind of reason.
type ErrorGroup struct {
	Kind  llm.ErrorKind
	Count int
	// ID and Message are an example: the one with the least id, of those that
	// failed by themselves if there are any.
	ID, Message string
}

// Slow is a slow answer.
type Slow struct {
	ID      string
	Sample  int
	Latency time.Duration
}

// A Warning is the same text on Count records.
type Warning struct {
	Text  string
	Count int
}
