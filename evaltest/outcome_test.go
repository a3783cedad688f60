package evaltest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func numbered(t *testing.T, n int) *dataset.Dataset {
	items := make([]dataset.Item, n)
	for i := range items {
		items[i] = dataset.Item{ID: fmt.Sprintf("q%03d", i), Input: "9 * 2?", Target: "18"}
	}
	ds, err := dataset.New("numbers", items)
	require.NoError(t, err)
	return ds
}

// replies answers the i-th item with the i-th response or error.
func replies(f func(id string) (llm.Response, error)) evaltest.Strategy {
	return evaltest.StrategyFunc(func(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) { return f(it.ID) })
}

func init() {
	mixed := func(id string) (llm.Response, error) {
		switch {
		case id < "q080":
			return llm.Response{Text: "#### 18"}, nil
		case id < "q090":
			return llm.Response{Text: "#### 17"}, nil
		}
		return llm.Response{}, &llm.Error{Kind: llm.KindServer, Status: 500}
	}
	scenarios["mixed"] = func(t *testing.T) {
		evaltest.Run(t, numbered(t, 100), replies(mixed), exact, evaltest.Grader(grade.Numeric()), evaltest.MaxErrored(10), evaltest.MinAccuracy(0.85))
	}
	scenarios["kinds"] = func(t *testing.T) {
		evaltest.Run(t, numbered(t, 7), replies(func(id string) (llm.Response, error) {
			return map[string]llm.Response{
				"q000": {Text: "#### 18", Finish: llm.FinishStop},
				"q001": {Text: "", Finish: llm.FinishLength},
				"q002": {Text: "so 9 * 2 = 18", Finish: llm.FinishLength},
				"q003": {Text: "", Finish: llm.FinishStop},
				"q004": {Refusal: "I cannot help with 18.", Finish: llm.FinishRefusal},
				"q005": {Text: "#### 17", Finish: llm.FinishStop},
				"q006": {Text: "18", Finish: llm.FinishContentFilter},
			}[id], nil
		}), exact, evaltest.Grader(grade.Numeric()), evaltest.MinAccuracy(0.1))
	}
}

// TestDenominator: J16. Errors stay in the denominator: 80 of 100, never 80 of
// 90, and the gate sees that number.
func TestDenominator(t *testing.T) {
	t.Parallel()
	c := newChild(t, "mixed").run()
	assert.Equal(t, 1, c.code)
	assert.Contains(t, c.text(), "80.0%: 80/100 correct, 10 incorrect, 10 errored")
	assert.Contains(t, c.text(), "FAILED MinAccuracy: accuracy 80.0%")
	assert.Contains(t, c.text(), "passed MaxErrored: 10 of 100")
}

// TestOutcomes: C15 and G24. Cut, empty, refused, blocked and wrong answers are
// told apart and none of them is correct.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	c := newChild(t, "kinds", "-test.v").run()
	assert.Equal(t, 0, c.code, c.text())
	assert.Contains(t, c.text(), "1/7 correct")
	j := c.journal()
	for id, want := range map[string]struct {
		outcome result.Outcome
		reason  grade.Reason
	}{
		"q000": {result.Correct, ""},
		"q001": {result.Truncated, ""},
		"q002": {result.Truncated, ""}, // although the right number stands in it
		"q003": {result.Unparsed, grade.ReasonNoResponse},
		"q004": {result.Refused, ""},
		"q005": {result.Incorrect, grade.ReasonWrong},
		"q006": {result.Blocked, ""},
	} {
		r := j.Find(result.Key{ID: id})
		require.NotNil(t, r, id)
		assert.Equal(t, want.outcome, r.Outcome, id)
		if want.reason != "" {
			assert.Equal(t, want.reason, r.Verdict.Reason, id)
		}
		terminal := "SKIP"
		if want.outcome == result.Correct {
			terminal = "PASS"
		}
		assert.Contains(t, c.text(), "--- "+terminal+": TestChild/"+id)
	}
}
