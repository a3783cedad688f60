package gemini_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
)

// TestMain keeps the machine's own keys and projects out of the tests.
func TestMain(m *testing.M) {
	for _, name := range []string{
		gemini.DefaultKeyEnv, gemini.SecondKeyEnv, gemini.VertexEnv, gemini.ProjectEnv, gemini.LocationEnv,
		gemini.GeminiBaseURLEnv, gemini.VertexBaseURLEnv, "GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_CLOUD_REGION",
		"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_QUOTA_PROJECT",
	} {
		os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// sent is a request as the server got it.
type sent struct {
	path   string
	query  string
	host   string
	header http.Header
	body   json.RawMessage
}

// server is a provider of one answer, in memory.
type server struct {
	llmtest.Memory
	got []sent
}

// serve answers every call with h.
func serve(h http.HandlerFunc) *server {
	s := &server{}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.got = append(s.got, sent{r.URL.Path, r.URL.RawQuery, r.URL.Host, r.Header.Clone(), b})
		h(w, r)
	})
	return s
}

func (s *server) last(t *testing.T) sent {
	t.Helper()
	require.NotEmpty(t, s.got, "nothing was sent")
	return s.got[len(s.got)-1]
}

// config is a client's that calls s, which it takes for a server on this
// machine.
func (s *server) config() gemini.Config {
	return gemini.Config{Model: "gemini-2.5-flash", BaseURL: "http://127.0.0.1", HTTPClient: s.client()}
}

func (s *server) client() *http.Client { return &http.Client{Transport: &s.Memory} }

// field is the value at a path of the body that was sent, "" if there is none.
func (s sent) field(t *testing.T, path ...string) string {
	t.Helper()
	raw := s.body
	for _, name := range path {
		var m map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &m), "%s", s.body)
		raw = m[name]
	}
	return string(raw)
}

func body(s string) http.HandlerFunc      { return llmtest.Status(200, s) }
func events(s ...string) http.HandlerFunc { return llmtest.Stream(s...) }

// ok is a good answer; ev makes an event of a chunk.
const ok = `{"candidates":[{"content":{"parts":[{"text":"18"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4},"modelVersion":"gemini-2.5-flash","responseId":"r1"}`

func ev(chunk string) string { return "data: " + chunk + "\r\n\r\n" }

// text is a chunk that adds text, end one that ends the answer.
func text(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return ev(`{"candidates":[{"content":{"parts":[{"text":` + string(b) + `}],"role":"model"}}]}`)
}

func end(reason string) string {
	return ev(`{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"` + reason + `"}]}`)
}

func streamed(text string) llm.Request {
	r := llm.Prompt(text)
	r.Stream = true
	return r
}

// ask makes one call and checks what holds for every call: it is logged once,
// and no body is left open.
func ask(t *testing.T, s *server, cfg gemini.Config, req llm.Request) (llm.Response, error) {
	t.Helper()
	var log llm.CallLog
	before := s.Calls()
	resp, err := cfg.New().Generate(llm.WithCallLog(t.Context(), &log), req)
	s.Wait()
	assert.Len(t, log.Calls(), s.Calls()-before, "each call is logged once")
	assert.Zero(t, s.OpenBodies())
	if err != nil {
		var le *llm.Error
		require.ErrorAs(t, err, &le)
	}
	return resp, err
}

// silent fails the test if anything is logged meanwhile.
func silent(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	old := log.Writer()
	log.SetOutput(&b)
	t.Cleanup(func() {
		log.SetOutput(old)
		assert.Empty(t, b.String(), "the SDK logged")
	})
}

// failing is a Model's error of this kind.
func failing(t *testing.T, err error, kind llm.ErrorKind, says ...string) *llm.Error {
	t.Helper()
	require.Error(t, err)
	var le *llm.Error
	require.ErrorAs(t, err, &le)
	assert.Equal(t, kind, le.Kind, "%v", err)
	for _, s := range says {
		assert.Contains(t, err.Error(), s)
	}
	return le
}

func joined(list []string) string { return strings.Join(list, "\n") }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
