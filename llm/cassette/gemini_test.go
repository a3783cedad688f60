package cassette_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// A caller asks Gemini through Google's own SDK, with an account of its own.
type caller struct {
	vertex                 bool
	key, project, location string
}

// client is the SDK on top of the transport, as an application has it.
func (c caller) client(ctx context.Context, base http.RoundTripper) (*genai.Client, error) {
	var rt http.RoundTripper = wire.Transport{Base: base}
	cfg := &genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: c.key}
	if c.vertex {
		cfg = &genai.ClientConfig{Backend: genai.BackendVertexAI, Project: c.project, Location: c.location}
		rt = bearer{rt, c.key} // what Application Default Credentials do
	}
	cfg.HTTPClient, cfg.HTTPOptions = &http.Client{Transport: rt}, genai.HTTPOptions{BaseURL: "http://fake"}
	return genai.NewClient(ctx, cfg)
}

type bearer struct {
	next  http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// said is what came of one question, asked whole and streamed.
type said struct {
	whole, streamed string
	calls           []llm.Response
}

func (c caller) ask(t *testing.T, tape *cassette.Cassette, base http.RoundTripper) (said, error) {
	var log llm.CallLog
	ctx := llm.WithCallLog(under(t.Context(), tape, "item"), &log)
	client, err := c.client(ctx, base)
	require.NoError(t, err)
	cfg := &genai.GenerateContentConfig{Temperature: new(float32(0)), ThinkingConfig: &genai.ThinkingConfig{ThinkingBudget: new(int32(0))}}
	resp, err := client.Models.GenerateContent(ctx, "gemini-x", genai.Text("6*3?"), cfg)
	if err != nil {
		return said{}, err
	}
	s := said{whole: resp.Text()}
	for resp, err := range client.Models.GenerateContentStream(ctx, "gemini-x", genai.Text("6*3?"), cfg) {
		if err != nil {
			return said{}, err
		}
		s.streamed += resp.Text()
	}
	for _, call := range log.Calls() {
		if call.Err != nil {
			return said{}, call.Err
		}
		s.calls = append(s.calls, call.Response)
	}
	return s, nil
}

// TestGemini: Gemini's two APIs are recorded with one account and replayed with
// another, or none, without a network; the file names neither.
func TestGemini(t *testing.T) {
	rows := []struct {
		name              string
		recorder, replays caller
		path              string
	}{
		{"Gemini API", caller{key: "AIzaSyRecorder0123456789012345"}, caller{key: "AIzaSyReplayer0123456789012345"}, "/v1beta/models/gemini-x:generateContent"},
		{"Vertex AI", caller{true, "ya29.recorder-token-0123456789", "recorders-project", "us-central1"}, caller{true, "ya29.replayer-token-0123456789", "replayers-project", "europe-west4"}, "/v1beta1/publishers/google/models/gemini-x:generateContent"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &llmtest.Server{Key: r.recorder.key, Reply: func(llmtest.Chat) llmtest.Reply {
					return llmtest.Reply{Text: "It is 18 é.", Reasoning: "hm", FirstToken: time.Second, PerToken: 10 * time.Millisecond}
				}}
				path := filepath.Join(t.TempDir(), "c.jsonl")
				opts := cassette.Options{Mode: cassette.Record, Secrets: []string{r.recorder.key}}
				if r.recorder.vertex {
					opts.Secrets = append(opts.Secrets, r.recorder.project)
				}
				tape := mustOpen(t, path, opts)
				want, err := r.recorder.ask(t, tape, server.Memory())
				require.NoError(t, err)
				assert.Equal(t, "It is 18 é.", want.whole)
				assert.Equal(t, want.whole, want.streamed)
				assert.Equal(t, 2, tape.Stats().Recorded)
				require.NoError(t, tape.Close())

				b, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Contains(t, string(b), `"path":"`+r.path+`"`)
				for _, secret := range []string{r.recorder.key, "recorders-project", "us-central1", "Authorization"} {
					assert.NotContains(t, string(b), secret)
				}

				tape = mustOpen(t, path, cassette.Options{})
				start := time.Now()
				got, err := r.replays.ask(t, tape, nowhere(t))
				require.NoError(t, err)
				assert.Zero(t, time.Since(start), "a replay does not sleep")
				assert.Equal(t, [2]string{want.whole, want.streamed}, [2]string{got.whole, got.streamed})
				require.Len(t, got.calls, 2)
				for i, call := range got.calls {
					assert.True(t, call.Replayed)
					assert.Equal(t, want.calls[i].Usage, call.Usage)
					assert.Equal(t, llm.FinishStop, call.Finish)
					assert.Equal(t, want.calls[i].Chunks, call.Chunks, "the recorded times")
					assert.Equal(t, want.calls[i].Timing.FirstToken, call.Timing.FirstToken)
					assert.Equal(t, want.calls[i].Timing.Total, call.Timing.Total)
				}
				assert.Equal(t, time.Second, got.calls[1].Chunks[0])
				assert.Len(t, got.calls[1].Chunks, 5)
				assert.Empty(t, tape.Unused())
			})
		})
	}
}

// nowhere fails the test if it is asked.
func nowhere(t *testing.T) http.RoundTripper {
	return &llmtest.Memory{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the server was asked for %s", r.URL)
	})}
}

// TestGeminiMiss: what is told of a request that was not recorded is of use
// with Gemini's requests too.
func TestGeminiMiss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	server := &llmtest.Server{}
	ask := func(mode cassette.Mode, question string) (*cassette.Cassette, error) {
		tape := mustOpen(t, path, cassette.Options{Mode: mode})
		client, err := caller{key: "AIzaSyRecorder0123456789012345"}.client(t.Context(), server.Memory())
		require.NoError(t, err)
		_, err = client.Models.GenerateContent(under(t.Context(), tape, "item"), "gemini-x", genai.Text(question), nil)
		return tape, err
	}
	tape, err := ask(cassette.Record, "What is 6*3?")
	require.NoError(t, err)
	require.NoError(t, tape.Close())
	tape, err = ask(cassette.Replay, "What is 6*4?")
	var miss *cassette.MissError
	require.ErrorAs(t, err, &miss)
	assert.Equal(t, "What is 6*3?", miss.Nearest.Request)
	assert.Equal(t, "gemini-x", miss.Nearest.Model)
	assert.ErrorContains(t, err, `contents[0].parts[0].text differs from character 11 on`)
	assert.Equal(t, "gemini-x", tape.Unused()[0].Model)
	require.NoError(t, tape.Close())
}

// TestGeminiFailures are not stored, unless they are the request's own; a
// stream that was cut never is.
func TestGeminiFailures(t *testing.T) {
	part := `{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1}}`
	end := strings.Replace(part, `"content"`, `"finishReason":"STOP","content"`, 1)
	rows := []struct {
		name, path string
		h          http.HandlerFunc
		stored     bool
	}{
		{"quota", ":generateContent", llmtest.Status(429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`), false},
		{"bad request", ":generateContent", llmtest.Status(400, `{"error":{"code":400,"status":"INVALID_ARGUMENT"}}`), true},
		{"blocked", ":generateContent", llmtest.Status(200, `{"promptFeedback":{"blockReason":"SAFETY"}}`), true},
		{"error in a 200", ":generateContent", llmtest.Status(200, `{"error":{"code":503}}`), false},
		{"stream", ":streamGenerateContent?alt=sse", llmtest.Stream("data: "+part+"\n\n", "data: "+end+"\n\n"), true},
		{"cut stream", ":streamGenerateContent?alt=sse", llmtest.Stream("data: " + part + "\n\n"), false},
		{"array", ":streamGenerateContent", llmtest.Status(200, "["+part+","+end+"]"), true},
		{"cut array", ":streamGenerateContent", llmtest.Status(200, "["+part+","), false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			tape := mustOpen(t, filepath.Join(t.TempDir(), "c.jsonl"), cassette.Options{Mode: cassette.Record})
			client := &http.Client{Transport: tape.Transport(&llmtest.Memory{Handler: r.h})}
			_, err := readBody(client.Post("http://fake/v1beta/models/m"+r.path, "application/json", strings.NewReader(`{"contents":[]}`)))
			t.Log(err)
			assert.Equal(t, r.stored, tape.Stats().Recorded == 1, fmt.Sprint(tape.Stats()))
			require.NoError(t, tape.Close())
		})
	}
}

func TestWithoutAccount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	asked := 0
	base := &llmtest.Memory{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		llmtest.Status(200, fmt.Sprintf(`{"n":%d}`, asked))(w, r)
	})}
	tape := mustOpen(t, path, cassette.Options{Mode: cassette.Auto})
	client := &http.Client{Transport: tape.Transport(base)}
	rows := []struct {
		name, path string
		want       string
	}{
		{"a project", "/v1/projects/p/locations/l/publishers/google/models/m:generateContent", `{"n":1}`},
		{"another project", "/v1/projects/q/locations/l/publishers/google/models/m:generateContent", `{"n":1}`},
		{"another place", "/v1/projects/p/locations/global/publishers/google/models/m:generateContent", `{"n":1}`},
		{"a key instead", "/v1/publishers/google/models/m:generateContent", `{"n":1}`},
		{"another model", "/v1/projects/p/locations/l/publishers/google/models/n:generateContent", `{"n":2}`},
		{"another version", "/v1beta1/projects/p/locations/l/publishers/google/models/m:generateContent", `{"n":3}`},
		{"an endpoint of one's own", "/v1/projects/p/locations/l/endpoints/7:predict", `{"n":4}`},
		{"another's endpoint", "/v1/projects/q/locations/l/endpoints/7:predict", `{"n":5}`},
		{"another service's project", "/projects/p/locations/l/tasks", `{"n":6}`},
		{"another service's other project", "/projects/q/locations/l/tasks", `{"n":7}`},
	}
	for _, r := range rows {
		got, err := readBody(client.Post("http://fake"+r.path, "application/json", strings.NewReader(`{}`)))
		require.NoError(t, err)
		assert.Equal(t, r.want, got, r.name)
	}
	require.NoError(t, tape.Close())

	// A file in which a project still stands is read alike.
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	old := strings.ReplaceAll(string(b), `"/v1/publishers/`, `"/v1/projects/p/locations/l/publishers/`)
	require.NotEqual(t, string(b), old)
	require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
	tape = mustOpen(t, path, cassette.Options{})
	got, err := readBody((&http.Client{Transport: tape.Transport(nowhere(t))}).Post("http://fake"+rows[1].path, "application/json", strings.NewReader(`{}`)))
	require.NoError(t, err)
	assert.Equal(t, rows[1].want, got)
}
