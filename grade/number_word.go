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

// shareWords are the denominators in words. The singular goes with "one" and
// "a", the plural with more: "twenty-third" is an ordinal.
var shareWords = map[string]int64{
	"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10,
	"halves": 2, "thirds": 3, "quarters": 4, "fourths": 4, "fifths": 5, "sixths": 6, "eighths": 8, "tenths": 10,
}

const wordTrim = " \t\n*_`\"'$([{:="

// numberWords reads an English number in words at the start of s, such as "two
// hundred and five", "three quarters", "one and a half million" or "half a
// dozen". It returns nil if there is none, and the end of the words. A count of
// dozens may be asked for as such: "two dozen" is 2, and dozens is 24. "A dozen
// and a half" is 18 only.
func numberWords(s string) (v, dozens *big.Rat, end int) {
	const far = 200
	at := len(s) - len(strings.TrimLeft(s, wordTrim))
	s = s[:min(len(s), at+far)]
	negative := false
	if word, n := wordAt(s, at); word == "minus" || word == "negative" {
		negative, at = true, skipJoin(s, n)
	}
	v, count, end := wordsValue(s, at)
	if v == nil {
		return nil, nil, 0
	}
	if negative {
		v.Neg(v)
	}
	if count {
		dozens = new(big.Rat).Mul(v, twelve)
	}
	return v, dozens, end
}

// wordsValue is numberWords without the sign; count says that v counts dozens.
func wordsValue(s string, at int) (v *big.Rat, count bool, end int) {
	if v, end = shareInWords(s, at); v != nil {
		next, dozen := times(v, s, end)
		if dozen {
			v.Mul(v, twelve)
		}
		return v, false, next
	}
	if word, n := wordAt(s, at); word == "a" {
		if next, n := wordAt(s, skipJoin(s, n)); next == "dozen" {
			v = big.NewRat(1, 1)
			if part, partEnd := andShare(s, n); part != nil {
				v.Add(v, part)
				n = partEnd
			}
			return v.Mul(v, twelve), false, n
		}
	}
	n, end := integerInWords(s, at)
	if end == 0 {
		return nil, false, 0
	}
	v = new(big.Rat).SetInt64(n)
	if word, next := wordAt(s, skipJoin(s, end)); word == "dozen" {
		count, end = true, next
	}
	part, partEnd := andShare(s, end)
	if part == nil {
		return v, count, end
	}
	if n >= 1000 {
		return nil, false, 0 // "two million and a half" is not clear
	}
	v.Add(v, part)
	if count {
		return v, count, partEnd
	}
	end, count = times(v, s, partEnd)
	return v, count, end
}

// integerInWords reads "two hundred and five" at s[at:]; end is 0 if there is
// no number.
func integerInWords(s string, at int) (n int64, end int) {
	var total, part, last int64 // last: the small word before, to refuse "two three"
	seen := false
	for at < len(s) {
		word, next := wordAt(s, at)
		small, isSmall := smallWords[word]
		exp, isScale := scaleWords[word]
		after, _ := wordAt(s, skipJoin(s, next))
		switch {
		case word == "a" && !seen && scaleWords[after] >= 2:
			part, last, seen = 1, 1, true
		case isSmall && seen && !(last >= 20 && last < 100 && small < 10 && small > 0 || last == 100):
			return 0, 0
		case isSmall:
			part, last, seen, end = part+small, small, true, next
		case isScale && seen && part > 0 && part < 1000 && exp == 2:
			part, last, end = part*100, 100, next
		case isScale && seen && part > 0 && (exp == 3 || exp == 6 || exp == 9):
			total, part, last, end = total+part*powersOfTen[exp], 0, 100, next
		case word == "and" && seen && last == 100:
		default:
			return total + part, end
		}
		at = skipJoin(s, next)
	}
	return total + part, end
}

// shareInWords reads "half", "a third", "three-quarters" at s[at:].
func shareInWords(s string, at int) (v *big.Rat, end int) {
	word, next := wordAt(s, at)
	if word == "half" {
		return big.NewRat(1, 2), next
	}
	n, small := smallWords[word]
	if word == "a" {
		n, small = 1, true
	}
	share, end := wordAt(s, skipJoin(s, next))
	den := shareWords[share]
	plural := strings.HasSuffix(share, "s")
	if !small || den == 0 || n == 0 || plural != (n > 1) {
		return nil, 0
	}
	return big.NewRat(n, den), end
}

// andShare reads " and a half" at s[at:].
func andShare(s string, at int) (v *big.Rat, end int) {
	word, next := wordAt(s, skipJoin(s, at))
	if word != "and" {
		return nil, 0
	}
	return shareInWords(s, skipJoin(s, next))
}

// wordAt returns the ASCII word at s[at:] in lower case, and its end.
func wordAt(s string, at int) (word string, end int) {
	end = at
	for end < len(s) && ('a' <= s[end] && s[end] <= 'z' || 'A' <= s[end] && s[end] <= 'Z') {
		end++
	}
	return strings.ToLower(s[at:end]), end
}

// skipJoin skips what stands between the words of a number.
func skipJoin(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '-') {
		at++
	}
	return at
}

var powersOfTen = map[int]int64{3: 1e3, 6: 1e6, 9: 1e9}

// phraseEnds reports whether rest leaves a number in words as the answer: at
// most four words follow, its unit, and none that makes it a pronoun ("one of")
// or another number.
func phraseEnds(rest string) bool {
	words := strings.FieldsFunc(rest, notWord)
	if len(words) > 4 {
		return false
	}
	for _, w := range words {
		w = strings.ToLower(w)
		_, number := smallWords[w]
		switch w {
		case "of", "that", "which", "or", "and", "less", "more", "fewer", "who", "to", "point", "is", "isn't":
			number = true
		}
		_, scale := scaleWords[w]
		if _, share := shareWords[w]; number || share || scale || w == "dozen" {
			return false
		}
	}
	return true
}
