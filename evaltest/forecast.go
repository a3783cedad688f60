package evaltest

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade/stat"
	"github.com/goevals/evals/llm/call"
)

// go test -evaltest.plan (EVALTEST_PLAN=1) calls nobody: the test is skipped
// with a text that says how many answers the run would ask for, what they may
// be expected to spend, what drop they can show, and what the budget is. go
// test shows the reason of a skip under -v only, so the text goes to the
// terminal too if there is one.

// planned skips the test with the plan, if that is what was asked for.
func (r *runner) planned(tb testing.TB) {
	tb.Helper()
	if !r.set.planning {
		return
	}
	uncache(flag.CommandLine) // what runs cost changes
	text := r.forecast()
	if !r.verbose {
		r.display(report.Escape(r.test, 0) + "\n" + text + "\n")
	}
	write(tb, r.site, "nothing was asked (-evaltest.plan)\n"+text)
	tb.SkipNow()
}

// forecast is the plan as a text.
func (r *runner) forecast() string {
	f := report.Forecast{
		Items: r.plan.ds.Len(), Samples: r.set.samples, Answers: r.plan.selected,
		Attempts: r.set.attempts, Dataset: r.header.Dataset.Name, Strategy: r.header.Strategy,
		Notes: r.warnings, Journal: r.set.resume,
	}
	known := r.priced
	if known != nil && known.Header.Usage.Calls > 0 && known.Header.Items > 0 {
		r.fromBaseline(&f, known)
	} else {
		r.fromPrompts(&f)
	}
	f.Detects = r.detects(known)
	if r.set.maxCost != "" {
		f.Budget = append(f.Budget, "at most $"+r.set.maxCost+" (MaxCost)")
	}
	if r.set.maxTokens > 0 {
		f.Budget = append(f.Budget, fmt.Sprintf("at most %d tokens (MaxTokens)", r.set.maxTokens))
	}
	if n := times(r.h); n > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("-count and -cpu run this test %d times, and each time asks and pays anew", n))
	}
	if r.set.confirm > 0 && r.compares() {
		f.Notes = append(f.Notes, fmt.Sprintf("if the run is found to have regressed, each broken item is asked %d more times", r.set.confirm))
	}
	if !r.live {
		f.Notes = append(f.Notes, "the answers are replayed or the test's own: nothing is spent")
	}
	var b strings.Builder
	report.Plan(&b, f)
	return strings.TrimSuffix(b.String(), "\n")
}

// fromBaseline expects of each answer what one of the accepted run spent.
func (r *runner) fromBaseline(f *report.Forecast, b *gate.Baseline) {
	h := b.Header
	n, answers := decimal.NewFromInt(int64(h.Items)*int64(h.Samples)), decimal.NewFromInt(int64(f.Answers))
	scale := func(tokens int64) int64 {
		return decimal.NewFromInt(tokens).Mul(answers).DivRound(n, 0).IntPart()
	}
	f.Input, f.Output = scale(h.Usage.Input), scale(h.Usage.Output)
	f.JudgeInput, f.JudgeOutput = scale(h.JudgeUsage.Input), scale(h.JudgeUsage.Output)
	f.From = fmt.Sprintf("as the baseline spent for %s answers", n)
	if unknown := h.Usage.Unknown + h.JudgeUsage.Unknown; unknown > 0 {
		f.From += fmt.Sprintf(", of which %d calls did not report theirs", unknown)
	}
	for _, part := range []struct {
		who, usd string
		calls    int
	}{{"the model", h.CostUSD, h.Usage.Calls}, {"the judge", h.JudgeCostUSD, h.JudgeUsage.Calls}} {
		d, err := decimal.NewFromString(part.usd)
		if err != nil {
			if part.calls > 0 {
				f.Unpriced = append(f.Unpriced, part.who)
			}
			continue
		}
		f.Priced = true
		f.USD = f.USD.Add(d.Mul(answers).DivRound(n, 6))
	}
}

// fromPrompts estimates the input from what will be asked, a token for 4 bytes.
// How long answers are nobody knows beforehand.
func (r *runner) fromPrompts(f *report.Forecast) {
	f.OutputUnknown = true
	whole := true
	for i := range r.plan.total {
		u := r.plan.at(i)
		if r.plan.filters(r.test + "/" + u.name()) {
			continue
		}
		req, ok := run.RequestOf(r.cfg.Strategy, u.item)
		if !ok {
			whole = false
			f.Input += int64(len(u.item.Input)+3) / 4
			continue
		}
		if req.MaxOutputTokens != nil {
			f.MaxOutput += *req.MaxOutputTokens
		}
		req.MaxOutputTokens = nil
		f.Input += call.EstimateTokens(req, 0)
	}
	f.From = "estimated: one token for 4 bytes of the prompts, one attempt an item, no judge"
	if !whole {
		f.From = "estimated: one token for 4 bytes of the items' input alone, since what the strategy makes of it is not known; one attempt an item, no judge"
	}
}

// noises are what is assumed of the noise where nothing is known of it.
var noises = []float64{0, 0.02, 0.05}

// compares reports whether the run is one that is held against a baseline, if it
// has one.
func (r *runner) compares() bool { return !r.narrowed() && !r.elsewhere }

// detects says what drop the run can show.
func (r *runner) detects(b *gate.Baseline) []string {
	if !r.compares() {
		return []string{"nothing: only the whole dataset is compared"}
	}
	o := r.set.gate.Compare
	alpha := gate.DefaultAlpha
	if o.Alpha != 0 {
		alpha = o.Alpha
	}
	sure := fmt.Sprintf("with a chance of 80%% at alpha %v", alpha)
	if b != nil {
		if noise, err := b.Noise(); err == nil {
			return []string{detected(b.Detectable(noise, o)) + fmt.Sprintf(", %s; noise as in the baseline's samples, %.1f%% of items each way", sure, 100*noise)}
		}
	}
	var list []string
	for _, noise := range noises {
		test := stat.PairedTest{Alpha: alpha, Discordant: noise / float64(r.set.samples), Exact: o.Exact}
		list = append(list, detected(test.MinDrop(r.plan.ds.Len(), gate.Power))+fmt.Sprintf(", if noise flips %g%% of items each way", 100*noise))
	}
	list[0] += "; " + sure
	return list
}

func detected(drop float64, err error) string {
	var few *stat.NotEnough
	switch {
	case errors.As(err, &few):
		return fmt.Sprintf("no drop, however large: it takes %d items", few.Need)
	case err != nil:
		return "no drop: " + err.Error()
	}
	return fmt.Sprintf("a drop of %.1f points", 100*drop)
}
