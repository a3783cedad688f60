package client_test

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/record"
)

// TestRetry: which failures are followed by another try, when, and that none of
// it is in the time of the last one.
func TestRetry(t *testing.T) {
	type answer struct {
		status int
		after  string // Retry-After
		body   string
		hang   bool
	}
	ms := time.Millisecond
	good := answer{status: 200, body: okStream}
	for _, tc := range []struct {
		name, reason string
		retry        client.Retry
		limits       client.Timeouts
		answers      []answer
		sent         []time.Duration // of each try
		class        record.Class    // of the last one
	}{
		{"doubling", "250, 500, 1000 ms", client.Retry{Max: 3}, client.Timeouts{}, []answer{{status: 500}, {status: 503}, {status: 429}, good}, []time.Duration{0, 250 * ms, 750 * ms, 1750 * ms}, ""},
		{"used up", "Max is how many follow the first", client.Retry{Max: 1, Delay: ms}, client.Timeouts{}, []answer{{status: 500}, {status: 502}, good}, []time.Duration{0, ms}, record.Server},
		{"off", "by default there is one try", client.Retry{}, client.Timeouts{}, []answer{{status: 500}, good}, []time.Duration{0}, record.Server},
		{"capped", "MaxWait caps the doubling", client.Retry{Max: 3, Delay: 4 * ms, MaxWait: 5 * ms}, client.Timeouts{}, []answer{{status: 500}, {status: 500}, {status: 500}, good}, []time.Duration{0, 4 * ms, 9 * ms, 14 * ms}, ""},
		{"Retry-After", "the server knows", client.Retry{Max: 1}, client.Timeouts{}, []answer{{status: 429, after: "7"}, good}, []time.Duration{0, 7000 * ms}, ""},
		{"Retry-After 0", "at once", client.Retry{Max: 1}, client.Timeouts{}, []answer{{status: 429, after: "0"}, good}, []time.Duration{0, 0}, ""},
		{"Retry-After too long", "the call fails at once, and says why", client.Retry{Max: 1}, client.Timeouts{}, []answer{{status: 429, after: "3600"}, good}, []time.Duration{0}, record.RateLimited},
		{"rejected", "trap 7: another try would fail alike", client.Retry{Max: 3}, client.Timeouts{}, []answer{{status: 400}, good}, []time.Duration{0}, record.Rejected},
		{"no money", "a 429 that waiting does not heal", client.Retry{Max: 3}, client.Timeouts{}, []answer{{status: 429, body: `{"error":{"code":"insufficient_quota"}}`}, good}, []time.Duration{0}, record.RateLimited},
		{"not implemented", "a 5xx that is not of the moment", client.Retry{Max: 3}, client.Timeouts{}, []answer{{status: 501}, good}, []time.Duration{0}, record.Server},
		{"truncated", "fragments came: it would be paid for twice", client.Retry{Max: 3}, client.Timeouts{}, []answer{{status: 200, body: piece("a")}, good}, []time.Duration{0}, record.Truncated},
		{"in-stream", "the same", client.Retry{Max: 3}, client.Timeouts{}, []answer{{status: 200, body: `data: {"error":"x"}` + "\n\n"}, good}, []time.Duration{0}, record.InStream},
		{"timeout", "not by default", client.Retry{Max: 3}, client.Timeouts{First: 2000 * ms}, []answer{{hang: true}, good}, []time.Duration{0}, record.TimeoutFirst},
		{"timeout wanted", "but where it is asked for", client.Retry{Max: 3, Timeouts: true}, client.Timeouts{First: 2000 * ms}, []answer{{hang: true}, good}, []time.Duration{0, 2250 * ms}, ""},
		{"idle wanted", "nothing of the first try's answer is left", client.Retry{Max: 3, Timeouts: true}, client.Timeouts{Idle: 2000 * ms}, []answer{{hang: true, body: piece("abc")}, good}, []time.Duration{0, 2250 * ms}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int64 // a call that was given up is another connection's
				c, stop := inMemory(t, client.Config{Retry: tc.retry, Timeouts: tc.limits}, func(w http.ResponseWriter, r *http.Request) {
					a := tc.answers[n.Add(1)-1]
					if a.hang && a.body != "" {
						say(w, r, 0, a.body)
					}
					if a.hang {
						<-r.Context().Done()
						return
					}
					if a.after != "" {
						w.Header().Set("Retry-After", a.after)
					}
					w.WriteHeader(a.status)
					_, _ = io.WriteString(w, a.body)
				})
				defer stop()
				var rec record.Request
				c.Do(t.Context(), &client.Call{Start: time.Now(), Body: hello}, &rec)
				assert.EqualValues(t, len(tc.sent), n.Load(), tc.reason)
				var sent []time.Duration
				for _, try := range rec.Tries {
					sent = append(sent, try.Sent)
					assert.GreaterOrEqual(t, try.Done, try.Sent)
					assert.NotEmpty(t, try.Failure.Message)
				}
				assert.Equal(t, tc.sent, append(sent, rec.Sent), tc.reason)
				assert.Equal(t, tc.sent[0], rec.FirstSent)
				if tc.class != "" {
					failed(t, rec, tc.class, "")
					return
				}
				require.Nil(t, rec.Failure)
				assert.Len(t, rec.Fragments, 1, "those of the last try only")
				assert.Equal(t, rec.Sent, rec.Done, "no wait is in the last try")
			})
		})
	}
}

// TestJitter: it takes off, and the same seed and request give the same waits.
func TestJitter(t *testing.T) {
	waits := func(seed uint64, seq int) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			c, stop := inMemory(t, client.Config{Seed: seed, Retry: client.Retry{Max: 1, Delay: time.Second, Jitter: 0.5}}, func(w http.ResponseWriter, _ *http.Request) {
				if n++; n == 1 {
					w.WriteHeader(500)
					return
				}
				_, _ = io.WriteString(w, okStream)
			})
			defer stop()
			rec := record.Request{Seq: seq}
			c.Do(t.Context(), &client.Call{Start: time.Now(), Body: hello}, &rec)
			require.Nil(t, rec.Failure)
			d = rec.Sent
		})
		return d
	}
	seen := map[time.Duration]bool{}
	for seq := range 20 {
		d := waits(1, seq)
		assert.True(t, d > time.Second/2 && d <= time.Second, "%v", d)
		seen[d] = true
	}
	assert.Len(t, seen, 20)
	assert.Equal(t, waits(1, 3), waits(1, 3))
	assert.NotEqual(t, waits(1, 3), waits(2, 3))
}
