package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// realServer is a client of a real OpenAI-compatible server, with a count of
// the connections it opened. Any small model will do.
func realServer(t *testing.T) (openai.Config, *atomic.Int64) {
	base := os.Getenv("EVALS_TEST_SERVER")
	if base == "" {
		t.Skip("EVALS_TEST_SERVER is not set: give the base URL of an OpenAI-compatible server, such as http://127.0.0.1:8095/v1, and its model in EVALS_TEST_MODEL, to run this against it")
	}
	model := os.Getenv("EVALS_TEST_MODEL")
	if model == "" {
		model = "default"
	}
	dials := new(atomic.Int64)
	return openai.Config{Model: model, BaseURL: base, KeyEnv: "EVALS_TEST_KEY", HTTPClient: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}}}, dials
}

// exactly is a request whose answer should not change from call to call.
func exactly(text string, tokens int64) llm.Request {
	r := llm.Prompt(text)
	r.Temperature, r.Seed, r.MaxOutputTokens = new(0.0), new(int64(1)), new(tokens)
	return r
}

// readThen calls then after so many reads.
type readThen struct {
	io.ReadCloser
	reads int
	then  func()
}

func (r *readThen) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.reads--; r.reads == 0 {
		r.then()
	}
	return n, err
}

// TestRealServer asks a real server, whole and streamed, and compares.
func TestRealServer(t *testing.T) {
	cfg, dials := realServer(t)
	m := call.New(cfg.New(), call.Config{}) // some servers close a kept connection after a stream
	both := func(t *testing.T, req llm.Request) llm.Response {
		t.Helper()
		whole, err := m.Generate(t.Context(), req)
		require.NoError(t, err)
		req.Stream = true
		streamed, err := m.Generate(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, whole.Text, streamed.Text)
		assert.Equal(t, whole.Finish, streamed.Finish)
		assert.Equal(t, whole.Model, streamed.Model)
		if whole.Usage.Known && streamed.Usage.Known {
			a, b := whole.Usage, streamed.Usage
			a.CachedInput, b.CachedInput = 0, 0 // the second call finds the first one's prompt in llama.cpp's cache
			assert.Equal(t, a, b)
		} else { // llama-cpp-python, up to 0.3.36, knows no stream_options
			t.Logf("usage known whole: %v, streamed: %v", whole.Usage.Known, streamed.Usage.Known)
		}
		assert.Positive(t, streamed.Timing.FirstToken)
		assert.Less(t, streamed.Timing.FirstToken, streamed.Timing.Total)
		if assert.NotEmpty(t, streamed.Chunks) {
			assert.Equal(t, streamed.Timing.FirstToken, streamed.Chunks[0])
		}
		assert.Nil(t, whole.Chunks)
		return whole
	}
	t.Run("max tokens", func(t *testing.T) {
		r := both(t, exactly("Count from 1 to 100.", 12))
		assert.NotEmpty(t, r.Text)
		assert.Equal(t, llm.FinishLength, r.Finish)
		if r.Usage.Known {
			assert.EqualValues(t, 12, r.Usage.Output)
		}
	})
	t.Run("stop", func(t *testing.T) {
		req := exactly("Count from 1 to 100.", 12)
		all := both(t, req)
		req.Stop = []string{string([]rune(strings.TrimSpace(all.Text))[2:4])}
		r := both(t, req)
		assert.Equal(t, llm.FinishStop, r.Finish)
		assert.NotContains(t, r.Text, req.Stop[0])
		assert.True(t, strings.HasPrefix(all.Text, r.Text))
	})
	t.Run("schema", func(t *testing.T) {
		req := exactly("How much is 6 times 3? Answer with JSON.", 40)
		schema := json.RawMessage(`{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"]}`)
		req.Schema = &llm.Schema{Name: "answer", JSON: schema}
		if _, err := m.Generate(t.Context(), req); err != nil {
			t.Logf("json_schema is refused (%.120v): llama-cpp-python has a form of its own", err)
			req.Schema = nil
			req.Extra = map[string]json.RawMessage{"response_format": json.RawMessage(`{"type":"json_object","schema":` + string(schema) + `}`)}
		}
		r := both(t, req)
		var got struct{ Answer *int64 }
		require.NoError(t, json.Unmarshal([]byte(r.Text), &got), "%q", r.Text)
		assert.NotNil(t, got.Answer)
	})
	t.Run("wrong model", func(t *testing.T) {
		wrong := cfg
		wrong.Model = "there-is-no-such-model"
		if _, err := call.New(wrong.New(), call.Config{}).Generate(t.Context(), exactly("Hello", 2)); err != nil {
			assert.Contains(t, []llm.ErrorKind{llm.KindNotFound, llm.KindBadRequest}, llm.KindOf(err), "%v", err)
		} // servers of one model answer whatever the name
	})
	t.Run("broken body", func(t *testing.T) {
		for _, stream := range []bool{false, true} {
			req := exactly("Hello", 2)
			req.Stream, req.Extra = stream, map[string]json.RawMessage{"messages": json.RawMessage(`"none"`)}
			_, err := m.Generate(t.Context(), req)
			var le *llm.Error
			require.ErrorAs(t, err, &le)
			assert.GreaterOrEqual(t, le.Status, 400)
			assert.NotEmpty(t, le.Message)
		}
	})
	t.Run("reuse", func(t *testing.T) {
		six := func(stream bool) int64 {
			before := dials.Load()
			for range 6 {
				req := exactly("Hello", 2)
				req.Stream = stream
				_, err := m.Generate(t.Context(), req)
				require.NoError(t, err)
			}
			return dials.Load() - before
		}
		assert.LessOrEqual(t, six(false), int64(1))
		// Streams too, unless the server closes the connection: llama.cpp does.
		t.Logf("connections for 6 streams: %d", six(true))
	})
	t.Run("given up", func(t *testing.T) {
		req := exactly("Tell me a long story.", 400)
		req.Stream = true
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		late, err := m.Generate(ctx, req)
		if err == nil {
			t.Skip("the server is too quick to be given up on")
		}
		assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
		assert.NotEmpty(t, late.Text, "what had come is kept")
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		ctx = wire.WithMiddleware(ctx, wire.MiddlewareFunc(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil {
				resp.Body = &readThen{ReadCloser: resp.Body, reads: 5, then: cancel}
			}
			return resp, err
		}))
		r, err := m.Generate(ctx, req)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, llm.KindCanceled, llm.KindOf(err))
		assert.True(t, strings.HasPrefix(late.Text, r.Text) || strings.HasPrefix(r.Text, late.Text), "%q and %q", r.Text, late.Text)
	})
}

// TestRealServerRecorded records a real server, replays without it, and asks
// it again only for what changed.
func TestRealServerRecorded(t *testing.T) {
	cfg, dials := realServer(t)
	path := filepath.Join(t.TempDir(), "c.jsonl.gz")
	prompts := []string{"Name a colour.", "Name an animal.", "Name a town."}
	pass := func(mode cassette.Mode, cfg openai.Config) (texts []string, stats cassette.Stats) {
		c, err := cassette.Open(path, cassette.Options{Mode: mode})
		require.NoError(t, err)
		m := call.New(cfg.New(), call.Config{})
		for i, p := range prompts {
			for _, stream := range []bool{false, true} {
				req := exactly(p, 8)
				req.Stream = stream
				r, err := m.Generate(wire.WithMiddleware(llm.WithItem(t.Context(), prompts[i]), c), req)
				require.NoError(t, err)
				texts = append(texts, r.Text)
			}
		}
		stats = c.Stats()
		require.NoError(t, c.Close())
		return texts, stats
	}
	recorded, stats := pass(cassette.Record, cfg)
	stats.Skipped = 0 // calls that met a closed connection, and were made again
	assert.Equal(t, cassette.Stats{Entries: 6, Recorded: 6}, stats)
	gone := cfg
	gone.HTTPClient = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("the server is gone")
	})}
	replayed, stats := pass(cassette.Replay, gone)
	assert.Equal(t, recorded, replayed)
	assert.Equal(t, cassette.Stats{Entries: 6, Replayed: 6}, stats)
	before := dials.Load()
	prompts[1] = "Name a river."
	auto, stats := pass(cassette.Auto, cfg)
	stats.Skipped = 0
	assert.Equal(t, cassette.Stats{Entries: 8, Replayed: 4, Recorded: 2}, stats)
	assert.Equal(t, recorded[:2], auto[:2])
	assert.LessOrEqual(t, dials.Load()-before, int64(2), "one for each of the two calls, if the server keeps none")
}
