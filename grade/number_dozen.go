package grade

import (
	"math/big"
	"strings"
)

var twelve = big.NewRat(12, 1)

// times multiplies v by the scale word or the "dozen" at s[at:], before which
// "of" and "a" may stand: the million of "half a million", "three quarters of a
// dozen" and "one and a half million". It leaves v alone and returns at if
// there is none.
func times(v *big.Rat, s string, at int) (end int, dozen bool) {
	word, next := wordAt(s, skipJoin(s, at))
	for _, skip := range []string{"of", "a"} {
		if word == skip {
			word, next = wordAt(s, skipJoin(s, next))
		}
	}
	if word == "dozen" {
		return next, true
	}
	exp, ok := scaleWords[word]
	if !ok {
		return at, false
	}
	v.Mul(v, powerOfTen(exp))
	return next, false
}

// behind completes the number v, whose digits end at s[at:], with what stands
// behind its unit: the half of "2 hours and a half", and the dozen of "2 dozen".
// A dozen is a unit and a number: dozens is what it comes to, nil if there is
// none. scaled says that a scale word belongs to v; "2 million and a half" is
// not clear, for which ok is false.
func behind(v *big.Rat, s string, at int, scaled bool) (dozens *big.Rat, end int, ok bool) {
	s = s[:min(len(s), at+120)]
	from := at
	for from < len(s) && strings.IndexByte(" -*_`", s[from]) >= 0 {
		from++
	}
	word, next := wordAt(s, from)
	dozen := word == "dozen"
	if end = at; dozen {
		end = next
	}
	_, number := smallWords[word]
	if _, share := shareWords[word]; word == "and" || number || share || next == from {
		next = at // there is no unit
	}
	if part, partEnd := andShare(s, next); part != nil && (next != at || scaled) && aloneBehind(s[partEnd:], dozen) {
		if scaled || !v.IsInt() {
			return nil, partEnd, false
		}
		v.Add(v, part)
		end = partEnd
	}
	if dozen {
		dozens = new(big.Rat).Mul(v, twelve)
	}
	return dozens, end, true
}

// aloneBehind reports that a share in words is not that of something else: no
// word follows in its sentence ("and a half of the cake"), or only the unit of
// a dozen.
func aloneBehind(rest string, dozen bool) bool {
	rest = rest[:sentenceEnd(rest, 0)]
	return !hasWord(rest) || dozen && phraseEnds(rest)
}
