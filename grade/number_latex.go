package grade

import "strings"

// latexWrap are commands whose argument is what matters.
var latexWrap = map[string]bool{
	"text": true, "textbf": true, "textrm": true, "textit": true, "textsf": true, "texttt": true, "textnormal": true, "emph": true,
	"mathrm": true, "mathbf": true, "mathit": true, "mathsf": true, "mathtt": true, "mathbb": true, "mathcal": true, "mbox": true, "hbox": true,
	"underline": true, "operatorname": true, "bold": true, "bm": true, "boldsymbol": true, "ensuremath": true, "num": true, "overline": true,
}

// latexChars are commands that are characters. An empty one is dropped.
var latexChars = map[string]string{
	"times": "×", "cdot": "·", "div": "÷", "pm": "±", "mp": "±", "ast": "*", "star": "*",
	"approx": "≈", "simeq": "≈", "sim": "≈", "cong": "≈", "thickapprox": "≈", "approxeq": "≈",
	"le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥", "lt": "<", "gt": ">", "ne": "≠", "neq": "≠",
	"rightarrow": "→", "Rightarrow": "→", "to": "→", "implies": "→", "therefore": "→", "longrightarrow": "→",
	"pounds": "£", "euro": "€", "EUR": "€", "texteuro": "€", "yen": "¥", "textdollar": "$", "dollar": "$", "textsterling": "£",
	"degree": "°", "circ": "°", "percent": "%", "infty": "∞", "pi": "π", "cents": "¢", "textcent": "¢",
	"quad": " ", "qquad": " ", "thinspace": " ", "space": " ", "enspace": " ", "nobreakspace": " ", "newline": "\n", "par": "\n",
	"displaystyle": "", "textstyle": "", "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "",
	"bigg": "", "Bigg": "", "bf": "", "it": "", "rm": "", "sf": "", "tt": "", "limits": "", "bfseries": "",
	"dfrac": `\frac`, "tfrac": `\frac`, "cfrac": `\frac`, "ldots": "...", "dots": "...", "cdots": "...",
	"textasciitilde": "~", "textless": "<", "textgreater": ">",
}

// lineEscape reports that the letters behind a backslash are those of a line
// end that was escaped once too often, \nAnswer, and no command.
func lineEscape(name string) bool {
	if name == "" || name[0] != 'n' {
		return false
	}
	for _, command := range []string{"nRightarrow", "nLeftarrow", "nLeftrightarrow", "nVdash", "nVDash"} {
		if name == command {
			return false
		}
	}
	return len(name) == 1 || 'A' <= name[1] && name[1] <= 'Z'
}

// latex resolves the command at src[i].
func (c *cleaner) latex(i int) (string, int) {
	s := c.src[i:]
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case '$', '%', '#', '_', '*', '-', '+', '.', '~', '>', '<', '=', '`', '&', '"', '\'', '|':
		return s[1:2], 2
	case ',', ';', ':', ' ', '/':
		return " ", 2
	case '!':
		return "", 2
	case '(', ')', '[', ']':
		return " ", 2
	case '{':
		return "(", 2
	case '}':
		return ")", 2
	case '\\':
		return "\n", 2
	}
	n := 1
	for n < len(s) && ('a' <= s[n] && s[n] <= 'z' || 'A' <= s[n] && s[n] <= 'Z') {
		n++
	}
	name := s[1:n]
	if latexWrap[name] {
		k := n
		for k < len(s) && s[k] == ' ' {
			k++
		}
		if k < len(s) && s[k] == '{' {
			c.braces = append(c.braces, true)
			return " ", k + 1
		}
		return " ", n
	}
	if lineEscape(name) {
		return "\n", 2
	}
	switch name {
	case "begin", "end", "hspace", "vspace", "phantom", "color", "textcolor":
		if n < len(s) && s[n] == '{' {
			if k := strings.IndexByte(s[n:min(len(s), n+64)], '}'); k > 0 {
				return " ", n + k + 1
			}
		}
		return " ", n
	}
	if with, ok := latexChars[name]; ok {
		return with, n
	}
	return "", 0
}
