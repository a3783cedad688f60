package evaltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// raceInBubble races in a bubble, where only waiting takes time, until b's
// second is up.
func raceInBubble(t *testing.T, items int, m *llmtest.Model, legs []Leg, opts ...Option) (*bakeoff.Race, *Report, error) {
	t.Helper()
	return raceAs(t, newFake(t), items, m, legs, opts...)
}

// raceAs is raceInBubble with an environment.
func raceAs(t *testing.T, f *fake, items int, m *llmtest.Model, legs []Leg, opts ...Option) (race *bakeoff.Race, rep *Report, err error) {
	t.Helper()
	rows := make([]dataset.Item, items)
	for i := range rows {
		rows[i] = dataset.Item{ID: fmt.Sprint(i), Input: fmt.Sprint("question ", i), Target: "ok"}
	}
	ds, err := dataset.New("rows", rows)
	require.NoError(t, err)
	f.testFlags["benchtime"] = "3x" // a live model's must be a number; testing itself goes by its own flag
	ask := Ask(m, func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) })
	f.bubble(t, func() {
		testing.Benchmark(func(b *testing.B) {
			race, rep, err = raceWith(&f.hooks, b, place{"m", "m/pkg", "x_test.go", 7}, ds, ask, legs, append(opts, Grader(grade.Exact())))
			if err != nil {
				b.SkipNow() // it has not looped
			}
		})
		time.Sleep(2 * time.Hour) // of the bubble: what a leg left behind ends
	})
	return race, rep, err
}

func constant(d time.Duration) func(int, llm.Request) time.Duration {
	return func(int, llm.Request) time.Duration { return d }
}

// TestRaceSpeedup: with a fixed latency a run is as many times as fast as one
// call after another as calls run at once, and exactly as fast as a plain pool.
func TestRaceSpeedup(t *testing.T) {
	for _, row := range []struct {
		name, reason    string
		items, parallel int
	}{
		{"waves", "4 waves", 40, 10},
		{"few items", "no more than items", 7, 16},
		{"one", "nothing to gain, nothing lost", 5, 1},
		{"many", "250 at once", 500, 250},
	} {
		t.Run(row.name, func(t *testing.T) {
			race, rep, err := raceInBubble(t, row.items, &llmtest.Model{Latency: constant(100 * time.Millisecond)},
				[]Leg{SequentialLeg(), ChunkedLeg(), PoolLeg()}, Parallel(row.parallel))
			require.NoError(t, err)
			require.False(t, rep.Failed(), rep.text())
			best := float64(min(row.parallel, row.items))
			assert.GreaterOrEqual(t, race.Ratio(bakeoff.Sequential), 0.95*best, row.reason)
			assert.LessOrEqual(t, race.Ratio(bakeoff.Sequential), best, "no faster than the calls allow")
			assert.InDelta(t, 1, race.Ratio(bakeoff.Pool), 1e-9, row.reason)
			for _, pass := range race.Passes {
				for _, lap := range pass {
					assert.Equal(t, row.items, lap.Correct, "%s does the same work", lap.Leg)
					assert.Equal(t, row.items, lap.Usage.Calls, lap.Leg)
				}
			}
			assert.Equal(t, min(row.parallel, row.items), race.Warmup.Answered, "as many connections as calls at once")
		})
	}
}

// TestRaceChunks: where times differ, chunks wait for their slowest item; a run
// does not.
func TestRaceChunks(t *testing.T) {
	latency := func(_ int, req llm.Request) time.Duration {
		var n int
		_, _ = fmt.Sscanf(req.Messages[0].Content, "question %d", &n)
		return time.Duration(10+90*(n%10)/9) * time.Millisecond // 10 … 100
	}
	race, _, err := raceInBubble(t, 400, &llmtest.Model{Latency: latency}, []Leg{ChunkedLeg(), PoolLeg()}, Parallel(20))
	require.NoError(t, err)
	assert.Greater(t, race.Ratio(bakeoff.Chunked), 1.4, "400 items of 55 ms by 20 are 1.1 s; 20 chunks of 100 ms are 2 s")
	assert.InDelta(t, 1, race.Ratio(bakeoff.Pool), 0.05)
}

// TestRaceTurns: another leg begins each pass, and that of the next race of the
// same name goes on from there.
func TestRaceTurns(t *testing.T) {
	legs := []Leg{SequentialLeg(), PoolLeg()}
	order := func(pass []bakeoff.Lap) (names []string) {
		for _, lap := range pass {
			names = append(names, lap.Leg)
		}
		return names
	}
	var first []string
	for range 3 { // each a few passes
		race, _, err := raceInBubble(t, 2, &llmtest.Model{Latency: constant(200 * time.Millisecond)}, legs, Parallel(2))
		require.NoError(t, err)
		for _, pass := range race.Passes {
			assert.ElementsMatch(t, []string{"sequential", "pool", "ours"}, order(pass))
			first = append(first, pass[0].Leg)
			for _, lap := range pass {
				assert.Equal(t, 2, lap.Correct, "of this pass alone")
				assert.Equal(t, 2, lap.Usage.Calls, "of this pass alone")
			}
		}
	}
	require.Greater(t, len(first), 3)
	for i := range len(first) - 3 {
		assert.Equal(t, first[i], first[i+3])
		assert.NotEqual(t, first[i], first[i+1])
	}
}

// TestRaceOneAttempt: a run makes no more attempts in a race than plain legs
// do, whatever its options say.
func TestRaceOneAttempt(t *testing.T) {
	vague := &llmtest.Model{Latency: constant(time.Second), Reply: func(int, llm.Request) (llm.Response, error) {
		return llm.Response{Text: ""}, nil // nothing to grade
	}}
	asked := judgeFunc(func() { t.Error("a judge was asked") })
	race, _, err := raceInBubble(t, 4, vague, []Leg{PoolLeg()}, Parallel(2), Attempts(3), Judge(asked))
	require.NoError(t, err)
	for _, lap := range race.Passes[0] {
		assert.Equal(t, 4, lap.Usage.Calls, lap.Leg)
		assert.Zero(t, lap.Correct, lap.Leg)
	}
	wrong := &llmtest.Model{Latency: constant(time.Second), Reply: func(int, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "wrong"}, nil
	}}
	_, _, err = raceInBubble(t, 4, wrong, []Leg{PoolLeg()}, Parallel(2), Judge(asked), JudgeIncorrect())
	require.NoError(t, err)
}

// judgeFunc is a judge that tells when it is asked.
func judgeFunc(asked func()) grade.Grader {
	return grade.Func(func(context.Context, dataset.Item, llm.Response) (grade.Verdict, error) {
		asked()
		return grade.Verdict{Mark: grade.Ungraded}, nil
	})
}

// TestRaceErrors: what a leg lost is counted, and a model that answers nobody
// fails the race and says why.
func TestRaceErrors(t *testing.T) {
	busy := &llm.Error{Kind: llm.KindBadRequest, Provider: "fake", Status: 400, Message: "no such field"}
	some := &llmtest.Model{Latency: constant(time.Second), Fault: func(_ int, req llm.Request) (f llmtest.ModelFault) {
		if req.Messages[0].Content == "question 3" {
			f.Err = busy
		}
		return f
	}}
	race, rep, err := raceInBubble(t, 6, some, []Leg{PoolLeg()}, Parallel(2), MaxErrored(100))
	require.NoError(t, err)
	assert.False(t, rep.Failed(), rep.text())
	for _, lap := range race.Passes[0] {
		assert.Equal(t, 1, lap.Errors, lap.Leg)
		assert.Equal(t, 5, lap.Answered, lap.Leg)
		assert.Equal(t, 5, lap.Correct, lap.Leg)
	}
	none := &llmtest.Model{Fault: func(int, llm.Request) llmtest.ModelFault { return llmtest.ModelFault{Err: busy} }}
	_, rep, err = raceInBubble(t, 6, none, []Leg{PoolLeg()}, Parallel(2))
	require.NoError(t, err)
	assert.True(t, rep.Failed())
	assert.Contains(t, rep.text(), "no such field")
	panics := &llmtest.Model{Latency: constant(time.Second), Fault: func(int, llm.Request) llmtest.ModelFault { return llmtest.ModelFault{Panic: "bug"} }}
	race, _, err = raceInBubble(t, 3, panics, []Leg{SequentialLeg()}, MaxErrored(100))
	require.NoError(t, err)
	assert.Equal(t, 3, race.Passes[0][0].Errors, "a panic is an error of its item")
}

// TestRaceBudget: what plain legs spend counts.
func TestRaceBudget(t *testing.T) {
	m := &llmtest.Model{Latency: constant(time.Second), Log: true, Usage: func(int, llm.Request, llm.Response) llm.Usage {
		return llm.Usage{Input: 10, Output: 10, Known: true}
	}}
	race, rep, err := raceInBubble(t, 10, m, []Leg{SequentialLeg()}, Parallel(2), MaxTokens(100))
	require.NoError(t, err)
	assert.True(t, rep.Failed())
	assert.Contains(t, rep.text(), "100")
	assert.LessOrEqual(t, m.Calls(), 6, "5 calls are 100 tokens, one may be in flight")
	assert.Equal(t, int64(40), race.Warmup.Usage.Input+race.Warmup.Usage.Output)
}

func TestRaceRefuses(t *testing.T) {
	run := Leg{"a", func(int, int, func(int)) {}}
	for _, row := range []struct {
		name, reason, want string
		legs               []Leg
		opts               []Option
	}{
		{"no legs", "nothing to compare with", "no legs", nil, nil},
		{"no name", "it stands in a unit", `leg ""`, []Leg{{"", run.Go}}, nil},
		{"space", "a unit has none", `leg "a b"`, []Leg{{"a b", run.Go}}, nil},
		{"slash", "benchstat reads a ratio", `leg "a/b"`, []Leg{{"a/b", run.Go}}, nil},
		{"ours", "that is the library's", `leg "ours": there is another`, []Leg{{"ours", run.Go}}, nil},
		{"twice", "one metric for two", `leg "a": there is another`, []Leg{run, run}, nil},
		{"nil", "it would panic", "Go is nil", []Leg{{"a", nil}}, nil},
		{"samples", "plain legs ask once", "2 samples", []Leg{run}, []Option{Samples(2)}},
		{"failed", "a part", "whole passes", []Leg{run}, []Option{Failed()}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, _, err := raceInBubble(t, 3, &llmtest.Model{}, row.legs, row.opts...)
			assert.ErrorContains(t, err, row.want, row.reason)
		})
	}
}

// TestLegs: each leg does each item once, and as many at once as it may, neither
// fewer nor more.
func TestLegs(t *testing.T) {
	for _, leg := range []struct {
		Leg
		atOnce func(items, parallel int) int
	}{
		{SequentialLeg(), func(items, _ int) int { return min(items, 1) }},
		{ChunkedLeg(), func(items, parallel int) int { return min(items, parallel) }},
		{PoolLeg(), func(items, parallel int) int { return min(items, parallel) }},
	} {
		for _, row := range []struct {
			name, reason    string
			items, parallel int
		}{
			{"nothing", "it returns all the same", 0, 3},
			{"one", "fewer items than may run at once", 1, 3},
			{"a rest", "the last chunk is not full", 7, 3},
			{"whole chunks", "no empty one follows", 9, 3},
			{"one at once", "all are then sequential", 5, 1},
		} {
			t.Run(leg.Name+"/"+row.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					want := leg.atOnce(row.items, row.parallel)
					did, peak := work(leg.Leg, row.items, row.parallel, want)
					assert.Len(t, did, row.items, row.reason)
					for i, k := range did {
						assert.Equal(t, 1, k, "item %d", i)
					}
					assert.Equal(t, want, peak, "at once; %s", row.reason)
				})
			})
		}
	}
}

// work lets a leg do items of which the first ones wait until so many are
// running, or for an hour of the bubble. It returns how often each was done, and
// the most at once.
func work(leg Leg, items, parallel, atOnce int) (did map[int]int, peak int) {
	var mu sync.Mutex
	did = map[int]int{}
	now, full := 0, make(chan struct{})
	leg.Go(items, parallel, func(i int) {
		mu.Lock()
		did[i]++
		now++
		if peak = max(peak, now); now == atOnce {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		select {
		case <-full:
			<-time.After(time.Second) // of the bubble: one too many would come by then
		case <-time.After(time.Hour):
		}
		mu.Lock()
		defer mu.Unlock()
		now--
	})
	return did, peak
}

// TestRaceParity: over interleaved passes in real time, with nothing but short
// waits, a run is as fast as a plain pool. The least of the times are compared:
// what else the machine does only adds. There are few calls a second: what one
// costs in itself is BenchmarkThroughput's to say.
func TestRaceParity(t *testing.T) {
	if os.Getenv("EVALS_TEST_PARITY") == "" {
		t.Skip("measures real time: set EVALS_TEST_PARITY on a machine that does nothing else, without the race detector")
	}
	m := &llmtest.Model{Latency: constant(40 * time.Millisecond), Forget: true}
	rows := make([]dataset.Item, 200)
	for i := range rows {
		rows[i] = dataset.Item{Input: "question", Target: "ok"}
	}
	ds, err := dataset.New("rows", rows)
	require.NoError(t, err)
	f := newFake(t)
	f.testFlags["benchtime"] = "1x"
	ask := Ask(m, func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) })
	var race *bakeoff.Race
	testing.Benchmark(func(b *testing.B) { // for about a second
		race, _, err = raceWith(&f.hooks, b, place{"m", "m/pkg", "x_test.go", 7}, ds, ask, []Leg{PoolLeg()}, []Option{Grader(grade.Exact()), Parallel(25)})
	})
	require.NoError(t, err)
	ours, pool := slices.Min(race.Walls(bakeoff.Ours)), slices.Min(race.Walls(bakeoff.Pool))
	t.Logf("%d passes: ours %v, pool %v; median ratio %.3f", len(race.Passes), ours, pool, race.Ratio(bakeoff.Pool))
	assert.LessOrEqual(t, float64(ours), 1.1*float64(pool))
}

// TestRaceLegs: a leg that does not do the work is no rival, and says what it
// did; one that hangs does not hang the race once that is stopped.
func TestRaceLegs(t *testing.T) {
	whole := PoolLeg().Go
	for _, row := range []struct {
		name, reason, want string
		work               func(items, parallel int, do func(int))
	}{
		{"half", "it would be twice as fast", "did item 3 0 times", func(n, p int, do func(int)) { whole(n/2, p, do) }},
		{"none", "it would be fastest", "did item 0 0 times", func(int, int, func(int)) {}},
		{"twice", "it would pay twice", "did item 0 2 times", func(n, p int, do func(int)) { whole(n, p, do); whole(n, p, do) }},
		{"one for all", "as many calls, other work", "did item 0 6 times", func(n, _ int, do func(int)) {
			for range n {
				do(0)
			}
		}},
		{"beyond", "there is no such item", "called do(6), and the items are 0 to 5", func(n, _ int, do func(int)) { do(n) }},
		{"before", "there is no such item", "called do(-1)", func(_, _ int, do func(int)) { do(-1) }},
		{"panic", "it must not end the process", `leg "odd" panicked: boom`, func(int, int, func(int)) { panic("boom") }},
		{"too many", "it would be faster than it may", "did 6 items at once, and may do 2", func(n, _ int, do func(int)) { whole(n, n, do) }},
		{"runs away", "its calls would run into the next lap", "returned while 6 of its calls were running", func(n, _ int, do func(int)) {
			var begun sync.WaitGroup
			for i := range n {
				begun.Add(1)
				go func() { begun.Done(); do(i) }()
			}
			begun.Wait()
			time.Sleep(time.Millisecond) // in a bubble: until all of them wait
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, rep, err := raceInBubble(t, 6, &llmtest.Model{Latency: constant(100 * time.Millisecond)}, []Leg{{"odd", row.work}}, Parallel(2))
			require.ErrorContains(t, err, row.want, row.reason)
			assert.ErrorContains(t, err, `leg "odd"`)
			require.NotNil(t, rep, "the journal is closed")
		})
	}
	t.Run("hangs", func(t *testing.T) {
		hang := Leg{"odd", func(int, int, func(int)) { time.Sleep(time.Hour) }} // of the bubble
		_, _, err := raceInBubble(t, 6, &llmtest.Model{Latency: constant(time.Second)}, []Leg{hang}, Parallel(2), RunTimeout(time.Minute))
		assert.ErrorContains(t, err, `leg "odd" did not return within 10s of the run's stop`)
	})
}

// TestRaceAlike: what a run takes for an answer, and does not grade, a plain leg
// does too.
func TestRaceAlike(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		reply        llm.Response
		err          error
		answered     int
	}{
		{"cut", "it would be right by luck", llm.Response{Text: "ok", Finish: llm.FinishLength}, nil, 4},
		{"filtered", "as cut", llm.Response{Text: "ok", Finish: llm.FinishContentFilter}, nil, 4},
		{"refused", "as cut", llm.Response{Text: "ok", Finish: llm.FinishRefusal}, nil, 4},
		{"a refusal", "in a field of its own", llm.Response{Text: "ok", Refusal: "no"}, nil, 4},
		{"blocked", "an answer of its kind, no lost call", llm.Response{}, &llm.Error{Kind: llm.KindBlocked, Message: "no"}, 4},
		{"unusable", "the strategy says so", llm.Response{Text: "ok"}, llm.Unusable(errors.New("no")), 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := &llmtest.Model{Latency: constant(time.Second), Reply: func(int, llm.Request) (llm.Response, error) { return row.reply, row.err }}
			race, _, err := raceInBubble(t, 4, m, []Leg{PoolLeg()}, Parallel(2), MaxErrored(100))
			require.NoError(t, err)
			for _, lap := range race.Passes[0] {
				assert.Equal(t, row.answered, lap.Answered, "%s: %s", lap.Leg, row.reason)
				assert.Zero(t, lap.Correct, "%s: %s", lap.Leg, row.reason)
				assert.Zero(t, lap.Errors, "%s: %s", lap.Leg, row.reason)
			}
		})
	}
}

// TestRacePass: where each pass is a process of its own, the legs take turns
// all the same.
func TestRacePass(t *testing.T) {
	for _, row := range []struct {
		name, reason, value, first, fails string
	}{
		{"none", "the first pass begins with the first leg", "", "sequential", ""},
		{"zero", "no pass was before", "0", "sequential", ""},
		{"one", "the next begins with the second", "1", "pool", ""},
		{"two", "then it is our turn", "2", bakeoff.Ours, ""},
		{"three", "and around again", "3", "sequential", ""},
		{"negative", "there is no such pass", "-1", "", `EVALTEST_PASS="-1"`},
		{"no number", "a typing error must not be a first pass", "x", "", `EVALTEST_PASS="x"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			firsts.begun = map[string]int{}
			f := newFake(t)
			f.env["EVALTEST_PASS"] = row.value
			race, _, err := raceAs(t, f, 2, &llmtest.Model{Latency: constant(time.Second)}, []Leg{SequentialLeg(), PoolLeg()}, Parallel(2))
			if row.fails != "" {
				require.ErrorContains(t, err, row.fails, row.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.first, race.Passes[0][0].Leg, row.reason)
		})
	}
}

// TestRaceNames: the files find each leg's time under the name that its leg has.
func TestRaceNames(t *testing.T) {
	latency := constant(time.Second)
	race, _, err := raceInBubble(t, 6, &llmtest.Model{Latency: latency}, []Leg{SequentialLeg(), ChunkedLeg(), PoolLeg()}, Parallel(2))
	require.NoError(t, err)
	row, through := race.Row(), race.Throughput()
	for _, got := range []struct {
		name    string
		seconds float64
		want    float64
	}{
		{"row: sequential", row.SequentialSeconds, 6},
		{"row: chunked", row.ChunkedSeconds, 3},
		{"row: pool", row.PoolSeconds, 3},
		{"row: ours", row.OursSeconds, 3},
		{"row: speedup", row.Speedup, 2},
		{"throughput: chunked", through.Chunked.WallSeconds, 3},
		{"throughput: pool", through.Pool.WallSeconds, 3},
		{"throughput: ours", through.Ours.WallSeconds, 3},
		{"throughput: parity", through.Parity, 1},
		{"throughput: chunks", through.ChunkedFactor, 1},
	} {
		assert.InDelta(t, got.want, got.seconds, 1e-3, got.name)
	}
}

// TestRaceLost: what a leg lost is said of each, ours too, which may lose what
// MaxErrored says.
func TestRaceLost(t *testing.T) {
	for _, row := range []struct {
		name, reason  string
		items, broken int
		opts          []Option
		failed        bool
	}{
		{"none", "nothing to say", 20, 0, nil, false},
		{"one", "none is allowed by default", 20, 1, nil, true},
		{"allowed", "the caller's word counts", 20, 2, []Option{MaxErrored(1000)}, false},
		{"all", "a model that answers nobody is none to measure", 20, 20, []Option{MaxErrored(1000)}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := &llmtest.Model{Latency: constant(time.Second), Fault: func(_ int, req llm.Request) (f llmtest.ModelFault) {
				var n int
				_, _ = fmt.Sscanf(req.Messages[0].Content, "question %d", &n)
				if n >= row.items-row.broken {
					f.Err = &llm.Error{Kind: llm.KindBadRequest, Provider: "fake", Status: 400, Message: "no such field"}
				}
				return f
			}}
			race, rep, err := raceInBubble(t, row.items, m, []Leg{PoolLeg()}, append(row.opts, Parallel(20))...)
			require.NoError(t, err)
			assert.Equal(t, row.failed, rep.Failed(), "%s: %s", row.reason, rep.text())
			if row.failed { // its report says what was lost
				return
			}
			var said []string
			for _, leg := range []string{bakeoff.Ours, bakeoff.Pool} {
				if row.broken > 0 {
					n := len(race.Passes)
					said = append(said, fmt.Sprintf("leg %s lost %d of %d items, so its time is not that of all: 0 calls met a rate limit", leg, n*row.broken, n*row.items))
				}
			}
			assert.Equal(t, said, lost(race), row.reason)
		})
	}
}
