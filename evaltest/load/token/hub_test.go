package token

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	secret  = "hf_not-to-be-seen"
	commit  = "0123456789abcdef0123456789abcdef01234567"
	commit2 = "89abcdef0123456789abcdef0123456789abcdef"
)

// hubServer answers as the hub does, and keeps the requests.
type hubServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
}

func newHub(t *testing.T, h http.HandlerFunc) *hubServer {
	t.Helper()
	s := &hubServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *hubServer) paths() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		list = append(list, r.URL.EscapedPath())
	}
	return list
}

// files lists what lies below dir.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	}))
	return list
}

// put writes a file of the cache.
func put(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, data, 0o666))
}

func TestHubDownloads(t *testing.T) {
	file := patched(t, nil, nil)
	s := newHub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Repo-Commit", commit)
		_, _ = w.Write(file)
	})
	h := Hub{Cache: t.TempDir(), Endpoint: s.URL + "/", Token: secret}
	for range 2 { // the second time from the cache
		tok, err := Load(t.Context(), "org/Some-Model.7B", h)
		require.NoError(t, err)
		assert.Equal(t, "org/Some-Model.7B", tok.Name())
		assert.NotZero(t, Count(tok, "hello"))
	}
	assert.Equal(t, []string{"/org/Some-Model.7B/resolve/main/tokenizer.json"}, s.paths())
	assert.Equal(t, "Bearer "+secret, s.requests[0].Header.Get("Authorization"))
	assert.Equal(t, []string{
		"models--org--Some-Model.7B/refs/main",
		"models--org--Some-Model.7B/snapshots/" + commit + "/tokenizer.json",
	}, files(t, h.Cache), "as other libraries lay it out, and nothing partial")
	ref, err := os.ReadFile(filepath.Join(h.Cache, "models--org--Some-Model.7B", "refs", "main"))
	require.NoError(t, err)
	assert.Equal(t, commit, string(ref))
	h.Offline = true
	_, err = h.Fetch(t.Context(), "org/Some-Model.7B@"+commit)
	assert.NoError(t, err, "the same by its commit")
}

func TestHubRevisions(t *testing.T) {
	file := patched(t, nil, nil)
	s := newHub(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(file) })
	h := Hub{Cache: t.TempDir(), Endpoint: s.URL}
	put(t, h.Cache, "models--org--held/refs/main", []byte(commit2+"\n"))
	for _, id := range []string{"org/m@v1.0", "org/m@refs/pr/7", "org/m@" + commit, "m", "org/held"} {
		path, err := h.Fetch(t.Context(), id)
		require.NoError(t, err, id)
		again, err := h.Fetch(t.Context(), id)
		require.NoError(t, err, id)
		assert.Equal(t, path, again)
	}
	assert.Equal(t, []string{
		"/org/m/resolve/v1.0/tokenizer.json",
		"/org/m/resolve/refs%2Fpr%2F7/tokenizer.json",
		"/org/m/resolve/" + commit + "/tokenizer.json",
		"/m/resolve/main/tokenizer.json",
		"/org/held/resolve/" + commit2 + "/tokenizer.json",
	}, s.paths(), "what a cache is at is what is asked for")
	assert.Equal(t, []string{
		"models--m/snapshots/main/tokenizer.json",
		"models--org--held/refs/main",
		"models--org--held/snapshots/" + commit2 + "/tokenizer.json",
		"models--org--m/snapshots/" + commit + "/tokenizer.json",
		"models--org--m/snapshots/refs/pr/7/tokenizer.json",
		"models--org--m/snapshots/v1.0/tokenizer.json",
	}, files(t, h.Cache), "without a commit in the answer, by the revision")
}

// TestHubCache reads what Hugging Face's own libraries have written.
func TestHubCache(t *testing.T) {
	h := Hub{Cache: t.TempDir(), Endpoint: "http://127.0.0.1:1", Offline: true}
	put(t, h.Cache, "models--org--m/blobs/abc", patched(t, nil, nil))
	put(t, h.Cache, "models--org--m/refs/main", []byte(commit))
	folder := filepath.Join(h.Cache, "models--org--m", "snapshots", commit)
	require.NoError(t, os.MkdirAll(folder, 0o777))
	if err := os.Symlink(filepath.Join("..", "..", "blobs", "abc"), filepath.Join(folder, fileName)); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	_, err := Load(t.Context(), "org/m", h)
	require.NoError(t, err)
	_, err = Load(t.Context(), "org/other", h)
	assert.ErrorIs(t, err, ErrOffline)
	assert.ErrorContains(t, err, "models--org--other")
	put(t, h.Cache, "models--org--evil/refs/main", []byte("../../models--org--m/snapshots/"+commit))
	_, err = Load(t.Context(), "org/evil", h)
	assert.ErrorIs(t, err, ErrOffline, "a reference that is no commit is not followed")
}

func TestHubRedirects(t *testing.T) {
	file := patched(t, nil, nil)
	away := newHub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Repo-Commit", commit2) // not for it to say
		_, _ = w.Write(file)
	})
	s := newHub(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/org/m/resolve/main/tokenizer.json":
			w.Header().Set("X-Repo-Commit", commit)
			http.Redirect(w, r, "/api/there", http.StatusTemporaryRedirect)
		case "/api/there":
			http.Redirect(w, r, strings.Replace(away.URL, "127.0.0.1", "localhost", 1)+"/blob?X-Signature=s3cr3t", http.StatusFound)
		case "/org/round/resolve/main/tokenizer.json":
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		case "/org/file/resolve/main/tokenizer.json":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}
	})
	h := Hub{Cache: t.TempDir(), Endpoint: s.URL, Token: secret}
	path, err := h.Fetch(t.Context(), "org/m")
	require.NoError(t, err)
	assert.Contains(t, path, commit)
	assert.Equal(t, "Bearer "+secret, s.requests[1].Header.Get("Authorization"), "the same server, another path")
	require.Len(t, away.requests, 1)
	assert.Empty(t, away.requests[0].Header.Get("Authorization"), "another server gets no token")
	_, err = h.Fetch(t.Context(), "org/round")
	assert.ErrorContains(t, err, "more than 10 redirects")
	_, err = h.Fetch(t.Context(), "org/file")
	assert.ErrorContains(t, err, "redirects to what is no URL")
}

func TestHubFails(t *testing.T) {
	big := make([]byte, 2000)
	for i := range big {
		big[i] = ' '
	}
	for _, c := range []struct {
		name, reason string
		answer       http.HandlerFunc
		status       int
		says         string
	}{
		{"401", "what the hub says of what does not exist, too", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, 401, "set HF_TOKEN"},
		{"403", "gated", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, 403, "set HF_TOKEN"},
		{"404", "no such file", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404, "does not exist"},
		{"503", "plain", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 503, "status 503 Service Unavailable"},
		{"a login page", "a portal's answer must not be kept", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, 200, "not JSON"},
		{"too large, announced", "the disk is not filled", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(big) }, 200, "too large: 2000 bytes"},
		{"too large, not announced", "nor the memory", func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				_, _ = w.Write(big[:700])
				w.(http.Flusher).Flush()
			}
		}, 200, "too large"},
		{"cut off", "half a file is none", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "900")
			_, _ = w.Write([]byte("{}"))
		}, 200, "after 2 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newHub(t, c.answer)
			endpoint := strings.Replace(s.URL, "http://", "http://user:"+secret+"@", 1)
			h := Hub{Cache: t.TempDir(), Endpoint: endpoint, Token: secret, MaxBytes: 1500}
			_, err := Load(t.Context(), "org/m", h)
			var e *HubError
			require.ErrorAs(t, err, &e, c.reason)
			assert.Equal(t, c.status, e.Status)
			assert.Equal(t, "org/m", e.ID)
			assert.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), secret)
			assert.Empty(t, files(t, h.Cache), "nothing is left behind")
		})
	}
}

func TestHubKeepsSecrets(t *testing.T) {
	s := newHub(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/blob?X-Signature="+secret, http.StatusFound)
	})
	for _, endpoint := range []string{s.URL, "http://" + secret + "@127.0.0.1:1", "http://user:" + secret + "@127.0.0.1:1", "ftp://" + secret + "@x", "http://a b" + secret, "://" + secret, secret} {
		h := Hub{Cache: t.TempDir(), Endpoint: endpoint, Token: secret}
		_, err := h.Fetch(t.Context(), "org/m")
		require.Error(t, err)
		assert.NotContains(t, err.Error(), secret)
	}
}

func TestHubLeavesNothing(t *testing.T) {
	file := patched(t, nil, nil)
	s := newHub(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file) })
	h := Hub{Cache: t.TempDir(), Endpoint: s.URL}
	put(t, h.Cache, "models--org--m/snapshots/main/tokenizer.json/in the way", nil)
	_, err := h.Fetch(t.Context(), "org/m")
	assert.ErrorContains(t, err, "cannot write the cache")
	assert.Equal(t, []string{"models--org--m/snapshots/main/tokenizer.json/in the way"}, files(t, h.Cache))
}

func TestHubIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newHub(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := Hub{Cache: t.TempDir(), Endpoint: s.URL}.Fetch(ctx, "org/m")
	assert.ErrorIs(t, err, context.Canceled)
}

func TestHubTogether(t *testing.T) {
	file := patched(t, nil, nil)
	var n atomic.Int64
	s := newHub(t, func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		w.Header().Set("X-Repo-Commit", commit)
		_, _ = w.Write(file)
	})
	h := Hub{Cache: t.TempDir(), Endpoint: s.URL}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := Load(t.Context(), "org/m", h)
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.Len(t, files(t, h.Cache), 2)
	assert.Positive(t, n.Load())
}

func TestHubFromEnv(t *testing.T) {
	home := filepath.Join("home", "me")
	for _, c := range []struct {
		name, reason string
		env          map[string]string
		want         Hub
	}{
		{"nothing", "the default of the libraries", map[string]string{"HOME": home}, Hub{Cache: filepath.Join(home, ".cache", "huggingface", "hub")}},
		{"XDG", "what they put before it", map[string]string{"HOME": home, "XDG_CACHE_HOME": "x"}, Hub{Cache: filepath.Join("x", "huggingface", "hub")}},
		{"HF_HOME", "and before that", map[string]string{"HF_HOME": "hf", "XDG_CACHE_HOME": "x"}, Hub{Cache: filepath.Join("hf", "hub")}},
		{"HF_HUB_CACHE", "and first", map[string]string{"HF_HUB_CACHE": "c", "HF_HOME": "hf"}, Hub{Cache: "c"}},
		{"all", "a token often has a newline from a file", map[string]string{"HF_HUB_CACHE": "c", "HF_TOKEN": secret + "\n", "HF_ENDPOINT": "http://mirror", "HF_HUB_OFFLINE": "yes"}, Hub{Cache: "c", Token: secret, Endpoint: "http://mirror", Offline: true}},
		{"offline 0", "is not offline", map[string]string{"HF_HUB_CACHE": "c", "HF_HUB_OFFLINE": "0"}, Hub{Cache: "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, HubFromEnv(func(k string) string { return c.env[k] }), c.reason)
		})
	}
}

func TestLoad(t *testing.T) {
	s := newHub(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) })
	h := Hub{Cache: t.TempDir(), Endpoint: s.URL}
	file := patched(t, nil, nil)
	t.Chdir(t.TempDir())
	put(t, ".", "org/m/tokenizer.json", file)
	tok, err := Load(t.Context(), "org/m", h)
	require.NoError(t, err, "a path wins over an id")
	assert.Empty(t, s.paths())
	assert.NotZero(t, Count(tok, "x"))
	tok, err = Load(t.Context(), "gpt-4o", h)
	require.NoError(t, err)
	assert.Equal(t, "o200k_base", tok.Name())
	assert.Empty(t, s.paths(), "an encoding needs no hub")

	_, err = Load(t.Context(), "gpt-9", h)
	var unknown *UnknownError
	assert.ErrorAs(t, err, &unknown, "most likely a model that is not known")
	assert.ErrorContains(t, err, "status 404")
	_, err = Load(t.Context(), "no/such/file.json", h)
	assert.ErrorIs(t, err, ErrID)
	assert.ErrorContains(t, err, "is no file or folder")
	_, err = Load(t.Context(), "", h)
	assert.ErrorContains(t, err, "no tokenizer is named")
	h.Offline = true
	_, err = Load(t.Context(), "org/x", h)
	assert.ErrorIs(t, err, ErrOffline)
}

var badIDs = []string{
	"", "/", "a/", "/a", "a/b/c", "..", "../x", "a/..", "a/../../b", "./a", "a/.", "a\\b", "..\\x", "a/b..c", "a--b/c", "a/-b", "a/b-", "a/b.",
	"a b/c", "a/b\n", "a/b%2f", "a/b?x", "a/b#x", "C:/x", "a:b", "a/b.git", "ä/b", "a/\x00", strings.Repeat("a", 97), "~/x", "a/b@", "a/b@..", "a/b@../x", "a/b@x/../y",
	"a/b@/x", "a/b@x/", "a/b@x//y", "a/b@-x", "a/b@.x", "a/b@x y", "a/b@x@y", "a/b@x\\y", "a/b@x?y", "a/b@x.", "a/b@x.lock", "@main",
}

func TestIDsRefused(t *testing.T) {
	for _, id := range badIDs {
		_, err := Hub{Cache: t.TempDir(), Offline: true}.Fetch(t.Context(), id)
		assert.ErrorIs(t, err, ErrID, "%q", id)
		assert.False(t, errors.Is(err, ErrOffline))
	}
	for _, id := range []string{"gpt2", "Qwen/Qwen3-0.6B", "meta-llama/Meta-Llama-3.1-8B-Instruct", "a/b_c.d-e", "a/b@main", "a/b@refs/pr/12", "a/b@v1.0+x"} {
		_, _, err := splitID(id)
		assert.NoError(t, err, id)
	}
}
