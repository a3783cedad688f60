package cassette_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
)

// TestReplayIsShared: parallel tests, and other processes, replay one file at
// the same time. Nothing is written, not even where nothing can be, and each
// counts for itself.
func TestReplayIsShared(t *testing.T) {
	r := newRig(t, "c.jsonl.gz", func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: strings.Repeat(c.Last(), 50)}
	})
	const n = 40
	c := r.open(cassette.Options{Mode: cassette.Record})
	for i := range n {
		r.mustAsk(under(t.Context(), c, fmt.Sprint(i)), fmt.Sprint("q", i))
	}
	r.close(c)
	require.NoError(t, os.Chmod(r.path, 0o400))
	require.NoError(t, os.Chmod(filepath.Dir(r.path), 0o500))
	defer os.Chmod(filepath.Dir(r.path), 0o700)

	for _, mode := range []cassette.Mode{cassette.Replay, cassette.Auto} {
		shared := r.open(cassette.Options{Mode: mode})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				own, err := cassette.Open(r.path, cassette.Options{Mode: mode})
				if !assert.NoError(t, err) {
					return
				}
				for _, c := range []*cassette.Cassette{own, shared} {
					for i := range n {
						resp, err := r.ask(under(t.Context(), c, fmt.Sprint(i)), fmt.Sprint("q", i))
						assert.NoError(t, err)
						assert.Equal(t, strings.Repeat(fmt.Sprint("q", i), 50), resp.Text)
						assert.True(t, resp.Replayed)
					}
				}
				assert.Equal(t, cassette.Stats{Entries: n, Replayed: n}, own.Stats())
				assert.Empty(t, own.Unused())
				assert.NoError(t, own.Close(), "others go on")
			})
		}
		all.Wait()
		assert.Equal(t, cassette.Stats{Entries: n, Replayed: 4 * n}, shared.Stats())
		assert.NoError(t, shared.Close())
	}
	files, err := os.ReadDir(filepath.Dir(r.path))
	require.NoError(t, err)
	assert.Len(t, files, 1)
}
