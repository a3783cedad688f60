package stat

import (
	"fmt"
	"math/big"
)

// Percent prints part of whole in percent with one decimal, rounded half up
// from the exact quotient: "80.0%". It takes as many more decimals as it needs
// not to say 0% of something or 100% of less than all: 9999 of 10000 is
// "99.99%". Without a whole it is "n/a".
//
// It panics if part is negative or more than whole.
func Percent(part, whole int) string {
	if part < 0 || part > whole {
		panic(fmt.Sprintf("stat.Percent: %d of %d", part, whole))
	}
	if whole == 0 {
		return "n/a"
	}
	r := big.NewRat(int64(part), int64(whole))
	r.Mul(r, big.NewRat(100, 1))
	hundred := big.NewRat(100, 1)
	for decimals := 1; ; decimals++ {
		text := r.FloatString(decimals)
		shown, _ := new(big.Rat).SetString(text)
		// At most 20 decimals are ever needed: whole fits into 64 bits.
		if (part == 0 || shown.Sign() > 0) && (part == whole || shown.Cmp(hundred) < 0) {
			return text + "%"
		}
	}
}
