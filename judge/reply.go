package judge

import (
	"fmt"
	"regexp"
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
//   - In a JSON object, alone, in a code fence or beside prose. Its fields are
//     verdict (also grade, decision, judgement, judgment, choice, and result,
//     label and outcome if they hold an offered word) with an offered word, true
//     or false; pass (also passed, correct, is_correct) and fail (failed,
//     incorrect, is_incorrect) with true or false; and score with a number of
//     0..1. Case, blanks, hyphens and underscores in their names, and "final" or
//     "overall" before them, do not matter. Whichever are there must agree: else
//     the reply contradicts itself, and is incorrect. A score passes from 0.5 on,
//     if a pass stands beside it or it is above 0.5; where partial credit is
//     offered it must be a choice's own. Objects that differ, a key that stands
//     twice, and JSON that is cut or malformed are no verdict. Nor is an object
//     in the middle of a sentence, one that is announced as somebody else's, or
//     one that what follows takes back.
//   - In the last line that is not empty, as GRADE: and an offered word.
//     Emphasis, list marks, LaTeX, blanks, brackets and quotation marks around
//     the word and a final full stop are allowed, and behind it a second spelling
//     of the same choice or what it means: "GRADE: C (correct)". The last marker
//     counts. But where something before it says otherwise, as a marker or as
//     "verdict: incorrect", the reply does not pass: it is ungraded. So is a line
//     that is announced as a quotation: "The answer says:".
//   - As the whole reply: "C", "INCORRECT.", "This is a C". "The answer is C" is
//     none: it may be the judge's own answer to a question with choices.
//
// Everything else is [grade.Ungraded]: "GRADE: CI", "GRID: C", "not correct",
// words of other languages, a marker in the middle of a line, a quotation.
// What stands in <think> blocks does not count; if one never ends, nothing does.
// A token that ends a turn, such as <|im_end|>, is dropped from the end.
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
		st, no = m.state(text, asShown(candidate))
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

// asShown returns what a reply may hold of a candidate: its text, and what a
// judge was shown of it where that differs.
func asShown(candidate string) string {
	text := clean(candidate)
	if shown := neutral(visible(candidate)); shown != candidate {
		text += "\n\n" + clean(shown)
	}
	return text
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
	text := withoutStops(clean(resp.Text))
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

// stops are the tokens that end a turn, which some servers let through.
var stops = regexp.MustCompile(`(?:\s|<\|[a-z_]{1,20}\|>|</s>|<eos>|<end_of_turn>)+$`)

// withoutStops drops them from the end of a reply.
func withoutStops(s string) string {
	const most = 400 // keeps the search away from what is no end
	at := max(0, len(s)-most)
	return s[:at] + stops.ReplaceAllString(s[at:], "")
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
	for i, o := range objects {
		if o.no != nil {
			return statement{}, o.no
		}
		if o.choice != first.choice {
			return statement{}, faultf(ReasonAmbiguous, "the reply holds JSON objects with different verdicts: "+quote(first.text)+" and "+quote(o.text))
		}
		next := len(text)
		if i+1 < len(objects) {
			next = objects[i+1].start
		}
		if said := beside(text[at:o.start], text[o.end:next], m.decides() && m[o.choice].Mark == grade.Correct); said != "" {
			return statement{}, faultf(ReasonAmbiguous, "the judge's "+quote(o.text)+" may be no verdict of its own: beside it stands "+quote(strings.TrimSpace(said)))
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
	if other := m.contrary(rest, o.choice); other != "" {
		return faultf(ReasonAmbiguous, "the reply holds "+quote(o.text)+" and "+quote(other))
	}
	return nil
}
