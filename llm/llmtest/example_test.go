package llmtest_test

import (
	"context"
	"fmt"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// A server that is too busy once, and then answers.
func Example() {
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		if c.N == 1 {
			return llmtest.Reply{Raw: llmtest.Status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "2")}
		}
		return llmtest.Reply{Text: "you said " + c.Last()}
	}}
	m := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
	_, err := m.Generate(context.Background(), llm.Prompt("hi"))
	fmt.Println(llm.KindOf(err))
	resp, err := m.Generate(context.Background(), llm.Prompt("hi"))
	fmt.Println(resp.Text, err)
	fmt.Println(server.Counts().Calls, "calls,", server.Memory().OpenBodies(), "bodies left open")
	// Output:
	// rate_limit
	// you said hi <nil>
	// 2 calls, 0 bodies left open
}
