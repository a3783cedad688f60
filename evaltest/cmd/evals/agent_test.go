package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/fake"
)

// watched is a model server and what it saw, in the order in which its
// requests came.
type watched struct {
	*fake.Server
	url string
	mu  sync.Mutex
	all []*fake.Seen
}

func serveFake(t *testing.T, s *fake.Server) *watched {
	t.Helper()
	w := &watched{Server: s}
	s.Saw = func(seen *fake.Seen) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, seen)
	}
	url, stop, err := s.Start()
	require.NoError(t, err)
	t.Cleanup(stop)
	w.url = url
	return w
}

// seen are the calls in the order of arrival.
func (w *watched) seen() []*fake.Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.all)
	slices.SortFunc(list, func(a, b *fake.Seen) int { return a.N - b.N })
	return list
}

// agents runs evals agent against the server.
func (w *watched) agents(words ...string) ran {
	return evals("", noEnv, slices.Concat([]string{"agent", "-host", w.url, "-model", "m", "-quiet"}, words)...)
}

// fileOf writes a file of a test.
func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func TestAgentSmoke(t *testing.T) {
	w := serveFake(t, &fake.Server{})
	r := w.agents("-agents", "3", "-seed", "7", "-stream", "-v")
	assert.Equal(t, 0, r.code)
	t.Log(r.stdout + r.stderr)
	assert.Len(t, w.seen(), 12)
	_ = strings.ToUpper
}
