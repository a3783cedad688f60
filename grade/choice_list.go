package grade

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A letterList is what readList read: "A, B", "A and B", "A or B".
type letterList struct {
	set    choiceSet
	or     bool   // some were joined by "or": a hedge
	beyond string // a letter in it that is no option
	text   string
	rest   string
}

var (
	orJoin = regexp.MustCompile(`^(?i)[\s"')\]}.,;!?(]*(?:(?:or|oder|ou|o|или|vel|maybe|possibly|perhaps)\s|/|\||或者?|又は|または|か|또는)[\s"'(\[{]*(?:(?:maybe|possibly|perhaps|even|else|option|choice|letter)\s+)*`)
	// andJoin needs no blank before a comma, but "A and" needs one.
	andJoin = regexp.MustCompile(`^(?i)["')\]}]*(?:\s*[,;&+、]\s*(?:(?:and|und|et|y|e|и)\s+)?|\s+(?:and|und|et|y|e|и|plus)\s+|\s*(?:和|と|및|及)\s*)["'(\[{]*(?:(?:option|choice|letter)s?\s+)?`)
)

// readList reads a list of letters at the start of s. Its set has one letter
// if no list follows it, and none if the first is no option.
func readList(s string, o choiceOptions) letterList {
	first, ok := letterAt(s)
	if !ok || first >= o.n {
		return letterList{}
	}
	l := letterList{set: 1 << first, text: s[:1], rest: s[1:]}
	for range maxChoices {
		join, or := orJoin.FindString(l.rest), true
		if join == "" {
			join, or = andJoin.FindString(l.rest), false
		}
		if join == "" {
			break
		}
		next := l.rest[len(join):]
		i, ok := letterAt(next)
		if !ok || isUpper(next[0]) != isUpper(s[0]) {
			break
		}
		after := strings.TrimLeft(next[1:], "\"')]}*")
		if i >= o.n {
			if endsItem(after) {
				l.beyond = next[:1]
			}
			break
		}
		if !or && !endsItem(after) && strings.ContainsAny(join, ",;、") {
			break // "B, C being wrong": not a list
		}
		if s[0] >= 'a' && !endsItem(after) {
			break // "b or a half"
		}
		l.set |= 1 << i
		l.or = l.or || or
		l.rest = next[1:]
		l.text = s[:len(s)-len(l.rest)]
	}
	return l
}

// endsItem reports whether what follows a letter lets it be an item of a list.
func endsItem(after string) bool {
	if after == "" || orJoin.MatchString(after) || andJoin.MatchString(after) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(after)
	if strings.ContainsRune(".,;:!?\r\n。)", r) || isUnspaced(r) || unicode.Is(unicode.Hangul, r) {
		return true
	}
	word := strings.ToLower(firstWord(after))
	return word == "are" || word == "because" || word == "since"
}

func firstWord(s string) string {
	s = strings.TrimLeft(s, " \t")
	n := strings.IndexFunc(s, func(r rune) bool { return !isWordRune(r) })
	if n < 0 {
		return s
	}
	return s[:n]
}

// reasons are the words that may follow a letter that is the answer; more are
// those that may follow one that is not also a word, as A and I are.
var (
	reasons = wordSet(`because since as due which given although though while therefore based weil denn parce porque
		perché pois omdat потому так being`)
	more = wordSet(`for with but in by where when from if and or so that on under according not instead rather than fits
		matches follows holds applies describes explains states says i we option choice only final`)
	verbs = wordSet(`is are was were would must seems appears has looks remains`)
)

var praise = regexp.MustCompile(`^(?i)(?:is|are|was|were|would be|must be|has to be|seems|appears|looks|remains)(?: to be)?(?: (?:the|clearly|definitely|also|therefore|thus|indeed|most|only|my|a|obviously|likely|probably|actually|single|final))* ?(?:correct|right|best|true|answer|accurate|appropriate|likely|plausible|suitable|choice|option)\b`)

// blame is the contrary of praise.
var blame = regexp.MustCompile(`^(?i)(?:(?:is|are|was|were|would be|must be|seems|can|could)(?:n't| not|not| never| also not| (?:clearly |obviously |simply )?(?:wrong|incorrect|false|excluded|impossible))|does(?:n't| not)|do(?:n't| not)|cannot)\b`)

// endsClaim reports whether rest, which follows a letter, lets that letter be
// the answer.
func endsClaim(letter byte, rest string, index int, o choiceOptions) bool {
	closed := strings.TrimLeft(rest, "\"')]}>»”*_】」⟩")
	label := strings.ContainsAny(rest[:len(rest)-len(closed)], ")]}>】⟩")
	if blame.MatchString(o.behindText(strings.TrimLeft(closed, " \t.:=-"), index)) {
		return false // "A) London is not right"
	}
	isWord := strings.IndexByte("aAiI", letter) >= 0
	r, size := utf8.DecodeRuneInString(closed)
	switch {
	case size == 0, r == '\n', r == '\r', label:
		return true
	case r == '.':
		return !isWord || !strings.HasPrefix(closed, "..")
	case strings.ContainsRune(",;:!?…。，；：！？、|", r):
		return true
	case isUnspaced(r), unicode.Is(unicode.Hangul, r):
		return !isNegation(r) && !strings.ContainsRune("错錯误誤", r)
	case !unicode.IsSpace(r):
		return false
	}
	s := strings.TrimLeft(closed, " \t\u00a0")
	if o.textAt(strings.TrimLeft(s, "=: "), index) > 0 {
		return true
	}
	r, size = utf8.DecodeRuneInString(s)
	switch {
	case size == 0, strings.ContainsRune("([—–:;,.!?|→\r\n", r):
		return true
	case r == '-':
		return strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "--")
	case r == '=':
		return strings.HasPrefix(s, "=>")
	}
	word := strings.ToLower(firstWord(s))
	switch {
	case verbs[word]:
		return praise.MatchString(s)
	case reasons[word]:
		return true
	case isWord || letter >= 'a':
		return false
	}
	return more[word]
}

// clauseEnds are where an option's text may end and an explanation begin.
var clauseEnds = []string{". ", "; ", ", ", " (", " - ", " – ", " — ", ": ", " because ", " since ", " as ", " is the ", " which "}

var (
	orText  = regexp.MustCompile(`(?i)\s+(?:or|oder|ou|или|o)\s+|\s*(?:或者?|/)\s*`)
	andText = regexp.MustCompile(`(?i)\s*[,;]\s*(?:and\s+)?|\s+(?:and|und|et|y|и)\s+|\s*[和、]\s*`)
	inParen = regexp.MustCompile(`^(.+?)\s*[(\[]\s*(?:(?i:option|choice|letter)\s+)?([A-Za-z])\s*[)\]]\.?$`)
)

// readText looks for the text of an option: all of the words, or their first
// clause, or what follows a label.
func readText(head, line, whole string, o choiceOptions) claim {
	if len(o.texts) == 0 {
		return readParen(head, o)
	}
	by := func(set choiceSet, text string) claim {
		if set.size() > 1 {
			return claim{kind: claimAmbiguous, text: text, why: "several options have the text " + quote(text)}
		}
		return claim{kind: claimChoice, set: set, text: text, how: "an option's text"}
	}
	const short = 1 << 12 // longer lines hold an answer only at their beginning
	candidates := append([]string{line, head}, suffixes(line, head)...)
	if len(whole) <= short {
		candidates = append(candidates, whole)
	}
	if i, ok := letterAt(head); ok {
		rest := strings.TrimLeft(head[1:], trailers+".,:;-–—=")
		if set := o.withText(rest[:min(len(rest), short)]); set != 0 && set != 1<<i {
			return claim{kind: claimAmbiguous, text: line,
				why: quote(line) + " has the letter of one option and the text of option " + set.String()}
		}
		candidates = append(candidates, rest)
	}
	for i, c := range candidates {
		candidates[i] = c[:min(len(c), short)]
		if set := o.withText(candidates[i]); set != 0 {
			return by(set, candidates[i])
		}
	}
	if c := readParen(head, o); c.kind != claimNothing {
		return c
	}
	if c := o.readTexts(head, line); c.kind != claimNothing {
		return c
	}
	for _, c := range candidates {
		for _, end := range clauseEnds {
			if i := strings.Index(c, end); i > 0 {
				if set := o.withText(c[:i]); set != 0 {
					return by(set, c[:i])
				}
			}
		}
	}
	return claim{}
}

// suffixes returns what is left of line after each of the words before head:
// "that it is hot", "it is hot", "is hot".
func suffixes(line, head string) []string {
	var all []string
	for len(line) > len(head) {
		i := strings.IndexByte(line, ' ')
		if i < 0 {
			break
		}
		line = strings.TrimLeft(line[i:], openers)
		all = append(all, line)
	}
	return all
}

// readTexts reads a list of options' texts.
func (o choiceOptions) readTexts(head, line string) claim {
	for _, join := range []*regexp.Regexp{orText, andText} {
		parts := join.Split(strings.TrimRight(head, ". "), maxChoices+1)
		if len(parts) < 2 || len(parts) > maxChoices {
			continue
		}
		var set choiceSet
		all := true
		for i, p := range parts {
			part := o.withText(p)
			if words := strings.Fields(p); part == 0 && i == len(parts)-1 && len(words) > 1 {
				part = o.withText(words[0]) // "Paris or London would do"
			}
			all = all && part != 0
			set |= part
		}
		if !all || set.size() < 2 {
			continue
		}
		if join == orText {
			return claim{kind: claimAmbiguous, text: line, why: "the reply hedges: " + quote(line)}
		}
		return claim{kind: claimChoice, set: set, text: line, how: "options' texts"}
	}
	return claim{}
}

// readParen reads "Paris (B)".
func readParen(head string, o choiceOptions) claim {
	if len(head) > 1<<10 || !strings.HasSuffix(strings.TrimRight(head, "."), ")") && !strings.HasSuffix(strings.TrimRight(head, "."), "]") {
		return claim{}
	}
	m := inParen.FindStringSubmatch(head)
	if m == nil {
		return claim{}
	}
	i, ok := o.index(m[2])
	if !ok {
		return claim{}
	}
	set := choiceSet(1) << i
	byText := o.withText(m[1])
	switch {
	case len(o.texts) > 0 && byText == 0:
		return claim{}
	case byText != 0 && byText != set:
		return claim{kind: claimAmbiguous, text: m[0], why: quote(m[0]) + " has the text of option " + byText.String()}
	case byText == 0 && len(strings.Fields(m[1])) > 6:
		return claim{}
	}
	if _, ok := letterAt(head); ok && byText == 0 {
		return claim{} // "(A) and (C)"
	}
	return claim{kind: claimChoice, set: set, text: m[0], how: "text and letter"}
}
