package evaltest_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

const (
	stormItems    = 1319 // as many as GSM8K's test split has
	stormParallel = 250
)

// sums is a dataset of additions.
func sums(t *testing.T, n int) *dataset.Dataset {
	items := make([]dataset.Item, n)
	for i := range items {
		items[i] = dataset.Item{ID: fmt.Sprintf("sum-%04d", i), Input: fmt.Sprintf("What is %d + %d ?", i, 2*i), Target: strconv.Itoa(3 * i)}
	}
	ds, err := dataset.New("sums", items)
	require.NoError(t, err)
	return ds
}

// adds answers a sum; every seventh wrong, so that there is an accuracy to
// compare.
func adds(c llmtest.Chat) llmtest.Reply {
	var a, b int
	if _, err := fmt.Sscanf(c.Last(), "What is %d + %d ?", &a, &b); err != nil {
		return llmtest.Reply{Text: "what?"}
	}
	if a%7 == 3 {
		b++
	}
	return llmtest.Reply{Text: fmt.Sprintf("Adding both gives %d.\n#### %d", a+b, a+b)}
}

// stormed runs the sums against a server, and returns each item's record.
func stormed(t *testing.T, server *llmtest.Server) (map[string]result.Record, *evaltest.Report) {
	server.Reply = adds
	pool := &http.Transport{MaxIdleConnsPerHost: stormParallel}
	defer pool.CloseIdleConnections()
	var rep *evaltest.Report
	dir := t.TempDir()
	require.True(t, t.Run("run", func(t *testing.T) {
		m := openai.Config{Model: "fake", BaseURL: server.Start(t), KeyEnv: "STORM_TEST_KEY", HTTPClient: &http.Client{Transport: pool}}.New()
		t.Cleanup(pool.CloseIdleConnections)
		rep = evaltest.Run(t, sums(t, stormItems),
			evaltest.Ask(m, func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }),
			evaltest.Grader(grade.Numeric()), evaltest.MinAccuracy(0.5), evaltest.Dir(dir),
			evaltest.Parallel(stormParallel), evaltest.AttemptTimeout(3*time.Second))
	}))
	journal, err := result.Read(rep.Journal)
	require.NoError(t, err)
	assert.Empty(t, journal.Replaced, "one record an item")
	require.Len(t, journal.Records, stormItems)
	records := map[string]result.Record{}
	for _, rec := range journal.Records {
		records[rec.Item.ID] = rec
	}
	require.Len(t, records, stormItems)
	return records, rep
}

// TestStorm: 1,319 items at 250 in flight meet random faults, a storm of rate
// limits and two connections that hang. The answers are those of a run without,
// every token that was reported is in the record, and nothing is left behind.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("1,319 items, twice, with timeouts of 3 s: left out by -short")
	}
	calm, _ := stormed(t, &llmtest.Server{Seed: 1})
	before := runtime.NumGoroutine()

	mishaps := llmtest.Named(llmtest.FaultServerError, llmtest.FaultBadGateway, llmtest.FaultUnavailable, llmtest.FaultOverloaded,
		llmtest.FaultReset, llmtest.FaultTruncated, llmtest.FaultUsageFloats, llmtest.FaultSlowDrip)
	server := &llmtest.Server{
		Seed:    1,
		Latency: llmtest.Latency{First: llmtest.LogNormal(40*time.Millisecond, 0.5)},
		Rules: []llmtest.Rule{
			{Faults: llmtest.Named(llmtest.FaultHang), Calls: []int{300, 301}},
			llmtest.Storm(0, 700*time.Millisecond),
			{Faults: mishaps, Probability: 0.02},
		},
	}
	records, rep := stormed(t, server)

	var spent llm.UsageTotal
	tries, waited := 0, 0
	for id, rec := range records {
		want := calm[id]
		if rec.Outcome != want.Outcome || rec.Score != want.Score {
			t.Errorf("item %s is %s, and %s without faults: %+v", id, rec.Outcome, want.Outcome, rec.Error)
		}
		spent.Merge(rec.Usage)
		for _, a := range rec.Attempts {
			tries += a.Tries
			for _, try := range a.TryLog {
				if try.PauseWait > 0 {
					waited++
				}
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, server.Quiet(ctx))
	counts := server.Counts()
	t.Logf("%d calls, %d faults %v, peak %d, %d connections; %d tries in the records, %d waited for a pause; %s", counts.Calls, counts.Faults, counts.ByFault, counts.Peak, counts.Dialed, tries, waited, strings.SplitN(rep.Summary, "\n", 2)[0])
	assert.Equal(t, counts.Calls, tries, "each call that the server saw is a try in a record")
	assert.Equal(t, counts.Billed.Input-counts.Unreported.Input, spent.Input)
	assert.Equal(t, counts.Billed.Output-counts.Unreported.Output, spent.Output)
	assert.Positive(t, spent.Unknown, "broken answers may have been billed: the total says that it is at least")
	assert.Equal(t, 2, counts.ByFault[llmtest.FaultHang])
	assert.Greater(t, counts.Faults, 30, "otherwise the test shows nothing")
	assert.Positive(t, counts.ByFault["storm"])
	assert.Positive(t, waited)
	assert.Zero(t, counts.Connections, "connections left open")
	after := settle(ctx, before)
	assert.LessOrEqual(t, after, before, "goroutines were left behind")
}

// settle waits until no more than n goroutines are left, or ctx ends, and
// returns how many there are. Those of closed connections take a moment.
func settle(ctx context.Context, n int) int {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > n && ctx.Err() == nil {
		<-tick.C
	}
	return runtime.NumGoroutine()
}
