package cassette

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDamagedEverywhere cuts a packed cassette at each byte and spoils each
// byte of it. What is then answered from it must be what was recorded: either
// the file is refused, or a cut one yields its good beginning.
func TestDamagedEverywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl.gz")
	good := zipped(head + line1 + line2)
	want := map[slot]string{}
	require.NoError(t, os.WriteFile(path, []byte(good), 0o600))
	c, err := Open(path, Options{})
	require.NoError(t, err)
	for s, e := range c.index {
		want[s] = string(e.body)
	}
	require.Len(t, want, 2)
	check := func(what string, at int, mode Mode, content string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		c, err := Open(path, Options{Mode: mode})
		if err != nil {
			assert.ErrorIs(t, err, ErrFormat, "%s at %d", what, at)
			assert.ErrorContains(t, err, path)
			return
		}
		for s, e := range c.index {
			assert.Equal(t, want[s], string(e.body), "%s at %d, mode %s", what, at, mode)
		}
		if len(c.index) < len(want) {
			assert.NotEmpty(t, c.Warnings(), "%s at %d, mode %s: recordings are gone without a word", what, at, mode)
			assert.Equal(t, Auto, mode, "%s at %d: a replay needs a whole file", what, at)
		}
		c.part.close()
	}
	for i := range good {
		check("cut", i, Replay, good[:i])
		check("cut", i, Auto, good[:i])
		b := []byte(good)
		b[i] ^= 1 << (i % 8)
		check("spoilt", i, Replay, string(b))
		check("spoilt", i, Auto, string(b))
	}
	check("junk", len(good), Auto, good+"junk")
	check("zeros", len(good), Auto, good+string(make([]byte, 512)))
}

// TestSpoiltFileIsNotReplaced: in no mode may Close write over recordings that
// could still be restored.
func TestSpoiltFileIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl.gz")
	b := []byte(zipped(head + line1 + line2))
	b[len(b)-6] ^= 0xff // the checksum
	require.NoError(t, os.WriteFile(path, b, 0o600))
	for _, mode := range []Mode{Replay, Auto, Record} {
		_, err := Open(path, Options{Mode: mode})
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, "restore it or remove it")
	}
}
