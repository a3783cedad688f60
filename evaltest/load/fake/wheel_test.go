package fake_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/fake"
)

// TestRealTimes: over sockets, with the system's timers, many streams are never
// early; one that waits for long leaves when its client does, and others go on.
func TestRealTimes(t *testing.T) {
	var mu sync.Mutex
	early, ends := 0, 0
	canceled := make(chan *fake.Seen, 1)
	s := &fake.Server{TTFT: 5 * ms, ITL: ms, Saw: func(seen *fake.Seen) {
		mu.Lock()
		defer mu.Unlock()
		if seen.Canceled {
			canceled <- seen
			return
		}
		ends++
		for i, w := range seen.Written {
			if w.Before(seen.Due[i]) {
				early++
			}
		}
	}}
	url, stop, err := s.Start()
	require.NoError(t, err)
	defer stop()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	long, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/completions", strings.NewReader(`{"prompt":"a","max_tokens":1000000}`))
	require.NoError(t, err)
	gone := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(long) // it does not answer
		gone <- err
	}()
	var wg sync.WaitGroup
	for range 20 {
		c := dialRaw(t, url)
		wg.Go(func() {
			for range 3 {
				answer, err := c.do(rawRequest("/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"max_tokens":10,"stream":true}`))
				assert.NoError(t, err)
				assert.Equal(t, 10, strings.Count(string(answer), `"content":" `)+strings.Count(string(answer), `"content":"the`))
			}
		})
	}
	wg.Wait()
	cancel()
	require.Error(t, <-gone)
	seen := <-canceled
	assert.Zero(t, seen.Output)
	stop()
	assert.Equal(t, []int{0, 60}, []int{early, ends})
	assert.Less(t, seen.Ended.Sub(seen.Arrived), 10*time.Minute, "it was due after 17 minutes")
}
