package llmtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// The first call fails, the second one hangs until its caller gives up, and the
// third answers.
func ExampleModel() {
	m := llmtest.Answers("", "", "18")
	m.Fault = llmtest.Nth(map[int]llmtest.ModelFault{
		1: {Err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Second)}},
		2: {Hang: true},
	})
	for n := range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		if n == 1 {
			time.AfterFunc(10*time.Millisecond, cancel)
		}
		resp, err := m.Generate(ctx, llm.Prompt("6 times 3?"))
		fmt.Printf("%q %q\n", resp.Text, llm.KindOf(err))
		cancel()
	}
	fmt.Println(m.Calls(), "calls,", m.Canceled(), "canceled")
	// Output:
	// "" "rate_limit"
	// "" "canceled"
	// "18" ""
	// 3 calls, 1 canceled
}
