package report

import (
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// labelWidth is the column at which the text of a labelled line begins. It is
// no multiple of four: test2json looks behind indentations of four spaces for
// result lines.
const labelWidth = 10

// A page writes labelled paragraphs and keeps the first error of its writer.
type page struct {
	w     io.Writer
	width int // columns
	err   error
}

func (p *page) line(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(s, " ")+"\n")
	}
}

// para writes text behind its label, wrapped at the page's width with later
// lines indented as far. indent stands before the label.
func (p *page) para(indent, label, text string) {
	prefix := indent + label
	prefix += strings.Repeat(" ", max(1, labelWidth-len(label)))
	lines := wrap(text, max(20, p.width-columns(prefix)))
	for _, l := range lines {
		p.line(prefix + l)
		prefix = strings.Repeat(" ", len(prefix))
	}
}

// verbatim writes text behind its label in one line: paths and commands are
// there to be copied.
func (p *page) verbatim(indent, label, text string) {
	p.line(indent + label + strings.Repeat(" ", max(1, labelWidth-len(label))) + text)
}

// wrap breaks text at spaces, and words that are longer than a line within.
// It never begins a line with what go test prints at the start of one: text
// from outside must not gain by wrapping what Escape took from it.
func wrap(text string, limit int) []string {
	var lines []string
	for columns(text) > limit {
		at, next := breakAt(text, limit)
		if at < 0 {
			break
		}
		lines = append(lines, text[:at])
		text = text[next:]
	}
	return append(lines, text)
}

// breakAt finds where a line of at most limit columns ends and where the next
// begins, or -1 if text can only stay whole.
func breakAt(text string, limit int) (at, next int) {
	at = -1
	hard, cols := -1, 0
	for i, r := range text {
		if r == ' ' && i > 0 && forges(text[i+1:]) < 0 && strings.Trim(text[i:], " ") != "" {
			at, next = i, i+1
		}
		if cols += runeColumns(r); cols > limit && i > 0 {
			if at > 0 {
				return at, next
			}
			if hard < 0 && r != ' ' && runeColumns(r) > 0 && forges(text[i:]) < 0 {
				hard = i
			}
			if hard > 0 {
				return hard, hard
			}
		}
	}
	return -1, -1
}

// columns is how many terminal columns s takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
