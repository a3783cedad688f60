package grade

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

type claimKind int

const (
	claimNothing   claimKind = iota // the words state no answer
	claimChoice                     // they choose
	claimNone                       // they say that no option is chosen
	claimAmbiguous                  // they name several, or contradict themselves
)

// A claim is what a reply states at one place.
type claim struct {
	kind claimKind
	set  choiceSet
	text string // the words, as they stood but for wrappers
	how  string
	why  string
	rest string // what follows a letter
	// byLine: no word announces it; it stands on a line of its own.
	byLine bool
}

// readClaim reads what stands behind a marker or a phrase: the beginning of s.
// s is clean.
func readClaim(s string, o choiceOptions) claim {
	line := lineOf(s)
	if line == "" {
		return claim{}
	}
	head, hedged, negated := skipFillers(line)
	if negated {
		for _, text := range append([]string{line}, suffixes(line, head)...) { // "Neither I nor II"
			denies := len(text) > len(strings.TrimLeft(head, openers)) // it begins no later than the denial
			if set := o.withText(text); denies && set.size() == 1 {
				return claim{kind: claimChoice, set: set, text: text, how: "an option's text"}
			}
		}
		return readAfterBut(head, o)
	}
	byLetter := readLetters(head, line, s, o, hedged)
	byText := readText(head, line, s, o)
	switch {
	case byText.kind == claimNothing:
		if byLetter.kind == claimNothing && saysNone(head) {
			return claim{kind: claimNone, text: line, why: "the reply chooses none: " + quote(line)}
		}
		return byLetter
	case byText.text == line && len(line) > 1:
		return byText // such as "A and B only"
	case byLetter.kind == claimNothing, byLetter.kind == claimNone:
		return byText
	case byLetter.kind == claimChoice && byText.set != byLetter.set:
		return claim{kind: claimAmbiguous, text: line,
			why: fmt.Sprintf("%s names option %s and has the text of option %s", quote(line), byLetter.set, byText.set)}
	}
	return byLetter
}

// lineOf returns the first line with anything in it, trimmed.
func lineOf(s string) string {
	s = trimBlank(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i]
	}
	return trimBlank(s)
}

// fillers may stand between a marker and the answer.
var fillers = wordSet(`option options choice choices letter letters answer answers are alternative item the is be it it's its most likely probably clearly
	definitely certainly obviously therefore thus simply indeed my correct right best only one would should must surely
	that to maybe perhaps possibly number both final definitely actually rather now still
	option: choice: letter: answer: die der das la le el los opción opção opzione lettre letra lettera buchstabe choix
	respuesta réponse antwort risposta resposta richtig ist est es è é variante вариант ответ буква это lautet option,`)

var negators = wordSet(`not neither never nor nicht kein keine pas non nie не isn't isnt cannot n't except without`)

var hedges = wordSet(`either between entweder soit either: or`)

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

const openers = " \t\"'([{<>«»“„:-–—*#=,.…【「⟨『《•"

// skipFillers returns line from where an answer may begin.
func skipFillers(line string) (head string, hedged, negated bool) {
	s := line
	for range 12 {
		s = strings.TrimLeft(s, openers)
		n := strings.IndexAny(s, " \t")
		if n < 0 {
			return s, hedged, false
		}
		switch w := strings.ToLower(s[:n]); {
		case negators[w]:
			return s[n:], hedged, true
		case hedges[w]:
			hedged = true
		case !fillers[w] && !isAdverb(w) && !(w == "and" && isAdverb(firstWord(strings.ToLower(s[n:])))):
			return s, hedged, false
		}
		s = s[n:]
	}
	return s, hedged, false
}

// isAdverb reports an English adverb that strengthens or weakens what follows,
// such as "unquestionably", and does not withdraw it.
func isAdverb(word string) bool {
	return len(word) > 4 && strings.HasSuffix(word, "ly") && !withdrawing[word]
}

var withdrawing = wordSet(`initially originally formerly previously supposedly allegedly hardly barely scarcely seemingly
	mistakenly wrongly incorrectly erroneously nearly partially partly family only reply apply supply`)

// notThen reads "not A. B".
var notThen = regexp.MustCompile(`^\s*[("*]*[A-Z][)"*]*\s*(?:[.;!]|\s[-–—])\s*(?i:(?:but|rather|it's|it is) )?[("*]*([A-Z])[)"*]*\s*[.!]?$`)

// readAfterBut reads "not A but B"; without such a turn nothing is stated.
func readAfterBut(s string, o choiceOptions) claim {
	lower := strings.ToLower(s)
	for _, but := range []string{" but ", " sondern ", " mais ", " sino ", " rather ", " instead "} {
		if i := strings.Index(lower, but); i >= 0 && len(lower) == len(s) && !strings.ContainsAny(s[:i], ".;!?") {
			return readClaim(s[i+len(but):], o)
		}
	}
	if m := notThen.FindStringSubmatchIndex(s); m != nil {
		return readClaim(s[m[2]:], o)
	}
	return claim{}
}

// nones are the beginnings of answers that choose nothing.
var nones = []string{"none", "neither", "don't know", "dont know", "do not know", "i don't", "i do not", "i cannot", "i can't",
	"unknown", "unsure", "not sure", "i'm not", "i am not", "cannot", "can't", "can not", "n/a", "no answer", "no option", "no choice",
	"all of the above", "all of them", "insufficient", "unclear", "undetermined", "keine", "ninguna", "aucune", "nenhuma", "nessuna"}

func saysNone(s string) bool {
	s = normal(s[:min(len(s), 100)], false)
	for _, n := range nones {
		if strings.HasPrefix(s, n) {
			return true
		}
	}
	return false
}

// letterAt reads a letter that is a word of its own at the start of s. It may
// lie beyond the options.
func letterAt(s string) (index int, ok bool) {
	if s == "" || !isASCIILetter(s[0]) {
		return 0, false
	}
	index = int(s[0]|0x20) - 'a'
	r, size := utf8.DecodeRuneInString(s[1:])
	if size == 0 {
		return index, true
	}
	after, _ := utf8.DecodeRuneInString(s[1+size:])
	switch {
	case r == '_':
		return index, !isWordRune(after) // the end of _B_
	case isWordRune(r):
		return index, isUnspaced(r) || unicode.Is(unicode.Hangul, r)
	case r == '\'', r == '-', r == '.', r == '’':
		return index, !isWordRune(after) || turkishIs.MatchString(s)
	case r == ':' && after == '\\':
		return index, false // a drive
	case r == '+':
		return index, plusLetter.MatchString(s)
	case strings.ContainsRune("#^%°@(\\~", r):
		return index, false
	}
	return index, true
}

var (
	plusLetter = regexp.MustCompile(`^[A-Z](?:\+[A-Z])+(?:[\s.,;!)]|$)`)
	turkishIs  = regexp.MustCompile(`^[A-Z]'(?:[dt][iıuü]r|(?:y|n)?[iıuüaeıe])(?:[\s.,;!)]|$)`)
)

func isASCIILetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

// readLetters reads a letter, or a list of them, at the start of head, and
// looks at what follows: an article, a formula or a denial is no answer.
func readLetters(head, line, whole string, o choiceOptions, hedged bool) claim {
	if set, rest, ok := letterRun(head, o); ok {
		return claim{kind: claimChoice, set: set, text: head[:len(head)-len(rest)], how: "letters", rest: rest}
	}
	i, ok := letterAt(head)
	if !ok {
		return claim{}
	}
	list := readList(head, o)
	if list.beyond != "" {
		return claim{kind: claimNone, text: line, why: fmt.Sprintf("%s lies beyond the %d options", quote(list.beyond), o.n)}
	}
	if list.set.size() > 1 {
		after := strings.TrimLeft(list.rest, trailers)
		if _, ok := praised(after); !ok && !list.or && listGoesOn(after) {
			return claim{} // "A and B are wrong"
		}
		if list.or || hedged {
			return claim{kind: claimAmbiguous, text: list.text, why: "the reply hedges: " + quote(line)}
		}
		return claim{kind: claimChoice, set: list.set, text: list.text, how: "letters", rest: list.rest}
	}
	rest := head[1:]
	if !endsClaim(head[0], rest, i, o) {
		return claim{}
	}
	if i >= o.n {
		return claim{kind: claimNone, text: head[:1],
			why: fmt.Sprintf("%s lies beyond the %d options", quote(head[:1]), o.n)}
	}
	c := claim{kind: claimChoice, set: 1 << i, text: head[:1], how: "letter", rest: rest}
	if trimBlank(strings.Trim(rest, trailers+".,;:")) == "" {
		c.set |= furtherLines(whole, o, head[0])
	}
	return c
}

// listGoesOn reports that a word follows a list of letters which makes them a part
// of a sentence.
func listGoesOn(after string) bool {
	word := strings.ToLower(firstWord(after))
	r, _ := utf8.DecodeRuneInString(word)
	return word != "" && !reasons[word] && !more[word] && isGlue(r) && (verbs[word] || !alone.MatchString(after))
}

const trailers = " \t\"')]}>«»“”*_】」⟩』》"

// around is what may stand on either side of an answer on a line of its own.
const around = trailers + "([{<„:-–—#=,【「⟨『《•.;!\r"

// letterRun reads capitals without anything between them: AB.
func letterRun(s string, o choiceOptions) (set choiceSet, rest string, ok bool) {
	n := 0
	for n < len(s) && s[n] >= 'A' && s[n] <= 'Z' {
		i := int(s[n] - 'A')
		if i >= o.n || set&(1<<i) != 0 {
			return 0, s, false
		}
		set |= 1 << i
		n++
	}
	if n < 2 {
		return spacedLetters(s, o)
	}
	r, size := utf8.DecodeRuneInString(s[n:])
	if size > 0 && (isWordRune(r) || strings.ContainsRune("+#^%-'", r)) {
		return 0, s, false
	}
	rest = s[n:]
	// A word of capitals goes on ("BAD weather"); an answer ends.
	if t := strings.TrimLeft(rest, trailers); t != "" && !strings.HasPrefix(t, "because") {
		if r, _ = utf8.DecodeRuneInString(t); !strings.ContainsRune(".,;:!?(-–—。，；！", r) {
			return 0, s, false
		}
	}
	return set, rest, true
}

// spacedLetters reads capitals with nothing but spaces between them, to the
// end of the line: A B D.
func spacedLetters(s string, o choiceOptions) (set choiceSet, rest string, ok bool) {
	words := strings.Fields(strings.TrimRight(lineOf(s), ".!"))
	for _, w := range words {
		i, ok := o.index(w)
		if !ok || !isUpper(w[0]) || set&(1<<i) != 0 {
			return 0, s, false
		}
		set |= 1 << i
	}
	return set, "", len(words) > 1
}

// furtherLines reads the letters that stand on lines of their own below the
// first: several answers, one a line.
func furtherLines(whole string, o choiceOptions, first byte) choiceSet {
	var set choiceSet
	_, after, _ := strings.Cut(trimBlank(whole), "\n")
	for range maxChoices {
		line, next, _ := strings.Cut(after, "\n")
		word := strings.Trim(line, around)
		i, ok := o.index(word)
		if !ok || isUpper(word[0]) != isUpper(first) {
			break
		}
		set |= 1 << i
		after = next
	}
	return set
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
