package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/record"
)

// One call of a server, and what is known of it.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"role":"assistant"}}]}`+"\n\n"+
			`data: {"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":1}}`+"\n\n"+
			"data: [DONE]\n\n")
	}))
	defer server.Close()

	c, err := client.New(client.Config{
		Host: server.URL, Model: "m", Concurrency: 16,
		Timeouts: client.Timeouts{First: 10 * time.Second, Total: time.Minute},
		Retry:    client.Retry{Max: 2, Jitter: 0.5},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	body, err := c.Body(client.Prompt{Text: "What is 2 + 2?", MaxTokens: 1, MinTokens: 1})
	if err != nil {
		fmt.Println(err)
		return
	}

	start := time.Now()
	rec := record.Request{AskedOutput: 1}
	c.Do(context.Background(), &client.Call{Start: start, Body: body}, &rec)

	fmt.Println("ok:", rec.OK(), "finish:", rec.Finish)
	fmt.Println("fragments:", len(rec.Fragments), "of", rec.Fragments[0].Bytes, "byte")
	fmt.Println("tokens:", rec.Usage.Input, "in,", rec.Usage.Output, "out")
	fmt.Println("in order:", rec.Sent <= rec.Headers && rec.Headers <= rec.Fragments[0].At && rec.Fragments[0].At <= rec.Done)
	// Output:
	// ok: true finish: stop
	// fragments: 1 of 1 byte
	// tokens: 12 in, 1 out
	// in order: true
}
