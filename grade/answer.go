package grade

import (
	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// unanswered returns the verdict on a response that has nothing to grade: a
// refusal, or a text without a visible character. Every grader asks it first,
// so that a dead endpoint never passes, whatever is being looked for.
func unanswered(name string, resp llm.Response) (Verdict, bool) {
	switch {
	case resp.Refusal != "":
		return unparsed(name, ReasonRefusal, "the provider's refusal field says "+quote(resp.Refusal)), true
	case isBlank(resp.Text):
		return unparsed(name, ReasonNoResponse, "the response has no text"), true
	}
	return Verdict{}, false
}

// finalText returns the part of the response in which an answer may stand. If
// there is none, it returns the verdict on it and false.
func finalText(name string, item dataset.Item, resp llm.Response) (string, Verdict, bool) {
	if v, ok := unanswered(name, resp); ok {
		return "", v, false
	}
	text, incomplete := answerText(resp.Text, item.Input)
	switch {
	case incomplete:
		return "", unparsed(name, ReasonIncomplete, "the text ends inside its reasoning block"), false
	case isBlank(text):
		return "", unparsed(name, ReasonNoAnswer, "nothing is left outside of reasoning"), false
	}
	return text, Verdict{}, true
}

// unparsed is a verdict without an answer.
func unparsed(name string, reason Reason, why string) Verdict {
	return Verdict{Mark: Unparsed, How: name + ": " + howUnparsed[reason], Reason: reason, Why: why}
}

var howUnparsed = map[Reason]string{
	ReasonNoResponse:   "no response",
	ReasonNoAnswer:     "no answer found",
	ReasonAmbiguous:    "several answers",
	ReasonIncomplete:   "unfinished reasoning",
	ReasonRefusal:      "refusal",
	ReasonDuplicateKey: "duplicate key",
	ReasonInvalid:      "malformed",
}

// graded is a verdict on an answer that was found: right or wrong, nothing
// between.
func graded(right bool, answer, how, why string) Verdict {
	if right {
		return Verdict{Mark: Correct, Score: 1, Answer: answer, How: how}
	}
	return Verdict{Mark: Incorrect, Answer: answer, How: how, Reason: ReasonWrong, Why: why}
}

// accepted returns the item's target and its further accepted answers, in
// order. An empty Target counts only if there is no other.
func accepted(item dataset.Item) []string {
	if item.Target == "" && len(item.Targets) > 0 {
		return item.Targets
	}
	return append([]string{item.Target}, item.Targets...)
}

// wanted shows the accepted answers in an explanation.
func wanted(targets []string) string {
	const show = 3
	s := ""
	for i, t := range targets {
		if i == show {
			s += " or others"
			break
		}
		if i > 0 {
			s += " or "
		}
		s += quote(t)
	}
	return s
}
