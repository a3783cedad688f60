package gemini

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

const masked = wire.Masked

func call(id string) llm.ToolCall { return llm.ToolCall{ID: id, Name: "f"} }

func scrubbed(r io.Reader, secret string) (string, bool, error) {
	found := false
	b, err := io.ReadAll(&scrubber{rc: io.NopCloser(r), forms: wire.Spellings(secret), found: func() { found = true }})
	return string(b), found, err
}

func TestScrubber(t *testing.T) {
	const secret = "ya29.abcabcabd"
	rows := []struct{ name, reason, in, want string }{
		{"nothing", "a text without a secret stays", "hello", "hello"},
		{"empty", "an end without a beginning", "", ""},
		{"whole", "a read may be the secret alone", secret, masked},
		{"inside", "what stands around it stays", "a " + secret + " b", "a " + masked + " b"},
		{"twice", "every one is removed", secret + secret, masked + masked},
		{"a beginning at the end", "it is no secret", "a ya29.abcabc", "a ya29.abcabc"},
		{"a false beginning", "what was held back is handed out again", "ya29.ya29.abcabcabcabd", "ya29.ya29.abcabcabcabd"},
		{"a false beginning before it", "a search must begin anew inside of it", "ya29.abc" + secret, "ya29.abc" + masked},
	}
	for _, r := range rows {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "by bytes": iotest.OneByteReader, "with its end": iotest.DataErrReader,
		} {
			t.Run(r.name+"/"+name, func(t *testing.T) {
				got, found, err := scrubbed(wrap(strings.NewReader(r.in)), secret)
				require.NoError(t, err)
				assert.Equal(t, r.want, got, r.reason)
				assert.Equal(t, strings.Contains(r.want, masked), found)
			})
		}
	}
	got, _, err := scrubbed(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("ya29"))), secret)
	require.ErrorIs(t, err, iotest.ErrTimeout)
	assert.Equal(t, "y", got, "what came before an error is handed out")
}

// TestScrubberHoldsNothingBack: an event is handed out as soon as it came.
func TestScrubberHoldsNothingBack(t *testing.T) {
	pr, pw := io.Pipe()
	s := &scrubber{rc: pr, forms: wire.Spellings("ya29.abcabcabd"), found: func() {}}
	go func() { _, _ = pw.Write([]byte("data: {}\n\n")) }()
	p := make([]byte, 64)
	n, err := s.Read(p)
	require.NoError(t, err)
	assert.Equal(t, "data: {}\n\n", string(p[:n]))
	require.NoError(t, s.Close())
}

func FuzzScrubber(f *testing.F) {
	f.Add("a secret-0123 b", "secret-0123", 3)
	f.Add("aaaaaaab", "aaaab", 1)
	f.Fuzz(func(t *testing.T, in, secret string, size int) {
		if len(secret) < 8 || strings.Contains(masked, secret) {
			t.Skip()
		}
		var r io.Reader = strings.NewReader(in)
		if size%2 == 0 {
			r = iotest.OneByteReader(r)
		}
		got, found, err := scrubbed(r, secret)
		require.NoError(t, err)
		if strings.Contains(in, secret) && !found {
			t.Errorf("%q in %q was not found", secret, in)
		}
		if !found && got != in {
			t.Errorf("%q became %q", in, got)
		}
	})
}
