package cassette_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

func Example() {
	dir, err := os.MkdirTemp("", "cassette")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "support.jsonl.gz")
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: fmt.Sprintf("answer %d", c.N)}
	}}
	model := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()

	for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
		c, err := cassette.Open(path, cassette.Options{Mode: mode})
		if err != nil {
			fmt.Println(err)
			return
		}
		ctx := wire.WithMiddleware(llm.WithItem(context.Background(), "ticket-1"), c)
		resp, err := model.Generate(ctx, llm.Prompt("Where is my parcel?"))
		fmt.Println(mode, resp.Text, resp.Replayed, err)
		if err := c.Close(); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("the server was asked", server.Counts().Calls, "time")
	// Output:
	// record answer 1 false <nil>
	// replay answer 1 true <nil>
	// the server was asked 1 time
}
