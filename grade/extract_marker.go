package grade

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A markKind is the shape of an answer marker.
type markKind int

const (
	markHash    markKind = iota // #### 18
	markBox                     // \boxed{18}
	markTag                     // <answer>18</answer>
	markField                   // {"answer": 18}
	markColon                   // Answer: 18, A: 18, Answer = 18
	markIs                      // the answer is 18
	markHeading                 // a line that holds nothing but "Answer"
	markCustom                  // the caller's own
)

// An answerMark is one place that announces an answer.
type answerMark struct {
	kind markKind
	// name is how verdicts call it: "####", "boxed", "<answer>", "Answer:".
	name string
	// text[start:end] is the marker, text[end:stop] what it announces: up to
	// the closing brace, tag or quotation mark where the marker has one, else
	// up to the next marker or the end of the text.
	start, end, stop int
	// open: the marker has a closing brace or tag, and it never came.
	open bool
}

// answerMarks returns the answer markers in text, in order. The last one is
// the model's answer: earlier ones are withdrawn or quoted. The text may hold
// markdown, LaTeX and HTML around and inside the markers; call finalTurn
// first, or an invented question's answer may be among them.
//
// Markers are: "####" before a number or at the end of the text (elsewhere it
// is a heading); \boxed{…} and \fbox{…}; <answer>…</answer>; a JSON field
// answer or final_answer; the word for "answer" in some twenty-five languages
// before a colon, an equals sign or a dash; "the answer (to …) is"; "A:" at
// the start of a line, unless a line "B:" shows that it is an option; and a
// heading that says only "Answer".
func answerMarks(text string, custom ...string) []answerMark {
	var marks []answerMark
	if len(custom) > 0 {
		marks = customMarks(text, custom)
	} else {
		marks = hashMarks(text)
		marks = append(marks, boxMarks(text)...)
		marks = append(marks, tagMarks(text)...)
		marks = append(marks, wordMarks(text)...)
		marks = append(marks, letterMarks(text)...)
	}
	slices.SortStableFunc(marks, func(a, b answerMark) int { return cmp.Compare(a.start, b.start) })
	for i := range marks {
		if marks[i].stop >= 0 {
			continue
		}
		marks[i].stop = len(text)
		for j := i + 1; j < len(marks); j++ {
			if marks[j].start >= marks[i].end {
				marks[i].stop = marks[j].start
				break
			}
		}
	}
	return marks
}

func customMarks(text string, custom []string) []answerMark {
	var marks []answerMark
	for _, c := range custom {
		for from := 0; c != ""; {
			k := strings.Index(text[from:], c)
			if k < 0 {
				break
			}
			start := from + k
			from = start + len(c)
			marks = append(marks, answerMark{markCustom, c, start, from, -1, false})
		}
	}
	return marks
}

// hashMarks finds runs of three and more #. Before a number they are markers
// (GSM8K's is four), else headings, unless nothing or only punctuation
// follows, or their line is the last of the text: "#### unknown" announces an
// answer that is none.
func hashMarks(text string) []answerMark {
	const far = 256 // how much of a line is looked at
	var marks []answerMark
	last := len(strings.TrimRight(text, " \t\r\n"))
	lineEnd := -1
	for i := 0; i < len(text); {
		k := strings.Index(text[i:], "###")
		if k < 0 {
			break
		}
		start := i + k
		end := start
		for end < len(text) && text[end] == '#' {
			end++
		}
		i = end
		if lineEnd < end {
			lineEnd = len(text)
			if k := strings.IndexByte(text[end:], '\n'); k >= 0 {
				lineEnd = end + k
			}
		}
		lastLine := lineEnd >= last
		line := text[end:min(lineEnd, end+far)]
		lead := strings.TrimLeft(line, " \t*_`$\\({[=:\"'+-−–US£€¥")
		number := startsNumber(lead)
		switch {
		case isBlank(line) && closesHash(text[:start], marks):
			continue
		case number && lastLine:
		case number && !isListLabel(lead) && (end-start == 4 || len(strings.Fields(line)) <= 4):
		case end-start != 4:
			continue
		case !number && !lastLine && hasWord(line):
			continue
		case number:
			continue
		}
		marks = append(marks, answerMark{markHash, "####", start, end, -1, false})
	}
	return marks
}

// closesHash reports that a run of # behind text closes a heading that is
// already a mark: "#### 18 ####".
func closesHash(text string, marks []answerMark) bool {
	if len(marks) == 0 {
		return false
	}
	between := text[marks[len(marks)-1].end:]
	return strings.IndexByte(between, '\n') < 0 && hasWord(between)
}

// startsNumber reports whether s begins as a number does.
func startsNumber(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	if r == '.' {
		r, _ = utf8.DecodeRuneInString(s[n:])
	}
	if _, ok := digitValue(r); ok {
		return true
	}
	_, ok := vulgarFractions[r]
	return ok || hasFoldPrefix(s, "frac") || hasFoldPrefix(s, "dfrac") || hasFoldPrefix(s, "tfrac") || hasFoldPrefix(s, "boxed")
}

// isListLabel reports a list label, "2. Then" or "2) then", at the start of s.
func isListLabel(s string) bool {
	t := strings.TrimLeft(s, "0123456789")
	if len(t) == len(s) || len(t) < 2 || (t[0] != '.' && t[0] != ')') {
		return false
	}
	u := strings.TrimLeft(t[1:], " \t*_`\"'(")
	return len(u) < len(t)-1 && hasLetterFirst(u)
}

// boxMarks finds \boxed{…} and \fbox{…}. Braces are matched in one pass over
// the text, so nesting costs nothing.
func boxMarks(text string) []answerMark {
	if !strings.Contains(text, `\boxed`) && !strings.Contains(text, `\fbox`) {
		return nil
	}
	var marks []answerMark
	opened := []int{} // for each open brace, the index of its mark or -1
	pending := -1     // the mark whose brace comes next
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			n := 0
			switch {
			case strings.HasPrefix(text[i:], `\boxed`):
				n = len(`\boxed`)
			case strings.HasPrefix(text[i:], `\fbox`):
				n = len(`\fbox`)
			default:
				i++ // an escaped brace is no brace
				continue
			}
			end := i + n
			for end < len(text) && text[end] == ' ' {
				end++
			}
			if end < len(text) && text[end] == '{' {
				pending = len(marks)
				marks = append(marks, answerMark{markBox, "boxed", i, end + 1, len(text), true})
				i = end - 1
			} else if end > i+n && end < len(text) && '0' <= text[end] && text[end] <= '9' {
				// TeX also takes \boxed 7: the one token that follows.
				marks = append(marks, answerMark{markBox, "boxed", i, end, end + 1, false})
				i = end
			} else {
				i += n - 1
			}
		case '{':
			opened = append(opened, pending)
			pending = -1
		case '}':
			if n := len(opened); n > 0 {
				if m := opened[n-1]; m >= 0 {
					marks[m].stop, marks[m].open = i, false
				}
				opened = opened[:n-1]
			}
		}
	}
	return marks
}

// tagMarks finds <answer>…</answer>, <final_answer> and <final>.
func tagMarks(text string) []answerMark {
	var marks []answerMark
	for i := 0; i < len(text); {
		k := strings.IndexByte(text[i:], '<')
		if k < 0 {
			break
		}
		start := i + k
		i = start + 1
		name, attrs, end, closing := elementAt(text, start)
		switch name {
		case "answer", "final_answer", "finalanswer", "final-answer", "final", "ans":
		default:
			continue
		}
		if end < 0 || strings.HasSuffix(attrs, "/") {
			continue
		}
		if !closing {
			marks = append(marks, answerMark{markTag, "<" + name + ">", start, end, len(text), true})
		} else if n := len(marks); n > 0 && marks[n-1].open {
			marks[n-1].stop, marks[n-1].open = start, false
		}
		i = end
	}
	return marks
}

// letterMarks finds "A:" at the start of a line.
func letterMarks(text string) []answerMark {
	if lineStartsWith(text, "B:") {
		return nil
	}
	var marks []answerMark
	for pos := 0; pos < len(text); {
		s := strings.TrimLeft(text[pos:], " \t*_>")
		for _, p := range []string{"A:", "A：", "A**:", "A__:"} {
			if strings.HasPrefix(s, p) {
				start := len(text) - len(s)
				marks = append(marks, answerMark{markColon, "A:", start, start + len(p), -1, false})
				break
			}
		}
		k := strings.IndexByte(text[pos:], '\n')
		if k < 0 {
			break
		}
		pos += k + 1
	}
	return marks
}

func lineStartsWith(text, prefix string) bool {
	for pos := 0; pos < len(text); {
		line, _, _ := strings.Cut(text[pos:], "\n")
		if strings.HasPrefix(strings.TrimLeft(line, " \t*_>"), prefix) {
			return true
		}
		pos += len(line) + 1
	}
	return false
}
