package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// A server that is too busy once, and then answers.
func Example() {
	server := &llmtest.Server{
		Reply: func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "you said " + c.Last()} },
		Rules: []llmtest.Rule{{Calls: []int{1}, Faults: llmtest.Named(llmtest.FaultRateLimitSeconds)}},
	}
	m := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
	_, err := m.Generate(context.Background(), llm.Prompt("hi"))
	fmt.Println(llm.KindOf(err))
	resp, err := m.Generate(context.Background(), llm.Prompt("hi"))
	fmt.Println(resp.Text, err)
	c := server.Counts()
	fmt.Println(c.Calls, "calls,", c.Answered, "answered,", c.Billed.Output, "tokens out,", c.OpenBodies, "bodies left open")
	// Output:
	// rate_limit
	// you said hi <nil>
	// 2 calls, 1 answered, 3 tokens out, 0 bodies left open
}

// In a bubble of testing/synctest a slow server costs no time, and how long
// things take is exact.
func ExampleServer_synctest() {
	var t testing.T // in a test: its own
	synctest.Test(&t, func(t *testing.T) {
		server := &llmtest.Server{
			Latency: llmtest.Latency{First: llmtest.Constant(time.Second), Between: llmtest.Constant(20 * time.Millisecond)},
			Reply:   func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "six times three is 18"} },
		}
		m := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
		req := llm.Prompt("six times three")
		req.Stream = true
		resp, err := m.Generate(t.Context(), req)
		fmt.Println(resp.Text, err)
		fmt.Println("first token after", resp.Timing.FirstToken, "and all after", resp.Timing.Total)
	})
	// Output:
	// six times three is 18 <nil>
	// first token after 1s and all after 1.08s
}

// Of a thousand calls about 2 in 100 fail, the same ones in every run.
func ExampleRule() {
	server := &llmtest.Server{Seed: 1, Rules: []llmtest.Rule{{
		Probability: 0.02,
		Faults:      llmtest.Named(llmtest.FaultServerError, llmtest.FaultBadGateway, llmtest.FaultTruncated),
	}}}
	m := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
	failed := map[llm.ErrorKind]int{}
	for i := range 1000 {
		_, err := m.Generate(context.Background(), llm.Prompt(fmt.Sprint("item ", i)))
		if err != nil {
			failed[llm.KindOf(err)]++
		}
	}
	fmt.Println(failed)
	fmt.Println(server.Counts().ByFault)
	// Output:
	// map[incomplete:8 server:14]
	// map[bad-gateway:9 server-error:5 truncated:8]
}

// What a server lets through in a minute is counted strictly, and what it says
// of it is true.
func ExampleLimits() {
	server := &llmtest.Server{Limits: llmtest.Limits{RPM: 2}}
	m := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
	for range 3 {
		resp, err := m.Generate(context.Background(), llm.Prompt("hi"))
		if err != nil {
			fmt.Println(llm.KindOf(err))
			continue
		}
		fmt.Println(resp.Text, "and", *resp.RateLimit.Requests.Remaining, "left")
	}
	// Output:
	// ok and 1 left
	// ok and 0 left
	// rate_limit
}

// A batch is uploaded, looked at and read with the SDK that users have.
func ExampleBatches() {
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "you said " + c.Last()} }}
	cfg := goopenai.DefaultConfig("any key")
	cfg.HTTPClient = server.Client()
	c, ctx := goopenai.NewClientWithConfig(cfg), context.Background()
	var file goopenai.UploadBatchFileRequest
	file.AddChatCompletion("row-1", goopenai.ChatCompletionRequest{Model: "m", Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: "hi"}}})
	created, err := c.CreateBatchWithUploadFile(ctx, goopenai.CreateBatchWithUploadFileRequest{
		Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: file,
	})
	looked, err2 := c.RetrieveBatch(ctx, created.ID)
	fmt.Println(created.Status, looked.Status, looked.RequestCounts, errors.Join(err, err2))
	out, err := c.GetFileContent(ctx, *looked.OutputFileID)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer out.Close()
	text, err := io.ReadAll(out)
	fmt.Println(strings.Contains(string(text), `"custom_id":"row-1"`), strings.Contains(string(text), "you said hi"), err)
	// Output:
	// validating completed {1 1 0} <nil>
	// true true <nil>
}
