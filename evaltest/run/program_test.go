package run_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// FuzzCrew runs random programs of whole items: strategies and judges that
// answer, fail, meet rate limits, hang, are deaf, panic and end their goroutines,
// under limits, timeouts, a budget and the end of the run. Whatever happens,
// each item has one record, it comes in time, it tells every call, and the
// budget knows of every token.
func FuzzCrew(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { newTown(t, seed).run(t) })
	})
}

// A town is one random program.
type town struct {
	seed  uint64
	c     *run.Config
	ends  time.Duration // of the run; 0 for none
	items int

	mu      sync.Mutex
	rand    *rand.Rand
	calls   map[string]int // of each item's strategy
	tokens  int64          // that were reported, replays excluded
	records map[string]*result.Record
	left    bool // something was abandoned
}

func newTown(t *testing.T, seed uint64) *town {
	w := &town{seed: seed, rand: rand.New(rand.NewPCG(seed, 3)), calls: map[string]int{}, records: map[string]*result.Record{}}
	pick := func(of ...time.Duration) time.Duration { return of[w.draw(len(of))] }
	w.items = 5 + w.draw(40)
	w.ends = pick(0, 0, 0, 20*time.Second, 5*time.Minute)
	scope := call.NewScope(call.Limits{Concurrency: w.draw(4), RPM: []int{0, 0, 60, 6000}[w.draw(4)]})
	b, err := call.NewBudget(call.Caps{MaxTokens: int64([]int{1000, 100_000}[w.draw(2)])})
	require.NoError(t, err)
	w.c = &run.Config{
		Strategy: run.StrategyFunc(w.strategy(scope)), Grader: exact,
		Attempts: 1 + w.draw(3), AttemptTimeout: 10 * time.Second, ItemTimeout: pick(15*time.Second, 2*time.Minute), Grace: pick(-1, time.Second, 10*time.Second),
		Scope: []*call.Scope{nil, scope}[w.draw(2)], Budget: b,
	}
	if w.draw(2) == 0 {
		w.c.Judge = grade.Func(func(ctx context.Context, it dataset.Item, _ llm.Response) (grade.Verdict, error) {
			_, err := w.model(scope, "").Generate(ctx, llm.Prompt("?"))
			return grade.Verdict{Mark: grade.Correct, Score: 1}, err
		})
	}
	require.NoError(t, w.c.Check())
	return w
}

func (w *town) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.IntN(n)
}

func (w *town) strategy(scope *call.Scope) func(context.Context, dataset.Item, run.Attempt) (llm.Response, error) {
	return func(ctx context.Context, it dataset.Item, _ run.Attempt) (llm.Response, error) {
		m := w.model(scope, it.ID)
		for range w.draw(2) {
			if resp, err := m.Generate(ctx, llm.Prompt("?")); err != nil {
				return resp, err
			}
		}
		resp, err := m.Generate(ctx, llm.Prompt("?"))
		if w.draw(20) == 0 {
			panic("after the call")
		}
		return resp, err
	}
}

// model is one whose calls are the item's; "" for a judge's.
func (w *town) model(scope *call.Scope, item string) llm.Model {
	provider := llm.ModelFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		w.mu.Lock()
		w.calls[item]++
		w.mu.Unlock()
		resp, err := w.answer(ctx)
		if resp.Usage.Known && !resp.Replayed {
			w.mu.Lock()
			w.tokens += resp.Usage.Input
			w.mu.Unlock()
		}
		llm.LogCall(ctx, llm.Call{Response: resp, Err: err})
		return resp, err
	})
	if item != "" && w.draw(3) == 0 { // one call an attempt would be the Policy's
		return call.New(provider, call.Config{})
	}
	return call.New(provider, call.Config{Scope: scope, Timeout: 8 * time.Second})
}

func (w *town) answer(ctx context.Context) (llm.Response, error) {
	used := llm.Usage{Input: int64(1 + w.draw(100)), Known: true}
	takes := time.Duration(w.draw(4000)) * time.Millisecond
	switch w.draw(24) {
	case 0:
		panic("boom")
	case 1:
		runtime.Goexit()
	case 2: // deaf
		time.Sleep(time.Duration(w.draw(300)) * time.Second)
	case 3:
		<-ctx.Done()
		return llm.Response{}, ctx.Err()
	case 4, 5:
		return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Duration(w.draw(20)) * time.Second)}
	case 6:
		return llm.Response{}, errors.New("429 Too Many Requests")
	case 7:
		return llm.Response{Usage: used}, &llm.Error{Kind: llm.KindServer}
	case 8:
		return llm.Response{Text: "?", Usage: used}, llm.Unusable(nil)
	case 9:
		return llm.Response{Text: "?", Usage: used}, nil
	case 10:
		return llm.Response{Text: "18", Usage: used, Replayed: true}, nil
	case 11:
		return llm.Response{Text: "18", Usage: used, Finish: llm.FinishLength}, nil
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return llm.Response{Usage: used}, ctx.Err()
	}
	return llm.Response{Text: "18", Usage: used}, nil
}

func (w *town) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if w.ends > 0 {
		time.AfterFunc(w.ends, cancel)
	}
	crew := w.c.Crew(ctx, func(rec *result.Record) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.records[rec.Item.ID] != nil {
			t.Errorf("seed %d: two records of %s", w.seed, rec.Item.ID)
		}
		w.records[rec.Item.ID] = rec
		w.left = w.left || rec.Abandoned
		return nil
	})
	var wg sync.WaitGroup
	for i := range w.items {
		wg.Go(func() {
			time.Sleep(time.Duration(w.draw(10)) * time.Second)
			it := eggs
			it.ID = fmt.Sprint("item-", i)
			rec, err := crew.Item(it, 0)
			assert.NoError(t, err)
			assert.Equal(t, it.ID, rec.Item.ID)
		})
	}
	wg.Wait()
	crew.Close()
	w.check(t)
}

func (w *town) check(t *testing.T) {
	assert.Len(t, w.records, w.items)
	seen := map[string]int{}
	for id, rec := range w.records {
		assert.LessOrEqual(t, rec.Duration, w.c.ItemTimeout+max(w.c.Grace, 0), "seed %d: %s", w.seed, id)
		assert.NotEmpty(t, rec.Outcome)
		assert.Equal(t, rec.Outcome == result.Errored || rec.Outcome == result.NotRun || rec.Outcome == result.Ungraded && rec.Error != nil, rec.Error != nil, "seed %d: %s %s", w.seed, id, rec.Outcome)
		for _, a := range rec.Attempts {
			seen[id] += a.Tries
			var spent time.Duration
			sent := 0
			for _, try := range a.TryLog {
				assert.GreaterOrEqual(t, min(try.PauseWait, try.LimitWait, try.SlotWait, try.Duration), time.Duration(0))
				spent += try.PauseWait + try.LimitWait + try.SlotWait + try.Duration
				if !try.Unsent {
					sent++
				}
			}
			if rec.Abandoned {
				continue // in this very moment, its calls are still ending
			}
			assert.LessOrEqual(t, spent, a.Duration, "seed %d: %s: one call after the other: %+v", w.seed, id, a.TryLog)
			if len(a.TryLog) > 0 {
				assert.LessOrEqual(t, sent, a.Tries)
			}
		}
		if !rec.Abandoned { // all its calls have ended with it
			assert.LessOrEqual(t, w.calls[id], seen[id], "seed %d: %s: %+v", w.seed, id, rec.Attempts)
		}
	}
	time.Sleep(time.Hour) // the deaf ones end
	synctest.Wait()
	assert.Zero(t, run.Abandoned())
	w.mu.Lock()
	defer w.mu.Unlock()
	assert.Equal(t, w.tokens, w.c.Budget.Spent().Tokens, "seed %d: tokens", w.seed)
	if w.c.Scope != nil {
		assert.Zero(t, w.c.Scope.Stats().InFlight, "seed %d", w.seed)
		assert.Zero(t, w.c.Scope.Stats().Waiting)
	}
}
