package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLoadAccepts: files that hold whole rows, however they are written.
func TestLoadAccepts(t *testing.T) {
	thousand := make([]string, 1000)
	for i := range thousand {
		thousand[i] = row(i+1) + "\n"
	}
	long := func(n int) string {
		return row(1) + "\n" + `{"id":"r2","question":"` + strings.Repeat("x", n) + `","answer":"y"}` + "\n" + row(3) + "\n"
	}
	bom := "\xef\xbb\xbf"
	skippable := "\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
	tests := []struct {
		name, reason, content string
		want                  int
	}{
		{"plain", "the simplest file", rows(3), 3},
		{"no final line end", "many editors and tools leave it out", strings.TrimSuffix(rows(3), "\n"), 3},
		{"two gzip members", "D01: cat a.gz b.gz", gz(row(1)+"\n", row(2)+"\n"), 2},
		{"a thousand gzip members", "D01: an exporter that compresses each record", gz(thousand...), 1000},
		{"gzip member that ends inside a row", "members know nothing of lines", gz(row(1)[:9], row(1)[9:]+"\n"), 1},
		{"empty gzip member between", "as some writers flush", gz(row(1)+"\n", "", row(2)+"\n"), 2},
		{"zero padding after gzip", "tapes and block devices pad with zeros", gz(rows(2)) + strings.Repeat("\x00", 1000), 2},
		{"zstd", "told by magic bytes", zst(rows(5)), 5},
		{"two zstd frames", "cat a.zst b.zst", zst(row(1)+"\n", row(2)+"\n"), 2},
		{"zstd skippable frames", "pzstd and seekable zstd write them", skippable + zst(row(1)+"\n") + skippable + zst(row(2)+"\n") + skippable, 2},
		{"line of 70 KB", "D04: over bufio.Scanner's limit", long(70_000), 3},
		{"line of 1.1 MB", "D04: over another project's limit", long(1_100_000), 3},
		{"line of 21 MB", "D04: over a third one's", long(21_000_000), 3},
		{"long line in gzip", "D04 and D01 together", gz(long(1_100_000)), 3},
		{"byte order mark", "D06: exported on Windows", bom + rows(2), 2},
		{"byte order mark in gzip", "D06", gz(bom + rows(2)), 2},
		{"byte order mark in zstd", "D06", zst(bom + rows(2)), 2},
		{"CRLF", "exported on Windows", strings.ReplaceAll(rows(3), "\n", "\r\n"), 3},
		{"blank lines", "D10: they are counted and allowed", "\n \t\n" + row(1) + "\n\r\n" + row(2) + "\n\n", 2},
		{"white space around rows", "JSON allows it", "  " + row(1) + " \t\n", 1},
		{"U+2028 in a string", "it is a line end to JavaScript, not here", `{"question":"a` + "\u2028" + `b","answer":"c"}` + "\n", 1},
		{"ustar at byte 257", "a word in a row is no tar archive", `{"question":"` + strings.Repeat("x", 257-13) + `ustar","answer":1}` + "\n", 1},
		{"U+FEFF in a string", "D06: a BOM elsewhere is data", `{"question":"` + bom + `b","answer":"c"}` + "\n", 1},
	}
	var seen []string
	for _, tt := range tests {
		unique(t, &seen, tt.name, tt.reason)
		t.Run(tt.name, func(t *testing.T) {
			// The name says the opposite of the content on purpose (D08).
			names := []string{"x.jsonl", "x.jsonl.gz", "x.zst"}
			if len(tt.content) > 5_000_000 {
				names = names[:1]
			}
			for _, name := range names {
				path := file(t, name, tt.content)
				d, err := Load(path)
				require.NoError(t, err, tt.reason)
				assert.Equal(t, tt.want, d.Len(), tt.reason)
				assert.Empty(t, d.Warnings())
				n := 0
				seq, err := Open(path)
				require.NoError(t, err)
				for it, err := range seq {
					require.NoError(t, err)
					require.Equal(t, d.At(n), it)
					n++
				}
				assert.Equal(t, tt.want, n)
			}
		})
	}
}

// refusals are inputs that must not load. The text of each error is golden.
var refusals = []struct {
	name, reason, content string
	opts                  []Option
	is                    error
	line, rows            int
}{
	{name: "empty file", reason: "D08, D09: zero items are no success", content: "", is: ErrEmpty},
	{name: "blank lines only", reason: "D09", content: "\n\r\n  \n", is: ErrEmpty},
	{name: "empty gzip", reason: "D08", content: gz(""), is: ErrEmpty},
	{name: "empty zstd", reason: "a zstd reader takes it for a clean end", content: zst(""), is: ErrEmpty},
	{name: "byte order mark only", reason: "D06 and D09", content: "\xef\xbb\xbf", is: ErrEmpty},
	{name: "gzip cut by 6 bytes", reason: "D03: the footer is missing", content: cut(gz(rows(50)), 6), is: ErrTruncated, rows: 50},
	{name: "gzip cut at 60 percent", reason: "D03", content: gz(rows(50))[:len(gz(rows(50)))*6/10], is: ErrTruncated, rows: -1},
	{name: "gzip cut in its header", reason: "D03", content: gz(rows(2))[:6], is: ErrTruncated},
	{name: "gzip cut in a second header", reason: "D03 and D01", content: gz(rows(2)) + gz(rows(2))[:5], is: ErrTruncated, rows: 2},
	{name: "gzip cut after one byte of a second header", reason: "D03 and D01", content: gz(rows(2)) + "\x1f", is: ErrTruncated, rows: 2},
	{name: "gzip checksum flipped", reason: "D03: seen only after the last row", content: flip(gz(rows(50)), 8), is: ErrCorrupt, rows: 50},
	{name: "gzip size flipped", reason: "D03", content: flip(gz(rows(50)), 4), is: ErrCorrupt, rows: 50},
	{name: "text after gzip", reason: "an interrupted append", content: gz(rows(2)) + "tail", is: ErrCorrupt, rows: 2},
	{name: "text after zero padding", reason: "only zeros are padding", content: gz(rows(2)) + "\x00\x00x", is: ErrCorrupt, rows: 2},
	{name: "gzip after zero padding", reason: "a second file must not be ignored", content: gz(rows(2)) + "\x00" + gz(rows(2)), is: ErrCorrupt, rows: 2},
	{name: "zstd cut", reason: "D03", content: cut(zst(rows(50)), 6), is: ErrTruncated, rows: -1},
	{name: "zstd cut in a second magic number", reason: "one to three bytes are too few to tell what they begin", content: zst(rows(2)) + "\x28", is: ErrTruncated, rows: 2},
	{name: "byte after zstd", reason: "it may be the start of a frame or of something else", content: zst(rows(2)) + "x", is: ErrCorrupt, rows: 2},
	{name: "text after zstd", reason: "an interrupted append", content: zst(rows(2)) + "{\"a\":1}", is: ErrCorrupt, rows: 2},
	{name: "zstd checksum flipped", reason: "D03", content: flip(zst(rows(50)), 1), is: ErrCorrupt, rows: -1},
	{name: "Git LFS pointer", reason: "git clone without LFS", content: "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n", is: ErrLFSPointer},
	{name: "UTF-16 with mark", reason: "PowerShell redirection", content: "\xff\xfe{\x00\"\x00", is: ErrFormat},
	{name: "UTF-16 without mark", reason: "the same, stripped", content: "{\x00\"\x00a\x00", is: ErrFormat},
	{name: "zip", reason: "a mislabelled archive", content: "PK\x03\x04 and more", is: ErrFormat},
	{name: "parquet", reason: "what dataset hubs serve", content: "PAR1 and more", is: ErrFormat},
	{name: "tar in gzip", reason: "a .tar.gz taken for .gz", content: gz(strings.Repeat("\x00", 257) + "ustar"), is: ErrFormat},
	{name: "gzip in gzip", reason: "compressed twice by an uploader", content: gz(gz(rows(2))), is: ErrFormat},
	{name: "HTML page", reason: "a login page saved by curl", content: "\n<!DOCTYPE html><html>", is: ErrFormat},
	{name: "JSON list", reason: "json.dump of a list", content: "[{\"question\":\"q\",\"answer\":1}]", is: ErrFormat},
	{name: "JSON list over lines", reason: "the same, indented", content: "[\n  {\"question\":\"q\",\"answer\":1}\n]\n", is: ErrFormat},
	{name: "indented object", reason: "json.dump with indent", content: "{\n  \"question\": \"q\"\n}\n", is: ErrSyntax, line: 1},
	{name: "CSV", reason: "a spreadsheet export", content: "question,answer\nq,1\n", is: ErrSyntax, line: 1},
	{name: "cut row after a blank line", reason: "D10: the physical line counts", content: row(1) + "\n\n" + row(2) + "\n{\"question\": \"x\n[1]\n{\"a\":1}{\"a\":2}\n", is: ErrSyntax, line: 4, rows: 2},
	{name: "plain file cut in its last row", reason: "D03 for plain files", content: row(1) + "\n{\"question\": \"x", is: ErrTruncated, line: 2, rows: 1},
	{name: "list", reason: "D10", content: row(1) + "\n[1]\n", is: ErrRow, line: 2, rows: 1},
	{name: "null", reason: "D10", content: row(1) + "\nnull\n", is: ErrRow, line: 2, rows: 1},
	{name: "string", reason: "D10", content: row(1) + "\n\"x\"\n", is: ErrRow, line: 2, rows: 1},
	{name: "number", reason: "D10", content: row(1) + "\n12\n", is: ErrRow, line: 2, rows: 1},
	{name: "two objects on a line", reason: "D10", content: row(1) + "\n" + row(2) + row(3) + "\n", is: ErrSyntax, line: 2, rows: 1},
	{name: "text after an object", reason: "D10", content: row(1) + " x\n", is: ErrSyntax, line: 1},
	{name: "trailing comma", reason: "no JSON", content: "{\"question\":1,\"answer\":2,}\n", is: ErrSyntax, line: 1},
	{name: "NaN", reason: "Python writes it", content: "{\"question\":1,\"answer\":NaN}\n", is: ErrSyntax, line: 1},
	{name: "comment", reason: "no JSON", content: "// hello\n" + row(1) + "\n", is: ErrSyntax, line: 1},
	{name: "CR line ends", reason: "old Mac files are one line", content: row(1) + "\r" + row(2) + "\r", is: ErrSyntax, line: 1},
	{name: "mark inside the file", reason: "D06: joined files", content: row(1) + "\n\xef\xbb\xbf" + row(2) + "\n", is: ErrSyntax, line: 2, rows: 1},
	{name: "invalid UTF-8", reason: "Latin-1 text", content: row(1) + "\n{\"question\":\"caf\xe9\",\"answer\":2}\n", is: ErrSyntax, line: 2, rows: 1},
	{name: "invalid UTF-8 in metadata", reason: "it must not fail later", content: "{\"question\":1,\"answer\":2,\"x\":{\"y\":\"\xff\"}}\n", is: ErrSyntax, line: 1},
	{name: "half a surrogate pair", reason: "encoding/json would put U+FFFD in its place", content: "{\"question\":\"\\ud83d\",\"answer\":2}\n", is: ErrSyntax, line: 1},
	{name: "duplicate key", reason: "which value counts is a guess", content: row(1) + "\n{\"question\":1,\"answer\":2,\"answer\":3}\n", is: ErrDuplicateKey, line: 2, rows: 1},
	{name: "duplicate key by escape", reason: "\\u0061 is a", content: "{\"question\":1,\"answer\":2,\"\\u0061nswer\":3}\n", is: ErrDuplicateKey, line: 1},
	{name: "duplicate nested key", reason: "metadata is checked too", content: "{\"question\":1,\"answer\":2,\"m\":{\"k\":1,\"k\":2}}\n", is: ErrDuplicateKey, line: 1},
	{name: "duplicate key in a list", reason: "metadata is checked too", content: "{\"question\":1,\"answer\":2,\"m\":[{\"k\":1,\"k\":2}]}\n", is: ErrDuplicateKey, line: 1},
	{name: "duplicate id", reason: "T10: dup, dup and dup#01", content: "{\"id\":\"dup\",\"question\":1,\"answer\":1}\n\n{\"id\":\"dup\",\"question\":2,\"answer\":1}\n{\"id\":\"dup#01\",\"question\":3,\"answer\":1}\n", is: ErrDuplicateID, line: 3, rows: 1},
	{name: "text and number ids meet", reason: "both name the subtest 1", content: "{\"id\":1,\"question\":1,\"answer\":1}\n{\"id\":\"1\",\"question\":2,\"answer\":1}\n", is: ErrDuplicateID, line: 2, rows: 1},
	{name: "row number meets an id", reason: "the second row has no id and is 2", content: "{\"id\":2,\"question\":1,\"answer\":1}\n{\"question\":2,\"answer\":1}\n", is: ErrDuplicateID, line: 2, rows: 1},
	{name: "line over the limit", reason: "D04: names the line and the limit", content: row(1) + "\n" + row(2) + "\n{\"question\":\"" + strings.Repeat("x", 200) + "\"}\n", opts: []Option{MaxLine(100)}, is: ErrLineTooLong, line: 3, rows: 2},
	{name: "line over the limit and a block", reason: "D04: never held whole", content: row(1) + "\n" + "{\"question\":\"" + strings.Repeat("x", 2<<20) + "\"}\n", opts: []Option{MaxLine(1 << 20)}, is: ErrLineTooLong, line: 2, rows: 1},
	{name: "decompression bomb", reason: "a small file without a line end", content: gz(strings.Repeat(" ", 4<<20)), opts: []Option{MaxLine(1 << 20)}, is: ErrLineTooLong, line: 1},
	{name: "bad rows without end", reason: "gigabytes of something else are not read in vain", content: row(1) + "\n" + strings.Repeat("x\n", mostBadRows+100), is: ErrSyntax, line: 2, rows: 1},
	{name: "null target", reason: "the column is there", content: "{\"question\":\"q\",\"answer\":null}\n", is: ErrRow, line: 1},
	{name: "many bad rows", reason: "the first few and their count", content: row(1) + "\n" + strings.Repeat("[]\n", 25) + row(2) + "\n", is: ErrRow, line: 2, rows: 1},
	{name: "no target", reason: "the error says how to map", content: "{\"question\":\"q\",\"label\":1,\"note\":2}\n", is: ErrField, line: 1},
	{name: "no input", reason: "the error says how to map", content: "{\"text\":\"q\",\"answer\":1}\n", is: ErrField, line: 1},
	{name: "two inputs", reason: "the error says how to choose", content: "{\"question\":\"q\",\"prompt\":\"p\",\"answer\":1}\n", is: ErrField, line: 1},
	{name: "two targets", reason: "the error says how to choose", content: "{\"question\":\"q\",\"target\":\"p\",\"answer\":1}\n", is: ErrField, line: 1},
	{name: "empty object", reason: "there is nothing to ask", content: "{}\n", is: ErrField, line: 1},
	{name: "id of the wrong kind", reason: "an object names nothing", content: "{\"id\":{\"$oid\":1},\"question\":1,\"answer\":1}\n", is: ErrRow, line: 1},
	{name: "empty id", reason: "it would not name a subtest", content: "{\"id\":\"\",\"question\":1,\"answer\":1}\n", is: ErrRow, line: 1},
	{name: "empty list as target", reason: "nothing could be right", content: "{\"question\":1,\"answer\":[]}\n", is: ErrRow, line: 1},
	{name: "target not among the choices", reason: "D13", content: "{\"question\":1,\"choices\":[\"x\",\"y\",\"z\"],\"answer\":\"w\"}\n", is: ErrTarget, line: 1},
	{name: "letter beyond the choices", reason: "D13", content: "{\"question\":1,\"choices\":[\"x\",\"y\",\"z\"],\"answer\":\"D\"}\n", is: ErrTarget, line: 1},
	{name: "letter and text disagree", reason: "D13: which is meant cannot be told", content: "{\"question\":1,\"choices\":[\"B\",\"A\"],\"answer\":\"A\"}\n", is: ErrTarget, line: 1},
	{name: "selection leaves nothing", reason: "D09: a filter that matches nothing", content: rows(3), opts: []Option{Filter(func(Item) bool { return false }), Limit(2)}, is: ErrEmpty},
	{name: "unknown id", reason: "D09: a mistyped id", content: rows(12), opts: []Option{IDs("r3", "R12", "zzzzzz")}, is: ErrUnknownID},
	{name: "Fields and Decode", reason: "one of them would be ignored", content: rows(1), opts: []Option{Fields(Mapping{}), Decode(parseItem)}, is: ErrOption},
	{name: "Limit twice", reason: "one of them would be ignored", content: rows(1), opts: []Option{Limit(1), Limit(2)}, is: ErrOption},
}

func parseItem(row json.RawMessage) (Item, error) { return Item{Input: string(row)}, nil }

func cut(s string, n int) string { return s[:len(s)-n] }

// flip inverts a bit of the n-th byte from the end.
func flip(s string, n int) string {
	b := []byte(s)
	b[len(b)-n] ^= 0x10
	return string(b)
}

func TestLoadRefuses(t *testing.T) {
	var seen []string
	var texts strings.Builder
	for _, tt := range refusals {
		unique(t, &seen, tt.name, tt.reason)
		t.Run(tt.name, func(t *testing.T) {
			d, err := Read(strings.NewReader(tt.content), "x.jsonl", tt.opts...)
			require.Error(t, err, tt.reason)
			assert.Nil(t, d)
			text := err.Error()
			if tt.rows < 0 { // it depends on the compressor
				text = regexp.MustCompile(`[0-9]+ rows? w`).ReplaceAllString(text, "N rows w")
			}
			fmt.Fprintf(&texts, "== %s\n%s\n", tt.name, text)
			require.ErrorIs(t, err, tt.is, tt.reason)
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, tt.line, e.Line, "line")
			if tt.rows >= 0 {
				assert.Equal(t, tt.rows, e.Rows, "rows read well before")
			}
			assert.Equal(t, "x.jsonl", e.Path)

			path := file(t, "x.jsonl", tt.content)
			_, err = Open(path, tt.opts...)
			require.ErrorIs(t, err, tt.is, "Open refuses what Load refuses")
			assert.Equal(t, strings.ReplaceAll(e.Error(), "x.jsonl", path), err.Error(), "in the same words")

			// However slowly the bytes come.
			_, err = Read(iotest.OneByteReader(strings.NewReader(tt.content)), "x.jsonl", tt.opts...)
			require.ErrorIs(t, err, tt.is)
			assert.Equal(t, e.Error(), err.Error())
		})
	}
	golden(t, "errors.golden", texts.String())
}

// TestSeveralBadRows: errors.Is sees every listed row, not the first alone.
func TestSeveralBadRows(t *testing.T) {
	_, err := Read(strings.NewReader(row(1)+"\n[]\n"+row(1)+"\n{\"a\":1,\"a\":2}\n"), "x")
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 3, e.BadRows)
	for _, want := range []error{ErrRow, ErrDuplicateID, ErrDuplicateKey} {
		assert.ErrorIs(t, err, want)
	}
	require.Len(t, e.Bad, 3)
	assert.Equal(t, 4, e.Bad[2].Line)
	assert.ErrorIs(t, e.Bad[2], ErrDuplicateKey)
	assert.Contains(t, e.Bad[2].Error(), "line 4: ")
}

// TestCorruptionNeverPasses: wherever a compressed file is cut or a bit of it
// flipped, it is refused or holds the same rows.
func TestCorruptionNeverPasses(t *testing.T) {
	content := rows(20)
	whole := mustRead(t, content)
	for name, packed := range map[string]string{"gzip": gz(content), "zstd": zst(content)} {
		t.Run(name, func(t *testing.T) {
			for n := range len(packed) {
				_, err := Read(strings.NewReader(packed[:n]), "x")
				require.Error(t, err, "cut at %d of %d", n, len(packed))
				d, err := Read(strings.NewReader(flip(packed, n+1)), "x")
				if err == nil { // a bit of the header that means nothing, such as the time
					require.Equal(t, whole.SHA256(), d.SHA256(), "bit flipped at %d from the end", n+1)
				}
			}
		})
	}
}

func TestZstdWithoutChecksum(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderCRC(false))
	require.NoError(t, err)
	_, _ = io.WriteString(z, rows(3))
	require.NoError(t, z.Close())
	d := mustRead(t, b.String())
	require.Len(t, d.Warnings(), 1, "damage would go unseen: the user should know")
	assert.ErrorContains(t, d.Warnings()[0], "checksum")
}

func TestLoadPaths(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(filepath.Join(dir, "none.jsonl"))
	require.ErrorIs(t, err, fs.ErrNotExist, "D09: a mistyped path")
	assert.ErrorContains(t, err, "folder of the test's package", "says where relative paths start")
	_, err = Load(dir)
	require.ErrorIs(t, err, ErrFormat)
	assert.ErrorContains(t, err, "it is a folder")
	_, err = Open(dir)
	require.ErrorIs(t, err, ErrFormat)

	fsys := fstest.MapFS{"data/x.jsonl.gz": {Data: []byte(gz(rows(3)))}, "data/o.jsonl": {Data: []byte(`{"id":"r2","target":"9","reason":"miscounted"}`)}}
	d, err := LoadFS(fsys, "data/x.jsonl.gz", OverridesFile("data/o.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, 3, d.Len())
	assert.Equal(t, "9", d.At(1).Target, "the overrides come from the same file system")
	assert.Equal(t, "data/x.jsonl.gz", d.Path())
	assert.Equal(t, "x", d.Name())
	seq, err := OpenFS(fsys, "data/x.jsonl.gz")
	require.NoError(t, err)
	n := 0
	for _, err := range seq {
		require.NoError(t, err)
		n++
	}
	assert.Equal(t, 3, n)
	_, err = LoadFS(fsys, "data")
	assert.ErrorIs(t, err, ErrFormat)
}

// TestReadFailure: an error of the reader is told apart from a damaged file.
func TestReadFailure(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, content := range []string{rows(2000), gz(rows(2000)), zst(rows(2000))} {
		half := io.MultiReader(strings.NewReader(content[:len(content)/2]), iotest.ErrReader(broken))
		_, err := Read(half, "x")
		require.ErrorIs(t, err, broken)
		require.NotErrorIs(t, err, ErrCorrupt)
		require.NotErrorIs(t, err, ErrTruncated)
	}
	_, err := Read(iotest.ErrReader(broken), "x")
	require.ErrorIs(t, err, broken)
}

func TestSHA256(t *testing.T) {
	content := "\xef\xbb\xbf" + rows(30)
	plain, packed := mustRead(t, content), mustRead(t, gz(content), Limit(2))
	assert.Equal(t, plain.SHA256(), packed.SHA256(), "of the uncompressed content, before any selection")
	assert.NotEqual(t, plain.SHA256(), mustRead(t, rows(30)).SHA256())
}

// TestDecodePanics: a panic in a user's function reaches the caller, and no
// goroutine is left behind to read the file.
func TestDecodePanics(t *testing.T) {
	assert.PanicsWithValue(t, "mine", func() {
		_, _ = Read(strings.NewReader(rows(100_000)), "x", Filter(func(Item) bool { panic("mine") }))
	})
}

// TestOrder: rows come in file order however many goroutines decode them.
func TestOrder(t *testing.T) {
	const n = 60_000 // several blocks
	d := mustRead(t, rows(n))
	require.Equal(t, n, d.Len())
	for i := range n {
		if d.At(i).ID != "r"+itoa(i+1) {
			t.Fatalf("item %d is %s", i, d.At(i).ID)
		}
	}
}

// TestMaxLineUnlimited: the largest limit is one, not an overflow.
func TestMaxLineUnlimited(t *testing.T) {
	long := `{"question":"` + strings.Repeat("x", 2<<20) + `","answer":1}` + "\n"
	assert.Equal(t, 1, mustRead(t, long, MaxLine(math.MaxInt)).Len())
}

func TestNew(t *testing.T) {
	mine := []Item{{Input: "a", Target: "b", Targets: []string{"c"}}, {ID: "x", Input: "d"}}
	d, err := New("mine", mine)
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "x"}, idsOf(d))
	assert.Equal(t, "mine", d.Name())
	assert.Empty(t, d.Path())
	assert.Len(t, d.Warnings(), 1, "an empty target")
	mine[0].Targets[0] = "changed"
	assert.Equal(t, "c", d.At(0).Targets[0], "a dataset never changes")
	raw := json.RawMessage(" {\"a\":1}\n")
	kept, err := New("raw", []Item{{Target: "b", Raw: raw}})
	require.NoError(t, err)
	raw[3] = 'z'
	assert.Equal(t, `{"a":1}`, string(kept.At(0).Raw), "not even if the caller reuses the row")
	again, err := New("other", []Item{{Input: "a", Target: "b", Targets: []string{"c"}}, {ID: "x", Input: "d"}})
	require.NoError(t, err)
	assert.Equal(t, d.SHA256(), again.SHA256())

	for _, tt := range []struct {
		name  string
		items []Item
		is    error
	}{
		{"none", nil, ErrEmpty},
		{"duplicate", []Item{{ID: "a", Target: "1"}, {ID: "a", Target: "1"}}, ErrDuplicateID},
		{"number and id", []Item{{ID: "2"}, {}}, ErrDuplicateID},
		{"choices", []Item{{Target: "x", Choices: []string{"a", "b"}}}, ErrTarget},
		{"raw", []Item{{Raw: []byte(`{"a":`)}}, ErrSyntax},
		{"raw list", []Item{{Raw: []byte(`[]`)}}, ErrRow},
		{"text", []Item{{Input: "\xff"}}, ErrRow},
	} {
		_, err := New("mine", tt.items)
		assert.ErrorIs(t, err, tt.is, tt.name)
	}
	_, err = New("mine", mine, MaxLine(3))
	assert.ErrorIs(t, err, ErrOption)
}

func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"Limit(0)":       func() { Limit(0) },
		"Sample(-1, 7)":  func() { Sample(-1, 7) },
		"Shard(0, 4)":    func() { Shard(0, 4) },
		"Shard(5, 4)":    func() { Shard(5, 4) },
		"Shard(1, 0)":    func() { Shard(1, 0) },
		"Filter(nil)":    func() { Filter(nil) },
		"Decode(nil)":    func() { Decode(nil) },
		"AutoID(nil)":    func() { AutoID(nil) },
		"IDs()":          func() { IDs() },
		"MaxLine(0)":     func() { MaxLine(0) },
		"Mapping.ID is":  func() { Fields(Mapping{ID: WholeRow}) },
		"Mapping.Group":  func() { Fields(Mapping{Group: "."}) },
		"MaxLine(-1000)": func() { MaxLine(-1000) },
	} {
		func() {
			defer func() {
				assert.Contains(t, fmt.Sprint(recover()), name, "the panic names the value")
			}()
			f()
		}()
	}
	mustRead(t, rows(2), nil, Options(nil, Limit(1)))
}

func TestGSM8KSplit(t *testing.T) {
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	path := filepath.Join(dir, "data", "gsm8k_test.jsonl.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the GSM8K test split is not at %s; EVALTEST_SHARED names the folder above data/", path)
	}
	d, err := Load(path)
	require.NoError(t, err)
	assert.Equal(t, 1319, d.Len())
	assert.Equal(t, "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14", d.SHA256())
	assert.Equal(t, "1319", d.At(1318).ID)
}
