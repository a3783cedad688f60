package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// seen answers every call and keeps the last one.
type seen struct {
	calls int
	last  *http.Request
	base  http.RoundTripper
}

func (s *seen) RoundTrip(req *http.Request) (*http.Response, error) {
	s.calls++
	s.last = req
	return everyPath{s.base}.RoundTrip(req)
}

func newSeen() *seen { return &seen{base: new(llmtest.Server).Memory()} }

func TestProviders(t *testing.T) {
	for _, p := range presets {
		t.Run(p.url, func(t *testing.T) {
			t.Setenv(openai.DefaultKeyEnv, "sk-openai-0123456789")
			t.Setenv(p.key, "sk-its-own-0123456789")
			s := newSeen()
			cfg := p.cfg
			cfg.HTTPClient = &http.Client{Transport: s}
			_, err := cfg.New().Generate(t.Context(), llm.Prompt("q"))
			require.NoError(t, err)
			assert.Equal(t, p.url, s.last.URL.String())
			want := "sk-its-own-0123456789"
			for _, name := range []string{"Authorization", "Api-Key"} {
				switch {
				case name != p.head:
					assert.Empty(t, s.last.Header.Get(name))
				case name == "Authorization":
					assert.Equal(t, "Bearer "+want, s.last.Header.Get(name))
				default:
					assert.Equal(t, want, s.last.Header.Get(name))
				}
			}
		})
	}
}

func TestProviderNamesErrors(t *testing.T) {
	names := map[string]bool{}
	for _, p := range presets {
		s := &llmtest.Server{Reply: raw(llmtest.Status(500, `{"error":{"message":"m"}}`))}
		cfg := p.cfg
		cfg.HTTPClient, cfg.KeyOptional = &http.Client{Transport: everyPath{s.Memory()}}, true
		_, err := cfg.New().Generate(t.Context(), llm.Prompt("q"))
		var le *llm.Error
		require.ErrorAs(t, err, &le)
		assert.NotEmpty(t, le.Provider)
		names[le.Provider] = true
	}
	assert.Len(t, names, 12)
}

// TestOpenAIsKeyStaysHome: a key goes to another server than OpenAI's only if
// the program or OPENAI_BASE_URL says so.
func TestOpenAIsKeyStaysHome(t *testing.T) {
	const key = "sk-openai-0123456789"
	rows := []struct {
		name, reason string
		cfg          openai.Config
		env          string // OPENAI_BASE_URL
		sent         bool   // the key
		refused      string // "" if the call is made
	}{
		{"OpenAI", "the default", openai.Config{}, "", true, ""},
		{"OpenAI by name", "the key is its own", openai.Config{BaseURL: "https://api.openai.com/v1"}, "", true, ""},
		{"OpenAI in Europe", "the key is its own there too", openai.Config{BaseURL: "https://eu.api.openai.com/v1"}, "", true, ""},
		{"like OpenAI", "another's host", openai.Config{BaseURL: "https://api.openai.com.example.com/v1"}, "", false, "api.openai.com.example.com"},
		{"OPENAI_BASE_URL", "the two variables are one setting", openai.Config{}, "https://gateway.example.com/v1", true, ""},
		{"OPENAI_BASE_URL, own key", "the key that is named counts, not the default's", openai.Config{KeyEnv: "UNSET"}, "https://gateway.example.com/v1", false, "UNSET"},
		{"another server", "it was sent before", openai.Config{BaseURL: "https://api.example.com/v1"}, "", false, "Config.KeyEnv"},
		{"another server, said so", "the program says so", openai.Config{BaseURL: "https://api.example.com/v1", KeyEnv: openai.DefaultKeyEnv}, "", true, ""},
		{"this machine", "none is asked for", openai.Config{BaseURL: "http://127.0.0.1:8000/v1"}, "", false, ""},
		{"this network", "a server of one's own that wants none", openai.Config{BaseURL: "http://gpu:8000/v1", KeyOptional: true}, "", false, ""},
		{"own header", "whoever sends a key of his own needs no other", openai.Config{BaseURL: "https://api.example.com/v1", Header: http.Header{"X-Api-Key": {"abcdefgh-1"}}}, "", false, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Setenv(openai.DefaultKeyEnv, key)
			t.Setenv(openai.DefaultBaseURLEnv, r.env)
			t.Setenv("UNSET", "")
			s := newSeen()
			r.cfg.Model, r.cfg.HTTPClient = "m", &http.Client{Transport: s}
			_, err := r.cfg.New().Generate(t.Context(), llm.Prompt("q"))
			if r.refused != "" {
				require.ErrorContains(t, err, r.refused, r.reason)
				assert.Equal(t, llm.KindAuth, llm.KindOf(err))
				assert.NotContains(t, err.Error(), key)
				assert.Zero(t, s.calls)
				return
			}
			require.NoError(t, err, r.reason)
			shown := strings.Contains(strings.Join(s.last.Header["Authorization"], ""), key)
			assert.Equal(t, r.sent, shown, r.reason)
		})
	}
}

func TestMisusedProviders(t *testing.T) {
	for want, cfg := range map[string]openai.Config{
		"Model is empty":           openai.DeepSeek(""),
		`BaseURL is "/openai/v1"`:  openai.Azure("", "d"),
		`BaseURL is "gpu:8000/v1"`: openai.VLLM("gpu:8000/v1", "m"),
		`Dialect is "thinking"`:    {Model: "m", Dialect: "thinking"},
		`KeyHeader is "X-Mine"`:    {Model: "m", KeyHeader: "X-Mine"},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() { assert.Contains(t, recover(), want) }()
			cfg.New()
		})
	}
}

// TestQueryOfBaseURL: what stands in the query goes with each call, behind the
// path, and no key in it is shown.
func TestQueryOfBaseURL(t *testing.T) {
	s := newSeen()
	cfg := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1/?api-version=1&key=abcdefgh-12345", HTTPClient: &http.Client{Transport: s}}
	_, err := cfg.New().Generate(t.Context(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1/v1/chat/completions?api-version=1&key=abcdefgh-12345", s.last.URL.String())
	s.base = (&llmtest.Server{Reply: raw(llmtest.Status(401, `{"error":"abcdefgh-12345"}`))}).Memory()
	_, err = cfg.New().Generate(t.Context(), llm.Prompt("q"))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "abcdefgh")
}

func TestConformanceOfProviders(t *testing.T) {
	for _, p := range presets {
		t.Run(p.url, func(t *testing.T) {
			on := clientOf(p.cfg)
			s := llmtest.Suite{
				New:           func(t *testing.T) llm.Model { return on(t, new(llmtest.Server)) },
				Deterministic: true, Streams: true,
			}
			if p.cfg.Provider == "azure" { // faults are read alike; this one differs most in what is sent
				s.NewOn = on
			}
			s.Run(t)
		})
	}
}
