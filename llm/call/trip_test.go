package call

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
)

func TestTrap13Trips(t *testing.T) {
	fatal := func(kind llm.ErrorKind) error { return &llm.Error{Kind: kind, Message: "no", Hint: "do this"} }
	balance, auth := llm.KindBalance, llm.KindAuth
	for _, tc := range []struct {
		name, reason string
		ends         []llm.ErrorKind // of the calls; "" is a success
		stopped      bool
	}{
		{"bad key", "nothing has worked yet", []llm.ErrorKind{auth}, true},
		{"no money", "", []llm.ErrorKind{balance}, true},
		{"day's quota", "", []llm.ErrorKind{llm.KindQuota}, true},
		{"no such model", "", []llm.ErrorKind{llm.KindNotFound}, true},
		{"bad request", "the next may be a good one", []llm.ErrorKind{llm.KindBadRequest, llm.KindBadRequest}, false},
		{"server", "heals", []llm.ErrorKind{llm.KindServer, llm.KindServer, llm.KindServer}, false},
		{"after a success", "may be an outlier", []llm.ErrorKind{"", auth, auth, auth, auth}, false},
		{"five after a success", "", []llm.ErrorKind{"", auth, auth, auth, auth, auth}, true},
		{"a success in between", "", []llm.ErrorKind{"", auth, auth, auth, auth, "", auth}, false},
		{"others in between", "are no success", []llm.ErrorKind{"", auth, auth, llm.KindServer, auth, auth, llm.KindServer, auth}, true},
		{"two kinds", "one model of several is missing", []llm.ErrorKind{"", auth, auth, balance, auth, auth, balance}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Scope{}
			for _, kind := range tc.ends {
				o := good(1, 1)
				if kind != "" {
					o = bad(fatal(kind))
				}
				mustAdmit(t, s, 0).end(o)
			}
			g, _, err := s.admit(t.Context(), 0)
			if !tc.stopped {
				require.NoError(t, err, tc.reason)
				g.end(outcome{})
				return
			}
			require.ErrorIs(t, err, ErrStopped)
			assert.ErrorIs(t, s.Stats().Err, ErrStopped)
			assert.ErrorContains(t, err, "do this", "the hint")
			assert.True(t, llm.KindOf(err).Fatal())
		})
	}
	t.Run("recorded", func(t *testing.T) {
		s := &Scope{}
		for _, kind := range []llm.ErrorKind{auth, llm.KindRateLimit} {
			o := bad(fatal(kind))
			o.resp.Replayed = true
			mustAdmit(t, s, 0).end(o)
		}
		_, waits, err := s.admit(t.Context(), 0)
		require.NoError(t, err, "a recording says nothing of now")
		assert.Zero(t, waits)
	})
	t.Run("missing key", func(t *testing.T) {
		s := &Scope{}
		mustAdmit(t, s, 0).end(bad(fatal(auth)).unsent())
		_, _, err := s.admit(t.Context(), 0)
		assert.ErrorIs(t, err, ErrStopped, "found before anything was sent")
	})
}

// TestCaseL01: an account without money fails every row, after at most as many
// calls as were in flight, and no waiting.
func TestCaseL01(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := NewScope(Limits{RPM: 6000, Concurrency: 8}), time.Now()
		var mu sync.Mutex
		calls := 0
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				g, _, err := s.admit(context.Background(), 0)
				if err == nil {
					mu.Lock()
					calls++
					mu.Unlock()
					time.Sleep(300 * time.Millisecond)
					err = &llm.Error{Kind: llm.KindBalance, Status: 429, Code: "insufficient_quota", Message: "You exceeded your current quota", Hint: "top up the account's balance"}
					assert.Zero(t, g.end(bad(err)))
				}
				assert.ErrorContains(t, err, "insufficient_quota")
				assert.ErrorContains(t, err, "top up")
				assert.Equal(t, llm.KindBalance, llm.KindOf(err))
			})
		}
		wg.Wait()
		assert.LessOrEqual(t, calls, 8)
		assert.Less(t, time.Since(start), time.Second)
	})
}
