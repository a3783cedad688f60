package judge

import (
	"strconv"
	"unicode/utf8"

	"github.com/goevals/evals/grade"
)

// The reasons that judges give for a verdict that is not correct, beside those
// of package grade.
const (
	ReasonEmpty         grade.Reason = "judge_empty"         // the reply holds no text
	ReasonTruncated     grade.Reason = "judge_truncated"     // the reply was cut, at a token limit or within its JSON
	ReasonBlocked       grade.Reason = "judge_blocked"       // the provider's filter stopped the judge
	ReasonRefused       grade.Reason = "judge_refused"       // the judge refused, in the provider's refusal field
	ReasonIncomplete    grade.Reason = "judge_incomplete"    // the reply never left its reasoning block
	ReasonNoVerdict     grade.Reason = "judge_no_verdict"    // text, but no verdict where one may stand
	ReasonOffMenu       grade.Reason = "judge_off_menu"      // a verdict that was not offered
	ReasonMalformed     grade.Reason = "judge_malformed"     // JSON that is none, or keys that stand twice
	ReasonAmbiguous     grade.Reason = "judge_ambiguous"     // several verdicts that differ
	ReasonContradictory grade.Reason = "judge_contradictory" // fields of one verdict that differ: it does not pass
	ReasonAbstained     grade.Reason = "judge_abstained"     // a word that was offered and means that the judge cannot tell
)

// A fault is why a reply holds no legal verdict.
type fault struct {
	reason grade.Reason
	why    string
}

func faultf(reason grade.Reason, why string) *fault { return &fault{reason, why} }

// quoteLimit is how many bytes of a text from outside an explanation repeats.
const quoteLimit = 400

// quote returns s as a Go string literal, nothing unprintable in it, cut after
// quoteLimit bytes.
func quote(s string) string {
	if len(s) <= quoteLimit {
		return strconv.Quote(s)
	}
	return strconv.Quote(cut(s, quoteLimit)) + "… (" + strconv.Itoa(len(s)) + " bytes)"
}

// cut returns at most n bytes from the start of s, whole runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
