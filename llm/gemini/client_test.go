package gemini_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// TestOneCall: the SDK would go on by itself, in calls that are billed and that
// nobody sees, where an answer or a stream may be continued.
func TestOneCall(t *testing.T) {
	const token = `"continuationToken":"QUJD"`
	part := `{"candidates":[{"content":{"parts":[{"text":"18"}]},"finishReason":"CONTINUATION",` + token + `}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}`
	cut := `{"candidates":[{"content":{"parts":[{"text":"18"}]},` + token + `}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}`
	for name, h := range map[string]http.HandlerFunc{
		"whole": body(part), "stream": events(ev(part)), "stream that breaks": llmtest.Reset(ev(cut)), "stream that refuses": llmtest.Status(503, ``),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(h)
			req := llm.Prompt("q")
			req.Stream = strings.Contains(name, "stream")
			got, err := ask(t, s, s.config(), req)
			assert.Equal(t, 1, s.Calls())
			if strings.Contains(name, "that") {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, llm.Usage{Input: 3, Output: 1, Known: true}, got.Usage)
			assert.Equal(t, llm.FinishLength, got.Finish, "what came is no whole answer")
			assert.NotContains(t, string(s.last(t).body), "ontinuation")
		})
	}
}

func TestCancelMidStreamKeepsTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(llmtest.SlowStream(time.Second, text("The "), text("answer"), text(" is")))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		r, err := s.config().New().Generate(ctx, streamed("q"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		failing(t, err, llm.KindTimeout)
		assert.Equal(t, "The answer", r.Text)
		assert.Equal(t, 2500*time.Millisecond, r.Timing.Total)
		assert.Equal(t, []time.Duration{time.Second, 2 * time.Second}, r.Chunks)
		assert.False(t, r.Usage.Known)
		assert.Equal(t, "3", s.last(t).header.Get("X-Server-Timeout"), "the SDK tells the server how long we wait")
		s.Wait()
		assert.Zero(t, s.OpenBodies())
	})
}

func TestContextEndsBehindAnotherError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := gemini.Config{Model: "gemini-2.5-flash", BaseURL: "http://127.0.0.1", HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		cancel()
		return nil, io.ErrUnexpectedEOF
	})}}.New()
	_, err := m.Generate(ctx, llm.Prompt("q"))
	require.ErrorIs(t, err, context.Canceled, "the caller gave up, whatever broke first")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	failing(t, err, llm.KindCanceled)
}

// TestReplayNeedsNoKey: what is missing is told only when a call would leave.
func TestReplayNeedsNoKey(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere")
	replay := wire.MiddlewareFunc(func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: io.NopCloser(strings.NewReader(ok))}, nil
	})
	for _, cfg := range []gemini.Config{{Model: "gemini-2.5-flash"}, {Model: "gemini-2.5-flash", Vertex: true, Project: "acme"}} {
		r, err := cfg.New().Generate(wire.WithMiddleware(t.Context(), replay), llm.Prompt("q"))
		require.NoError(t, err)
		assert.Equal(t, "18", r.Text)
	}
}

// TestExtraOfTheContext: what an application slips in below the client is sent.
func TestExtraOfTheContext(t *testing.T) {
	s := serve(body(ok))
	_, err := s.config().New().Generate(wire.WithExtra(t.Context(), extra(`{"cachedContent":"c/1"}`)), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, `"c/1"`, s.last(t).field(t, "cachedContent"))
}

// TestConnections: streams are read to their end, so that one connection
// serves them all.
func TestConnections(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range []string{": hello\n\n", text("1"), text("8"), end("STOP"), ": bye\n\n"} {
			_, _ = io.WriteString(w, p)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer s.Close()
	var dials atomic.Int64
	m := gemini.Config{Model: "gemini-2.5-flash", BaseURL: s.URL, HTTPClient: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}}}.New()
	for range 50 {
		_, err := m.Generate(t.Context(), streamed("q"))
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, dials.Load(), int64(2))
}

// TestParallel: one client of the SDK serves all of ours.
func TestParallel(t *testing.T) {
	var wg sync.WaitGroup
	for _, vertex := range []bool{false, true} {
		for _, model := range []string{"a", "b", "c", "d"} {
			wg.Go(func() {
				s := serve(body(strings.ReplaceAll(ok, `"18"`, `"`+model+`"`)))
				cfg := s.config()
				cfg.Model, cfg.Vertex = model, vertex
				m := cfg.New()
				for range 20 {
					r, err := m.Generate(t.Context(), llm.Prompt(model))
					if assert.NoError(t, err) {
						assert.Equal(t, model, r.Text)
					}
				}
				for _, got := range s.got {
					assert.Contains(t, got.path, "/models/"+model+":")
					assert.Equal(t, vertex, strings.Contains(got.path, "publishers"))
				}
			})
		}
	}
	wg.Wait()
}
