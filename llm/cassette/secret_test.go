package cassette_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// TestSecretsAreNeverStored puts a secret into every place of a call and looks
// for it in the file, the part file, the error, the warnings and the log.
func TestSecretsAreNeverStored(t *testing.T) {
	const secret = `sup3r"secret/key+x`
	rows := []struct {
		name, reason string
		configured   bool
		header       string // that holds it
		query        string
		request      string // body, %s is the secret in JSON
		answer       string
		answerHeader string
		refused      bool
		sent         bool
	}{
		{"header only", "keys in headers are the normal case", false, "Authorization", "", `{"a":1}`, `{"b":2}`, "", false, true},
		{"x-goog-api-key only", "Google's header is a key's, and is not stored", false, "X-Goog-Api-Key", "", `{"a":1}`, `{"b":2}`, "", false, true},
		{"query only", "removed from the stored path", false, "", "key", `{"a":1}`, `{"b":2}`, "", false, true},
		{"configured in the request", "not even sent", true, "", "", `{"a":"x %s"}`, `{}`, "", true, false},
		{"header's value in the request", "the key would be stored with it", false, "Authorization", "", `{"a":"%s"}`, `{}`, "", true, false},
		{"header's value in the answer", "a server echoes it", false, "X-Api-Key", "", `{}`, `{"b":"your key %s"}`, "", true, true},
		{"query's value in the answer", "the key would be stored with it", false, "", "api_key", `{}`, `{"b":"%s"}`, "", true, true},
		{"configured in the answer", "the key would be stored with it", true, "", "", `{}`, `{"b":"%s"}`, "", true, true},
		{"configured in a stored header", "the key would be stored with it", true, "", "", `{}`, `{}`, "X-Request-Id", true, true},
		{"configured in a dropped header", "what is not stored does not matter", true, "", "", `{}`, `{}`, "X-Other", false, true},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			inJSON := strings.Trim(fmt.Sprintf("%q", secret), `"`)
			fill := func(s string) string { return strings.ReplaceAll(s, "%s", inJSON) }
			sent := false
			base := &llmtest.Memory{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				sent = true
				w.Header().Set("Content-Type", "application/json")
				if r.answerHeader != "" {
					w.Header().Set(r.answerHeader, secret)
				}
				_, _ = io.WriteString(w, fill(r.answer))
			})}
			dir := t.TempDir()
			opts := cassette.Options{Mode: cassette.Record}
			if r.configured {
				opts.Secrets = []string{"", secret}
			}
			c, err := cassette.Open(filepath.Join(dir, "c.jsonl"), opts)
			require.NoError(t, err)
			var log llm.CallLog
			ctx := wire.WithMiddleware(llm.WithCallLog(t.Context(), &log), c)
			req, err := http.NewRequestWithContext(ctx, "POST", "http://h/v1/chat/completions", strings.NewReader(fill(r.request)))
			require.NoError(t, err)
			if r.query != "" {
				q := req.URL.Query()
				q.Set(r.query, secret)
				req.URL.RawQuery = q.Encode()
			}
			switch r.header {
			case "":
			case "Authorization":
				req.Header.Set(r.header, "Bearer "+secret)
			default:
				req.Header.Set(r.header, secret)
			}
			// The transport itself, as net/http's client would put the query
			// into its error's text: that is for the client on top to mask.
			resp, err := wire.Transport{Base: base}.RoundTrip(req)
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			if r.refused {
				require.ErrorIs(t, err, cassette.ErrSecret, r.reason)
				assert.Zero(t, c.Stats().Recorded)
			} else {
				require.NoError(t, err, r.reason)
				assert.Equal(t, 1, c.Stats().Recorded)
			}
			assert.Equal(t, r.sent, sent)
			shown := []string{fmt.Sprint(err), fmt.Sprint(c.Warnings())}
			for _, call := range log.Calls() {
				shown = append(shown, fmt.Sprintf("%+v %v", call, call.Err))
			}
			shown = append(shown, readAll(t, dir)...) // the part file
			require.NoError(t, c.Close())
			shown = append(shown, readAll(t, dir)...)
			for _, s := range shown {
				for _, form := range append(wire.Spellings(secret), inJSON) {
					assert.NotContains(t, s, form)
				}
			}
		})
	}
}

func readAll(t *testing.T, dir string) (out []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		out = append(out, string(b))
	}
	return out
}

// TestSecretAcrossChunks: a key may come in two pieces of a stream.
func TestSecretAcrossChunks(t *testing.T) {
	r := newRig(t, "c.jsonl", func(llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Raw: llmtest.Stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"topsec", "retkey\"},\"finish_reason\":\"stop\"}]}\n\n")}
	})
	c := r.open(cassette.Options{Mode: cassette.Record, Secrets: []string{"topsecretkey"}})
	req := llm.Prompt("q")
	req.Stream = true
	_, err := r.client.Generate(under(context.Background(), c, "a"), req)
	require.ErrorIs(t, err, cassette.ErrSecret)
	assert.False(t, llm.KindOf(err).Retryable(), "another try would be paid for and fail again")
	assert.NotContains(t, err.Error(), "topsecretkey")
	assert.Zero(t, c.Stats().Recorded)
	r.close(c)
}

// TestSecretAcrossEvents: a server that sends a key back may do so word by word.
func TestSecretAcrossEvents(t *testing.T) {
	rows := []struct {
		name, reason string
		pieces       []string
		refused      bool
	}{
		{"in the text", "whoever puts the events together has the key", []string{llmtest.Text("it is top"), llmtest.Text("secret"), llmtest.Text("key."), llmtest.Finish("stop")}, true},
		{"in two fields", "no text holds it", []string{"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"topsecret\",\"reasoning\":\"key\"},\"finish_reason\":\"stop\"}]}\n\n"}, false},
		{"a part of it", "is none", []string{llmtest.Text("topse"), llmtest.Text("creet"), llmtest.Finish("stop")}, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, "c.jsonl", func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Raw: llmtest.Stream(row.pieces...)} })
			c := r.open(cassette.Options{Mode: cassette.Record, Secrets: []string{"topsecretkey"}})
			req := llm.Prompt("q")
			req.Stream = true
			_, err := r.client.Generate(under(t.Context(), c, "a"), req)
			assert.Equal(t, row.refused, errors.Is(err, cassette.ErrSecret), "%s: %v", row.reason, err)
			r.close(c)
		})
	}
}

func TestOnlyAllowedHeadersAreStored(t *testing.T) {
	r := newRig(t, "c.jsonl", func(llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Raw: llmtest.Status(200, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`,
			"Set-Cookie", "session=1", "X-Request-Id", "r1", "Openai-Organization", "acme", "X-Mine", "m")}
	})
	c := r.open(cassette.Options{Mode: cassette.Record, Headers: []string{"x-mine"}})
	r.mustAsk(under(t.Context(), c, "a"), "q")
	r.close(c)
	b, err := os.ReadFile(r.path)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"header":{"Content-Type":["application/json"],"X-Mine":["m"],"X-Request-Id":["r1"]}`)
	assert.NotContains(t, string(b), "session")
	assert.NotContains(t, string(b), "acme")
}
