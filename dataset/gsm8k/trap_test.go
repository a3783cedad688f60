package gsm8k

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTrap25VerifiedDownload: what is measured on is pinned by a commit, a size,
// a hash and a count, and no file comes to be that is not it.
func TestTrap25VerifiedDownload(t *testing.T) {
	assert.Regexp(t, `/[0-9a-f]{40}/`, TestURL, "a branch moves, a commit does not")
	assert.Equal(t, 1319, testPin.items)
	assert.Len(t, testPin.sha256, 64)

	dir := t.TempDir()
	for name, content := range map[string]string{
		"one letter":  strings.Replace(body, "q1", "Q1", 1),
		"a row less":  body[:strings.Index(body, "\n")+1],
		"a row twice": body + body,
	} {
		url, _ := server(t, serve(content))
		_, err := fetch(t.Context(), FetchOptions{Dir: dir, URL: url}, pinOf(body, 2))
		require.ErrorIs(t, err, ErrMismatch, name)
		onlyFile(t, dir)
	}
	url, _ := server(t, serve(body))
	path, err := fetch(t.Context(), FetchOptions{Dir: dir, URL: url}, pinOf(body, 2))
	require.NoError(t, err)
	onlyFile(t, dir, filepath.Base(path))
}
