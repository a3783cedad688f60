package llmtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

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

// testShout is the whole test of it: in a test file it is called TestShout.
func testShout(t *testing.T) {
	llmtest.Run(t, func(*testing.T) llm.Model { return shout{} })
}

// A Model of your own is tested by one line in a test.
func ExampleRun() {
	resp, err := shout{}.Generate(context.Background(), llm.Prompt("hi"))
	fmt.Println(resp.Text, err)
	// Output: HI <nil>
}
