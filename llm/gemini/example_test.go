package gemini_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
)

func Example() {
	server := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: "The answer is 18.", Reasoning: "6 times 3"}
	}}
	m := gemini.Config{
		Model:      "gemini-2.5-flash",
		BaseURL:    "http://127.0.0.1", // only for the example, as is the next
		HTTPClient: server.Client(),
	}.New()
	req := llm.Prompt("What is 6 times 3?")
	req.Temperature = new(0.0)
	req.Thinking = &llm.Thinking{Budget: new(int64(-1))} // as much as the model likes
	req.Extra = map[string]json.RawMessage{"generationConfig": json.RawMessage(`{"topK":1}`)}
	req.Stream = true
	resp, err := m.Generate(context.Background(), req)
	if err != nil {
		fmt.Println(llm.KindOf(err), err)
		return
	}
	fmt.Println(resp.Text, resp.Finish)
	fmt.Println(resp.Reasoning)
	fmt.Println(resp.Usage.Input, resp.Usage.Output, resp.Usage.Reasoning)
	// Output:
	// The answer is 18. stop
	// 6 times 3
	// 5 7 3
}

// Vertex AI, with credentials of one's own in the place of Application Default
// Credentials.
func ExampleConfig_vertex() {
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: c.Path}
	}}
	m := gemini.Config{
		Model:       "gemini-2.5-flash",
		Vertex:      true,
		Project:     "acme",
		Location:    "europe-west4",
		Credentials: func(context.Context) (string, error) { return "an-access-token", nil },
		HTTPClient:  server.Client(), // only for the example
	}.New()
	resp, err := m.Generate(context.Background(), llm.Prompt("Who answers?"))
	if err != nil {
		fmt.Println(llm.KindOf(err), err)
		return
	}
	fmt.Println(resp.Text)
	// Output:
	// /v1beta1/projects/acme/locations/europe-west4/publishers/google/models/gemini-2.5-flash:generateContent
}

// What a model does not have is refused before anything is sent.
func Example_thinking() {
	req := llm.Prompt("q")
	req.Thinking = &llm.Thinking{Off: true}
	_, err := gemini.New("gemini-3-flash").Generate(context.Background(), req)
	fmt.Println(err)
	// Output:
	// gemini: bad_request: Request.Thinking: the thinking of gemini-3-flash cannot be switched off: set Level to "minimal" (most Flash models have it) or "low", its least
}
