package cassette_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

const (
	localURL  = "http://127.0.0.1:1234/v1"
	openAIURL = "https://api.openai.com/v1"
)

// at is a client of the rig's server under another base URL.
func (r *rig) at(base string) *openai.Client {
	return openai.Config{Model: "m", BaseURL: base, HTTPClient: r.server.Client()}.New()
}

// TestReplayUnderAnotherBaseURL has a request whose spelling depends on the
// server recorded at one server and replayed as if for another.
func TestReplayUnderAnotherBaseURL(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "some-key-0123456789")
	capped := llm.Prompt("q")
	capped.MaxOutputTokens = new(int64(256))
	developer := llm.Request{Messages: []llm.Message{{Role: llm.RoleDeveloper, Content: "Be brief."}, {Role: llm.RoleUser, Content: "q"}}}
	both := developer
	both.MaxOutputTokens = new(int64(9))
	rows := []struct {
		name, reason string
		req          llm.Request
	}{
		{"length", "max_tokens and max_completion_tokens are one setting", capped},
		{"developer", "only OpenAI has the role; others get it as system", developer},
		{"both", "each spelling is replayed for the other", both},
	}
	for _, row := range rows {
		for _, from := range []string{localURL, openAIURL} {
			for _, ignore := range [][]string{nil, {"user"}} {
				to := map[string]string{localURL: openAIURL, openAIURL: localURL}[from]
				t.Run(row.name+" recorded at "+from+" "+strings.Join(ignore, ""), func(t *testing.T) {
					r := newRig(t, "c.jsonl", counting)
					c := r.open(cassette.Options{Mode: cassette.Record, Ignore: ignore})
					ctx := under(t.Context(), c, "a")
					for range 2 { // the same twice
						_, err := r.at(from).Generate(ctx, row.req)
						require.NoError(t, err)
					}
					r.close(c)
					for _, mode := range []cassette.Mode{cassette.Replay, cassette.Auto} {
						c = r.open(cassette.Options{Mode: mode, Ignore: ignore})
						ctx := under(t.Context(), c, "a")
						for _, want := range []string{"q #1", "q #2"} {
							resp, err := r.at(to).Generate(ctx, row.req)
							require.NoError(t, err, row.reason)
							assert.Equal(t, want, resp.Text)
							assert.True(t, resp.Replayed)
						}
						assert.Empty(t, c.Unused())
						assert.Equal(t, cassette.Stats{Entries: 2, Replayed: 2}, c.Stats())
						r.close(c)
					}
				})
			}
		}
	}
}

func (r *rig) post(c *cassette.Cassette, item, body string) (int, error) {
	req, err := http.NewRequestWithContext(llm.WithItem(r.t.Context(), item), http.MethodPost, localURL+"/chat/completions", strings.NewReader(body))
	require.NoError(r.t, err)
	resp, err := (&http.Client{Transport: c.Transport(r.server.Memory())}).Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// TestSpellingsThatAreTwoRequests: what is one setting to a reader may be two
// to a server, and an application may try one after the other.
func TestSpellingsThatAreTwoRequests(t *testing.T) {
	const (
		old   = `{"messages":[{"content":"q","role":"user"}],"max_tokens":5}`
		young = `{"messages":[{"content":"q","role":"user"}],"max_completion_tokens":5}`
		two   = `{"messages":[{"content":"q","role":"user"}],"max_completion_tokens":5,"max_tokens":5}`
	)
	r := newRig(t, "c.jsonl", nil)
	r.server.Reply = func(c llmtest.Chat) llmtest.Reply {
		if strings.Contains(string(c.Body), `"max_tokens"`) {
			return llmtest.Reply{Raw: llmtest.Status(400, `{"error":{"message":"use max_completion_tokens"}}`)}
		}
		return llmtest.Reply{Text: "good"}
	}
	for _, mode := range []cassette.Mode{cassette.Auto, cassette.Replay} {
		c := r.open(cassette.Options{Mode: mode})
		for _, body := range []string{old, young} {
			status, err := r.post(c, "", body)
			require.NoError(t, err)
			assert.Equal(t, map[string]int{old: 400, young: 200}[body], status, "a refusal is an answer to its own spelling only")
		}
		if mode == cassette.Replay {
			_, err := r.post(c, "", two)
			require.ErrorIs(t, err, cassette.ErrMiss, "both fields are more than one of them")
			assert.ErrorContains(t, err, "_tokens is absent there and 5 here")
			_, err = r.post(c, "", strings.Replace(young, "5", "6", 1))
			require.ErrorIs(t, err, cassette.ErrMiss, "another length")
		}
		r.close(c)
	}
	b, err := os.ReadFile(r.path)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"max_completion_tokens":5`, "what was sent is what is stored")

	require.NoError(t, os.Remove(r.path))
	c := r.open(cassette.Options{Mode: cassette.Record})
	_, err = r.post(c, "", old)
	require.NoError(t, err)
	r.close(c)
	_, err = r.post(r.open(cassette.Options{}), "", young)
	require.ErrorIs(t, err, cassette.ErrMiss)
	assert.ErrorContains(t, err, "refused with status 400")
}

// TestIgnoreEitherName: a setting that does not count does not count under its
// other name.
func TestIgnoreEitherName(t *testing.T) {
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		r := newRig(t, "c.jsonl", counting)
		o := cassette.Options{Mode: cassette.Record, Ignore: []string{name}}
		c := r.open(o)
		_, err := r.post(c, "", `{"max_tokens":5}`)
		require.NoError(t, err)
		r.close(c)
		o.Mode = cassette.Replay
		c = r.open(o)
		for _, body := range []string{`{}`, `{"max_tokens":6}`, `{"max_completion_tokens":7}`} {
			_, err := r.post(c, "", body)
			assert.NoError(t, err, "%s ignored, %s asked", name, body)
		}
	}
}
