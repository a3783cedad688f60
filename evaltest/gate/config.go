package gate

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Config says what a run must reach. The zero Config has no accuracy gate
// and allows no errored and no ungraded item.
type Config struct {
	// MinAccuracy is the least share of correct answers, 0..1; nil is no
	// accuracy gate. It is compared exactly, as the shortest decimal that
	// means this float64: 0.29 is 29/100, and 29 correct of 100 pass. A value
	// of more than 15 digits comes from arithmetic (a+b with 0.1 and 0.2 is
	// 0.30000000000000004): accuracies that differ from it only by rounding,
	// at most one part in 2^50, pass too.
	MinAccuracy *float64
	// MaxErrored is how many answers may end as errored; the default is 0.
	MaxErrored int
	// MaxUngraded is how many answers may end as ungraded; the default is 0.
	MaxUngraded int
}

// ErrConfig is wrapped by what [Config.Check] returns.
var ErrConfig = errors.New("gate: invalid configuration")

// Check reports a value that no run could be held against, and says what to
// write instead.
func (c Config) Check() error {
	if c.MinAccuracy != nil {
		v := *c.MinAccuracy
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
			return fmt.Errorf("%w: MinAccuracy %v: want a share of correct answers between 0 and 1", ErrConfig, v)
		case v > 1 && v <= 100:
			share, _ := exact(v)
			share.Quo(share, big.NewRat(100, 1))
			return fmt.Errorf("%w: MinAccuracy %v is more than 1: it is a share, not a percentage; for %v%% write %s",
				ErrConfig, v, v, decimal(share))
		case v > 1:
			return fmt.Errorf("%w: MinAccuracy %v is more than 1: it is a share of correct answers between 0 and 1", ErrConfig, v)
		}
	}
	if c.MaxErrored < 0 {
		return fmt.Errorf("%w: MaxErrored %d: want the number of answers that may end as errored, 0 or more", ErrConfig, c.MaxErrored)
	}
	if c.MaxUngraded < 0 {
		return fmt.Errorf("%w: MaxUngraded %d: want the number of answers that may end as ungraded, 0 or more", ErrConfig, c.MaxUngraded)
	}
	return nil
}

// exactDigits is how many significant digits every decimal keeps through a
// float64. One of more digits was not written by a person.
const exactDigits = 15

// exact reads v as its shortest decimal. clean is false if v comes from
// arithmetic.
func exact(v float64) (r *big.Rat, clean bool) {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	r, _ = new(big.Rat).SetString(text)
	mantissa, _, _ := strings.Cut(text, "e")
	return r, len(strings.Trim(mantissa, "-.")) <= exactDigits+1 // "1.23": the point is one more
}

// threshold is the least accuracy that meets v.
func threshold(v float64) *big.Rat {
	r, clean := exact(v)
	if !clean {
		slack := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 50))
		r.Sub(r, slack.Mul(slack, r))
	}
	return r
}

// needed is the least number of correct answers out of total that meets v.
func needed(v float64, total int) int {
	r := threshold(v)
	r.Mul(r, new(big.Rat).SetInt64(int64(total)))
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return int(q.Int64())
}

// decimal prints r with as few digits as it takes, at most 12 of them after
// the point: there an artefact of arithmetic is gone.
func decimal(r *big.Rat) string {
	text := r.FloatString(12)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
