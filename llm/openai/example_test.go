package openai_test

import (
	"context"
	"fmt"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

func Example() {
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: "The answer is 18.", Reasoning: "6 times 3"}
	}}
	cfg := openai.VLLM("http://127.0.0.1:8000/v1", "qwen3")
	cfg.HTTPClient = server.Client() // only for the example
	m := cfg.New()
	req := llm.Prompt("What is 6 times 3?")
	req.Temperature = new(0.0)
	req.Thinking = &llm.Thinking{Budget: new(int64(1000))}
	req.Stream = true
	resp, err := m.Generate(context.Background(), req)
	if err != nil {
		fmt.Println(llm.KindOf(err), err)
		return
	}
	fmt.Println(resp.Text, resp.Finish)
	fmt.Println(resp.Usage.Input, resp.Usage.Output, resp.Usage.Reasoning)
	// Output:
	// The answer is 18. stop
	// 5 7 3
}
