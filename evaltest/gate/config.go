package gate

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
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
	// LowerBound holds the minima of accuracy against the lower end of the 95%
	// interval instead of the accuracy itself: a run passes if the model is
	// surely that good, and not because it was lucky. A minimum of 1 can then
	// not be reached.
	LowerBound bool
	// MinGroups is the least accuracy of every group, 0..1, and MinGroup that
	// of a group by its name, which goes before it; nil is none. They are
	// compared as MinAccuracy is; by LowerBound all of them together, corrected
	// by Holm. Items without a group belong to none; MinGroup[""] is for them.
	MinGroups *float64
	MinGroup  map[string]float64
	// MaxLatency are limits on percentiles of the answers' latencies.
	MaxLatency []Percentile
	// Baseline is the run to compare with, by Compare; nil is none.
	Baseline *Baseline
	Compare  CompareOptions
	// FailNotEnough makes a gate fail that has not enough data to decide on.
	// The default is to say so and not to fail: a dataset that is too small is
	// no fault of the model.
	FailNotEnough bool
}

// ErrConfig is wrapped by what [Config.Check] returns.
var ErrConfig = errors.New("gate: invalid configuration")

// Check reports a value that no run could be held against, and says what to
// write instead.
func (c Config) Check() error {
	if c.MinAccuracy != nil {
		if err := c.checkShare("MinAccuracy", *c.MinAccuracy); err != nil {
			return err
		}
	}
	if c.MinGroups != nil {
		if err := c.checkShare("MinGroups", *c.MinGroups); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.MinGroup)) {
		if err := c.checkShare(fmt.Sprintf("MinGroup %q", name), c.MinGroup[name]); err != nil {
			return err
		}
	}
	for _, l := range c.MaxLatency {
		if err := l.check(); err != nil {
			return err
		}
	}
	if err := c.Compare.Check(); err != nil {
		return err
	}
	if c.MaxErrored < 0 {
		return fmt.Errorf("%w: MaxErrored %d: want the number of answers that may end as errored, 0 or more", ErrConfig, c.MaxErrored)
	}
	if c.MaxUngraded < 0 {
		return fmt.Errorf("%w: MaxUngraded %d: want the number of answers that may end as ungraded, 0 or more", ErrConfig, c.MaxUngraded)
	}
	return nil
}

func (c Config) checkShare(name string, v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
		return fmt.Errorf("%w: %s %v: want a share of correct answers between 0 and 1", ErrConfig, name, v)
	case v > 1 && v <= 100:
		share, _ := exact(v)
		share.Quo(share, big.NewRat(100, 1))
		return fmt.Errorf("%w: %s %v is more than 1: it is a share, not a percentage; for %v%% write %s",
			ErrConfig, name, v, v, digits(share))
	case v > 1:
		return fmt.Errorf("%w: %s %v is more than 1: it is a share of correct answers between 0 and 1", ErrConfig, name, v)
	case v == 1 && c.LowerBound:
		return fmt.Errorf("%w: %s 1 by LowerBound: no number of answers shows that a model is always correct; write 0.99, or leave LowerBound out", ErrConfig, name)
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

// digits prints r with as few digits as it takes, at most 12 of them after
// the point: there an artefact of arithmetic is gone.
func digits(r *big.Rat) string {
	text := r.FloatString(12)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
