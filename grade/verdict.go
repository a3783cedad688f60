package grade

import (
	"errors"
	"fmt"
	"math"

	"github.com/goevals/evals/llm"
)

// A Mark is the one word of a [Verdict].
type Mark string

// The marks. The zero Mark is none of them: a grader that returns Verdict{} by
// mistake is found out.
const (
	Correct   Mark = "correct"
	Incorrect Mark = "incorrect"
	// Unparsed: no answer was found to compare. The next attempt or a judge
	// may decide; a run counts it as not correct.
	Unparsed Mark = "unparsed"
	// Ungraded: a judge was needed and gave no legal verdict.
	Ungraded Mark = "ungraded"
)

// A Reason is a stable word for why a verdict is not Correct, for counting.
// Empty if Correct.
type Reason string

// The reasons that the graders of this package give.
const (
	ReasonWrong        Reason = "wrong"         // an answer was found and differs
	ReasonNoResponse   Reason = "no_response"   // the text is empty
	ReasonNoAnswer     Reason = "no_answer"     // text, but nothing to compare in it
	ReasonAmbiguous    Reason = "ambiguous"     // several answers, none of them final
	ReasonIncomplete   Reason = "incomplete"    // the answer never left its reasoning block
	ReasonRefusal      Reason = "refusal"       // the provider's refusal field is set
	ReasonDuplicateKey Reason = "duplicate_key" // JSON in which two keys are the same, or the same after case folding
	ReasonInvalid      Reason = "invalid"       // the answer is malformed: not JSON, not a tool call
)

// A Verdict is what a grader says of one answer.
type Verdict struct {
	Mark Mark `json:"mark"`
	// Score lies in 0..1: 1 for Correct, 0 for the other marks unless a
	// grader gives partial credit (F1, Weighted, a rubric).
	Score float64 `json:"score"`
	// Answer is what was extracted from the response and compared, as it
	// stood there; empty if nothing was.
	Answer string `json:"answer,omitempty"`
	// How names the way the verdict was reached: grader and rule, such as
	// `numeric: marker "####"`.
	How string `json:"how,omitempty"`
	// Reason is a stable word for why the mark is not Correct.
	Reason Reason `json:"reason,omitempty"`
	// Why explains a mark other than Correct to a person. It may quote the
	// response: escape it before it is shown.
	Why string `json:"why,omitempty"`
	// Calls are the model calls that judges spent on this verdict.
	Calls []llm.Response `json:"calls,omitempty"`
}

// ErrInvalidVerdict is wrapped by what [Verdict.Check] returns.
var ErrInvalidVerdict = errors.New("grade: invalid verdict")

// Check reports a verdict that no grader may give: an unknown mark, or a score
// that is NaN or outside 0..1, or Correct with a score of 0.
func (v Verdict) Check() error {
	switch v.Mark {
	case Correct, Incorrect, Unparsed, Ungraded:
	default:
		return fmt.Errorf("%w: mark %q is none of correct, incorrect, unparsed, ungraded", ErrInvalidVerdict, v.Mark)
	}
	if math.IsNaN(v.Score) || v.Score < 0 || v.Score > 1 {
		return fmt.Errorf("%w: score %v lies outside 0..1", ErrInvalidVerdict, v.Score)
	}
	if v.Mark == Correct && v.Score == 0 {
		return fmt.Errorf("%w: correct with a score of 0", ErrInvalidVerdict)
	}
	return nil
}
