package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

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
