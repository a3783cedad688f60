package grade

import (
	"math/big"
	"strings"
)

// Limits of a number. Beyond them it has no value and equals nothing: the text
// is hostile, and 1e999999999 must not cost a gigabyte.
const (
	maxNumberDigits   = 1000
	maxNumberExponent = 1000
)

// value computes the number, times ten to the power of scale. ok is false for
// what is no number and for what exceeds the limits.
func (c *coreNumber) value(scale int) (v *big.Rat, ok bool) {
	if c.bad != "" {
		return nil, false
	}
	exp := scale
	if c.exponent != "" {
		e, ok := smallInt(c.exponent)
		if !ok {
			return nil, false
		}
		exp += e
	}
	v = new(big.Rat)
	if n, ok := shortInt(c.integer); ok && c.fraction == "" {
		v.SetInt64(n)
	} else if c.integer != "" || c.fraction != "" {
		fraction := plainDigits(c.fraction)
		n, ok := bigInt(plainDigits(c.integer) + fraction)
		if !ok {
			return nil, false
		}
		v.SetInt(n)
		exp -= len(fraction)
	}
	if exp < -2*maxNumberExponent || exp > 2*maxNumberExponent {
		return nil, false
	}
	if exp != 0 {
		v.Mul(v, powerOfTen(exp))
	}
	return c.divide(v, scale)
}

// divide applies the denominator, the mixed part and the sign.
func (c *coreNumber) divide(v *big.Rat, scale int) (*big.Rat, bool) {
	if c.vulgar == 0 && c.over == "" && !c.negative {
		return v, true
	}
	part := new(big.Rat)
	switch {
	case c.vulgar != 0:
		f := vulgarFractions[c.vulgar]
		v.Add(v, part.Mul(big.NewRat(f[0], f[1]), powerOfTen(scale)))
	case c.over != "":
		den, ok := bigInt(plainDigits(c.over))
		if !ok || den.Sign() == 0 {
			return nil, false
		}
		if !c.mixed {
			v.Quo(v, part.SetInt(den))
			break
		}
		num, ok := bigInt(plainDigits(c.numerator))
		if !ok {
			return nil, false
		}
		v.Add(v, part.Mul(part.SetFrac(num, den), powerOfTen(scale)))
	}
	if c.negative {
		v.Neg(v)
	}
	return v, true
}

func powerOfTen(exp int) *big.Rat {
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	if exp < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), n)
	}
	return new(big.Rat).SetInt(n)
}

// plainDigits returns the digits of s in ASCII, without separators.
func plainDigits(s string) string {
	var b strings.Builder
	for _, r := range s {
		if v, ok := digitValue(r); ok {
			b.WriteByte(byte('0' + v))
		}
	}
	return b.String()
}

// shortInt reads up to 18 ASCII digits without separators, as most numbers are.
func shortInt(digits string) (n int64, ok bool) {
	if digits == "" || len(digits) > 18 {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		n = 10*n + int64(digits[i]-'0')
	}
	return n, true
}

func bigInt(digits string) (*big.Int, bool) {
	digits = strings.TrimLeft(digits, "0")
	switch {
	case len(digits) > maxNumberDigits:
		return nil, false
	case digits == "":
		return new(big.Int), true
	}
	return new(big.Int).SetString(digits, 10)
}

// smallInt reads an exponent within the limits.
func smallInt(s string) (int, bool) {
	digits := strings.TrimLeft(plainDigits(s), "0")
	if len(digits) > 4 {
		return 0, false
	}
	n := 0
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	if n > maxNumberExponent {
		return 0, false
	}
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	return n, true
}
