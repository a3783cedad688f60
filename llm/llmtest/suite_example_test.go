package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// shout is a Model of one's own.
type shout struct{}

func (shout) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	start := time.Now()
	if err := ctx.Err(); err != nil {
		return llm.Response{}, &llm.Error{Kind: llm.KindOf(err), Provider: "shout", Err: err}
	}
	last := req.Messages[len(req.Messages)-1].Content
	return llm.Response{Text: strings.ToUpper(last), Finish: llm.FinishStop, Timing: llm.Timing{Start: start, Total: time.Since(start)}}, nil
}

func TestShout(t *testing.T) {
	llmtest.Run(t, func(*testing.T) llm.Model { return shout{} })
}

// A Model of your own is tested by one line in a test.
func ExampleRun() {
	testShout := func(t *testing.T) {
		llmtest.Run(t, func(*testing.T) llm.Model { return shout{} })
	}
	fmt.Printf("%T\n", testShout)
	// Output: func(*testing.T)
}

// The first call fails, the second one breaks off, and the third answers.
func ExampleModel() {
	m := llmtest.Answers("", "", "18")
	m.Fault = llmtest.Nth(map[int]llmtest.ModelFault{
		1: {Err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Second)}},
		2: {Hang: true},
	})
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		resp, err := m.Generate(ctx, llm.Prompt("6 times 3?"))
		fmt.Printf("%q %q\n", resp.Text, llm.KindOf(err))
		cancel()
	}
	fmt.Println(m.Calls(), "calls,", m.Canceled(), "canceled")
	// Output:
	// "" "rate_limit"
	// "" "timeout"
	// "18" ""
	// 3 calls, 1 canceled
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
