package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/goevals/evals/llm"
)

// Run checks that a Model keeps what [llm.Model] promises. newModel returns a
// fresh one that answers any prompt, quickly; it is called once a check. It
// makes about a dozen calls, so give it a fake or be ready to pay.
func Run(t *testing.T, newModel func(t *testing.T) llm.Model) {
	t.Helper()
	for _, c := range conformance {
		t.Run(c.name, func(t *testing.T) {
			t.Helper()
			c.check(t, newModel(t))
		})
	}
}

var conformance = []struct {
	name  string
	check func(*testing.T, llm.Model)
}{
	{"answers", checkAnswers},
	{"streams", checkStreams},
	{"request-unchanged", checkUnchanged},
	{"concurrent", checkConcurrent},
	{"canceled", checkCanceled},
	{"deadline", checkDeadline},
	{"logged-at-most-once", checkLogged},
}

const suiteTimeout = 30 * time.Second

func suiteContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), suiteTimeout)
	t.Cleanup(cancel)
	return ctx
}

func checkAnswers(t *testing.T, m llm.Model) {
	resp, err := m.Generate(suiteContext(t), llm.Prompt("Say one word."))
	if err != nil {
		t.Fatalf("Generate failed: %v", err)
	}
	checkResponse(t, resp)
}

func checkStreams(t *testing.T, m llm.Model) {
	req := llm.Prompt("Say one word.")
	req.Stream = true
	resp, err := m.Generate(suiteContext(t), req)
	if err != nil {
		t.Fatalf("Generate with Stream failed: %v", err)
	}
	checkResponse(t, resp)
}

func checkResponse(t *testing.T, r llm.Response) {
	t.Helper()
	if r.Text == "" && r.Refusal == "" && len(r.ToolCalls) == 0 {
		t.Error("the response has no text, no refusal and no tool call: want one of them, or an error")
	}
	u := r.Usage
	if !u.Known && u != (llm.Usage{}) {
		t.Errorf("usage %+v has counts but Known is false", u)
	}
	if min(u.Input, u.Output, u.CachedInput, u.Reasoning) < 0 || u.CachedInput > u.Input || u.Reasoning > u.Output {
		t.Errorf("usage %+v: want CachedInput within Input and Reasoning within Output, none below 0", u)
	}
	tm := r.Timing
	if tm.FirstToken < 0 || tm.Total < 0 || tm.FirstToken > tm.Total {
		t.Errorf("timing %+v: want 0 <= FirstToken <= Total", tm)
	}
}

func checkUnchanged(t *testing.T, m llm.Model) {
	req := llm.Prompt("Say one word.").WithSystem("Be brief.")
	req.Extra = map[string]json.RawMessage{"seed": json.RawMessage("7")}
	before, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(suiteContext(t), req); err != nil {
		t.Fatalf("Generate failed: %v", err)
	}
	after, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Errorf("Generate changed its request:\nbefore %s\nafter  %s", before, after)
	}
}

func checkConcurrent(t *testing.T, m llm.Model) {
	ctx := suiteContext(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := m.Generate(ctx, llm.Prompt("Say one word.")); err != nil {
				t.Errorf("one of 8 concurrent calls failed: %v", err)
			}
		})
	}
	wg.Wait()
}

func checkCanceled(t *testing.T, m llm.Model) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := m.Generate(ctx, llm.Prompt("Say one word."))
	checkContextError(t, err, context.Canceled, llm.KindCanceled)
}

func checkDeadline(t *testing.T, m llm.Model) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := m.Generate(ctx, llm.Prompt("Say one word."))
	checkContextError(t, err, context.DeadlineExceeded, llm.KindTimeout)
}

func checkContextError(t *testing.T, err, want error, kind llm.ErrorKind) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("Generate succeeded under a context that was over: want an error that is %v", want)
	case !errors.Is(err, want):
		t.Errorf("error %q: want errors.Is(err, %v)", err, want)
	case llm.KindOf(err) != kind:
		t.Errorf("error %q is of kind %q: want %q", err, llm.KindOf(err), kind)
	}
}

func checkLogged(t *testing.T, m llm.Model) {
	var log llm.CallLog
	if _, err := m.Generate(llm.WithCallLog(suiteContext(t), &log), llm.Prompt("Say one word.")); err != nil {
		t.Fatalf("Generate failed: %v", err)
	}
	if n := len(log.Calls()); n > 1 {
		t.Errorf("one Generate logged %d calls: want at most 1, or usage is counted more than once", n)
	}
}
