package gate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade/stat"
)

// from makes a run of outcomes written as letters, one item each: c correct,
// i incorrect, e errored, u ungraded, n not run, and - for no such item.
// An item of several samples is written c/i.
func from(t *testing.T, text string) *gate.Baseline {
	letters := map[byte]result.Outcome{'c': result.Correct, 'i': result.Incorrect, 'e': result.Errored, 'u': result.Ungraded, 'n': result.NotRun}
	var r gate.Recorder
	for i, item := range strings.Fields(text) {
		if item == "-" {
			continue
		}
		group := ""
		item, group, _ = strings.Cut(item, "@")
		for k, s := range strings.Split(item, "/") {
			rec := record(fmt.Sprintf("q%03d", i), k, letters[s[0]])
			rec.Item.Group = group
			r.Add(rec)
		}
	}
	b, err := r.Baseline(gate.BaselineHeader{})
	require.NoError(t, err)
	return b
}

func times(n int, s string) string { return strings.Repeat(s+" ", n) }

func names(list []gate.ItemChange) (out []string) {
	for _, ch := range list {
		out = append(out, ch.ID)
	}
	return out
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		old, now     string
		o            gate.CompareOptions
		want         gate.Change
		p            float64 // -1: not looked at
		says         string
	}{
		{"the same", "p is 1, not ½", times(50, "c") + times(10, "i"), times(50, "c") + times(10, "i"), gate.CompareOptions{}, gate.NoEvidence, 1, "points or more"},
		{"5 broke", "mid-p ½·2^-5", times(20, "c"), times(5, "i") + times(15, "c"), gate.CompareOptions{}, gate.Regressed, 1.0 / 64, "5 broke (\"q000\", \"q001\", \"q002\" and 2 more) and 0 fixed"},
		{"4 broke, exact", "2^-4 is above alpha", times(20, "c"), times(4, "i") + times(16, "c"), gate.CompareOptions{Exact: true}, gate.NoEvidence, 1.0 / 16, ""},
		{"3 broke", "mid-p 2^-4 is above alpha", times(20, "c"), times(3, "i") + times(17, "c"), gate.CompareOptions{}, gate.NoEvidence, 1.0 / 16, ""},
		{"3 broke, alpha 0.1", "as stated", times(20, "c"), times(3, "i") + times(17, "c"), gate.CompareOptions{Alpha: 0.1}, gate.Regressed, 1.0 / 16, "alpha 0.1"},
		{"5 fixed", "the mirror image of 5 broke", times(5, "i") + times(15, "c"), times(20, "c"), gate.CompareOptions{}, gate.Improved, 1 - 1.0/64, "improved"},
		{"3 items", "not even the loss of all is significant", "c c c", "i i i", gate.CompareOptions{}, gate.NotEnough, 1.0 / 16, "3 items had one, and it takes 4"},
		{"nothing was correct", "nothing can break", times(30, "i"), times(30, "i"), gate.CompareOptions{}, gate.NotEnough, 1, "0 items had one"},
		{"no pairs", "all ids changed", "c c - -", "- - c c", gate.CompareOptions{}, gate.NotEnough, 1, "no item is in both runs: if only the ids changed, put them back, else accept a run as the new baseline"},
		{"an outage", "200 errors are no regression", times(300, "c"), times(200, "e") + times(100, "c"), gate.CompareOptions{}, gate.NotEnough, -1, "an outage is no regression"},
		{"an outage and a drop", "the drop shows without the errors", times(300, "c"), times(200, "e") + times(50, "i") + times(50, "c"), gate.CompareOptions{}, gate.Regressed, -1, "200 items errored or ungraded"},
		{"an outage then", "answers after an outage are no improvement", times(200, "e") + times(100, "c"), times(300, "c"), gate.CompareOptions{}, gate.NoEvidence, -1, ""},
		{"not run", "what never ran is no pair", times(30, "c"), times(10, "n") + times(20, "c"), gate.CompareOptions{}, gate.NoEvidence, 1, "10 items not run"},
		{"new and gone", "left out and named", "c - " + times(20, "c"), "- i " + times(20, "c"), gate.CompareOptions{}, gate.NoEvidence, 1, `1 item new and not compared ("q001"); 1 item gone ("q000")`},
		{"detect", "40 items show no drop of 5 points", times(40, "c"), times(40, "c"), gate.CompareOptions{Detect: 0.05}, gate.NotEnough, 1, "which takes about"},
		{"one group", "items that fail together are one", times(20, "c@a") + "c@b c@c c@d ", times(20, "i@a") + "c@b c@c c@d ", gate.CompareOptions{}, gate.NoEvidence, 0.25, "over 23 items in both runs of 4 groups"},
		{"too few groups", "by groups not even the loss of all would fail", times(20, "c@a") + times(20, "c@b"), times(5, "i@a") + times(15, "c@a") + times(20, "c@b"), gate.CompareOptions{}, gate.Regressed, 1.0 / 64, "2 groups: too few to test by (it takes 4), so the items are taken as independent"},
		{"few groups were correct", "there are enough, so they are tested by", times(20, "c@a") + "i@b i@c i@d ", times(20, "i@a") + "i@b i@c i@d ", gate.CompareOptions{}, gate.NotEnough, 0.25, "1 group had one, and it takes 4"},
		{"one group by item", "groups that are kinds of items", times(20, "c@a") + times(20, "c@b"), times(20, "i@a") + times(20, "c@b"), gate.CompareOptions{ByItem: true}, gate.Regressed, -1, ""},
		{"each group", "a drop in one that a rise in others hides", times(20, "c@a") + times(20, "i@b"), times(20, "i@a") + times(20, "c@b"), gate.CompareOptions{ByItem: true, EachGroup: true}, gate.Regressed, -1, `group "a" fell: 20 broke and 0 fixed of 20`},
		{"samples", "half a drop in each of 5 items", times(20, "c/c"), times(5, "c/i") + times(15, "c/c"), gate.CompareOptions{}, gate.Regressed, 1.0 / 64, "sign-flip test over items"},
		{"more samples now", "as many of each: else one that is rarely wrong looks like a drop", times(20, "c"), times(8, "c/i/i") + times(12, "c/c/c"), gate.CompareOptions{}, gate.NoEvidence, 1, "the first sample of each item compared: the baseline has 1, this run 3"},
		{"fewer samples now", "the first two", times(20, "c/c/i"), times(5, "c/i") + times(15, "c/c"), gate.CompareOptions{}, gate.Regressed, 1.0 / 64, "the first 2 samples of each item compared: the baseline has 3, this run 2"},
		{"a sample beyond those compared", "never ran, and is not looked at", times(20, "c"), times(20, "c/n"), gate.CompareOptions{}, gate.NoEvidence, 1, "over 20 items"},
		{"an outage of the baseline", "40 answers that it never had do not make up for 20 broken items", times(40, "e") + times(100, "c"), times(40, "c") + times(20, "i") + times(80, "c"), gate.CompareOptions{}, gate.Regressed, -1, "accuracy 100.0% before, 80.0% now"},
		{"ungraded in the baseline", "nothing to compare with", times(10, "u") + times(30, "c"), times(40, "c"), gate.CompareOptions{}, gate.NoEvidence, 1, "10 items not compared: errored or ungraded in the baseline"},
		{"an outage is no noise", "what shows is as without it", times(100, "c"), times(40, "e") + times(60, "c"), gate.CompareOptions{}, gate.NotEnough, -1, "these items show a drop of 9.0 points or more"},
		{"nearly all", "not 100.0% of less than all", times(9999, "c") + "i", times(9999, "c") + "i", gate.CompareOptions{}, gate.NoEvidence, 1, "accuracy 99.99% before, 99.99% now"},
		{"never ran", "the ids are the same", times(20, "c"), times(20, "n"), gate.CompareOptions{}, gate.NotEnough, 1, "no item of the baseline ran"},
		{"no fingerprints", "nothing says that it is like with like", times(20, "c"), times(20, "c"), gate.CompareOptions{}, gate.NoEvidence, 1, "neither run says how it was made"},
		{"other groups", "told, as the test depends on them", times(20, "c@a"), times(20, "c@b"), gate.CompareOptions{}, gate.NoEvidence, 1, "20 items in another group than in the baseline"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := gate.Compare(from(t, tt.old), from(t, tt.now), tt.o)
			require.NoError(t, err)
			assert.Equal(t, tt.want, c.Verdict, "%s: %s", tt.reason, c.Text())
			if tt.p >= 0 {
				assert.InDelta(t, tt.p, c.P, 1e-12, tt.reason)
			}
			assert.Contains(t, c.Text(), tt.says, tt.reason)
			assert.True(t, strings.HasPrefix(c.Text(), string(tt.want)), c.Text())
			// What the text says, the fields say.
			assert.Equal(t, c.Pairs, len(c.Broke)+len(c.Fixed)+c.Both+c.Neither)
			assert.InDelta(t, c.NewAccuracy-c.OldAccuracy, c.Diff.Value, 1e-12)
			assert.True(t, c.Diff.Interval.Lo <= c.Diff.Value+1e-12 && c.Diff.Value <= c.Diff.Interval.Hi+1e-12, "%+v", c.Diff)
			status := map[gate.Change]gate.Status{gate.Regressed: gate.Failed, gate.NotEnough: gate.NotEnoughData}[tt.want]
			if status == "" {
				status = gate.Passed
			}
			assert.Equal(t, status, c.Decision().Status)
		})
	}
}

// TestSignFlip holds the test over groups against the definition: all choices
// of signs, counted one by one.
func TestSignFlip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		var old, now strings.Builder
		sums := map[int]int{}
		for range 5 + rng.IntN(40) {
			g := rng.IntN(7)
			a, b := rng.IntN(2), rng.IntN(2)
			sums[g] += b - a
			fmt.Fprintf(&old, "%c@%d ", "ic"[a], g)
			fmt.Fprintf(&now, "%c@%d ", "ic"[b], g)
		}
		total, list := 0, []int{}
		for _, s := range sums {
			total += s
			if s != 0 {
				list = append(list, s)
			}
		}
		below, at := 0, 0
		for signs := range 1 << len(list) {
			r := 0
			for i, s := range list {
				if signs>>i&1 == 1 {
					s = -s
				}
				r += s
			}
			if r < total {
				below++
			} else if r == total {
				at++
			}
		}
		all := float64(int(1) << len(list))
		exact, mid := float64(below+at)/all, (float64(below)+float64(at)/2)/all
		if len(list) == 0 {
			exact, mid = 1, 1
		}
		c, err := gate.Compare(from(t, old.String()), from(t, now.String()), gate.CompareOptions{})
		require.NoError(t, err)
		assert.InDelta(t, mid, c.P, 1e-12, "%v", sums)
		c, err = gate.Compare(from(t, old.String()), from(t, now.String()), gate.CompareOptions{Exact: true})
		require.NoError(t, err)
		assert.InDelta(t, exact, c.P, 1e-12, "%v", sums)
	}
}

func TestCompareFingerprints(t *testing.T) {
	old := map[string]string{"model": "m-1", "grader": "numeric", "prompt": "x"}
	now := map[string]string{"model": "m-2\x1b[31m", "grader": "numeric", "samples": "1"}
	list := gate.CompareFingerprints(old, now)
	var texts []string
	for _, m := range list {
		texts = append(texts, m.String())
	}
	assert.Equal(t, []string{
		`model was "m-1", is "m-2\x1b[31m"`,
		`prompt was "x", this run does not say what it is`,
		`samples is "1", the baseline does not say what it was`,
	}, texts, "field by field, one-sided fields too, nothing a terminal obeys")
	assert.Empty(t, gate.CompareFingerprints(old, old))
	assert.Len(t, gate.CompareFingerprints(map[string]string{"judge": ""}, nil), 1, "said to be empty is not the same as not said")

	type f = map[string]string
	for _, row := range []struct {
		name, reason string
		old, now     f
		differ       []string
	}{
		{"packed otherwise", "the same items in another order, or file", f{"items": "a", "dataset": "d"}, f{"items": "a", "dataset": "e"}, nil},
		{"other items", "told once", f{"items": "a", "dataset": "d"}, f{"items": "b", "dataset": "e"}, []string{"items"}},
		{"a baseline came in between", "both have the file and the first request", f{"dataset": "d", "first item's request": "q"},
			f{"items": "a", "dataset": "d", "requests": "r", "first item's request": "q"}, nil},
		{"and another prompt", "the first request tells", f{"first item's request": "p"}, f{"requests": "r", "first item's request": "q"}, []string{"first item's request"}},
		{"a later item's prompt", "the first one's is the same", f{"requests": "r", "first item's request": "q"}, f{"requests": "s", "first item's request": "q"}, []string{"requests"}},
		{"nothing in common", "is not known to be equal", f{"items": "a"}, f{"dataset": "d"}, []string{"dataset", "items"}},
	} {
		var fields []string
		for _, m := range gate.CompareFingerprints(row.old, row.now) {
			fields = append(fields, m.Field)
		}
		assert.Equal(t, row.differ, fields, "%s: %s", row.name, row.reason)
	}

	a, b := from(t, times(20, "c")), from(t, times(20, "c"))
	a.Header.Fingerprint, b.Header.Fingerprint = old, now
	_, err := gate.Compare(a, b, gate.CompareOptions{})
	var mismatch *gate.MismatchError
	require.ErrorAs(t, err, &mismatch)
	assert.Equal(t, list, mismatch.Mismatches)
	d := find(t, gate.Decide(evidence(t, b), gate.Config{Baseline: a}), gate.NoDrop)
	assert.Equal(t, gate.Failed, d.Status, "refused is not passed")
	c, err := gate.Compare(a, b, gate.CompareOptions{OnMismatch: gate.Warn})
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(c.Text(), `NOT LIKE WITH LIKE (model was "m-1"`), c.Text())
}

func TestMaxDrop(t *testing.T) {
	tenth := 0.1
	third, fifth := 0.3, 0.2 // their difference is 0.09999999999999998, and meant as 0.1
	computed := third - fifth
	cfg := gate.Config{Baseline: from(t, times(20, "c")), Compare: gate.CompareOptions{MaxDrop: &computed, Alpha: 1e-12}}
	d := find(t, gate.Decide(evidence(t, from(t, "i i "+times(18, "c"))), cfg), gate.MaxDrop)
	assert.Equal(t, gate.Passed, d.Status, "rounding does not fail a run: %s", d)
	for _, tt := range []struct {
		name, reason, old, now string
		want                   gate.Status
	}{
		{"exactly", "at most 10 points", times(20, "c"), "i i " + times(18, "c"), gate.Passed},
		{"one more", "15 points", times(20, "c"), "i i i " + times(17, "c"), gate.Failed},
		{"a rise", "", times(20, "i"), times(20, "c"), gate.Passed},
		{"an outage", "errors have a gate of their own", times(20, "c"), "e e e e " + times(16, "c"), gate.Passed},
		{"no pairs", "", "c -", "- c", gate.NotEnoughData},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := gate.Config{Baseline: from(t, tt.old), MaxErrored: 99, Compare: gate.CompareOptions{MaxDrop: &tenth, Alpha: 1e-12}}
			d := find(t, gate.Decide(evidence(t, from(t, tt.now)), cfg), gate.MaxDrop)
			assert.Equal(t, tt.want, d.Status, "%s: %s", tt.reason, d)
		})
	}
}

func TestConfirm(t *testing.T) {
	old, now := from(t, times(30, "c")+times(6, "i")), from(t, times(15, "i")+times(15, "c")+times(4, "c")+times(2, "i"))
	c, err := gate.Compare(old, now, gate.CompareOptions{})
	require.NoError(t, err)
	require.Equal(t, gate.Regressed, c.Verdict)

	all := map[string][]bool{}
	for _, id := range names(c.Broke) {
		all[id] = []bool{false, false}
	}
	same := c.Confirm(all)
	assert.Equal(t, gate.Regressed, same.Verdict, "all broken again")
	assert.Equal(t, c.P, same.P)
	assert.Same(t, c, same.First)

	for i, id := range names(c.Broke) {
		all[id] = []bool{true, i%5 != 0} // of 3 answers 2 are correct, or 1
	}
	flaky := c.Confirm(all)
	assert.Equal(t, gate.NoEvidence, flaky.Verdict, flaky.Text())
	n := 0
	for _, ch := range flaky.Broke {
		if ch.Flaky {
			n++
		}
		assert.Equal(t, 2, ch.Asked)
	}
	assert.Equal(t, 12, n, "2 of 3 correct is flaky, 1 of 3 is broken")
	// 3 of 15 broken items stay, so 1 of the 4 fixed: mid-p of 3 and 1 is
	// (C(4,4) + C(4,3)/2)/16.
	assert.InDelta(t, 3.0/16, flaky.P, 1e-12)
	assert.Contains(t, flaky.Text(), "asked again with 30 answers: 3 broken, 12 flaky, p 0.1875")
	assert.Equal(t, gate.Regressed, c.Verdict, "c is not changed")
	for _, ch := range c.Broke {
		assert.Zero(t, ch.Asked)
	}
	assert.Equal(t, gate.Regressed, c.Confirm(nil).Verdict, "no answers, nothing changes")
	for _, now := range []string{times(36, "c"), "i " + times(29, "c") + times(6, "i")} {
		c, err := gate.Compare(old, from(t, now), gate.CompareOptions{})
		require.NoError(t, err)
		assert.Equal(t, c.Verdict, c.Confirm(nil).Verdict, "there was nothing to confirm")
	}
	assert.Panics(t, func() { c.Confirm(map[string][]bool{"q020": {true}}) }, "it did not break")
}

// TestPublishedSolutions compares the published solutions of two models to the
// whole GSM8K test split, with counts and p values that are computed here from
// the file and with big integers.
func TestPublishedSolutions(t *testing.T) {
	small, large := solutions(t)
	require.Len(t, small, 1319)
	broke, fixed, both := 0, 0, 0
	for q, was := range small {
		switch is := large[q]; {
		case was && is:
			both++
		case was:
			broke++
		case is:
			fixed++
		}
	}
	a, b := ofMarks(t, small), ofMarks(t, large)

	up, err := gate.Compare(a, b, gate.CompareOptions{})
	require.NoError(t, err)
	t.Log(up.Text())
	assert.Equal(t, gate.Improved, up.Verdict)
	assert.Equal(t, []int{broke, fixed, both, 1319}, []int{len(up.Broke), len(up.Fixed), up.Both, up.Pairs})
	assert.InDelta(t, 0.217, up.OldAccuracy, 0.0005)
	assert.InDelta(t, 0.563, up.NewAccuracy, 0.0005)

	down, err := gate.Compare(b, a, gate.CompareOptions{Exact: true})
	require.NoError(t, err)
	t.Log(down.Text())
	assert.Equal(t, gate.Regressed, down.Verdict)
	assert.Equal(t, []int{fixed, broke}, []int{len(down.Broke), len(down.Fixed)}, "the mirror image")
	want := coins(fixed, broke+fixed)
	assert.InEpsilon(t, want, down.P, 1e-9, "the exact tail of the binomial")

	// A rerun in another order, of the same answers.
	order := make([]string, 0, len(small))
	for q := range small { // a map's order is random
		order = append(order, q)
	}
	var r gate.Recorder
	for _, q := range order {
		rec := marked(q, small[q])
		rec.Item.Group = ""
		r.Add(rec)
	}
	again, err := r.Baseline(gate.BaselineHeader{})
	require.NoError(t, err)
	same, err := gate.Compare(a, again, gate.CompareOptions{})
	require.NoError(t, err)
	t.Log(same.Text())
	assert.Equal(t, gate.NoEvidence, same.Verdict)
	assert.Equal(t, 1.0, same.P)
	assert.Zero(t, same.Diff.Value)
	assert.True(t, write(t, a) == write(t, again), "and the same file")
}

// coins is the probability of at least k heads of n.
func coins(k, n int) float64 {
	sum := new(big.Int)
	for i := k; i <= n; i++ {
		sum.Add(sum, new(big.Int).Binomial(int64(n), int64(i)))
	}
	p, _ := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
	return p
}

func marked(id string, correct bool) *result.Record {
	if correct {
		return record(id, 0, result.Correct)
	}
	return record(id, 0, result.Incorrect)
}

func ofMarks(t *testing.T, marks map[string]bool) *gate.Baseline {
	var r gate.Recorder
	for q, ok := range marks {
		rec := marked(q, ok)
		rec.Item.Group = ""
		r.Add(rec)
	}
	b, err := r.Baseline(gate.BaselineHeader{})
	require.NoError(t, err)
	return b
}

// solutions are the published verdicts of both models by question.
func solutions(t *testing.T) (small, large map[string]bool) {
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "data", "gsm8k_model_solutions.jsonl.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("needs data/gsm8k_model_solutions.jsonl.gz, which is not part of the repository: name its folder in EVALTEST_SHARED")
	}
	require.NoError(t, err)
	defer f.Close()
	zr, err := gzip.NewReader(f)
	require.NoError(t, err)
	all := map[string]map[string]bool{}
	for dec := json.NewDecoder(zr); dec.More(); {
		var s struct {
			Question string `json:"question"`
			Model    string `json:"model"`
			Correct  bool   `json:"is_correct"`
		}
		require.NoError(t, dec.Decode(&s))
		if all[s.Model] == nil {
			all[s.Model] = map[string]bool{}
		}
		all[s.Model][s.Question] = s.Correct
	}
	return all["6b_finetuning"], all["175b_verification"]
}

func TestCompareOptionsCheck(t *testing.T) {
	bad := 1.5
	for _, o := range []gate.CompareOptions{
		{Alpha: -1}, {Alpha: 0.5}, {Alpha: math.NaN()}, {Detect: 5}, {Detect: -0.1}, {OnMismatch: "ignore"}, {MaxDrop: &bad},
	} {
		require.ErrorIs(t, o.Check(), gate.ErrConfig, "%+v", o)
		assert.Panics(t, func() { _, _ = gate.Compare(from(t, "c"), from(t, "c"), o) })
	}
	assert.NoError(t, gate.CompareOptions{}.Check())
}

func TestDetectable(t *testing.T) {
	b := from(t, times(200, "c/c/i/i"))
	noise, err := b.Noise()
	require.NoError(t, err)
	assert.InDelta(t, 1.0/3, noise, 1e-12, "of 12 ordered pairs of samples 4 go from correct to not")
	estimated, err := b.Detectable(-1, gate.CompareOptions{})
	require.NoError(t, err)
	given, err := b.Detectable(1.0/3, gate.CompareOptions{})
	require.NoError(t, err)
	assert.InDelta(t, given, estimated, 1e-9)
	four, err := b.Detectable(0.2, gate.CompareOptions{})
	require.NoError(t, err)
	one, err := stat.MinDrop(200, 0.05, gate.DefaultAlpha, gate.Power)
	require.NoError(t, err)
	assert.Equal(t, one, four, "the mean of 4 samples has a quarter of the variance")
	_, err = from(t, times(200, "c")).Detectable(-1, gate.CompareOptions{})
	assert.Error(t, err, "nothing to take the noise from")
	_, err = from(t, "c c c").Detectable(0, gate.CompareOptions{})
	assert.ErrorContains(t, err, "items")
}
