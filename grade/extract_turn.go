package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// turnWords begin a new turn when they stand at the start of a line and a
// colon follows: "Question:", "**Q:**", "### Problem 2:". Lower case.
var turnWords = []string{
	"new question", "next question", "question", "q", "problem", "exercise", "example", "human", "user", "student",
	"instruction", "input", "prompt", "new problem", "next problem", "task", "follow-up question", "follow up question", "followup question", "another question",
	"bonus question", "similar question", "similar problem", "another problem", "practice problem", "practice question",
	"frage", "aufgabe", "pregunta", "problema", "domanda", "pergunta", "vraag", "pytanie", "swali", "soru",
	"вопрос", "Вопрос", "задача", "Задача", "问题", "問題", "题目", "質問", "질문", "문제", "প্রশ্ন", "ప్రశ్న", "คำถาม", "โจทย์", "प्रश्न",
}

// turnWordsByByte finds the words by their first byte, in their order.
var turnWordsByByte = func() (table [256][]string) {
	for _, w := range turnWords {
		for _, b := range bothCases(w[0]) {
			table[b] = append(table[b], w)
		}
	}
	return table
}()

// turnTokens end the model's turn wherever they stand.
var turnTokens = []string{
	"<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>",
	"<|start_header_id|>", "<|user|>", "<|end|>", "<|return|>", "<end_of_turn>", "<start_of_turn>", "</s>", "[INST]", "<|eot|>",
}

// finalTurn returns text up to the end of the model's own turn: what it wrote
// after answering, such as further questions with answers of their own, is cut.
//
// The cut is made at the first end-of-turn token, and at the first line that
// begins a new turn ("Question:", "Q:", "Problem 2:", "Human:", …) once an
// answer has been given. An answer is a marked one (see answerMarks), or, where
// nothing is marked, a digit in the line before. A question that repeats input
// is an echo of what was asked and begins no new turn.
func finalTurn(text, input string) string {
	for _, tok := range turnTokens {
		for from := 0; ; {
			k := strings.Index(text[from:], tok)
			if k < 0 {
				break
			}
			// <s>17</s> is struck out, not ended.
			struck := tok == "</s>" && strings.LastIndex(text[:from+k], "<s>") > 0
			if !struck && hasWord(text[:from+k]) {
				text = text[:from+k]
				break
			}
			from += k + len(tok)
		}
	}
	marks := answerMarks(text)
	m, answered := 0, false // marks[:m] lie before the line; answered: one of them has an answer
	here := 0               // marks[here:] start on this line or later
	lastLine := ""
	for pos := 0; pos < len(text); {
		end := len(text)
		if k := strings.IndexByte(text[pos:], '\n'); k >= 0 {
			end = pos + k + 1
		}
		line := text[pos:end]
		for !answered && m < len(marks) && marks[m].start < pos {
			answered = hasWord(text[marks[m].end:max(marks[m].end, min(marks[m].stop, pos))])
			if !answered && marks[m].stop > pos {
				break // its answer may still come
			}
			m++
		}
		after, kind := turnStart(line)
		begins := kind != noTurn && answered
		if kind == turnColon && (len(marks) == 0 || marks[0].start > pos) {
			begins = answered || endsInAnswer(lastLine)
		}
		if begins && !echoes(text[pos+after:], input) {
			return text[:pos]
		}
		for here < len(marks) && marks[here].start < pos {
			here++
		}
		if k := inlineTurn(line, pos, marks[here:], input); k >= 0 {
			return text[:pos+k]
		}
		if hasWord(line) {
			lastLine = line
		}
		pos = end
	}
	return text
}

// endsInAnswer reports whether a line without a marker may have been an
// answer: it has a digit and does not lead over to something.
func endsInAnswer(line string) bool {
	t := strings.TrimRight(trimBlank(line), "*_` ")
	return strings.ContainsFunc(t, unicode.IsDigit) && !strings.HasSuffix(t, ":")
}

// A turnKind is how a line begins a new turn.
type turnKind int

const (
	noTurn      turnKind = iota
	turnColon            // "Question:", "**Problem 2:**", "1. Question:"
	turnHeading          // "### Problem 2", "[Question]", "<question>"
	turnItem             // "2. How far does the train travel in 3 hours?"
)

// turnStart reports how line begins a new turn, and the offset behind the word
// that does. A heading and a list item may also stand inside an answer; only a
// colon begins a turn where no answer is marked.
func turnStart(line string) (after int, kind turnKind) {
	s := strings.TrimLeft(line, " \t#*_>[<")
	wrapped := strings.ContainsAny(line[:len(line)-len(s)], "#*_[<")
	item := false
	if t := strings.TrimLeft(s, "0123456789"); len(t) < len(s) && len(t) > 1 && (t[0] == '.' || t[0] == ')') && t[1] == ' ' {
		s, item = strings.TrimLeft(t[1:], " *_"), true
	}
	if s == "" {
		return 0, noTurn
	}
	for _, w := range turnWordsByByte[s[0]] {
		if !hasFoldPrefix(s, w) && !strings.HasPrefix(s, w) {
			continue
		}
		number := strings.TrimLeft(s[len(w):], " \t#.")
		t := strings.TrimLeft(number, "0123456789")
		numbered := len(t) < len(number)
		if w == "example" && !numbered {
			continue // "Example:" illustrates, "Example 2:" is the next of a series
		}
		rest := strings.TrimLeft(t, " \t*_)]>")
		for _, colon := range []string{":", "："} {
			if strings.HasPrefix(rest, colon) {
				return len(line) - len(rest) + len(colon), turnColon
			}
		}
		element := strings.HasPrefix(t, ">") && strings.HasSuffix(line[:len(line)-len(s)], "<")
		if (wrapped || numbered) && isBlank(rest) || element {
			return len(line) - len(rest), turnHeading
		}
	}
	if item && strings.ContainsFunc(s, unicode.IsDigit) && strings.HasSuffix(strings.TrimRight(s, " \t\r\n*_"), "?") {
		return len(line) - len(s), turnItem
	}
	return 0, noTurn
}

// inlineTurn returns the offset in line of a new turn that begins in the middle
// of it, directly behind a marked number: "#### 26 Question: A train …".
func inlineTurn(line string, pos int, marks []answerMark, input string) int {
	if len(marks) == 0 || marks[0].start >= pos+len(line) {
		return -1
	}
	for _, w := range []string{"Question:", "Q:", "Problem:", "Human:", "User:"} {
		k := strings.Index(line, w)
		if k <= 0 || (line[k-1] != ' ' && line[k-1] != '\t') {
			continue
		}
		for _, m := range marks {
			if m.start >= pos+k {
				break
			}
			if strings.ContainsFunc(line[min(m.end-pos, k):k], unicode.IsDigit) && !echoes(line[k+len(w):], input) {
				return k
			}
			break // the first marker of the line decides
		}
	}
	return -1
}

// echoes reports whether question repeats the beginning of input. Blanks,
// punctuation and case do not count; 24 letters and digits, or all of them,
// must agree.
func echoes(question, input string) bool {
	const enough = 24
	n := 0
	for {
		q, restQ := nextWordRune(question)
		i, restI := nextWordRune(input)
		switch {
		case i < 0:
			return n > 0
		case q != i:
			return false
		}
		if n++; n == enough {
			return true
		}
		question, input = restQ, restI
	}
}

// nextWordRune returns the first letter or digit of s in lower case, or -1,
// and what follows it. It looks no further than 64 bytes.
func nextWordRune(s string) (rune, string) {
	for i, r := range s {
		if i > 64 {
			break
		}
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r), s[i+utf8.RuneLen(r):]
		}
	}
	return -1, ""
}
