package bakeoff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/grade/stat"
	"github.com/goevals/evals/llm"
)

// A Contestant is who took part, as far as a file needs to say.
type Contestant struct {
	Name    string // such as "deepseek"
	Model   string // the model's id
	Workers int    // the most items at once
	// ThinkingFrom is the first attempt that thinks harder; 0 for none.
	ThinkingFrom int
	// Price is what the contestant's page lists; what an answer cost is on its
	// record.
	Price Price
}

// A Row is what a whole run of one contestant came to.
type Row struct {
	Provider string `json:"provider"` // the contestant's name
	Pass     int    `json:"pass"`     // from 0, of this contestant
	Model    string `json:"model_id"` // as it was asked for
	// Reported counts answers by the model that the provider reported.
	Reported map[string]int `json:"models_reported,omitempty"`
	Workers  int            `json:"workers"` // the most items at once
	Items    int            `json:"items"`   // answers owed, so those that never ran are in it
	Correct  int            `json:"correct"` // by the grader or the judge
	// Accuracy is correct over items, in percent, and Low and High the ends of
	// its 95% Wilson interval.
	Accuracy    float64 `json:"accuracy_pct"`
	Low         float64 `json:"accuracy_low_pct"`
	High        float64 `json:"accuracy_high_pct"`
	WallSeconds float64 `json:"wall_s"` // the whole run's
	P50Seconds  float64 `json:"p50_s"`  // quantiles of the model's time for an answer
	P90Seconds  float64 `json:"p90_s"`
	P99Seconds  float64 `json:"p99_s"`

	// Tokens are those of all calls that reported them, failed ones too; the
	// judge's are apart.
	Input         int64   `json:"input_tokens"`
	Cached        int64   `json:"cached_tokens"` // part of Input
	Output        int64   `json:"output_tokens"`
	Reasoning     int64   `json:"reasoning_tokens"`           // part of Output
	OutputPerItem float64 `json:"avg_output_tokens_per_item"` // Output over Items
	// Billable is what of the input was not cached. It is no price. CacheRate is
	// what was: Cached over Input, in percent of the tokens; 0 without input.
	Billable  int64   `json:"billable_input_tokens"`
	CacheRate float64 `json:"cache_hit_rate_pct"`
	// UnknownUsage is how many calls reported no usage: if it is not 0, tokens
	// and cost are at least what is said.
	UnknownUsage int `json:"unknown_usage_calls"`
	Calls        int `json:"calls"` // physical ones, the judge's not
	// Cost is exact, in USD, the judge's not in it; Total has both. AtLeast says
	// that the cost of some answers is not known, TotalAtLeast that of some
	// answers or of some of the judge's.
	Cost         json.Number `json:"cost_usd"`
	Total        json.Number `json:"total_cost_usd"`
	AtLeast      bool        `json:"cost_at_least"`
	TotalAtLeast bool        `json:"total_cost_at_least"`

	// ExactCorrect answers were right as the grader reads them, JudgeRescued
	// only as the judge does.
	ExactCorrect int `json:"exact_correct"`
	JudgeRescued int `json:"judge_rescued"`
	// Unparsed answers held nothing that the grader can compare after the last
	// attempt. They are counted before the judge is asked, so those that it then
	// rescued are in it. Ungraded ones got no legal verdict.
	Unparsed int `json:"unparsed"`
	Ungraded int `json:"ungraded"`
	Errors   int `json:"errors"` // items without an answer
	// Outcomes counts all items, by what became of them.
	Outcomes map[result.Outcome]int `json:"outcomes"`
	Attempts int                    `json:"attempts"` // of all items together
	Retries  int                    `json:"retries"`  // attempts after an item's first
	// Escalations are attempts that thought harder, ParseFailures those in
	// whose answer the grader found nothing to compare.
	Escalations   int `json:"escalations"`
	ParseFailures int `json:"parse_failures"`
	RateLimits    int `json:"rate_limit_hits"` // calls refused as too fast
	// ErrorCounts counts failed calls and attempts by kind, those included
	// after which another one was answered.
	ErrorCounts map[llm.ErrorKind]int `json:"error_counts"`
	Judge       *Judge                `json:"judge,omitempty"` // nil if it was not asked
}

// Judge is what a run's judge did and cost, in a row.
type Judge struct {
	// Model is the id that the provider reported, the ids with commas if there
	// were several. [Board.AddRun] puts [Methodology.Judge] where none was.
	Model string `json:"model_id"`
	// WallSeconds is the sum of the times of the judge's calls, failed ones
	// included, waiting before them not. Calls overlap, so the run was not that
	// much longer. Calls of a recording count as long as they took then. A call
	// that was answered for a verdict that then failed is not in it.
	WallSeconds float64 `json:"wall_s"`

	Judged   int `json:"judged"`         // answers it was given
	Correct  int `json:"judge_correct"`  // those of them that are correct by its verdict
	Ungraded int `json:"judge_ungraded"` // those of them that it gave no legal verdict

	Input   int64 `json:"input_tokens"`        // of its calls, as reported
	Cached  int64 `json:"cached_tokens"`       // part of Input
	Output  int64 `json:"output_tokens"`       // reasoning included
	Unknown int   `json:"unknown_usage_calls"` // calls that reported no usage

	Cost    json.Number `json:"cost_usd"`      // exact, in USD
	AtLeast bool        `json:"cost_at_least"` // the cost of some answers' calls is not known
}

// book adds the times and models of a record's calls, and returns the models
// that the row has now.
func (j *Judge) book(models []string, r *result.Record) []string {
	for _, t := range r.JudgeTryLog {
		if t.Error != nil && !t.Unsent { // those answered are the verdict's
			j.WallSeconds += t.Duration.Seconds()
		}
	}
	if r.Graded == nil || r.Verdict == nil {
		return models // the verdict is not the judge's
	}
	for _, call := range r.Verdict.Calls {
		j.WallSeconds += call.Timing.Total.Seconds()
		if call.Model != "" && !slices.Contains(models, call.Model) {
			models = append(models, call.Model)
		}
	}
	return models
}

// NewRow makes the row of a run of one pass from its numbers and its records.
// It fails if these are not of the same answers, as after several passes, or if
// the records cannot be read.
func NewRow(c Contestant, s *report.Stats, records iter.Seq2[result.Record, error]) (Row, error) {
	in := stat.WilsonItems(s.Correct(), s.Total, s.Items, 0.95)
	u := s.Usage
	row := Row{
		Provider: c.Name, Model: c.Model, Reported: s.Models, Workers: c.Workers, Items: s.Total, Correct: s.Correct(),
		Accuracy: 100 * float64(s.Correct()) / float64(max(1, s.Total)), Low: 100 * in.Lo, High: 100 * in.Hi,
		WallSeconds: s.Wall.Seconds(), P50Seconds: s.Latency.P50.Seconds(), P90Seconds: s.Latency.P90.Seconds(), P99Seconds: s.Latency.P99.Seconds(),
		Input: u.Input, Cached: u.CachedInput, Output: u.Output, Reasoning: u.Reasoning, Billable: u.Input - u.CachedInput,
		OutputPerItem: float64(u.Output) / float64(max(1, s.Total)), CacheRate: 100 * float64(u.CachedInput) / float64(max(1, u.Input)),
		UnknownUsage: u.Unknown, Calls: u.Calls,
		JudgeRescued: s.Judge.Passed, ExactCorrect: s.Correct() - s.Judge.Passed,
		Ungraded: s.Outcomes[result.Ungraded], Errors: s.Outcomes[result.Errored], Outcomes: s.Outcomes, RateLimits: s.Waits.RateLimits,
		ErrorCounts: map[llm.ErrorKind]int{},
	}
	cost, judge := s.Cost.Billed.USD.Add(s.Cost.Recorded.USD), s.JudgeCost.Billed.USD.Add(s.JudgeCost.Recorded.USD)
	row.Cost, row.Total = number(cost), number(cost.Add(judge))
	row.AtLeast = s.Cost.Billed.Unpriced+s.Cost.Recorded.Unpriced > 0
	if ju := s.JudgeUsage; s.Judge.Called > 0 {
		row.Judge = &Judge{
			Judged: s.Judge.Called, Correct: s.Judge.Passed, Ungraded: s.Judge.Ungraded,
			Input: ju.Input, Cached: ju.CachedInput, Output: ju.Output, Unknown: ju.Unknown,
			Cost: number(judge), AtLeast: s.JudgeCost.Billed.Unpriced+s.JudgeCost.Recorded.Unpriced > 0,
		}
	}
	_, known := row.JudgeUSD()
	row.TotalAtLeast = row.AtLeast || !known
	n := 0
	var models []string
	for r, err := range records {
		if err != nil {
			return Row{}, fmt.Errorf("bakeoff: the row of %s: %w", c.Name, err)
		}
		n++
		row.count(c, &r)
		if row.Judge != nil {
			models = row.Judge.book(models, &r)
		}
	}
	if n != s.Recorded || s.Recorded > s.Total {
		return Row{}, fmt.Errorf("bakeoff: the row of %s: %d answers were counted and the journal has %d: a row is of one pass, so use -benchtime=1x", c.Name, s.Recorded, n)
	}
	if row.Judge != nil {
		row.Judge.Model = strings.Join(slices.Sorted(slices.Values(models)), ",")
	}
	return row, nil
}

// JudgeUSD is what the judge cost, 0 if it was not asked, and whether all of it
// is known.
func (row Row) JudgeUSD() (usd float64, known bool) {
	if row.Judge == nil {
		return 0, true
	}
	usd, err := row.Judge.Cost.Float64()
	return usd, err == nil && !row.Judge.AtLeast
}

func number(d decimal.Decimal) json.Number { return json.Number(d.String()) }

// count adds what only records say.
func (row *Row) count(c Contestant, r *result.Record) {
	if v := cmp.Or(r.Graded, r.Verdict); v != nil && v.Mark == grade.Unparsed {
		row.Unparsed++
	}
	row.Attempts += len(r.Attempts)
	row.Retries += max(0, len(r.Attempts)-1)
	row.Escalations += Escalations(c, r)
	for _, a := range r.Attempts {
		if a.Verdict != nil && a.Verdict.Mark == grade.Unparsed {
			row.ParseFailures++
		}
		for kind, k := range failures(a) {
			row.ErrorCounts[kind] += k
		}
	}
}

// failures are an attempt's failed calls by kind.
func failures(a result.Attempt) map[llm.ErrorKind]int {
	kinds := map[llm.ErrorKind]int{}
	for _, t := range a.TryLog {
		if t.Error != nil {
			kinds[t.Error.Kind]++
		}
	}
	if len(kinds) == 0 && a.Error != nil { // what failed was no call, or the only one
		kinds[a.Error.Kind]++
	}
	return kinds
}

// Escalations is how many of a record's attempts thought harder: those from
// ThinkingFrom on that had an unusable answer behind them. See run.Escalate.
func Escalations(c Contestant, r *result.Record) int {
	n, unusable := 0, false
	for _, a := range r.Attempts {
		if c.ThinkingFrom > 0 && a.Number >= c.ThinkingFrom && unusable {
			n++
		}
		unusable = unusable || a.Error == nil
	}
	return n
}
