package gemini_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
)

func token(v string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return v, nil }
}

// TestTargets: what is called, and with what, by Config and environment.
func TestTargets(t *testing.T) {
	const (
		key   = "AIza-key-0123456789"
		other = "AIza-other-0123456789"
		tok   = "ya29.token-0123456789"
		gl    = "generativelanguage.googleapis.com"
		ai    = "aiplatform.googleapis.com"
		m     = "/publishers/google/models/gemini-2.5-flash:generateContent"
		local = "127.0.0.1"
	)
	both := map[string]string{"GOOGLE_API_KEY": key, "GEMINI_API_KEY": other}
	vertex := map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "true"}
	with := func(env map[string]string, more ...string) map[string]string {
		out := map[string]string{}
		for k, v := range env {
			out[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	rows := []struct {
		name, reason string
		env          map[string]string
		cfg          gemini.Config
		host, path   string
		key, bearer  string
		provider     string
	}{
		{"Gemini API", "the SDK's own address", map[string]string{"GOOGLE_API_KEY": key}, gemini.Config{}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", key, "", "gemini"},
		{"second key", "either variable holds it", map[string]string{"GEMINI_API_KEY": other}, gemini.Config{}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", other, "", "gemini"},
		{"both keys", "the first counts, and nothing is printed", both, gemini.Config{}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", key, "", "gemini"},
		{"a variable of one's own", "no other is read", with(both, "MINE", "mine-0123456789"), gemini.Config{KeyEnv: "MINE"}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", "mine-0123456789", "", "gemini"},
		{"not Vertex AI", "the variable says no, whatever project there is", with(both, "GOOGLE_GENAI_USE_VERTEXAI", "false", "GOOGLE_CLOUD_PROJECT", "p"), gemini.Config{}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", key, "", "gemini"},
		{"the Gemini API by the program", "it counts more than the environment", with(both, "GOOGLE_GENAI_USE_VERTEXAI", "true", "GOOGLE_CLOUD_PROJECT", "p"), gemini.Config{GeminiAPI: true}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", key, "", "gemini"},
		{"the Gemini API whatever the variable is", "it is not asked", with(both, "GOOGLE_GENAI_USE_VERTEXAI", "perhaps"), gemini.Config{GeminiAPI: true}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", key, "", "gemini"},
		{"full name", "the prefix is not doubled", both, gemini.Config{Model: "models/gemini-2.5-flash"}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", key, "", "gemini"},
		{"tuned", "another kind of model has another path", both, gemini.Config{Model: "tunedModels/x"}, gl, "/v1beta/tunedModels/x:generateContent", key, "", "gemini"},
		{"local", "needs no key", nil, gemini.Config{BaseURL: "http://127.0.0.1"}, local, "/v1beta/models/gemini-2.5-flash:generateContent", "", "", "gemini"},
		{"version in the base URL", "it is not doubled", nil, gemini.Config{BaseURL: "http://127.0.0.1/x/v1/"}, local, "/x/v1/models/gemini-2.5-flash:generateContent", "", "", "gemini"},
		{"base URL of the environment", "the variable of the SDK", map[string]string{"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1/v1alpha"}, gemini.Config{}, local, "/v1alpha/models/gemini-2.5-flash:generateContent", "", "", "gemini"},
		{"key in a header", "stands in for one", nil, gemini.Config{Header: http.Header{"x-goog-api-key": {key}}}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", key, "", "gemini"},
		{"another name", "Provider stands in errors", both, gemini.Config{Provider: "acme"}, gl, "/v1beta/models/gemini-2.5-flash:generateContent", key, "", "acme"},

		{"Vertex AI", "the location is part of the host", with(vertex, "GOOGLE_CLOUD_PROJECT", "acme", "GOOGLE_CLOUD_LOCATION", "us-central1"), gemini.Config{Credentials: token(tok)}, "us-central1-" + ai, "/v1beta1/projects/acme/locations/us-central1" + m, "", tok, "vertex"},
		{"Vertex AI by Config", "no variable is needed", nil, gemini.Config{Vertex: true, Project: "acme", Location: "europe-west4", Credentials: token(tok)}, "europe-west4-" + ai, "/v1beta1/projects/acme/locations/europe-west4" + m, "", tok, "vertex"},
		{"global", "the default location", nil, gemini.Config{Vertex: true, Project: "acme", Credentials: token(tok)}, ai, "/v1beta1/projects/acme/locations/global" + m, "", tok, "vertex"},
		{"a region of several", "it has a host of its own kind", nil, gemini.Config{Vertex: true, Project: "acme", Location: "eu", Credentials: token(tok)}, "aiplatform.eu.rep.googleapis.com", "/v1beta1/projects/acme/locations/eu" + m, "", tok, "vertex"},
		{"Config before environment", "what the program says counts", with(vertex, "GOOGLE_CLOUD_PROJECT", "theirs", "GOOGLE_CLOUD_LOCATION", "us-east1", "GOOGLE_API_KEY", key), gemini.Config{Project: "mine", Location: "us-west1", Credentials: token(tok)}, "us-west1-" + ai, "/v1beta1/projects/mine/locations/us-west1" + m, "", tok, "vertex"},
		{"project before key", "credentials are used, not the key", with(vertex, "GOOGLE_CLOUD_PROJECT", "acme", "GOOGLE_API_KEY", key), gemini.Config{Credentials: token(tok)}, ai, "/v1beta1/projects/acme/locations/global" + m, "", tok, "vertex"},
		{"express", "a key and no project", with(vertex, "GOOGLE_API_KEY", key), gemini.Config{}, ai, "/v1beta1" + m, key, "", "vertex"},
		{"express with both keys", "the first one counts there too", with(both, "GOOGLE_GENAI_USE_VERTEXAI", "1"), gemini.Config{}, ai, "/v1beta1" + m, key, "", "vertex"},
		{"express by Config", "a key that is named counts more than a project of the environment", with(both, "GOOGLE_CLOUD_PROJECT", "acme", "GOOGLE_CLOUD_LOCATION", "us-east1", "MINE", "mine-0123456789"), gemini.Config{Vertex: true, KeyEnv: "MINE"}, ai, "/v1beta1" + m, "mine-0123456789", "", "vertex"},
		{"key and project", "both are named", map[string]string{"MINE": "mine-0123456789"}, gemini.Config{Vertex: true, KeyEnv: "MINE", Project: "acme"}, ai, "/v1beta1/projects/acme/locations/global" + m, "mine-0123456789", "", "vertex"},
		{"another publisher", "the name before the slash is its", nil, gemini.Config{Vertex: true, Project: "acme", Model: "meta/llama", Credentials: token(tok)}, ai, "/v1beta1/projects/acme/locations/global/publishers/meta/models/llama:generateContent", "", tok, "vertex"},
		{"publisher's full name", "the path is not doubled", nil, gemini.Config{Vertex: true, Project: "acme", Model: "publishers/google/models/gemini-2.5-flash", Credentials: token(tok)}, ai, "/v1beta1/projects/acme/locations/global" + m, "", tok, "vertex"},
		{"name of the other API", "the same model by its other name", nil, gemini.Config{Vertex: true, Project: "acme", Model: "models/gemini-2.5-flash", Credentials: token(tok)}, ai, "/v1beta1/projects/acme/locations/global" + m, "", tok, "vertex"},
		{"endpoint", "a full path is taken as it is", nil, gemini.Config{Vertex: true, Project: "acme", Model: "projects/p/locations/l/endpoints/7", Credentials: token(tok)}, ai, "/v1beta1/projects/p/locations/l/endpoints/7:generateContent", "", tok, "vertex"},
		{"local Vertex AI", "no credentials of Google's are looked for", with(vertex, "GOOGLE_CLOUD_PROJECT", "acme"), gemini.Config{BaseURL: "http://127.0.0.1"}, local, "/v1beta1/projects/acme/locations/global" + m, "", "", "vertex"},
		{"local with credentials", "they were asked for", with(vertex, "GOOGLE_CLOUD_PROJECT", "acme"), gemini.Config{BaseURL: "http://127.0.0.1", Credentials: token(tok)}, local, "/v1beta1/projects/acme/locations/global" + m, "", tok, "vertex"},
		{"gateway without project", "it may know by itself", map[string]string{"GOOGLE_VERTEX_BASE_URL": "https://gateway.example/v1"}, gemini.Config{Vertex: true, Credentials: token(tok)}, "gateway.example", "/v1" + m, "", tok, "vertex"},
		{"token in a header", "stands in for credentials", nil, gemini.Config{Vertex: true, Project: "acme", Header: http.Header{"Authorization": {"Bearer " + tok}}}, ai, "/v1beta1/projects/acme/locations/global" + m, "", tok, "vertex"},
	}
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(t, seen[r.name], "two rows are called %q", r.name)
		seen[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			silent(t)
			for k, v := range r.env {
				t.Setenv(k, v)
			}
			s := serve(llmOK)
			cfg := r.cfg
			cfg.HTTPClient = s.client()
			if cfg.Model == "" {
				cfg.Model = "gemini-2.5-flash"
			}
			_, err := ask(t, s, cfg, llm.Prompt("q"))
			require.NoError(t, err, r.reason)
			got := s.last(t)
			assert.Equal(t, r.host, got.host, r.reason)
			assert.Equal(t, r.path, got.path, r.reason)
			assert.Empty(t, got.query)
			assert.Equal(t, r.key, got.header.Get("X-Goog-Api-Key"), r.reason)
			bearer := ""
			if r.bearer != "" {
				bearer = "Bearer " + r.bearer
			}
			assert.Equal(t, bearer, got.header.Get("Authorization"), r.reason)

			_, err = ask(t, s, cfg, streamed("q"))
			require.NoError(t, err)
			assert.Equal(t, "alt=sse", s.last(t).query)

			s.Handler = http.HandlerFunc(llmFail)
			_, err = ask(t, s, cfg, llm.Prompt("q"))
			assert.Equal(t, r.provider, failing(t, err, llm.KindServer).Provider)
		})
	}
}

var llmOK = func(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery == "alt=sse" {
		events(ev(ok))(w, r)
		return
	}
	body(ok)(w, r)
}

func llmFail(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }

func TestWrongTargets(t *testing.T) {
	rows := []struct {
		name string
		env  map[string]string
		cfg  gemini.Config
		kind llm.ErrorKind
		says string
	}{
		{"no key", nil, gemini.Config{}, llm.KindAuth, "no key: set the environment variable GOOGLE_API_KEY or GEMINI_API_KEY"},
		{"no key of one's own", map[string]string{"GOOGLE_API_KEY": "AIza-0123456789"}, gemini.Config{KeyEnv: "MINE"}, llm.KindAuth, "set the environment variable MINE"},
		{"no project", nil, gemini.Config{Vertex: true}, llm.KindAuth, "set the environment variable GOOGLE_CLOUD_PROJECT"},
		{"no key for a project", nil, gemini.Config{Vertex: true, Project: "acme", KeyEnv: "MINE"}, llm.KindAuth, "set the environment variable MINE"},
		{"location without project", map[string]string{"MINE": "mine-0123456789"}, gemini.Config{Vertex: true, Location: "us-east1", KeyEnv: "MINE"}, llm.KindBadRequest, `Config.Location is "us-east1", but there is no project`},
		{"neither true nor false", map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "vertex"}, gemini.Config{}, llm.KindBadRequest, `GOOGLE_GENAI_USE_VERTEXAI is "vertex"`},
		{"project for the Gemini API", nil, gemini.Config{Project: "acme"}, llm.KindBadRequest, "which are Vertex AI's"},
		{"project for the Gemini API, by the program", map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "true"}, gemini.Config{GeminiAPI: true, Project: "acme"}, llm.KindBadRequest, "which are Vertex AI's"},
		{"line end in a key", map[string]string{"GOOGLE_API_KEY": "AIza-0123456789\n"}, gemini.Config{}, llm.KindAuth, `holds the character '\n'`},
		{"line end in a token", nil, gemini.Config{Vertex: true, Project: "acme", Credentials: token("ya29.0123456789\n")}, llm.KindAuth, "the line end of a file"},
		{"location as a host", map[string]string{"GOOGLE_CLOUD_LOCATION": "evil.example/#"}, gemini.Config{Vertex: true, Project: "acme"}, llm.KindBadRequest, "GOOGLE_CLOUD_LOCATION"},
		{"project as a path", map[string]string{"GOOGLE_CLOUD_PROJECT": "../x"}, gemini.Config{Vertex: true}, llm.KindBadRequest, "GOOGLE_CLOUD_PROJECT"},
		{"no URL", map[string]string{"GOOGLE_GEMINI_BASE_URL": "nothing"}, gemini.Config{}, llm.KindBadRequest, `GOOGLE_GEMINI_BASE_URL is "nothing"`},
		{"no token", nil, gemini.Config{Vertex: true, Project: "acme", Credentials: token("")}, llm.KindAuth, "the access token is empty"},
		{"refused", nil, gemini.Config{Vertex: true, Project: "acme", Credentials: func(context.Context) (string, error) { return "", errors.New("nobody logged in") }}, llm.KindAuth, "nobody logged in"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			silent(t)
			for k, v := range r.env {
				t.Setenv(k, v)
			}
			s := serve(llmOK)
			cfg := r.cfg
			cfg.Model, cfg.HTTPClient = "gemini-2.5-flash", s.client()
			_, err := cfg.New().Generate(t.Context(), llm.Prompt("q"))
			failing(t, err, r.kind, r.says)
			assert.Zero(t, s.Calls(), "nothing was sent")
		})
	}
}

func TestKeyIsReadAtEachCall(t *testing.T) {
	s := serve(llmOK)
	cfg := gemini.Config{Model: "gemini-2.5-flash", HTTPClient: s.client()}
	m := cfg.New()
	for _, key := range []string{"AIza-first-0123456789", "AIza-second-0123456789"} {
		t.Setenv(gemini.SecondKeyEnv, key)
		_, err := m.Generate(t.Context(), llm.Prompt("q"))
		require.NoError(t, err)
		assert.Equal(t, key, s.last(t).header.Get("X-Goog-Api-Key"))
	}
}

func TestHeaders(t *testing.T) {
	s := serve(llmOK)
	cfg := s.config()
	cfg.Header = http.Header{"x-title": {"evals"}}
	_, err := ask(t, s, cfg, llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, "evals", s.last(t).header.Get("X-Title"))
	assert.Empty(t, s.last(t).header.Get("X-Goog-Api-Key"), "no key, no header")
	assert.Contains(t, s.last(t).header.Get("User-Agent"), "google-genai-sdk/")
	assert.Equal(t, http.Header{"x-title": {"evals"}}, cfg.Header)
}

// TestRedirects: keys go to no other host, and a POST stays one.
func TestRedirects(t *testing.T) {
	var stolen []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Method+" "+r.Header.Get("X-Goog-Api-Key"))
	}))
	defer other.Close()
	t.Setenv(gemini.DefaultKeyEnv, "AIza-topsecret-0123456789")
	rows := []struct {
		name, reason string
		to           string
		status       int
		ok           bool
	}{
		{"another path", "the same request to the same host", "/new", 307, true},
		{"for ever", "the same request to the same host", "/new", 308, true},
		{"another host", "the key must not go there", "http://localhost:" + other.URL[len("http://127.0.0.1:"):], 307, false},
		{"POST to GET", "a GET asks for something else", "/new", 302, false},
		{"in circles", "it must end", "/v1beta/models/gemini-2.5-flash:generateContent", 307, false},
		{"to nowhere", "net/http takes it as the answer", "", 307, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path == "/new" {
					body(ok)(w, req)
					return
				}
				if r.to != "" {
					w.Header().Set("Location", r.to)
				}
				w.WriteHeader(r.status)
			}))
			defer s.Close()
			m := gemini.Config{Model: "gemini-2.5-flash", BaseURL: s.URL}.New()
			resp, err := m.Generate(t.Context(), llm.Prompt("q"))
			if r.ok {
				require.NoError(t, err, r.reason)
				assert.Equal(t, "18", resp.Text)
				return
			}
			failing(t, err, llm.KindBadResponse, "redirect")
		})
	}
	assert.Empty(t, stolen)
}
