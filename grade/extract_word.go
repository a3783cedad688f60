package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// answerWords are the words for "answer", in lower case where they are ASCII;
// others are listed in each case in which they begin.
var answerWords = []string{
	"answers", "answer", "final result", "end result", "ans", "antwort", "respuesta", "réponse", "Réponse", "RÉPONSE", "reponse",
	"ответ", "Ответ", "ОТВЕТ", "відповідь", "Відповідь", "risposta", "resposta", "antwoord", "odpowiedź", "Odpowiedź", "odpowiedz",
	"odpověď", "Odpověď", "cevap", "svar", "vastaus", "válasz", "Válasz", "jibu", "jawaban", "απάντηση", "Απάντηση",
	"đáp án", "Đáp án", "đáp số", "Đáp số", "răspuns", "Răspuns",
	"উত্তর", "సమాధానం", "คำตอบ", "答案", "答え", "解答", "回答", "答", "정답", "답변", "답", "उत्तर", "الجواب", "الإجابة", "جواب", "תשובה", "பதில்", "پاسخ",
}

// isWords stand between the word for "answer" and the answer.
var isWords = []string{
	"is", "was", "would be", "should be", "must be", "will be", "comes to", "equals", "therefore is", "then is", "thus is", "becomes",
	"ist", "lautet", "wäre", "es", "sería", "est", "serait", "è", "é", "jest", "je", "är", "ni", "adalah", "là", "este",
	"равен", "равно", "равна", "будет", "είναι",
}

// isRunes do the same in scripts that put no blank around them.
var isRunes = []string{"是", "为", "為", "は", "은", "는", "이", "คือ", "है", "هو", "هي", "—"}

// answerWordsByByte finds the words by their first byte.
var answerWordsByByte = func() (table [256][]string) {
	for _, w := range answerWords {
		table[w[0]] = append(table[w[0]], w)
		if 'a' <= w[0] && w[0] <= 'z' {
			table[w[0]-'a'+'A'] = append(table[w[0]-'a'+'A'], w)
		}
	}
	return table
}()

// answerPairs tells by the first two bytes of a place whether one of the words
// may begin there: of most places in a text none does, and all are looked at.
var answerPairs = func() (pairs [256][256]bool) {
	for _, w := range answerWords {
		for _, a := range bothCases(w[0]) {
			for _, b := range bothCases(w[1]) {
				pairs[a][b] = true
			}
		}
	}
	return pairs
}()

func bothCases(b byte) []byte {
	if 'a' <= b && b <= 'z' {
		return []byte{b, b - 'a' + 'A'}
	}
	return []byte{b}
}

// wordMarks finds the word for "answer" where an answer follows it.
func wordMarks(text string) []answerMark {
	var marks []answerMark
	for i := 0; i+1 < len(text); i++ {
		if !answerPairs[text[i]][text[i+1]] {
			continue
		}
		words := answerWordsByByte[text[i]]
		for _, w := range words {
			if !hasFoldPrefix(text[i:], w) && !strings.HasPrefix(text[i:], w) {
				continue
			}
			m, ok := wordMarkAt(text, i, i+len(w))
			if ok {
				marks = append(marks, m)
				i = max(i+len(w), m.end) - 1
				break
			}
		}
	}
	return marks
}

// wordMarkAt reads the marker whose word is text[start:end].
func wordMarkAt(text string, start, end int) (answerMark, bool) {
	if m, ok := fieldMarkAt(text, start, end); ok {
		return m, true
	}
	// The rune before must not make this the tail of a longer word or a tag.
	r, _ := utf8.DecodeLastRuneInString(text[:start])
	first, _ := utf8.DecodeRuneInString(text[start:])
	glued := isGlue(r) || r == '_' && gluesBefore(text[:start]) && !hasFoldPrefix(text[max(0, start-len("final_")):start], "final_")
	if isGlue(first) && glued || r == '<' || r == '/' {
		return answerMark{}, false
	}
	if next, _ := utf8.DecodeRuneInString(text[end:]); isGlue(first) && isGlue(next) {
		return answerMark{}, false
	}
	if pastAnswer(text[:start]) {
		return answerMark{}, false
	}
	after := skipWrap(text, end)
	word := text[start:end]
	if strings.EqualFold(word, "ans") && strings.HasPrefix(text[after:], ".") {
		return answerMark{markColon, word + ".", start, skipIs(text, after+1), -1, false}, true
	}
	if heading(text, start, after) {
		return answerMark{markHeading, word, start, after, -1, false}, true
	}
	if n := separator(text, end, after); n > 0 {
		return answerMark{markColon, word + ":", start, skipWrap(text, after+n), -1, false}, true
	}
	if n := isWord(text[after:]); n > 0 {
		return answerMark{markIs, word + " is", start, skipIs(text, after+n), -1, false}, true
	}
	return longMark(text, word, start, after)
}

// pastWords before the word for "answer" make it one that was given up.
var pastWords = []string{"first", "initial", "original", "previous", "earlier", "former", "old", "wrong", "incorrect"}

// pastAnswer reports that before, which the word for "answer" follows, makes it
// one that was given up: "my first answer was 5".
func pastAnswer(before string) bool {
	t := strings.TrimRight(before, " ")
	for _, w := range pastWords {
		if k := len(t) - len(w); k >= 0 && len(t) < len(before) && hasFoldPrefix(t[k:], w) && !gluesBefore(t[:k]) {
			return true
		}
	}
	return false
}

// longMark reads "answer to the question is", "answer (in dollars): ",
// "answer, in dollars, is".
func longMark(text, word string, start, after int) (answerMark, bool) {
	const far = 100
	rest := text[after:min(len(text), after+far)]
	if strings.HasPrefix(rest, ", ") && startsNumber(strings.TrimLeft(rest[2:], " $*\\(")) {
		return answerMark{markIs, word + ",", start, after + 2, -1, false}, true // "the answer, 18, is …"
	}
	ok := false
	for _, p := range []string{"to ", "for ", "of ", "in ", "(", ", ", "which ", "that ", "here ", "then ", "we ", "you ", "i "} {
		ok = ok || hasFoldPrefix(rest, p)
	}
	if !ok {
		return answerMark{}, false
	}
	if k := strings.IndexAny(rest, ".?!\n;"); k >= 0 {
		rest = rest[:k]
	}
	for k := 0; k < len(rest); k++ {
		switch {
		case rest[k] == ':' && !startsNumber(rest[k+1:]):
			return answerMark{markColon, word + ":", start, skipWrap(text, after+k+1), -1, false}, true
		case rest[k] == ' ':
			if n := isWord(rest[k+1:]); n > 0 {
				return answerMark{markIs, word + " is", start, skipIs(text, after+k+1+n), -1, false}, true
			}
		}
	}
	return answerMark{}, false
}

// skipWrap returns the offset of the first byte at or after i that is neither
// a blank (line ends excluded) nor wrapping.
func skipWrap(text string, i int) int {
	for i < len(text) {
		switch text[i] {
		case ' ', '\t', '*', '_', '`':
			i++
			continue
		}
		if strings.HasPrefix(text[i:], "\u00a0") || strings.HasPrefix(text[i:], "\u200b") {
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		break
	}
	return i
}

// skipIs skips what may stand between "is" and the answer.
func skipIs(text string, i int) int {
	i = skipWrap(text, i)
	if i < len(text) && text[i] == ':' {
		i = skipWrap(text, i+1)
	} else if strings.HasPrefix(text[i:], "：") {
		i = skipWrap(text, i+len("："))
	}
	return i
}

// separator returns the length of the colon, equals sign or dash at
// text[after:]. A dash needs blanks on both sides; end is where the word ended.
func separator(text string, end, after int) int {
	s := text[after:]
	for _, c := range []string{":", "：", "=>", "->", "=", "】", "→"} {
		if strings.HasPrefix(s, c) {
			return len(c)
		}
	}
	if after == end || (text[after-1] != ' ' && text[after-1] != '\t') {
		return 0
	}
	for _, c := range []string{"- ", "– ", "— "} {
		if strings.HasPrefix(s, c) {
			return len(c)
		}
	}
	return 0
}

// isWord returns the length of the word for "is" at the start of s, or 0.
func isWord(s string) int {
	for _, w := range isWords {
		if hasFoldPrefix(s, w) || strings.HasPrefix(s, w) {
			r, _ := utf8.DecodeRuneInString(s[len(w):])
			if !isGlue(r) && r != '\'' && r != '’' && r != '-' {
				return len(w)
			}
		}
	}
	for _, w := range isRunes {
		if strings.HasPrefix(s, w) {
			return len(w)
		}
	}
	return 0
}

// heading reports whether the word that starts at start and is followed at
// after by the rest of its line is a heading: "## Final Answer", "**Answer**", or a line
// that says nothing else.
func heading(text string, start, after int) bool {
	if after < len(text) && text[after] != '\n' && text[after] != '\r' && text[after] != '#' {
		return false
	}
	const far = 48
	low := max(0, start-far)
	line := text[low:start]
	if k := strings.LastIndexByte(line, '\n'); k >= 0 {
		line = line[k+1:]
	} else if low > 0 {
		return false
	}
	for _, w := range strings.Fields(strings.Trim(line, " \t#*_>")) {
		switch strings.ToLower(w) {
		case "the", "final", "my", "your", "correct", "answer":
		default:
			return false
		}
	}
	return true
}

// fieldMarkAt reads a JSON field whose name ends in text[start:end]:
// "answer": 18, 'final_answer': "18". Its value ends where JSON says so.
func fieldMarkAt(text string, start, end int) (answerMark, bool) {
	if end >= len(text) || (text[end] != '"' && text[end] != '\'') {
		return answerMark{}, false
	}
	quote := text[end]
	open := start - 1
	for open >= 0 && start-open < 24 && text[open] != quote {
		if c := rune(text[open]); c != '_' && c != '-' && c != ' ' && !isGlue(c) {
			return answerMark{}, false
		}
		open--
	}
	if open < 0 || text[open] != quote {
		return answerMark{}, false
	}
	i := end + 1
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	if i >= len(text) || text[i] != ':' {
		return answerMark{}, false
	}
	i++
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return answerMark{markField, text[open : end+1], open, i, fieldEnd(text, i), false}, true
}

// fieldEnd returns the end of the JSON value at text[i:], approximately: the
// text need not be JSON.
func fieldEnd(text string, i int) int {
	const far = 1 << 12 // longer values hold no short answer
	text = text[:min(len(text), i+far)]
	if i >= len(text) {
		return len(text)
	}
	switch c := text[i]; c {
	case '"', '\'':
		for k := i + 1; k < len(text); k++ {
			if text[k] == '\\' {
				k++
			} else if text[k] == c || text[k] == '\n' {
				return k
			}
		}
		return len(text)
	case '[', '{':
		if k := strings.IndexAny(text[i:], "]}"); k >= 0 {
			return i + k
		}
		return len(text)
	}
	for k := i; k < len(text); k++ {
		switch text[k] {
		case '}', ']', '\n', '\r':
			return k
		case ',':
			if k+1 >= len(text) || text[k+1] < '0' || text[k+1] > '9' {
				return k
			}
		}
	}
	return len(text)
}

// hasLetterFirst reports whether s begins with a letter.
func hasLetterFirst(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}
