package judge_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/grade/stat"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// obeys is a judge that does what the answer says: c, i, ?, u, e, p or g.
var obeys = grade.Func(func(ctx context.Context, _ dataset.Item, r llm.Response) (grade.Verdict, error) {
	calls := []llm.Response{{Text: r.Text, Usage: llm.Usage{Input: 10, Output: 1, Known: true}}}
	switch r.Text[0] {
	case 'c':
		return grade.Verdict{Mark: right, Score: 1, Calls: calls}, nil
	case 'i':
		return grade.Verdict{Mark: wrong, Why: "it is wrong", Calls: calls}, nil
	case '?':
		return grade.Verdict{Mark: none, Why: "hm", Calls: calls}, nil
	case 'u':
		return grade.Verdict{Mark: grade.Unparsed}, nil
	case 'p':
		panic("no such key")
	case 'g':
		runtime.Goexit()
	case 'b':
		return grade.Verdict{Mark: right, Score: 7, Calls: calls}, nil
	}
	return grade.Verdict{Calls: calls}, &llm.Error{Kind: llm.KindServer, Message: "boom", Usage: llm.Usage{Input: 5, Known: true}}
})

// labelled makes answers of pairs of letters: what people say and what the
// judge will.
func labelled(pairs string) (all []judge.Labelled) {
	for i, p := range strings.Fields(pairs) {
		label := right
		if p[0] == 'i' {
			label = wrong
		}
		all = append(all, judge.Labelled{Item: dataset.Item{ID: strconv.Itoa(i)}, Response: said(p[1:]), Label: label})
	}
	return all
}

func TestCalibrate(t *testing.T) {
	const pairs = "cc cc cc cc ci ii ii ii ic c? i? iu ce cp ig cb"
	for _, parallel := range []int{1, 3, 0} {
		c, err := judge.Calibrate(t.Context(), obeys, labelled(pairs), judge.CalibrateConfig{Parallel: parallel})
		require.NoError(t, err)
		assert.Equal(t, "func", c.Judge)
		assert.Equal(t, 16, c.Labelled)
		assert.Equal(t, 9, c.Judged)
		assert.Equal(t, judge.Confusion{TruePass: 4, FalseFail: 1, FalsePass: 1, TrueFail: 3}, c.Matrix)
		assert.Equal(t, stat.Proportion{Successes: 4, N: 5}, c.Sensitivity)
		assert.Equal(t, stat.Proportion{Successes: 3, N: 4}, c.Specificity)
		assert.Equal(t, stat.Proportion{Successes: 7, N: 9}, c.Agreement())
		assert.Equal(t, stat.ClopperPearson(4, 5, 0.95), c.SensitivityInterval)
		// By hand: agreement 7/9, chance (5·5 + 4·4)/81.
		require.NoError(t, c.KappaErr)
		assert.InDelta(t, (7.0/9-41.0/81)/(1-41.0/81), c.Kappa.Value, 1e-12)
		assert.Equal(t, 9, c.Kappa.N)
		assert.Less(t, c.Kappa.Interval.Lo, c.Kappa.Value)
		var mistakes, ungraded, errored []int
		for _, d := range c.Mistakes {
			mistakes = append(mistakes, d.Index)
		}
		for _, d := range c.Ungraded {
			ungraded = append(ungraded, d.Index)
		}
		for _, d := range c.Errored {
			errored = append(errored, d.Index)
			assert.Error(t, d.Err)
			assert.Empty(t, d.Verdict)
		}
		assert.Equal(t, []int{4, 8}, mistakes)
		assert.Equal(t, []int{9, 10, 11}, ungraded, "in no number")
		assert.Equal(t, []int{12, 13, 14, 15}, errored, "nor these")
		// 9 legal, 2 ungraded, a bad one and the failed one with what its error
		// was billed beside the call before it.
		assert.Equal(t, 14, c.Usage.Calls)
		assert.EqualValues(t, 135, c.Usage.Input)
		assert.Len(t, c.Calls, 14)
	}
}

func TestCalibrationText(t *testing.T) {
	c, err := judge.Calibrate(t.Context(), obeys, labelled("cc cc cc cc ci ii ii ii ic c? ie"), judge.CalibrateConfig{})
	require.NoError(t, err)
	assert.Equal(t, `func on 11 labelled answers, 9 with a legal verdict
                    labelled correct labelled incorrect
  judged correct                   4                  1
  judged incorrect                 1                  3
  agreement    77.8% (7 of 9; 95% interval 40.0% to 97.2%)
  kappa        `+c.Kappa.String()+`
  sensitivity  80.0% (4 of 5; 95% interval 28.4% to 99.5%)
  specificity  75.0% (3 of 4; 95% interval 19.4% to 99.4%)
  no verdict   ungraded 1, errors 1: 18.2% of the labelled answers, in none of the numbers above
  spent        12 calls, 115 tokens in, 11 out`, c.String())

	// A judge that always passes has no kappa worth the name, and says so.
	c, err = judge.Calibrate(t.Context(), obeys, labelled("cc cc cc"), judge.CalibrateConfig{})
	require.NoError(t, err)
	var undefined *stat.Undefined
	require.ErrorAs(t, c.KappaErr, &undefined)
	assert.Contains(t, c.String(), "both raters")
	assert.Contains(t, c.String(), "specificity  not known: no answer of this kind was judged")
	c, err = judge.Calibrate(t.Context(), obeys, labelled("cc cc cc ci"), judge.CalibrateConfig{})
	require.NoError(t, err)
	assert.Contains(t, c.String(), "kappa        0.000 whatever the judge says: the labels of what it judged are all of one kind")
	_, err = c.Correct(10, 5, 0.95)
	var few *stat.NotEnough
	require.ErrorAs(t, err, &few, "no answers labelled incorrect")
	c, err = judge.Calibrate(t.Context(), obeys, labelled("cc ic cc ic"), judge.CalibrateConfig{})
	require.NoError(t, err)
	_, err = c.Correct(10, 5, 0.95)
	require.ErrorAs(t, err, &undefined, "no better than a coin")
	assert.Zero(t, c.Kappa.Value, "a weak judge is seen to be weak")
}

func TestCalibrateMisuse(t *testing.T) {
	all := labelled("cc ii")
	panics(t, map[string]panicRow{
		"nil":      {func() { _, _ = judge.Calibrate(t.Context(), nil, all, judge.CalibrateConfig{}) }, "the grader is nil"},
		"parallel": {func() { _, _ = judge.Calibrate(t.Context(), obeys, all, judge.CalibrateConfig{Parallel: -1}) }, "Parallel is -1"},
		"level":    {func() { _, _ = judge.Calibrate(t.Context(), obeys, all, judge.CalibrateConfig{Level: 95}) }, "Level is 95"},
		"NaN":      {func() { _, _ = judge.Calibrate(t.Context(), obeys, all, judge.CalibrateConfig{Level: math.NaN()}) }, "Level is NaN"},
	})
	all[1].Label = ""
	_, err := judge.Calibrate(t.Context(), obeys, all, judge.CalibrateConfig{})
	require.ErrorIs(t, err, judge.ErrLabel)
	assert.Contains(t, err.Error(), `answer 2 (item "1"): the label is ""`)
	all = labelled("cc ii cc ii ic cc")
	all[2], all[4].Item.ID = all[0], "0" // the same answer again, and with another label
	_, err = judge.Calibrate(t.Context(), obeys, all, judge.CalibrateConfig{})
	require.ErrorIs(t, err, judge.ErrLabel)
	assert.Contains(t, err.Error(), `answers 1 and 5 (item "0") are the same, and one is labelled correct, the other incorrect`)
	all[4].Item.ID = "4"
	c, err := judge.Calibrate(t.Context(), obeys, all, judge.CalibrateConfig{})
	require.NoError(t, err)
	assert.Equal(t, 1, c.Repeated)
	assert.Contains(t, c.String(), "repeated     1 answers stand there more than once: the intervals are too narrow")
	_, err = judge.Calibrate(t.Context(), obeys, nil, judge.CalibrateConfig{})
	var few *stat.NotEnough
	require.ErrorAs(t, err, &few)
}

// TestCalibrateBounded: never more at once than asked for, and those at once.
func TestCalibrateBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &llmtest.Model{
			Latency: func(int, llm.Request) time.Duration { return time.Second },
			Reply:   func(int, llm.Request) (llm.Response, error) { return said("GRADE: C"), nil },
		}
		start := time.Now()
		c, err := judge.Calibrate(t.Context(), judge.New(m), labelled(strings.Repeat("cc ii ", 10)), judge.CalibrateConfig{Parallel: 4})
		require.NoError(t, err)
		assert.Equal(t, 4, m.Peak())
		assert.Equal(t, 5*time.Second, time.Since(start))
		assert.Equal(t, 20, c.Judged)
	})
}

func TestCalibrateCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second/60)
		defer cancel()
		m := &llmtest.Model{
			Latency: func(int, llm.Request) time.Duration { return time.Second },
			Reply:   func(int, llm.Request) (llm.Response, error) { return said("GRADE: C"), nil },
			Usage:   llmtest.WordUsage,
		}
		c, err := judge.Calibrate(ctx, judge.New(m), labelled(strings.Repeat("cc ii ", 10)), judge.CalibrateConfig{Parallel: 2})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotNil(t, c, "what was paid for is told")
		assert.Equal(t, 2, c.Judged)
		assert.Len(t, c.Errored, 18)
		assert.Positive(t, c.Usage.Input)
	})
}

// TestCalibrateContext: what a cassette tells calls apart by does not depend on
// the order in which they are made.
func TestCalibrateContext(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	g := grade.Func(func(ctx context.Context, it dataset.Item, r llm.Response) (grade.Verdict, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[fmt.Sprint(llm.ItemID(ctx), llm.SampleIndex(ctx), r.Text)] = true
		llm.LogCall(ctx, llm.Call{Response: llm.Response{Usage: llm.Usage{Input: 3, Known: true}}})
		return grade.Verdict{Mark: right, Score: 1, Calls: spent(1000)}, nil
	})
	all := labelled("cc ii cx")
	all[2].Item.ID = "0"
	var log llm.CallLog
	c, err := judge.Calibrate(llm.WithCallLog(t.Context(), &log), g, all, judge.CalibrateConfig{})
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"00c": true, "10i": true, "01x": true}, seen)
	assert.EqualValues(t, 9, c.Usage.Input, "as the transports logged them")
	assert.Len(t, log.Calls(), 3, "and the caller's log has them too")
}

// A simulatedJudge has known shares and so many labels of each kind.
type simulatedJudge struct {
	sens, spec float64
	perKind    int
}

// TestCorrect: as SciPy has it, by formulas written down apart; and no sure 0 or
// 1 of answers that cannot be like the labelled ones.
func TestCorrect(t *testing.T) {
	of := func(k, n int) stat.Proportion { return stat.Proportion{Successes: k, N: n} }
	for _, row := range []struct {
		passed, judged int
		sens, spec     stat.Proportion
		value, lo, hi  float64
	}{
		{60, 100, of(2, 3), of(2, 3), 0.8, 0, 1},
		{150, 300, of(90, 100), of(80, 100), 0.428571, 0.313315, 0.535965},
		{290, 300, of(58, 60), of(55, 60), 1, 0.948465, 1},
		{0, 50, of(20, 20), of(20, 20), 0, 0, 0.084832},
		{50, 50, of(20, 20), of(20, 20), 1, 0.915168, 1},
	} {
		c := judge.Calibration{Sensitivity: row.sens, Specificity: row.spec}
		e, err := c.Correct(row.judged, row.passed, 0.95)
		require.NoError(t, err)
		assert.InDelta(t, row.value, e.Value, 1e-6)
		assert.InDelta(t, row.lo, e.Interval.Lo, 1e-6)
		assert.InDelta(t, row.hi, e.Interval.Hi, 1e-6)
	}
	c := judge.Calibration{Sensitivity: of(75, 100), Specificity: of(70, 100)}
	for _, passed := range []int{30, 290} {
		_, err := c.Correct(300, passed, 0.95)
		var undefined *stat.Undefined
		require.ErrorAs(t, err, &undefined)
		assert.Contains(t, err.Error(), "of these answers, and in its calibration 75.0% of the correct and 30.0% of the incorrect ones")
	}
}

// TestCorrectCoverage: a judge of a known error rate is calibrated on labels and
// then judges runs. The corrected accuracy's interval covers the truth at its
// level, within three standard errors of the simulation. With few labels, or
// where the truth is near 1 and the interval is cut, it may do so more often. What
// was found is in the doc of Calibration.Correct. EVALS_STAT_LONG simulates 20 times as much.
func TestCorrectCoverage(t *testing.T) {
	const (
		level = 0.95
		run   = 300
	)
	rows := []simulatedJudge{{0.9, 0.8, 60}, {0.75, 0.7, 60}}
	sims := 1000
	if os.Getenv("EVALS_STAT_LONG") != "" {
		rows = []simulatedJudge{{0.9, 0.8, 100}, {0.97, 0.9, 100}, {0.75, 0.7, 100}, {0.9, 0.8, 20}}
		sims = 20_000
	}
	three := 3 * math.Sqrt(level*(1-level)/float64(sims))
	truths := []float64{0.1, 0.5, 0.8, 0.95}
	for _, row := range rows {
		rng := rand.New(rand.NewPCG(20261130, uint64(1000*row.sens)))
		says := func(correct bool) string {
			p := row.sens
			if !correct {
				p = 1 - row.spec
			}
			if rng.Float64() < p {
				return "c"
			}
			return "i"
		}
		corrected, raw := make([]int, len(truths)), make([]int, len(truths))
		for range sims {
			// What Calibrate counts is tested above: a thousand of them take long.
			c := judge.Calibration{Sensitivity: stat.Proportion{N: row.perKind}, Specificity: stat.Proportion{N: row.perKind}}
			for range row.perKind {
				if says(true) == "c" {
					c.Sensitivity.Successes++
				}
				if says(false) == "i" {
					c.Specificity.Successes++
				}
			}
			for i, truth := range truths {
				passed := 0
				for range run {
					if says(rng.Float64() < truth) == "c" {
						passed++
					}
				}
				e, err := c.Correct(run, passed, level)
				if err == nil && e.Interval.Contains(truth) {
					corrected[i]++
				}
				if stat.Wilson(passed, run, level).Contains(truth) {
					raw[i]++
				}
			}
		}
		for i, truth := range truths {
			share := float64(corrected[i]) / float64(sims)
			t.Logf("sensitivity %v, specificity %v, %d labels of each kind, truth %v: coverage %.4f; uncorrected %.3f",
				row.sens, row.spec, row.perKind, truth, share, float64(raw[i])/float64(sims))
			assert.GreaterOrEqual(t, share, level-three)
			if truth < 0.9 && row.perKind >= 60 {
				assert.LessOrEqual(t, share, level+max(three, 0.01))
			}
		}
	}
}

func ExampleCalibrate() {
	// A judge that passes whatever sounds sure.
	sure := grade.FuncOf("sure", func(_ dataset.Item, r llm.Response) (bool, string) {
		return strings.Contains(r.Text, "certainly"), "it does not sound sure"
	})
	answer := func(id, text string, label grade.Mark) judge.Labelled {
		return judge.Labelled{Item: dataset.Item{ID: id}, Response: llm.Response{Text: text}, Label: label}
	}
	c, err := judge.Calibrate(context.Background(), sure, []judge.Labelled{
		answer("1", "certainly Paris", grade.Correct), answer("2", "certainly Lyon", grade.Incorrect),
		answer("3", "Paris", grade.Correct), answer("4", "Lyon", grade.Incorrect),
		answer("5", "certainly Paris", grade.Correct), answer("6", "Nice", grade.Incorrect),
	}, judge.CalibrateConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	corrected, err := c.Correct(100, 60, 0.95)
	fmt.Println("60 of 100 passed, truly correct:", corrected, err)
	// Output:
	// sure on 6 labelled answers, 6 with a legal verdict
	//                     labelled correct labelled incorrect
	//   judged correct                   2                  1
	//   judged incorrect                 1                  2
	//   agreement    66.7% (4 of 6; 95% interval 22.3% to 95.7%)
	//   kappa        0.333 (95% interval -0.421 to 0.921)
	//   sensitivity  66.7% (2 of 3; 95% interval 9.4% to 99.2%)
	//   specificity  66.7% (2 of 3; 95% interval 9.4% to 99.2%)
	//   no verdict   ungraded 0, errors 0
	//   spent        0 calls, 0 tokens in, 0 out
	// 60 of 100 passed, truly correct: 0.800 (95% interval 0.000 to 1.000) <nil>
}
