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

// good is a call that was answered.
func good(in, out int64) outcome {
	return outcome{sent: true, resp: llm.Response{Usage: llm.Usage{Input: in, Output: out, Known: true}}}
}

// bad is a call that failed.
func bad(err error) outcome { return outcome{sent: true, err: err} }

// busy is a rate limit; after may be nil.
func busy(after *time.Duration) error {
	return &llm.Error{Kind: llm.KindRateLimit, Status: 429, RetryAfter: after, Message: "slow down"}
}

func seconds(s float64) *time.Duration {
	d := time.Duration(s * float64(time.Second))
	return &d
}

// mustAdmit admits a call that must not fail.
func mustAdmit(t *testing.T, s *Scope, tokens int64) *grant {
	t.Helper()
	g, _, err := s.admit(t.Context(), tokens)
	require.NoError(t, err)
	return g
}

// A starts is when calls started, since it was made.
type starts struct {
	begun time.Time
	mu    sync.Mutex
	at    []time.Duration
}

func (s *starts) now() {
	s.mu.Lock()
	s.at = append(s.at, time.Since(s.begun))
	s.mu.Unlock()
}

// together makes n calls that take so long, all at once, and returns when they
// started.
func together(t *testing.T, s *Scope, n int, takes time.Duration, end func(i int) outcome) []time.Duration {
	t.Helper()
	log := &starts{begun: time.Now()}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			g, _, err := s.admit(context.Background(), 0)
			if !assert.NoError(t, err) {
				return
			}
			log.mu.Lock()
			i := len(log.at)
			log.mu.Unlock()
			log.now()
			time.Sleep(takes)
			g.end(end(i))
		})
	}
	wg.Wait()
	return log.at
}

func fine(int) outcome { return good(1, 1) }

func TestZeroScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Scope
		at := together(t, &s, 1000, time.Second, fine)
		for _, d := range at {
			assert.Zero(t, d)
		}
		assert.Equal(t, Stats{Starts: 1000}, s.Stats())
	})
}

func TestSpacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := together(t, NewScope(Limits{RPM: 60}), 130, time.Minute, fine)
		for i, d := range at {
			assert.Equal(t, time.Duration(i)*time.Second, d)
		}
	})
}
