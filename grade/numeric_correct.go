package grade

import "strings"

// corrections begin a sentence that takes back what was said. Those that are
// true say so in themselves; the others may only begin a check.
var corrections = []struct {
	text   string
	strong bool
}{
	{"but wait", false}, {"but it's", true}, {"but it’s", true}, {"but it is", true}, {"but actually", true}, {"wait", false}, {"actually", false}, {"correction", true}, {"no,", true}, {"no.", true}, {"no:", true}, {"no wait", true}, {"no -", true}, {"no —", true}, {"no –", true},
	{"hmm", false}, {"oops", true}, {"scratch that", true}, {"sorry", false}, {"apologies", false}, {"my mistake", true},
	{"i made a mistake", true}, {"i made an error", true}, {"i was wrong", true}, {"i miscounted", true}, {"i miscalculated", true},
	{"that's wrong", true}, {"that’s wrong", true}, {"that is wrong", true}, {"that was wrong", true}, {"this is wrong", true}, {"that's not right", true}, {"that is not right", true},
	{"that's incorrect", true}, {"that is incorrect", true}, {"this is incorrect", true}, {"let me re", false}, {"on second thought", true}, {"hold on", false},
	{"edit:", true}, {"update:", true}, {"corrected", true}, {"revised", true}, {"i mean", true}, {"rather,", true}, {"make that", true},
}

// corrected looks behind the marked answer for a correction without a marker:
// "Answer: 17. Wait, that's wrong; it is 18." is 18. A correction that names
// no number leaves nothing to grade; a mere check leaves the answer alone.
func (n *numeric) corrected(c *numberText, m answerMark, f finding) finding {
	from := max(f.start, m.end)
	if m.kind == markBox || m.kind == markTag || m.kind == markField {
		from = m.stop
	}
	at, strong := correctionAt(c.text[from:])
	if at < 0 || f.value == nil && f.reason != ReasonAmbiguous && f.reason != ReasonInvalid {
		return f
	}
	rule := f.rule + ", corrected"
	g := n.lastNumber(c, from+at, len(c.text), false, rule)
	switch {
	case g.value == nil && g.reason == ReasonNoAnswer && !strong:
		return f
	case g.value == nil && g.reason == ReasonNoAnswer:
		return finding{rule: rule, reason: ReasonAmbiguous, why: "the answer is taken back: " + quote(c.text[from+at:])}
	case g.value != nil && f.value != nil && g.value.Cmp(f.value) == 0:
		if strong && g.hedge == "" {
			return g // about 25? No, exactly 25
		}
		return f
	case g.value != nil && (strong || states(c.text[from+at:])):
		return g
	}
	return finding{rule: rule, reason: ReasonAmbiguous, why: "a second number follows in doubt: " + quote(c.text[from+at:])}
}

// correctionAt returns the offset of the first sentence in s that begins with
// a correction, or -1, and whether any of them is a strong one.
func correctionAt(s string) (at int, strong bool) {
	at = -1
	begins := false
	for i := 0; i < len(s); i++ {
		switch b := s[i]; b {
		case '.', '!', '?', '\n', ';', '(', ',', 0x94: // 0x94 ends an em dash
			begins = true
		case ' ', '\t', '*', '_', '-', '"':
		default:
			if begins {
				for _, c := range corrections {
					if hasFoldPrefix(s[i:], c.text) && !(isGlue(rune(c.text[len(c.text)-1])) && c.text != "let me re" && i+len(c.text) < len(s) && isGlue(rune(s[i+len(c.text)]))) {
						if at < 0 {
							at = i
						}
						strong = strong || c.strong
						break
					}
				}
			}
			begins = false
		}
	}
	return at, strong
}

// states reports whether s says what the answer is, rather than how a check
// goes.
func states(s string) bool {
	s = strings.ToLower(s[:min(len(s), 4096)])
	for _, w := range []string{"it is ", "it's ", "it’s ", "should be ", "is actually ", "answer", "must be ", "that makes ", "it would be ", "we get ", "so she ", "so he ", "so they ", "total is ", "actually "} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
