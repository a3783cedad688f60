package grade

import (
	"slices"
	"strings"
)

// findChoice finds the option that a reply chooses. A further question that
// the model asked itself after it had chosen is not read.
func findChoice(text string, o choiceOptions) claim {
	const most = 4 // what precedes each is read anew
	t := plainText(text)
	turns := 0
	for pos := 0; pos < len(t) && turns < most; {
		end := len(t)
		if k := strings.IndexByte(t[pos:], '\n'); k >= 0 {
			end = pos + k + 1
		}
		if after, kind := turnStart(t[pos:end]); (kind == turnColon || kind == turnHeading) && hasWord(t[:pos]) && !echoes(t[pos+after:], o.input) {
			turns++
			if c := findIn(t[:pos], o); c.kind == claimChoice {
				return c
			}
		}
		pos = end
	}
	return findIn(t, o)
}

// findIn is findChoice for one turn.
func findIn(t string, o choiceOptions) claim {
	strong, after := lastMarked(t, o)
	if strong.kind != claimChoice && strong.byLine {
		// "All of the above are right, so D.", "Between A and B, I pick B."
		if weak, _ := weakClaims(undress(t), o); weak.kind == claimChoice {
			return weak
		}
	}
	if strong.kind == claimNothing {
		c := undress(t)
		weak, hedge := weakClaims(c, o)
		switch {
		case weak.kind != claimNothing:
			return weak
		case hedge.kind != claimNothing:
			return hedge
		}
		if c := opinions(t, o); c.kind != claimNothing {
			return c
		}
		return unstated(t, c, o)
	}
	if c, ok := corrected(undress(t[after:]), o); ok {
		return c
	}
	if weak, _ := weakClaims(undress(t[after:]), o); weak.kind == claimChoice && weak.set&^strong.set != 0 ||
		weak.kind == claimAmbiguous && strong.kind == claimChoice {
		return claim{kind: claimAmbiguous, text: strong.text + " … " + weak.text,
			why: "the reply states " + quote(strong.text) + " and then " + quote(weak.text)}
	}
	return strong
}

// maxPayload is how far behind a marker an answer is read.
const maxPayload = 1 << 12

// lastMarked returns what the last marker states, and the offset behind it.
func lastMarked(t string, o choiceOptions) (c claim, after int) {
	marks := choiceMarks(t, o)
	for i := len(marks) - 1; i >= 0; i-- {
		m := marks[i]
		payload := t[m.end:min(m.stop, m.end+maxPayload)]
		c := readClaim(undress(payload), o)
		if c.kind == claimNothing && !blocks(t, m) || choiceDoubted(t, m, o) {
			continue
		}
		if c.kind == claimNothing {
			c = claim{kind: claimNone, text: lineOf(payload), why: "the last marker " + quote(m.name) + " names no option: " + quote(lineOf(payload))}
		}
		if c.kind == claimChoice {
			if other, ok := depends(t, marks, i, c, o); ok {
				c = other
			}
		}
		c.byLine = m.kind == markCustom
		c.how = "marker " + quote(m.name) + ", " + c.how
		lead := len(payload) - len(strings.TrimLeft(payload, " \t\r\n"))
		return c, min(m.end+lead+behindLetter(payload[lead:]), len(t))
	}
	return claim{}, 0
}

// behindLetter returns the offset behind the first word.
func behindLetter(s string) int {
	if n := strings.IndexAny(s, " \t\r\n.,;"); n >= 0 {
		return n
	}
	return len(s)
}

// blocks reports a marker that announces the answer, at the start of its line
// or as a box or tag, so that one before it does not count, even if no option
// follows.
func blocks(t string, m answerMark) bool {
	switch m.kind {
	case markBox, markTag, markHash:
		return !isBlank(t[m.end:m.stop])
	case markColon:
	default:
		return false
	}
	if m.name == otherMark || isBlank(t[m.end:m.stop]) && m.stop < len(t) {
		return false
	}
	const far = 64 // a marker this far into its line does not start it
	low := max(0, m.start-far)
	lead := t[low:m.start]
	if k := strings.LastIndexByte(lead, '\n'); k >= 0 {
		lead = lead[k+1:]
	} else if low > 0 {
		return false
	}
	for _, w := range strings.Fields(strings.Trim(lead, " \t#*_>`-\"'({[")) {
		switch strings.ToLower(strings.Trim(w, "*_")) {
		case "the", "final", "my", "correct", "best", "so", "therefore", "hmm,", "actually,", "wait,":
		default:
			return false
		}
	}
	return true
}

// otherMark names a marker that is not a word for "answer".
const otherMark = "choice:"

// choiceMarks returns the places where an answer is announced, in order.
func choiceMarks(t string, o choiceOptions) []answerMark {
	var marks []answerMark
	dialogue := lineStartsWith(t, "Q:") || lineStartsWith(t, "Question:")
	for _, m := range answerMarks(t) {
		if m.name == "A:" && !dialogue {
			c := readLetters(strings.TrimLeft(lineOf(undress(t[m.end:min(m.stop, m.end+maxPayload)])), openers), "", "", o, false)
			if c.kind == claimNothing || trimBlank(strings.Trim(c.rest, trailers+".")) != "" {
				continue // a label: A: Paris
			}
		}
		marks = append(marks, m)
	}
	marks = append(marks, otherMarks(t)...)
	taken := make(map[int]bool, len(marks))
	for _, m := range marks {
		taken[m.start] = true
	}
	for _, m := range foreignMarks(t) {
		if !taken[m.start] {
			marks = append(marks, m)
		}
	}
	for _, m := range lineMarks(t, o) {
		end := m.start + len(lineOf(t[m.start:]))
		inside := func(other answerMark) bool { return other.start >= m.start && other.start < end }
		if !slices.ContainsFunc(marks, inside) {
			marks = append(marks, m)
		}
	}
	slices.SortStableFunc(marks, func(a, b answerMark) int { return a.start - b.start })
	for i := range marks {
		if marks[i].stop == len(t) && i+1 < len(marks) && marks[i+1].start >= marks[i].end {
			marks[i].stop = max(marks[i].end, marks[i+1].start)
		}
	}
	return marks
}

// unstated is the claim of a reply that chooses nothing: it says whether
// several options were named.
func unstated(t, c string, o choiceOptions) claim {
	if some := listedSome(t, o); some.kind != claimNothing && some.set.size() > 1 {
		return some
	}
	var named choiceSet
	if len(o.texts) > 0 {
		named = o.named(normal(c, false))
	}
	if named.size() > 1 {
		return claim{kind: claimAmbiguous, why: "the reply names the texts of options " + named.String() + " and chooses none"}
	}
	return claim{kind: claimNone, why: "the reply states no choice"}
}
