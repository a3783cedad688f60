package judge

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A Reading is what a judge's reply amounts to, and why.
type Reading struct {
	// Legal is whether one of the offered choices was given where it may
	// stand. If not, Choice is zero, and Reason and Why say what is wrong.
	Legal  bool
	Choice Choice
	// How says where the verdict stood: `line "GRADE: C"`, `JSON field "pass"`.
	How string
	// Reason and Why explain a reply that is not legal, and one that
	// contradicts itself and therefore does not pass.
	Reason grade.Reason
	Why    string
	// Explanation is what the judge wrote beside its verdict; "" if nothing.
	Explanation string
	// Reply is the reply as it stood.
	Reply string
}

// ParseReply says what verdict a judge's reply amounts to if these choices were
// offered, in order ([Verdicts] if none are given). It asks nobody, takes time
// linear in the reply and never panics on a reply; choices that cannot be meant
// panic, see [Choices].
//
// A verdict may stand in one of three places:
//
//   - In a JSON object, alone, in a code fence or in prose. Its fields are
//     verdict (also grade, decision, judgement, judgment, choice) with an
//     offered word, pass (also passed, correct, is_correct) with true or false,
//     and score with a number of 0..1. Whichever are there must agree: else the
//     reply contradicts itself, and is incorrect. A score passes from 0.5 on, if
//     a pass stands beside it or it is above 0.5; where partial credit is
//     offered it must be a choice's own. Objects that differ, a key that stands
//     twice, and JSON that is cut or malformed are no verdict.
//   - In the last line that is not empty, as GRADE: and an offered word.
//     Emphasis, blanks, brackets, quotation marks around the word and a final
//     full stop are allowed, and a second spelling of the same choice behind it:
//     "GRADE: C (correct)". The last marker counts. But where an earlier line
//     says otherwise the reply does not pass: it is ungraded.
//   - As the whole reply: "C", "INCORRECT.", "This is a C".
//
// Everything else is [grade.Ungraded]: "GRADE: CI", "GRID: C", "not correct",
// words of other languages, a marker in the middle of a line, a quotation.
// What stands in <think> blocks does not count; if one never ends, nothing does.
//
// The verdict's Answer is the word that was offered, its Calls are empty.
func ParseReply(reply string, offered ...Choice) (grade.Verdict, Reading) {
	return ParseResponse(llm.Response{Text: reply}, offered...)
}

// ParseResponse is [ParseReply] for a whole response: one that was cut at its
// token limit, blocked or refused is never read as a verdict, even if a prefix
// of it parses.
func ParseResponse(resp llm.Response, offered ...Choice) (grade.Verdict, Reading) {
	r := newMenu("ParseReply", offered).read(resp, "")
	return r.verdict(), r
}

// verdict makes the reading a verdict.
func (r Reading) verdict() grade.Verdict {
	if !r.Legal {
		why := r.Why
		if r.Reply != "" {
			why += "; it replied " + quote(r.Reply)
		}
		return grade.Verdict{Mark: grade.Ungraded, How: "judge: no legal verdict", Reason: r.Reason, Why: why}
	}
	v := grade.Verdict{Mark: r.Choice.Mark, Score: r.Choice.Score, Answer: r.Choice.Word, How: "judge: " + r.How}
	if v.Mark != grade.Correct {
		v.Reason, v.Why = r.Reason, r.Why
		if v.Reason == "" {
			v.Reason = grade.ReasonWrong
			if v.Mark == grade.Ungraded {
				v.Reason = ReasonAbstained
			}
		}
		if v.Why == "" {
			v.Why = "the judge chose " + r.Choice.Word
		}
		if r.Explanation != "" {
			v.Why += "; it says " + quote(r.Explanation)
		}
	}
	return v
}

// A statement is one verdict that a reply makes.
type statement struct {
	choice int // index in the menu
	how    string
	why    string // set if it contradicts itself
	said   string // the explanation beside it
}

// read reads a reply. candidate is the text that was judged, if it is known: a
// verdict that is copied from it is not the judge's.
func (m menu) read(resp llm.Response, candidate string) Reading {
	text, no := wholeText(resp)
	var st statement
	if no == nil {
		st, no = m.state(text, clean(candidate))
	}
	if no != nil {
		return Reading{Reason: no.reason, Why: no.why, Reply: resp.Text}
	}
	r := Reading{Legal: true, Choice: m[st.choice], How: st.how, Why: st.why, Explanation: st.said, Reply: resp.Text}
	if st.why != "" {
		r.Reason = ReasonContradictory
	}
	return r
}

// wholeText returns the text of a reply in which a verdict may stand: a
// complete one, without what cannot be seen and without reasoning. All judges
// read their replies through it.
func wholeText(resp llm.Response) (string, *fault) {
	switch {
	case resp.Refusal != "" || resp.Finish == llm.FinishRefusal:
		return "", faultf(ReasonRefused, "the judge refused: "+quote(resp.Refusal))
	case resp.Finish == llm.FinishLength:
		return "", faultf(ReasonTruncated, "the judge's reply was cut at its token limit")
	case resp.Finish == llm.FinishContentFilter:
		return "", faultf(ReasonBlocked, "the provider's filter stopped the judge")
	case len(resp.ToolCalls) > 0 || resp.Finish == llm.FinishToolCalls:
		return "", faultf(ReasonNoVerdict, "the judge called a tool, and none was offered")
	}
	text := clean(resp.Text)
	if strings.TrimSpace(text) == "" {
		return "", faultf(ReasonEmpty, "the judge's reply is empty")
	}
	if isObject(unfenced(text)) {
		return text, nil // a <think> within its strings is text
	}
	rest, whole := grade.WithoutReasoning(text)
	if !whole {
		return "", faultf(ReasonIncomplete, "the judge's reply never left its reasoning")
	}
	return rest, nil
}

// clean drops what cannot be seen and makes every blank a space, so that
// nothing stands between a marker and its word that a person would not see.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r >= ' ' && r <= '~':
			return r
		case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case isZeroWidth(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
}

// isZeroWidth reports characters that are nothing at all. Bidirectional
// overrides are not among them: they change what is seen.
func isZeroWidth(r rune) bool {
	switch r {
	case '\u00ad', '\u034f', '\u180e', '\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u2060', '\ufeff':
		return true
	}
	return r >= '\ufe00' && r <= '\ufe0f'
}

// mostObjects is how many verdicts in JSON a reply may hold: more are noise, and
// each is looked for in the candidate.
const mostObjects = 64

// state returns the one verdict that a text states.
func (m menu) state(text, candidate string) (statement, *fault) {
	objects, no := m.objects(text)
	switch {
	case no != nil:
		return statement{}, no
	case len(objects) > mostObjects:
		return statement{}, faultf(ReasonAmbiguous, fmt.Sprintf("the reply holds %d JSON objects with a verdict", len(objects)))
	}
	objects = withoutQuotes(text, candidate, objects, m)
	if len(objects) == 0 {
		return m.stateInWords(text, candidate)
	}
	first := objects[0]
	var rest strings.Builder
	at := 0
	for _, o := range objects {
		if o.no != nil {
			return statement{}, o.no
		}
		if o.choice != first.choice {
			return statement{}, faultf(ReasonAmbiguous, "the reply holds JSON objects with different verdicts: "+quote(first.text)+" and "+quote(o.text))
		}
		rest.WriteString(text[at:o.start] + "{}")
		at = o.end
	}
	rest.WriteString(text[at:])
	return first.statement, m.against(first, rest.String(), candidate)
}

// against returns a fault if a marker line beside a verdict in JSON says
// something else. One that passes and stands in the candidate is a quotation.
func (m menu) against(o object, rest, candidate string) *fault {
	quoted := map[int]bool{}
	for _, l := range m.markers(candidate) {
		if l.ok && m[l.choice].Mark == grade.Correct {
			quoted[l.choice] = true
		}
	}
	for _, l := range m.markers(rest) {
		switch {
		case l.ok && (l.choice == o.choice || quoted[l.choice]), !l.ok && !l.last:
		default:
			return faultf(ReasonAmbiguous, "the reply holds "+quote(o.text)+" and "+quote(l.text))
		}
	}
	return nil
}
