package grade

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A numberText is a text rewritten so that numbers and markers stand in plain
// characters: LaTeX, HTML and markdown around digits are resolved, characters
// that look alike are made alike, what is struck out is gone. It remembers
// where each byte came from, so that a verdict quotes the response as it was.
type numberText struct {
	text, source string
	edits        []edit
}

// An edit says that text[out:outEnd] stands for source[in:inEnd].
type edit struct{ out, outEnd, in, inEnd int }

// quote returns the source of text[start:end].
func (c *numberText) quote(start, end int) string {
	if start >= end {
		return ""
	}
	in := func(pos int) (int, *edit) {
		k := sort.Search(len(c.edits), func(i int) bool { return c.edits[i].outEnd > pos })
		if k < len(c.edits) && c.edits[k].out <= pos {
			return c.edits[k].in, &c.edits[k]
		}
		if k == 0 {
			return pos, nil
		}
		return c.edits[k-1].inEnd + pos - c.edits[k-1].outEnd, nil
	}
	from, _ := in(start)
	to, e := in(end - 1)
	if e != nil {
		to = e.inEnd
	} else {
		to++
	}
	return c.source[from:to]
}

// cleaner builds a numberText.
type cleaner struct {
	src    string
	out    strings.Builder
	edits  []edit
	braces []bool // for each open brace whether it is dropped
	copied int    // src[:copied] has been dealt with
	last   byte   // the last byte written
}

// cleanNumbers rewrites text.
func cleanNumbers(text string) *numberText {
	c := cleaner{src: text}
	for i := 0; i < len(text); {
		b := text[i]
		if plainByte[b] {
			i++
			continue
		}
		with, n := c.rewrite(i)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		c.replace(i, i+n, with)
		i += n
	}
	c.flush(len(text))
	return &numberText{c.out.String(), text, c.edits}
}

// plainByte are the bytes that never begin a rewriting.
var plainByte = func() (t [256]bool) {
	for b := range 0x80 {
		t[b] = !strings.ContainsRune("\\{}<&*~\r", rune(b))
	}
	return t
}()

func (c *cleaner) flush(to int) {
	c.out.WriteString(c.src[c.copied:to])
	if to > c.copied {
		c.last = c.src[to-1]
	}
	c.copied = to
}

func (c *cleaner) replace(from, to int, with string) {
	c.flush(from)
	out := c.out.Len()
	// Dropping emphasis must not join what it kept apart.
	if with == "" && to < len(c.src) && isGlue(rune(c.src[to])) && isGlue(rune(c.last)) && c.src[from] == '*' {
		with = " "
	}
	c.out.WriteString(with)
	if with != "" {
		c.last = with[len(with)-1]
	}
	c.edits = append(c.edits, edit{out, out + len(with), from, to})
	c.copied = to
}

// rewrite returns what replaces src[i:i+n]; n is 0 if nothing does.
func (c *cleaner) rewrite(i int) (with string, n int) {
	s := c.src[i:]
	switch s[0] {
	case '\\':
		return c.latex(i)
	case '{':
		for _, p := range []string{"{,}", "{.}", "{}"} {
			// \boxed{} is an empty box, not a box without braces.
			if strings.HasPrefix(s, p) && !(p == "{}" && i > 0 && isGlue(rune(c.src[i-1]))) {
				return p[1 : len(p)-1], len(p)
			}
		}
		c.braces = append(c.braces, false)
		return "", 0
	case '}':
		if n := len(c.braces); n > 0 {
			drop := c.braces[n-1]
			c.braces = c.braces[:n-1]
			if drop {
				return "", 1
			}
		}
		return "", 0
	case '<':
		return c.html(i)
	case '&':
		for _, e := range entities {
			if strings.HasPrefix(s, e.name) {
				return e.char, len(e.name)
			}
		}
		return "", 0
	case '*':
		return c.stars(i)
	case '~':
		return c.tilde(i)
	case '\r':
		if strings.HasPrefix(s, "\r\n") {
			return "", 1
		}
		return "\n", 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if with, ok := cleanRune(r); ok {
		return with, size
	}
	return "", 0
}

// cleanRune maps a character to the plain one that means the same.
func cleanRune(r rune) (string, bool) {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E: // full-width ASCII
		return string(r - 0xFF01 + '!'), true
	case r == '\u2028' || r == '\u2029' || r == '\u0085':
		return "\n", true
	case isInvisible(r):
		return "", true
	case r != ' ' && r >= 0x80 && unicode.IsSpace(r):
		return " ", true
	}
	switch r {
	case '−', '﹣', '‐', '‑', '➖':
		return "-", true
	case '⁄', '∕':
		return "/", true
	case '٪', '﹪':
		return "%", true
	case '٫':
		return ".", true
	case '٬':
		return ",", true
	case '￥':
		return "¥", true
	case '￡':
		return "£", true
	case '﹤':
		return "<", true
	case '﹥':
		return ">", true
	case '∶', '︰':
		return ":", true
	}
	return "", false
}

// entities are the HTML entities that stand in or beside numbers.
var entities = []struct{ name, char string }{
	{"&nbsp;", " "}, {"&#160;", " "}, {"&thinsp;", " "}, {"&#8239;", " "}, {"&minus;", "-"}, {"&#8722;", "-"}, {"&ndash;", "–"},
	{"&lt;", "<"}, {"&gt;", ">"}, {"&le;", "≤"}, {"&ge;", "≥"}, {"&ne;", "≠"}, {"&asymp;", "≈"}, {"&plusmn;", "±"},
	{"&frac12;", "½"}, {"&frac14;", "¼"}, {"&frac34;", "¾"}, {"&#36;", "$"}, {"&dollar;", "$"}, {"&euro;", "€"}, {"&pound;", "£"},
	{"&yen;", "¥"}, {"&percnt;", "%"}, {"&#37;", "%"}, {"&times;", "×"}, {"&divide;", "÷"}, {"&amp;", "&"}, {"&quot;", `"`}, {"&#39;", "'"},
	{"&deg;", "°"}, {"&cent;", "¢"}, {"&comma;", ","}, {"&period;", "."},
}

// stars drops markdown emphasis. Between numbers ** is a power.
func (c *cleaner) stars(i int) (string, int) {
	n := 0
	for i+n < len(c.src) && c.src[i+n] == '*' {
		n++
	}
	if n < 2 {
		return "", 0
	}
	if i > 0 && i+n < len(c.src) && n == 2 {
		before, after := c.src[i-1], c.src[i+n]
		if ('0' <= before && before <= '9' || before == ')') && ('0' <= after && after <= '9' || after == '(') {
			return "^", n
		}
	}
	return "", n
}

// tilde drops ~~what is struck out~~ and takes LaTeX's tie for the blank that
// it is. Any other tilde is left: before a number it means "about".
func (c *cleaner) tilde(i int) (string, int) {
	const far = 512
	s := c.src[i:]
	if strings.HasPrefix(s, "~~") {
		line := s[2:min(len(s), far)]
		if k := strings.IndexByte(line, '\n'); k >= 0 {
			line = line[:k]
		}
		if k := strings.Index(line, "~~"); k > 0 {
			return " ", k + 4
		}
		return "", 0
	}
	if i > 0 && (isGlue(rune(c.src[i-1])) || strings.IndexByte("})%", c.src[i-1]) >= 0) {
		return " ", 1
	}
	return "", 0
}

// html resolves tags and drops GSM8K's calculator notes, <<48/2=24>>.
func (c *cleaner) html(i int) (string, int) {
	const far = 256
	s := c.src[i:min(len(c.src), i+far)]
	if strings.HasPrefix(s, "<<") {
		k := strings.Index(s, ">>")
		if k > 0 && strings.Trim(s[2:k], "0123456789.,+-*/=()% $_^") == "" {
			return "", k + 2
		}
		return "", 0
	}
	name, _, end, closing := elementAt(c.src, i)
	if end < 0 {
		return "", 0
	}
	n := end - i
	switch name {
	case "b", "strong", "i", "em", "u", "span", "font", "mark", "code", "big", "small", "ins", "a", "tt", "kbd", "var", "bold":
		return "", n
	case "p", "br", "div", "li", "ul", "ol", "tr", "td", "th", "table", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "center", "pre", "blockquote":
		return "\n", n
	case "sup", "sub":
		before, _ := utf8.DecodeLastRuneInString(c.src[:i])
		switch {
		case closing && len(c.src) > i+n && strings.ContainsRune("/⁄", firstRune(c.src[i+n:])):
			return "", n
		case closing:
			return " ", n
		case name == "sub" && (before == '/' || before == '⁄'):
			return "", n
		case name == "sup" && (isGlue(before) || before == ')' || before == '}'):
			return "^", n
		case name == "sup":
			return "", n
		}
		return "_", n
	case "s", "del", "strike":
		if k := strings.Index(s[n:], "</"+name+">"); !closing && i > 0 && k >= 0 {
			return " ", n + k + len(name) + 3
		}
	}
	return "", 0
}
