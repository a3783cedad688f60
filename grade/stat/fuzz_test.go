package stat_test

import (
	"math"
	"testing"

	"github.com/goevals/evals/grade/stat"
)

func FuzzMcNemar(f *testing.F) {
	for _, seed := range [][2]uint32{{0, 0}, {1, 0}, {0, 1}, {12, 3}, {500_000, 499_000}, {1_000_000, 0}, {300, 2_000_000}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, b, c uint32) {
		broke, fixed := int(b%3_000_000), int(c%3_000_000)
		r, mirror, worse := stat.McNemar(broke, fixed), stat.McNemar(fixed, broke), stat.McNemar(broke+1, fixed)
		for _, p := range []float64{r.P, r.MidP, r.TwoSided, r.TwoSidedMid} {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("%d broke, %d fixed: p %v", broke, fixed, p)
			}
		}
		if r.MidP > r.P || r.TwoSidedMid > r.TwoSided {
			t.Errorf("%+v: the mid-p is never above the exact p", r)
		}
		if r.TwoSided != mirror.TwoSided || r.TwoSidedMid != mirror.TwoSidedMid {
			t.Errorf("%+v and mirrored %+v differ", r, mirror)
		}
		if worse.P > r.P*(1+1e-9) || worse.MidP > r.MidP*(1+1e-9) {
			t.Errorf("%+v: one more broken item is less evidence: %+v", r, worse)
		}
		if broke+fixed > 0 && math.Abs(r.MidP+mirror.MidP-1) > 1e-9 {
			t.Errorf("%+v: both mid-p make one", r)
		}
	})
}

func FuzzProportionIntervals(f *testing.F) {
	for _, seed := range []struct {
		k, n  uint32
		level float64
	}{{0, 0, 0.95}, {0, 1, 0.5}, {7, 10, 0.99}, {1319, 1319, 0.95}, {999_999, 1_000_000, 0.999999}, {3, 7, 1e-9}} {
		f.Add(seed.k, seed.n, seed.level)
	}
	f.Fuzz(func(t *testing.T, k, n uint32, level float64) {
		n %= 2_000_000
		k %= n + 1
		if !(level > 0 && level < 1) {
			t.Skip()
		}
		for name, interval := range map[string]func(correct, n int, level float64) stat.Interval{
			"Wilson": stat.Wilson, "ClopperPearson": stat.ClopperPearson,
		} {
			i := interval(int(k), int(n), level)
			if !(0 <= i.Lo && i.Lo <= i.Hi && i.Hi <= 1) {
				t.Fatalf("%s(%d, %d, %v) = %+v", name, k, n, level, i)
			}
			// At a level next to 0 an exact interval may shrink beside the share.
			if n > 0 && level > 0.5 && !i.Contains(float64(k)/float64(n)) {
				t.Fatalf("%s(%d, %d, %v) = %+v does not hold the share", name, k, n, level, i)
			}
		}
	})
}

func FuzzQuantiles(f *testing.F) {
	f.Add(0.025, 9.0, 3.0)
	f.Add(0.5, 1.0, 1.0)
	f.Add(1e-12, 2.0, 1319.0)
	f.Add(0.999, 1e6, 0.5)
	f.Fuzz(func(t *testing.T, p, a, b float64) {
		if !(p > 1e-12 && p < 1-1e-3) || !(a >= 1 && a <= 1e7) || !(b >= 1 && b <= 1e7) {
			t.Skip()
		}
		same := func(name string, got float64) {
			if !(math.Abs(got-p) <= 1e-9*p) {
				t.Errorf("%s(quantile(%v; %v, %v)) = %v", name, p, a, b, got)
			}
		}
		same("normal", stat.NormalUpper(stat.NormalQuantile(p)))
		same("student", stat.StudentUpper(stat.StudentQuantile(p, a), a))
		// A quantile next to 1 has no float that is near enough.
		if x := stat.BetaQuantile(p, a, b); x < 0.999 {
			same("beta", stat.BetaCDF(a, b, x, 1-x))
		}
	})
}

func FuzzHolm(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3})
	f.Add([]byte{200, 0, 200, 255, 7, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		ps := make([]float64, len(data))
		for i, b := range data {
			ps[i] = float64(b) / 255
		}
		adjusted := stat.Holm(ps)
		if len(adjusted) != len(ps) {
			t.Fatalf("%d adjusted of %d", len(adjusted), len(ps))
		}
		for i := range ps {
			if adjusted[i] < ps[i] || adjusted[i] > 1 || adjusted[i] > float64(len(ps))*ps[i] {
				t.Fatalf("%v became %v among %v", ps[i], adjusted[i], ps)
			}
			for j := range ps {
				if ps[i] < ps[j] && adjusted[i] > adjusted[j] || ps[i] == ps[j] && adjusted[i] != adjusted[j] {
					t.Fatalf("%v became %v: the order is lost", ps, adjusted)
				}
			}
		}
	})
}

func FuzzPairedProportions(f *testing.F) {
	f.Add(uint16(43), uint16(1), uint16(0), uint16(0))
	f.Add(uint16(0), uint16(0), uint16(0), uint16(0))
	f.Add(uint16(0), uint16(9), uint16(9), uint16(0))
	f.Add(uint16(742), uint16(60), uint16(41), uint16(476))
	f.Fuzz(func(t *testing.T, both, broke, fixed, neither uint16) {
		d := stat.PairedProportions(int(both), int(broke), int(fixed), int(neither), 0.95)
		i := d.Interval
		if !(-1 <= i.Lo && i.Lo <= d.Value && d.Value <= i.Hi && i.Hi <= 1 && i.Lo < i.Hi) {
			t.Fatalf("%+v", d)
		}
		m := stat.PairedProportions(int(both), int(fixed), int(broke), int(neither), 0.95)
		if math.Abs(m.Interval.Lo+i.Hi) > 1e-9 || m.Value != -d.Value || m.SE != d.SE {
			t.Fatalf("%+v mirrored is %+v", d, m)
		}
	})
}
