package grade

import (
	"regexp"
	"strings"
)

// This file reads replies that go through the options line by line.

var (
	// optionLine is a line about one option: "- Option A: …", "(A) …",
	// "| A | …". A tick may stand in front.
	optionLine = regexp.MustCompile(`^[\s>•|\-#\d.(\["]*(?:(correct|incorrect)\s+)?(?i:(?:option|choice|answer|statement)\s+)?[\s("\[]*([A-Z])(?:["]?[)\]}.:|]+|\s+[-–—|=]|\s+(?i:is)\b)\s*(.*)$`)
	// opinion is what begins or ends such a line.
	opinion  = regexp.MustCompile(`(?i)^(?:(?:this|that|it) is |is |the )?(correct|right|yes|true|incorrect|wrong|no|false|not correct|not right)(?: (?:answer|option|choice))?(?:[\s.,;:!)|(–—-]*$|[.,;:!)(|–—]|\s+[-–—]|\s+(?:because|since|as)\b)`)
	segments = regexp.MustCompile(`[(|:–—]|\s-\s|->|→|=>`)
)

// opinions reads a reply that calls each option right or wrong on a line of
// its own. The right ones are the choice; nothing is claimed unless every
// option has its line.
func opinions(t string, o choiceOptions) claim {
	if o.asksWrong {
		return claim{}
	}
	var seen, right choiceSet
	for line := range strings.Lines(t) {
		i, yes, ok := opinionOf(line, o)
		if !ok {
			continue
		}
		if seen&(1<<i) != 0 {
			return claim{}
		}
		seen |= 1 << i
		if yes {
			right |= 1 << i
		}
	}
	if seen.size() < o.n || right == 0 || right == seen {
		return claim{}
	}
	return claim{kind: claimChoice, set: right, text: right.String(), how: "the one called right"}
}

// opinionOf reads one line.
func opinionOf(line string, o choiceOptions) (index int, yes, ok bool) {
	const far = 400
	m := optionLine.FindStringSubmatch(undress(strings.TrimRight(line[:min(len(line), far)], "\r\n")))
	if m == nil {
		return 0, false, false
	}
	index, ok = o.index(m[2])
	if !ok {
		return 0, false, false
	}
	word := m[1]
	rest := m[3]
	if n := o.textAt(rest, index); n > 0 {
		rest = strings.TrimLeft(rest[n:], " \t.,;:-–—|(=>→")
	}
	if word == "" {
		if m := opinion.FindStringSubmatch(rest); m != nil {
			word = m[1]
		}
	}
	if word == "" {
		parts := segments.Split(strings.TrimRight(rest, " \t|"), -1)
		last := strings.Trim(parts[len(parts)-1], " \t.!)")
		if m := opinion.FindStringSubmatch(last); m != nil && len(parts) > 1 {
			word = m[1]
		}
	}
	switch strings.ToLower(word) {
	case "":
		return 0, false, false
	case "correct", "right", "yes", "true":
		return index, true, true
	}
	return index, false, true
}

// listedSome reads a reply that is nothing but some of the options, each with
// its label and its text.
func listedSome(t string, o choiceOptions) claim {
	var set choiceSet
	for line := range strings.Lines(t) {
		if isBlank(line) {
			continue
		}
		line = undress(line)
		i, ok := o.index(labelOf(line))
		if !ok || set&(1<<i) != 0 || len(line) > o.longest {
			return claim{}
		}
		if text := o.withText(line[len(label.FindString(line)):]); text != 1<<i {
			return claim{}
		}
		set |= 1 << i
	}
	if set.size() == o.n {
		return claim{} // an echo of the question
	}
	return claim{kind: claimChoice, set: set, text: trimBlank(t), how: "letters with their texts"}
}
