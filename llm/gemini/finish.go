package gemini

import (
	"fmt"

	"github.com/goevals/evals/llm"
)

// finishWords are the API's finish reasons in our words. Those that are not in
// it are kept as they came, with a warning that has the server's own message:
// MALFORMED_FUNCTION_CALL and UNEXPECTED_TOOL_CALL (the model wrote a call that
// cannot be read or made: there is no call in the answer, and the text is what
// came before), TOO_MANY_TOOL_CALLS, MISSING_THOUGHT_SIGNATURE,
// MALFORMED_RESPONSE, LANGUAGE, OTHER, NO_IMAGE, IMAGE_OTHER. An answer that
// ends so is no failure of the call; what it is worth its grader says.
var finishWords = map[string]llm.FinishReason{
	"STOP":       llm.FinishStop,
	"MAX_TOKENS": llm.FinishLength,
	// The server wants to be asked again to go on, which would be another
	// billed call: what came is cut.
	"CONTINUATION":             llm.FinishLength,
	"SAFETY":                   llm.FinishContentFilter,
	"RECITATION":               llm.FinishContentFilter,
	"BLOCKLIST":                llm.FinishContentFilter,
	"PROHIBITED_CONTENT":       llm.FinishContentFilter,
	"SPII":                     llm.FinishContentFilter,
	"MODEL_ARMOR":              llm.FinishContentFilter,
	"IMAGE_SAFETY":             llm.FinishContentFilter,
	"IMAGE_PROHIBITED_CONTENT": llm.FinishContentFilter,
	"IMAGE_RECITATION":         llm.FinishContentFilter,
}

func (a *answer) finishReason() llm.FinishReason {
	if a.candidates == 0 && (a.blocked != "" || a.feedback) {
		return llm.FinishContentFilter
	}
	word, ok := finishWords[a.finish]
	switch {
	case a.finish == "" && a.blocked != "":
		return llm.FinishContentFilter // after some text
	case word == llm.FinishStop && len(a.calls) > 0:
		return llm.FinishToolCalls
	case ok:
		return word
	}
	return llm.FinishReason(a.finish)
}

// finishWarning says what the server gave as the reason, where our word says
// less than it did.
func (a *answer) finishWarning() string {
	switch a.finish {
	case "":
		if a.blocked == "" || a.candidates == 0 {
			return ""
		}
		return "the answer ended since the prompt was blocked: " + a.blocked
	case "STOP", "MAX_TOKENS":
		return ""
	case "CONTINUATION":
		return "the answer ended with CONTINUATION: the server would go on in another call, which this client does not make"
	}
	s := "the answer ended with " + a.finish
	if a.message != "" {
		s += fmt.Sprintf(": %q", a.message)
	}
	return s
}
