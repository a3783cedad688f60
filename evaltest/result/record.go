package result

import (
	"encoding/json"
	"time"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// An Outcome is what became of one item. Only [Correct] counts as correct, and
// every item stays in the denominator.
type Outcome string

// The outcomes.
const (
	Correct   Outcome = "correct"
	Incorrect Outcome = "incorrect"
	Unparsed  Outcome = "unparsed"  // no answer was found to compare
	Ungraded  Outcome = "ungraded"  // a judge was needed and gave no legal verdict
	Truncated Outcome = "truncated" // the answer was cut at the token limit
	Blocked   Outcome = "blocked"   // a content filter stopped prompt or answer
	Refused   Outcome = "refused"   // the model refused in the provider's refusal field
	Errored   Outcome = "errored"   // no answer came, or grading failed
	NotRun    Outcome = "not_run"   // never started: deadline, interrupt, budget, fail-fast
)

// Outcomes are all outcomes, in the order in which they are printed.
var Outcomes = []Outcome{Correct, Incorrect, Unparsed, Ungraded, Truncated, Blocked, Refused, Errored, NotRun}

// Final reports whether the outcome stands: whether there is an answer, and it
// was dealt with. A resumed run asks again for what has none: items without a
// record, not_run, and errored, for an error is mostly an outage's and says
// nothing of the model.
func (o Outcome) Final() bool { return o != NotRun && o != Errored && o != "" }

// A Record is all there is to know of one item's sample: enough to grade it
// again without the dataset and without calling anybody.
type Record struct {
	Item    Item    `json:"item"`
	Sample  int     `json:"sample,omitempty"` // k-th independent answer, from 0
	Outcome Outcome `json:"outcome"`
	// Score is the verdict's, 0..1; 0 without a verdict.
	Score float64 `json:"score"`
	// Response is the last attempt's, if one came.
	Response *llm.Response `json:"response,omitempty"`
	// Verdict is the one that the outcome rests on: the judge's if a judge
	// decided, then Graded holds the deterministic grader's.
	Verdict *grade.Verdict `json:"verdict,omitempty"`
	Graded  *grade.Verdict `json:"graded,omitempty"`
	// Attempts are in order; the last one's response is Response.
	Attempts []Attempt `json:"attempts,omitempty"`
	// JudgeTryLog has every physical call of the judge, as an attempt's TryLog
	// has those of the strategy.
	JudgeTryLog []Try `json:"judge_try_log,omitempty"`
	// Usage is what all attempts' calls spent, JudgeUsage what judges spent.
	Usage      llm.UsageTotal `json:"usage,omitzero"`
	JudgeUsage llm.UsageTotal `json:"judge_usage,omitzero"`
	// CostUSD is the exact decimal cost of Usage; empty if unknown.
	CostUSD string `json:"cost_usd,omitempty"`
	// JudgeCostUSD is the same of JudgeUsage.
	JudgeCostUSD string `json:"judge_cost_usd,omitempty"`
	// AtLeastUSD is the exact decimal cost of those calls of Usage whose cost is
	// known, where CostUSD is empty because that of others is not: one broken
	// call must not hide what the rest cost. Empty if that comes to nothing.
	// JudgeAtLeastUSD is the same of JudgeUsage.
	AtLeastUSD      string `json:"at_least_usd,omitempty"`
	JudgeAtLeastUSD string `json:"judge_at_least_usd,omitempty"`
	// Replayed is set when all calls of the attempts came from a recording:
	// Usage and CostUSD are then what they had cost when they were recorded,
	// and nothing was spent. JudgeReplayed is the same of the judges' calls.
	Replayed      bool `json:"replayed,omitempty"`
	JudgeReplayed bool `json:"judge_replayed,omitempty"`
	// Abandoned is set when the strategy, grader or judge ignored the end of
	// the item's time and was left running.
	Abandoned bool `json:"abandoned,omitempty"`
	// Confirms is set for an answer that was asked for beyond the run's own
	// samples, to tell whether a broken item is broken or flaky. What it spent
	// is part of what the run spent; the answer is no part of its accuracy.
	Confirms bool `json:"confirms,omitempty"`
	// Start and Duration span the item's own work, waiting for a worker
	// excluded. Latency is the model time of the last attempt's calls.
	Start    time.Time     `json:"start,omitzero"`
	Duration time.Duration `json:"duration_ns,omitempty"`
	Latency  time.Duration `json:"latency_ns,omitempty"`
	Error    *Error        `json:"error,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

// Key is the item's id and sample: unique in a journal.
type Key struct {
	ID     string // the item's
	Sample int    // from 0
}

// Key returns the record's key.
func (r *Record) Key() Key { return Key{r.Item.ID, r.Sample} }

// An Item is a dataset.Item as a journal keeps it; the fields mean what they
// mean there.
type Item struct {
	ID      string          `json:"id"`
	Input   string          `json:"input,omitempty"`
	Target  string          `json:"target,omitempty"`
	Targets []string        `json:"targets,omitempty"`
	Choices []string        `json:"choices,omitempty"`
	Group   string          `json:"group,omitempty"`
	Row     json.RawMessage `json:"row,omitempty"` // dataset.Item.Raw
}

// A Try is one physical call of an attempt: what a provider that was busy, slow
// or broken cost in time and tokens, and why it was called again. Tries that a
// strategy makes at the same time overlap.
type Try struct {
	// Start is when the call left, after all waiting; that of one that was
	// never made is when it was given up.
	Start time.Time `json:"start,omitzero"`
	// PauseWait, LimitWait and SlotWait are how long it waited before: for the
	// provider's pause and the pacing after it, for RPM and TPM, and for
	// another call in flight to end.
	PauseWait time.Duration `json:"pause_wait_ns,omitempty"`
	LimitWait time.Duration `json:"limit_wait_ns,omitempty"`
	SlotWait  time.Duration `json:"slot_wait_ns,omitempty"`
	// Duration is how long the call took, the waits not counted.
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Usage is what it was billed, also if it failed, and CostUSD what the
	// provider said that it cost, as an exact decimal; empty if it did not say.
	Usage   llm.Usage `json:"usage,omitzero"`
	CostUSD string    `json:"cost_usd,omitempty"`
	// Replayed is set if the answer came from a recording.
	Replayed bool `json:"replayed,omitempty"`
	// Unsent is set if it was never made: Error says why.
	Unsent bool `json:"unsent,omitempty"`
	// Error is why it failed; nil for an answer. RetryAfter is how long the
	// server asked to wait; nil if it did not say.
	Error      *Error         `json:"error,omitempty"`
	RetryAfter *time.Duration `json:"retry_after_ns,omitempty"`
}

// An Attempt is one logical try at an item. Text, Finish and Model are the
// answer's, Verdict the deterministic grader's, Error why it failed.
type Attempt struct {
	Number int `json:"number"` // from 1
	// Tries is how many physical calls were made for it, as far as they were
	// seen, and at least how often the strategy was called: more than 1 if the
	// provider was busy, or if the strategy makes several.
	Tries    int              `json:"tries,omitempty"`
	Start    time.Time        `json:"start,omitzero"`
	Duration time.Duration    `json:"duration_ns,omitempty"`
	Text     string           `json:"text,omitempty"` // of attempts before the last
	Finish   llm.FinishReason `json:"finish,omitempty"`
	Model    string           `json:"model,omitempty"`
	Usage    llm.UsageTotal   `json:"usage,omitzero"`
	Verdict  *grade.Verdict   `json:"verdict,omitempty"`
	Error    *Error           `json:"error,omitempty"`
	// TryLog has every physical call, in the order in which they ended. It is
	// left out where it would say nothing that the attempt does not: a single
	// call that did not wait and did not fail.
	TryLog []Try `json:"try_log,omitempty"`
}

// An Error is a failure as a journal keeps it.
type Error struct {
	// Kind is what the failure means, llm.KindUnknown for an error of the
	// application's own.
	Kind llm.ErrorKind `json:"kind"`
	// Message is the error's text, cut at 16 KB. It may quote a server or a
	// model: escape it before it is shown.
	Message string `json:"message"`
	// Status is the HTTP status; 0 if there was none.
	Status int `json:"status,omitempty"`
	// Stack is where a panic happened.
	Stack string `json:"stack,omitempty"`
}
