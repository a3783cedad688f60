package gate

import (
	"fmt"
	"math/big"
	"time"

	"github.com/goevals/evals/grade/stat"
)

// A Percentile is a limit on the latency of a share of the answers.
type Percentile struct {
	// P is the share, above 0 and at most 1: 0.99 for p99. It is read as the
	// shortest decimal that means this float64.
	P float64
	// Max is the longest latency that passes, above 0.
	Max time.Duration
}

func (l Percentile) check() error {
	switch {
	case !(l.P > 0 && l.P <= 1):
		hint := ""
		if l.P > 1 && l.P <= 100 {
			share, _ := exact(l.P)
			hint = fmt.Sprintf("; for p%v write %s", l.P, digits(share.Quo(share, big.NewRat(100, 1))))
		}
		return fmt.Errorf("%w: MaxLatency of percentile %v: want a share above 0 and at most 1%s", ErrConfig, l.P, hint)
	case l.Max <= 0:
		return fmt.Errorf("%w: MaxLatency %v: want a time above 0", ErrConfig, l.Max)
	}
	return nil
}

// name is the percentile's: p99.
func (l Percentile) name() string {
	share, _ := exact(l.P)
	return "p" + digits(share.Mul(share, big.NewRat(100, 1)))
}

// rank is the nearest rank among n: the least k with k/n >= P.
func (l Percentile) rank(n int) int { return needed(l.P, n) }

// least is the fewest answers that can have a percentile: with fewer than
// 1/(1-P) the nearest rank is the slowest answer of all, which says nothing of
// how many are slower.
func (l Percentile) least() int {
	share, _ := exact(l.P)
	rest := share.Sub(big.NewRat(1, 1), share)
	if rest.Sign() == 0 {
		return 1
	}
	rest.Inv(rest)
	q, more := new(big.Int).QuoRem(rest.Num(), rest.Denom(), new(big.Int))
	if more.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() || q.Int64() > 1<<40 {
		return 1 << 40
	}
	return int(q.Int64())
}

// surely is how unlikely so many slow answers must be, if the percentile were
// kept, for too few answers to fail: beyond chance.
const surely = 0.001

// decide holds latencies against the limit. Only how many are longer than Max
// matters, so that it is also what Settled asks.
func (l Percentile) decide(over, n int, at time.Duration) Decision {
	gate := MaxLatency
	limit := fmt.Sprintf("%s may be at most %v", l.name(), l.Max)
	if n == 0 {
		return Decision{gate, NotEnoughData, limit + ": no answer has a latency"}
	}
	counts := fmt.Sprintf("%d of %s took longer", over, plural(n, "answer"))
	if least := l.least(); n < least {
		if over > 0 && tooMany(over, n, l.P) {
			return Decision{gate, Failed, fmt.Sprintf("%s: %s, which is too many to be chance although %d answers are needed for a percentile", limit, counts, least)}
		}
		return Decision{gate, NotEnoughData, fmt.Sprintf("%s: %s, and it takes %d answers to tell %s from the slowest of all", limit, counts, least, l.name())}
	}
	text := fmt.Sprintf("%s %v of %s (nearest rank)", l.name(), at, plural(n, "answer"))
	if over <= n-l.rank(n) {
		return Decision{gate, Passed, fmt.Sprintf("%s is at most the %v allowed; %s", text, l.Max, counts)}
	}
	return Decision{gate, Failed, fmt.Sprintf("%s is longer than the %v allowed; %s, at most %d may", text, l.Max, counts, n-l.rank(n))}
}

// tooMany reports whether over of n is beyond chance if a share of 1-p is
// expected: the lower end of the Clopper-Pearson interval is above it.
func tooMany(over, n int, p float64) bool {
	return stat.ClopperPearson(over, n, 1-2*surely).Lo > 1-p
}
