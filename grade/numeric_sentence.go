package grade

import (
	"strings"
	"unicode"
)

// places stand before a number that is a circumstance: "in 3 days", "from
// selling 9 eggs".
var places = map[string]bool{
	"in": true, "after": true, "within": true, "during": true, "from": true, "every": true, "per": true, "at": true, "on": true, "throughout": true, "across": true, "among": true,
	"until": true, "before": true, "between": true,
	"en": true, "dans": true, "pendant": true, "durante": true, "innerhalb": true, "nach": true, "за": true, "через": true, "из": true,
}

// articles may stand between a place and its number.
var articles = map[string]bool{
	"the": true, "a": true, "an": true, "her": true, "his": true, "their": true, "its": true, "my": true, "your": true, "our": true, "all": true, "these": true, "those": true, "next": true, "first": true, "last": true,
	"other": true, "remaining": true, "original": true, "same": true, "entire": true, "whole": true, "just": true, "only": true, "each": true, "of": true,
}

// clauseWords begin a clause that gives the reason or the condition.
var clauseWords = map[string]bool{
	"because": true, "since": true, "given": true, "assuming": true, "if": true, "when": true, "although": true, "though": true, "unless": true, "while": true, "who": true, "whose": true,
	// "5 fewer than the 12 he had"
	"than": true,
}

// resultWords lead from one number of a sentence to the one that it is about.
var resultWords = map[string]bool{
	"earns": true, "earning": true, "earn": true, "makes": true, "making": true, "make": true, "pays": true, "paying": true, "gets": true, "getting": true, "total": true, "totaling": true, "totalling": true, "totals": true,
	"leaving": true, "leaves": true, "giving": true, "gives": true, "resulting": true, "so": true, "thus": true, "therefore": true, "hence": true, "altogether": true, "means": true, "equals": true, "equal": true,
	"costs": true, "costing": true, "cost": true, "spends": true, "spending": true, "brings": true, "bringing": true, "saves": true, "saving": true, "is": true, "which": true,
}

// circumstantial reports that chain k of a sentence that begins at start is a
// circumstance of what the sentence says: "18 dollars from 9 eggs", "in 2
// days", "for $2 each", "because she has 9".
func circumstantial(s string, start int, tokens []numberToken, chains []numberChain, k int) bool {
	k = listStart(s, start, tokens, chains, k)
	t := &tokens[chains[k].first]
	const far = 200 // a longer sentence is looked at no further back
	sentence, second := max(min(start, t.start), t.start-far), k > 0 && tokens[chains[max(0, k-1)].last].end > start
	if k > 0 {
		start = max(start, tokens[chains[k-1].last].end)
	}
	start = min(start, t.start)
	between := s[max(start, t.start-80):t.start]
	w := strings.FieldsFunc(strings.ToLower(between), notWord)
	// A comma ends the clause: "since lengths are positive, 17".
	clause := strings.FieldsFunc(strings.ToLower(between[strings.LastIndexByte(between, ',')+1:]), notWord)
	for n, word := range clause {
		if clauseWords[word] || (word == "after" || word == "before") && n >= len(clause)-4 || word == "as" && n > 1 && hasWordIn(clause[:n], "as") {
			return true
		}
	}
	after := strings.FieldsFunc(strings.ToLower(s[tokens[chains[k].last].end:min(len(s), tokens[chains[k].last].end+40)]), notWord)
	if second && reasoned(s[sentence:t.start]) {
		return true
	}
	aside := hasWordIn(w, "which") || second && strings.Contains(between, ",") && len(w) <= 2
	if aside && compared(w, after) || second && purpose(s[sentence:t.start], w) || t.hedge == "over" && len(after) > 0 && compoundUnits[after[0]] {
		return true
	}
	if k := strings.LastIndexAny(between, ",;:"); second && k >= 0 {
		if clause := strings.TrimLeft(between[k+1:], " "); hasFoldPrefix(clause, "each ") || hasFoldPrefix(clause, "every ") {
			return true // 15 pencils; each box has 5
		}
	}
	gerund, article := false, ""
	for n := len(w) - 1; n >= 0 && n >= len(w)-4; n-- {
		switch word := w[n]; {
		case places[word]:
			return true
		case word == "by":
			return gerund
		case word == "for":
			return gerund || rate(after) || !t.currency && !money(after)
		case word == "with":
			return !leaves(w[:n])
		case word == "of" && n > 0 && w[n-1] == "out":
			return true
		case word == "of" && (article == "each" || article == "all" || article == "the" || article == "these"):
			if n == 0 && second { // 7 of the 12
				return true
			}
		case (word == "up" || word == "down") && n == 0:
			return strings.Contains(between, ",")
		case articles[word] && word != "of" && !(gerund && word == "each"):
			article = word
		case strings.HasSuffix(word, "ing") && n == len(w)-1:
			gerund = true
		default:
			return gerund && !resultWords[w[len(w)-1]] && !strings.Contains(between, ",")
		}
	}
	return false
}

// leadsOver reports that one of the words between two numbers leads to the second.
func leadsOver(between []string) bool {
	for i, w := range between {
		if resultWords[w] && !(i > 0 && between[i-1] == "to") { // "to make 80 meatballs"
			return true
		}
	}
	return false
}

func hasWordIn(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// listStart returns the first member of the list that chain k ends: the 70 of
// "between 70 and 80".
func listStart(s string, start int, tokens []numberToken, chains []numberChain, k int) int {
	const most = 3
	for range most {
		if k == 0 || tokens[chains[k-1].last].end <= start {
			break
		}
		if l, _ := linkBetween(s, &tokens[chains[k-1].last], &tokens[chains[k].first]); l != linkAlso && l != linkOr {
			break
		}
		k--
	}
	return k
}

// reasoned reports that a sentence has given a number and now gives its reason.
func reasoned(sentence string) bool {
	for _, w := range []string{" because ", " since ", " although ", " whereas "} {
		if k := strings.LastIndex(sentence, w); k >= 0 && strings.ContainsFunc(sentence[:k], unicode.IsDigit) && !strings.Contains(sentence[k:], ",") {
			return true
		}
	}
	return false
}

// purpose reports that the number behind words tells what the sentence's first
// quantity is needed for: "she needs 5 more to buy the 100-dollar wallet".
func purpose(sentence string, words []string) bool {
	to := false
	for i, w := range words {
		to = to || w == "to" && i+1 < len(words) && !resultWords[words[i+1]] && words[i+1] != "get" && words[i+1] != "reach" && words[i+1] != "be" && words[i+1] != "have"
	}
	if !to {
		return false
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(sentence), notWord) {
		switch w {
		case "need", "needs", "needed", "take", "takes", "took", "require", "requires", "required", "pay", "pays", "cost", "costs", "spend", "spends", "more", "enough":
			return true
		}
	}
	return false
}

// compared reports words around a number that make it a comparison: "5 more
// than Tom", "2 per egg", "half of the other 36".
func compared(before, after []string) bool {
	for _, w := range before {
		switch w {
		case "half", "twice", "double", "triple", "third", "quarter":
			return true
		}
	}
	for _, w := range after[:min(len(after), 3)] {
		switch w {
		case "more", "less", "fewer", "times", "per", "each", "apiece", "than":
			return true
		}
	}
	return false
}

// rate reports words that make the amount before them a price: "for $2 each".
func rate(after []string) bool {
	for _, w := range after[:min(len(after), 2)] {
		if w == "each" || w == "apiece" || w == "per" {
			return true
		}
	}
	return false
}

// money reports that a word for money follows a number.
func money(after []string) bool {
	if len(after) == 0 {
		return false
	}
	switch after[0] {
	case "dollars", "dollar", "cents", "euros", "euro", "pounds", "bucks", "yuan", "yen", "rupees", "rubles", "pesos":
		return true
	}
	return false
}

// leaves reports that the words before "with" tell what is left.
func leaves(words []string) bool {
	for _, w := range words {
		switch w {
		case "left", "leaves", "leaving", "leave", "up", "ends", "end", "remains", "stuck", "ended":
			return true
		}
	}
	return false
}

// conclusion returns the index of the chain that the last sentence of s is
// about: its last number that is no circumstance. A circumstance that is the
// result of the last equation before is one after all.
func conclusion(s string, tokens []numberToken, chains []numberChain) int {
	last := len(chains) - 1
	start := sentenceStart(s[:tokens[chains[last].first].start])
	k := last
	for k > 0 && !chains[k].equation && tokens[chains[k-1].first].start >= start && circumstantial(s, start, tokens, chains, k) {
		k--
	}
	// What was worked out in the sentence is what it is about, unless a word
	// leads on: "12 + 5 = 17 minutes before, to be there 5 minutes sooner".
	for e := last - 1; e >= 0 && tokens[chains[e].first].start >= start; e-- {
		between := strings.FieldsFunc(strings.ToLower(s[tokens[chains[e].last].end:tokens[chains[last].first].start]), notWord)
		if chains[e].equation && !chains[last].equation && !leadsOver(between) {
			return e
		}
	}
	if k == last || !chains[k].equation && circumstantial(s, start, tokens, chains, k) {
		return last
	}
	if e := lastEquation(chains[:k]); e >= 0 && sameResult(tokens, chains[e], chains[last]) {
		return last
	}
	return k
}

// lastEquation returns the index of the last equation in chains, or -1.
func lastEquation(chains []numberChain) int {
	for k := len(chains) - 1; k >= 0; k-- {
		if chains[k].equation {
			return k
		}
	}
	return -1
}

// sentenceStart returns where the last sentence of s begins, looking back no
// further than 200 bytes.
func sentenceStart(s string) int {
	low := max(0, len(s)-200)
	for i := len(s) - 1; i > low; i-- {
		if s[i] == '\n' || s[i] == ' ' && strings.IndexByte(".!?", s[i-1]) >= 0 {
			return i + 1
		}
	}
	return low
}

// sentenceEnd returns where the sentence that goes through s[at] ends.
func sentenceEnd(s string, at int) int {
	for i := at; i < len(s); i++ {
		if s[i] == '\n' || s[i] == ' ' && i > 0 && strings.IndexByte(".!?;", s[i-1]) >= 0 {
			return i
		}
	}
	return len(s)
}
