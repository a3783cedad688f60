package llm_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/goevals/evals/llm"
)

func Example() {
	shout := llm.ModelFunc(func(_ context.Context, req llm.Request) (llm.Response, error) {
		last := req.Messages[len(req.Messages)-1].Content
		if last == "" {
			return llm.Response{}, &llm.Error{Kind: llm.KindBadRequest, Message: "an empty prompt"}
		}
		return llm.Response{Text: strings.ToUpper(last), Finish: llm.FinishStop}, nil
	})
	req := llm.Prompt("hello").WithSystem("Shout.")
	req.Temperature = new(0.0) // zero is a setting
	resp, err := shout.Generate(context.Background(), req)
	fmt.Println(resp.Text, err)
	_, err = shout.Generate(context.Background(), llm.Prompt(""))
	fmt.Println(llm.KindOf(err), llm.KindOf(err).Retryable())
	// Output:
	// HELLO <nil>
	// bad_request false
}
