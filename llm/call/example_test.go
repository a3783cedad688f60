package call_test

import (
	"context"
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// A provider that fails once and is then busy once: the failure is another
// attempt's, the rate limit is tried again within the attempt.
func Example() {
	provider := &llmtest.Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
		switch n {
		case 1:
			return llm.Response{}, &llm.Error{Kind: llm.KindServer, Status: 503}
		case 2:
			return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, Status: 429, RetryAfter: new(time.Millisecond)}
		}
		return llm.Response{Text: "18", Usage: llm.Usage{Input: 90, Output: 2, Known: true}}, nil
	}}
	scope := call.NewScope(call.Limits{RPM: 60_000, Concurrency: 8})
	model := call.New(provider, call.Config{Scope: scope})

	var tries call.Tries
	ctx := call.WithTries(context.Background(), &tries)
	var resp llm.Response
	end := call.Attempts{Backoff: call.Backoff{First: time.Millisecond}}.Do(ctx, func(int) (next call.Next, err error) {
		if resp, err = model.Generate(ctx, llm.Prompt("16 - 3 - 4, times 2?")); llm.KindOf(err).Retryable() {
			return call.Later, err
		}
		return call.Stop, err
	})
	fmt.Println(resp.Text, "after", end.Attempts, "attempts:", end.Why)
	for i, t := range tries.All() {
		fmt.Println("try", i+1, t.Status, t.Kind, t.Usage.Output)
	}
	// Output:
	// 18 after 2 attempts: settled
	// try 1 503 server 0
	// try 2 429 rate_limit 0
	// try 3 0  2
}

// An application that calls a provider by itself needs a Policy only.
func ExamplePolicy() {
	busy := true
	policy := call.Policy{Tries: 5, Timeout: time.Minute, Backoff: call.Backoff{First: time.Millisecond}}
	resp, err := policy.Do(context.Background(), func(context.Context) (llm.Response, error) {
		if busy {
			busy = false
			return llm.Response{}, fmt.Errorf("the SDK said: 429 Too Many Requests")
		}
		return llm.Response{Text: "18"}, nil
	})
	fmt.Println(resp.Text, err)
	// Output: 18 <nil>
}

// A budget stops what has not started yet.
func ExampleBudget() {
	budget, err := call.NewBudget(call.Caps{MaxUSD: "0.01"})
	if err != nil {
		panic(err)
	}
	for budget.Admit() == nil {
		err = budget.Spend(llm.Call{Response: llm.Response{CostUSD: "0.004"}})
	}
	fmt.Println(err)
	// Output: call: the budget allows no further call: $0.012 of $0.01, at least 0 tokens in 3 calls, 3 of unknown usage
}
