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
	about  *big.Rat // an approximation of value that stands beside it
	scale  int      // the power of ten of its scale word: 9 for billion
	dozens *big.Rat // what value comes to if it is one of dozens, else nil
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
	marks = standing(c.text, marks)
	if len(marks) == 0 {
		if n.strict {
			return finding{reason: ReasonNoAnswer, why: "the response has no answer marker"}
		}
		return n.lastNumber(c, 0, len(c.text), false, "last number")
	}
	m := marks[len(marks)-1]
	f := n.marked(c, m)
	if len(marks) > 1 && f.value != nil && m.kind == markBox && beside(c.text, marks[len(marks)-2], m) {
		if other := n.marked(c, marks[len(marks)-2]); other.value == nil || other.value.Cmp(f.value) != 0 {
			return ambiguous(f.rule, c.quote(marks[len(marks)-2].start, m.stop))
		}
	}
	return n.corrected(c, m, f)
}

// beside reports two boxes that are offered together: "\boxed{18} or
// \boxed{20}".
func beside(text string, a, b answerMark) bool {
	if a.kind != markBox || a.stop+1 > b.start || b.start-a.stop > 32 {
		return false
	}
	between := text[a.stop+1 : b.start]
	w := strings.FieldsFunc(between, notWord)
	join := strings.Contains(between, ",") && len(w) == 0
	for _, word := range w {
		if joins(word) == linkNone && len(word) > 1 {
			return false
		}
		join = join || joins(word) != linkNone
	}
	return join
}

// standing returns marks without those at the end that the text denies ("not
// \boxed{17}", "\boxed{17} was wrong") and without an unfinished repetition:
// "The answer is 18. The answer is".
func standing(text string, marks []answerMark) []answerMark {
	for k := len(marks) - 1; k > 0; k-- {
		m := marks[k]
		closed := m.kind == markBox || m.kind == markTag
		box := closed && (denied(text[max(0, m.start-24):m.start]) || rejected(text[min(len(text), m.stop+1):min(len(text), m.stop+40)]))
		again := !closed && m.kind == marks[k-1].kind && m.kind == markIs && !hasWord(text[m.end:m.stop]) && leadWords(text[marks[k-1].end:m.start]) <= 4
		if !box && !again {
			return marks[:k+1]
		}
	}
	return marks[:min(len(marks), 1)]
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
		if v, dozens, end := numberWords(scope[:region]); v != nil && phraseEnds(scope[end:region]) {
			start := len(scope) - len(strings.TrimLeft(scope, wordTrim))
			return finding{value: v, dozens: dozens, answer: c.quote(m.end+start, m.end+end), rule: rule + ", in words", start: m.end + end}
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

// firstNumber takes the first statement behind a marker: the number that
// follows it at once, or the one that the first sentence is about.
func (n *numeric) firstNumber(c *numberText, m answerMark, scope string, tokens []numberToken, rule string) finding {
	chains := numberChains(scope, tokens)
	at := firstStated(scope, tokens, chains)
	if at+1 < len(chains) && chains[at].result < 0 && workedOut(scope[tokens[chains[at].last].end:tokens[chains[at+1].first].start]) {
		at++
	}
	if leadWords(scope[:tokens[chains[at].first].start]) > 1 && m.kind != markBox {
		if k := n.sentenceNumber(c, m, scope, tokens, chains, at); k >= 0 {
			return n.chainValue(c, m.end, tokens, chains[k], rule)
		}
		return ambiguous(rule, c.quote(m.end+tokens[chains[at].first].start, m.end+tokens[chains[len(chains)-1].last].end))
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
	return f
}

// workedOut reports that between leads from an expression to its value: "40
// minus 15, or 25", "the sum of 10 and 15: 25".
func workedOut(between string) bool {
	w := strings.FieldsFunc(strings.ToLower(between), notWord)
	n := len(w)
	switch {
	case n == 0:
		return strings.TrimSpace(between) == ":"
	case n > 3 || !strings.ContainsAny(between, ",("):
		return false
	}
	return w[n-1] == "or" || n > 1 && w[n-2] == "i" && w[n-1] == "e" || w[n-1] == "is"
}

// firstStated returns the index of the first chain that is no circumstance, or 0.
func firstStated(scope string, tokens []numberToken, chains []numberChain) int {
	for k := range chains {
		start := sentenceStart(scope[:tokens[chains[k].first].start])
		if chains[k].equation || !circumstantial(scope, start, tokens, chains, k) {
			return k
		}
	}
	return 0
}

// sentenceNumber returns the index of the chain that the first sentence of
// scope is about, whose first stated number is chains[at], or -1 if that is
// not clear: "she has 18 eggs and he has 5". A number that is the result of the
// last equation before the marker is.
func (n *numeric) sentenceNumber(c *numberText, m answerMark, scope string, tokens []numberToken, chains []numberChain, at int) int {
	end := sentenceEnd(scope, tokens[chains[at].last].end)
	start := sentenceStart(scope[:tokens[chains[at].first].start])
	within := at + 1
	for within < len(chains) && tokens[chains[within].first].start < end {
		within++
	}
	within = len(explained(scope, tokens, chains[:within]))
	k := at
	clear := true
	for i := at + 1; i < within; i++ {
		if !chains[i].equation && circumstantial(scope, start, tokens, chains, i) || sameResult(tokens, chains[k], chains[i]) {
			continue
		}
		between := strings.FieldsFunc(strings.ToLower(scope[tokens[chains[i-1].last].end:tokens[chains[i].first].start]), notWord)
		clear = clear && leadsOver(between)
		k = i
	}
	last := len(chains) - 1
	if clear && (!introduces(c.text, m) || last == k || tokens[chains[last].first].start < end || sameResult(tokens, chains[k], chains[last])) {
		return k
	}
	return n.computed(c.text[:m.start], tokens, chains)
}

// introduces reports a marker that may begin a whole solution: "Answer:", but
// not "Final answer:" and "the answer is".
func introduces(text string, m answerMark) bool {
	return (m.kind == markColon || m.kind == markHeading) && !strings.HasSuffix(strings.ToLower(strings.TrimRight(text[max(0, m.start-8):m.start], " _-")), "final")
}

// computed returns the index of the one chain whose value is the result of the
// last equation in before, or -1.
func (n *numeric) computed(before string, tokens []numberToken, chains []numberChain) int {
	earlier := scanNumbers(before, n.locale, false)
	all := numberChains(before, earlier)
	e := lastEquation(all)
	if e < 0 || all[e].result < 0 {
		return -1
	}
	want, ok := earlier[all[e].result].value()
	if !ok {
		return -1
	}
	for k, ch := range chains {
		if ch.result < 0 {
			continue
		}
		if v, ok := tokens[ch.result].value(); ok && v.Cmp(want) == 0 {
			return k
		}
	}
	return -1
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
	dozens, end, ok := behind(v, c.text, base+t.end, t.scale > 0)
	if !ok {
		return finding{rule: rule, reason: ReasonAmbiguous, why: fmt.Sprintf("%s may mean two numbers", quote(c.quote(base+t.start, end))), start: to}
	}
	if end > base+t.end {
		answer, to = c.quote(base+t.start, end), max(to, end)
	}
	f := finding{value: v, dozens: dozens, answer: answer, hedge: t.hedge, rule: rule, start: to, scale: t.scale}
	if ch.about >= 0 {
		f.about, _ = tokens[ch.about].value()
	}
	return f
}

// lastNumber takes the last number of c.text[from:to], or the number that its
// last sentence is about.
func (n *numeric) lastNumber(c *numberText, from, to int, scope bool, rule string) finding {
	text := c.text[from:to]
	text = text[:answerEnd(text)]
	tokens := scanNumbers(text, n.locale, scope)
	if strong := notWeak(tokens); len(strong) > 0 {
		tokens = strong
	}
	if len(tokens) == 0 {
		return inWords(c, from, text, rule)
	}
	if why := brokenOff(text); why != "" {
		return finding{rule: rule, reason: ReasonIncomplete, why: why}
	}
	chains := numberChains(text, tokens)
	if len(chains) > 1 && bareFirstLine(text, tokens, chains) {
		return n.chainValue(c, from, tokens, chains[0], "first line")
	}
	chains = whole(text, tokens, explained(text, tokens, chains))
	chains = chains[:conclusion(text, tokens, chains)+1]
	if k := len(chains) - 1; k > 0 && sameQuantity(text, tokens, chains[k-1], chains[k]) {
		chains = chains[:k] // 150 minutes, or 2.5 hours
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
		// "9 sprints of 60 m, or 540 m" works out what it says first.
		worked := before.first != before.last && !before.equation
		if l == linkAlso || !worked && (other.value == nil || other.value.Cmp(f.value) != 0) {
			return ambiguous(rule, c.quote(from+tokens[before.first].start, from+tokens[last.last].end))
		}
	}
	return f
}

// inWords is the finding of a text without digits: the one number that it has
// in words, if it is short.
func inWords(c *numberText, from int, text, rule string) finding {
	const far = 200
	none := finding{reason: ReasonNoAnswer, why: "the response has no number in it"}
	if len(text) > far {
		return none
	}
	f := none
	for i := 0; i < len(text); i++ {
		if !hasLetterFirst(text[i:]) || gluesBefore(text[:i]) || text[i] == ' ' {
			continue
		}
		v, dozens, end := numberWords(text[i:])
		whole := !hasWord(text[:i]) && v != nil && !hasWord(text[i+end:])
		if v == nil || v.Cmp(big.NewRat(1, 1)) == 0 && dozens == nil && !whole || isGlue(firstRune(text[i+end:])) {
			continue // "one" is a pronoun
		}
		if f.value != nil || !phraseEnds(text[i+end:i+sentenceEnd(text[i:], end)]) {
			return none
		}
		t := numberToken{start: i, end: i + end}
		before, after := text[:i], text[i+end:]
		if denied(before) || rejected(after) {
			return none
		}
		hedged(&t, before, after)
		hedgedBehind(&t, before, after)
		f = finding{value: v, dozens: dozens, answer: c.quote(from+t.start, from+t.end), hedge: t.hedge, rule: rule + ", in words", start: from + t.end}
		i += end
	}
	return f
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
