package grade

import (
	"math/big"
	"strings"
)

// A measure is a unit as a multiple of the smallest one of its dimension.
type measure struct {
	dimension string
	factor    int64
}

// measures are the units in which one quantity is often said twice.
var measures = func() map[string]measure {
	all := map[string]measure{}
	for _, m := range []struct {
		measure
		names string
	}{
		{measure{"time", 1}, "second seconds sec secs s"}, {measure{"time", 60}, "minute minutes min mins"}, {measure{"time", 3600}, "hour hours hr hrs h"},
		{measure{"time", 86400}, "day days"}, {measure{"time", 604800}, "week weeks"},
		{measure{"calendar", 1}, "month months"}, {measure{"calendar", 12}, "year years"},
		{measure{"metre", 1}, "millimeter millimeters millimetres mm"}, {measure{"metre", 10}, "centimeter centimeters centimetres cm"},
		{measure{"metre", 1000}, "meter meters metre metres m"}, {measure{"metre", 1000000}, "kilometer kilometers kilometre kilometres km"},
		{measure{"foot", 1}, "inch inches"}, {measure{"foot", 12}, "foot feet ft"}, {measure{"foot", 36}, "yard yards yd"}, {measure{"foot", 63360}, "mile miles"},
		{measure{"gram", 1}, "gram grams g"}, {measure{"gram", 1000}, "kilogram kilograms kg"}, {measure{"pound", 1}, "ounce ounces oz"}, {measure{"pound", 16}, "pound pounds lb lbs"},
		{measure{"litre", 1}, "milliliter milliliters millilitres ml"}, {measure{"litre", 1000}, "liter liters litre litres l"},
		{measure{"dollar", 1}, "cent cents"}, {measure{"dollar", 100}, "dollar dollars"},
	} {
		for _, name := range strings.Fields(m.names) {
			all[name] = m.measure
		}
	}
	return all
}()

// quantity returns the value of t in the smallest unit of its dimension.
func quantity(s string, t *numberToken) (v *big.Rat, dimension string) {
	v, ok := t.value()
	if !ok {
		return nil, ""
	}
	unit := strings.ToLower(s[t.core.end:min(len(s), t.core.end+24)])
	unit = strings.TrimLeft(unit, " *_")
	end := 0
	for end < len(unit) && 'a' <= unit[end] && unit[end] <= 'z' {
		end++
	}
	m, ok := measures[unit[:end]]
	if !ok && t.currency && strings.Contains(s[t.start:t.core.end], "$") {
		m, ok = measures["dollars"], true
	}
	if !ok {
		return nil, ""
	}
	return v.Mul(v, new(big.Rat).SetInt64(m.factor)), m.dimension
}

// sameQuantity reports that two chains say one quantity in two units, joined by
// "or" or "i.e.": "150 minutes, or 2.5 hours".
func sameQuantity(s string, tokens []numberToken, a, b numberChain) bool {
	if a.result < 0 || b.result < 0 || tokens[b.first].start-tokens[a.last].end > 40 {
		return false
	}
	w := strings.FieldsFunc(strings.ToLower(s[tokens[a.last].end:tokens[b.first].start]), notWord)
	if n := len(w); n == 0 || w[n-1] != "or" && !(n > 1 && w[n-2] == "i" && w[n-1] == "e") {
		return false
	}
	x, dimX := quantity(s, &tokens[a.result])
	y, dimY := quantity(s, &tokens[b.result])
	return x != nil && y != nil && dimX == dimY && x.Cmp(y) == 0
}
