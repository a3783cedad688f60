package evaltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// A client is a strategy that must not be called once it is closed.
type client struct {
	answer time.Duration
	deaf   time.Duration // how long it goes on when its context has ended
	close  error

	mu             sync.Mutex
	closed         bool
	running, late  int
	calls, closing int
}

func (c *client) Execute(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
	c.mu.Lock()
	c.calls++
	c.running++
	if c.closed {
		c.late++
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running--
	}()
	select {
	case <-time.After(c.answer):
		return llm.Response{Text: it.Target}, nil
	case <-ctx.Done():
		<-time.After(c.deaf)
		return llm.Response{}, context.Cause(ctx)
	}
}

func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.closing = true, c.closing+1
	if c.running > 0 {
		return fmt.Errorf("closed under %d calls", c.running)
	}
	return c.close
}

// TestTrap23OrderlyEnd: however a run ends, it takes no further item, waits for
// those under way, closes the client once and under no call, and closes the
// files. What goes wrong then is told and fails the test.
func TestTrap23OrderlyEnd(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		client       *client
		signal       time.Duration // when the user interrupts; 0 for never
		calls        int
		trouble      string
		warning      string
	}{
		{"in peace", "all items ran", &client{answer: time.Minute}, 0, 20, "", ""},
		{"interrupted", "those under way have a grace", &client{answer: time.Minute, deaf: time.Second}, 90 * time.Second, 8, "interrupted (SIGINT)", ""},
		{"it does not close", "an error of Close is no footnote", &client{answer: time.Minute, close: errors.New("the disk is full")}, 0, 20, "Close: the disk is full", ""},
		{"interrupted, and does not close", "both are told", &client{answer: time.Minute, close: errors.New("the disk is full")}, 90 * time.Second, 8, "Close: the disk is full", ""},
		{"deaf", "what cannot be stopped is left, and that is told", &client{answer: 3 * time.Hour, deaf: time.Hour}, 90 * time.Second, 4, "interrupted (SIGINT)", "4 calls were abandoned"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			f.bubble(t, func() {
				if row.signal > 0 {
					time.AfterFunc(row.signal, func() { f.signal <- syscall.SIGINT })
				}
				rep, err := f.run(t, 20, row.client, Parallel(4))
				require.NoError(t, err)
				assert.Equal(t, row.calls, row.client.calls, row.reason)
				assert.Equal(t, 1, row.client.closing, "closed once")
				assert.Zero(t, row.client.late, "asked after it was closed")
				assert.Equal(t, row.trouble != "", rep.Failed())
				if row.trouble != "" {
					assert.Contains(t, rep.text(), row.trouble, row.reason)
				}
				if row.signal > 0 {
					assert.Contains(t, rep.text(), "interrupted (SIGINT)", "one trouble hides no other")
				}
				if row.warning != "" {
					assert.Contains(t, rep.text(), row.warning)
					<-time.After(2 * time.Hour) // those that were left end, lest they outlive the bubble
				} else {
					assert.NotContains(t, rep.text(), "closed under")
				}
				assert.True(t, strings.HasSuffix(rep.Journal, ".gz"), "the file was closed: %s", rep.Journal)
				j, err := result.Read(rep.Journal)
				require.NoError(t, err)
				require.NotNil(t, j.End)
				assert.Equal(t, row.signal == 0, j.End.Complete)
				_, err = os.Stat(beside(rep.Journal, ".txt"))
				assert.NoError(t, err, "the summary")
			})
		})
	}
}

// TestTrap24SteadyProgress: the count never goes back, is drawn no more often
// than anybody can see, and ends with the summary, which has them all.
func TestTrap24SteadyProgress(t *testing.T) {
	f := newFake(t)
	f.tty = &fakeTerminal{width: 80}
	tty := f.tty
	const n = 1319
	f.bubble(t, func() {
		uneven := StrategyFunc(func(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
			i, err := strconv.Atoi(it.ID[1:])
			if err != nil {
				return llm.Response{}, err
			}
			return takes(time.Duration(i%7)*11*time.Millisecond).Execute(ctx, it, Attempt{})
		})
		begun := time.Now()
		rep, err := f.run(t, n, uneven, Parallel(64))
		require.NoError(t, err)
		drawn := regexp.MustCompile(`(\d+)/1319`).FindAllStringSubmatch(tty.String(), -1)
		last := -1
		for _, d := range drawn {
			done, err := strconv.Atoi(d[1])
			require.NoError(t, err)
			require.GreaterOrEqual(t, done, last, "the count went back")
			last = done
		}
		assert.Greater(t, len(drawn), 3, "else this shows nothing")
		assert.LessOrEqual(t, len(drawn), int(time.Since(begun)/redraw)+2)
		assert.True(t, strings.HasSuffix(tty.String(), eraseLine))
		assert.Contains(t, rep.Summary, "1319/1319 correct")
	})
}
