package gemini

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"
)

// TestSDKIsMadeInSilence: the SDK logs to stderr that both variables are set,
// and shows its whole configuration in errors.
func TestSDKIsMadeInSilence(t *testing.T) {
	const key = "AIza-topsecret-0123456789"
	var b bytes.Buffer
	old := log.Writer()
	log.SetOutput(&b)
	t.Cleanup(func() { log.SetOutput(old) })
	for _, name := range []string{DefaultKeyEnv, SecondKeyEnv} {
		t.Setenv(name, key)
	}
	t.Setenv(ProjectEnv, "acme")
	t.Setenv(LocationEnv, "us-east1")
	t.Setenv("GOOGLE_GENAI_USE_ENTERPRISE", "true")
	t.Setenv(VertexEnv, "false")

	_, err := genai.NewClient(context.Background(), &genai.ClientConfig{APIKey: "k", HTTPClient: http.DefaultClient})
	require.NoError(t, err)
	require.Contains(t, b.String(), "Both GOOGLE_API_KEY and GEMINI_API_KEY are set", "if the SDK has stopped this, quiet can go")
	b.Reset()

	for _, backend := range []genai.Backend{genai.BackendGeminiAPI, genai.BackendVertexAI} {
		client, err := newSDK(backend)
		require.NoError(t, err)
		assert.Equal(t, backend, client.ClientConfig().Backend, "the environment does not choose")
		assert.NotContains(t, fmt.Sprintf("%#v", client.ClientConfig()), "topsecret", "the SDK knows no key")
		assert.Same(t, &b, log.Writer(), "the log is as it was")
	}
	assert.Empty(t, b.String())

	client, err := newSDK(genai.BackendVertexAI)
	require.NoError(t, err)
	path := ""
	ex := &exchange{request: &request{}, http: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		path = r.URL.Path
		return nil, io.EOF
	})}}
	_, err = client.Models.GenerateContent(context.WithValue(t.Context(), exchangeKey{}, ex), "publishers/google/models/m", genai.Text("q"),
		&genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{BaseURL: "http://h", APIVersion: "v1"}})
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, "/v1/publishers/google/models/m:generateContent", path, "the environment's project is not put before it")

	restore := quiet()
	log.Print("an application's line")
	assert.Contains(t, b.String(), "an application's line", "other lines go through")
	var mine bytes.Buffer
	log.SetOutput(&mine)
	restore()
	assert.Same(t, &mine, log.Writer(), "what was set meanwhile stays")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSDKWithoutExchange(t *testing.T) {
	client, err := sdkClients[false]()
	require.NoError(t, err)
	_, err = client.Models.GenerateContent(t.Context(), "m", genai.Text("q"), nil)
	require.ErrorIs(t, err, errNoExchange, "it has no other way out")
}

func TestMerge(t *testing.T) {
	// The examples of RFC 7396, appendix A, as far as both sides are objects.
	rows := []struct{ name, reason, into, patch, want string }{
		{"replace", "RFC 7396's own example", `{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{"add", "RFC 7396's own example", `{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{"remove", "RFC 7396's own example", `{"a":"b"}`, `{"a":null}`, `{}`},
		{"remove one", "RFC 7396's own example", `{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{"array to text", "RFC 7396's own example", `{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{"text to array", "RFC 7396's own example", `{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{"inner", "RFC 7396's own example", `{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{"array whole", "RFC 7396's own example", `{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{"null stays", "what was there and is not named", `{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{"new inner null", "there is nothing to remove", `{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{"a name twice", "the last value counts", `{"a":1,"a":2}`, `{"a":null}`, `{}`},
		{"order and digits", "as they stand", `{"z":1.0,"a":2}`, `{"m":9007199254740993,"z":1e2}`, `{"z":1e2,"a":2,"m":9007199254740993}`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, err := merge([]byte(r.into), []byte(r.patch))
			require.NoError(t, err)
			assert.Equal(t, r.want, string(got), r.reason)
		})
	}
	_, err := set([]byte(`{"a":1}`), []byte(`2`), "a", "b")
	require.ErrorContains(t, err, `no JSON object where "b" belongs`)
}

func TestSignatureIDs(t *testing.T) {
	rows := []struct{ name, reason, id, signature, joined, sent, back string }{
		{"plain", "an id of the API's goes back as it came", "c1", "", "c1", "c1", ""},
		{"signed", "the signature goes back beside it", "c1", "QUJD+/-_=", "c1!QUJD+/-_=", "c1", "QUJD+/-_="},
		{"no id", "one of our own is not sent", "", "", "f#3", "", ""},
		{"signed without id", "an id of ours never goes to the API", "", "QUJD", "f#3!QUJD", "", "QUJD"},
		{"a mark in the id", "what follows is no signature", "c!a b", "", "c!a b", "c!a b", ""},
		{"like our own", "but not of this function", "g#3", "", "g#3", "g#3", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			id := joinID(r.id, "f", 3, r.signature)
			assert.Equal(t, r.joined, id, r.reason)
			sent, back := splitID(call(id))
			assert.Equal(t, r.sent, sent, r.reason)
			assert.Equal(t, r.back, back, r.reason)
		})
	}
}
