package grade

import (
	"strings"
	"unicode/utf8"
)

// A coreNumber is a number without sign, currency and unit, as read at one
// place of a cleaned text. Its parts are slices of that text; nothing is
// computed until value is called.
type coreNumber struct {
	end int
	// bad says why it is no number although it looks like one: "4,2",
	// "3/4/2024", "10:30". Empty if it is one.
	bad string
	// integer and fraction are the digits before and after the decimal point,
	// with thousands separators; exponent scales them by a power of ten.
	integer, fraction, exponent string
	// over is the denominator as it stands; with mixed, integer is the whole
	// part and numerator stands above it, else integer.fraction does.
	numerator, over string
	vulgar          rune
	mixed, negative bool
}

// plain reports digits without point, exponent or denominator.
func (c *coreNumber) plain() bool {
	return c.bad == "" && c.fraction == "" && c.exponent == "" && c.over == "" && c.vulgar == 0 && c.integer != ""
}

// readCore reads the number at s[i], which must begin with a digit, a point
// before a digit, a vulgar fraction or \frac.
func readCore(s string, i int, loc locale) coreNumber {
	r, size := utf8.DecodeRuneInString(s[i:])
	if _, ok := vulgarFractions[r]; ok {
		return coreNumber{end: i + size, vulgar: r}
	}
	if r == '\\' {
		return readFrac(s, i, loc)
	}
	c := readDigits(s, i, loc)
	if c.bad == "" {
		c = readTail(s, c, loc)
	}
	if c.bad == "" && strings.HasPrefix(s[c.end:], ":") && isDigitAt(s, c.end+1) {
		c.bad = "a ratio or a time of day"
		for c.end < len(s) && (s[c.end] == ':' || s[c.end] == '.' || isDigitAt(s, c.end)) {
			_, n := utf8.DecodeRuneInString(s[c.end:])
			c.end += n
		}
	}
	return c
}

// readDigits reads digits with their separators.
func readDigits(s string, i int, loc locale) coreNumber {
	var c coreNumber
	g := grouping{loc: loc}
	start, point := i, -1
	for i < len(s) {
		n := digitRun(s, i)
		if n > 0 {
			g.group(s[i:i+n], point >= 0)
			i += n
		}
		sep := separatorAt(s, i)
		if sep == 0 || !isDigitAt(s, i+1) && !(sep == '’' && isDigitAt(s, i+len("’"))) {
			break
		}
		width := 1
		if sep == '’' {
			sep, width = '\'', len("’")
		}
		if sep == ' ' && !(point < 0 && g.takesSpace(s, i+1)) {
			break
		}
		if byte(sep) == loc.decimal && point < 0 && c.bad == "" && g.done() == "" {
			point = i
		} else if why := g.separator(byte(sep), point >= 0); why != "" && c.bad == "" {
			c.bad = why
		}
		i += width
	}
	c.end = i
	if c.bad == "" && point < 0 {
		c.bad = g.done()
	}
	switch {
	case point >= 0:
		c.integer, c.fraction = s[start:point], s[point+1:i]
	default:
		c.integer = s[start:i]
	}
	return c
}

// separatorAt returns the separator at s[i], or 0.
func separatorAt(s string, i int) rune {
	if i >= len(s) {
		return 0
	}
	switch s[i] {
	case '.', ',', ' ', '\'', '_':
		return rune(s[i])
	}
	if strings.HasPrefix(s[i:], "’") {
		return '’'
	}
	return 0
}

// grouping checks thousands groups as they are read.
type grouping struct {
	loc           locale
	sep           byte // 0 before the first
	first, last   int  // digits in the first and the last group
	groups        int
	pairs, threes bool // inner groups of two and of three digits were seen
	zero, bad     bool // the number begins with 0; a group has a wrong length
}

// group takes the next run of digits.
func (g *grouping) group(digits string, fraction bool) {
	if fraction {
		return
	}
	n := utf8.RuneCountInString(digits)
	if g.groups == 0 {
		g.first = n
		r, _ := utf8.DecodeRuneInString(digits)
		v, _ := digitValue(r)
		g.zero = v == 0
	} else {
		// All but the last group are looked at when the next one comes.
		if g.groups > 1 {
			g.inner()
		}
		g.last = n
	}
	g.groups++
}

func (g *grouping) inner() {
	switch g.last {
	case 3:
		g.threes = true
	case 2:
		g.pairs = true
	default:
		g.bad = true
	}
}

// takesSpace reports whether the blank before s[i] can be a thousands
// separator: exactly three digits follow, one to three stand before.
func (g *grouping) takesSpace(s string, i int) bool {
	if strings.IndexByte(g.loc.groups, ' ') < 0 || g.first == 0 || g.first > 3 || g.zero || (g.sep != 0 && g.sep != ' ') {
		return false
	}
	n := digitRun(s, i)
	if utf8.RuneCountInString(s[i:i+n]) != 3 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i+n:])
	return !isGlue(r) && r != '/'
}

// separator takes a separator that is not the decimal point.
func (g *grouping) separator(sep byte, fraction bool) (why string) {
	switch {
	case fraction:
		return "several decimal points, or a version number"
	case strings.IndexByte(g.loc.groups, sep) < 0 || g.sep != 0 && g.sep != sep:
		return "its separators are not those of one number"
	}
	g.sep = sep
	return ""
}

// done checks the groups up to here.
func (g *grouping) done() (why string) {
	if g.groups <= 1 {
		return ""
	}
	ok := !g.bad && g.last == 3 && g.first >= 1 && g.first <= 3 && !g.zero
	if ok && !g.pairs {
		return ""
	}
	if ok && g.loc.lakh && g.sep == ',' && !g.threes && g.first <= 2 {
		return ""
	}
	return "ambiguous: a decimal comma, a list, or badly grouped thousands"
}

// readTail reads what may follow digits: an exponent, a power of ten, a
// denominator, the fraction of a mixed number.
func readTail(s string, c coreNumber, loc locale) coreNumber {
	if n := exponentAt(s, c.end); n > 0 {
		c.exponent = s[c.end+1 : c.end+n]
		c.end += n
		return c
	}
	if n, exp := powerOfTenAt(s, c.end); n > 0 {
		c.exponent = exp
		c.end += n
		return c
	}
	if c.integer == "10" && c.plain() {
		if n, exp := tenRaised(s, c.end); n > 0 {
			c.integer, c.exponent = "1", exp
			c.end += n
			return c
		}
	}
	if slash := slashAt(s, c); slash > 0 {
		d := readDigits(s, c.end+slash, loc)
		c.end = d.end
		switch {
		case strings.HasPrefix(s[d.end:], "/") && isDigitAt(s, d.end+1):
			c.bad = "a date"
			for c.end < len(s) && (s[c.end] == '/' || isDigitAt(s, c.end)) {
				_, n := utf8.DecodeRuneInString(s[c.end:])
				c.end += n
			}
		case !d.plain():
			c.bad = "a fraction with a strange denominator"
		default:
			c.over = d.integer
		}
		return c
	}
	if !c.plain() {
		return c
	}
	return readMixed(s, c, loc)
}

// slashAt returns the length of the slash that makes c the numerator of a
// fraction, or 0. With blanks around it, it does so only in a proper fraction:
// 1 / 2 has a value, 36 / 2 is a division that was not worked out.
func slashAt(s string, c coreNumber) int {
	if strings.HasPrefix(s[c.end:], "/") && isDigitAt(s, c.end+1) {
		return 1
	}
	const spaced = " / "
	if !c.plain() || !strings.HasPrefix(s[c.end:], spaced) {
		return 0
	}
	at := c.end + len(spaced)
	den := s[at : at+digitRun(s, at)]
	rest := s[at+len(den):]
	if den == "" || isGlue(firstRune(rest)) || strings.HasPrefix(strings.TrimLeft(rest[:min(len(rest), 4)], " ,."), "/") || !less(c.integer, den) {
		return 0
	}
	return len(spaced)
}

// less reports a < b for digits without leading zeros, of at most four.
func less(a, b string) bool {
	return len(b) <= 4 && (len(a) < len(b) || len(a) == len(b) && a < b)
}

// readMixed reads the fraction of 2½, 2 ½, 3 1/2, 3 and 1/2 and 3\frac{1}{2}.
func readMixed(s string, c coreNumber, loc locale) coreNumber {
	i := c.end
	for i < len(s) && s[i] == ' ' && i < c.end+2 {
		i++
	}
	if i > c.end && strings.HasPrefix(s[i:], "and ") {
		i += len("and ")
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	if _, ok := vulgarFractions[r]; ok {
		c.vulgar, c.mixed, c.end = r, true, i+size
		return c
	}
	if strings.HasPrefix(s[i:], `\frac`) {
		if f := readFrac(s, i, loc); f.bad == "" && !f.negative {
			c.mixed, c.numerator, c.over, c.end = true, f.integer, f.over, f.end
			return c
		}
	}
	if i > c.end && isDigitAt(s, i) {
		a := digitRun(s, i)
		if strings.HasPrefix(s[i+a:], "/") && a <= 4 {
			b := digitRun(s, i+a+1)
			r, _ := utf8.DecodeRuneInString(s[i+a+1+b:])
			num, den := s[i:i+a], s[i+a+1:i+a+1+b]
			if !isGlue(r) && r != '/' && less(num, den) {
				c.mixed, c.numerator, c.over, c.end = true, num, den, i+a+1+b
			}
		}
	}
	return c
}

// readFrac reads \frac{1}{2}, \frac12 and \frac{-1}{2}.
func readFrac(s string, i int, loc locale) coreNumber {
	const far = 2*maxNumberDigits + 32
	c := coreNumber{bad: "a fraction of something that is no number", end: i + len(`\frac`)}
	s = s[:min(len(s), i+far)]
	var part [2]string
	at := c.end
	for k := range part {
		for at < len(s) && s[at] == ' ' {
			at++
		}
		if at < len(s) && s[at] == '{' {
			j := strings.IndexByte(s[at:], '}')
			if j < 0 {
				return c
			}
			part[k] = strings.Trim(s[at+1:at+j], " $()")
			at += j + 1
		} else if isDigitAt(s, at) {
			_, n := utf8.DecodeRuneInString(s[at:])
			part[k] = s[at : at+n]
			at += n
		} else {
			return c
		}
	}
	c.end = at
	for k := range part {
		if t, ok := strings.CutPrefix(part[k], "-"); ok {
			part[k], c.negative = t, !c.negative
		}
		if !isDigitAt(part[k], 0) {
			return c
		}
		d := readDigits(part[k], 0, loc)
		if d.end != len(part[k]) || !d.plain() {
			return c
		}
	}
	c.bad, c.integer, c.over = "", part[0], part[1]
	return c
}

// exponentAt returns the length of the exponent e12, E-3 at s[i], or 0.
func exponentAt(s string, i int) int {
	if i >= len(s) || s[i] != 'e' && s[i] != 'E' {
		return 0
	}
	j := i + 1
	if j < len(s) && (s[j] == '+' || s[j] == '-') {
		j++
	}
	n := digitRun(s, j)
	r, _ := utf8.DecodeRuneInString(s[min(len(s), j+n):])
	if n == 0 || isGlue(r) {
		return 0
	}
	return j + n - i
}

// powerOfTenAt returns the length of "× 10^3", "x10³" at s[i] and the exponent.
func powerOfTenAt(s string, i int) (n int, exp string) {
	t := strings.TrimLeft(s[i:min(len(s), i+32)], " ")
	cut := ""
	for _, op := range []string{"×", "x", "X", "·", "*", "⋅"} {
		if strings.HasPrefix(t, op) {
			cut = op
			break
		}
	}
	if cut == "" {
		return 0, ""
	}
	t = strings.TrimLeft(t[len(cut):], " ")
	if !strings.HasPrefix(t, "10") {
		return 0, ""
	}
	at := min(len(s), i+32) - len(t) + len("10")
	n, exp = tenRaised(s, at)
	if n == 0 {
		return 0, ""
	}
	return at + n - i, exp
}

// tenRaised returns the length of "^3", "^{3}" or "³" at s[i], behind a ten,
// and the exponent.
func tenRaised(s string, i int) (n int, exp string) {
	t := s[i:min(len(s), i+32)]
	if sup, size := superscripts(t); size > 0 {
		return size, sup
	}
	if !strings.HasPrefix(t, "^") {
		return 0, ""
	}
	t = strings.TrimLeft(t[1:], "{( ")
	at := min(len(s), i+32) - len(t)
	k := 0
	if k < len(t) && (t[k] == '-' || t[k] == '+') {
		k++
	}
	d := digitRun(t, k)
	if d == 0 {
		return 0, ""
	}
	end := at + k + d
	for end < len(s) && (s[end] == '}' || s[end] == ')') && end < at+k+d+1 {
		end++
	}
	return end - i, t[:k+d]
}

// superscripts reads ⁻³ at the start of s as "-3".
func superscripts(s string) (exp string, size int) {
	var b strings.Builder
	for _, r := range s {
		k := strings.IndexRune("⁰¹²³⁴⁵⁶⁷⁸⁹", r)
		switch {
		case r == '⁻' && size == 0:
			b.WriteByte('-')
		case k >= 0 && r != utf8.RuneError:
			b.WriteByte(byte('0' + utf8.RuneCountInString("⁰¹²³⁴⁵⁶⁷⁸⁹"[:k])))
		default:
			return b.String(), size
		}
		size += utf8.RuneLen(r)
	}
	return b.String(), size
}

// digitRun returns the length in bytes of the digits at s[i:].
func digitRun(s string, i int) int {
	start := i
	for i < len(s) {
		if '0' <= s[i] && s[i] <= '9' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if _, ok := digitValue(r); !ok {
			break
		}
		i += n
	}
	return max(0, i-start)
}

// isDigitAt reports whether a digit of any script stands at s[i].
func isDigitAt(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	if s[i] < utf8.RuneSelf {
		return '0' <= s[i] && s[i] <= '9'
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	_, ok := digitValue(r)
	return ok
}
