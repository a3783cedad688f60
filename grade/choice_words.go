package grade

import (
	"strings"
	"unicode/utf8"
)

// An effect is what a phrase does with the option behind it.
type effect int

const (
	noPhrase   effect = iota
	thenLetter        // it chooses the letter
	thenText          // it chooses the letter, or the text
	overrules         // it chooses the letter, whatever was said before
	withdraws         // it takes back what was said, and chooses letter or text
)

// A phrase is words that choose when they stand directly before an option.
type phrase struct {
	words []map[string]bool // in order; nil is any word
	next  byte              // ':' if a colon must follow, ',' if punctuation, else 0
	effect
}

const (
	its     = "it/this/that/statement/claim/assertion/proposition/hypothesis/sentence"
	nounsOf = "pick/choice/guess/vote/selection"
)

// phrases are those that need no subject, by their last word: words between
// spaces, alternatives between slashes, any word for *.
var phrases = phraseTable(map[effect]string{
	thenLetter: `
		corresponds/corresponding/points/equal to
		matches/matching/supports/favors/favours/indicates/suggests/probably
		most likely
		matching/corresponds/corresponding/fits/equals/is/matches/match/to/with/indicates/indicate/suggests/suggest/supports/support/gives/give/yields/yield/leaving/leaves/us/only option/choice/answer/letter`,
	thenText: `
		it's/that's/c'est
		` + its + ` is/be/was
		` + its + ` must/should/would/to/only/can/has/have/will/clearly/definitely/therefore/thus/actually/probably is/be
		` + its + ` has/have/got to be
		` + its + ` * only be
		my ` + nounsOf + ` is
		` + nounsOf + ` would be
		` + nounsOf + `:
		wähle/nehme/choisis/choisirais/elijo/escojo/escolho/scelgo/wybieram/kies/выбираю/chọn/väljer/vælger/velger/valitsen/választom/seçiyorum/pilih`,
	overrules: `
		so/therefore/thus/hence/ergo/consequently/daher/donc/quindi
		por/lo tanto
		by/of elimination
		leaves/leaving
		leaves us
		left/leaves with
		leaves * with
		in conclusion/summary
		to conclude`,
	withdraws: `
		actually/wait/correction/sorry/rather/instead/hmm/oops
		no,
		edit/update/updated/revised:
		i mean/meant
		make that/it
		on/second thought/reflection
		change/changed/revise/revised/correct to
		change/changed/revise/revised/correct * to
		change/changed/revise/revised/correct * * to`,
})

func phraseTable(lines map[effect]string) map[string][]phrase {
	table := map[string][]phrase{}
	// In this order, because the first that fits is taken.
	for _, effect := range []effect{withdraws, overrules, thenText, thenLetter} {
		for line := range strings.Lines(lines[effect]) {
			p := phrase{effect: effect}
			line = strings.TrimSpace(line)
			if cut := strings.TrimRight(line, ":,"); len(cut) < len(line) {
				p.next, line = line[len(cut)], cut
			}
			for word := range strings.FieldsSeq(line) {
				var set map[string]bool
				if word != "*" {
					set = wordSet(strings.ReplaceAll(word, "/", " "))
				}
				p.words = append(p.words, set)
			}
			if len(p.words) == 0 {
				continue
			}
			for last := range p.words[len(p.words)-1] {
				table[last] = append(table[last], p)
			}
		}
	}
	return table
}

// fits reports whether the last words are those of the phrase. rest is the
// text behind them.
func (p phrase) fits(h *history, rest string) bool {
	for i, set := range p.words {
		w := h.back(len(p.words) - 1 - i)
		if w == "" || set != nil && !set[w] {
			return false
		}
	}
	switch rest = strings.TrimLeft(rest, " \t"); p.next {
	case ':':
		return strings.HasPrefix(rest, ":")
	case ',':
		r, size := utf8.DecodeRuneInString(rest)
		return size == 0 || strings.ContainsRune(",.;:!-–—\n", r)
	}
	return true
}
