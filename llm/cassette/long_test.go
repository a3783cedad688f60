package cassette

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLongAnswers: what is too long to be recorded is not kept either, since it
// may have no end.
func TestLongAnswers(t *testing.T) {
	most := maxBody
	maxBody = 1000
	defer func() { maxBody = most }()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(bytes.Repeat([]byte("x"), 2000))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	rows := []struct {
		name, reason string
		body         string
		encoding     string
		says         string // "" is recorded
	}{
		{"as long as may be", "the bound itself is allowed", strings.Repeat("x", 1000), "", ""},
		{"too long", "one byte more is not", strings.Repeat("x", 1001), "", "longer than 1000 bytes"},
		{"much too long", "it is refused before it fills the memory", strings.Repeat("x", 1<<20), "", "longer than 1000 bytes"},
		{"too long once unpacked", "the rest would be stored without being searched for keys", packed.String(), "gzip", "longer than 1000 bytes unpacked"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c, err := Open(filepath.Join(t.TempDir(), "c.jsonl"), Options{Mode: Record})
			require.NoError(t, err)
			req, err := http.NewRequest("POST", "http://fake/search", strings.NewReader("{}"))
			require.NoError(t, err)
			resp, err := c.RoundTrip(req, roundTrip(func(*http.Request) (*http.Response, error) {
				h := http.Header{"Content-Type": {"text/plain"}}
				if r.encoding != "" {
					h.Set("Content-Encoding", r.encoding)
				}
				return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(r.body)), ContentLength: -1}, nil
			}))
			require.NoError(t, err)
			_, err = io.ReadAll(resp.Body)
			if r.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, r.says, r.reason)
			}
			assert.LessOrEqual(t, cap(resp.Body.(*tape).data), 4096, "it is not kept")
			_ = resp.Body.Close() // says it again
			require.NoError(t, c.Close())
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
