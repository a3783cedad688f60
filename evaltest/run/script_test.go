package run_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// A turn is what a scripted strategy does when it is called.
type turn struct {
	resp llm.Response
	err  error
	take time.Duration    // before it answers
	deaf bool             // ignores its context while it takes its time
	do   func()           // instead of answering
	logs []llm.Call       // what a transport under it would have logged
	seen *context.Context // where to put its context
}

// A script answers turn by turn; the last turn is repeated.
type script struct {
	mu       sync.Mutex
	turns    []turn
	attempts []run.Attempt // as it was called
}

func (s *script) Execute(ctx context.Context, it dataset.Item, a run.Attempt) (llm.Response, error) {
	s.mu.Lock()
	t := s.turns[min(len(s.attempts), len(s.turns)-1)]
	s.attempts = append(s.attempts, a)
	s.mu.Unlock()
	if t.seen != nil {
		*t.seen = ctx
	}
	for _, k := range t.logs {
		llm.LogCall(ctx, k)
	}
	if t.do != nil {
		t.do()
	}
	if t.take > 0 {
		gone := ctx.Done()
		if t.deaf {
			gone = nil
		}
		select {
		case <-time.After(t.take):
		case <-gone:
			return t.resp, ctx.Err()
		}
	}
	return t.resp, t.err
}

func (s *script) Name() string { return "script" }

func (s *script) numbers() []int {
	var n []int
	for _, a := range s.attempts {
		n = append(n, a.Number)
	}
	return n
}

func answers(turns ...turn) *script { return &script{turns: turns} }
func says(text string) turn {
	return turn{resp: llm.Response{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{Input: 10, Output: 5, Known: true}}}
}
func fails(kind llm.ErrorKind) turn { return turn{err: &llm.Error{Kind: kind, Message: "no luck"}} }

var eggs = dataset.Item{ID: "eggs", Input: "How many?", Target: "18", Raw: []byte(`{"question":"How many?","n":3}`)}

// exact is a grader as strict as can be: "?" has no answer in it.
var exact = grade.Func(func(_ context.Context, it dataset.Item, resp llm.Response) (grade.Verdict, error) {
	switch resp.Text {
	case it.Target:
		return grade.Verdict{Mark: grade.Correct, Score: 1, Answer: resp.Text}, nil
	case "?", "":
		return grade.Verdict{Mark: grade.Unparsed, Reason: grade.ReasonNoAnswer}, nil
	}
	return grade.Verdict{Mark: grade.Incorrect, Reason: grade.ReasonWrong, Answer: resp.Text}, nil
})

// a judge that always says v, err.
func judge(v grade.Verdict, err error) grade.Grader {
	return grade.Func(func(context.Context, dataset.Item, llm.Response) (grade.Verdict, error) { return v, err })
}

// config is a Config whose jitter is half of the bound: 0.5 s, 1 s, 2 s, ….
func config(s run.Strategy) *run.Config {
	return &run.Config{Strategy: s, Grader: exact, Backoff: call.Backoff{Rand: func() float64 { return 0.5 }}}
}

// must checks what holds for every record whatever happened.
func must(t *testing.T, rec result.Record) result.Record {
	t.Helper()
	if rec.Item.ID != "eggs" || rec.Outcome == "" {
		t.Errorf("incomplete record: id %q, outcome %q", rec.Item.ID, rec.Outcome)
	}
	if (rec.Outcome == result.Errored || rec.Outcome == result.NotRun) && rec.Error == nil {
		t.Errorf("outcome %s without an Error", rec.Outcome)
	}
	if rec.Outcome != result.Correct && rec.Score == 1 {
		t.Errorf("outcome %s with score 1", rec.Outcome)
	}
	calls := 0
	for i, a := range rec.Attempts {
		if a.Number != i+1 {
			t.Errorf("attempt %d has number %d", i+1, a.Number)
		}
		calls += a.Usage.Calls
	}
	if calls != rec.Usage.Calls {
		t.Errorf("attempts have %d calls, the record %d", calls, rec.Usage.Calls)
	}
	return rec
}

// dsItem keeps the signatures in these tests on one line.
type dsItem = dataset.Item

var errBoom = errors.New("boom")
