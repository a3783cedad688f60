package grade_test

import (
	"context"
	"fmt"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func ExampleNumeric() {
	g := grade.Numeric()
	item := dataset.Item{ID: "eggs", Target: "1,800"}
	for _, text := range []string{
		"She makes 9 * 200 = $1800.\n#### 1800",
		"Try \\boxed{180}. I forgot a zero: \\boxed{1{,}800}.",
		"The answer is about 1800.",
		"ANSWER: 1800%",
		"The answer is 18 eggs for 2 people.",
	} {
		v, err := g.Grade(context.Background(), item, llm.Response{Text: text})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %q (%s)\n", v.Mark, v.Answer, v.How)
	}
	// Output:
	// correct "1800" (numeric: marker "####")
	// correct "1{,}800" (numeric: boxed)
	// unparsed "" (numeric: marker "answer is")
	// correct "1800%" (numeric: marker "ANSWER:")
	// incorrect "18" (numeric: marker "answer is")
}
