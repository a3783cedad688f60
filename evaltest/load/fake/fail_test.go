package fake_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/record"
)

// TestFail: calls fail where and as they should, with waits and without.
func TestFail(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		fail         fake.Failure
		whole        bool
		class        record.Class
		message      string
		status       int
		output       int
		done         time.Duration // with a TTFT and an ITL of 10 ms
	}{
		{"status", "at once, as OpenAI says it", fake.Failure{Status: 503}, false, record.Server, "the fake was told to fail", 503, 0, 0},
		{"status of a whole answer", "the same", fake.Failure{Status: 429}, true, record.RateLimited, "rate_limit", 429, 0, 0},
		{"body alone", "is a 500", fake.Failure{Body: `{"error":{"message":"mine"}}`}, false, record.Server, "mine", 500, 0, 0},
		{"drop", "before the answer", fake.Failure{Drop: true}, false, "", "", 0, 0, 0},
		{"drop of a whole answer", "the same", fake.Failure{Drop: true, Status: 503}, true, "", "", 0, 0, 0},
		{"error in the stream", "after two tokens, with the second", fake.Failure{Status: 500, After: 2}, false, record.InStream, "the fake was told to fail", 200, 2, 20 * ms},
		{"body in the stream", "over several lines", fake.Failure{Body: "{\"error\":\n{\"message\":\"mine\"}}", After: 1}, false, record.InStream, "mine", 200, 1, 10 * ms},
		{"drop in the stream", "without an end", fake.Failure{Drop: true, After: 3}, false, record.Truncated, "", 200, 3, 30 * ms},
		{"after the last token", "more than there are", fake.Failure{Drop: true, After: 99}, false, record.Truncated, "", 200, 5, 50 * ms},
		{"late status of a whole answer", "when its second token was due", fake.Failure{Status: 502, After: 2}, true, record.Server, "", 502, 0, 20 * ms},
		{"late drop of a whole answer", "when its second token was due", fake.Failure{Drop: true, After: 2}, true, "", "", 0, 0, 20 * ms},
	} {
		for _, waits := range []bool{false, true} {
			t.Run(row.name+map[bool]string{true: "/waits"}[waits], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &fake.Server{Fail: func(n int) fake.Failure {
						if n == 1 {
							return row.fail
						}
						return fake.Failure{}
					}}
					want := time.Duration(0)
					if waits {
						s.TTFT, s.ITL, want = 10*ms, 10*ms, row.done
					}
					b := serve(t, s)
					b.header.Set("Connection", "close") // what is dropped on a kept one is sent again
					for n := range 3 {
						begun := time.Now()
						rec := b.call(t.Context(), client.Prompt{MaxTokens: 5, Whole: row.whole})
						synctest.Wait()
						require.Len(t, b.saw(), n+1)
						seen := b.saw()[n]
						assert.Equal(t, n, seen.N)
						assert.Equal(t, n == 1, seen.Failed)
						assert.False(t, seen.Canceled)
						if n != 1 {
							assert.True(t, rec.OK(), "%v", rec.Failure)
							continue
						}
						require.NotNil(t, rec.Failure)
						if row.class != "" {
							assert.Equal(t, row.class, rec.Failure.Class, "%s: %v", row.reason, rec.Failure)
						}
						assert.Contains(t, rec.Failure.Message, row.message)
						assert.Equal(t, []int{row.status, row.output}, []int{seen.Status, seen.Output}, row.reason)
						assert.Equal(t, want, time.Since(begun), row.reason)
						if !row.whole {
							assert.Len(t, rec.Fragments, row.output)
						}
					}
					b.stop()
					counts := s.Counts()
					assert.Equal(t, []int{3, 2, 1, 0}, []int{counts.Requests, counts.Answered, counts.Failed, counts.InFlight})
					assert.Equal(t, int64(10+row.output), counts.Output)
				})
			})
		}
	}
}

// TestFailHeader: the answer has the header.
func TestFailHeader(t *testing.T) {
	c := start(t, &fake.Server{Fail: func(int) fake.Failure {
		return fake.Failure{Status: 599, Header: http.Header{"Retry-After": {"2"}}, Body: "x"}
	}})
	b, err := c.do(rawRequest("/v1/chat/completions", okBody))
	require.NoError(t, err)
	head, body, _ := cutHead(b)
	assert.Contains(t, head, "HTTP/1.1 599 ")
	assert.Contains(t, head, "\r\nRetry-After: 2")
	assert.Equal(t, "x", string(body))
}

// TestFailSlots: a call that fails at once takes no slot, one that fails later
// gives it back.
func TestFailSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serve(t, &fake.Server{Slots: 1, TTFT: 10 * ms, Fail: func(n int) fake.Failure {
			return []fake.Failure{{}, {Status: 503}, {Drop: true, After: 1}, {}}[n]
		}})
		done := make(chan *record.Request, 4)
		for range 4 {
			go func() { done <- b.call(t.Context(), client.Prompt{MaxTokens: 1}) }()
			synctest.Wait()
		}
		assert.Len(t, b.saw(), 1)
		for range 4 {
			<-done
		}
		assert.Equal(t, 30*ms, time.Since(b.start))
		b.stop()
	})
}

// TestTooLong: an answer to a request that is not read to its end reaches the
// client, which is still writing.
func TestTooLong(t *testing.T) {
	c := start(t, &fake.Server{MaxBody: 1 << 20})
	_, err := io.WriteString(c, "POST /v1/completions HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n"+strings.Repeat("a", 500_000))
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, 413, res.StatusCode)
	assert.Contains(t, string(body), "3000000 bytes")
}
