package gemini_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// TestCassette records through the client and replays without a key, without
// credentials and without a server; the times of a stream are the recorded
// ones.
func TestCassette(t *testing.T) {
	const secret = "AIza-topsecret-0123456789"
	for _, api := range []string{"Gemini API", "Vertex AI"} {
		t.Run(api, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.jsonl")
			var recorded []llm.Response
			t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere")
			config := func(s *server) gemini.Config {
				cfg := gemini.Config{Model: "gemini-2.5-flash", HTTPClient: s.client()}
				if api == "Vertex AI" {
					cfg.Vertex, cfg.Project = true, "acme"
				}
				return cfg
			}
			ask := func(t *testing.T, mode cassette.Mode, cfg gemini.Config, check func(i int, r llm.Response)) {
				c, err := cassette.Open(path, cassette.Options{Mode: mode})
				require.NoError(t, err)
				for i, stream := range []bool{false, true} {
					req := llm.Prompt("q")
					req.Stream, req.Temperature = stream, new(0.0)
					r, err := cfg.New().Generate(wire.WithMiddleware(llm.WithItem(t.Context(), "1"), c), req)
					require.NoError(t, err)
					check(i, r)
				}
				require.NoError(t, c.Close())
			}
			synctest.Test(t, func(t *testing.T) {
				s := serve(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.RawQuery == "alt=sse" {
						llmtest.SlowStream(time.Second, text("1"), text("8"), ev(strings.Replace(ok, `"18"`, `""`, 1)))(w, r)
						return
					}
					body(ok)(w, r)
				})
				cfg := config(s)
				cfg.Header = http.Header{"X-Goog-Api-Key": {secret}}
				if cfg.Vertex {
					cfg.Header, cfg.Credentials = nil, token(secret)
				}
				ask(t, cassette.Record, cfg, func(_ int, r llm.Response) {
					assert.False(t, r.Replayed)
					recorded = append(recorded, r)
				})
				assert.Equal(t, []time.Duration{time.Second, 2 * time.Second}, recorded[1].Chunks)
			})
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.NotContains(t, string(b), "topsecret")

			s := serve(llmFail)
			ask(t, cassette.Replay, config(s), func(i int, r llm.Response) {
				assert.True(t, r.Replayed)
				assert.Equal(t, "18", r.Text)
				assert.Equal(t, recorded[i].Usage, r.Usage)
				assert.Equal(t, recorded[i].Chunks, r.Chunks)
				assert.Equal(t, recorded[i].Timing.Total, r.Timing.Total)
			})
			assert.Zero(t, s.Calls(), "a replay asks nobody")
		})
	}
}

// TestTokenInNoCassette: the recording does not know the token, so it must not
// see it.
func TestTokenInNoCassette(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	s := serve(func(w http.ResponseWriter, r *http.Request) {
		body(strings.Replace(ok, `"18"`, `"`+r.Header.Get("Authorization")+`"`, 1))(w, r)
	})
	cfg := onVertex(s)
	cfg.Credentials = token(accessToken)
	c, err := cassette.Open(path, cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	r, err := cfg.New().Generate(wire.WithMiddleware(t.Context(), c), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, "Bearer [masked]", r.Text)
	require.NoError(t, c.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(b), "Bearer [masked]")
	assert.NotContains(t, string(b), "topsecret")
}
