package cassette_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
)

// memory is a client whose calls go through c to h.
func memory(c *cassette.Cassette, h http.HandlerFunc) *http.Client {
	return &http.Client{Transport: c.Transport(&llmtest.Memory{Handler: h})}
}

func mustOpen(t *testing.T, path string, o cassette.Options) *cassette.Cassette {
	t.Helper()
	c, err := cassette.Open(path, o)
	require.NoError(t, err)
	return c
}

// nobody is for replays: no call may go out.
func nobody(http.ResponseWriter, *http.Request) { panic("a replay asked the server") }

func readBody(resp *http.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func TestOff(t *testing.T) {
	r := newRig(t, "sub/none.jsonl", counting)
	mode, err := cassette.ParseMode(" OFF ")
	require.NoError(t, err)
	c := r.open(cassette.Options{Mode: mode, Secrets: []string{"q"}})
	for i := range 3 {
		assert.Equal(t, fmt.Sprintf("q #%d", i+1), r.mustAsk(under(t.Context(), c, "a"), "q"), "asked each time, as without a cassette")
	}
	assert.Zero(t, c.Stats())
	assert.Empty(t, c.Unused())
	assert.Empty(t, c.Warnings())
	r.close(c)
	_, err = os.Stat(filepath.Dir(r.path))
	require.ErrorIs(t, err, os.ErrNotExist, "nothing was written")

	require.NoError(t, os.Mkdir(filepath.Dir(r.path), 0o755))
	require.NoError(t, os.WriteFile(r.path, []byte("no cassette"), 0o600))
	c = r.open(cassette.Options{Mode: cassette.Off})
	r.mustAsk(under(t.Context(), c, "a"), "q")
	r.close(c)
	b, err := os.ReadFile(r.path)
	require.NoError(t, err)
	assert.Equal(t, "no cassette", string(b), "the file is not looked at")
}

// TestRedirectsAreReplayed: an SDK whose calls are redirected replays alike.
func TestRedirectsAreReplayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	server := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			w.Header().Set("Location", "http://user:passw0rd@elsewhere/new?b=2&a=1&key=topsecretkey")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.Copy(w, r.Body)
	}
	send := func(c *cassette.Cassette, h http.HandlerFunc) (string, error) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://h/old", strings.NewReader(`{"a":1}`))
		require.NoError(t, err)
		return readBody(memory(c, h).Do(req))
	}
	c := mustOpen(t, path, cassette.Options{Mode: cassette.Record})
	got, err := send(c, server)
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, got)
	assert.Equal(t, 2, c.Stats().Recorded)
	require.NoError(t, c.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(b), "topsecret")
	assert.NotContains(t, string(b), "passw0rd")
	got, err = send(mustOpen(t, path, cassette.Options{}), nobody)
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, got)
}

// TestAbandonedBody: an SDK that never closes a body keeps an equal request of
// another item waiting until its own context ends, not for ever.
func TestAbandonedBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		var calls atomic.Int64
		server := func(w http.ResponseWriter, r *http.Request) {
			n := calls.Add(1)
			llmtest.Stream(llmtest.Text(fmt.Sprint(n)), llmtest.Finish("stop"), llmtest.Done)(w, r)
			if n == 1 {
				<-r.Context().Done() // not the end of the body
			}
		}
		c := mustOpen(t, path, cassette.Options{Mode: cassette.Record})
		client := memory(c, server)
		post := func(ctx context.Context) (*http.Response, error) {
			req, err := http.NewRequestWithContext(ctx, "POST", "http://h/v1/chat/completions", strings.NewReader(`{}`))
			require.NoError(t, err)
			return client.Do(req)
		}
		first, cancel := context.WithTimeout(llm.WithItem(t.Context(), "a"), time.Minute)
		defer cancel()
		leaked, err := post(first)
		require.NoError(t, err)
		defer leaked.Body.Close()

		start := time.Now()
		second, cancel2 := context.WithTimeout(llm.WithItem(t.Context(), "b"), time.Hour)
		defer cancel2()
		got, err := readBody(post(second))
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Contains(t, got, `"2"`, "the first was not read, so it was not recorded")
		require.NoError(t, c.Close())
	})
}

// TestPackedAnswers: a key in a packed answer would be found by nobody.
func TestPackedAnswers(t *testing.T) {
	zip := func(s string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		fmt.Fprint(z, s)
		require.NoError(t, z.Close())
		return b.Bytes()
	}
	rows := []struct {
		name, reason string
		coding       string
		body         []byte
		refused      bool
	}{
		{"good", "the rows below are told from this one", "gzip", zip(`{"a":1}`), false},
		{"key", "a key is found in what is packed", "gzip", zip(`{"a":"topsecretkey"}`), true},
		{"no gzip", "cannot be searched", "gzip", []byte("topsecretkey"), true},
		{"brotli", "cannot be searched", "br", []byte("xx"), true},
		{"identity", "a name for no encoding", "identity", []byte(`{"a":1}`), false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.jsonl")
			c := mustOpen(t, path, cassette.Options{Mode: cassette.Record, Secrets: []string{"topsecretkey"}})
			accepted := "unset"
			req, err := http.NewRequestWithContext(t.Context(), "GET", "http://h/x", nil)
			require.NoError(t, err)
			req.Header.Set("Accept-Encoding", "br, gzip")
			got, err := readBody(memory(c, func(w http.ResponseWriter, req *http.Request) {
				accepted = req.Header.Get("Accept-Encoding")
				w.Header().Set("Content-Encoding", r.coding)
				_, _ = w.Write(r.body)
			}).Do(req))
			assert.Empty(t, accepted, "packed answers are not asked for while recording")
			assert.Equal(t, "br, gzip", req.Header.Get("Accept-Encoding"), "the request is the SDK's")
			if r.refused {
				require.ErrorIs(t, err, cassette.ErrSecret, r.reason)
				assert.Zero(t, c.Stats().Recorded)
			} else {
				require.NoError(t, err)
				assert.Equal(t, string(r.body), got)
			}
			require.NoError(t, c.Close())
		})
	}
}

// TestTokensAreNotRecorded: an application may fetch a token through the
// client that is recorded. Its value is nobody's configuration.
func TestTokensAreNotRecorded(t *testing.T) {
	rows := []struct {
		name, reason string
		ctype, body  string
		answer       string
		refused      bool
	}{
		{"client credentials", "the request is a secret", "application/x-www-form-urlencoded", "grant_type=client_credentials&client_secret=s3cr3t", `{}`, true},
		{"metadata server", "the answer is one", "application/json", `{}`, `{"access_token":"s3cr3t","expires_in":1}`, true},
		{"a form", "forms as such are fine", "application/x-www-form-urlencoded", "key=name&a=1", `{"access_token":""}`, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			dir := t.TempDir()
			c := mustOpen(t, filepath.Join(dir, "c.jsonl"), cassette.Options{Mode: cassette.Record})
			resp, err := memory(c, llmtest.Status(200, r.answer)).Post("http://h/token", r.ctype, strings.NewReader(r.body))
			_, err = readBody(resp, err)
			if r.refused {
				require.ErrorIs(t, err, cassette.ErrSecret, r.reason)
				require.ErrorContains(t, err, "of its own")
				assert.NotContains(t, err.Error(), "s3cr3t")
			} else {
				require.NoError(t, err, r.reason)
			}
			require.NoError(t, c.Close())
			assert.NotContains(t, strings.Join(readAll(t, dir), ""), "s3cr3t")
		})
	}
}

// TestMissShowsNoKey: a request that was refused when it was to be recorded
// meets a strict replay.
func TestMissShowsNoKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	c := mustOpen(t, path, cassette.Options{Mode: cassette.Record})
	_, err := readBody(memory(c, llmtest.Status(200, `{}`)).Post("http://h/x", "application/json", strings.NewReader(`{"a":"?token=12345678","k":""}`)))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for name, body := range map[string]string{
		"JSON":  `{"a":"?token=12345678","k":"topsecretkey-0123456789-0123456789-0123456789"}`,
		"plain": "topsecretkey-0123456789-0123456789-0123456789",
	} {
		for _, place := range []string{"configured", "header"} {
			t.Run(name+"/"+place, func(t *testing.T) {
				o := cassette.Options{}
				req, err := http.NewRequestWithContext(t.Context(), "POST", "http://h/x", strings.NewReader(body))
				require.NoError(t, err)
				if place == "configured" {
					o.Secrets = []string{"topsecretkey-0123456789-0123456789-0123456789"}
				} else {
					req.Header.Set("X-Api-Key", "topsecretkey-0123456789-0123456789-0123456789")
				}
				_, err = memory(mustOpen(t, path, o), nobody).Do(req)
				require.ErrorIs(t, err, cassette.ErrMiss)
				assert.NotContains(t, fmt.Sprintf("%+v", err), "topsecret")
				var miss *cassette.MissError
				require.ErrorAs(t, err, &miss)
				assert.NotContains(t, fmt.Sprintf("%+v", miss), "topsecret")
				if name == "JSON" {
					assert.Len(t, miss.Differences, 1, "%q", miss.Differences)
				}
			})
		}
	}
	// Requests that differ in nothing but what is hidden.
	_, err = memory(mustOpen(t, path, cassette.Options{}), nobody).Post("http://h/x", "application/json", strings.NewReader(`{"a":"?token=87654321","k":""}`))
	require.ErrorContains(t, err, "hidden")
}

// TestManyItemsAskAlike: equal concurrent requests of several items get the
// answers that each item's own order gives, recorded and replayed.
func TestManyItemsAskAlike(t *testing.T) {
	r := newRig(t, "c.jsonl.gz", counting)
	pass := func(c *cassette.Cassette) (answers [16][3]string) {
		var wg sync.WaitGroup
		for item := range 16 {
			wg.Go(func() {
				ctx := under(t.Context(), c, fmt.Sprint(item))
				for i := range 3 {
					req := llm.Prompt("the same question")
					req.Stream = item%2 == 0
					resp, err := r.client.Generate(ctx, req)
					if !assert.NoError(t, err) {
						return
					}
					answers[item][i] = resp.Text
				}
			})
		}
		wg.Wait()
		require.NoError(t, c.Close())
		return answers
	}
	recorded := pass(r.open(cassette.Options{Mode: cassette.Record}))
	assert.Equal(t, 6, r.server.Counts().Calls, "three occurrences, streamed and not")
	replayed := pass(r.open(cassette.Options{}))
	assert.Equal(t, recorded, replayed)
	assert.Equal(t, 6, r.server.Counts().Calls)
	for item := range 16 {
		assert.Equal(t, recorded[item%2], recorded[item])
	}
}

// TestCannotRecord: where nothing can be written nothing is asked.
func TestCannotRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := cassette.Open(filepath.Join(file, "c.jsonl"), cassette.Options{Mode: cassette.Record})
	require.ErrorContains(t, err, file)
	r := newRig(t, "sub/c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Auto})
	require.NoError(t, os.WriteFile(filepath.Dir(r.path), nil, 0o600))
	_, err = r.ask(under(t.Context(), c, "a"), "q")
	require.ErrorContains(t, err, filepath.Dir(r.path))
	assert.False(t, llm.KindOf(err).Retryable())
	assert.Zero(t, r.server.Counts().Calls)
}
