package grade

import (
	"fmt"
	"math/big"
	"strings"
)

// A finding is the answer that a response gives, or why it gives none.
type finding struct {
	value  *big.Rat // nil: no answer
	answer string   // as it stood in the response
	hedge  string   // the bound or approximation it is
	rule   string   // how it was found, for Verdict.How
	reason Reason   // why there is no answer
	why    string
	start  int // offset behind which corrections are looked for
}

// find finds the answer in c.
func (n *numeric) find(c *numberText) finding {
	var marks []answerMark
	if len(n.markers) > 0 {
		marks = answerMarks(c.text, n.markers...)
	}
	if len(marks) == 0 && !(n.strict && len(n.markers) > 0) {
		marks = answerMarks(c.text)
	}
	// "\boxed{18}, not \boxed{17}"
	for k := len(marks) - 1; k > 0 && marks[k].kind == markBox && denied(c.text[max(0, marks[k].start-24):marks[k].start]); k-- {
		marks = marks[:k]
	}
	if len(marks) == 0 {
		if n.strict {
			return finding{reason: ReasonNoAnswer, why: "the response has no answer marker"}
		}
		return n.lastNumber(c, 0, len(c.text), false, "last number")
	}
	m := marks[len(marks)-1]
	f := n.marked(c, m)
	return n.corrected(c, m, f)
}

// ruleOf names the marker for Verdict.How.
func ruleOf(m answerMark) string {
	if m.kind == markBox {
		return "boxed"
	}
	return "marker " + quote(m.name)
}

// marked finds the answer that m announces.
func (n *numeric) marked(c *numberText, m answerMark) finding {
	scope := c.text[m.end:m.stop]
	rule := ruleOf(m)
	if m.open {
		return finding{rule: rule, reason: ReasonNoAnswer, why: rule + " is never closed: the answer was cut"}
	}
	if m.kind == markBox && boxContext(c.text, m) {
		return finding{rule: rule, reason: ReasonAmbiguous, why: "a sign or a scale stands outside of the box"}
	}
	tokens := scanNumbers(scope, n.locale, true)
	region := len(scope)
	header := false
	closed := m.kind == markBox || m.kind == markTag || m.kind == markField
	if !closed {
		region, header = firstStatement(scope)
	}
	first := 0
	for first < len(tokens) && tokens[first].start < region {
		first++
	}
	if first == 0 {
		if v, end := numberWords(scope[:region]); v != nil && phraseEnds(scope[end:region]) {
			start := len(scope) - len(strings.TrimLeft(scope, wordTrim))
			return finding{value: v, answer: c.quote(m.end+start, m.end+end), rule: rule + ", in words", start: m.end + end}
		}
		if !header || m.kind == markHash || len(tokens) == 0 {
			return finding{rule: rule, reason: ReasonNoAnswer, why: "no number follows " + rule, start: m.end}
		}
		return n.lastNumber(c, m.end, m.stop, true, rule+", last number")
	}
	if (m.kind == markColon || m.kind == markHeading || m.kind == markCustom || m.kind == markTag) && workedSolution(scope, tokens, header) {
		return n.lastNumber(c, m.end, m.stop, true, rule+", last number")
	}
	return n.firstNumber(c, m, scope, tokens[:first], rule)
}

// boxContext reports a minus sign in front of a box or a scale word behind it.
func boxContext(text string, m answerMark) bool {
	before := strings.TrimRight(text[max(0, m.start-4):m.start], " $")
	if strings.HasSuffix(before, "-") && !strings.HasSuffix(before, "--") {
		return true
	}
	after := strings.TrimLeft(text[min(len(text), m.stop+1):min(len(text), m.stop+40)], " $)*_}")
	word, _, _ := strings.Cut(strings.ToLower(after), " ")
	_, scale := scaleWords[strings.Trim(word, ".,;:!?)$*")]
	return scale
}

// firstStatement returns the end of the first line of scope that says
// something, and whether the marker's own line is blank. A line that ends in a
// colon leads over to the next one.
func firstStatement(scope string) (end int, header bool) {
	pos := 0
	for pos < len(scope) {
		end = len(scope)
		if k := strings.IndexByte(scope[pos:], '\n'); k >= 0 {
			end = pos + k
		}
		line := strings.Trim(scope[pos:end], " \t$`*_-=[](){}>|~\"'")
		if line != "" && !strings.HasSuffix(line, ":") && !strings.HasPrefix(strings.TrimLeft(scope[end:min(len(scope), end+16)], " \t\n"), "=") {
			return end, header
		}
		if pos == 0 && line == "" {
			header = true
		}
		pos = end + 1
	}
	return len(scope), header
}

// workedSolution reports that a marker introduces a solution whose result
// comes later: its first number does not stand alone at its start, and a later
// equation has another result.
func workedSolution(scope string, tokens []numberToken, header bool) bool {
	chains := numberChains(scope, tokens)
	if len(chains) < 2 {
		return false
	}
	c := chains[0]
	lead := leadWords(scope[:tokens[c.first].start])
	for i := len(chains) - 1; i > 0; i-- {
		if !chains[i].equation {
			continue
		}
		if sameResult(tokens, c, chains[i]) {
			return false
		}
		return c.first != c.last || lead > 0 || header
	}
	return header && lead > 5
}

// sameResult reports whether two chains have one value.
func sameResult(tokens []numberToken, a, b numberChain) bool {
	if a.result < 0 || b.result < 0 {
		return false
	}
	x, okX := tokens[a.result].value()
	y, okY := tokens[b.result].value()
	return okX && okY && x.Cmp(y) == 0
}

// leadWords counts the words before the first number of a statement.
func leadWords(s string) int {
	return len(strings.FieldsFunc(s[:min(len(s), 400)], notWord))
}

// adverbs begin a phrase whose number is a circumstance: "in 2 days she …".
var adverbs = map[string]bool{
	"in": true, "for": true, "after": true, "every": true, "per": true, "within": true, "from": true, "with": true, "by": true, "during": true, "on": true, "at": true, "each": true, "of": true, "all": true, "the": true, "these": true, "those": true,
}

// firstNumber takes the first statement behind a marker.
func (n *numeric) firstNumber(c *numberText, m answerMark, scope string, tokens []numberToken, rule string) finding {
	chains := numberChains(scope, tokens)
	at := 0
	for at+1 < len(chains) && circumstance(scope[:tokens[chains[at].first].start]) {
		at++
	}
	f := n.chainValue(c, m.end, tokens, chains[at], rule)
	if f.value == nil || at+1 == len(chains) {
		return f
	}
	next := n.chainValue(c, m.end, tokens, chains[at+1], rule)
	l, _ := linkBetween(scope, &tokens[chains[at].last], &tokens[chains[at+1].first])
	if (l == linkAlso || l == linkOr) && (next.value == nil || next.value.Cmp(f.value) != 0) {
		return ambiguous(rule, c.quote(m.end+tokens[chains[at].first].start, m.end+tokens[chains[at+1].last].end))
	}
	if m.kind != markBox && leadWords(scope[:tokens[chains[at].first].start]) > 4 && at == 0 && (next.value == nil || next.value.Cmp(f.value) != 0) {
		return ambiguous(rule, c.quote(m.end+tokens[chains[at].first].start, m.end+tokens[chains[at+1].last].end))
	}
	return f
}

// circumstance reports whether the words before a number make it one.
func circumstance(before string) bool {
	w := strings.FieldsFunc(before[max(0, len(before)-40):], notWord)
	return len(w) > 0 && adverbs[strings.ToLower(w[len(w)-1])]
}

func ambiguous(rule, found string) finding {
	return finding{rule: rule, reason: ReasonAmbiguous, why: "several numbers, none of them final: " + quote(found)}
}

// chainValue is the finding that a chain makes. base is where the tokens'
// text begins in c.
func (n *numeric) chainValue(c *numberText, base int, tokens []numberToken, ch numberChain, rule string) finding {
	from, to := base+tokens[ch.first].start, base+tokens[ch.last].end
	if ch.result < 0 {
		return finding{rule: rule, reason: ReasonAmbiguous, why: "an expression that is not worked out: " + quote(c.quote(from, to)), start: to}
	}
	t := &tokens[ch.result]
	answer := c.quote(base+t.start, base+t.end)
	if t.core.bad != "" {
		return finding{rule: rule, reason: ReasonAmbiguous, why: fmt.Sprintf("%s is no number: %s", quote(answer), t.core.bad), start: to}
	}
	v, ok := t.value()
	if !ok {
		return finding{rule: rule, reason: ReasonInvalid, why: fmt.Sprintf("%s divides by zero or exceeds %d digits or an exponent of %d", quote(answer), maxNumberDigits, maxNumberExponent), start: to}
	}
	return finding{value: v, answer: answer, hedge: t.hedge, rule: rule, start: to}
}

// lastNumber takes the last number of c.text[from:to].
func (n *numeric) lastNumber(c *numberText, from, to int, scope bool, rule string) finding {
	text := c.text[from:to]
	tokens := scanNumbers(text, n.locale, scope)
	if strong := notWeak(tokens); len(strong) > 0 {
		tokens = strong
	}
	tokens = beforeClosing(text, tokens)
	if len(tokens) == 0 {
		return finding{reason: ReasonNoAnswer, why: "the response has no number in it"}
	}
	chains := numberChains(text, tokens)
	if k := len(chains) - 1; k > 0 && explains(text, tokens, chains[k-1], chains[k]) {
		chains = chains[:k]
	}
	last := chains[len(chains)-1]
	f := n.chainValue(c, from, tokens, last, rule)
	if f.value == nil || len(chains) == 1 {
		return f
	}
	before := chains[len(chains)-2]
	l, _ := linkBetween(text, &tokens[before.last], &tokens[last.first])
	if l == linkOr || l == linkAlso && !last.equation {
		other := n.chainValue(c, from, tokens, before, rule)
		// "18 or 18.0" says one thing twice, "9 boys and 9 girls" does not.
		if l == linkAlso || other.value == nil || other.value.Cmp(f.value) != 0 {
			return ambiguous(rule, c.quote(from+tokens[before.first].start, from+tokens[last.last].end))
		}
	}
	return f
}

// explains reports that the last chain is the bracket that shows how the
// number in front of it came about: "$18 (9 eggs x $2)".
func explains(text string, tokens []numberToken, before, last numberChain) bool {
	if last.first == last.last || last.equation || before.result < 0 {
		return false
	}
	between := text[tokens[before.last].end:tokens[last.first].start]
	words, rest, ok := strings.Cut(between, "(")
	closed := strings.IndexByte(text[tokens[last.last].end:min(len(text), tokens[last.last].end+24)], ')')
	return ok && closed >= 0 && len(words) < 32 && strings.Trim(rest, " $") == "" && !strings.ContainsAny(words, ".;!?\n,=+*") &&
		len(strings.FieldsFunc(words, notWord)) <= 3
}

// closings begin the sentences with which assistants take leave.
var closings = []string{
	"would you like", "do you want", "do you need", "let me know", "feel free", "shall i", "if you have", "if you need", "if you'd like", "if you would like", "can i help", "i hope", "need help",
}

// beforeClosing drops the tokens that stand in a closing sentence at the end of
// text, if others are left.
func beforeClosing(text string, tokens []numberToken) []numberToken {
	if len(tokens) < 2 {
		return tokens
	}
	k := len(tokens) - 1
	at := sentenceStart(text[:tokens[k].start])
	sentence := strings.TrimLeft(text[at:], " \t\n*_>")
	for _, c := range closings {
		if hasFoldPrefix(sentence, c) {
			for k >= 0 && tokens[k].start >= at {
				k--
			}
			if k < 0 {
				return tokens
			}
			return tokens[:k+1]
		}
	}
	return tokens
}

// sentenceStart returns where the last sentence of s begins, looking back no
// further than 200 bytes.
func sentenceStart(s string) int {
	low := max(0, len(s)-200)
	for i := len(s) - 1; i > low; i-- {
		if s[i] == '\n' || s[i] == ' ' && strings.IndexByte(".!?", s[i-1]) >= 0 {
			return i + 1
		}
	}
	return low
}

// notWeak returns the tokens that are neither ordinals nor adjectives.
func notWeak(tokens []numberToken) []numberToken {
	var strong []numberToken
	for _, t := range tokens {
		if !t.weak {
			strong = append(strong, t)
		}
	}
	return strong
}
