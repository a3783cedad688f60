package cassette_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

func TestAnySDK(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	ask := func(c *cassette.Cassette, base http.RoundTripper) (string, llm.CallLog, error) {
		var log llm.CallLog
		cfg := sdk.DefaultConfig("some-key-0123456789")
		cfg.BaseURL, cfg.HTTPClient = "http://somewhere/v1", &http.Client{Transport: c.Transport(base)}
		resp, err := sdk.NewClientWithConfig(cfg).CreateChatCompletion(llm.WithCallLog(t.Context(), &log), sdk.ChatCompletionRequest{
			Model: "m", Messages: []sdk.ChatCompletionMessage{{Role: "user", Content: "q"}},
		})
		if err != nil {
			return "", llm.CallLog{}, err
		}
		calls := log.Calls()
		require.Len(t, calls, 1, "an application's calls are counted, replayed or not")
		assert.Equal(t, llm.Usage{Input: 1, Output: 2, Known: true}, calls[0].Response.Usage)
		assert.Equal(t, base == nil, calls[0].Response.Replayed)
		return resp.Choices[0].Message.Content, llm.CallLog{}, nil
	}
	c := r.open(cassette.Options{Mode: cassette.Record})
	text, _, err := ask(c, r.server.Memory())
	require.NoError(t, err)
	assert.Equal(t, "q #1", text)
	r.close(c)
	b, err := os.ReadFile(r.path)
	require.NoError(t, err)
	assert.NotContains(t, string(b), "some-key")
	text, _, err = ask(r.open(cassette.Options{}), nil)
	require.NoError(t, err)
	assert.Equal(t, "q #1", text)
}

func TestOtherBodies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	answer := "\x00\xff binary"
	base := &llmtest.Memory{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, answer)
	})}
	send := func(c *cassette.Cassette, method, target, ctype, body string) (string, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://h"+target, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", ctype)
		resp, err := (&http.Client{Transport: c.Transport(base)}).Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return string(b), err
	}
	c, err := cassette.Open(path, cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	for _, s := range [][4]string{
		{"POST", "/upload", "multipart/form-data; boundary=aaa", "--aaa\r\nx\r\n--aaa--"},
		{"POST", "/bin", "application/octet-stream", "\xff\x00"},
		{"GET", "/list?b=2&a=1&key=secretsecret", "", ""},
	} {
		got, err := send(c, s[0], s[1], s[2], s[3])
		require.NoError(t, err)
		assert.Equal(t, answer, got)
	}
	require.NoError(t, c.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(b), "secretsecret")
	c, err = cassette.Open(path, cassette.Options{})
	require.NoError(t, err)
	for _, s := range [][4]string{
		{"POST", "/upload", "multipart/form-data; boundary=bbb", "--bbb\r\nx\r\n--bbb--"},
		{"POST", "/bin", "application/octet-stream", "\xff\x00"},
		{"GET", "/list?a=1&b=2&key=anotherone", "", ""},
		{"GET", "/list?a=1&b=2", "", ""},
	} {
		got, err := send(c, s[0], s[1], s[2], s[3])
		require.NoError(t, err)
		assert.Equal(t, answer, got)
	}
	_, err = send(c, "GET", "/list?a=1&b=3", "", "")
	require.ErrorIs(t, err, cassette.ErrMiss)
}

// TestTheUsersOwnSDK puts nothing but wire.Transport under an SDK that knows
// nothing of us, as evaltest does it: the context carries the cassette.
func TestTheUsersOwnSDK(t *testing.T) {
	server := httptest.NewServer(&llmtest.Server{Reply: counting})
	defer server.Close()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	type result struct {
		text  string
		usage llm.Usage
	}
	stream := func(ctx context.Context) (string, error) {
		cfg := sdk.DefaultConfig("some-key-0123456789")
		cfg.BaseURL, cfg.HTTPClient = server.URL+"/v1", &http.Client{Transport: wire.Transport{}}
		s, err := sdk.NewClientWithConfig(cfg).CreateChatCompletionStream(ctx, sdk.ChatCompletionRequest{
			Model: "m", Messages: []sdk.ChatCompletionMessage{{Role: "user", Content: "one two"}},
			StreamOptions: &sdk.StreamOptions{IncludeUsage: true},
		})
		if err != nil {
			return "", err
		}
		defer s.Close()
		var text strings.Builder
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return text.String(), nil
			}
			if err != nil {
				return "", err
			}
			for _, ch := range chunk.Choices {
				text.WriteString(ch.Delta.Content)
			}
		}
	}
	unary := func(ctx context.Context) (string, error) {
		client := &http.Client{Transport: wire.Transport{}}
		// A body that can be read once only.
		body := io.MultiReader(strings.NewReader(`{"model":"m","messages":[{"role":"user",`), strings.NewReader(`"content":"three four five"}]}`))
		req, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/v1/chat/completions", io.NopCloser(body))
		if err != nil {
			return "", err
		}
		return readBody(client.Do(req))
	}
	app := func(c *cassette.Cassette) (out []result) {
		for _, call := range []func(context.Context) (string, error){stream, unary} {
			var log llm.CallLog
			text, err := call(llm.WithCallLog(under(t.Context(), c, "a"), &log))
			require.NoError(t, err)
			require.Len(t, log.Calls(), 1, "counted once")
			require.NoError(t, log.Calls()[0].Err)
			out = append(out, result{text, log.Calls()[0].Response.Usage})
		}
		require.NoError(t, c.Close())
		return out
	}
	recorded := app(mustOpen(t, path, cassette.Options{Mode: cassette.Record}))
	assert.Equal(t, result{"one two #1", llm.Usage{Input: 2, Output: 3, Known: true}}, recorded[0])
	assert.Equal(t, llm.Usage{Input: 3, Output: 4, Known: true}, recorded[1].usage)
	server.Close()
	assert.Equal(t, recorded, app(mustOpen(t, path, cassette.Options{})))
}

// TestUploads: multipart bodies of several parts, and a huge one.
func TestUploads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl.gz")
	upload := func(c *cassette.Cassette, h http.HandlerFunc, size int) (string, error) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b) // a random boundary
		f, err := w.CreateFormFile("file", "a.wav")
		require.NoError(t, err)
		_, err = f.Write(bytes.Repeat([]byte{0xff, 0, 'x'}, size/3))
		require.NoError(t, err)
		require.NoError(t, w.WriteField("model", "m"))
		require.NoError(t, w.Close())
		return readBody(memory(c, h).Post("http://h/v1/audio/transcriptions", w.FormDataContentType(), &b))
	}
	sum := func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d %v", n, err)
	}
	c := mustOpen(t, path, cassette.Options{Mode: cassette.Record})
	small, err := upload(c, sum, 30)
	require.NoError(t, err)
	huge, err := upload(c, sum, 3<<20)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	c = mustOpen(t, path, cassette.Options{})
	got, err := upload(c, nobody, 3<<20)
	require.NoError(t, err)
	assert.Equal(t, huge, got)
	got, err = upload(c, nobody, 30)
	require.NoError(t, err)
	assert.Equal(t, small, got)
}
