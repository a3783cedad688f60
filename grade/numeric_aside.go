package grade

import (
	"math/big"
	"strings"
)

// bareFirstLine reports that text begins with an answer and then explains it: a
// number alone with its unit, a blank line, and no equation with another
// result.
func bareFirstLine(text string, tokens []numberToken, chains []numberChain) bool {
	first := &tokens[chains[0].first]
	head, line := text[:first.start], text[tokens[chains[0].last].end:]
	line, rest, _ := strings.Cut(line, "\n")
	if chains[0].first != chains[0].last || hasWord(head) || len(strings.FieldsFunc(line, notWord)) > 2 || strings.ContainsAny(line, "=:") ||
		!strings.HasPrefix(strings.TrimLeft(rest, " \t"), "\n") || !hasWord(rest) || tokens[chains[1].first].start < len(text)-len(rest) {
		return false
	}
	if at, _ := correctionAt(rest); at >= 0 {
		return false
	}
	e := lastEquation(chains)
	return e < 0 || sameResult(tokens, chains[0], chains[e])
}

// explained returns chains without those that stand in a bracket at the end,
// which explains the number in front of it: "$18 (9 eggs x $2)", "1/3 (about
// 0.33)", "18 (9 eggs at $2)". An equation of its own is more than that, "(= 9
// x 2)" is not.
func explained(text string, tokens []numberToken, chains []numberChain) []numberChain {
	last := len(chains) - 1
	from := tokens[chains[last].first].start
	low := max(0, from-80)
	open := strings.LastIndexAny(text[low:from], "()")
	end := tokens[chains[last].last].end
	if open < 0 || text[low+open] != '(' || strings.IndexByte(text[end:min(len(text), end+32)], ')') < 0 {
		return chains
	}
	open += low
	k := last
	for k > 0 && tokens[chains[k-1].last].end > open {
		k--
	}
	if k == 0 || chains[k-1].result < 0 || tokens[chains[k].first].start < open {
		return chains
	}
	words := text[tokens[chains[k-1].last].end:open]
	if len(words) > 32 || hasWord(words) && strings.Contains(words, "\n") || strings.ContainsAny(words, ".;!?,=+*") || len(strings.FieldsFunc(words, notWord)) > 3 {
		return chains
	}
	for _, c := range chains[k:] {
		if c.equation && !strings.HasPrefix(strings.TrimLeft(text[open+1:], " "), "=") {
			return chains
		}
	}
	return chains[:k]
}

// whole returns chains without those that are the parts of the number in front
// of them: "72 clips: 48 in April and 24 in May", "15 pencils: 5 in each of 3
// boxes".
func whole(text string, tokens []numberToken, chains []numberChain) []numberChain {
	const most = 8
	sum, product := new(big.Rat), big.NewRat(1, 1)
	for k := len(chains) - 1; k > 0 && k > len(chains)-most; k-- {
		if chains[k].result < 0 || chains[k-1].result < 0 {
			return chains
		}
		v, ok := tokens[chains[k].result].value()
		all, okAll := tokens[chains[k-1].result].value()
		if !ok || !okAll {
			return chains
		}
		sum.Add(sum, v)
		product.Mul(product, v)
		between := text[tokens[chains[k-1].last].end:tokens[chains[k].first].start]
		if strings.ContainsAny(between, ".;!?\n") {
			return chains
		}
		if strings.Contains(between, ":") {
			if k < len(chains)-1 && (sum.Cmp(all) == 0 || product.Cmp(all) == 0) {
				return chains[:k]
			}
			return chains
		}
	}
	return chains
}
