package peer_test

import (
	"context"
	"fmt"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade/peer"
	"github.com/goevals/evals/llm"
)

// One response, graded as three projects would.
func Example() {
	item := dataset.Item{ID: "1", Target: "18"}
	resp := llm.Response{Text: "She earns 9 * 2 = 18 dollars.\nThe answer is 18"}
	for _, name := range []string{
		"lm-eval.gsm8k.flexible-extract",
		"lm-eval.gsm8k_cot.strict-match",
		"gsm8k.original",
	} {
		g, _ := peer.Lookup(name)
		v, err := g.Grade(context.Background(), item, resp)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s %q\n", name, v.Mark, v.Answer)
	}
	// Output:
	// lm-eval.gsm8k.flexible-extract: correct "18"
	// lm-eval.gsm8k_cot.strict-match: incorrect "1"
	// gsm8k.original: unparsed ""
}
