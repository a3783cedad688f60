package evaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A Run in a synctest bubble takes hours in no time. It runs on the T outside
// of the bubble, whose own T allows no subtests; signals, deadline and terminal
// are fake.

type fake struct {
	hooks
	testFlags map[string]string
	env       map[string]string
	ends      time.Time // the test's deadline
	signal    chan os.Signal
	unhooked  atomic.Bool
	parent    atomic.Int64
	tty       *fakeTerminal
}

func newFake(t *testing.T) *fake {
	f := &fake{
		testFlags: map[string]string{"timeout": "10m0s", "count": "1", "paniconexit0": "true"},
		env:       map[string]string{"EVALTEST_DIR": t.TempDir()},
	}
	f.parent.Store(100)
	f.hooks = hooks{
		getenv:   func(name string) string { return f.env[name] },
		environ:  func() []string { return nil },
		testFlag: func(name string) string { return f.testFlags[name] },
		deadline: func(*testing.T) (time.Time, bool) { return f.ends, !f.ends.IsZero() },
		signals:  func() (<-chan os.Signal, func()) { return f.signal, func() {} },
		unhook:   func() { f.unhooked.Store(true) },
		ppid:     func() int { return int(f.parent.Load()) },
		terminal: func() terminal {
			if f.tty == nil {
				return nil
			}
			return f.tty
		},
		process: new(process),
	}
	return f
}

// bubble calls g in a bubble. A channel from outside would keep its clock from
// advancing.
func (f *fake) bubble(t *testing.T, g func()) {
	synctest.Test(t, func(*testing.T) {
		f.signal = make(chan os.Signal, 1)
		g()
	})
}

// run runs n items that take as long as the dataset says, with a gate, so that
// no subtest fails.
func (f *fake) run(t *testing.T, n int, s Strategy, opts ...Option) (*Report, error) {
	items := make([]dataset.Item, n)
	for i := range items {
		items[i] = dataset.Item{ID: fmt.Sprintf("q%02d", i), Input: "?", Target: "yes"}
	}
	ds, err := dataset.New("questions", items)
	require.NoError(t, err)
	all := Options(Grader(grade.Exact()), MinAccuracy(0.5), Attempts(1), Parallel(1), Timeout(10*time.Hour), AttemptTimeout(5*time.Hour), Options(opts...))
	return runWith(&f.hooks, t, place{"m", "m/pkg", "x_test.go", 7}, ds, s, []Option{all})
}

// RunInBubble is Run in a bubble of its own, for tests from outside of the
// package. Where it returns, no goroutine of the run is left: else the bubble
// had failed.
func RunInBubble(t *testing.T, ds *dataset.Dataset, s Strategy, opts ...Option) (rep *Report) {
	t.Helper()
	f := newFake(t)
	f.bubble(t, func() {
		var err error
		rep, err = runWith(&f.hooks, t, place{"m", "m/pkg", "x_test.go", 7}, ds, s, opts)
		require.NoError(t, err)
	})
	return rep
}

// takes answers after d.
func takes(d time.Duration) Strategy {
	return StrategyFunc(func(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
		select {
		case <-time.After(d):
			return llm.Response{Text: it.Target}, nil
		case <-ctx.Done():
			return llm.Response{}, context.Cause(ctx)
		}
	})
}

func TestDeadlineAdmission(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		begun := time.Now()
		f.ends = begun.Add(10 * time.Minute)
		rep, err := f.run(t, 20, takes(time.Minute))
		require.NoError(t, err)
		assert.Equal(t, 9, rep.Stats.Correct(), "the tenth would have ended after 9m30s")
		assert.Equal(t, 11, rep.Stats.Outcomes[result.NotRun])
		assert.Equal(t, 9*time.Minute, time.Since(begun), "nothing was cancelled")
		assert.True(t, rep.Failed())
		assert.Contains(t, rep.Stopped, "-timeout 10m0s")
		require.Len(t, rep.Warnings, 1)
		assert.Contains(t, rep.Warnings[0], "the remaining 19 items need about 19m0s, and go test ends this test in 9m0s: about 11 of them will not run; give more time (-timeout 41m0s)")
		assert.Contains(t, rep.Summary, "-evaltest.resume")
		j, err := result.Read(rep.Journal)
		require.NoError(t, err)
		assert.Equal(t, "deadline", j.End.Reason)
		assert.False(t, j.End.Complete)
	})
}

func TestDeadlineCut(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		begun := time.Now()
		f.ends = begun.Add(10 * time.Minute)
		rep, err := f.run(t, 3, takes(time.Hour))
		require.NoError(t, err)
		assert.Equal(t, 3, rep.Stats.Outcomes[result.NotRun], "the one that was cancelled runs again too")
		assert.Equal(t, 10*time.Minute-15*time.Second, time.Since(begun), "cancelled at half of the reserve")
	})
}

func TestInterruptInBubble(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		begun := time.Now()
		time.AfterFunc(5*time.Minute+30*time.Second, func() { f.signal <- syscall.SIGTERM })
		rep, err := f.run(t, 20, takes(time.Minute))
		require.NoError(t, err)
		assert.Equal(t, 5, rep.Stats.Correct())
		assert.Equal(t, 15, rep.Stats.Outcomes[result.NotRun])
		assert.Equal(t, 5*time.Minute+30*time.Second+grace, time.Since(begun), "items in flight have a short grace")
		assert.True(t, f.unhooked.Load(), "the next signal kills")
		assert.Equal(t, "interrupted (SIGTERM)", rep.Stopped)
		assert.True(t, rep.Failed())

		// Without a restart nothing runs any more.
		f.env["EVALTEST_RESUME"] = "1"
		_, err = f.run(t, 20, takes(time.Minute))
		require.ErrorContains(t, err, "not started: interrupted (SIGTERM)")
	})
}

// TestGraceSuffices: a signal fails the test also if nothing was lost by it.
func TestGraceSuffices(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		time.AfterFunc(30*time.Second, func() { f.signal <- syscall.SIGINT })
		rep, err := f.run(t, 1, takes(31*time.Second))
		require.NoError(t, err)
		assert.Equal(t, 1, rep.Stats.Correct(), "the item in flight ended within the grace")
		assert.Equal(t, "interrupted (SIGINT)", rep.Stopped)
		assert.True(t, rep.Failed(), "an interrupted run is not green")
	})
}

// TestInterruptWhileClosing: a signal must not end the process while the files
// are closed and the summary is written.
func TestInterruptWhileClosing(t *testing.T) {
	f := newFake(t)
	watched, during := true, false
	signals := f.signals
	f.signals = func() (<-chan os.Signal, func()) {
		ch, _ := signals()
		return ch, func() { watched = false }
	}
	testFlag := f.testFlag
	f.testFlag = func(name string) string {
		if name == "artifacts" { // the last thing that is asked for
			during = watched
		}
		return testFlag(name)
	}
	f.bubble(t, func() {
		_, err := f.run(t, 1, takes(time.Second))
		require.NoError(t, err)
	})
	assert.True(t, during, "signals are still taken")
	assert.False(t, watched, "not for longer than the run")
}

func TestOrphanInBubble(t *testing.T) {
	f := newFake(t)
	f.bubble(t, func() {
		time.AfterFunc(90*time.Second, func() { f.parent.Store(1) })
		rep, err := f.run(t, 20, takes(time.Minute))
		require.NoError(t, err)
		assert.Equal(t, 1, rep.Stats.Correct())
		assert.Contains(t, rep.Stopped, "parent process 100 became 1")
	})
}

// TestResumeInBubble: a run that is cut short and resumed as often as it
// takes has the result of an uninterrupted one.
func TestResumeInBubble(t *testing.T) {
	for _, row := range []struct {
		name string
		runs int
	}{{"whole", 1}, {"in pieces", 4}} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			var asked sync.Map
			s := StrategyFunc(func(ctx context.Context, it dataset.Item, a Attempt) (llm.Response, error) {
				if _, twice := asked.LoadOrStore(fmt.Sprint(it.ID, a.Sample), true); twice && row.runs == 1 {
					t.Errorf("%s sample %d asked twice", it.ID, a.Sample)
				}
				r, err := takes(time.Minute).Execute(ctx, it, a)
				if it.ID >= "q06" {
					r.Text = "no"
				}
				return r, err
			})
			var rep *Report
			for i := range row.runs {
				t.Run(fmt.Sprint("part", i), func(t *testing.T) {
					f.bubble(t, func() {
						if row.runs > 1 && i < row.runs-1 {
							f.ends = time.Now().Add(6 * time.Minute)
							f.testFlags["timeout"] = "6m0s"
						} else {
							f.ends = time.Time{}
						}
						if i > 0 {
							f.env["EVALTEST_RESUME"] = rep.Journal
						}
						var err error
						rep, err = f.run(t, 10, s, Samples(2))
						require.NoError(t, err)
					})
				})
			}
			assert.Equal(t, 20, rep.Stats.Total)
			assert.Equal(t, 12, rep.Stats.Correct())
			assert.Equal(t, 8, rep.Stats.Outcomes[result.Incorrect])
			assert.False(t, rep.Failed())
			j, err := result.Read(rep.Journal)
			require.NoError(t, err)
			assert.Len(t, j.Records, 20)
			assert.True(t, j.End.Complete)
		})
	}
}

// fakeTerminal records what is drawn.
type fakeTerminal struct {
	bytes.Buffer
	width  int
	closed int
}

func (f *fakeTerminal) Width() int   { return f.width }
func (f *fakeTerminal) Close() error { f.closed++; return nil }

func TestProgressLine(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		set          func(*fake)
		drawn        bool
	}{
		{"terminal", "drawn and removed", func(*fake) {}, true},
		{"unknown width", "80 columns", func(f *fake) { f.tty.width = 0 }, true},
		{"verbose", "go test's lines would land behind ours", func(f *fake) { f.testFlags["v"] = "true" }, false},
		{"json", "the same", func(f *fake) { f.testFlags["v"] = "test2json" }, false},
		{"CI", "nobody looks", func(f *fake) { f.env["CI"] = "true" }, false},
		{"none", "nothing to draw on", func(f *fake) { f.tty = nil }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			f.tty = &fakeTerminal{width: 40}
			tty := f.tty
			row.set(f)
			f.bubble(t, func() {
				_, err := f.run(t, 20, takes(time.Minute))
				require.NoError(t, err)
			})
			text := tty.String()
			if !row.drawn {
				assert.Empty(t, text, row.reason)
				return
			}
			assert.Contains(t, text, "11/20, 11 correct")
			assert.True(t, strings.HasSuffix(text, eraseLine), "the line is gone at the end")
			assert.NotContains(t, text, "\n")
			assert.Equal(t, 1, tty.closed)
			for _, l := range strings.Split(text, eraseLine) {
				assert.Less(t, len(l), 80)
			}
		})
	}
}

// TestUndecidedOnTerminal: go test shows nothing of a test that passes without -v,
// and a gate that could not decide must not pass unseen.
func TestUndecidedOnTerminal(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		opts         []Option
		set          func(*fake)
		want         string
	}{
		{"undecided", "said", []Option{MaxLatency(0.99, time.Hour)}, func(*fake) {}, "20/20 correct\r\ngate      not enough data for MaxLatency: p99"},
		{"decided", "nothing to say", nil, func(*fake) {}, ""},
		{"accepted", "what changed", []Option{Baseline("b.jsonl")}, func(f *fake) { f.env["EVALTEST_UPDATE"] = "1" }, "baseline  b.jsonl written: 20/20 correct; there was none before\r\n"},
		{"verbose", "go test shows all", []Option{MaxLatency(0.99, time.Hour)}, func(f *fake) { f.testFlags["v"] = "true" }, ""},
		{"CI", "nobody looks", []Option{MaxLatency(0.99, time.Hour)}, func(f *fake) { f.env["CI"] = "true" }, ""},
		{"failed", "go test shows all", []Option{MaxLatency(0.99, time.Hour), MaxLatency(0.5, time.Second)}, func(*fake) {}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			f := newFake(t)
			f.tty = &fakeTerminal{width: 80}
			row.set(f)
			f.bubble(t, func() {
				_, err := f.run(t, 20, takes(time.Minute), row.opts...)
				require.NoError(t, err)
			})
			text := f.tty.String()
			text = text[strings.LastIndex(text, eraseLine)+1:]
			if row.want == "" {
				assert.NotContains(t, text, "gate", row.reason)
				return
			}
			assert.Contains(t, text, row.want, row.reason)
			assert.Contains(t, text, t.Name()+": 20/20")
		})
	}
}

// TestSummaryOnTerminal: go test may drop what an interrupted binary prints.
func TestSummaryOnTerminal(t *testing.T) {
	f := newFake(t)
	f.tty = &fakeTerminal{width: 80}
	f.env["CI"] = "true" // no progress
	f.bubble(t, func() {
		time.AfterFunc(90*time.Second, func() { f.signal <- syscall.SIGINT })
		_, err := f.run(t, 20, takes(time.Minute))
		require.NoError(t, err)
	})
	assert.Contains(t, f.tty.String(), "the run stopped early: interrupted (SIGINT)\r\n")
	assert.Contains(t, f.tty.String(), "1/20 correct, 19 not run")
}

// TestInTime: what takes too long is not waited for.
func TestInTime(t *testing.T) {
	boom := errors.New("boom")
	for _, row := range []struct {
		name, reason string
		end          time.Duration // 0 for none
		done         bool
		took         time.Duration
	}{
		{"no end", "waits", 0, true, time.Minute},
		{"in time", "waits no longer than needed", time.Hour, true, time.Minute},
		{"late", "goes on without it", time.Second, false, time.Second},
		{"over", "does not wait", -time.Second, false, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var end time.Time
				if row.end != 0 {
					end = begun.Add(row.end)
				}
				done, err := inTime(end, func() error {
					<-time.After(time.Minute) // of the bubble's clock
					return boom
				})
				assert.Equal(t, row.done, done, row.reason)
				assert.Equal(t, row.done, err == boom, row.reason)
				assert.Equal(t, row.took, time.Since(begun), row.reason)
				synctest.Wait()
				<-time.After(time.Hour) // lest the bubble end before f
			})
		})
	}
}

func TestReserve(t *testing.T) {
	now := time.Unix(0, 0)
	for _, row := range []struct {
		name                string
		left, timeout       time.Duration
		last, cut, strayFor time.Duration // before the deadline, and for how long
	}{
		{"ten minutes", 10 * time.Minute, 10 * time.Minute, 30 * time.Second, 15 * time.Second, 5 * time.Second},
		{"three seconds", 3 * time.Second, 3 * time.Second, 750 * time.Millisecond, 375 * time.Millisecond, 187500 * time.Microsecond},
		{"eight seconds", 8 * time.Second, 8 * time.Second, time.Second, 500 * time.Millisecond, 250 * time.Millisecond},
		{"late in a long test", 20 * time.Second, 10 * time.Minute, 10 * time.Second, 5 * time.Second, 2500 * time.Millisecond},
		{"timeout unknown", time.Minute, 0, 6 * time.Second, 3 * time.Second, 1500 * time.Millisecond},
		{"too late", -time.Second, time.Minute, 0, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			deadline := now.Add(row.left)
			r := reserveFor(now, deadline, row.timeout)
			assert.Equal(t, row.last, deadline.Sub(r.last))
			assert.Equal(t, row.cut, deadline.Sub(r.cut))
			assert.Equal(t, row.strayFor, r.stray)
			assert.Equal(t, deadline.Sub(r.last)/8, deadline.Sub(r.files), "after the strays, before the end")
		})
	}
}
