package grade

import (
	"regexp"
	"strings"
)

// markWords announce a choice where a colon, an equals sign, a dash or a word
// for "is" follows; praiseWords and nouns make one together ("correct option
// is").
var (
	markWords = wordSet(`soln key assistant model output ai response result pick guess fit winner choice option selection selected solution lösung conclusion verdict decision auswahl elección choix
		scelta escolha opción opção opzione lettre letra lettera letter выбор вариант correct right best proper final one
		correcta correcto correcte correta corretta corretto richtige richtig`)
	praiseWords = wordSet(`correct right best proper`)
	hanMarks    = []string{"正确选项", "正確選項", "选项", "選項", "正解"}
)

// otherMarks returns the places where a word of markWords announces a choice.
func otherMarks(t string) []answerMark {
	var marks []answerMark
	prev := ""
	for i := 0; i < len(t); {
		first := t[i]
		if first >= 0xE0 {
			for _, w := range hanMarks {
				if strings.HasPrefix(t[i:], w) && !isBlank(t[i+len(w):]) {
					end := len(t) - len(strings.TrimLeft(t[i+len(w):], "是为為はが: "))
					marks = append(marks, answerMark{kind: markColon, name: otherMark, start: i, end: end, stop: len(t)})
					break
				}
			}
		}
		end := wordEnd(t, i)
		if end == i {
			if first != ' ' {
				prev = ""
			}
			i++
			continue
		}
		w := strings.ToLower(t[i:min(end, i+24)])
		n := 0
		if (markWords[w] || askedNouns[w]) && (w != "one" || praiseWords[prev]) && (plurals[w] == nil || plurals[w][prev]) {
			n = announces(t[end:], markWords[w])
		}
		if n > 0 {
			marks = append(marks, answerMark{kind: markColon, name: otherMark, start: i, end: end + n, stop: len(t)})
		}
		prev, i = w, end
	}
	return marks
}

var (
	// askedNouns announce a choice before the verbs of longIs only.
	askedNouns = wordSet(`answer answers options choices letters option choice one`)
	// plurals need a word before them: the options are all of them.
	plurals = map[string]map[string]bool{"options": praiseWords, "choices": praiseWords, "letters": praiseWords,
		"answers": wordSet(`correct right best proper the my final two three`)}
	// longIs are further ways to say "is".
	longIs = regexp.MustCompile(`^(?i)["'*_]*\s*(?:\?\s|\]|--|(?:are|is going to be|has to be|have to be|had to be|can only be|could only be|must only be|may well be|` +
		`turns out to be|is (?:\.\.\.|…)|(?:that|which|with|among|from)\s[^.;:?!\n]{1,80}?\s(?:is|are|would be|must be))(?::|\s))`)
	longNot = regexp.MustCompile(`(?i)\b(?:not|never|least|wrong|incorrect|false)\b|n't\b`)
)

// announces returns the length of the colon, dash or word for "is" at the
// start of s, wrapping before it included. Short says whether a word alone,
// such as a colon, will do.
func announces(s string, short bool) int {
	if words := longIs.FindString(s[:min(len(s), 200)]); words != "" && !longNot.MatchString(words) {
		return len(words)
	}
	if !short {
		return 0
	}
	lead := len(s) - len(strings.TrimLeft(s, "\"'*_` \t"))
	if n := separator(s, 0, lead); n > 0 {
		return lead + n
	}
	if lead > 0 {
		if n := isWord(s[lead:]); n > 0 {
			return lead + n
		}
	}
	return 0
}
