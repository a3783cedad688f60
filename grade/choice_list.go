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
	orJoin = regexp.MustCompile(`^(?i)[\s"')\]}.,;!?(]*(?:(?:and/or|or|alternatively|oder|ou|o|или|vel|vs\.?|versus|maybe|possibly|perhaps)[\s,]|/|\||或者?|又は|または|か|또는)[\s"'(\[{]*(?:(?:maybe|possibly|perhaps|even|else|option|choice|letter)[\s,]+)*`)
	// looseJoin is one only if nothing follows the second letter.
	looseJoin = regexp.MustCompile(`^["')\]}]*(?:\s[-–—]\s|\?\s+)["'(\[{]*`)
	// andJoin needs no blank before a comma, but "A and" needs one.
	// Brackets side by side, (A)(B), are a list too.
	andJoin = regexp.MustCompile(`^(?i)(?:["')\]}]*(?:\s*[,;&+、]\s*(?:(?:and|und|et|y|e|и)\s+)?|\.?\s+(?:and|und|et|y|e|и|plus|as well as)\s+(?:also\s+)?|\s*(?:和|と|및|及)\s*)["'(\[{]*(?:(?:option|choice|letter)s?\s+)?|[)\]]\s*[(\[])`)
)

// listEnd joins the last item of a list.
var listEnd = regexp.MustCompile(`(?i)[a-zи]`)

// readList reads a list of letters at the start of s. Its set has one letter
// if no list follows it, and none if the first is no option.
func readList(s string, o choiceOptions) letterList {
	first, ok := letterAt(s)
	if !ok || first >= o.n {
		return letterList{}
	}
	l := letterList{set: 1 << first, text: s[:1], rest: s[1:]}
	at := first
	for range maxChoices {
		if rest, ok := o.skipText(l.rest, at); ok {
			l.rest = rest
		}
		join, or := orJoin.FindString(l.rest), true
		loose := false
		if join == "" {
			join, loose = looseJoin.FindString(l.rest), true
		}
		if join == "" {
			join, or, loose = andJoin.FindString(l.rest), false, false
		}
		if join == "" {
			break
		}
		if strings.HasPrefix(join, ".") && !endsItem(strings.TrimLeft(l.rest[min(len(l.rest), len(join)+1):], "\"')]}*")) {
			break // "A. And B is wrong"
		}
		next := l.rest[len(join):]
		i, ok := letterAt(next)
		if !ok || isUpper(next[0]) != isUpper(s[0]) {
			break
		}
		at = i
		after := strings.TrimLeft(next[1:], "\"')]}*")
		if n := o.textAt(strings.TrimLeft(after, " .:"), i); n > 0 {
			after = strings.TrimLeft(after, " .:")[n:]
		}
		if i >= o.n {
			if endsItem(after) {
				l.beyond = next[:1]
			}
			break
		}
		if !or && !endsItem(after) && strings.ContainsAny(join, ",;、") && !listEnd.MatchString(join) {
			break // "B, C being wrong": not a list
		}
		if (loose || s[0] >= 'a') && !endsItem(after) {
			break // "b or a half"
		}
		l.set |= 1 << i
		l.or = l.or || or
		l.rest = next[1:]
		l.text = s[:len(s)-len(l.rest)]
	}
	if t := strings.TrimLeft(l.rest, "\"')]}*.: "); l.set.size() > 1 {
		l.rest = l.rest[len(l.rest)-len(t)+o.textAt(t, at):]
	}
	return l
}

// labelledTwo is a label, a few words, and a label of the same shape.
var labelledTwo = regexp.MustCompile(`^([)\]}.:])\s[^,;.:\n()]{1,60}?((?:,? (?:and|or|&) |[,;] )[(\[]?[A-Z]([)\]}.:])\s)`)

// skipText returns what stands behind the label and the text of option i at
// the start of s, if a further option follows there.
func (o choiceOptions) skipText(s string, i int) (rest string, ok bool) {
	if len(o.texts) == 0 {
		m := labelledTwo.FindStringSubmatchIndex(s)
		if m == nil || s[m[2]:m[3]] != s[m[6]:m[7]] {
			return s, false
		}
		return s[m[4]:], true
	}
	t := strings.TrimLeft(s, "\"')]}*.: ")
	n := o.textAt(t, i)
	if n == 0 {
		return s, false
	}
	rest = t[n:]
	join := orJoin.FindString(rest)
	if join == "" {
		join = andJoin.FindString(rest)
	}
	if join == "" {
		return s, false
	}
	next, ok := letterAt(rest[len(join):])
	if !ok || next >= o.n || next == i {
		return s, false
	}
	// "A Paris, C being wrong" is no list: the other option's text or a label
	// must follow.
	after := rest[len(join)+1:]
	return rest, endsItem(strings.TrimLeft(after, "\"')]}*")) || o.textAt(strings.TrimLeft(after, "\"')]}*.: "), next) > 0
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

// calledOut takes an option back at once: "A (wrong)", "A: incorrect".
var calledOut = regexp.MustCompile(`^(?i)[\s.:=(–—-]{1,3}(?:is )?(?:wrong|incorrect|not correct|not right|eliminated|ruled out|excluded)(?:\s*$|\s*[^\s:\pL]|\s+[a-z])`)

// struckOff ends what is said of an option that is no answer.
var struckOff = regexp.MustCompile(`(?i)\bcan (?:therefore |thus |also )?be (?:eliminated|excluded|ruled out|discarded)\b`)

// subjunctive is a condition that does not hold.
var subjunctive = regexp.MustCompile(`(?i)^if\b[^.;\n]*\b(?:were|had|could|did|would)\b`)

// reasons are the words that may follow a letter that is the answer; more are
// those that may follow one that is not also a word, as A and I are.
var (
	reasons = wordSet(`because since as due which given although though while therefore based weil denn parce porque
		perché pois omdat потому так being`)
	more = wordSet(`here satisfies works makes şıkkıdır şıkkı seçeneğidir correct right for with but in by where when from and or so that on under according not instead rather than fits
		matches follows holds applies describes explains states says i we option choice only final`)
	verbs = wordSet(`is are was were would must seems appears has looks remains stands comes
		ist es est è é jest je är er adalah là doğru benar верно верный верен правильно правильный richtig`)
)

// endsClaim reports whether rest, which follows a letter, lets that letter be
// the answer.
func endsClaim(letter byte, rest string, index int, o choiceOptions) bool {
	closed := strings.TrimLeft(rest, "\"')]}>»”*_】」⟩』》")
	label := strings.ContainsAny(rest[:len(rest)-len(closed)], ")]}>】⟩》")
	if blame.MatchString(strings.TrimLeft(closed, " \t")) || calledOut.MatchString(closed) || struckOff.MatchString(lineOf(closed)) {
		return false
	}
	if blame.MatchString(o.behindText(strings.TrimLeft(closed, " \t.:=-"), index)) {
		return false // "A) London is not right"
	}
	if strings.HasPrefix(rest, "'") && turkishIs.MatchString(string(letter)+rest) {
		return true
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
		return !blamedHan(closed)
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
		return strings.HasPrefix(s, "=>") || strings.HasPrefix(s, "==")
	}
	word := strings.ToLower(firstWord(s))
	switch {
	case strings.EqualFold(strings.TrimRight(s, ".!"), "it is"):
		return true
	case word == "if" && hedgedPraise.MatchString(s) && subjunctive.MatchString(s):
		return false
	case !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) && unicode.IsLetter(r):
		return !foreignNot[word] && !foreignDenied(lineOf(s)) // "B है"
	case verbs[word]:
		_, ok := praised(s)
		return ok
	case reasons[word]:
		return true
	case isWord || letter >= 'a':
		return false
	}
	return more[word] || isAdverb(word) || word == "most"
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
	const short = 1 << 12 // longer lines hold an answer only at their beginning
	if !o.mayName(whole[:min(len(whole), short)]) && !o.mayName(line[:min(len(line), short)]) {
		return claim{}
	}
	by := func(set choiceSet, text string) claim {
		if set.size() > 1 {
			return claim{kind: claimAmbiguous, text: text, why: "several options have the text " + quote(text)}
		}
		return claim{kind: claimChoice, set: set, text: text, how: "an option's text"}
	}
	candidates := append([]string{line, head}, suffixes(line, head)...)
	if len(whole) <= short {
		candidates = append(candidates, whole)
	}
	if i, ok := letterAt(head); ok && i < o.n {
		rest := strings.TrimLeft(head[1:], trailers+".,:;-–—=")
		if set := o.withText(rest[:min(len(rest), short)]); set != 0 && set != 1<<i {
			return claim{kind: claimAmbiguous, text: line,
				why: quote(line) + " has the letter of one option and the text of option " + set.String()}
		}
		candidates = append(candidates, rest)
	}
	if i := strings.LastIndexByte(head, '='); i >= 0 {
		candidates = append(candidates, head[i+1:]) // "v = 15 m/s"
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
