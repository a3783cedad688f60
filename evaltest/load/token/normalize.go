package token

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// newMarks are combining marks that the library of the tokenizers does not
// know, because its tables are those of Unicode 9: it leaves them where they
// are, and composes nothing across them. Servers run that library, so they
// count so. Letters that are newer and have a decomposition, as U+11938, are
// not covered.
var newMarks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x07fd, 0x07fd, 1}, {0x0897, 0x089f, 1}, {0x08ca, 0x08d3, 1}, {0x09fe, 0x09fe, 1}, {0x0c3c, 0x0c3c, 1}, {0x0d3b, 0x0d3c, 1},
		{0x0eba, 0x0eba, 1}, {0x1715, 0x1715, 1}, {0x1abf, 0x1add, 1}, {0x1ae0, 0x1aeb, 1}, {0x1df6, 0x1dfa, 1}, {0xa82c, 0xa82c, 1},
	},
	R32: []unicode.Range32{
		{0x10d24, 0x10d27, 1}, {0x10d69, 0x10d6d, 1}, {0x10eab, 0x10eac, 1}, {0x10efa, 0x10efb, 1}, {0x10efd, 0x10eff, 1},
		{0x10f46, 0x10f50, 1}, {0x10f82, 0x10f85, 1}, {0x11070, 0x11070, 1}, {0x1133b, 0x1133b, 1}, {0x113ce, 0x113d0, 1},
		{0x1145e, 0x1145e, 1}, {0x11839, 0x1183a, 1}, {0x1193d, 0x1193e, 1}, {0x11943, 0x11943, 1}, {0x119e0, 0x119e0, 1},
		{0x11a34, 0x11a34, 1}, {0x11a47, 0x11a47, 1}, {0x11a99, 0x11a99, 1}, {0x11d42, 0x11d42, 1}, {0x11d44, 0x11d45, 1},
		{0x11d97, 0x11d97, 1}, {0x11f41, 0x11f42, 1}, {0x1612f, 0x1612f, 1}, {0x16ff0, 0x16ff1, 1}, {0x1e08f, 0x1e08f, 1},
		{0x1e130, 0x1e136, 1}, {0x1e2ae, 0x1e2ae, 1}, {0x1e2ec, 0x1e2ef, 1}, {0x1e4ec, 0x1e4ef, 1}, {0x1e5ee, 0x1e5ef, 1},
		{0x1e6e3, 0x1e6e3, 1}, {0x1e6e6, 0x1e6e6, 1}, {0x1e6ee, 0x1e6ef, 1}, {0x1e6f5, 0x1e6f5, 1},
	},
}

// normalForm is form as the tokenizers' library applies it, but for runs of
// more than 30 marks: package norm puts a joiner (U+034F) into those.
func normalForm(form norm.Form) func(string) string {
	return func(s string) string {
		if form.IsNormalString(s) {
			return s
		}
		var b strings.Builder
		b.Grow(len(s))
		for s != "" {
			end := strings.IndexFunc(s, isNewMark)
			if end < 0 {
				end = len(s)
			}
			b.WriteString(form.String(s[:end]))
			rest := strings.TrimLeftFunc(s[end:], isNewMark)
			b.WriteString(s[end : len(s)-len(rest)])
			s = rest
		}
		return b.String()
	}
}

func isNewMark(r rune) bool { return r >= 0x7fd && unicode.Is(newMarks, r) }
