package grade

import (
	"strings"
	"unicode"
)

// An afterwordKind says what follows an answer and how far it reaches.
type afterwordKind int

const (
	afterNone   afterwordKind = iota
	afterRemark               // to the end of its line: "Note: …", "Confidence: 95%"
	afterProof                // up to a conclusion: "Check: …", "Sources: …", leave-taking
	afterReason               // as afterProof, but only behind a short answer: "Explanation: …"
)

type afterword struct {
	text  string
	kind  afterwordKind
	colon bool
}

// afterwords begin what follows an answer. With colon, a colon, comma or dash
// must follow, or nothing: a heading.
var afterwords = []afterword{
	{"note that", afterRemark, false}, {"please note", afterRemark, false}, {"note", afterRemark, true}, {"notes", afterProof, true}, {"n.b", afterRemark, false}, {"nb", afterRemark, true},
	{"p.s", afterRemark, false}, {"ps", afterRemark, true}, {"confidence", afterRemark, true}, {"confidence level", afterRemark, true}, {"confidence score", afterRemark, true}, {"certainty", afterRemark, true},
	{"difficulty", afterRemark, true}, {"disclaimer", afterRemark, true}, {"caveat", afterRemark, true}, {"tip", afterRemark, true}, {"fun fact", afterRemark, true}, {"remark", afterRemark, true},
	{"tokens used", afterRemark, true}, {"time taken", afterRemark, true}, {"word count", afterRemark, true}, {"this assumes", afterRemark, false}, {"this answer assumes", afterRemark, false},
	{"assumption", afterRemark, true}, {"assumptions", afterProof, true}, {"[^", afterRemark, false},
	{"check", afterProof, true}, {"checking", afterProof, false}, {"double-check", afterProof, true}, {"double check", afterProof, true}, {"quick check", afterProof, true}, {"sanity check", afterProof, true},
	{"verification", afterProof, true}, {"verify", afterProof, true}, {"verifying", afterProof, false}, {"to verify", afterProof, false}, {"to check", afterProof, false}, {"to double-check", afterProof, false}, {"to confirm", afterProof, false},
	{"let's verify", afterProof, false}, {"let’s verify", afterProof, false}, {"let's check", afterProof, false}, {"let’s check", afterProof, false}, {"let's double-check", afterProof, false}, {"let me verify", afterProof, false},
	{"let me check", afterProof, false}, {"let me double-check", afterProof, false}, {"let me double check", afterProof, false}, {"we can verify", afterProof, false}, {"we can check", afterProof, false}, {"you can verify", afterProof, false},
	{"you can check", afterProof, false}, {"proof", afterProof, true}, {"sources", afterProof, true}, {"source", afterProof, true}, {"references", afterProof, true}, {"reference", afterProof, true}, {"citations", afterProof, true},
	{"probe", afterProof, true}, {"comprobación", afterProof, true}, {"verificación", afterProof, true}, {"vérification", afterProof, true}, {"verifica", afterProof, true}, {"проверка", afterProof, true}, {"Проверка", afterProof, true},
	{"验证", afterProof, true}, {"检验", afterProof, true}, {"注", afterRemark, true}, {"注意", afterRemark, true}, {"检查", afterProof, true},
	{"explanation", afterReason, true}, {"breakdown", afterReason, true}, {"here's why", afterReason, false}, {"here’s why", afterReason, false}, {"here is why", afterReason, false}, {"here's how", afterReason, false}, {"here’s how", afterReason, false},
	{"here is how", afterReason, false}, {"here's the breakdown", afterReason, false}, {"reasoning", afterReason, true}, {"rationale", afterReason, true}, {"justification", afterReason, true}, {"steps", afterReason, true},
	{"because", afterReason, false}, {"since", afterReason, false},
	{"key takeaway", afterRemark, true}, {"key takeaways", afterProof, true}, {"key point", afterRemark, true}, {"key concept", afterRemark, true},
	{"would you like", afterProof, false}, {"do you want", afterProof, false}, {"do you need", afterProof, false}, {"let me know", afterProof, false}, {"feel free", afterProof, false}, {"shall i", afterProof, false},
	{"if you have", afterProof, false}, {"if you need", afterProof, false}, {"if you'd like", afterProof, false}, {"if you’d like", afterProof, false}, {"if you would like", afterProof, false}, {"if you want", afterProof, false},
	{"can i help", afterProof, false}, {"i hope", afterProof, false}, {"hope this", afterProof, false}, {"need help", afterProof, false}, {"is there anything", afterProof, false}, {"i can also", afterProof, false}, {"want me to", afterProof, false},
}

// afterwordsByStart finds them by their first byte.
var afterwordsByStart = func() (table [256][]afterword) {
	for _, a := range afterwords {
		table[a.text[0]] = append(table[a.text[0]], a)
	}
	return table
}()

// solutionWords begin a line that goes on with the solution behind a check.
var solutionWords = []string{
	"so", "therefore", "thus", "hence", "finally", "in total", "total", "altogether", "overall", "in conclusion", "conclusion", "final", "the final", "result", "the result", "as a result",
	"consequently", "this means", "that means", "then", "now", "next", "step", "solution", "also", "∴",
}

// answerEnd returns the length of text without what follows its answer: notes,
// checks, sources and leave-taking at its end. A part that is followed by more
// of the solution is no afterword, nor is a check that fails.
func answerEnd(text string) int {
	cut, kind, digits := -1, afterNone, false
	for pos := 0; pos < len(text); {
		end := pos + sentenceLength(text[pos:])
		s := text[pos:end]
		newLine := pos == 0 || text[pos-1] == '\n'
		k := afterwordOf(s)
		if k == afterReason && cut < 0 && !shortAnswer(text[:pos]) {
			k = afterNone
		}
		switch {
		case k != afterNone && digits:
			if cut < 0 {
				cut = pos
			}
			kind = k
		case cut >= 0 && newLine && !isBlank(s) && (kind == afterRemark || goesOn(s)):
			cut = -1
		}
		digits = digits || strings.ContainsFunc(s, unicode.IsDigit)
		pos = end
	}
	if cut < 0 || takenBack(text[cut:]) {
		return len(text)
	}
	return cut
}

// sentenceLength returns the length of the sentence that s begins with: up to
// the end of its line, a full stop and a blank, or an opening bracket.
func sentenceLength(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			return i + 1
		case ' ':
			if i > 0 && strings.IndexByte(".!?", s[i-1]) >= 0 || i+1 < len(s) && s[i+1] == '(' {
				return i + 1
			}
		}
	}
	return len(s)
}

// afterwordOf returns what sentence begins.
func afterwordOf(sentence string) afterwordKind {
	const far = 64
	s := strings.TrimLeftFunc(sentence[:min(len(sentence), far)], func(r rune) bool { return !unicode.IsLetter(r) && r != '[' })
	if s == "" {
		return afterNone
	}
	for _, a := range afterwordsByStart[lowerByte(s[0])] {
		if !hasFoldPrefix(s, a.text) && !strings.HasPrefix(s, a.text) {
			continue
		}
		rest := s[len(a.text):]
		if (a.text == "because" || a.text == "since") && strings.Contains(sentence, ",") {
			continue // "Since half are left, she has 18": the answer may follow
		}
		if isGlue(rune(a.text[len(a.text)-1])) && isGlue(firstRune(rest)) {
			continue
		}
		rest = strings.TrimLeft(rest, " \t*_`)")
		if !a.colon || rest == "" || strings.ContainsRune(":：,-–—\n\r", firstRune(rest)) {
			return a.kind
		}
	}
	return afterNone
}

// shortAnswer reports that text is one short line with a number in it.
func shortAnswer(text string) bool {
	const far = 80
	t := trimBlank(text)
	return len(t) <= far && !strings.Contains(t, "\n") && strings.ContainsFunc(t, unicode.IsDigit) && len(strings.FieldsFunc(t, notWord)) <= 6
}

// goesOn reports a line that goes on with the solution: a conclusion with a
// number in it, or a heading.
func goesOn(line string) bool {
	if strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
		return true
	}
	if !strings.ContainsFunc(line, unicode.IsDigit) {
		return false
	}
	s := strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && r != '∴' })
	for _, c := range solutionWords {
		if (hasFoldPrefix(s, c) || strings.HasPrefix(s, c)) && !isGlue(firstRune(s[len(c):])) {
			return true
		}
	}
	return false
}

// takenBack reports that an afterword takes the answer back.
func takenBack(s string) bool {
	if at, _ := correctionAt(s); at >= 0 {
		return true
	}
	s = strings.ToLower(s[:min(len(s), 4096)])
	for _, w := range []string{"✗", "❌", "✘", "≠", "wrong", "incorrect", "mistake", "not match", "n't match", "not equal", "n't equal", "not correct", "n't work"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
