package peer

import (
	"math"
	"slices"
	"strings"
)

// unicodeNumber reads what Inspect takes for a number beyond Python's float:
// digits of any script, signs and separators of several, one vulgar fraction
// at the end, a superscript exponent, Chinese numerals. ASCII commas and dots
// before no digit have been removed by then (stripNumeric).
func unicodeNumber(s string) (float64, bool) {
	text, negative := dropSigns(strip(s))
	if len(text) == 1 { // one symbol: ½, Ⅻ, 九
		if x, ok := numeric(text[0]); ok {
			return signed(x, negative), true
		}
	}
	base, exponent := splitExponent(text)
	x, ok := withFraction(base)
	if !ok {
		return 0, false
	}
	x = signed(x, negative)
	if exponent != "" {
		// The sign binds to the base: -2² is 4.
		power, ok := parseFloat(exponent)
		if !ok || x == 0 && power < 0 {
			return 0, false
		}
		x = math.Pow(x, power)
	}
	return x, !math.IsInf(x, 0) && !math.IsNaN(x)
}

func signed(x float64, negative bool) float64 {
	if negative {
		return -x
	}
	return x
}

// dropSigns removes all leading signs; an odd number of minuses negates.
func dropSigns(s string) (rest []rune, negative bool) {
	rest = []rune(strings.TrimLeftFunc(s, isSpace))
	for len(rest) > 0 {
		switch {
		case strings.ContainsRune(minusSigns+"负負", rest[0]):
			negative = !negative
		case strings.ContainsRune(plusSigns+"正", rest[0]):
		default:
			return rest, negative
		}
		rest = []rune(strings.TrimLeftFunc(string(rest[1:]), isSpace))
	}
	return rest, negative
}

const (
	minusSigns      = "-−﹣－"
	plusSigns       = "+＋﹢"
	decimalMarks    = "٫．" // besides the ASCII dot
	groupSeparators = ",，﹐、٬ \u00a0\u202f\u2009\u2007\u2008'’ʼ＇"

	chinesePoints = "点點"
	chineseZeros  = "零〇○"
)

var (
	superscripts = []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")

	chineseDigits = map[rune]int{
		'零': 0, '〇': 0, '○': 0,
		'一': 1, '二': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9,
		'壹': 1, '贰': 2, '貳': 2, '叁': 3, '參': 3, '肆': 4, '伍': 5,
		'陆': 6, '陸': 6, '柒': 7, '捌': 8, '玖': 9, '两': 2, '兩': 2, '幺': 1,
	}
	chineseTens  = map[rune]float64{'廿': 20, '卅': 30, '卌': 40}
	chineseSmall = map[rune]float64{'十': 10, '拾': 10, '百': 100, '佰': 100, '千': 1000, '仟': 1000}
	chineseLarge = map[rune]float64{'万': 1e4, '萬': 1e4, '亿': 1e8, '億': 1e8, '兆': 1e12}
)

func isSeparator(r rune) bool { return isSpace(r) || strings.ContainsRune(groupSeparators, r) }

// splitExponent cuts a superscript number off the end. Separators after it are
// passed over. Without a base before it, it is no exponent.
func splitExponent(s []rune) (base []rune, exponent string) {
	end := len(s)
	for end > 0 && isSeparator(s[end-1]) {
		end--
	}
	start := end
	for start > 0 && slices.Contains(superscripts, s[start-1]) {
		start--
		exponent = string('0'+rune(slices.Index(superscripts, s[start]))) + exponent
	}
	if start == end {
		return s, ""
	}
	if start > 0 && (s[start-1] == '⁻' || s[start-1] == '⁺') {
		start--
		exponent = map[rune]string{'⁻': "-", '⁺': "+"}[s[start]] + exponent
	}
	if strip(string(s[:start])) == "" {
		return s, ""
	}
	return s[:start], exponent
}

// withFraction reads a number that may end in one vulgar fraction: 2½.
func withFraction(s []rune) (float64, bool) {
	at, fraction := -1, 0.0
	for i, r := range s {
		if x, ok := numeric(r); ok && 0 < x && x < 1 {
			if at >= 0 {
				return 0, false
			}
			at, fraction = i, x
		}
	}
	if at < 0 {
		return coreNumber([]rune(strip(string(s))))
	}
	if slices.ContainsFunc(s[at+1:], func(r rune) bool { return !isSeparator(r) }) {
		return 0, false
	}
	head := []rune(strip(string(s[:at])))
	if len(head) == 0 {
		return fraction, true
	}
	x, ok := coreNumber(head)
	return x + fraction, ok
}

func coreNumber(s []rune) (float64, bool) {
	if slices.ContainsFunc(s, isChinese) {
		if x, ok := chineseNumber(s); ok {
			return x, true
		}
	}
	if x, ok := digitNumber(s); ok {
		return x, true
	}
	if len(s) == 1 {
		return numeric(s[0])
	}
	return 0, false
}

// digitNumber reads digits of any script with separators and an exponent.
func digitNumber(s []rune) (float64, bool) {
	var ascii strings.Builder
	exponent, point, digit := false, false, false
	for i := 0; i < len(s); i++ {
		r := s[i]
		value, isDigit := digitValue(r)
		switch {
		case (r == 'e' || r == 'E') && !exponent:
			if ascii.Len() == 0 {
				return 0, false
			}
			exponent = true
			ascii.WriteByte('e')
			if i+1 < len(s) && strings.ContainsRune(plusSigns, s[i+1]) {
				i++
			} else if i+1 < len(s) && strings.ContainsRune(minusSigns, s[i+1]) {
				ascii.WriteByte('-')
				i++
			}
		case r == '.' || strings.ContainsRune(decimalMarks, r):
			if point {
				return 0, false
			}
			point = true
			ascii.WriteByte('.')
		case isSeparator(r):
		case isDigit:
			digit = true
			ascii.WriteByte('0' + byte(value))
		default:
			return 0, false
		}
	}
	if !digit {
		return 0, false
	}
	return parseFloat(ascii.String())
}

// digitValue is the value of one digit: of a script, in a circle or the like,
// or Chinese.
func digitValue(r rune) (int, bool) {
	if d, ok := decimal(r); ok {
		return d, true
	}
	for _, span := range otherDigits {
		if span.lo <= r && r <= span.hi {
			return span.value + int(r-span.lo), true
		}
	}
	d, ok := chineseDigits[r]
	return d, ok
}

// numeric is the numeric value of one character, unicodedata.numeric.
func numeric(r rune) (float64, bool) {
	if d, ok := decimal(r); ok {
		return float64(d), true
	}
	i, ok := slices.BinarySearchFunc(numericSpans, r, func(span numericSpan, r rune) int {
		switch {
		case span.hi < r:
			return -1
		case span.lo > r:
			return 1
		}
		return 0
	})
	if !ok {
		return 0, false
	}
	span := numericSpans[i]
	return span.value + float64(r-span.lo)*span.step, true
}

func isChinese(r rune) bool {
	_, digit := chineseDigits[r]
	return digit || isUnit(r) || strings.ContainsRune(chinesePoints+"负負", r)
}

func isUnit(r rune) bool {
	return chineseSmall[r] > 0 || chineseLarge[r] > 0 || chineseTens[r] > 0
}

// chineseNumber reads a Chinese numeral with or without units and decimals.
func chineseNumber(s []rune) (float64, bool) {
	whole, decimals := s, []rune(nil)
	for _, marks := range []string{chinesePoints, "．", "."} {
		if i := slices.IndexFunc(s, func(r rune) bool { return strings.ContainsRune(marks, r) }); i >= 0 {
			whole, decimals = s[:i], s[i+1:]
			break
		}
	}
	var x float64
	var ok bool
	if slices.ContainsFunc(whole, isUnit) {
		x, ok = chineseUnits(whole)
	} else {
		x, ok = chinesePlaces(whole)
	}
	if !ok {
		return 0, false
	}
	place, fraction := 0.1, 0.0
	for _, r := range decimals {
		if isSpace(r) {
			continue
		}
		d, ok := digitValue(r)
		if !ok {
			return 0, false
		}
		fraction += float64(d) * place
		place /= 10
	}
	return x + fraction, true
}

// chinesePlaces reads digits by place: 二〇二五. None are 0.
func chinesePlaces(s []rune) (float64, bool) {
	ascii := "0"
	for _, r := range s {
		if isSpace(r) {
			continue
		}
		d, ok := digitValue(r)
		if !ok {
			return 0, false
		}
		ascii += string('0' + rune(d))
	}
	return parseFloat(ascii)
}

// chineseUnits reads 三千五百万: digits multiply the unit after them, large
// units what has been gathered since the last large one.
func chineseUnits(s []rune) (float64, bool) {
	total, section, number := 0.0, 0.0, 0.0
	for _, r := range s {
		d, digit := digitValue(r)
		switch {
		case isSpace(r), strings.ContainsRune(chineseZeros, r):
		case chineseTens[r] > 0:
			section += chineseTens[r]
		case digit:
			number = float64(d) // a second digit replaces the first
		case chineseSmall[r] > 0:
			section += max(number, 1) * chineseSmall[r]
			number = 0
		case chineseLarge[r] > 0:
			total += (section + number) * chineseLarge[r]
			section, number = 0, 0
		default:
			return 0, false
		}
	}
	return total + section + number, true
}
