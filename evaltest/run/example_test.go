package run_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// Answer two items with a fast model that mumbles, and a thinking one from the
// second attempt on. A third item makes the strategy panic, and is errored.
func Example() {
	fast := run.Ask(llm.ModelFunc(func(_ context.Context, req llm.Request) (llm.Response, error) {
		if strings.Contains(req.Messages[0].Content, "17*23") {
			return llm.Response{Text: "hm"}, nil
		}
		return llm.Response{Text: "#### 4"}, nil
	}), func(it dataset.Item) llm.Request { return llm.Prompt("What is " + it.Input + "?") })
	thinking := run.StrategyFunc(func(context.Context, dataset.Item, run.Attempt) (llm.Response, error) {
		return llm.Response{Text: "17*20 + 17*3\n#### 391"}, nil
	})
	grader := grade.Func(func(_ context.Context, it dataset.Item, resp llm.Response) (grade.Verdict, error) {
		_, answer, ok := strings.Cut(resp.Text, "#### ")
		switch {
		case !ok:
			return grade.Verdict{Mark: grade.Unparsed, Reason: grade.ReasonNoAnswer}, nil
		case answer == it.Target:
			return grade.Verdict{Mark: grade.Correct, Score: 1, Answer: answer}, nil
		case it.Target == "":
			panic("no target")
		}
		return grade.Verdict{Mark: grade.Incorrect, Answer: answer, Reason: grade.ReasonWrong}, nil
	})
	cfg := &run.Config{Strategy: run.Escalate(fast, thinking, 2), Grader: grader}
	if err := cfg.Check(); err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range []dataset.Item{
		{ID: "easy", Input: "2+2", Target: "4"},
		{ID: "hard", Input: "17*23", Target: "391"},
		{ID: "broken", Input: "2+2"},
	} {
		rec := cfg.Item(context.Background(), it, 0)
		fmt.Printf("%s: %s after %d attempt(s)\n", rec.Item.ID, rec.Outcome, len(rec.Attempts))
	}
	// Output:
	// easy: correct after 1 attempt(s)
	// hard: correct after 2 attempt(s)
	// broken: errored after 1 attempt(s)
}
