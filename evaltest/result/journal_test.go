package result_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

var start = time.Date(2026, 9, 26, 12, 0, 0, 123456789, time.UTC)

// record is a record of about 0.6 KB, the size of a short answer's.
func record(i int) result.Record {
	verdict := grade.Verdict{Mark: grade.Correct, Score: 1, Answer: "18", How: `numeric: marker "####"`}
	return result.Record{
		Item: result.Item{
			ID: fmt.Sprintf("gsm8k-%04d", i), Target: "18", Group: "eggs",
			Input: "Janet's ducks lay 16 eggs per day. She eats three and bakes with four. What does she make at $2 an egg?",
			Row:   []byte(`{"question":"Janet's ducks","answer":"#### 18","n":12345678901234567890}`),
		},
		Outcome: result.Correct, Score: 1, Verdict: &verdict,
		Response: &llm.Response{
			Text: "She sells 16 - 3 - 4 = 9 eggs, so 9 * 2 = 18.\n#### 18", Finish: llm.FinishStop, Model: "small-1",
			Usage: llm.Usage{Input: 120, Output: 40, Known: true}, Timing: llm.Timing{Start: start, Total: 900 * time.Millisecond},
		},
		Attempts: []result.Attempt{{Number: 1, Start: start, Duration: time.Second, Finish: llm.FinishStop}},
		Usage:    llm.UsageTotal{Usage: llm.Usage{Input: 120, Output: 40, Known: true}, Calls: 1},
		CostUSD:  "0.000123", Start: start, Duration: time.Second, Latency: 900 * time.Millisecond,
	}
}

func header() result.Header {
	return result.Header{
		Created: start, Module: "example.com/shop", Package: "example.com/shop/bot", Test: "TestSupport",
		Dataset: result.Dataset{Name: "support", Path: "testdata/support.jsonl.gz", SHA256: "ab12", Items: 3, Selection: "limit 3"},
		Samples: 1, Attempts: 3, Options: map[string]string{"parallel": "16"}, Go: "go1.26",
	}
}

// write makes a journal of n records and leaves it open.
func write(t *testing.T, path string, n int) *result.Writer {
	t.Helper()
	w, err := result.Create(path, header())
	require.NoError(t, err)
	for i := range n {
		rec := record(i)
		require.NoError(t, w.Write(&rec))
	}
	return w
}

func read(t *testing.T, path string) *result.Journal {
	t.Helper()
	j, err := result.Read(path)
	require.NoError(t, err)
	return j
}

func TestJournalRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "run.jsonl")
	w := write(t, path, 3)
	assert.Equal(t, path, w.Path())
	end := result.End{Finished: start.Add(time.Minute), Complete: true, Counts: result.Counts{result.Correct: 3}}
	require.NoError(t, w.Close(end))

	assert.Equal(t, path+".gz", w.Path())
	assert.NoFileExists(t, path)
	for _, name := range []string{path, path + ".gz"} { // either name finds it
		j := read(t, name)
		want := header()
		want.Format = result.Format
		assert.Equal(t, want, j.Header)
		assert.Equal(t, &end, j.End)
		assert.Empty(t, j.Warnings)
		if diff := cmp.Diff([]result.Record{record(0), record(1), record(2)}, j.Records); diff != "" {
			t.Errorf("Read() mismatch (-want +got):\n%s", diff)
		}
		assert.Equal(t, &j.Records[1], j.Find(result.Key{ID: "gsm8k-0001"}))
		assert.Nil(t, j.Find(result.Key{ID: "gsm8k-0001", Sample: 1}))
	}
	rec := record(1)
	assert.ErrorIs(t, w.Write(&rec), result.ErrClosed)
	assert.ErrorIs(t, w.Close(end), result.ErrClosed)
	assert.ErrorIs(t, w.Abort(), result.ErrClosed)
}

// TestJournalIsPrivate: records hold prompts and answers.
func TestJournalIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "run.jsonl")
	w := write(t, path, 1)
	check := func(path string) {
		t.Helper()
		fi, err := os.Stat(path)
		require.NoError(t, err)
		if os.PathSeparator == '/' {
			assert.Zero(t, fi.Mode().Perm()&0o077, "%s is %v", path, fi.Mode())
		}
	}
	check(path)
	check(filepath.Dir(path))
	require.NoError(t, w.Close(result.End{}))
	check(path + ".gz")
}

func TestWriteConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w := write(t, path, 0)
	var wg sync.WaitGroup
	const workers, each = 64, 50
	for k := range workers {
		wg.Go(func() {
			for i := range each {
				rec := record(k*each + i)
				if !assert.NoError(t, w.Write(&rec)) {
					return
				}
				// Acknowledged means: another process could read it now.
				if i%25 == 0 {
					data, err := os.ReadFile(path)
					assert.NoError(t, err)
					assert.Contains(t, string(data), rec.Item.ID)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Abort())
	j := read(t, path)
	assert.Len(t, j.Records, workers*each)
	assert.Empty(t, j.Replaced)
	assert.Nil(t, j.End)
}

// TestFinal: a resumed run asks again for what has no answer.
func TestFinal(t *testing.T) {
	for _, o := range append(result.Outcomes, "", "of_tomorrow") {
		again := o == result.NotRun || o == result.Errored || o == ""
		assert.Equal(t, !again, o.Final(), "outcome %q", o)
	}
}

func TestLaterRecordReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w := write(t, path, 3)
	again := record(1)
	again.Outcome, again.Verdict, again.Score = result.NotRun, nil, 0
	require.NoError(t, w.Write(&again))
	other := record(1)
	other.Sample = 1
	require.NoError(t, w.Write(&other))
	require.NoError(t, w.Close(result.End{}))
	j := read(t, path)
	assert.Equal(t, []result.Record{record(0), again, record(2), other}, j.Records)
	first := record(1)
	assert.Equal(t, []result.Record{{
		Item: result.Item{ID: first.Item.ID}, Outcome: first.Outcome, Start: first.Start, Duration: first.Duration,
		Usage: first.Usage, CostUSD: first.CostUSD, JudgeUsage: first.JudgeUsage, JudgeCostUSD: first.JudgeCostUSD,
	}}, j.Replaced, "what was spent on it, without the texts")
	assert.NotZero(t, first.Usage.Calls, "else this shows nothing")

	r, err := result.Open(path)
	require.NoError(t, err)
	defer r.Close()
	n := 0
	for _, err := range r.All() {
		require.NoError(t, err)
		n++
	}
	assert.Equal(t, 5, n, "All yields what was written")
}

// TestAppend resumes a journal in each state it may be found in. The result
// must read as if the run had never been interrupted.
func TestAppend(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		leave        func(t *testing.T, w *result.Writer, path string)
		warnings     int
	}{
		{"closed", "it is compressed, and has an end that is not the last line any more",
			func(t *testing.T, w *result.Writer, _ string) {
				require.NoError(t, w.Close(result.End{Reason: "interrupt"}))
			}, 0},
		{"aborted", "plain, no end", func(t *testing.T, w *result.Writer, _ string) { require.NoError(t, w.Abort()) }, 0},
		{"torn tail", "the kill came in the middle of a write", func(t *testing.T, w *result.Writer, path string) {
			require.NoError(t, w.Abort())
			grow(t, path, `{"item":{"id":"gsm8k-0003","inp`)
		}, 1},
		{"zeros", "a power cut may leave blocks that were never written", func(t *testing.T, w *result.Writer, path string) {
			require.NoError(t, w.Abort())
			grow(t, path, strings.Repeat("\x00", 5000)+"\n"+strings.Repeat("\x00", 10))
		}, 1},
		{"whole line, no newline", "the last record is there; only its newline is not", func(t *testing.T, w *result.Writer, path string) {
			require.NoError(t, w.Abort())
			fi, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(path, fi.Size()-1))
		}, 0},
		{"crash between rename and remove", "plain and compressed are both there, with one content", func(t *testing.T, w *result.Writer, path string) {
			require.NoError(t, w.Abort())
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".gz", zip(data), 0o600))
		}, 0},
		{"crash after an earlier resume", "the compressed one is only a beginning of the plain one", func(t *testing.T, w *result.Writer, path string) {
			require.NoError(t, w.Abort())
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".gz", zip(data[:bytes.IndexByte(data, '\n')+1]), 0o600))
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.jsonl")
			tc.leave(t, write(t, path, 3), path)
			w, j, err := result.Append(path + ".gz")
			require.NoError(t, err, tc.reason)
			assert.Equal(t, path, w.Path())
			assert.NoFileExists(t, path+".gz")
			assert.Equal(t, []result.Record{record(0), record(1), record(2)}, j.Records)
			assert.Len(t, j.Warnings, tc.warnings)
			assert.Equal(t, j.Warnings, w.Warnings()[:len(j.Warnings)])
			for i := 3; i < 6; i++ {
				rec := record(i)
				require.NoError(t, w.Write(&rec))
			}
			require.NoError(t, w.Close(result.End{Complete: true}))

			whole := filepath.Join(t.TempDir(), "whole.jsonl")
			require.NoError(t, write(t, whole, 6).Close(result.End{Complete: true}))
			got, want := read(t, path), read(t, whole)
			assert.Equal(t, want.Records, got.Records)
			assert.Equal(t, want.Header, got.Header)
			assert.True(t, got.End.Complete)
			assert.Empty(t, got.Warnings)
		})
	}
}

func grow(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func zip(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

func TestAppendRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.jsonl")
	_, _, err := result.Append(path)
	assert.ErrorIs(t, err, fs.ErrNotExist)

	w := write(t, path, 2)
	_, _, err = result.Append(path)
	assert.ErrorIs(t, err, result.ErrInUse, "two writers would overwrite each other's lines")
	assert.Len(t, read(t, path).Records, 2, "reading needs no lock")
	require.NoError(t, w.Abort())

	foreign := []byte("{\"format\":\"evals.journal/1\",\"note\":\"something else\"}\n")
	require.NoError(t, os.WriteFile(path+".gz", zip(foreign), 0o600))
	_, _, err = result.Append(path)
	require.ErrorContains(t, err, "are both there and differ (from about byte 0): move one of them away")
	assert.FileExists(t, path)
	assert.FileExists(t, path+".gz")
}

func TestCreateNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w := write(t, path, 1)
	_, err := result.Create(path, header())
	assert.ErrorIs(t, err, fs.ErrExist)
	assert.ErrorContains(t, err, "a journal is never overwritten")
	require.NoError(t, w.Close(result.End{}))
	for _, p := range []string{path, path + ".gz"} {
		_, err = result.Create(p, header())
		assert.ErrorIs(t, err, fs.ErrExist, "the compressed form counts")
	}
	assert.Len(t, read(t, path).Records, 1)
}

func TestReadDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, write(t, path, 3).Abort())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := bytes.SplitAfter(data, []byte{'\n'})
	join := func(l ...[]byte) []byte { return bytes.Join(l, nil) }
	torn := lines[2][:40]
	for _, tc := range []struct {
		name, reason string
		data         []byte
		records      int    // read without error
		warning      string // of the one warning
		err          string
		is           error
	}{
		{"torn tail", "dropped, with how much and what it means", join(lines[0], lines[1], torn), 1,
			`run.jsonl:3: the last 40 bytes (from byte `, "", nil},
		{"zeros after a torn line", "what a power cut may leave: blocks that were never written", join(lines[0], lines[1], torn, make([]byte, 5000)), 1,
			`run.jsonl:3: the last 5040 bytes (from byte `, "", nil},
		{"blank lines at the end", "an editor's; nothing is lost with them", join(data, []byte("\n\r\n")), 3,
			`run.jsonl:5: the last 3 bytes (from byte `, "", nil},
		{"damaged middle", "dropping what follows would lose whole records", join(lines[0], torn, []byte("\n"), lines[3]), 0,
			"", "run.jsonl:2 (byte ", nil},
		{"blank line in the middle", "nobody writes one", join(lines[0], lines[1], []byte("\n"), lines[3]), 1,
			"", "no interrupted write leaves this", nil},
		{"whole last line that is no record", "a kill leaves no newline: dropping it would lose what it is", join(lines[0], lines[1], []byte("{}\n")), 1,
			"", "run.jsonl:3 ", nil},
		{"records of a later version", "resuming must not cut them all off", join(lines[0], bytes.Repeat([]byte(`{"item":{"id":"n"},"outcome":"correct","score":{"mean":1}}`+"\n"), 3)), 0,
			"", "run.jsonl:2 ", nil},
		{"edited by hand", "one bracket too few in the last line", join(lines[0], lines[1][:len(lines[1])-2], []byte("\n")), 0,
			"", "delete the line and resume to run its item again", nil},
		{"two journals in one file", "cat a b > c", join(data, data), 3, "", "a second header: two journals were joined", nil},
		{"header of the wrong type", "", []byte("{\"format\":\"evals.journal/1\",\"samples\":\"x\"}\n"), 0,
			"", "run.jsonl:1 (byte 0): the header cannot be read", nil},
		{"two torn lines, then a record", "the search for a readable line goes to the end", join(lines[0], []byte("{\n{\n"), lines[1]), 0,
			"", "run.jsonl:2 ", nil},
		{"compressed, torn", "a compressed file is written whole, so this is damage", zip(join(lines[0], lines[1], torn)), 1,
			"", "run.jsonl:3 ", nil},
		{"compressed, cut", "half a gzip file", zip(data)[:len(zip(data))-20], 2, "", "the compressed file ends early", io.ErrUnexpectedEOF},
		{"compressed, something after it", "all records were read, but nobody knows what the rest is", append(zip(data), make([]byte, 512)...), 3,
			"", "resume from what gzip -dc still gets out of it", nil},
		{"empty", "killed before the header", nil, 0, "", "is empty: the run was cut off before it began", result.ErrFormat},
		{"half a header", "killed in the header", lines[0][:20], 0, "", "only the beginning of a header", result.ErrFormat},
		{"a few bytes of a header", "", lines[0][:5], 0, "", "only the beginning of a header", result.ErrFormat},
		{"half a header and zeros", "a power cut", append(lines[0][:20:20], make([]byte, 4000)...), 0, "", "only the beginning of a header", result.ErrFormat},
		{"zeros", "a power cut before the first block was written", make([]byte, 4096), 0, "", "only the beginning of a header", result.ErrFormat},
		{"somebody's archive", "nothing that is not ours is to be deleted", []byte("PK\x03\x04 and so on"), 0, "", "the first line is no journal header", result.ErrFormat},
		{"a line of text", "without a newline it is no half header either", []byte("hello"), 0, "", "the first line is no journal header", result.ErrFormat},
		{"a newline", "", []byte("\n"), 0, "", "the first line is no journal header", result.ErrFormat},
		{"another file of ours", "its name says what it is", []byte("{\"format\":\"evals.cassette/1\"}\n"), 0, "",
			`is a file of format "evals.cassette/1", not a journal`, result.ErrFormat},
		{"not a journal", "a dataset, say", []byte("{\"question\":\"?\"}\n"), 0, "", "the first line is no journal header", result.ErrFormat},
		{"not JSON", "a text file", []byte("hello\nworld\n"), 0, "", "the first line is no journal header", result.ErrFormat},
		{"newer version", "an older program must not guess", []byte("{\"format\":\"evals.journal/2\"}\n"), 0, "",
			`has format "evals.journal/2"; this program reads "evals.journal/1"`, result.ErrFormat},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := result.NewReader("run.jsonl", bytes.NewReader(tc.data))
			n := 0
			if err == nil {
				for _, e := range r.All() {
					if e != nil {
						err = e
						break
					}
					n++
				}
			}
			if tc.err == "" {
				require.NoError(t, err, tc.reason)
				require.Len(t, r.Warnings(), 1)
				assert.ErrorContains(t, r.Warnings()[0], tc.warning)
				assert.ErrorAs(t, r.Warnings()[0], new(*result.LineError))
			} else {
				require.ErrorContains(t, err, tc.err, tc.reason)
				if tc.is != nil {
					assert.ErrorIs(t, err, tc.is)
				} else {
					assert.ErrorAs(t, err, new(*result.LineError))
				}
			}
			assert.Equal(t, tc.records, n)
			if errors.Is(err, result.ErrFormat) && !bytes.HasPrefix(lines[0], bytes.Trim(tc.data, "\x00")) {
				assert.NotContains(t, err.Error(), "delete", "the file is not ours")
			}
		})
	}
}

// TestEditedFile: what an editor does to a file that it only had to save.
func TestEditedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, write(t, path, 3).Abort())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	data = append([]byte("\xef\xbb\xbf"), data...)
	require.NoError(t, os.WriteFile(path, append(data, `{"item":`...), 0o600))
	w, j, err := result.Append(path)
	require.NoError(t, err)
	assert.Equal(t, []result.Record{record(0), record(1), record(2)}, j.Records)
	require.Len(t, j.Warnings, 1)
	rec := record(3)
	require.NoError(t, w.Write(&rec))
	require.NoError(t, w.Close(result.End{}))
	j = read(t, path)
	assert.Empty(t, j.Warnings)
	assert.Equal(t, []result.Record{record(0), record(1), record(2), record(3)}, j.Records)
}

// TestUnknownFields: a later version of the same format may write more. It is
// ignored, and stays in the file when the run is resumed.
func TestUnknownFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, write(t, path, 1).Abort())
	grow(t, path, `{"item":{"id":"x","mood":"new"},"outcome":"correct","score":1,"more":{"a":[1,2]}}`+"\n")
	w, j, err := result.Append(path)
	require.NoError(t, err)
	require.NoError(t, w.Abort())
	assert.Equal(t, result.Correct, j.Records[1].Outcome)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"more":{"a":[1,2]}`)
}

func TestWriteRefusesWhatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w := write(t, path, 1)
	nan := record(1)
	nan.Score = nanValue()
	assert.ErrorContains(t, w.Write(&nan), `record of item "gsm8k-0001" cannot be written`)
	assert.ErrorContains(t, w.Write(&result.Record{Outcome: result.Errored}), "both are needed")
	ok := record(2)
	assert.NoError(t, w.Write(&ok), "one bad record is not the journal's end")
	require.NoError(t, w.Abort())
	assert.Equal(t, []result.Record{record(0), record(2)}, read(t, path).Records)
}

func nanValue() float64 { zero := 0.0; return zero / zero }

func TestOpenMissing(t *testing.T) {
	_, err := result.Open(filepath.Join(t.TempDir(), "run.jsonl"))
	assert.True(t, errors.Is(err, fs.ErrNotExist), err)
}

// TestLateFingerprint: what is known only at the end is part of what a run was,
// and a model's name for itself may be anything.
func TestLateFingerprint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	w, err := result.Create(path, result.Header{Samples: 1, Attempts: 1, Fingerprint: map[string]string{"evals": "v1"}})
	require.NoError(t, err)
	late := map[string]string{"model": "m\xff", "evals": "not this one"}
	require.NoError(t, w.Close(result.End{Fingerprint: late}))
	assert.Equal(t, "m\xff", late["model"], "the caller's map stays")
	j, err := result.Read(w.Path())
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"evals": "v1", "model": "m\uFFFD"}, j.Fingerprint())
	j.End = nil
	assert.Equal(t, map[string]string{"evals": "v1"}, j.Fingerprint(), "of a run that was cut off")
}
