package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A link is what the text between two numbers makes of them.
type link int

const (
	linkNone link = iota // they have nothing to do with each other
	linkOp               // 9 * 2, 9 eggs times 2
	linkOf               // 3 bags of 10 pounds: a product, but 3 if it stands alone
	linkEq               // 9 * 2 = 18
	linkIs               // "9 times 2 is 18": an equation only behind an operator
	linkAlso             // 5 hours and 30 minutes, 18, 20, 18 20
	linkOr               // 18 or 20, 18 to 20
)

// A numberChain is one statement made of numbers: tokens first to last, joined
// by operators and equals signs. result is the token that is its value; -1 if
// it is an expression that was not worked out.
type numberChain struct {
	first, last, result int
	equation            bool
	// about is the token that only approximates the result, as in 1/3 ≈ 0.33;
	// -1 if there is none.
	about int
}

// numberChains groups the tokens of s into chains, in order.
func numberChains(s string, tokens []numberToken) []numberChain {
	var chains []numberChain
	for i := 0; i < len(tokens); {
		c := chainAt(s, tokens, i)
		chains = append(chains, c)
		i = c.last + 1
	}
	return chains
}

func chainAt(s string, tokens []numberToken, first int) numberChain {
	c := numberChain{first: first, last: first, about: -1}
	side, firstSide := first, -1 // side: where the current side of the equation begins
	alone := false               // the side before the current one is one number
	sized := true                // all operators of the current side are "of"
	multiple, list := multiplied(s[:tokens[first].start]), ofOperands(s[:tokens[first].start])
	op := multiple || list
	for c.last+1 < len(tokens) {
		l, words := linkBetween(s, &tokens[c.last], &tokens[c.last+1])
		if l == linkAlso && list && !c.equation {
			l = linkOp
		} else if l == linkIs && op {
			l = linkEq
		} else if l == linkEq && words > 1 && !op {
			break
		}
		if l == linkOp || l == linkOf {
			op, sized = true, sized && l == linkOf
		} else if l == linkEq {
			if firstSide < 0 {
				firstSide = c.last
			}
			alone, sized = side == c.last, true
			side, c.equation = c.last+1, true
		} else {
			break
		}
		c.last++
	}
	switch {
	case side == c.last && alone && approximates(tokens[side].hedge) && tokens[side-1].hedge == "":
		c.result, c.about = side-1, side
	case side == c.last && !(multiple && !c.equation) && !openEnded(s, &tokens[side], &tokens[c.last], c.equation):
		c.result = side
	case sized && side < c.last && !multiple && !list:
		c.result = side
	case firstSide == first:
		c.result = first
	default:
		c.result = -1
	}
	return c
}

// multiplied reports that the number behind before is a factor: "twice 9",
// "half of 9", "three times as many as her 9".
func multiplied(before string) bool {
	before = before[max(0, len(before)-64):]
	if k := strings.LastIndexAny(before, ".;!?\n,:"); k >= 0 {
		before = before[k+1:]
	}
	w := strings.FieldsFunc(strings.ToLower(before), notWord)
	factor, as := false, false
	for k, word := range w {
		near := k == len(w)-1
		switch word {
		case "twice", "double", "triple", "thrice", "doubled":
			factor = true
			if near && hasFoldPrefix(strings.TrimRight(before, " $*(")[max(0, len(strings.TrimRight(before, " $*("))-len(word)):], word) {
				return true
			}
		case "half", "third", "quarter", "times":
			factor = true
			if near && word == "half" || k == len(w)-2 && word != "times" && w[k+1] == "of" {
				return true
			}
		case "as":
			if as && factor && k >= len(w)-4 {
				return true
			}
			as = true
		}
	}
	return false
}

// ofOperands reports that the numbers behind before are the operands of a sum or
// the like: "the sum of 10 and 15".
func ofOperands(before string) bool {
	w := strings.FieldsFunc(strings.ToLower(before[max(0, len(before)-32):]), notWord)
	n := len(w)
	if n < 2 || w[n-1] != "of" && w[n-1] != "between" {
		return false
	}
	switch w[n-2] {
	case "sum", "difference", "product", "quotient", "average", "mean":
		return true
	}
	return false
}

// openEnded reports an operator that joins the number to something that is no
// number: x + 5, 5 * y.
func openEnded(s string, first, last *numberToken, equation bool) bool {
	if !equation {
		before := strings.TrimRight(s[max(0, first.start-8):first.start], " $(")
		if r, n := utf8.DecodeLastRuneInString(before); strings.ContainsRune("+×·÷^", r) && r != utf8.RuneError && len(before) > n {
			return true
		}
	}
	after := strings.TrimLeft(s[last.end:min(len(s), last.end+8)], " $)")
	r, n := utf8.DecodeRuneInString(after)
	if strings.ContainsRune("+×·÷^", r) && r != utf8.RuneError && !(r == '^' && last.unit) {
		return hasWord(after[n:])
	}
	return false
}

// opWords join two numbers like an operator.
var opWords = map[string]bool{
	"times": true, "plus": true, "minus": true, "by": true, "x": true, "of": true, "mal": true, "por": true, "fois": true, "multiplied": true, "divided": true,
}

// eqWords stand for an equals sign.
var eqWords = map[string]bool{"is": true, "equals": true, "gives": true, "makes": true, "are": true, "ist": true, "es": true, "get": true}

// alsoWords join two answers; orWords offer two.
var alsoWords = map[string]bool{"and": true, "und": true, "y": true, "et": true, "e": true, "remainder": true, "и": true, "和": true, "と": true}

var orWords = map[string]bool{
	"or": true, "to": true, "oder": true, "bis": true, "o": true, "ou": true, "или": true, "либо": true, "no": true,
	"或": true, "到": true, "または": true, "maybe": true, "perhaps": true, "possibly": true,
}

// breakWords begin a new clause: what follows explains.
var breakWords = map[string]bool{
	"because": true, "since": true, "when": true, "if": true, "where": true, "so": true, "with": true, "as": true, "for": true, "after": true, "while": true,
	"which": true, "that": true, "then": true, "but": true, "from": true, "using": true, "given": true, "let": true,
}

// compoundUnits make one quantity out of two numbers: 5 feet 11.
var compoundUnits = map[string]bool{
	"hours": true, "hour": true, "hrs": true, "hr": true, "h": true, "minutes": true, "minute": true, "min": true, "mins": true, "feet": true, "foot": true, "ft": true,
	"pounds": true, "lbs": true, "lb": true, "years": true, "year": true, "weeks": true, "week": true, "days": true, "day": true, "months": true, "month": true,
	"kg": true, "km": true, "m": true, "meters": true, "dollars": true, "gallons": true, "yards": true, "dozen": true,
}

// linkBetween reads the text between a and b; words is how many words stand in
// it before the operator.
func linkBetween(s string, a, b *numberToken) (l link, words int) {
	const far = 80
	if b.start < a.end || b.start-a.end > far {
		return linkNone, 0
	}
	between := s[a.end:b.start]
	between = strings.ReplaceAll(strings.ReplaceAll(between, "\n=", "="), "\n =", "=")
	between = strings.ReplaceAll(between, "->", "→")
	if l := offers(between, strings.HasPrefix(s[b.end:], "?")); l != linkNone {
		return l, 0
	}
	if strings.ContainsAny(between, ".;!?\n:|") {
		return linkNone, 0
	}
	if open := strings.LastIndexByte(between, '('); open >= 0 && strings.IndexAny(between[open:], "=)") > 0 && !strings.Contains(between[open:], ")") {
		return linkNone, 0 // 20% (= 1/5), 15 (b = 5) explain
	}
	if approximates(b.hedge) && strings.Trim(between, " $)}=") == "" {
		return linkEq, 0
	}
	if k := strings.IndexAny(between, "=→"); k >= 0 && !strings.Contains(between, ",") {
		w := strings.FieldsFunc(between[:k], notWord)
		if len(w) == 2 && joins(w[0]) != linkNone {
			return joins(w[0]), 0 // x = 18 and y = 2
		}
		if len(w) > 3 || broken(w) {
			return linkNone, 0
		}
		return linkEq, len(w)
	}
	w := strings.FieldsFunc(between, notWord)
	if strings.ContainsAny(between, ",、") {
		return commaLink(w)
	}
	return wordLink(between, w, a, b)
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '\\' }

func broken(words []string) bool {
	for _, w := range words {
		if breakWords[strings.ToLower(w)] || joins(w) != linkNone {
			return true
		}
	}
	return false
}

// joins returns the link that a word makes.
func joins(word string) link {
	word = strings.ToLower(word)
	switch {
	case orWords[word]:
		return linkOr
	case alsoWords[word]:
		return linkAlso
	}
	return linkNone
}

// offers reads what stands between two numbers and is nothing but "or", with
// any punctuation: "18? Or 20?". A semicolon alone makes a list.
// question tells that the second is asked, too.
func offers(between string, question bool) link {
	w := strings.FieldsFunc(strings.ToLower(between), notWord)
	switch {
	case len(w) == 0 && strings.Trim(between, " $)(") == ";":
		return linkAlso
	case between == "—", strings.TrimSpace(between) == "?" && question:
		return linkOr
	case len(w) == 2 && strings.Contains(between, ",") && (w[0] == "could" || w[0] == "might" || w[0] == "may") && w[1] == "be":
		return linkOr
	case len(w) == 0 || len(w) > 2 || strings.ContainsAny(between, "=:|+"):
		return linkNone
	}
	for _, word := range w {
		if !orWords[word] || word == "to" || word == "no" || word == "o" || word == "bis" {
			return linkNone
		}
	}
	return linkOr
}

// approximates reports the hedges that also stand for an equals sign.
func approximates(hedge string) bool {
	return hedge == "≈" || hedge == "≅" || hedge == "≃" || hedge == "∼"
}

// commaLink is the link of a comma: a list, or "18, or 20", or "…, which is 18".
func commaLink(w []string) (link, int) {
	switch n := len(w); {
	case n == 0:
		return linkAlso, 0
	case n <= 3 && joins(w[n-1]) != linkNone:
		return joins(w[n-1]), 0
	case n <= 4 && eqWords[strings.ToLower(w[n-1])]:
		return linkIs, 0
	}
	return linkNone, 0
}

func wordLink(between string, w []string, a, b *numberToken) (link, int) {
	n := len(w)
	if n > 0 && breaksBefore(w[:n-1]) {
		return linkNone, 0
	}
	if bare := strings.Trim(between, "($)"); bare == "" && (strings.HasPrefix(between, "(") || strings.Contains(between, ")(")) {
		return linkOp, 0 // 3(4) and (3)(4) are products
	}
	signs := withoutRates(strings.Trim(between, " $(){}[]\"'`"))
	switch {
	case strings.ContainsAny(signs, "+-–×·/÷^⋅−") && n <= 3 && !broken(w):
		if k := strings.LastIndexAny(signs, "-–−"); k >= 0 && len(strings.FieldsFunc(signs[k:], notWord)) > 1 {
			return linkNone, 0 // 25 - she had 40
		}
		return linkOp, n
	case strings.HasSuffix(signs, "*") && n <= 3 && !broken(w):
		return linkOp, n
	case n == 0 && strings.ContainsAny(between, "(["):
		return linkNone, 0 // 18 (20 - 2) explains
	case n == 0 && strings.Trim(signs, "*_&") == "":
		return linkAlso, 0
	case n == 0 || n > 4:
		return linkNone, 0
	}
	switch last := strings.ToLower(w[n-1]); {
	case last == "of" && n > 1 && !strings.EqualFold(w[n-2], "out") && !a.fraction():
		return linkOf, n
	case last == "of" && n > 2 && strings.EqualFold(w[n-2], "out"):
		return linkNone, 0 // 25 marbles out of 40
	case opWords[last]:
		return linkOp, n
	case eqWords[last]:
		return linkIs, n
	case last == "to" && addsUp(between):
		return linkNone, 0
	case joins(last) != linkNone:
		return joins(last), n
	case n == 1 && compoundUnits[last] && (b.unit || b.scale == 0):
		return linkAlso, n
	}
	if a.unit && n == 0 {
		return linkAlso, 0
	}
	return linkNone, 0
}

// withoutRates returns s without the slash of units: km/h.
func withoutRates(s string) string {
	k := strings.IndexByte(s, '/')
	if k > 0 && isGlue(rune(s[k-1])) && hasLetterFirst(s[k+1:]) {
		return s[:k] + " " + withoutRates(s[k+1:])
	}
	return s
}

// breaksBefore reports a clause that ends before the last word: "18 because x is".
func breaksBefore(words []string) bool {
	for _, w := range words {
		if lw := strings.ToLower(w); breakWords[lw] && lw != "which" && lw != "that" {
			return true
		}
	}
	return false
}
