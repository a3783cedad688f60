package grade

import (
	"regexp"
	"strings"
)

// label is an option's label at the start of a line.
var label = regexp.MustCompile(`^[\s>*_("\[-]*([A-Za-z])(?:[)\]}.:][)\]*_"']*|[*_]+[.:)]?)(?:\s|$)`)

// lineMarks returns the first and the last line where they are an answer by
// themselves: a letter, a letter with its text, or an option's text. A list
// of the options is none.
func lineMarks(t string, o choiceOptions) []answerMark {
	first, end := wordLines(t)
	if first >= end {
		return nil
	}
	firstEnd, last := end, first
	if k := strings.IndexByte(t[first:end], '\n'); k >= 0 {
		firstEnd = first + k
		last = first + strings.LastIndexByte(t[first:end], '\n') + 1
	}
	listed := listsOptions(t, o)
	var marks []answerMark
	if lineAnswers(t[first:firstEnd], o, listed, true, firstEnd == end) {
		marks = append(marks, answerMark{kind: markCustom, name: "the first line", start: first, end: first, stop: end})
	}
	if last > first && lineAnswers(t[last:end], o, listed && !repeats(t[first:last], t[last:end]), false, false) && !o.isLetter(lineOf(t[before(t, last):last])) {
		marks = append(marks, answerMark{kind: markCustom, name: "the last line", start: last, end: last, stop: end})
	}
	if last == first && len(marks) == 1 {
		marks[0].name = "the whole reply"
	}
	if at := lastSentence(t[last:end], o); at > 0 && !listed && !(len(marks) > 0 && marks[len(marks)-1].start == last) {
		marks = append(marks, answerMark{kind: markCustom, name: "the last sentence", start: last + at, end: last + at, stop: end})
	}
	return marks
}

// loneSentence is a capital that is all of a sentence, of a numbered item, or
// of ", option B", at the end of a line.
var loneSentence = regexp.MustCompile(`(?:[.!?][)"*_]*\s+[*_("\[]*(?:(?i:option|choice|answer)\s+)?|,\s+(?i:option|choice)\s+|` +
	`^[\s*_(\[>-]*(?i:q|question|item|step|no\.?|number)?\s*#?\d{1,3}[.):]\s*)[("\[*_]*([A-Z])[)"\]*_]*[.!]?[)"*_]*$`)

// lastSentence returns where the last sentence of a line begins, if it is
// nothing but a letter, or 0.
func lastSentence(line string, o choiceOptions) int {
	const far = 40
	low := max(0, len(line)-far)
	m := loneSentence.FindStringSubmatchIndex(line[low:])
	if m == nil {
		return 0
	}
	if _, ok := o.index(line[low:][m[2]:m[3]]); !ok {
		return 0
	}
	return low + m[2]
}

// wordLines returns where the first line with a word begins and the last one
// ends: rules such as --- are no lines.
func wordLines(t string) (first, end int) {
	for line := range strings.Lines(t) {
		if hasWord(line) {
			break
		}
		first += len(line)
	}
	end = len(t)
	for end > first {
		start := strings.LastIndexByte(t[:end-1], '\n') + 1
		if hasWord(t[start:end]) {
			break
		}
		end = start
	}
	return first, first + len(strings.TrimRight(t[first:end], " \t\r\n"))
}

// repeats reports a line whose label another line before it has: after the
// list of the options, it is no part of the list.
func repeats(before, line string) bool {
	letter := labelOf(line)
	if letter == "" {
		return false
	}
	for l := range strings.Lines(before) {
		if labelOf(l) == letter {
			return true
		}
	}
	return false
}

// before returns the start of the last line with anything in it before at.
func before(t string, at int) int {
	return strings.LastIndexByte(strings.TrimRight(t[:at], " \t\r\n"), '\n') + 1
}

// isLetter reports a line that is nothing but an option's letter.
func (o choiceOptions) isLetter(line string) bool {
	_, ok := o.index(strings.Trim(undress(line), around))
	return ok
}

// listsOptions reports whether two lines or more carry labels of different
// options, or are the texts of different options.
func listsOptions(t string, o choiceOptions) bool {
	var labels, texts choiceSet
	for line := range strings.Lines(t) {
		if i, ok := o.index(labelOf(line)); ok {
			labels |= 1 << i
		}
		texts |= o.withText(line)
		if labels.size() > 1 || texts.size() > 1 {
			return true
		}
	}
	return false
}

// inlineLabel is an option's label in a line.
var inlineLabel = regexp.MustCompile(`(?:^|[\s(\[])([A-Za-z])[.):\]]\s`)

// listsInline reports a line that lists options from the first one on: "A) 1
// B) 2 C) 3".
func listsInline(line string, o choiceOptions) bool {
	next := 0
	for _, m := range inlineLabel.FindAllStringSubmatch(line, maxChoices) {
		if i, ok := o.index(m[1]); !ok || i != next {
			break
		}
		next++
	}
	return next >= min(3, o.n)
}

// labelOf returns the letter of a line that begins with a label, or "".
func labelOf(line string) string {
	s := strings.TrimLeft(line[:min(len(line), 24)], " \t>*_(\"[-")
	if len(s) < 2 || !isASCIILetter(s[0]) || !strings.ContainsRune(")]}.:*_", rune(s[1])) {
		return "" // most lines, without asking the expression
	}
	if m := label.FindStringSubmatch(line[:min(len(line), 64)]); m != nil {
		return m[1]
	}
	return ""
}

// lineAnswers reports a line that is an answer by itself. listed says that the
// reply lists the options, first that it is the first line, only that it is all.
func lineAnswers(line string, o choiceOptions, listed, first, only bool) bool {
	if len(line) > maxPayload {
		return false
	}
	line = trimBlank(undress(line))
	if listsInline(line, o) {
		return false
	}
	c := readClaim(line, o)
	lone := c.kind == claimChoice && trimBlank(strings.Trim(c.rest, trailers+".,;:!=#")) == "" && len(c.text) <= 8 && c.how != "an option's text"
	asks := strings.HasPrefix(strings.TrimLeft(c.rest, trailers), "?") && !lone && !(only && c.kind == claimChoice && len(line) <= 6)
	text, all := strings.Trim(c.text, around), strings.Trim(line, around)
	whole := text == all || text == strings.Trim(line[strings.LastIndexByte(line, '=')+1:], around) // "v = 15 m/s"
	switch {
	case c.kind == claimNothing, asks:
		return false
	case c.how == "an option's text" && !whole:
		return first && !listed && o.leads(line) // "Paris is the capital of France" may lead anywhere
	case lone:
		return only || strings.HasPrefix(strings.TrimLeft(line, openers), c.text)
	case listed:
		return false
	case only:
		return c.kind != claimChoice || c.how != "letter" || !initialOnly(line, c, o)
	case c.kind == claimChoice && c.how == "an option's text":
		return true
	}
	return labelOf(line) != "" && (c.kind == claimAmbiguous || c.kind == claimChoice && !initialOnly(line, c, o))
}

// reasonNext lets an explanation follow an option's text.
var reasonNext = regexp.MustCompile(`^(?i)(?:[.;:!]|,|\s+(?:[-–—(]|(?:because|since|as)\b))`)

// leads reports a line that begins with the text of an option and goes on to
// explain it: "No, because it rains". Where a comma follows, the sentence may
// name no other option.
func (o choiceOptions) leads(line string) bool {
	line = strings.TrimLeft(line, openers)
	i, n := o.atStart(line)
	if n == 0 || !reasonNext.MatchString(line[n:]) {
		return false
	}
	if line[n] != ',' {
		return true
	}
	sentence := line[n:]
	if k := strings.IndexAny(sentence, ".!?"); k >= 0 {
		sentence = sentence[:k]
	}
	return o.named(normal(sentence, false))&^(1<<i) == 0
}

// initialOnly reports "A. Smith wrote it": a letter that is also a word, with a
// full stop and a text that is not its option's.
func initialOnly(line string, c claim, o choiceOptions) bool {
	if !strings.ContainsAny(c.text, "aAiI") || !strings.HasPrefix(c.rest, ".") || len(o.texts) == 0 {
		return false
	}
	text := strings.TrimLeft(c.rest, ". ")
	i, _ := letterAt(c.text)
	return text != "" && o.withText(text) == 0 && o.textAt(text, i) == 0 && !reasons[strings.ToLower(firstWord(text))]
}
