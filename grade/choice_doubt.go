package grade

import (
	"regexp"
	"strings"
)

// This file finds what announces an answer without giving it: "the wrong
// answer is", "you might think that the answer is".

var (
	// wrongWords make an answer one that is not given, unless the question
	// asks for such a one.
	wrongWords = wordSet(`wrong incorrect false untrue worst inaccurate tempting naive naïve previous old second`)
	// thinkers and their verbs speak of what somebody else would answer.
	thinkers = wordSet(`you one people students someone somebody some others many most everyone they he she users beginners
		learners candidates readers`)
	thinkWords = wordSet(`think say says said believe believes assume assumes claim claims argue argues guess suspect expect
		conclude pick choose answer select thinks guesses`)
	doubters = wordSet(`not never nor cannot whether unless don't doesn't didn't isn't aren't wasn't can't couldn't wouldn't
		doubt unsure unclear`)
	// partOf makes what follows something else than the answer; withdrawn is
	// inside of such a marker as "answer I first thought of was".
	partOf    = regexp.MustCompile(`(?i)\b(?:letter|opposite|part|half|negation|inverse|beginning|end) of (?:the|my|our) (?:\w+ )?$`)
	withdrawn = regexp.MustCompile(`(?i)\b(?:not|first|initially|originally|previously|once|before)\b|n't\b`)
	// clauseCut ends the clause that a doubt reaches over.
	clauseCut  = regexp.MustCompile(`(?i)[.!?;:,\n()]|\b(?:so|therefore|thus|hence|but|and|which means|because|since|as|while|although)\b`)
	wrongAsked = regexp.MustCompile(`(?i)\b(?:not|except|incorrect|wrong|false|untrue|least|inaccurate|unlikely)\b|n't\b`)
	// conditional begins a sentence about one case of several.
	conditional = regexp.MustCompile(`(?i)^[\s*_#>-]*(?:if|when|assuming|suppose|supposing|in case|provided|otherwise|else|for [a-z] ?[=<>])\b`)
	concludes   = regexp.MustCompile(`(?i)\b(?:so|therefore|thus|hence|then we|consequently)\b`)
	otherwise   = regexp.MustCompile(`\b(?:otherwise|or else|else),? (?:(?i:it is|it's|the answer is|choose|pick) )?[("*]*([A-Z])\b`)
	// otherCase gives another option in another case.
	otherCase = regexp.MustCompile(`^[^.;!?\n]{0,80}?(?:(?:for|according to|when|in|with) [^.;!?\n]{1,60}?\b(?:and|but) (?:it is |the answer is )?([A-Z]) (?:for|according to|when|in|with)\b|\b([A-Z]) (?:is|may be|might be|could be|would be) (?:also|equally|just as)\b)`)
)

// reach is how much of the text before a marker a doubt is looked for in.
const reach = 120

// choiceDoubted reports a marker whose clause denies it, or lets somebody else
// answer.
func choiceDoubted(t string, m answerMark, o choiceOptions) bool {
	if m.kind != markIs && m.kind != markColon {
		return false
	}
	lead := t[max(0, m.start-reach):m.start]
	cuts := clauseCut.FindAllStringIndex(lead, -1)
	if len(cuts) > 0 {
		lead = lead[cuts[len(cuts)-1][1]:]
	}
	if partOf.MatchString(lead) || withdrawn.MatchString(t[m.start:m.end]) {
		return true
	}
	words := strings.Fields(strings.ToLower(undress(lead)))
	other := false
	for i, w := range words {
		near := len(words)-i <= 3
		switch {
		case wrongWords[w] && near && !o.asksWrong, doubters[w]:
			return true
		case thinkers[w]:
			other = true
		case thinkWords[w] && other:
			return true
		case w == "if" && i > 0:
			return true // "I wonder if the answer is"
		}
	}
	return false
}

// ifOnly reports a marker in a sentence that begins with a condition and draws
// no conclusion.
func ifOnly(t string, m answerMark) bool {
	lead := t[max(0, m.start-2*reach):m.start]
	if i := strings.LastIndexAny(lead, ".!?;\n"); i >= 0 {
		lead = lead[i+1:]
	}
	return conditional.MatchString(lead) && !concludes.MatchString(lead)
}

// depends returns the claim of a reply that gives another answer in another
// case.
func depends(t string, marks []answerMark, at int, got claim, o choiceOptions) (claim, bool) {
	m := marks[at]
	ambiguous := claim{kind: claimAmbiguous, text: got.text, why: "the reply answers " + quote(got.text) + " in one case only"}
	if len(got.text) == 1 {
		for _, other := range []*regexp.Regexp{otherwise, otherCase} {
			x := other.FindStringSubmatch(lineOf(got.rest))
			if x == nil {
				continue
			}
			if i, ok := o.index(strings.Join(x[1:], "")); ok && got.set != 1<<i {
				return ambiguous, true
			}
		}
	}
	if m.kind != markIs || !ifOnly(t, m) {
		return claim{}, false
	}
	for i := at - 1; i >= 0 && i > at-8; i-- {
		if marks[i].kind != markIs || !ifOnly(t, marks[i]) {
			continue
		}
		other := readClaim(undress(t[marks[i].end:min(marks[i].stop, marks[i].end+maxPayload)]), o)
		if other.kind == claimChoice && other.set != got.set {
			return ambiguous, true
		}
	}
	return claim{}, false
}
