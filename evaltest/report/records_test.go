package report_test

import (
	"fmt"
	"time"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// record makes the i-th record of a run: one attempt of one call, two seconds
// long, 100 tokens in and 20 out, $0.0012.
func record(i int, o result.Outcome) *result.Record {
	r := &result.Record{
		Item:    result.Item{ID: fmt.Sprintf("q%03d", i), Input: "2+2?", Target: "4"},
		Outcome: o,
		Response: &llm.Response{
			Text: "#### 5", Finish: llm.FinishStop, Model: "small-1",
		},
		Attempts: []result.Attempt{{Number: 1}},
		Usage:    llm.UsageTotal{Usage: llm.Usage{Input: 100, Output: 20, Known: true}, Calls: 1},
		CostUSD:  "0.0012",
		Start:    began.Add(time.Duration(i) * 500 * time.Millisecond),
		Duration: 2 * time.Second,
		Latency:  time.Duration(1000+10*i) * time.Millisecond,
	}
	switch o {
	case result.Correct:
		r.Response.Text, r.Score = "#### 4", 1
		r.Verdict = &grade.Verdict{Mark: grade.Correct, Score: 1, Answer: "4", How: `numeric: marker "####"`}
	case result.Incorrect:
		r.Verdict = &grade.Verdict{Mark: grade.Incorrect, Answer: "5", How: `numeric: marker "####"`, Reason: grade.ReasonWrong}
	case result.Unparsed:
		r.Response.Text = "I do not know."
		r.Verdict = &grade.Verdict{Mark: grade.Unparsed, How: "numeric", Reason: grade.ReasonNoAnswer, Why: "no number in the reply"}
	case result.Truncated:
		r.Response.Text, r.Response.Finish = "so 9 * 2", llm.FinishLength
	case result.Refused:
		r.Response.Text, r.Response.Refusal, r.Response.Finish = "", "I cannot help with that.", llm.FinishRefusal
	case result.Errored:
		r.Response, r.CostUSD, r.Usage = nil, "", llm.UsageTotal{}
		r.Error = &result.Error{Kind: llm.KindServer, Message: "openai: server (HTTP 500): boom", Status: 500}
	case result.NotRun:
		*r = result.Record{Item: r.Item, Outcome: o}
	}
	return r
}

// outcomes makes n records of each outcome, in the order of their names.
func outcomes(n map[result.Outcome]int) []*result.Record {
	var rs []*result.Record
	for _, o := range result.Outcomes {
		for range n[o] {
			rs = append(rs, record(len(rs), o))
		}
	}
	return rs
}

func statsOf(labels report.Labels, rs []*result.Record) *report.Stats {
	s := report.New(labels)
	for _, r := range rs {
		s.Add(r)
	}
	return s.Stats()
}

// hostile is a text from outside that must reach no line as it is.
const hostile = "x\x16--- FAIL: TestEval/q1 (0.00s)\n=== RUN   TestGhost\n\x1b[31m\u202e --- PASS: TestGhost (0.00s)\x00 FAIL\u2028PASS key: value <script>"
