package evaltest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// crowd is 1,319 items, as many as GSM8K's test split has, 250 at once, with
// the timeouts of every run.
func (f *fake) crowd(t *testing.T, s Strategy, opts ...Option) *Report {
	all := Options(Attempts(3), Parallel(250), Timeout(5*time.Minute), AttemptTimeout(2*time.Minute), Options(opts...))
	rep, err := f.run(t, 1319, s, all)
	require.NoError(t, err)
	j, err := result.Read(rep.Journal)
	require.NoError(t, err)
	assert.Empty(t, j.Replaced, "one record an item")
	return rep
}

func busyFor(after *time.Duration) error {
	return &llm.Error{Kind: llm.KindRateLimit, Status: 429, RetryAfter: after, Message: "slow down"}
}

// TestBusyFromTheFirstOn: a provider that lets nobody in, ever, holds no run
// for long. It is asked little more than once an item in flight, and the run
// ends with its words, once.
func TestBusyFromTheFirstOn(t *testing.T) {
	for _, row := range []struct {
		name  string
		after *time.Duration
		took  time.Duration
		calls int
	}{
		{"not a word", nil, 2*time.Minute + 10*time.Second, 300},
		{"in 30 s", new(30 * time.Second), 2*time.Minute + 10*time.Second, 300},
		{"in a minute", new(time.Minute), 2*time.Minute + 10*time.Second, 300},
		{"at once", new(time.Duration(0)), 3 * time.Minute, 2000},
		{"in an hour", new(time.Hour), time.Second, 250},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			f.bubble(t, func() {
				begun := time.Now()
				var calls atomic.Int64
				rep := f.crowd(t, StrategyFunc(func(context.Context, dataset.Item, Attempt) (llm.Response, error) {
					calls.Add(1)
					time.Sleep(100 * time.Millisecond)
					return llm.Response{}, busyFor(row.after)
				}))
				t.Logf("%v, %d calls, %v", time.Since(begun), calls.Load(), rep.Stats.Outcomes)
				assert.LessOrEqual(t, time.Since(begun), row.took)
				assert.LessOrEqual(t, calls.Load(), int64(row.calls))
				assert.Contains(t, rep.Stopped, "cannot reach its model")
				assert.Contains(t, rep.Stopped, "slow down")
				assert.LessOrEqual(t, strings.Count(rep.text(), "slow down"), 3)
				assert.True(t, rep.Failed())
			})
		})
	}
}

// TestBusyLater: a storm that outlasts every item's time ends the run: the items
// in flight have the server's words, and all others can be resumed.
func TestBusyLater(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		begun := time.Now()
		const storm = 30 * time.Second
		rep := f.crowd(t, StrategyFunc(func(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
			if since := time.Since(begun); since > storm && since < storm+10*time.Minute {
				time.Sleep(100 * time.Millisecond)
				return llm.Response{}, busyFor(new(20 * time.Second))
			}
			time.Sleep(15 * time.Second)
			return llm.Response{Text: it.Target}, nil
		}))
		t.Logf("%v, %v", time.Since(begun), rep.Stats.Outcomes)
		assert.LessOrEqual(t, time.Since(begun), storm+5*time.Minute+answerGrace)
		assert.Positive(t, rep.Stats.Outcomes[result.Correct])
		assert.Equal(t, 1319, rep.Stats.Correct()+rep.Stats.Outcomes[result.Errored]+rep.Stats.Outcomes[result.NotRun])
		assert.LessOrEqual(t, rep.Stats.Outcomes[result.Errored], 250)
		assert.Contains(t, rep.Summary, "-evaltest.resume")
		for rec, err := range rep.Records() {
			require.NoError(t, err)
			if rec.Outcome == result.Errored {
				assert.Contains(t, rec.Error.Message, "slow down")
				assert.LessOrEqual(t, rec.Duration, 5*time.Minute)
			}
		}
	})
}

// TestBusyBesideAnswers: a provider that has let 200 calls in and sends the rest
// away for an hour ends the run, but not the calls that it is answering.
func TestBusyBesideAnswers(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		var in atomic.Int64
		rep := f.crowd(t, StrategyFunc(func(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
			if in.Add(1) > 200 {
				time.Sleep(time.Second)
				return llm.Response{}, busyFor(new(time.Hour))
			}
			select {
			case <-time.After(50 * time.Second):
				return llm.Response{Text: it.Target}, nil
			case <-ctx.Done():
				return llm.Response{}, ctx.Err()
			}
		}))
		assert.Equal(t, 200, rep.Stats.Correct())
		assert.Positive(t, rep.Stats.Outcomes[result.NotRun])
		assert.Contains(t, rep.Stopped, "slow down")
	})
}

// TestBusyForAWhile: a storm that does not is waited out, and costs no answer.
func TestBusyForAWhile(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		begun := time.Now()
		rep := f.crowd(t, StrategyFunc(func(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
			if since := time.Since(begun); since > 3*time.Second && since < 3*time.Minute {
				time.Sleep(100 * time.Millisecond)
				return llm.Response{}, busyFor(nil)
			}
			time.Sleep(2 * time.Second)
			return llm.Response{Text: it.Target}, nil
		}))
		t.Logf("%v, %v", time.Since(begun), rep.Stats.Outcomes)
		assert.Equal(t, 1319, rep.Stats.Correct())
		assert.LessOrEqual(t, time.Since(begun), 5*time.Minute)
	})
}

// TestNoMoneyAt250: an account that runs dry costs the calls in flight, and one
// message.
func TestNoMoneyAt250(t *testing.T) {
	for _, first := range []int{0, 400} {
		t.Run(fmt.Sprint("after ", first), func(t *testing.T) {
			f := newFake(t)
			f.bubble(t, func() {
				begun := time.Now()
				var calls atomic.Int64
				rep := f.crowd(t, StrategyFunc(func(_ context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
					time.Sleep(300 * time.Millisecond)
					if calls.Add(1) <= int64(first) {
						return llm.Response{Text: it.Target}, nil
					}
					return llm.Response{}, &llm.Error{Kind: llm.KindBalance, Status: 429, Code: "insufficient_quota", Message: "you exceeded your current quota", Hint: "top up the account's balance"}
				}))
				assert.LessOrEqual(t, calls.Load(), int64(first+250))
				assert.LessOrEqual(t, time.Since(begun), 2*time.Second)
				assert.LessOrEqual(t, strings.Count(rep.text(), "insufficient_quota"), 3)
				assert.Contains(t, rep.Stopped, "top up")
			})
		})
	}
}

// hookedFunc is a strategy whose hooks are functions.
type hookedFunc struct {
	Strategy
	prepare func(context.Context) error
	closes  func() error
}

func (h *hookedFunc) Prepare(ctx context.Context) error { return h.prepare(ctx) }
func (h *hookedFunc) Close() error                      { return h.closes() }

// TestHooksMisbehave: a hook that hangs, panics or ends its goroutine costs
// neither the journal nor the summary.
func TestHooksMisbehave(t *testing.T) {
	fine, none := func(context.Context) error { return nil }, func() error { return nil }
	var inner testing.T // a *testing.T that is not this goroutine's, as the outer test's is not
	hang := make(chan bool)
	for _, row := range []struct {
		name    string
		prepare func(context.Context) error
		closes  func() error
		opts    Option
		at      time.Duration // when the run ends
		signal  time.Duration
		says    string
		correct int
	}{
		{"well", fine, none, nil, 3 * time.Minute, 0, "", 3},
		{"Prepare panics", func(context.Context) error { panic("no index") }, none, nil, 0, 0, "Prepare of strategy", 0},
		{"Prepare ends its goroutine", func(context.Context) error { inner.FailNow(); return nil }, none, nil, 0, 0, "must not call methods of the outer *testing.T", 0},
		{"Prepare waits for its context", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, none, RunTimeout(time.Minute), time.Minute, 0, "RunTimeout", 0},
		{"Prepare hangs beyond the run's time", func(context.Context) error { <-hang; return nil }, none, RunTimeout(time.Minute), time.Minute + strayGrace, 0, "Prepare had not returned 5s after", 0},
		{"Prepare hangs until the test's deadline", func(context.Context) error { <-hang; return nil }, none, nil, 9*time.Minute + 50*time.Second, 0, "Prepare had not returned 5s after", 0},
		{"Prepare hangs, and somebody interrupts", func(context.Context) error { <-hang; return nil }, none, nil, time.Minute + grace + strayGrace, time.Minute, "Prepare had not returned", 0},
		{"Close panics", fine, func() error { panic("no disk") }, nil, 3 * time.Minute, 0, "no disk", 3},
		{"Close fails", fine, func() error { return io.ErrClosedPipe }, nil, 3 * time.Minute, 0, "closed pipe", 3},
		{"Close ends its goroutine", fine, func() error { inner.FailNow(); return nil }, nil, 3 * time.Minute, 0, "must not call methods of the outer *testing.T", 3},
		{"Close hangs until the test's deadline", fine, func() error { <-hang; return nil }, nil, 9*time.Minute + 56250*time.Millisecond, 0, "Close had not returned when the test's time was up", 3},
		{"Close hangs, and somebody interrupts", fine, func() error { <-hang; return nil }, nil, 4*time.Minute + grace + strayGrace, 4 * time.Minute, "Close had not returned 5s after", 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			f.bubble(t, func() {
				hang = make(chan bool)
				begun := time.Now()
				f.ends = begun.Add(10 * time.Minute)
				if row.signal > 0 {
					time.AfterFunc(row.signal, func() { f.signal <- syscall.SIGTERM })
				}
				rep, err := f.run(t, 3, &hookedFunc{takes(time.Minute), row.prepare, row.closes}, row.opts)
				require.NoError(t, err)
				assert.Equal(t, row.at, time.Since(begun))
				assert.Equal(t, row.correct, rep.Stats.Correct())
				assert.Equal(t, row.says != "", rep.Failed())
				assert.Contains(t, rep.text(), row.says)
				_, err = result.Read(rep.Journal)
				assert.NoError(t, err)
				close(hang)
			})
		})
	}
}

// TestBudgetAt250: what is spent beyond the cap is at most what was in flight,
// and a resumed run asks the rest, with its whole budget anew.
func TestBudgetAt250(t *testing.T) {
	f := newFake(t)
	var mu sync.Mutex
	asked := map[string]int{}
	s := StrategyFunc(func(_ context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
		mu.Lock()
		asked[it.ID]++
		latency := time.Duration(rand.IntN(1000)) * time.Millisecond
		mu.Unlock()
		time.Sleep(latency)
		return llm.Response{Text: it.Target, Usage: llm.Usage{Input: 90, Output: 10, Known: true}}, nil
	})
	left, runs := 1319, 0
	var rep *Report
	for left > 0 && runs < 10 {
		runs++
		t.Run(fmt.Sprint("run ", runs), func(t *testing.T) {
			f.bubble(t, func() {
				rep = f.crowd(t, s, MaxTokens(50_000))
				now := rep.Stats.Outcomes[result.NotRun]
				spent := left - now
				t.Logf("%d answered, %d left, %s", spent, now, rep.Stopped)
				if now > 0 {
					assert.GreaterOrEqual(t, spent, 500)
					assert.Contains(t, rep.Stopped, "tokens")
				}
				assert.LessOrEqual(t, spent, 500+250)
				left = now
			})
		})
		f.env["EVALTEST_RESUME"] = rep.Journal
	}
	assert.Equal(t, 1319, rep.Stats.Correct())
	assert.False(t, rep.Failed())
	for id, n := range asked {
		assert.Equal(t, 1, n, "%s", id)
	}
	assert.Len(t, asked, 1319)
}

// TestPriceHangs: a price function that does not return costs its items, and not
// the run's end.
func TestPriceHangs(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		hang := make(chan bool)
		var asked atomic.Int64
		begun := time.Now()
		f.ends = begun.Add(10 * time.Minute)
		s := StrategyFunc(func(_ context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
			time.Sleep(time.Second)
			return llm.Response{Text: it.Target, Model: it.ID, Usage: llm.Usage{Input: 90, Known: true}}, nil
		})
		rep, err := f.run(t, 20, s, Parallel(4), Timeout(time.Minute), AttemptTimeout(time.Minute), MaxCost("100"), Price(func(r llm.Response) (string, bool) {
			if r.Model == "q03" && asked.Add(1) == 2 { // first for the record, then for the budget
				<-hang
			}
			return "0.01", true
		}))
		require.NoError(t, err)
		assert.Equal(t, 19, rep.Stats.Correct())
		assert.Equal(t, 1, rep.Stats.Outcomes[result.Errored])
		assert.LessOrEqual(t, time.Since(begun), time.Minute+strayGrace)
		close(hang)
	})
}
