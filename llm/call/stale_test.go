package call_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/internal/brokenconn"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// TestStale: a call that the server never saw, for it had closed the connection,
// is tried again within the attempt, in the record, and not for ever.
func TestStale(t *testing.T) {
	stale := &llm.Error{Kind: llm.KindConnection, Err: fmt.Errorf("%w: EOF", wire.ErrStale)}
	broken := &llm.Error{Kind: llm.KindConnection, Err: io.EOF}
	own := fmt.Errorf(`Post "http://127.0.0.1": %w: EOF`, wire.ErrStale)
	const failed = llm.KindConnection
	for _, tc := range []struct {
		name, reason string
		tries        int
		errs         []error
		want         []llm.ErrorKind // of the tries
		took         time.Duration
		err          error
	}{
		{"once", "the next connection is a new one", 0, []error{stale, nil}, []llm.ErrorKind{failed, ""}, 0, nil},
		{"twice", "the next idle connection had gone the same way", 0, []error{stale, stale, nil}, []llm.ErrorKind{failed, failed, ""}, 0, nil},
		{"for good", "a server that dies of every call looks the same", 0, []error{stale}, []llm.ErrorKind{failed, failed, failed}, 0, wire.ErrStale},
		{"an SDK's own", "its error wraps the transport's", 0, []error{own, nil}, []llm.ErrorKind{failed, ""}, 0, nil},
		{"one try", "no more were allowed", 1, []error{stale}, []llm.ErrorKind{failed}, 0, wire.ErrStale},
		{"broken", "the server had the call: that is another attempt", 0, []error{broken}, []llm.ErrorKind{failed}, 0, io.EOF},
		{"busy between", "3 s as it asks, and the pace after a pause holds for the third too", 0, []error{stale, limited(3 * time.Second), stale, nil},
			[]llm.ErrorKind{failed, llm.KindRateLimit, failed, ""}, 4 * time.Second, nil},
		{"busy and twice more", "the bound is the attempt's", 0, []error{stale, stale, limited(3 * time.Second), stale},
			[]llm.ErrorKind{failed, failed, llm.KindRateLimit, failed}, 3 * time.Second, wire.ErrStale},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				scope := call.NewScope(call.Limits{Concurrency: 1})
				var log call.Tries
				calls, start := 0, time.Now()
				model := llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
					calls++
					return llm.Response{}, tc.errs[min(calls, len(tc.errs))-1]
				})
				inner := call.New(model, call.Config{Scope: scope, Tries: tc.tries})
				// A policy around it multiplies no tries.
				_, err := call.Policy{Scope: scope}.Do(call.WithTries(t.Context(), &log), func(ctx context.Context) (llm.Response, error) {
					return inner.Generate(ctx, llm.Request{})
				})
				if tc.err == nil {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, tc.err, tc.reason)
					assert.Equal(t, failed, llm.KindOf(err))
				}
				var got []llm.ErrorKind
				for _, try := range log.All() {
					got = append(got, try.Kind)
				}
				assert.Equal(t, tc.want, got, tc.reason)
				assert.Equal(t, tc.took, time.Since(start).Round(time.Microsecond), tc.reason)
				assert.Zero(t, scope.Stats().InFlight)
				assert.EqualValues(t, len(tc.want), scope.Stats().Starts, "each counts with the limits")
			})
		})
	}
}

// TestStaleConnection: a server that closes each connection after one streamed
// answer, without saying so, loses no attempt, through either client.
func TestStaleConnection(t *testing.T) {
	const text = `{"id":"1","choices":[{"index":0,"delta":{"content":"4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1},` +
		`"candidates":[{"content":{"role":"model","parts":[{"text":"4"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}`
	const answer = "data: " + text + "\n\ndata: [DONE]\n\n"
	streamed := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(answer), answer)
	// The second call is read, so that the client cannot see the end before.
	base, stop, err := brokenconn.ServeKept(brokenconn.HangUp, streamed, "")
	require.NoError(t, err)
	defer stop()
	hc := &http.Client{Transport: wire.NewPool(4)}
	defer hc.CloseIdleConnections()
	t.Setenv("EVALS_STALE_KEY", "no-key")
	o := openai.Config{BaseURL: base, Model: "m", KeyEnv: "EVALS_STALE_KEY", HTTPClient: hc}.New()
	g := gemini.Config{BaseURL: base, Model: "m", KeyEnv: "EVALS_STALE_KEY", HTTPClient: hc}.New()
	req := llm.Prompt("2+2")
	req.Stream = true
	for name, client := range map[string]llm.Model{"openai": o, "gemini": g} {
		t.Run(name, func(t *testing.T) {
			m := call.New(client, call.Config{})
			var log call.Tries
			for range 5 {
				resp, err := m.Generate(call.WithTries(t.Context(), &log), req)
				require.NoError(t, err)
				assert.Equal(t, "4", resp.Text)
			}
			failed := 0
			for _, try := range log.All() {
				if try.Kind != "" {
					failed++
					assert.Equal(t, llm.KindConnection, try.Kind)
					assert.Contains(t, try.Message, wire.ErrStale.Error())
				}
			}
			assert.GreaterOrEqual(t, failed, 4, "the record has them")
			assert.Len(t, log.All(), 5+failed)
		})
	}
}
