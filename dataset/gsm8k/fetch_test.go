package gsm8k

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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
)

const body = `{"question":"q1","answer":"#### 4"}` + "\n" + `{"question":"q2","answer":"#### 1,000"}` + "\n"

func pinOf(content string, items int) pin {
	sum := sha256.Sum256([]byte(content))
	return pin{bytes: int64(len(content)), sha256: hex.EncodeToString(sum[:]), items: items}
}

// server serves content and counts the requests.
func server(t *testing.T, handler http.HandlerFunc) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/test.jsonl", requests
}

func serve(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) }
}

// status answers body with a status.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		if code != http.StatusNotModified {
			fmt.Fprint(w, body)
		}
	}
}

// onlyFile asserts what lies in dir: nothing partial, ever.
func onlyFile(t *testing.T, dir string, want ...string) {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(dir)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, want, names)
}

func TestFetch(t *testing.T) {
	want := pinOf(body, 2)
	dir := filepath.Join(t.TempDir(), "a", "b")
	url, requests := server(t, serve(body))
	opts := FetchOptions{Dir: dir, URL: url}
	path, err := fetch(t.Context(), opts, want)
	require.NoError(t, err)
	onlyFile(t, dir, filepath.Base(path))
	d, err := Load(path)
	require.NoError(t, err)
	assert.Equal(t, "1000", d.At(1).Target)

	again, err := fetch(t.Context(), opts, want)
	require.NoError(t, err)
	assert.Equal(t, path, again)
	assert.EqualValues(t, 1, requests.Load(), "the second time without the network")

	require.NoError(t, os.WriteFile(path, []byte(body[:20]), 0o600))
	_, err = fetch(t.Context(), opts, want)
	require.NoError(t, err, "a damaged file is fetched anew")
	assert.EqualValues(t, 2, requests.Load())
	require.NoError(t, want.check(path))
}

func TestFetchRefuses(t *testing.T) {
	want := pinOf(body, 2)
	tests := []struct {
		name, reason string
		handler      http.HandlerFunc
		pin          pin
		is           error
		says         string
	}{
		{"wrong content", "same size, another hash", serve(strings.Replace(body, "q1", "Q1", 1)), want, ErrMismatch, "SHA-256"},
		{"too short", "a proxy cut it", serve(body[:30]), want, ErrMismatch, "30 bytes, want"},
		{"too long", "never reads far beyond the size", serve(body + strings.Repeat("x", 1<<20)), want, ErrMismatch, "more than"},
		{"wrong number of items", "the pin itself must agree", serve(body), pinOf(body, 3), ErrMismatch, "2 items, want 3"},
		{"not found", "the status is named", http.NotFound, want, nil, "404 Not Found"},
		{"server error", "the status is named", status(500), want, nil, "500"},
		{"part", "nobody asked for a range", status(206), want, nil, "206"},
		{"not modified", "nobody asked for a change", status(304), want, nil, "304"},
		{"status of the server's words", "they may hold escape sequences", func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			fmt.Fprint(c, "HTTP/1.1 418 \x1b[31mred\r\nContent-Length: 0\r\n\r\n")
			c.Close()
		}, want, nil, "418 I'm a teapot"},
		{"redirects without end", "the client gives up", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, want, nil, "10 redirects"},
		{"cut on the way", "the promised length does not come", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			fmt.Fprint(w, body[:10])
		}, want, nil, "after 10 of"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			url, _ := server(t, tt.handler)
			path, err := fetch(t.Context(), FetchOptions{Dir: dir, URL: url}, tt.pin)
			assert.Empty(t, path)
			var fe *FetchError
			require.ErrorAs(t, err, &fe, tt.reason)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
			require.ErrorContains(t, err, tt.says)
			require.NotContains(t, err.Error(), "\x1b")
			require.ErrorContains(t, err, "save "+url, "says which file")
			require.ErrorContains(t, err, fe.Path, "and where to put it")
			onlyFile(t, dir)
		})
	}
}

func TestFetchOffline(t *testing.T) {
	want := pinOf(body, 2)
	dir := t.TempDir()
	url, _ := server(t, serve(body))
	opts := FetchOptions{Dir: dir, URL: url, Client: &http.Client{Transport: offline{}}}
	_, err := fetch(t.Context(), opts, want)
	require.ErrorContains(t, err, "no network")
	var fe *FetchError
	require.ErrorAs(t, err, &fe)
	require.NoError(t, os.WriteFile(fe.Path, []byte("nonsense"), 0o600))
	_, err = fetch(t.Context(), opts, want)
	require.ErrorContains(t, err, "cannot be used", "says so if a file is there but not the right one")
	require.NoError(t, os.WriteFile(fe.Path, []byte(body), 0o600))
	path, err := fetch(t.Context(), opts, want)
	require.NoError(t, err, "the file was put where the error said")
	assert.Equal(t, fe.Path, path)
}

type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) { return nil, fmt.Errorf("no network") }

func TestFetchCancelled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, body[:10])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	_, err := fetch(ctx, FetchOptions{Dir: dir, URL: url}, pinOf(body, 2))
	require.ErrorIs(t, err, context.Canceled)
	onlyFile(t, dir)
}

func TestFetchConcurrently(t *testing.T) {
	want := pinOf(body, 2)
	dir := filepath.Join(t.TempDir(), "cache")
	url, _ := server(t, serve(body))
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Go(func() {
			var path string
			if path, errs[i] = fetch(t.Context(), FetchOptions{Dir: dir, URL: url}, want); errs[i] == nil {
				errs[i] = want.check(path)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestFetchReadOnlyFolder(t *testing.T) {
	want := pinOf(body, 2)
	url, requests := server(t, serve(body))
	// A file in place of the folder is refused for every user, root included.
	blocked := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	_, err := fetch(t.Context(), FetchOptions{Dir: blocked, URL: url}, want)
	var fe *FetchError
	require.ErrorAs(t, err, &fe)
	require.ErrorContains(t, err, blocked)
	require.ErrorContains(t, err, "FetchOptions.Dir", "a network would not help")
	require.NotContains(t, err.Error(), "Without a network")
	assert.Zero(t, requests.Load(), "and is not asked")

	if os.Getuid() == 0 {
		t.Skip("root may write into read-only folders; the rest needs another user")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	_, err = fetch(t.Context(), FetchOptions{Dir: dir, URL: url}, want)
	require.ErrorIs(t, err, os.ErrPermission)
}

// TestFetchRedirect: from wherever the bytes come, they are checked.
func TestFetchRedirect(t *testing.T) {
	want := pinOf(body, 2)
	for content, ok := range map[string]bool{body: true, strings.Replace(body, "q1", "Q1", 1): false} {
		elsewhere, _ := server(t, serve(content))
		url, _ := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, http.StatusFound) })
		_, err := fetch(t.Context(), FetchOptions{Dir: t.TempDir(), URL: url}, want)
		if ok {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrMismatch)
		}
	}
}

// TestFetchKeepsSecrets: a mirror's URL may hold a password or a signature.
func TestFetchKeepsSecrets(t *testing.T) {
	for _, url := range []string{
		"https://user:hunter2@mirror.test/test.jsonl?sig=hunter2",
		"https://user:hunter2@mirror.test:port/test.jsonl",
		"https://mirror.test/\x7fhunter2",
	} {
		_, err := fetch(t.Context(), FetchOptions{Dir: t.TempDir(), URL: url, Client: &http.Client{Transport: offline{}}}, pinOf(body, 2))
		var fe *FetchError
		require.ErrorAs(t, err, &fe)
		assert.NotContains(t, fmt.Sprintf("%v %+v", err, *fe), "hunter2")
	}
}

// TestFetchRemovesStale: kill -9 leaves a temporary file; a later download
// removes it, but not one that may still be written.
func TestFetchRemovesStale(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, ".test-1.tmp"), filepath.Join(dir, ".test-2.tmp")
	for _, name := range []string{old, fresh} {
		require.NoError(t, os.WriteFile(name, []byte(body[:9]), 0o600))
	}
	hourAgo := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(old, hourAgo, hourAgo))
	url, _ := server(t, serve(body))
	path, err := fetch(t.Context(), FetchOptions{Dir: dir, URL: url}, pinOf(body, 2))
	require.NoError(t, err)
	onlyFile(t, dir, filepath.Base(fresh), filepath.Base(path))
}

func TestFetchDefaults(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	_, err := Fetch(t.Context(), FetchOptions{Client: &http.Client{Transport: offline{}}})
	var fe *FetchError
	require.ErrorAs(t, err, &fe)
	assert.Equal(t, TestURL, fe.URL)
	assert.True(t, strings.HasPrefix(fe.Path, home), "in the user's cache folder")
	assert.ErrorContains(t, err, fmt.Sprint(TestBytes))
	assert.ErrorContains(t, err, TestSHA256)

	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	_, err = Fetch(t.Context(), FetchOptions{})
	require.ErrorContains(t, err, "FetchOptions.Dir", "says what to set where there is no cache folder")
}

// TestFetchRealSplit: the pin is that of the real file, compressed or not.
func TestFetchRealSplit(t *testing.T) {
	packed, err := os.ReadFile(split(t))
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "test-"+TestSHA256[:12]+".jsonl")
	require.NoError(t, os.WriteFile(path, packed, 0o600))
	d, err := LoadTestSplit(t.Context(), FetchOptions{Dir: dir, Client: &http.Client{Transport: offline{}}})
	require.NoError(t, err)
	assert.Equal(t, TestItems, d.Len())

	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	plain, err := io.ReadAll(z)
	require.NoError(t, err)
	url, _ := server(t, serve(string(plain)))
	fetched, err := Fetch(t.Context(), FetchOptions{Dir: filepath.Join(dir, "other"), URL: url})
	require.NoError(t, err)
	got, err := os.ReadFile(fetched)
	require.NoError(t, err)
	assert.Equal(t, plain, got)
}
