package peer

import "github.com/goevals/evals/grade"

var deepEvalGSM8K = &rule{
	name:   "deepeval.gsm8k.exact",
	source: source{"confident-ai/deepeval", "a2e0d4cfd"},
	about:  "the answer as text, equal to the target but for white space around them",
	compare: func(response, target string) (finding, error) {
		return found(response != "" && strip(response) == strip(target), response), nil
	},
}

// DeepEvalGSM8K grades as deepeval's GSM8K benchmark compares: the response,
// which deepeval asks for as one bare integer, equals the target but for white
// space around them. Targets keep their commas, so that "2125" is not 2,125.
func DeepEvalGSM8K() grade.Grader { return deepEvalGSM8K }
