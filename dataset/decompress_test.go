package dataset_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
)

func ExampleDecompress() {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	_, _ = io.WriteString(z, "time,tokens\n0,12\n")
	_ = z.Close()
	in, err := dataset.Decompress(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	fmt.Printf("%q %v\n", text, err)
	// Output: "time,tokens\n0,12\n" <nil>
}

func TestDecompress(t *testing.T) {
	zipped := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, s)
		require.NoError(t, z.Close())
		return b.String()
	}
	framed := func(s string) string {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b)
		require.NoError(t, err)
		_, _ = io.WriteString(z, s)
		require.NoError(t, z.Close())
		return b.String()
	}
	a, z := zipped("a\n"), framed("a\n")
	for _, row := range []struct {
		name, reason, in, want string
		is                     error
	}{
		{"empty", "nothing is in it, and that is no error here", "", "", nil},
		{"text", "as it is", "t,n\n1,2", "t,n\n1,2", nil},
		{"byte order mark", "it is the reader's to skip", "\xef\xbb\xbfx", "\xef\xbb\xbfx", nil},
		{"gzip", "by its first bytes", a, "a\n", nil},
		{"members", "each of them", a + zipped("b"), "a\nb", nil},
		{"padding", "as tar leaves it", a + strings.Repeat("\x00", 512), "a\n", nil},
		{"gzip and more", "damaged", a + "more", "a\n", dataset.ErrCorrupt},
		{"cut gzip", "a download that failed", a[:len(a)-3], "a\n", dataset.ErrTruncated},
		{"zstd", "by its first bytes", z, "a\n", nil},
		{"frames", "each of them", z + framed("b"), "a\nb", nil},
		{"cut zstd", "its check is not whole", z[:len(z)-2], "", dataset.ErrTruncated},
		{"cut behind a frame", "another one has begun", z + z[:3], "a\n", dataset.ErrTruncated},
	} {
		t.Run(row.name, func(t *testing.T) {
			in, err := dataset.Decompress(strings.NewReader(row.in))
			require.NoError(t, err)
			text, err := io.ReadAll(in)
			if row.is == nil {
				assert.NoError(t, err, row.reason)
			} else {
				assert.ErrorIs(t, err, row.is, row.reason)
			}
			if row.want != "" || row.is == nil {
				assert.Equal(t, row.want, string(text), row.reason)
			}
			assert.NoError(t, in.Close())
		})
	}
}
