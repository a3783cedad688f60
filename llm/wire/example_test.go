package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// An application that calls a model with its own client is counted once its
// client sits on wire.
func Example() {
	server := &llmtest.Server{}
	client := &http.Client{Transport: wire.Transport{Base: server.Memory()}} // Base is for the example only

	var log llm.CallLog
	var seen wire.Capture
	ctx := wire.WithCapture(llm.WithCallLog(context.Background(), &log), &seen)
	body := strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"one two three"}]}`)
	req, err := http.NewRequestWithContext(ctx, "POST", "http://model/v1/chat/completions", body)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()

	for _, c := range log.Calls() {
		fmt.Println(c.Response.Model, c.Response.Usage.Input, c.Response.Usage.Output, c.Err)
	}
	fmt.Println(seen.Get().Status, seen.Get().Whole)
	// Output:
	// m 3 1 <nil>
	// 200 true
}

// What it takes to have the calls of an SDK of one's own counted, recorded and
// replayed: one line where the SDK's client is made. The rest of the
// application stays as it is, as long as it passes its context on.
func Example_sdk() {
	server := httptest.NewServer(&llmtest.Server{}) // stands for the provider
	defer server.Close()

	config := sdk.DefaultConfig("the key")
	config.BaseURL = server.URL + "/v1"
	config.HTTPClient = &http.Client{Transport: wire.Transport{}} // this line
	client := sdk.NewClientWithConfig(config)

	// evaltest gives such a context to a strategy; here is what it holds.
	var log llm.CallLog
	ctx := llm.WithCallLog(context.Background(), &log)
	answer, err := client.CreateChatCompletion(ctx, sdk.ChatCompletionRequest{
		Model:    "m",
		Messages: []sdk.ChatCompletionMessage{{Role: "user", Content: "one two three"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Choices[0].Message.Content)
	for _, c := range log.Calls() {
		fmt.Println(c.Response.Usage.Input, "tokens in,", c.Response.Usage.Output, "out")
	}
	// Output:
	// ok
	// 3 tokens in, 1 out
}

// What a refused call asks for, in whatever way its server says it.
func ExampleWait() {
	h := http.Header{}
	h.Set("x-ratelimit-remaining-requests", "99")
	h.Set("x-ratelimit-reset-requests", "8ms")
	h.Set("x-ratelimit-remaining-tokens", "0")
	h.Set("x-ratelimit-reset-tokens", "6m0s")
	fmt.Println(wire.Wait(429, h, nil, time.Now()))

	body := []byte(`{"error":{"code":429,"message":"Quota exceeded. Please retry in 58.9s.","details":[
		{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"58s"}]}}`)
	fmt.Println(wire.Wait(429, nil, body, time.Now()))
	// Output:
	// 6m0s true
	// 59s true
}
