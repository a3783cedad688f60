package cassette

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	head  = `{"evals_cassette":1}` + "\n"
	line1 = `{"method":"POST","path":"/c","request":{"a":1},"status":200,"body":"one","at":[[1,0.5],[3,2]],"total_ms":3}` + "\n"
	line2 = `{"method":"POST","path":"/c","request":{"a":2},"status":200,"body":"two","total_ms":3}` + "\n"
	line3 = `{"method":"POST","path":"/c","request":{"a":1},"status":200,"body":"uno","total_ms":3}` + "\n"
)

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

func TestOpenFiles(t *testing.T) {
	whole := zipped(head + line1 + line2)
	rows := []struct {
		name, reason string
		content      string
		replay       string // what its error says; "" is success
		auto         string // what the error says after "!", else the warning; "" is neither
		entries      int    // in auto
	}{
		{"good", "the rows below are this one, damaged", head + line1 + line2, "", "", 2},
		{"gzip", "told by its bytes, not by the name", whole, "", "", 2},
		{"two members", "gzip files may be joined", zipped(head+line1) + zipped(line2), "", "", 2},
		{"header only", "an empty recording", head, "", "", 0},
		{"no last line end", "the entry is whole", head + line1 + strings.TrimSpace(line2), "", "", 2},
		{"blank lines", "harmless", head + "\n" + line1 + "\n\n" + line2, "", "", 2},
		{"CRLF", "git on Windows", strings.ReplaceAll(head+line1+line2, "\n", "\r\n"), "", "", 2},
		{"torn", "a kill in the middle of a line", head + line1 + line2[:30], "line 3", "line 3", 1},
		{"torn gzip", "a copy that broke off", whole[:len(whole)-20], "damaged at its end", "damaged at its end", -1},
		{"torn header", "a write that was cut is told from another file", zipped(head)[:5], "damaged at its end", "damaged at its end", 0},
		{"empty file", "it does not even say what it is", "", "first line is empty", "first line is empty", 0},
		{"damaged inside", "no torn end: something else happened", head + "{x}\n" + line2, "line 2", "!line 2", 0},
		{"conflict marks", "a merge gone wrong", head + "<<<<<<< HEAD\n" + line1 + line2, "line 2", "!line 2", 0},
		{"version 2", "record it again", `{"evals_cassette":2}` + "\n" + line1, "record it again", "!record it again", 0},
		{"another file", "a dataset, say", `{"question":"q"}` + "\n", `want a first line such as {"evals_cassette":1}`, "!want a first line", 0},
		{"binary", "another file is not taken for a cassette", "\x00\x01\x02\n\x03", "want a first line", "!want a first line", 0},
		{"twice the same", "a merge of two branches", head + line1 + line1, "", "twice, in lines 2 and 3", 1},
		{"two answers", "which is right cannot be known", head + line1 + line3, "two different answers to one request, in lines 2 and 3", "the later one is used", 1},
		{"no call", "fields that cannot be a call's", head + `{"status":200}` + "\n" + line1, "line 2", "!line 2", 0},
		{"marks beyond the body", "they would be read out of bounds", head + strings.Replace(line1, "[3,2]", "[4,2]", 1) + line2, "times", "!times", 0},
		{"marks going back", "time does not", head + strings.Replace(line1, "[3,2]", "[3,0.1]", 1) + line2, "times", "!times", 0},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(r.content), 0o600))
			_, replayErr := Open(path, Options{})
			if r.replay == "" {
				require.NoError(t, replayErr, r.reason)
			} else {
				require.ErrorContains(t, replayErr, r.replay, r.reason)
				require.ErrorIs(t, replayErr, ErrFormat)
				assert.ErrorContains(t, replayErr, "c.jsonl")
				assert.ErrorContains(t, replayErr, "mode auto", "it says what to do")
			}
			c, err := Open(path, Options{Mode: Auto})
			if want, bad := strings.CutPrefix(r.auto, "!"); bad {
				require.ErrorContains(t, err, want, r.reason)
				assert.ErrorContains(t, replayErr, "remove it and open the cassette in mode auto", "what helps")
				return
			}
			require.NoError(t, err, r.reason)
			defer func() {
				require.NoError(t, c.Close())
				_, err := Open(path, Options{})
				assert.NoError(t, err, "what a replay advises repairs the file")
			}()
			if r.entries >= 0 {
				assert.Equal(t, r.entries, c.Stats().Entries)
			}
			if r.auto == "" {
				assert.Empty(t, c.Warnings())
			} else {
				assert.ErrorContains(t, errors.Join(c.Warnings()...), r.auto, r.reason)
			}
		})
	}
}

func TestAutoRepairsATornFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(head+line1+line2[:30]), 0o600))
	c, err := Open(path, Options{Mode: Auto})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	c, err = Open(path, Options{})
	require.NoError(t, err, "Close has written the good part")
	assert.Equal(t, 1, c.Stats().Entries)
}

func TestMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.jsonl")
	_, err := Open(path, Options{Rerecord: "set X=auto"})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "set X=auto")
	c, err := Open(path, Options{Mode: Auto})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	_, err = os.Stat(path)
	assert.ErrorIs(t, err, os.ErrNotExist, "nothing was recorded, so nothing is written")
}

func TestRecordDoesNotOverwriteAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "precious.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"question":"q"}`+"\n"), 0o600))
	_, err := Open(path, Options{Mode: Record})
	require.ErrorContains(t, err, "will not be overwritten")
	for _, ours := range []string{head + line1, head + line1[:20], zipped(head + line1), `{"evals_cassette":7}` + "\n", ""} {
		require.NoError(t, os.WriteFile(path, []byte(ours), 0o600))
		c, err := Open(path, Options{Mode: Record})
		require.NoError(t, err, "%q", ours)
		require.NoError(t, c.Close())
	}
}

func TestOptions(t *testing.T) {
	_, err := Open("x", Options{Mode: "rewind"})
	require.ErrorContains(t, err, `"rewind"`)
	_, err = Open("x", Options{Ignore: []string{"a..b"}})
	require.ErrorContains(t, err, `"a..b"`)
	for in, want := range map[string]Mode{"": Replay, " Auto ": Auto, "RECORD": Record, "replay": Replay} {
		got, err := ParseMode(in)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestFailedWriteIsUndone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl.part")
	p, _, err := openPart(path, true)
	require.NoError(t, err)
	require.NoError(t, p.write([]byte(line1)))
	good := p.f
	p.f, err = os.Open(path) // read only: as a full disk would, it takes nothing
	require.NoError(t, err)
	require.ErrorContains(t, p.write([]byte(line2)), path)
	require.ErrorContains(t, p.write([]byte(line2)), path, "what cannot be undone stays an error")
	p.f.Close()
	p.f = good
	p.close()
	p, entries, err := openPart(path, true)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	require.NoError(t, p.remove())
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{head + line1 + line2, zipped(head + line1), head + line1[:40], head + "null\n", head + `{"method":"a","path":"/","status":200,"at":[[1e300,-1]]}`, "\x1f\x8b", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := read(bytes.NewReader(b), "f")
		var torn *tornError
		if err != nil && !errors.As(err, &torn) && entries != nil {
			t.Fatal("entries beside an error that is no torn end")
		}
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("error %v is not ErrFormat", err)
		}
		// What was read can be written and read again.
		var out bytes.Buffer
		if err := encodeAll(&out, entries, false); err != nil {
			t.Fatal(err)
		}
		again, err := read(&out, "f")
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%d entries were written, %d read, error %v", len(entries), len(again), err)
		}
		for i, e := range entries {
			if !bytes.Equal(e.body, again[i].body) || !bytes.Equal(e.canon, again[i].canon) || len(e.marks) != len(again[i].marks) {
				t.Fatalf("entry %d changed", i)
			}
		}
	})
}
