package grade

import (
	"math/big"
	"strings"
)

// smallWords are the English numbers below a hundred.
var smallWords = map[string]int64{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}

const wordTrim = " \t\n*_`\"'$([{:="

// numberWords reads an English number in words at the start of s, such as "two
// hundred and five". It returns nil if there is none, and the end of the words.
func numberWords(s string) (v *big.Rat, end int) {
	const far = 200
	at := len(s) - len(strings.TrimLeft(s, wordTrim))
	s = s[:min(len(s), at+far)]
	negative := false
	var total, part, last int64 // last: the small word before, to refuse "two three"
	seen := false
	for at < len(s) {
		n := at
		for n < len(s) && ('a' <= s[n] && s[n] <= 'z' || 'A' <= s[n] && s[n] <= 'Z') {
			n++
		}
		word := strings.ToLower(s[at:n])
		small, isSmall := smallWords[word]
		exp, isScale := scaleWords[word]
		switch {
		case !seen && !negative && (word == "minus" || word == "negative"):
			negative = true
		case isSmall && seen && !(last >= 20 && small < 10 && small > 0 || last == 100):
			return nil, 0
		case isSmall:
			part, last, seen, end = part+small, small, true, n
		case isScale && seen && part > 0 && part < 1000 && exp == 2:
			part, last, end = part*100, 100, n
		case isScale && seen && part > 0 && (exp == 3 || exp == 6 || exp == 9):
			total, part, last, end = total+part*powersOfTen[exp], 0, 100, n
		case word == "and" && seen && last == 100:
		default:
			n = len(s) + 1
		}
		if n > len(s) {
			break
		}
		at = n
		for at < len(s) && (s[at] == ' ' || s[at] == '-') {
			at++
		}
	}
	if !seen {
		return nil, 0
	}
	if negative {
		total, part = -total, -part
	}
	return new(big.Rat).SetInt64(total + part), end
}

var powersOfTen = map[int]int64{3: 1e3, 6: 1e6, 9: 1e9}

// phraseEnds reports whether rest leaves a number in words as the answer: at
// most two words follow, its unit, and none that makes it a pronoun ("one of").
func phraseEnds(rest string) bool {
	words := strings.FieldsFunc(rest, notWord)
	if len(words) > 2 {
		return false
	}
	for _, w := range words {
		switch strings.ToLower(w) {
		case "of", "that", "which", "or", "and", "less", "more", "who", "to":
			return false
		}
	}
	return true
}
