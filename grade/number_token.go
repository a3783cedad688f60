package grade

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// A numberToken is one number in a cleaned text, with what belongs to it.
type numberToken struct {
	start, end int // with bound, currency, sign and unit
	core       coreNumber
	negative   bool
	scale      int // a scale word's power of ten: million is 6
	// hedge is the bound or approximation before it, as it stands: "<", "about".
	hedge string
	// weak: an ordinal (5th) or part of an adjective (24-hour).
	weak bool
	// unit: a unit was found behind the number, glued or as a word.
	unit bool
	// currency: a currency sign or code stands before the number.
	currency bool
}

// value returns the token's number.
func (t *numberToken) value() (*big.Rat, bool) {
	v, ok := t.core.value(t.scale)
	if ok && t.negative {
		v.Neg(v)
	}
	return v, ok
}

// fraction reports a number of which something can be a share: 1/3, 50%.
func (t *numberToken) fraction() bool { return t.core.over != "" || t.core.vulgar != 0 || t.unit }

// A numberScanner finds the numbers in one text.
type numberScanner struct {
	s      string
	loc    locale
	tokens []numberToken
	// scope: s is what an answer marker announced. A dash at its start is a
	// sign, and its first line does not begin a list.
	scope bool
}

// scanNumbers returns the numbers in s, which cleanNumbers has cleaned, in
// order. Left out are digits inside words (v42, COVID-19, H2O), labels (list
// numbers, "Step 2", citations) and numbers that the text denies ("not 17").
// A token whose core is bad looks like a number and is none.
func scanNumbers(s string, loc locale, scope bool) []numberToken {
	sc := numberScanner{s: s, loc: loc, scope: scope}
	for i := 0; i < len(s); {
		next := sc.step(i)
		if next <= i { // v½: a word that skipWord does not know
			_, n := utf8.DecodeRuneInString(s[i:])
			next = i + n
		}
		i = next
	}
	return sc.tokens
}

// step handles s[i] and returns where to go on.
func (sc *numberScanner) step(i int) int {
	s := sc.s
	switch b := s[i]; {
	case b == '\\':
		if strings.HasPrefix(s[i:], `\frac`) {
			return sc.number(i)
		}
		return sc.command(i)
	case b == ':' && strings.HasPrefix(s[i:], "://"):
		if k := strings.IndexAny(s[i:], " \t\n"); k >= 0 {
			return i + k
		}
		return len(s)
	case '0' <= b && b <= '9':
		return sc.number(i)
	case b == '.':
		if isDigitAt(s, i+1) && (i == 0 || s[i-1] != '.' && !gluesBefore(s[:i])) {
			return sc.number(i)
		}
		return i + 1
	case b < utf8.RuneSelf:
		return i + 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if _, ok := vulgarFractions[r]; ok || isDigitAt(s, i) {
		return sc.number(i)
	}
	if (r == '√' || r == '∛') && isDigitAt(s, i+n) {
		end := i + n + digitRun(s, i+n)
		sc.add(numberToken{start: i, end: end, core: coreNumber{end: end, bad: "a root"}})
		return end
	}
	return i + n
}

// command skips a LaTeX command. A function of a number is no number.
func (sc *numberScanner) command(i int) int {
	s := sc.s
	n := i + 1
	for n < len(s) && ('a' <= s[n] && s[n] <= 'z' || 'A' <= s[n] && s[n] <= 'Z') {
		n++
	}
	switch s[i+1 : n] {
	case "sqrt", "binom", "log", "ln", "sin", "cos", "tan":
		end := n
		if k := strings.IndexByte(s[n:min(len(s), n+64)], '}'); k >= 0 && strings.HasPrefix(s[n:], "{") {
			end = n + k + 1
		}
		sc.add(numberToken{start: i, end: end, core: coreNumber{end: end, bad: "a function of a number"}})
		return end
	}
	return n
}

func (sc *numberScanner) add(t numberToken) { sc.tokens = append(sc.tokens, t) }

// number handles the number whose core begins at s[i].
func (sc *numberScanner) number(i int) int {
	s := sc.s
	t := numberToken{start: i}
	currency := sc.currency(&t)
	t.currency = currency
	if !currency && gluesBefore(s[:i]) {
		if s[i] == '\\' { // x\frac{1}{2} is a term
			c := readFrac(s, i, sc.loc)
			c.bad = "part of a formula"
			sc.add(numberToken{start: i, end: c.end, core: c})
			return c.end
		}
		return skipWord(s, i)
	}
	sub := strings.TrimRight(s[max(0, i-4):i], "{( -")
	power := strings.HasSuffix(sub, "^") || strings.HasSuffix(sub, "_")
	if power && sc.raises(i, sub) {
		return skipWord(s, i)
	}
	if !sc.sign(&t, currency) {
		return skipWord(s, i)
	}
	t.core = readCore(s, i, sc.loc)
	t.end = t.core.end
	next := sc.suffix(&t, currency)
	if sc.label(&t) {
		return next
	}
	before := s[max(0, t.start-40):t.start]
	after := s[t.end:min(len(s), t.end+40)]
	if denied(before) || rejected(after) {
		return next
	}
	if n := sc.spacedRatio(&t); n > 0 {
		t.core.bad = "a ratio"
		t.end += n
		next = t.end
	}
	if t.core.bad == "" && functionOf(before) {
		t.core.bad = "a function of a number"
	}
	if t.core.bad == "" && signOutside(before, s[t.end:]) {
		t.core.bad = "a sign stands outside of its brackets"
	}
	hedged(&t, before, after)
	hedgedBehind(&t, before, after)
	if k := len(sc.tokens); k > 0 {
		// "18 < 20": both numbers claim the sign; tokens must not overlap.
		t.start = max(t.start, sc.tokens[k-1].end)
	}
	sc.add(t)
	return next
}

// functions before a number make it their argument.
var functions = map[string]bool{
	"sqrt": true, "log": true, "ln": true, "sin": true, "cos": true, "tan": true, "exp": true, "abs": true, "floor": true, "ceil": true, "factorial": true,
	"f": true, "g": true, "h": true,
}

// functionOf reports that the number behind before is an argument: "sqrt(16)",
// "sin 30". A function of one letter needs its bracket.
func functionOf(before string) bool {
	for _, f := range []string{"root of", "square of", "cube of", "logarithm of", "factorial of"} {
		if t := strings.TrimRight(before, " $("); len(t) < len(before) && strings.HasSuffix(strings.ToLower(t), f) {
			return true
		}
	}
	head, bracket := strings.CutSuffix(before, "(")
	trimmed := strings.TrimRight(head, " ")
	k := len(trimmed)
	for k > 0 && isGlue(rune(trimmed[k-1])) {
		k--
	}
	word := strings.ToLower(trimmed[k:])
	return functions[word] && !gluesBefore(trimmed[:k]) && (bracket && len(trimmed) == len(head) || len(word) > 1 && len(trimmed) < len(before))
}

// spacedRatio returns the length of " : 4" behind t in "3 : 4", where that is
// what something is, or 0. Elsewhere a spaced colon may follow a label: "Jour
// 1 : 40".
func (sc *numberScanner) spacedRatio(t *numberToken) int {
	const colon = " : "
	if !t.core.plain() || !strings.HasPrefix(sc.s[t.end:], colon) || !isDigitAt(sc.s, t.end+len(colon)) {
		return 0
	}
	before := strings.TrimRight(sc.s[max(0, t.start-24):t.start], " $({*")
	if before == "" && sc.scope || endsInIs(before) {
		return len(colon) + digitRun(sc.s, t.end+len(colon))
	}
	return 0
}

// raises reports whether the ^ or _ in front of the number at i belongs to
// something that is no number: m^2, x_1, x^{2}. On a number it is an operator.
func (sc *numberScanner) raises(i int, sub string) bool {
	at := strings.LastIndexAny(sc.s[:i], "^_")
	if at < 0 || sub == "" {
		return false
	}
	if sc.s[at] == '_' {
		// _18_ is emphasis, x_1 and a_{1} are indices.
		return at > 0 && (isGlue(rune(sc.s[at-1])) || sc.s[at-1] == ')' || sc.s[at-1] == '}')
	}
	n := len(sc.tokens)
	return n == 0 || at > 0 && hasLetterFirst(sc.s[at-1:]) || strings.Trim(sc.s[sc.tokens[n-1].end:at], " )}") != ""
}

// skipWord returns the end of the word that goes through s[i]: letters, digits
// and what joins them.
func skipWord(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case isGlue(r):
		case r == '.' || r == '-' || r == '_' || r == '\'' || r == ',':
			next, _ := utf8.DecodeRuneInString(s[i+n:])
			if !isGlue(next) || r == ',' && !isDigitAt(s, i+n) {
				return i
			}
		default:
			return i
		}
		i += n
	}
	return i
}

// currencies stand before or behind an amount.
const currencies = "$£€¥₹₽₩₪₺₫₦฿₱₴¢"

// currencyCodes may be glued to the front of an amount.
var currencyCodes = []string{"USD", "EUR", "GBP", "CHF", "INR", "RUB", "JPY", "CNY", "RMB", "CAD", "AUD", "SGD", "Rs.", "Rs", "RM", "kr", "KES", "NGN"}

// currency extends t to the left over a currency sign or code.
func (sc *numberScanner) currency(t *numberToken) bool {
	s := sc.s[:t.start]
	near := s[max(0, len(s)-3):]
	trimmed := s[:len(s)-len(near)+len(strings.TrimRight(near, " "))]
	r, n := utf8.DecodeLastRuneInString(trimmed)
	if strings.ContainsRune(currencies, r) && r != utf8.RuneError {
		at := len(trimmed) - n
		// "18$ 20": the sign belongs to the number before it.
		if k := len(sc.tokens); k > 0 && at < sc.tokens[k-1].end {
			return false
		}
		if r == '$' {
			for _, p := range []string{"US", "HK", "NT", "CA", "AU", "NZ", "A", "C", "R", "S"} {
				if q, ok := strings.CutSuffix(trimmed[:at], p); ok && !gluesBefore(q) {
					at -= len(p)
					break
				}
			}
		}
		t.start = at
		return true
	}
	for _, code := range currencyCodes {
		if q, ok := strings.CutSuffix(s, code); ok && !gluesBefore(q) {
			t.start = len(q)
			return true
		}
	}
	return false
}

// sign extends t to the left over a sign. It returns false if a hyphen makes
// the number part of a word: COVID-19.
func (sc *numberScanner) sign(t *numberToken, currency bool) bool {
	s := sc.s
	r, n := utf8.DecodeLastRuneInString(s[:t.start])
	if r != '-' && r != '+' && r != '–' {
		return sc.looseSign(t, currency)
	}
	at := t.start - n
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	switch {
	case r == before || r == '–' && !(at == 0 || strings.ContainsRune(" \t\n(=:$[{*", before)):
		return true // a dash between words
	case isGlue(before) && !isDigitAt(s, lastRune(s, at)):
		return r != '-' || currency
	case before == ')' || before == ']' || before == '}' || before == '%' || isDigitAt(s, lastRune(s, at)):
		return true // an operator or a range
	case sc.follows(at):
		return true
	}
	// "$-5": the currency stands before the sign.
	if c, cn := utf8.DecodeLastRuneInString(s[:at]); !currency && strings.ContainsRune(currencies, c) && c != utf8.RuneError {
		at -= cn
	}
	t.start, t.negative = at, r != '+'
	return true
}

// signOutside reports -(18).
func signOutside(before, after string) bool {
	head, ok := strings.CutSuffix(before, "(")
	if !ok || !strings.HasPrefix(after, ")") || !strings.HasSuffix(head, "-") {
		return false
	}
	head = head[:len(head)-1]
	return head == "" || !gluesBefore(head) && !strings.HasSuffix(head, ")") && !strings.HasSuffix(head, " ") || strings.TrimLeft(head, " ") == "" ||
		strings.HasSuffix(strings.TrimRight(head, " "), "=")
}

// follows reports whether only blanks lie between the token before and pos:
// a sign there is an operator.
func (sc *numberScanner) follows(pos int) bool {
	n := len(sc.tokens)
	return n > 0 && sc.tokens[n-1].end <= pos && strings.Trim(sc.s[sc.tokens[n-1].end:pos], " ") == ""
}

// looseSign takes a sign that a blank parts from its number: only behind an
// equals sign or directly behind a marker; elsewhere it is a dash or a bullet.
func (sc *numberScanner) looseSign(t *numberToken, currency bool) bool {
	head := strings.TrimRight(sc.s[:t.start], " ")
	if len(head) == t.start || !strings.HasSuffix(head, "-") {
		sc.wordSign(t, head)
		return true
	}
	prev := strings.TrimRight(head[:len(head)-1], " ")
	if strings.HasSuffix(prev, "=") || sc.scope && prev == "" {
		t.start, t.negative = len(head)-1, true
	}
	return true
}

// wordSign takes "negative" and "minus" before a number. Behind a number or a
// thing, minus is an operator: "16 eggs minus 7".
func (sc *numberScanner) wordSign(t *numberToken, head string) {
	for _, w := range []string{"negative", "minus"} {
		at := len(head) - len(w)
		if at < 0 || len(head) == t.start || !hasFoldPrefix(head[at:], w) || gluesBefore(head[:at]) {
			continue
		}
		before := strings.TrimRight(head[max(0, at-24):at], " \t*_`\"'({$")
		if w == "minus" && !(before == "" && (at == 0 || sc.scope) || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, "=") || strings.HasSuffix(before, ":") || endsInIs(before)) {
			return
		}
		t.start, t.negative = at, true
		return
	}
}

// endsInIs reports that a number that follows s is what something is.
func endsInIs(s string) bool {
	w := strings.FieldsFunc(s, notWord)
	if len(w) == 0 {
		return false
	}
	last := strings.ToLower(w[len(w)-1])
	return eqWords[last] || last == "to" || last == "be" || last == "was" || last == "of"
}

// lastRune returns the offset of the rune before s[at].
func lastRune(s string, at int) int {
	_, n := utf8.DecodeLastRuneInString(s[:at])
	return at - n
}

// labelWords make the number behind them a label.
var labelWords = []string{
	"step", "question", "problem", "example", "figure", "fig.", "table", "equation", "eq.", "method", "approach",
	"section", "chapter", "exercise", "page", "no.", "schritt", "paso", "étape", "шаг",
}

// label reports a number that names something: a list number at the start of
// a line, "Step 2", "#5", a citation [1].
func (sc *numberScanner) label(t *numberToken) bool {
	s := sc.s
	if !t.core.plain() || t.negative || t.hedge != "" {
		return false
	}
	head := s[max(0, t.start-24):t.start]
	if strings.HasSuffix(head, "[") && strings.HasPrefix(s[t.end:], "]") {
		r, _ := utf8.DecodeLastRuneInString(head[:len(head)-1])
		listed := r == '\n' && hasWord(s[t.end:min(len(s), t.end+24)])
		return isGlue(r) || r == '.' || r == ',' || r == ']' || listed || r == ' ' && sc.cites(t.start-1)
	}
	if strings.HasSuffix(head, "[^") {
		return true
	}
	if strings.HasSuffix(head, "#") && !strings.HasSuffix(head, "##") {
		return true
	}
	if sure := strings.TrimLeft(s[t.end:min(len(s), t.end+16)], " "); hasFoldPrefix(sure, "sure") || hasFoldPrefix(sure, "confident") || hasFoldPrefix(sure, "certain") {
		return true // I'm 95% sure
	}
	if places := strings.TrimLeft(s[t.end:min(len(s), t.end+16)], " "); strings.HasSuffix(head, "to ") && (hasFoldPrefix(places, "decimal") || hasFoldPrefix(places, "significant") || hasFoldPrefix(places, "d.p")) {
		return true // 3.14 to 2 decimal places
	}
	trimmed := strings.TrimRight(head, " *_")
	if len(trimmed) < len(head) {
		for _, w := range labelWords {
			if k := len(trimmed) - len(w); k >= 0 && hasFoldPrefix(trimmed[k:], w) && !gluesBefore(trimmed[:k]) {
				// "17? No. 18." answers.
				return w != "no." || !strings.ContainsAny(lastByte(strings.TrimRight(trimmed[:k], " *_")), ".?!\n")
			}
		}
	}
	return sc.listLabel(t)
}

// cites reports that the bracket at s[at] follows a number and its unit: "18
// dollars [1]".
func (sc *numberScanner) cites(at int) bool {
	n := len(sc.tokens)
	if n == 0 || at-sc.tokens[n-1].end > 24 || sc.tokens[n-1].end > at {
		return false
	}
	unit := sc.s[sc.tokens[n-1].end:at]
	return !strings.ContainsAny(unit, "=:+-*/([\n") && len(strings.FieldsFunc(unit, notWord)) <= 1
}

// lastByte returns the last byte of s as a string.
func lastByte(s string) string { return s[max(0, len(s)-1):] }

// listLabel reports "2." or "2)" or "(2)" at the start of a line with more on
// it.
func (sc *numberScanner) listLabel(t *numberToken) bool {
	s := sc.s
	if t.core.end != t.end || t.end-t.start > 3 {
		return false
	}
	at := t.start
	for at > 0 && strings.IndexByte(" \t*_#>(", s[at-1]) >= 0 && t.start-at < 24 {
		at--
	}
	if at > 0 && s[at-1] != '\n' || at == 0 && sc.scope {
		return false
	}
	tail := strings.TrimLeft(s[t.end:min(len(s), t.end+8)], "*_")
	if tail == "" || tail[0] != '.' && tail[0] != ')' {
		return false
	}
	rest := tail[1:]
	blank := strings.TrimLeft(rest, " \t*_")
	return len(blank) < len(rest) && blank != "" && blank[0] != '\n'
}
