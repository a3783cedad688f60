package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/wire"
)

func readEvents(r io.Reader) (out []string, err error) {
	er := wire.NewEventReader(r)
	for {
		ev, err := er.Next()
		if err != nil {
			return out, err
		}
		s := string(ev.Data)
		if ev.Name != "" {
			s = ev.Name + "|" + s
		}
		out = append(out, s)
	}
}

func TestEventReader(t *testing.T) {
	rows := []struct {
		name, reason string
		in           string
		want         []string
	}{
		{"plain", "one event", "data: a\n\n", []string{"a"}},
		{"no space", "C06: the space is optional", "data:{}\n\n", []string{"{}"}},
		{"CRLF", "C06", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"CR", "the standard allows it", "data: a\r\rdata: b\r\r", []string{"a", "b"}},
		{"mixed", "the standard allows it", "data: a\r\n\ndata: b\n\r\n", []string{"a", "b"}},
		{"BOM", "a leading byte order mark is no part of a field", "\xef\xbb\xbfdata: a\n\n", []string{"a"}},
		{"comments", "C06: keep-alives are no events", ": PROCESSING\n\n: x\n\ndata: a\n\n", []string{"a"}},
		{"comment inside", "a comment does not end an event", "data: a\n: x\ndata: b\n\n", []string{"a\nb"}},
		{"retry", "C06: a block without data is no event", "retry: 3000\n\ndata: a\n\n", []string{"a"}},
		{"empty data", "C06: neither is one with empty data", "data:\n\ndata: \n\ndata\n\ndata: a\n\n", []string{"a"}},
		{"event name", "kept", "event: ping\ndata: {}\n\n", []string{"ping|{}"}},
		{"name without data", "C06: event: ping alone", "event: ping\n\ndata: a\n\n", []string{"a"}},
		{"error field", "llama.cpp's older builds name a failure so", "data: {}\n\nerror: {\"code\":500}\n\n", []string{"{}", "error|{\"code\":500}"}},
		{"several lines", "C06: one document over lines", "data: {\"a\":\ndata: 1}\n\n", []string{"{\"a\":\n1}"}},
		{"single line ends", "some servers put no blank line between", "data: {\"a\":1}\ndata: [DONE]\n\n", []string{`{"a":1}`, "[DONE]"}},
		{"no last blank line", "the last event counts", "data: a", []string{"a"}},
		{"no last line end", "the last line counts", "data: a\n", []string{"a"}},
		{"empty", "nothing", "", nil},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			for _, wrap := range []func(io.Reader) io.Reader{
				func(r io.Reader) io.Reader { return r },
				iotest.OneByteReader, // splits CRLF and characters
				iotest.DataErrReader,
			} {
				got, err := readEvents(wrap(strings.NewReader(r.in)))
				require.ErrorIs(t, err, io.EOF)
				assert.Equal(t, r.want, got, r.reason)
			}
		})
	}
}

func TestEventReaderKeepsNoHalfEventOfABrokenStream(t *testing.T) {
	broken := errors.New("reset")
	got, err := readEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: {\"b"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	assert.Equal(t, []string{"a"}, got)
}

func TestEventReaderMegabyteLine(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	got, err := readEvents(strings.NewReader("data: " + big + "\n\n"))
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, got, 1)
	assert.Len(t, got[0], len(big))
}

// endless yields one line that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestEventReaderRefusesAnEndlessLine(t *testing.T) {
	_, err := readEvents(endless{})
	require.ErrorIs(t, err, wire.ErrEventTooLong)
}

func FuzzEventReader(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "\xef\xbb\xbfdata:{}\r\rid: 1\r\n\r\n", ":\n\ndata: 1\ndata: [DONE]", "event: e\ndata", "data: \xff\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := readEvents(bytes.NewReader(b))
		if err != io.EOF {
			t.Fatalf("error %v", err)
		}
		bytewise, err := readEvents(iotest.OneByteReader(bytes.NewReader(b)))
		if err != io.EOF {
			t.Fatalf("error %v", err)
		}
		if strings.Join(whole, "\x00") != strings.Join(bytewise, "\x00") {
			t.Errorf("reading %q at once gives %q, byte by byte %q", b, whole, bytewise)
		}
	})
}
