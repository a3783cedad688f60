package grade_test

import (
	"context"
	"fmt"
	"regexp"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A support bot must answer with JSON, and must never promise a refund.
func Example() {
	noRefund := grade.Not(grade.Regexp(regexp.MustCompile(`(?i)\brefund\b`)))
	grader := grade.All(grade.JSON(grade.JSONSubset()), noRefund)

	item := dataset.Item{ID: "ticket-7", Target: `{"category": "billing", "priority": 2}`}
	for _, reply := range []string{
		`{"category": "billing", "priority": 2.0, "reply": "We will look into it."}`,
		`{"category": "billing", "priority": "2", "reply": "We will look into it."}`,
		`{"category": "billing", "priority": 2, "reply": "You get a refund."}`,
		``,
	} {
		v, err := grader.Grade(context.Background(), item, llm.Response{Text: reply})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(v.Mark)
		if v.Mark != grade.Correct {
			fmt.Printf("  %s: %s\n", v.Reason, v.Why)
		}
	}
	// Output:
	// correct
	// incorrect
	//   wrong: part 1 of 2 (json-subset): /priority: want 2, got "2"
	// incorrect
	//   wrong: part 2 of 2 (not(regexp)): not(regexp): the reply is what it must not be
	// unparsed
	//   no_response: part 1 of 2 (json-subset): the response has no text
}

func ExampleChoice() {
	item := dataset.Item{ID: "q1", Target: "B", Choices: []string{"London", "Paris", "Rome"}}
	for _, reply := range []string{"ANSWER: $B$", "It is Paris.", "Either A or B would do.", "ANSWER: B) Rome"} {
		v, err := grade.Choice().Grade(context.Background(), item, llm.Response{Text: reply})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%-28q%s %s\n", reply, v.Mark, v.Answer)
	}
	// Output:
	// "ANSWER: $B$"               correct B
	// "It is Paris."              correct Paris.
	// "Either A or B would do."   unparsed A or B
	// "ANSWER: B) Rome"           unparsed B) Rome
}

func ExampleFallback() {
	// A number where there is one, else the whole text.
	grader := grade.Fallback(grade.Numeric(), grade.Exact())
	v, err := grader.Grade(context.Background(), dataset.Item{ID: "1", Target: "12"}, llm.Response{Text: "#### 12"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Mark, v.How)
	// Output:
	// correct fallback: part 1 of 2: numeric: marker "####"
}
