package stat_test

import (
	"errors"
	"fmt"

	"github.com/goevals/evals/grade/stat"
)

// Two runs of the same 1319 items: 60 broke, 31 were fixed.
func ExamplePairedProportions() {
	d := stat.PairedProportions(800, 60, 31, 428, 0.95)
	fmt.Println(d)
	fmt.Println("changed by", d.Interval)
	// Output:
	// -0.022 (95% interval -0.037 to -0.008), p = 0.0012 for a drop
	// changed by -3.7% to -0.8%
}

func ExampleMcNemar() {
	r := stat.McNemar(12, 3)
	fmt.Printf("exact %.4f, mid-p %.4f\n", r.P, r.MidP)
	// Output: exact 0.0176, mid-p 0.0106
}

// Before a run is paid for: what would it show?
func ExampleMinDrop() {
	const noise = 0.02 // of the items flip each way though nothing changed
	drop, err := stat.MinDrop(1319, noise, 0.05, 0.80)
	if err != nil {
		panic(err)
	}
	n, err := stat.ItemsFor(0.01, noise, 0.05, 0.80)
	if err != nil {
		panic(err)
	}
	fmt.Printf("1319 items show a drop of %.1f points; one of 1 point takes %d items\n", 100*drop, n)
	// Output: 1319 items show a drop of 1.6 points; one of 1 point takes 3075 items
}

func ExampleNotEnough() {
	_, err := stat.MinDrop(10, 0.3, 0.05, 0.80)
	var few *stat.NotEnough
	if errors.As(err, &few) {
		fmt.Println(few)
		fmt.Println("add", few.Need-few.Have, few.What)
	}
	// Output:
	// stat: paired test: not enough data: it needs at least 34 items, and there are 10
	// add 24 items
}

func ExampleMeanClustered() {
	scores := []float64{1, 1, 1, 0.5, 0, 0, 1, 0.5, 0.5}
	documents := []string{"a", "a", "a", "b", "b", "b", "c", "c", "c"}
	clustered, err := stat.MeanClustered(scores, documents, 0.95)
	if err != nil {
		panic(err)
	}
	alone, err := stat.Mean(scores, 0.95)
	if err != nil {
		panic(err)
	}
	fmt.Printf("standard error %.3f, and %.3f if the documents are ignored\n", clustered.SE, alone.SE)
	// Output: standard error 0.242, and 0.139 if the documents are ignored
}

func ExamplePairedDiff() {
	d, err := stat.PairedDiff([]stat.Pair{
		{Old: 1, New: 0.6, Group: "a"}, {Old: 0.8, New: 0.6, Group: "a"},
		{Old: 0.4, New: 0.4, Group: "b"}, {Old: 1, New: 0.9, Group: "c"},
	}, 0.95)
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Method, "of", d.Clusters, "groups:", d)
	// Output: paired t, clustered of 3 groups: -0.175 (95% interval -0.589 to 0.239), p = 0.11 for a drop
}

func ExamplePassAt() {
	at, err := stat.PassAt(10, 3, 5)
	if err != nil {
		panic(err)
	}
	all, err := stat.PassAll(10, 8, 5)
	if err != nil {
		panic(err)
	}
	fmt.Printf("pass@5 of 3 in 10 is %.3f, pass^5 of 8 in 10 is %.3f\n", at, all)
	// Output: pass@5 of 3 in 10 is 0.917, pass^5 of 8 in 10 is 0.222
}

func ExampleSplit() {
	c, err := stat.Split([][]float64{{1, 1, 0}, {0, 0, 0}, {1, 1, 1}, {0, 1, 0}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.0f%% of the variance lies between items\n", 100*c.Consistency())
	fmt.Printf("standard error %.3f; with 30 samples an item %.3f, with 40 items %.3f\n", c.SE, c.SEWith(4, 30), c.SEWith(40, 3))
	// Output:
	// 44% of the variance lies between items
	// standard error 0.215; with 30 samples an item 0.184, with 40 items 0.068
}

func ExampleMajority() {
	winner, votes, tie := stat.Majority([]string{"18", "18", "20"})
	fmt.Println(winner, votes, tie)
	// Output: 18 2 false
}

func ExampleKappa() {
	// Rows: people said correct, incorrect. Columns: the judge did.
	e, err := stat.Kappa([][]int{{45, 5}, {10, 40}}, 0.95)
	if err != nil {
		panic(err)
	}
	fmt.Println(e)
	// Output: 0.700 (95% interval 0.546 to 0.827)
}

func ExampleRoganGladen() {
	e, err := stat.RoganGladen(
		stat.Proportion{Successes: 700, N: 1000}, // the judge passed
		stat.Proportion{Successes: 90, N: 100},   // of the correct ones it passed
		stat.Proportion{Successes: 80, N: 100},   // of the incorrect ones it failed
		0.95)
	if err != nil {
		panic(err)
	}
	fmt.Println("judged 0.700, corrected", e)
	// Output: judged 0.700, corrected 0.714 (95% interval 0.639 to 0.803)
}

func ExampleMannWhitney() {
	before := []float64{1.1, 1.3, 1.2, 1.4, 1.2, 9.0} // seconds
	after := []float64{1.9, 1.8, 2.2, 2.0, 1.7, 2.1}
	u, p, err := stat.MannWhitney(after, before)
	if err != nil {
		panic(err)
	}
	fmt.Printf("slower in %.0f of 36 pairs, p = %.3f\n", u, p)
	// Output: slower in 30 of 36 pairs, p = 0.061
}

func ExampleHolm() {
	fmt.Println(stat.Holm([]float64{0.01, 0.04, 0.03}))
	// Output: [0.03 0.06 0.06]
}

func ExampleClopperPearson() {
	fmt.Println(stat.ClopperPearson(0, 20, 0.95))
	// Output: 0.0% to 16.8%
}
