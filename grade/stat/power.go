package stat

import (
	"fmt"
	"math"
)

// A PairedTest is the one-sided test for a drop between two runs of the same
// items, one sample an item, by [McNemar]: it fires if the p value is at most
// Alpha.
//
// The mid-p is what a gate should use. Found at an Alpha of 0.05, exactly:
//
//	                      false alarms    drop found 80% of the time
//	n      discordant     mid-p  exact    mid-p   exact
//	50     0.02           0.7%   0.1%     14.3%   16.5%
//	50     0.10           4.2%   2.3%     22.0%   24.1%
//	200    0.02           3.9%   2.0%      5.1%    5.7%
//	200    0.10           5.0%   3.7%      9.4%   10.0%
//	1319   0.02           4.9%   3.8%      1.6%    1.7%
//	1319   0.10           5.0%   4.4%      3.3%    3.4%
//	10000  0.02           5.0%   4.5%      0.5%    0.5%
//	10000  0.10           5.0%   4.8%      1.1%    1.2%
//
// The exact test never has more false alarms than Alpha, at the price of a
// drop that is 1% to 15% larger before it is seen. Of the mid-p, tried up to
// 300 items, at most 5.02% are false alarms while no more than half of the items
// flip; at its worst, 12 items that all flip, 7.3%. With items that come in
// groups neither holds: see [PairedDiff].
type PairedTest struct {
	// Alpha is the accepted share of false alarms, such as 0.05.
	Alpha float64
	// Discordant is the share of items, 0..0.5, that flip by noise in each
	// direction: of 1000 items and 0.02, 20 break and 20 are fixed though
	// nothing changed. Take it from two runs of the same model. 0 for a model
	// that gives the same answer twice.
	Discordant float64
	// Exact takes P of McNemarResult, the zero value its MidP.
	Exact bool
}

// Fires reports whether the test finds a drop in these counts.
func (t PairedTest) Fires(broke, fixed int) bool {
	t.check("Fires")
	checkCount("PairedTest.Fires", "broke", broke)
	checkCount("PairedTest.Fires", "fixed", fixed)
	return t.fires(broke, broke+fixed)
}

func (t PairedTest) fires(broke, flipped int) bool {
	if flipped == 0 {
		return false
	}
	exact, mid := upperHalf(broke, flipped)
	if t.Exact {
		return exact <= t.Alpha
	}
	return mid <= t.Alpha
}

func (t PairedTest) check(method string) {
	method = "PairedTest." + method
	checkOpen(method, "Alpha", t.Alpha)
	if !(t.Discordant >= 0 && t.Discordant <= 0.5) {
		panic(fmt.Sprintf("stat.%s: Discordant %v is not within 0..0.5, the share that flips in each direction", method, t.Discordant))
	}
}

// Power is the probability that the test fires on n items if the true share of
// correct answers has fallen by drop: an item breaks with probability
// Discordant+drop and is fixed with Discordant. With a drop of 0 it is the rate
// of false alarms.
//
// It is exact: the sum, over how many items flip, of the binomial probability
// of that many times the binomial probability that enough of them broke. Terms
// beyond 7.5 standard deviations, less than 1e-12 together, are left out.
//
// It takes microseconds for a thousand items and a fraction of a second for a
// billion, but up to minutes there if Alpha is below 1e-6.
//
// It panics if n is negative or above a billion, or if drop is negative or more
// than 1-2·Discordant, which no shares have.
func (t PairedTest) Power(n int, drop float64) float64 {
	t.check("Power")
	checkCount("PairedTest.Power", "n", n)
	if !(drop >= 0 && drop <= 1-2*t.Discordant+1e-12) {
		panic(fmt.Sprintf("stat.PairedTest.Power: drop %v is not within 0..%v, what Discordant %v leaves", drop, 1-2*t.Discordant, t.Discordant))
	}
	return t.power(n, drop)
}

func (t PairedTest) power(n int, drop float64) float64 {
	flip := math.Min(1, 2*t.Discordant+drop)
	if flip == 0 || n == 0 {
		return 0
	}
	mean := float64(n) * flip
	reach := 7.5*math.Sqrt(mean*(1-flip)) + 25
	first, last := max(1, int(mean-reach)), min(n, int(mean+reach))
	// enough is the least number of broken items among m flipped ones at which
	// the test fires. With one more flipped it grows by 0 or 1, so both tails
	// are carried along.
	enough := t.enough(first)
	fair := newTail(enough, first, 0.5)
	real := newTail(enough, first, (t.Discordant+drop)/(2*t.Discordant+drop))
	sum := 0.0
	for m := first; ; {
		sum += binomial(m, n, flip) * real.sum
		if m++; m > last {
			return math.Min(1, sum)
		}
		fair.trial()
		real.trial()
		if !t.firesAt(fair) {
			fair.raise()
			real.raise()
		}
	}
}

// enough is found by walking up from below where the normal curve has it.
func (t PairedTest) enough(m int) int {
	k := int(float64(m)/2 + normalQuantile(t.Alpha)*math.Sqrt(float64(m))/2)
	for k = max(0, min(k, m)); k > 0 && t.fires(k, m); {
		k--
	}
	for k <= m && !t.fires(k, m) {
		k++
	}
	return k
}

// firesAt is fires for a tail that was carried along, and is computed anew where
// what that rounded could decide.
func (t PairedTest) firesAt(tail binomialTail) bool {
	p := tail.sum
	if !t.Exact {
		p -= binomial(tail.k, tail.n, 0.5) / 2
	}
	if math.Abs(p-t.Alpha) < 1e-11+1e-9*t.Alpha {
		return t.fires(tail.k, tail.n)
	}
	return p < t.Alpha
}

// MinDrop is the smallest true drop that the test finds on n items with the
// given power, 0..1. If even the largest possible drop is not found that often,
// the error is a [*NotEnough] with the n at which it is; if Discordant is 0.5 there is no
// drop to find, an [*Undefined]. It panics if n is negative or above a billion,
// or power is not above Alpha and at most 1-1e-9.
func (t PairedTest) MinDrop(n int, power float64) (float64, error) {
	t.check("MinDrop")
	t.checkPower("MinDrop", power)
	checkCount("PairedTest.MinDrop", "n", n)
	room := 1 - 2*t.Discordant
	if room == 0 {
		return 0, &Undefined{Method: "smallest drop", Why: "with noise of 0.5 in each direction every item flips, and no drop shows"}
	}
	top := t.power(n, room)
	if top < power {
		need, err := t.itemsFor(room, power)
		if err != nil {
			return 0, err
		}
		return 0, &NotEnough{Method: "paired test", Have: n, Need: max(need, n+1), What: "items"}
	}
	return t.search(n, room, top, power), nil
}

// search finds the drop in 0..room at which the power, which grows with it,
// reaches power, to 1e-9 of itself; the end that has the power is returned. It
// is the Illinois method, false position with the weight of an end halved that
// stays, and halves the bracket every third step lest it crawl.
func (t PairedTest) search(n int, room, top, power float64) float64 {
	lo, hi := 0.0, room
	below, above := t.power(n, 0)-power, top-power
	for step := 1; hi-lo > 1e-9*hi; step++ {
		mid := lo + (hi-lo)/2
		if step%3 != 0 && above > below {
			mid = lo - below*(hi-lo)/(above-below)
			// Not nearer to an end than the accuracy asked for, so that the
			// bracket closes from both sides.
			mid = math.Max(lo+4e-10*hi, math.Min(hi-4e-10*hi, mid))
		}
		if miss := t.power(n, mid) - power; miss >= 0 {
			hi, above, below = mid, miss, below/2
		} else {
			lo, below, above = mid, miss, above/2
		}
	}
	return hi
}

// mostPower is well within what Power leaves out of its sum: a power closer to 1
// would be found at no number of items.
const mostPower = 1 - 1e-9

func (t PairedTest) checkPower(method string, power float64) {
	if !(power > t.Alpha && power <= mostPower) {
		panic(fmt.Sprintf("stat.PairedTest.%s: power %v is not above Alpha %v and at most 1-1e-9", method, power, t.Alpha))
	}
}

// ItemsFor is how many items the test needs to find a true drop with the given
// power. The power climbs with n in small steps up and down; n is a number that
// has it and n-1 one that does not, so a slightly smaller n may have it by luck.
// A drop for which a billion items are too few is an [*Undefined]. It panics if
// drop is not above 0 or is more than 1-2·Discordant, or power is not above
// Alpha and at most 1-1e-9.
func (t PairedTest) ItemsFor(drop, power float64) (int, error) {
	t.check("ItemsFor")
	t.checkPower("ItemsFor", power)
	if !(drop > 0 && drop <= 1-2*t.Discordant+1e-12) {
		panic(fmt.Sprintf("stat.PairedTest.ItemsFor: drop %v is not above 0 and at most %v, what Discordant %v leaves", drop, 1-2*t.Discordant, t.Discordant))
	}
	return t.itemsFor(drop, power)
}

func (t PairedTest) itemsFor(drop, power float64) (int, error) {
	lo, hi := 0, 1
	for t.power(hi, drop) < power {
		if hi == most {
			return 0, &Undefined{Method: "number of items", Why: fmt.Sprintf(
				"a drop of %v beside noise of %v in each direction takes more than %d items; ask for a larger drop", drop, t.Discordant, most)}
		}
		lo, hi = hi, min(2*hi, most)
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if t.power(mid, drop) >= power {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

// MinDrop is the smallest true drop, 0..1, that a run of n items compared with
// its baseline shows with the given power at alpha: that of [PairedTest] with
// the mid-p. Errors and panics are those of [PairedTest.MinDrop].
func MinDrop(n int, discordant, alpha, power float64) (drop float64, err error) {
	return PairedTest{Alpha: alpha, Discordant: discordant}.MinDrop(n, power)
}

// ItemsFor is how many items a comparison needs to show a true drop with the
// given power at alpha: that of [PairedTest] with the mid-p. Errors and panics
// are those of [PairedTest.ItemsFor].
func ItemsFor(drop, discordant, alpha, power float64) (n int, err error) {
	return PairedTest{Alpha: alpha, Discordant: discordant}.ItemsFor(drop, power)
}
