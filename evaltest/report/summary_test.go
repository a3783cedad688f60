package report_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

func TestSummaryConcurrent(t *testing.T) {
	rs := outcomes(map[result.Outcome]int{result.Correct: 300, result.Incorrect: 100, result.Errored: 50})
	s := report.New(report.Labels{Samples: 1})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < len(rs); i += 8 {
				s.Add(rs[i])
				_ = s.Stats().Total
			}
		})
	}
	wg.Wait()
	assert.Equal(t, statsOf(report.Labels{Samples: 1}, rs), s.Stats())
}

// TestAddSpent: what was spent on an answer that a later one replaced counts,
// and nothing else of it does.
func TestAddSpent(t *testing.T) {
	again := record(0, result.Errored)
	again.CostUSD, again.Usage = "0.0030", llm.UsageTotal{Usage: llm.Usage{Input: 7, Output: 1, Known: true}, Calls: 2}
	again.JudgeCostUSD, again.JudgeUsage = "0.0002", llm.UsageTotal{Usage: llm.Usage{Input: 3, Known: true}, Calls: 1}
	unknown := record(1, result.NotRun)
	unknown.Usage = llm.UsageTotal{Calls: 1, Unknown: 1}
	s := report.New(report.Labels{})
	s.Add(record(0, result.Correct))
	want := s.Stats()
	s.AddSpent(again)
	s.AddSpent(unknown)
	s.AddSpent(record(2, result.NotRun)) // never started: nothing was spent
	got := s.Stats()
	assert.Equal(t, 107, int(got.Usage.Input))
	assert.Equal(t, 21, int(got.Usage.Output))
	assert.Equal(t, 4, got.Usage.Calls)
	assert.Equal(t, 1, got.Usage.Unknown)
	assert.Equal(t, "0.0042", got.Cost.Billed.USD.String())
	assert.Equal(t, 1, got.Cost.Billed.Unpriced)
	assert.Equal(t, 1, got.JudgeUsage.Calls)
	assert.Equal(t, "0.0002", got.JudgeCost.Billed.USD.String())
	assert.Equal(t, 2, got.Replaced)
	var text strings.Builder
	require.NoError(t, report.Text(&text, got, report.Options{}))
	assert.Contains(t, text.String(), "again     tokens and cost include 2 earlier answers, since replaced\n")

	got.Usage, got.JudgeUsage, got.Cost, got.JudgeCost, got.Replaced = want.Usage, want.JudgeUsage, want.Cost, want.JudgeCost, 0
	assert.Equal(t, want, got)
}

func TestStatsAreACopy(t *testing.T) {
	s := report.New(report.Labels{Overrides: []report.Override{{ID: "a"}}})
	s.Add(record(0, result.Correct))
	before := s.Stats()
	before.Outcomes[result.Correct] = 99
	before.Overrides[0].ID = "changed"
	s.Add(record(1, result.Correct))
	after := s.Stats()
	assert.Equal(t, 2, after.Correct())
	assert.Equal(t, "a", after.Overrides[0].ID)
	assert.Equal(t, 1, before.Recorded)
}

func TestLatency(t *testing.T) {
	ms := func(v ...int) []time.Duration {
		var d []time.Duration
		for _, x := range v {
			d = append(d, time.Duration(x)*time.Millisecond)
		}
		return d
	}
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = 100 - i
	}
	for _, tt := range []struct {
		name, reason       string
		in                 []time.Duration
		n                  int
		p50, p90, p99, max int // ms
	}{
		{"none", "no value, no percentile", nil, 0, 0, 0, 0, 0},
		{"one", "every percentile is the one value", ms(7), 1, 7, 7, 7, 7},
		{"two", "half of them do not exceed the first", ms(9, 7), 2, 7, 9, 9, 9},
		{"ten", "nearest rank: the 5th, 9th and 10th", ms(10, 9, 8, 7, 6, 5, 4, 3, 2, 1), 10, 5, 9, 10, 10},
		{"hundred", "the 50th, 90th and 99th", ms(hundred...), 100, 50, 90, 99, 100},
		{"unknown", "0 is no latency", ms(0, 0, 7), 1, 7, 7, 7, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := report.New(report.Labels{})
			for i, d := range tt.in {
				r := record(i, result.Correct)
				r.Latency = d
				s.Add(r)
			}
			l := s.Stats().Latency
			want := ms(tt.p50, tt.p90, tt.p99, tt.max)
			assert.Equal(t, tt.n, l.N)
			assert.Equal(t, want, []time.Duration{l.P50, l.P90, l.P99, l.Max}, tt.reason)
		})
	}
}

func TestItemsAndConsistency(t *testing.T) {
	s := statsOf(report.Labels{Samples: 4, Planned: 40}, samples())
	assert.Equal(t, 10, s.Items, "two of them never ran")
	assert.Equal(t, report.Consistency{
		Items: 8, All: 4, Some: 3, None: 1, K: 4, PassAt: 7. / 8, PassAll: 4. / 8, Majority: 7, Split: s.Consistency.Split,
	}, s.Consistency)
	// 25 of 32 correct; the items' shares are 1 four times, 0.75 three times and 0:
	// their variance is that of Mean times 8, and Within the mean of p(1-p)·4/3.
	require.NotNil(t, s.Consistency.Split)
	assert.InDelta(t, 25./32, s.Consistency.Split.Mean, 1e-12)
	assert.InDelta(t, 3*0.75*0.25*4/3/8, s.Consistency.Split.Within, 1e-12)
	assert.Equal(t, s.Consistency, statsOf(report.Labels{}, samples()).Consistency, "known from the records alone")
	assert.Equal(t, 8, statsOf(report.Labels{}, samples()).Items)
	assert.Zero(t, statsOf(report.Labels{}, spent()).Consistency, "one answer an item has nothing to agree with")
}

func TestScores(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		scores       []float64
		mean         float64
		has          bool
	}{
		{"marks only", "the mean is the accuracy", []float64{1, 0, 1, 1}, 0.75, false},
		{"partial credit", "", []float64{1, 0.5, 0.25, 0}, 0.4375, true},
		{"tenths", "no drift: ten times 0.1 of ten", slices.Repeat([]float64{0.1}, 10), 0.1, true},
		{"damaged", "what is no score counts 0", []float64{1, math.NaN(), -3, 7}, 0.25, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := report.New(report.Labels{})
			for i, v := range tt.scores {
				r := record(i, result.Incorrect)
				r.Score = v
				s.Add(r)
			}
			assert.Equal(t, tt.mean, s.Stats().MeanScore, tt.reason)
			assert.Equal(t, tt.has, s.Stats().HasScores, tt.reason)
		})
	}
}

// TestHostileGrowth: nothing that a journal holds grows the summary or the text
// without end.
func TestHostileGrowth(t *testing.T) {
	s := report.New(report.Labels{Samples: 1})
	const n = 12_000
	attempts := make([]result.Attempt, 1500)
	for i := range n {
		r := record(i, result.Errored)
		id := fmt.Sprint(i)
		r.Outcome = result.Outcome("o" + id)
		r.Error.Kind = llm.ErrorKind("k" + id)
		r.Error.Message = strings.Repeat("m", 10_000)
		r.Item.Group = "g" + id
		r.Warnings = []string{"w" + id}
		r.Response = &llm.Response{Model: "m" + id, Warnings: []string{"v" + id}}
		r.Attempts = attempts[:i%len(attempts)]
		s.Add(r)
	}
	st := s.Stats()
	assert.LessOrEqual(t, len(st.Outcomes), 65)
	assert.LessOrEqual(t, len(st.Errors), 65)
	assert.LessOrEqual(t, len(st.Groups), 10_001)
	assert.LessOrEqual(t, len(st.Models), 21)
	assert.LessOrEqual(t, len(st.Warnings), 50)
	assert.Equal(t, 2*n, 50+st.MoreWarnings, "what is not listed is counted")
	sum, errs, groups := 0, 0, 0
	for _, c := range st.Outcomes {
		sum += c
	}
	for _, e := range st.Errors {
		errs += e.Count
		assert.LessOrEqual(t, len(e.Message), 2000)
	}
	for _, g := range st.Groups {
		groups += g.Total
	}
	assert.Equal(t, []int{n, n, n}, []int{sum, errs, groups}, "nothing is lost")
}

func TestLabelsOf(t *testing.T) {
	h := result.Header{Test: "TestX", Strategy: "Ask", Samples: 4, Dataset: result.Dataset{Path: "a.jsonl", Items: 10, Selection: "limit 10"}}
	assert.Equal(t, report.Labels{Name: "TestX", Strategy: "Ask", Dataset: "a.jsonl (limit 10)", Planned: 40, Samples: 4}, report.LabelsOf(h))
	assert.Zero(t, report.LabelsOf(result.Header{}))
}

// Every kind that the contract knows has something to do about it.
func TestEveryErrorKindHasAHint(t *testing.T) {
	for _, k := range []llm.ErrorKind{
		llm.KindUnknown, llm.KindAuth, llm.KindBalance, llm.KindRateLimit, llm.KindQuota, llm.KindBadRequest, llm.KindNotFound,
		llm.KindContext, llm.KindBlocked, llm.KindServer, llm.KindConnection, llm.KindIncomplete, llm.KindBadResponse,
		llm.KindTimeout, llm.KindCanceled, llm.KindMiss, llm.KindPanic, llm.KindUnusable, "",
	} {
		r := record(0, result.Errored)
		r.Error.Kind = k
		assert.Contains(t, textOf(t, statsOf(report.Labels{}, []*result.Record{r})), "to do: ", k)
	}
}

func BenchmarkAdd(b *testing.B) {
	rs := outcomes(map[result.Outcome]int{result.Correct: 800, result.Incorrect: 150, result.Errored: 50})
	s := report.New(report.Labels{Samples: 1})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Add(rs[i%len(rs)])
	}
}

// TestNotRunIsNoError: why a run stopped is told once, not as an error of every
// item that it cut.
func TestNotRunIsNoError(t *testing.T) {
	cut := record(0, result.NotRun)
	cut.Error = &result.Error{Kind: llm.KindCanceled, Message: "interrupted in attempt 1: SIGINT"}
	assert.Empty(t, statsOf(report.Labels{}, []*result.Record{cut}).Errors)
	cut.Abandoned = true
	assert.Len(t, statsOf(report.Labels{}, []*result.Record{cut}).Errors, 1, "who ignored that is told")
}

// A provider that was busy explains why a run took long, and why one that was
// interrupted had no answers.
func TestWaits(t *testing.T) {
	limited := result.Try{Error: &result.Error{Kind: llm.KindRateLimit, Message: "HTTP 429", Status: 429}}
	tried := func(i int, o result.Outcome, tries ...result.Try) *result.Record {
		r := record(i, o)
		r.Attempts = []result.Attempt{{Number: 1, TryLog: tries}}
		return r
	}
	unsent := limited
	unsent.Unsent, unsent.PauseWait = true, 5*time.Second
	for _, c := range []struct {
		name, reason string
		records      []*result.Record
		want         string
	}{
		{"nothing waited", "nothing is said", []*result.Record{record(0, result.Correct)}, ""},
		{"a moment for a limit", "a scope makes nearly every call wait for one", []*result.Record{tried(0, result.Correct, result.Try{LimitWait: time.Millisecond})}, ""},
		{"a storm", "calls, answers, and the longest wait of one", []*result.Record{
			tried(0, result.Correct, limited, result.Try{PauseWait: 2 * time.Second}),
			tried(1, result.Correct, limited, result.Try{Error: limited.Error, PauseWait: time.Second}, result.Try{PauseWait: 3 * time.Second}),
			record(2, result.Correct),
		}, "waits     3 calls met a rate limit; 2 answers paused for one, up to 4s\n"},
		{"interrupted", "a call that was never made met no limit, but waited", []*result.Record{tried(0, result.NotRun, limited, unsent)},
			"waits     1 call met a rate limit; 1 answer paused for one, up to 5s\n"},
		{"limits of one's own", "requests and tokens a minute, and slots", []*result.Record{
			tried(0, result.Correct, result.Try{LimitWait: time.Second, SlotWait: 2 * time.Second}), tried(1, result.Correct, result.Try{SlotWait: time.Second}),
		}, "waits     2 answers waited for the scope's own limits, up to 3s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := textOf(t, statsOf(report.Labels{}, c.records))
			if c.want == "" {
				assert.NotContains(t, text, "waits", c.reason)
				return
			}
			assert.Contains(t, text, c.want, c.reason)
		})
	}
}

// Calls that a stopped scope did not make say what another call met.
func TestExampleOfAnError(t *testing.T) {
	stopped, met := record(1, result.Errored), record(2, result.Errored)
	stopped.Error = &result.Error{Kind: llm.KindAuth, Message: call.ErrStopped.Error() + ": HTTP 401"}
	met.Error = &result.Error{Kind: llm.KindAuth, Message: "HTTP 401"}
	for _, rs := range [][]*result.Record{{stopped, met}, {met, stopped}} {
		assert.Contains(t, textOf(t, statsOf(report.Labels{}, rs)), "2 auth, such as q002: HTTP 401\n")
	}
}

// An application whose calls do not go through the transport is told so.
func TestUnseenApplication(t *testing.T) {
	r := record(0, result.Correct)
	r.Usage, r.CostUSD = llm.UsageTotal{Calls: 1, Unknown: 1}, ""
	const hint = "are seen through wire.Transport"
	assert.Contains(t, textOf(t, statsOf(report.Labels{Strategy: "app support.Route"}, []*result.Record{r})), hint)
	assert.NotContains(t, textOf(t, statsOf(report.Labels{Strategy: "ask openai m"}, []*result.Record{r})), hint)
}

// A model that the strategy is named after is not named twice.
func TestModelOnce(t *testing.T) {
	r := record(0, result.Correct)
	assert.Contains(t, textOf(t, statsOf(report.Labels{Name: "T", Strategy: "ask openai small-1", Dataset: "sums"}, []*result.Record{r})), "run       T, ask openai small-1, sums\n")
	assert.Contains(t, textOf(t, statsOf(report.Labels{Name: "T", Strategy: "ask openai small", Dataset: "sums"}, []*result.Record{r})), "run       T, ask openai small, small-1, sums\n", "what answered is another snapshot")
}
