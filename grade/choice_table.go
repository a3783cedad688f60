package grade

import (
	"regexp"
	"strings"
)

// This file reads replies that go through the options one by one.

var (
	// optionLine is a line about one option: "- Option A: …", "(A) …",
	// "| A | …", "A is …". A tick or a box may stand in front.
	optionLine = regexp.MustCompile(`^[\s>•|\-#\d.(\["]*(?:(correct|incorrect|\[[xX]\]|\[ ?\]|x\]|X\]|\])\s+)?(?i:(?:option|choice|answer|statement)\s+)?[\s("\[]*([A-Z])(?:["]?[)\]}.:|]+|\s+[-–—|=]|\s+(?i:is)\b|$)\s*(.*)$`)
	// checkbox is a box in front of an option's text.
	checkbox = regexp.MustCompile(`^[\s>•\-*]*\[([xX ]?)\]\s+(.*)$`)
	// opinion is what begins or ends such a line.
	opinion  = regexp.MustCompile(`(?i)^(?:(?:this|that|it) is |is |the )?(correct|right|yes|true|incorrect|wrong|no|false|not correct|not right|out|eliminated|excluded|impossible)(?: (?:answer|option|choice|one))?(?:[\s.,;:!)|(–—-]*$|[.,;:!)(|–—]|\s+[-–—]|\s+(?:because|since|as)\b)`)
	segments = regexp.MustCompile(`[(|:–—]|\s-\s|->|→|=>|--`)
	// bracketed is a label in brackets.
	bracketed = regexp.MustCompile(`[(\[][A-Z][)\]]\s`)
	parts     = regexp.MustCompile(`[.;]\s+`)
)

// A view is what a line says of an option.
type view int

const (
	noView view = iota
	calledRight
	calledWrong
	inBold
)

// opinions reads a reply that lists every option and calls each right or
// wrong, or one of them right. The right ones are the choice.
func opinions(t string, o choiceOptions) claim {
	if o.asksWrong {
		return claim{}
	}
	var seen, right, wrong, bold choiceSet
	add := func(i int, v view) bool {
		bit := choiceSet(1) << i
		again := seen&bit != 0
		seen |= bit
		switch v {
		case calledRight:
			right |= bit
		case calledWrong:
			wrong |= bit
		case inBold:
			bold |= bit
		}
		return !again
	}
	for line := range strings.Lines(t) {
		for _, part := range viewParts(line, o) {
			if i, v, ok := viewOf(part, o); ok && !add(i, v) {
				return claim{}
			}
		}
	}
	if right == 0 && wrong == 0 {
		right = bold
	}
	switch {
	case seen.size() < o.n, right == 0, right == seen:
	case right|wrong == seen, right.size() == 1:
		return claim{kind: claimChoice, set: right, text: right.String(), how: "the one called right"}
	}
	return claim{}
}

// viewParts returns the line, or its sentences if several of them are views:
// "A: wrong. B: right."
func viewParts(line string, o choiceOptions) []string {
	line = line[:min(len(line), maxPayload)]
	all := parts.Split(line, -1)
	if cuts := bracketed.FindAllStringIndex(line, maxChoices); len(cuts) > 1 { // "(A) wrong (B) right"
		all = nil
		for i, cut := range cuts {
			end := len(line)
			if i+1 < len(cuts) {
				end = cuts[i+1][0]
			}
			all = append(all, line[cut[0]:end])
		}
	}
	n := 0
	for _, part := range all {
		if _, v, ok := viewOf(part, o); ok && v != noView {
			n++
		}
	}
	if n > 1 {
		return all
	}
	return []string{line}
}

// viewOf reads one line. It is about an option if it begins with a label, or
// is a box and an option's text.
func viewOf(line string, o choiceOptions) (index int, v view, ok bool) {
	const far = 400
	raw := strings.TrimRight(line[:min(len(line), far)], "\r\n")
	line = undress(raw)
	if m := checkbox.FindStringSubmatch(line); m != nil {
		set := o.withText(m[2])
		if i, ok := o.index(strings.Trim(m[2], around)); ok {
			set = 1 << i
		}
		if set.size() == 1 {
			return set.first(), tickView(m[1]), true
		}
	}
	m := optionLine.FindStringSubmatch(line)
	if m == nil {
		return 0, noView, false
	}
	if index, ok = o.index(m[2]); !ok {
		return 0, noView, false
	}
	rest := m[3]
	n := o.textAt(rest, index)
	if n > 0 {
		rest = strings.TrimLeft(rest[n:], " \t.,;:-–—|(<=>→*")
	}
	word := m[1]
	if strings.ContainsAny(word, "[]") {
		return index, tickView(strings.Trim(word, "[] ")), true
	}
	if word == "" {
		word = opinionIn(rest)
	}
	switch strings.ToLower(word) {
	case "":
		if bold := strings.TrimLeft(raw, " \t>-"); strings.HasPrefix(bold, "**") && strings.HasSuffix(bold, "**") {
			return index, inBold, true
		}
		return index, noView, true
	case "correct", "right", "yes", "true":
		return index, calledRight, true
	}
	return index, calledWrong, true
}

func tickView(tick string) view {
	if strings.TrimSpace(tick) == "" {
		return calledWrong
	}
	return calledRight
}

// opinionIn returns the word that calls an option right or wrong, at the
// beginning or the end of what is said of it.
func opinionIn(s string) string {
	if m := opinion.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	all := segments.Split(strings.TrimRight(s, " \t|"), -1)
	if len(all) < 2 {
		all = strings.Split(s, "  ") // a tick
	}
	if m := opinion.FindStringSubmatch(strings.Trim(all[len(all)-1], " \t.!)")); m != nil && len(all) > 1 {
		return m[1]
	}
	return ""
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
