package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// gluedUnits may follow a number without a blank. Any other letters make the
// whole a word: 42abc, 2x.
var gluedUnits = map[string]bool{
	"km": true, "m": true, "cm": true, "mm": true, "mi": true, "ft": true, "in": true, "yd": true, "yds": true, "km/h": true, "kmh": true, "kph": true, "mph": true,
	"kg": true, "kgs": true, "kms": true, "gms": true, "mls": true, "Mb": true, "Mbps": true, "g": true, "mg": true, "lb": true, "lbs": true, "oz": true, "t": true, "l": true, "L": true, "ml": true, "mL": true, "cl": true, "gal": true,
	"h": true, "hr": true, "hrs": true, "hours": true, "min": true, "mins": true, "minutes": true, "s": true, "sec": true, "secs": true, "ms": true,
	"days": true, "d": true, "wk": true, "yr": true, "yrs": true, "p": true, "c": true, "C": true, "F": true, "W": true, "kW": true, "kWh": true, "V": true,
	"day": true, "weeks": true, "week": true, "months": true, "month": true, "years": true, "year": true, "hour": true, "minute": true, "seconds": true, "second": true, "yo": true,
	"feet": true, "foot": true, "inches": true, "inch": true, "miles": true, "mile": true, "meters": true, "metres": true, "pages": true, "degrees": true, "points": true,
	"cents": true, "cent": true, "bucks": true, "pounds": true, "pound": true, "euros": true, "euro": true, "pct": true, "percent": true, "gallons": true, "liters": true, "litres": true,
	"grams": true, "ounces": true, "cups": true, "ha": true, "Hz": true, "rpm": true, "px": true, "pt": true,
	"GB": true, "MB": true, "KB": true, "kB": true, "TB": true, "gb": true, "mb": true, "pcs": true, "pts": true, "sq": true, "cal": true, "kcal": true,
	"USD": true, "EUR": true, "GBP": true, "dollars": true, "kr": true, "zł": true, "шт": true, "см": true, "км": true, "кг": true, "м": true, "г": true, "руб": true, "р": true,
}

// scaleWords multiply by a power of ten.
var scaleWords = map[string]int{
	"hundred": 2, "hundreds": 2, "thousand": 3, "thousands": 3, "million": 6, "millions": 6, "billion": 9, "billions": 9, "trillion": 12, "trillions": 12,
	"mln": 6, "mio": 6, "mrd": 9, "bln": 9, "bn": 9, "tn": 12, "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7,
	"tausend": 3, "million(en)": 6, "millionen": 6, "milliarde": 9, "milliarden": 9, "millón": 6, "millones": 6, "mille": 3, "milliard": 9, "milliards": 9,
	"milhão": 6, "milhões": 6, "milioni": 6, "milione": 6, "miliardi": 9, "miljoen": 6, "miljard": 9,
	"тысяч": 3, "тысячи": 3, "тысяча": 3, "тыс": 3, "миллион": 6, "миллиона": 6, "миллионов": 6, "млн": 6, "миллиард": 9, "миллиарда": 9, "миллиардов": 9, "млрд": 9,
}

// asksFor reports that a question asks for a number of scale words: "how many
// billions", "in millions of dollars".
func asksFor(question string, scale int) bool {
	w := strings.FieldsFunc(strings.ToLower(question), notWord)
	for i, word := range w {
		if scaleWords[word] != scale || i == 0 {
			continue
		}
		if w[i-1] == "in" || w[i-1] == "many" || w[i-1] == "much" {
			return true
		}
	}
	return false
}

// scaleRunes do the same in scripts that put no blank before them.
var scaleRunes = map[rune]int{'百': 2, '千': 3, '万': 4, '萬': 4, '만': 4, '亿': 8, '億': 8, '억': 8, '兆': 12, '천': 3}

// suffix extends t over what follows the core: percent, unit, scale word. It
// returns where scanning goes on.
func (sc *numberScanner) suffix(t *numberToken, currency bool) int {
	s, e := sc.s, t.core.end
	r, n := utf8.DecodeRuneInString(s[e:])
	if exp, ok := scaleRunes[r]; ok {
		t.scale, t.end = exp, e+n
		if isDigitAt(s, t.end) {
			t.core.bad = "a number in several parts"
		}
		return t.end
	}
	if sup, size := superscripts(s[e:]); sup != "" {
		t.core.bad, t.end = "a power", e+size
		return t.end
	}
	switch {
	case r == '°' || r == 'º':
		t.unit, t.end = true, e+n
		if c := s[t.end:min(len(s), t.end+1)]; c == "C" || c == "F" {
			t.end++
		}
		return t.end
	case isGlue(r):
		return sc.glued(t, currency)
	case r == '_' && isGlue(firstRune(s[e+1:])):
		t.core.bad, t.end = "part of a word", skipWord(s, e)
		return t.end
	case r == '-' && hasFoldPrefix(s[e+1:], "ish") && !isGlue(firstRune(s[e+4:])):
		t.hedge, t.end = s[e:e+4], e+4
		return t.end
	case r == '-' && hasLetterFirst(s[e+1:]):
		t.weak = true
		return skipWord(s, e)
	case r == '+' && !isDigitAt(s, e+1) && !strings.HasPrefix(s[e+1:], " ") && !strings.HasPrefix(s[e+1:], "("):
		t.hedge, t.end = "+", e+1
		return t.end
	case r == '+' && isBlank(lineHead(s[e+1:])):
		t.hedge, t.end = "+", e+1
		return t.end
	case r == '\\' && hasLetterFirst(s[e+1:]) && !strings.HasPrefix(s[e:], `\boxed`) && !strings.HasPrefix(s[e:], `\frac`):
		t.core.bad = "part of a formula"
		return e
	case r == '√':
		t.core.bad = "part of a formula"
		return e
	}
	sc.spaced(t)
	return t.end
}

// lineHead returns the first few bytes of a line.
func lineHead(s string) string {
	line, _, _ := strings.Cut(s[:min(len(s), 16)], "\n")
	return line
}

// glued reads the letters directly behind the core.
func (sc *numberScanner) glued(t *numberToken, currency bool) int {
	s, e := sc.s, t.core.end
	end := e
	for end < len(s) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !unicode.IsLetter(r) || !isGlue(r) {
			break
		}
		end += n
	}
	word := s[e:end]
	lower := strings.ToLower(word)
	clean := !isDigitAt(s, end) && !strings.HasPrefix(s[end:], "_")
	_, scale := scaleWords[lower]
	switch {
	case (word == "x" || word == "X") && isDigitAt(s, end):
		return end // 3x4 is a product
	case !clean && word != "e":
	case lower == "st" || lower == "nd" || lower == "rd" || lower == "th":
		t.weak, t.end = true, end
		return end
	case lower == "k":
		t.scale, t.end = 3, end
		return end
	case word == "M" || currency && word == "m":
		t.scale, t.end = 6, end
		return end
	case currency && (lower == "b" || lower == "t"):
		t.scale, t.end = map[string]int{"b": 9, "t": 12}[lower], end
		return end
	case scale:
		t.scale, t.end = scaleWords[lower], end
		return end
	case gluedUnits[word]:
		t.unit, t.end = true, end
		return end
	}
	// Digits first, then letters: not a number, and not silently passed over.
	t.core.bad = "part of a word"
	t.end = skipWord(s, e)
	return t.end
}

// spaced reads a percent sign or a scale word that blanks or markdown may part
// from the core.
func (sc *numberScanner) spaced(t *numberToken) {
	s, e := sc.s, t.core.end
	i := e
	for i < len(s) && i < e+8 && strings.IndexByte(" *_`\"')}$", s[i]) >= 0 {
		i++
	}
	rest := s[i:]
	if strings.HasPrefix(rest, "%") || strings.HasPrefix(rest, "‰") {
		_, n := utf8.DecodeRuneInString(rest)
		t.unit, t.end = true, i+n
		return
	}
	r, n := utf8.DecodeRuneInString(s[e:])
	if strings.ContainsRune(currencies, r) && r != utf8.RuneError && r != '$' || r == '$' && !isDigitAt(s, e+n) && !inMath(s[:e]) {
		t.unit = true
		t.end = e + n
	}
	end := i
	for end < len(s) && end < i+32 {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !unicode.IsLetter(r) {
			break
		}
		end += n
	}
	word := strings.ToLower(s[i:end])
	if word == "mil" {
		// A thousand in Spanish and Portuguese, a million in careless English.
		t.core.bad, t.end = "ambiguous: mil", end
		return
	}
	if word == "and" && t.core.plain() {
		if part, partEnd := andShare(s[:min(len(s), i+32)], i); part != nil {
			t.core.mixed, t.core.numerator, t.core.over = true, part.Num().String(), part.Denom().String()
			t.core.end, t.end = partEnd, partEnd
			if word, n := wordAt(s, skipJoin(s, partEnd)); scaleWords[word] > 0 {
				t.scale, t.end = scaleWords[word], n // 1 and a half million
			}
			return
		}
	}
	if word == "point" {
		t.core.bad, t.end = "its fraction is in words", end
		return
	}
	if word == "k" && end == i+1 {
		t.scale, t.end = 3, end
		return
	}
	if exp, ok := scaleWords[word]; ok && word != "tn" {
		t.scale, t.end = exp, end
		return
	}
	if exp, ok := scaleRunes[firstRune(rest)]; ok {
		t.scale, t.end = exp, i+utf8.RuneLen(firstRune(rest))
		return
	}
	if word == "percent" || word == "pct" || word == "per" && strings.HasPrefix(s[end:], " cent") {
		t.unit = true
	}
}

// inMath reports whether a dollar sign behind s closes LaTeX math: an odd
// number of them stands before it on its line.
func inMath(s string) bool {
	s = s[max(0, len(s)-200):]
	if k := strings.LastIndexByte(s, '\n'); k >= 0 {
		s = s[k:]
	}
	return strings.Count(s, "$")%2 == 1
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
