package judge

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/goevals/evals/grade"
)

// A verdict may be taken back by what stands around it. None of the checks here
// makes a verdict of a reply: they only keep one from being read, and the judge
// is asked again, so a false alarm costs one call.

// announced is the end of a line that leads up to somebody else's words, or to
// an example.
var announced = regexp.MustCompile(`(?i)(?:\b(?:not|never|says?|said|states?|stated|writes?|wrote|claims?|claimed|reads|contains?|contained|ends?|ended|includes?|included|instructs?|instructed|instructions?|asks|tells?|told|demands?|inject\w*|append\w*|quot\w*|example)\b[^,.;]*[:：]|\b(?:such as|for example|for instance|e\.g\.),?[:：]?)$`)

// announcesQuotation reports whether a line leads up to what is not the judge's
// own word.
func announcesQuotation(line string) bool {
	line = strings.TrimRight(line, "*_` ")
	const most = 1000 // a longer one announces nothing before its end
	return announced.MatchString(line[max(0, len(line)-most):])
}

// claim is a field or a heading of a verdict, wherever it stands and however it
// is written; its group is the rest of the line.
var claim = regexp.MustCompile("(?i)(?:^|[^a-z])(?:verdict|grade|decision|judge?ment|result|label|pass(?:ed)?|correct)[\"'*_` ]*[:：=][\"'*_`\\t ]*([^\\n,;}]+)")

// denial begins a value that does not pass, whatever words were offered.
var denial = regexp.MustCompile(`(?i)^(?:false|fail\w*|wrong|incorrect\w*|inaccurate|not|reject\w*|invalid|no$)`)

// contrary returns what a text claims that is not choice i; "" if nothing. Only
// a claim against a verdict that passes matters: what fails stays failed.
func (m menu) contrary(text string, i int) string {
	if m[i].Mark != grade.Correct {
		return ""
	}
	for _, x := range claim.FindAllStringSubmatch(text, -1) {
		said := unwrap(strings.Trim(x[1], "\"'"))
		k, ok := m.word(said)
		if ok && k != i || !ok && m.decides() && denial.MatchString(said) {
			return strings.TrimSpace(x[0])
		}
	}
	return ""
}

// takenBack is how models change their minds, whatever they had said.
var takenBack = regexp.MustCompile(`(?i)\b(?:wait|hold on|second thoughts?|correction|reconsider\w*|revis(?:e|ed|ion|ing)|my mistake|scratch that)\b|等等`)

// doubt are words after a verdict that passes which may take it back.
var doubt = regexp.MustCompile(`(?i)\b(?:not|no|never|cannot|\w+n['’]t|but|however|although|though|actually|instead|except|unless|unfortunately|incorrect(?:ly)?|wrong\w*|false|fail\w*|mistak\w*|errors?|differ\w*|contradict\w*|mismatch\w*|missing|lacks?|partial\w*|too|halt|aber|doch|nicht|falsch|kein\w*|leider|mais|pas|faux|fausse|erron\w*|pero|incorrect[oa]s?|errad[oa]|però|sbagliat[oa]|mas|não|maar|niet|fout)\b`)

// afterthought returns what stands behind a verdict and may take it back; "" if
// nothing does. Of other scripts than Latin nothing is understood, and any word
// may.
func afterthought(text string, passes bool) string {
	text = strings.TrimSpace(text)
	if passes {
		if doubt.MatchString(text) {
			return text
		}
		for _, r := range text {
			if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
				return text
			}
		}
	}
	if takenBack.MatchString(text) {
		return text
	}
	return ""
}

// beside reports what of the text around a verdict in JSON keeps it from being
// read; "" if nothing. before and after are the text up to the verdicts that
// stand next to it.
//
// A verdict stands alone in its line, or ends a sentence or what leads up to it
// with a colon: one in the middle of a sentence is spoken of, not given.
func beside(before, after string, passes bool) string {
	line, rest, _ := strings.Cut(after, "\n")
	if strings.Trim(tags.ReplaceAllString(line, ""), "`~*_ .,;)]") != "" {
		return line
	}
	if said := afterthought(rest, passes); said != "" {
		return said
	}
	start := strings.LastIndexByte(before, '\n') + 1
	lead := strings.Trim(listMark.ReplaceAllString(tags.ReplaceAllString(before[start:], ""), ""), "`~*_# ([,>-")
	lead = strings.TrimSpace(strings.TrimSuffix(lead, "json"))
	if lead == "" {
		lead = lastLine(before[:start])
		if !announcesQuotation(lead) {
			return ""
		}
		return lead
	}
	if !strings.HasSuffix(strings.TrimRight(lead, "\"'”’)"), ".") && !strings.ContainsAny(lead[len(lead)-1:], ":!?") && !strings.HasSuffix(lead, "：") && !strings.HasSuffix(lead, "。") {
		return lead
	}
	if announcesQuotation(lead) {
		return lead
	}
	return ""
}

var (
	tags     = regexp.MustCompile(`</?[A-Za-z_]{1,40}>`)
	listMark = regexp.MustCompile(`^\s*(?:[-*•]|\d{1,2}[.)])\s`)
)

// lastLine is the last line of a text that holds a word.
func lastLine(text string) string {
	for {
		text = strings.TrimRight(text, "\n ")
		k := strings.LastIndexByte(text, '\n')
		line := strings.TrimSpace(text[k+1:])
		if k < 0 || !isBlankLine(line) {
			return line
		}
		text = text[:k]
	}
}
