package gemini_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/internal/brokenconn"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/llmtest"
)

// over is a client whose one call is answered with these bytes, on a connection
// that then does what then says.
func over(t *testing.T, text string, then func(*net.TCPConn)) *gemini.Client {
	t.Helper()
	url, stop, err := brokenconn.Serve(text, then)
	require.NoError(t, err)
	t.Cleanup(stop)
	return gemini.Config{Model: "gemini-2.5-flash", BaseURL: url}.New()
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
		{"reset in an answer", "what came is kept, but it is no whole answer", good + text("18"), brokenconn.Reset, true, llm.KindConnection, "18"},
		{"reset behind the reason", "the answer was whole", good + text("18") + end("STOP"), brokenconn.Reset, true, "", "18"},
		{"hang behind DONE", "nothing comes after it", good + text("18") + end("STOP") + llmtest.Done, brokenconn.Hang, true, "", "18"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			silent(t)
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
		s := serve(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for _, p := range []string{": hi\n\n", text("1"), text("8")} {
				time.Sleep(time.Second)
				_, _ = io.WriteString(w, p)
				w.(http.Flusher).Flush()
			}
			llmtest.Hang(w, r)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r, err := s.config().New().Generate(ctx, streamed("q"))
		assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
		assert.Equal(t, "18", r.Text)
		assert.Equal(t, []time.Duration{2 * time.Second, 3 * time.Second}, r.Chunks)
		s.Wait()
	})
}

// TestEndlessStream: a stream is as bounded as a body.
func TestEndlessStream(t *testing.T) {
	most := client.MaxAnswer
	client.MaxAnswer = 4 << 20
	defer func() { client.MaxAnswer = most }()
	piece := text(strings.Repeat("x", 1<<20))
	s := serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	})
	r, err := ask(t, s, s.config(), streamed("q"))
	failing(t, err, llm.KindBadResponse, "64 MiB")
	assert.Equal(t, 4, len(r.Text)>>20)
}

// TestGivenUpInTheMiddle: events that came before the context was over do not
// keep the call.
func TestGivenUpInTheMiddle(t *testing.T) {
	for _, contentType := range []string{"text/event-stream", "text/plain"} {
		ctx, cancel := context.WithCancel(t.Context())
		m := gemini.Config{Model: "gemini-2.5-flash", BaseURL: "http://127.0.0.1", HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			body := brokenconn.GivenUp(strings.Repeat(text("18"), 100_000), cancel)
			return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {contentType}}, Body: body}, nil
		})}}.New()
		r, err := m.Generate(ctx, streamed("q"))
		assert.Equal(t, llm.KindCanceled, llm.KindOf(err))
		assert.Less(t, len(r.Text), 20_000, contentType)
	}
}
