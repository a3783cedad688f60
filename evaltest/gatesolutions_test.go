package evaltest_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// published answers with one model's published solutions.
type published struct {
	answers map[string]solution
	model   string
}

func (published) Name() string { return "published solutions" }

func (p published) Execute(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	return llm.Response{Text: p.answers[it.Input].Solution, Finish: llm.FinishStop, Model: p.model}, nil
}

// upperTail is the mid-p value of at least k heads in n tosses, exactly.
func upperTail(k, n int) float64 {
	sum := new(big.Int)
	for i := k + 1; i <= n; i++ {
		sum.Add(sum, new(big.Int).Binomial(int64(n), int64(i)))
	}
	twice := sum.Lsh(sum, 1)
	twice.Add(twice, new(big.Int).Binomial(int64(n), int64(k)))
	p, _ := new(big.Rat).SetFrac(twice, new(big.Int).Lsh(big.NewInt(1), uint(n+1))).Float64()
	return p
}

// TestRegressionOfPublishedSolutions: the solutions that two models gave to GSM8K
// as baseline and candidate, each way, and each against itself in another order.
// What broke and was fixed is counted here from the published verdicts.
func TestRegressionOfPublishedSolutions(t *testing.T) {
	ds, err := gsm8k.Load(sharedFile(t, "data/gsm8k_test.jsonl.gz"))
	require.NoError(t, err)
	solutions := readSolutions(t, sharedFile(t, "data/gsm8k_model_solutions.jsonl.gz"))
	small, large := published{solutions["6b_finetuning"], "6b"}, published{solutions["175b_verification"], "175b"}
	lost, won := 0, 0 // from small to large
	for q, s := range small.answers {
		switch l := large.answers[q]; {
		case s.Correct && !l.Correct:
			lost++
		case !s.Correct && l.Correct:
			won++
		}
	}
	require.Equal(t, 742-286, won-lost)
	items := ds.Items()
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	shuffled, err := dataset.New("shuffled", items)
	require.NoError(t, err)

	dir := t.TempDir()
	options := evaltest.Options(evaltest.Grader(grade.Numeric()), evaltest.Dir(dir), evaltest.Parallel(64), evaltest.Offline())
	run := func(t *testing.T, ds *dataset.Dataset, s published, flags map[string]string, opts ...evaltest.Option) (rep *evaltest.Report) {
		evaltest.RunForTest(t, ds, s, flags, func(r *evaltest.Report) { rep = r }, append(opts, options)...)
		return rep
	}
	ofSmall, ofLarge := filepath.Join(dir, "small.jsonl.gz"), filepath.Join(dir, "large.jsonl.gz")
	for path, s := range map[string]published{ofSmall: small, ofLarge: large} {
		rep := run(t, ds, s, map[string]string{"UPDATE": "1"}, evaltest.Baseline(path))
		require.False(t, rep.Failed(), rep.Summary)
	}
	decision := func(rep *evaltest.Report) gate.Decision {
		i := slices.IndexFunc(rep.Decisions, func(d gate.Decision) bool { return d.Gate == gate.NoDrop })
		require.GreaterOrEqual(t, i, 0)
		return rep.Decisions[i]
	}
	for _, row := range []struct {
		name, base string
		now        published
		ds         *dataset.Dataset
		verdict    gate.Change
		broke, fix int
		p          float64 // for a drop
	}{
		{"improved", ofSmall, large, ds, gate.Improved, lost, won, 1},
		{"regressed", ofLarge, small, ds, gate.Regressed, won, lost, upperTail(won, won+lost)},
		{"the same", ofSmall, small, ds, gate.NoEvidence, 0, 0, 1},
		{"the same, shuffled", ofLarge, large, shuffled, gate.NoEvidence, 0, 0, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			rep := run(t, row.ds, row.now, nil, evaltest.Baseline(row.base), evaltest.OnMismatch(evaltest.Warn))
			c := rep.Comparison
			require.NotNil(t, c, rep.Summary)
			assert.Equal(t, row.verdict, c.Verdict)
			assert.Len(t, c.Broke, row.broke)
			assert.Len(t, c.Fixed, row.fix)
			assert.Equal(t, 1319, c.Pairs)
			assert.InDelta(t, row.p, c.P, 1e-9)
			assert.Equal(t, row.verdict == gate.Regressed, decision(rep).Status == gate.Failed)
			assert.Equal(t, row.verdict == gate.Regressed, rep.Failed(), rep.Summary)
			fields := []string{}
			for _, m := range c.Mismatches {
				fields = append(fields, m.Field)
			}
			if row.verdict == gate.NoEvidence {
				assert.Empty(t, fields, "the order of the items is no difference")
			} else {
				assert.Equal(t, []string{"model"}, fields)
			}
		})
	}
	t.Run("curtailed", func(t *testing.T) {
		var calls atomic.Int64
		counted := counting{small, &calls}
		var rep *evaltest.Report
		evaltest.RunForTest(t, ds, counted, nil, func(r *evaltest.Report) { rep = r }, options,
			evaltest.Parallel(1), evaltest.Baseline(ofLarge), evaltest.OnMismatch(evaltest.Warn), evaltest.Curtail())
		assert.Equal(t, gate.Failed, decision(rep).Status)
		assert.True(t, rep.Stats.Curtailed)
		assert.Less(t, int(calls.Load()), 900, "the drop is certain long before the end")
		assert.Equal(t, 1319-rep.Stats.Recorded, rep.Stats.Outcomes["not_run"])
	})
}

// counting counts what a strategy is asked, under its name.
type counting struct {
	published
	calls *atomic.Int64
}

func (c counting) Execute(ctx context.Context, it dataset.Item, a evaltest.Attempt) (llm.Response, error) {
	c.calls.Add(1)
	return c.published.Execute(ctx, it, a)
}
