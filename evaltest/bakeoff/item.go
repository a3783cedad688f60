package bakeoff

import (
	"iter"
	"time"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// An Item is one line of a results file: an answer, and all it takes to grade
// it again, by Input, Gold and Raw, and to see what it cost. "evals grade" calls
// these input, target and response: the package's documentation renames them.
type Item struct {
	ID       string         `json:"item_id"`
	Success  bool           `json:"success"` // an answer came
	Outcome  result.Outcome `json:"outcome"`
	Input    string         `json:"input"`
	Answer   string         `json:"answer"` // as it was read; "" if nothing was
	Gold     string         `json:"gold"`
	Thinking bool           `json:"thinking"` // the last attempt thought harder
	Model    string         `json:"model"`    // as the provider reported it
	Error    *result.Error  `json:"error"`
	// Raw is the text that was graded.
	Raw     string         `json:"raw"`
	Verdict *grade.Verdict `json:"verdict,omitempty"`
	// Graded is the grader's verdict where Verdict is the judge's.
	Graded  *grade.Verdict `json:"graded,omitempty"`
	Usage   llm.UsageTotal `json:"usage"`                    // of all attempts
	Cost    string         `json:"cost_usd,omitempty"`       // of Usage, exact, in USD; empty if unknown
	Judge   llm.UsageTotal `json:"judge_usage,omitzero"`     // what the judge spent
	JudgeAt string         `json:"judge_cost_usd,omitempty"` // of Judge, as Cost
	// Latency is the model's time for the last attempt, Duration the item's for
	// all of them, both in seconds.
	Latency  float64   `json:"latency_s"`
	Duration float64   `json:"duration_s"`
	Start    time.Time `json:"start,omitzero"`
	Attempts []Attempt `json:"attempts"`
	Warnings []string  `json:"warnings,omitempty"`
}

// An Attempt is one logical try at an item.
type Attempt struct {
	Number  int            `json:"number"`         // from 1
	Calls   int            `json:"calls"`          // physical ones, repeated ones included
	Raw     string         `json:"raw,omitempty"`  // of attempts before the last; the last one's is the Item's
	Mark    grade.Mark     `json:"mark,omitempty"` // the grader's; empty if there was no answer to grade
	Seconds float64        `json:"duration_s"`     // from its start to its end
	Usage   llm.UsageTotal `json:"usage"`
	Error   *result.Error  `json:"error,omitempty"` // why there is no answer; nil if there is
}

// ItemOf is the line of a record.
func ItemOf(c Contestant, r *result.Record) Item {
	it := Item{
		ID: r.Item.ID, Success: r.Response != nil && r.Error == nil, Outcome: r.Outcome, Input: r.Item.Input, Gold: r.Item.Target,
		Error: r.Error, Verdict: r.Verdict, Graded: r.Graded, Usage: r.Usage, Cost: r.CostUSD, Judge: r.JudgeUsage, JudgeAt: r.JudgeCostUSD,
		Latency: r.Latency.Seconds(), Duration: r.Duration.Seconds(), Start: r.Start, Warnings: r.Warnings, Attempts: []Attempt{},
		Thinking: Escalations(c, r) > 0, // once harder, always harder
	}
	if r.Verdict != nil {
		it.Answer = r.Verdict.Answer
	}
	if r.Response != nil {
		it.Raw, it.Model = r.Response.Text, r.Response.Model
	}
	for _, a := range r.Attempts {
		line := Attempt{Number: a.Number, Calls: a.Usage.Calls, Raw: a.Text, Seconds: a.Duration.Seconds(), Usage: a.Usage, Error: a.Error}
		if a.Verdict != nil {
			line.Mark = a.Verdict.Mark
		}
		it.Attempts = append(it.Attempts, line)
	}
	return it
}

// A Sample shows what every contestant answered to the same item.
type Sample struct {
	ID       string `json:"item_id"`
	Question string `json:"question"` // the item's input
	Gold     string `json:"gold"`     // the item's target
	// Providers are the answers by contestant. One that did not get to the item
	// among its first few is not in it.
	Providers map[string]Item `json:"providers"`
}

// AddSamples adds the first n records of a contestant to samples, by item.
func AddSamples(samples []Sample, n int, c Contestant, records iter.Seq2[result.Record, error]) ([]Sample, error) {
	place := map[string]int{}
	for i, s := range samples {
		place[s.ID] = i
	}
	for r, err := range records {
		if err != nil {
			return samples, err
		}
		if n--; n < 0 {
			break
		}
		i, ok := place[r.Item.ID]
		if !ok {
			i = len(samples)
			samples = append(samples, Sample{ID: r.Item.ID, Question: r.Item.Input, Gold: r.Item.Target, Providers: map[string]Item{}})
		}
		samples[i].Providers[c.Name] = ItemOf(c, &r)
	}
	return samples, nil
}
