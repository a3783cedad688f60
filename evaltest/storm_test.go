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

// mishaps are faults that a later attempt heals.
var mishaps = llmtest.Named(llmtest.FaultServerError, llmtest.FaultBadGateway, llmtest.FaultUnavailable, llmtest.FaultOverloaded,
	llmtest.FaultReset, llmtest.FaultTruncated, llmtest.FaultUsageFloats, llmtest.FaultSlowDrip)

// together refuses after a while: all that are in flight then are refused
// together, as by a real provider.
var together = llmtest.Fault{Name: "together", Kind: llm.KindRateLimit, Reason: "many are refused at once",
	Answer: func(w http.ResponseWriter, r *http.Request, _ llmtest.Chat) {
		<-time.After(30 * time.Millisecond)
		llmtest.Status(429, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, "Retry-After-Ms", "700")(w, r)
	}}

func askInput(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }

// byItem returns the records of a run's journal, of which each item has one.
func byItem(t *testing.T, rep *evaltest.Report, items int) map[string]result.Record {
	t.Helper()
	journal, err := result.Read(rep.Journal)
	require.NoError(t, err)
	assert.Empty(t, journal.Replaced, "one record an item")
	require.Len(t, journal.Records, items)
	records := map[string]result.Record{}
	for _, rec := range journal.Records {
		records[rec.Item.ID] = rec
	}
	require.Len(t, records, items)
	return records
}

// stormed runs the sums against a server in memory, in virtual time.
func stormed(t *testing.T, server *llmtest.Server) (map[string]result.Record, *evaltest.Report) {
	t.Helper()
	server.Reply = adds
	var rep *evaltest.Report
	var records map[string]result.Record
	require.True(t, t.Run("run", func(t *testing.T) {
		rep = evaltest.RunInBubble(t, sums(t, stormItems), evaltest.Ask(modelAt(llmtest.OpenAI, server), askInput),
			evaltest.Grader(grade.Numeric()), evaltest.MinAccuracy(0.5), evaltest.Parallel(stormParallel),
			evaltest.AttemptTimeout(3*time.Second), evaltest.Dir(t.TempDir()))
		records = byItem(t, rep, stormItems)
	}))
	return records, rep
}

// told compares what the records say with what the server counted. It returns
// how many tries waited for a pause.
func told(t *testing.T, records map[string]result.Record, counts llmtest.Counts) (waited int) {
	t.Helper()
	var spent llm.UsageTotal
	tries := 0
	for _, rec := range records {
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
	assert.Equal(t, counts.Calls, tries, "each call that the server saw is a try in a record")
	assert.Equal(t, counts.Billed.Input-counts.Unreported.Input, spent.Input)
	assert.Equal(t, counts.Billed.Output-counts.Unreported.Output, spent.Output)
	assert.Positive(t, spent.Unknown, "broken answers may have been billed: the total says that it is at least")
	return waited
}

// TestStorm: 1,319 items at 250 in flight meet random faults, a storm of rate
// limits and two connections that hang. The answers are those of a run without,
// every token that was reported is in the record, and nothing is left behind.
func TestStorm(t *testing.T) {
	calm, _ := stormed(t, &llmtest.Server{Seed: 1})
	server := &llmtest.Server{
		Seed:    1,
		Latency: llmtest.Latency{First: llmtest.LogNormal(40*time.Millisecond, 0.5)},
		Rules: []llmtest.Rule{
			{Faults: llmtest.Named(llmtest.FaultHang), Calls: []int{300, 301}},
			{For: 20 * time.Millisecond, Faults: []llmtest.Fault{together}},
			llmtest.Storm(1500*time.Millisecond, 700*time.Millisecond),
			{Faults: mishaps, Probability: 0.02},
		},
	}
	records, rep := stormed(t, server)
	for id, rec := range records {
		want := calm[id]
		if rec.Outcome != want.Outcome || rec.Score != want.Score {
			t.Errorf("item %s is %s, and %s without faults: %+v", id, rec.Outcome, want.Outcome, rec.Error)
		}
	}
	counts := server.Counts()
	waited := told(t, records, counts)
	t.Logf("%d calls, %d faults %v, peak %d; %d waited for a pause; %s", counts.Calls, counts.Faults, counts.ByFault, counts.Peak, waited, strings.SplitN(rep.Summary, "\n", 2)[0])
	assert.Equal(t, 2, counts.ByFault[llmtest.FaultHang])
	assert.Greater(t, counts.Faults-counts.ByFault[together.Name]-counts.ByFault["storm"], 15, "otherwise the test shows nothing")
	assert.Equal(t, stormParallel, counts.ByFault[together.Name], "all that were in flight, and nobody after them")
	assert.Positive(t, counts.ByFault["storm"], "and again later")
	assert.Equal(t, stormParallel, counts.Peak)
	assert.GreaterOrEqual(t, waited, stormParallel)
	assert.Zero(t, counts.InFlight)
	assert.Zero(t, counts.OpenBodies, "answers that nobody closed")
}

// TestStormOverSockets is the same over real connections, in real time and
// without what only a timeout ends: how fast this machine is decides nothing.
// No connection and no goroutine is left.
func TestStormOverSockets(t *testing.T) {
	if testing.Short() {
		t.Skip("sockets and real time: left out by -short")
	}
	const items, parallel = 400, 100
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // where all is well, far less
	defer cancel()
	run := func(name string, server *llmtest.Server, n int) (records map[string]result.Record) {
		server.Reply = adds
		pool := &http.Transport{MaxIdleConnsPerHost: parallel}
		m := openai.Config{Model: "fake", BaseURL: server.Start(t), KeyEnv: "STORM_TEST_KEY", HTTPClient: &http.Client{Transport: pool}}.New()
		require.True(t, t.Run(name, func(t *testing.T) {
			rep := evaltest.Run(t, sums(t, n), evaltest.Ask(m, askInput), evaltest.Grader(grade.Numeric()),
				evaltest.MinAccuracy(0.5), evaltest.Parallel(parallel), evaltest.Dir(t.TempDir()))
			records = byItem(t, rep, n)
		}))
		require.NoError(t, server.Quiet(ctx))
		pool.CloseIdleConnections()
		assert.Zero(t, settle(ctx, 0, func() int { return server.Counts().Connections }), "connections left open")
		return records
	}
	run("calm", &llmtest.Server{}, 1) // begins what a process keeps, such as its watch of signals
	before := runtime.NumGoroutine()
	server := &llmtest.Server{Seed: 2, Rules: []llmtest.Rule{
		llmtest.Storm(0, 200*time.Millisecond),
		{Faults: mishaps, Probability: 0.05},
	}}
	told(t, run("storm", server, items), server.Counts())
	listener := 1 // of the second server, until the test ends
	assert.LessOrEqual(t, settle(ctx, before+listener, runtime.NumGoroutine), before+listener, "goroutines were left behind")
}

// settle waits until count is at most n, or ctx ends, and returns what it is.
// Closed connections and their goroutines take a moment.
func settle(ctx context.Context, n int, count func() int) int {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for count() > n && ctx.Err() == nil {
		<-tick.C
	}
	return count()
}
