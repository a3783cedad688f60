package openai_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/brokenconn"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// over is a client whose one call is answered with these bytes, on a connection
// that then does what then says.
func over(t *testing.T, text string, then func(*net.TCPConn)) *openai.Client {
	t.Helper()
	url, stop, err := brokenconn.Serve(text, then)
	require.NoError(t, err)
	t.Cleanup(stop)
	return openai.Config{Model: "m", BaseURL: url + "/v1"}.New()
}

// TestBrokenConnections: what had been said before a connection broke counts.
func TestBrokenConnections(t *testing.T) {
	const refused, good = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 999\r\n\r\n{\"error\":", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	rows := []struct {
		name, reason string
		text         string
		then         func(*net.TCPConn)
		stream       bool
		kind         llm.ErrorKind
		answer       string
	}{
		{"upgrade", "no context would end such a body", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", brokenconn.Hang, false, llm.KindBadResponse, ""},
		{"refusal cut", "it is one all the same", refused, brokenconn.HangUp, false, llm.KindRateLimit, ""},
		{"refusal reset", "it is one all the same", refused, brokenconn.Reset, true, llm.KindRateLimit, ""},
		{"reset in an answer", "what came is kept, but it is no whole answer", good + a, brokenconn.Reset, true, llm.KindConnection, "18"},
		{"reset behind the reason", "the answer was whole", good + a + stop, brokenconn.Reset, true, "", "18"},
		{"hang behind DONE", "nothing comes after it", good + a + stop + llmtest.Done, brokenconn.Hang, true, "", "18"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			req := llm.Prompt("q")
			req.Stream = r.stream
			got, err := over(t, r.text, r.then).Generate(ctx, req)
			require.Equal(t, r.kind, llm.KindOf(err), "%s: %v", r.reason, err)
			assert.Equal(t, r.answer, got.Text, r.reason)
			var le *llm.Error
			if errors.As(err, &le) && le.Status == 429 {
				require.NotNil(t, le.RetryAfter)
				assert.Equal(t, 7*time.Second, *le.RetryAfter)
			}
		})
	}
}

// TestStreamUnderAnotherName: a stream is read as it comes, whatever it calls
// itself.
func TestStreamUnderAnotherName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for _, p := range []string{": hi\n\n", a, a} {
				time.Sleep(time.Second)
				_, _ = io.WriteString(w, p)
				w.(http.Flusher).Flush()
			}
			llmtest.Hang(w, r)
		}
		m, s := fake(raw(h))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r, err := m.Generate(ctx, streamed("q"))
		assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
		assert.Equal(t, "1818", r.Text)
		assert.Equal(t, []time.Duration{2 * time.Second, 3 * time.Second}, r.Chunks)
		s.Memory().Wait()
	})
}

func TestKeyThatNoHeaderMayHold(t *testing.T) {
	s := &llmtest.Server{}
	t.Setenv("MY_KEY", "topsecret-0123456789\n")
	for _, header := range []string{"", "Api-Key"} {
		m := openai.Config{Model: "m", BaseURL: "https://fake.example/v1", HTTPClient: s.Client(), KeyEnv: "MY_KEY", KeyHeader: header}.New()
		_, err := m.Generate(t.Context(), llm.Prompt("q"))
		require.ErrorContains(t, err, `'\n'`)
		assert.Equal(t, llm.KindAuth, llm.KindOf(err), "trying again heals nothing")
		assert.NotContains(t, err.Error(), "topsecret")
	}
	assert.Zero(t, s.Memory().Calls(), "nothing was sent")
}

// TestStreamsTakeLittle: what is done with an event does not grow with those
// before it, and what is no answer is not decoded. Each is compared with another
// answer, since what an allocation takes depends on the build.
func TestStreamsTakeLittle(t *testing.T) {
	pieces := func(n int) http.HandlerFunc {
		const piece = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"abcdefgh"}}]}}]}` + "\n\n"
		return events(strings.Repeat(piece, n) + stop)
	}
	lines := func(line string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat(line, 200_000)) }
	}
	failure := func(element string) http.HandlerFunc {
		return llmtest.Status(500, `{"error":[`+strings.Repeat(element, 700_000)+`[]]}`)
	}
	rows := []struct {
		name, reason string
		h, than      http.HandlerFunc
		times        float64 // how much more h's may take than than's
		kind         llm.ErrorKind
	}{
		{"pieces of arguments", "four times as many take four times as much, and no more for what came before", pieces(8_000), pieces(2_000), 4.5, ""},
		{"events in one", "as many as would fill the memory are one, as a text is", lines("data: {}\n"), lines("data: xy\n"), 1.2, llm.KindIncomplete},
		{"errors of nothing", "a body is decoded within bounds: it takes no more than one of blanks", failure("[],"), failure("   "), 1.2, llm.KindServer},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			took := func(h http.HandlerFunc) float64 {
				m, _ := fake(raw(h))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := m.Generate(t.Context(), streamed("q"))
				runtime.ReadMemStats(&after)
				assert.Equal(t, r.kind, llm.KindOf(err), "%.300v", err)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			took(r.than) // what is allocated once in a process
			than, h := took(r.than), took(r.h)
			t.Logf("%.0f bytes, of the other %.0f: %.2f times", h, than, h/than)
			assert.LessOrEqual(t, h, than*r.times, r.reason)
		})
	}
}

// TestEndlessStream: a stream is as bounded as a body.
func TestEndlessStream(t *testing.T) {
	most := client.MaxAnswer
	client.MaxAnswer = 4 << 20
	defer func() { client.MaxAnswer = most }()
	piece := llmtest.Text(strings.Repeat("x", 1<<20))
	m, s := fake(raw(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}))
	r, err := m.Generate(t.Context(), streamed("q"))
	require.ErrorContains(t, err, "64 MiB")
	assert.Equal(t, llm.KindBadResponse, llm.KindOf(err))
	assert.Equal(t, 4, len(r.Text)>>20)
	s.Memory().Wait()
}

// TestGivenUpInTheMiddle: events that came before the context was over do not
// keep the call.
func TestGivenUpInTheMiddle(t *testing.T) {
	for _, contentType := range []string{"text/event-stream", "text/plain"} {
		ctx, cancel := context.WithCancel(t.Context())
		m := clientOver(func(r *http.Request) (*http.Response, error) {
			body := brokenconn.GivenUp(strings.Repeat(a, 100_000), cancel)
			return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {contentType}}, Body: body}, nil
		})
		r, err := m.Generate(ctx, streamed("q"))
		assert.Equal(t, llm.KindCanceled, llm.KindOf(err))
		assert.Less(t, len(r.Text), 20_000, contentType)
	}
}
