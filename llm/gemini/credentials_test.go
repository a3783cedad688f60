package gemini_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/wire"
)

const accessToken = "ya29.topsecret-0123456789-0123456789"

// tokenServer is where an access token comes from, on loopback.
func tokenServer(t *testing.T, h http.HandlerFunc) (url string, calls *atomic.Int64) {
	calls = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

func giveToken(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3599}`, accessToken)
}

var privateKey = sync.OnceValue(func() string {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	b, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}))
})

// serviceAccount writes a credentials file whose tokens come from url, and
// names it in the environment.
func serviceAccount(t *testing.T, url string) {
	b, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "acme", "client_email": "evals@acme.iam.gserviceaccount.com",
		"private_key_id": "k1", "private_key": privateKey(), "token_uri": url,
	})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "credentials.json")
	require.NoError(t, os.WriteFile(file, b, 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
}

// onVertex is a Config whose calls go to s, as Google's own host.
func onVertex(s *server) gemini.Config {
	return gemini.Config{Model: "gemini-2.5-flash", Vertex: true, Project: "acme", Location: "us-central1", HTTPClient: s.client()}
}

func TestDefaultCredentials(t *testing.T) {
	url, tokens := tokenServer(t, func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, r.ParseForm())
		assert.NotEmpty(t, r.Form.Get("assertion"))
		giveToken(w, r)
	})
	serviceAccount(t, url)
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "payer")
	s := serve(llmOK)
	m := onVertex(s).New()
	var log llm.CallLog
	ctx := llm.WithCallLog(t.Context(), &log)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := m.Generate(ctx, llm.Prompt("q"))
		assert.NoError(t, err)
	})
	wg.Wait()
	for range 3 {
		_, err := m.Generate(ctx, streamed("q"))
		require.NoError(t, err)
	}
	for _, got := range s.got {
		assert.Equal(t, "us-central1-aiplatform.googleapis.com", got.host)
		assert.Equal(t, "Bearer "+accessToken, got.header.Get("Authorization"), "the SDK adds none to an HTTPClient of one's own")
		assert.Equal(t, "payer", got.header.Get("X-Goog-User-Project"))
		assert.Empty(t, got.header.Get("X-Goog-Api-Key"))
	}
	assert.Equal(t, int64(1), tokens.Load(), "one token for four calls")
	assert.Len(t, log.Calls(), 4, "the token's fetching is no call to a model")

	url, _ = tokenServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"ya29.another-0123456789","expires_in":3599}`)
	})
	serviceAccount(t, url)
	_, err := m.Generate(ctx, llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, "Bearer ya29.another-0123456789", s.last(t).header.Get("Authorization"), "the environment names another file")
}

func TestMetadataServer(t *testing.T) {
	url, _ := tokenServer(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/instance/service-accounts/default/token") {
			http.NotFound(w, r)
			return
		}
		assert.Equal(t, "Google", r.Header.Get("Metadata-Flavor"))
		giveToken(w, r)
	})
	t.Setenv("HOME", t.TempDir()) // no file that gcloud left
	t.Setenv("APPDATA", t.TempDir())
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(url, "http://"))
	s := serve(llmOK)
	_, err := ask(t, s, onVertex(s), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, "Bearer "+accessToken, s.last(t).header.Get("Authorization"))
}

func TestCredentialFailures(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	rows := []struct {
		name, reason string
		h            http.HandlerFunc // nil: nobody listens
		kind         llm.ErrorKind
		says         string
	}{
		{"refused", "nothing heals it", answer(400, `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`), llm.KindAuth, "gcloud auth application-default login"},
		{"busy", "it may pass", answer(503, `later`), llm.KindServer, "no access token"},
		{"nobody there", "it may pass", nil, llm.KindConnection, "no access token"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			url := "http://127.0.0.1:1"
			if r.h != nil {
				url, _ = tokenServer(t, r.h)
			}
			serviceAccount(t, url)
			s := serve(llmOK)
			_, err := onVertex(s).New().Generate(t.Context(), llm.Prompt("q"))
			le := failing(t, err, r.kind, r.says)
			assert.Equal(t, "vertex", le.Provider)
			assert.Zero(t, s.Calls(), r.reason)
		})
	}
	t.Run("no such file", func(t *testing.T) {
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
		s := serve(llmOK)
		m := onVertex(s).New()
		_, err := m.Generate(t.Context(), llm.Prompt("q"))
		failing(t, err, llm.KindAuth, "none.json", "GOOGLE_APPLICATION_CREDENTIALS")

		url, _ := tokenServer(t, giveToken)
		serviceAccount(t, url)
		_, err = m.Generate(t.Context(), llm.Prompt("q"))
		require.NoError(t, err, "the environment is asked again")
	})
}

// TestHangingTokenServer: a call ends with its context, whatever it waits for.
func TestHangingTokenServer(t *testing.T) {
	release := make(chan struct{})
	url, _ := tokenServer(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	serviceAccount(t, url)
	s := serve(llmOK)
	m := onVertex(s).New()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for range 2 { // one fetches, one waits for it
		wg.Go(func() {
			_, err := m.Generate(ctx, llm.Prompt("q"))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
		})
	}
	wg.Wait()
	assert.Zero(t, s.Calls())
}

// TestTokenIsNowhere: the token comes to the request below everything that
// looks for secrets, and must not come back.
func TestTokenIsNowhere(t *testing.T) {
	echo := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Echo", r.Header.Get("Authorization"))
			h := body(strings.ReplaceAll(answer, "TOKEN", accessToken))
			if r.URL.RawQuery == "alt=sse" {
				h = events(ev(strings.ReplaceAll(answer, "TOKEN", accessToken)))
			}
			h(w, r)
		}
	}
	for name, answer := range map[string]string{
		"answer": `{"candidates":[{"content":{"parts":[{"text":"my token is TOKEN!"}]},"finishReason":"STOP"}],"modelVersion":"TOKEN"}`,
		"error":  `{"error":{"code":500,"message":"wrong: TOKEN"}}`,
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", name, stream), func(t *testing.T) {
				s := serve(echo(answer))
				cfg := onVertex(s)
				cfg.Credentials = token(accessToken)
				var log llm.CallLog
				var capture wire.Capture
				req := llm.Prompt("q")
				req.Stream = stream
				resp, err := cfg.New().Generate(wire.WithCapture(llm.WithCallLog(t.Context(), &log), &capture), req)
				if name == "answer" {
					require.NoError(t, err)
					assert.Equal(t, "my token is [masked]!", resp.Text)
					assert.Contains(t, joined(resp.Warnings), "held the key")
				}
				got := capture.Get()
				shown := fmt.Sprintf("%+v %+v %v %s %v", resp, err, log.Calls(), got.Body, got.Header)
				assert.NotContains(t, shown, "topsecret")
				assert.Contains(t, string(got.Body), "[masked]")
			})
		}
	}
}
