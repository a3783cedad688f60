package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// sniffed is how many bytes are looked at to tell what a file is.
const sniffed = 512

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// An input is a stream of uncompressed rows. Its Read returns errors that
// already wrap ErrTruncated or ErrCorrupt.
type input struct {
	io.Reader
	close func()
	// warn reports what the compression cannot vouch for, after the end.
	warn func() []error
}

// uncompress finds out what in is by its first bytes, never by its name, and
// returns the rows in it.
func uncompress(in io.Reader) (*input, error) {
	br := bufio.NewReaderSize(in, 64<<10)
	head, err := peek(br)
	if err == nil && len(head) == 0 {
		err = fmt.Errorf("%w: the file is empty", ErrEmpty)
	}
	if err != nil {
		return nil, err
	}
	raw, err := decompress(br, head)
	if err != nil {
		return nil, err
	}
	return plain(raw)
}

// Decompress returns what is in a stream that is compressed with gzip or zstd,
// told by its first bytes, and any other stream as it is. It reads all members
// and frames, and takes the padding with zeros that tar and some block devices
// leave. Reading fails with [ErrTruncated], [ErrCorrupt], or [ErrFormat] for a
// zstd window of more than 128 MiB, or with the error of in itself. Close frees
// what decompressing took; it does not close in.
//
// It is for files that are no datasets: [Load] and [Open] decompress by
// themselves.
func Decompress(in io.Reader) (io.ReadCloser, error) {
	br := bufio.NewReaderSize(in, 64<<10)
	head, err := peek(br)
	if err != nil {
		return nil, err
	}
	raw, err := decompress(br, head)
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// Close is for Decompress.
func (in *input) Close() error {
	in.close()
	return nil
}

// decompress reads on by what the stream begins with.
func decompress(br *bufio.Reader, head []byte) (*input, error) {
	none := func() []error { return nil }
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return &input{&gzipInput{br: br}, func() {}, none}, nil
	case bytes.HasPrefix(head, zstdMagic), isSkippable(head):
		w := &zstdWalker{r: br}
		// A window beyond 128 MiB (zstd --long=27) is refused: it is what a
		// hostile frame could make us allocate.
		dec, err := zstd.NewReader(w, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("%w: zstd: %w", ErrCorrupt, err)
		}
		return &input{&zstdInput{dec: dec, walk: w}, dec.Close, w.warnings}, nil
	}
	return &input{br, func() {}, none}, nil
}

// plain refuses content that is not JSONL and skips a byte order mark.
func plain(raw *input) (*input, error) {
	br, ok := raw.Reader.(*bufio.Reader)
	if !ok {
		br = bufio.NewReaderSize(raw, sniffed)
	}
	head, err := peek(br)
	if err == nil && len(head) == 0 {
		err = fmt.Errorf("%w: the file holds nothing once it is uncompressed", ErrEmpty)
	}
	if err == nil {
		err = recognise(head)
	}
	if err != nil {
		raw.close()
		return nil, err
	}
	return &input{br, raw.close, raw.warn}, nil
}

// peek returns what the stream begins with; less than sniffed bytes only if
// the stream is shorter.
func peek(br *bufio.Reader) ([]byte, error) {
	head, err := br.Peek(sniffed)
	if err == io.EOF {
		err = nil
	}
	if err != nil && len(head) > 0 {
		// It comes back with the read that reaches it, after the rows before
		// it have been counted.
		err = nil
	}
	return head, err
}

// A gzipInput reads all members of a gzip file, one after the other. The
// library's own multi-member mode calls padding and garbage alike a bad
// header, after all data; here padding of zeros is accepted, as tar and some
// block devices leave it, and anything else is refused.
type gzipInput struct {
	br  *bufio.Reader
	z   *gzip.Reader
	err error
}

func (g *gzipInput) Read(p []byte) (int, error) {
	for g.err == nil {
		if g.z == nil {
			g.z, g.err = gzip.NewReader(g.br)
			if g.err != nil {
				g.err = gzipError(noEOF(g.err))
				break
			}
			g.z.Multistream(false)
		}
		n, err := g.z.Read(p)
		if err == io.EOF {
			err = g.nextMember()
		} else if err != nil {
			err = gzipError(err)
		}
		g.err = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, g.err
}

// nextMember looks at what follows a member: io.EOF, another one, or padding.
func (g *gzipInput) nextMember() error {
	head, err := g.br.Peek(2)
	switch {
	case len(head) == 0 && err == io.EOF:
		return io.EOF
	case len(head) == 0:
		return err
	case bytes.Equal(head, gzipMagic):
		if err := g.z.Reset(g.br); err != nil {
			return gzipError(noEOF(err))
		}
		g.z.Multistream(false)
		return nil
	case len(head) == 1 && head[0] == gzipMagic[0]:
		return fmt.Errorf("%w: the gzip data ends in the header of a further member", ErrTruncated)
	}
	for n := 0; ; n++ {
		b, err := g.br.ReadByte()
		if err != nil {
			return err // io.EOF: nothing but zeros
		}
		if b != 0 {
			if n == 0 {
				return fmt.Errorf("%w: data that is not gzip follows the gzip data", ErrCorrupt)
			}
			return fmt.Errorf("%w: data follows the gzip data and %s", ErrCorrupt, count(n, "zero byte"))
		}
	}
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func gzipError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the gzip data ends too early", ErrTruncated)
	case isIO(err):
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// A format is a kind of file that people take for JSONL.
type format struct {
	magic string
	at    int
	what  string
}

var formats = []format{
	{"PK\x03\x04", 0, "a zip archive (or a spreadsheet); unpack it, or export it as JSONL"},
	{"PK\x05\x06", 0, "an empty zip archive"},
	{"PAR1", 0, "a Parquet file; convert it to JSONL, for instance with duckdb: COPY (FROM 'rows.parquet') TO 'rows.jsonl'"},
	{"ARROW1", 0, "an Arrow file; convert it to JSONL"},
	{"Obj\x01", 0, "an Avro file; convert it to JSONL"},
	{"SQLite format 3\x00", 0, "an SQLite database; export the table as JSONL"},
	{"\x1f\x8b", 0, "gzip inside compressed data: it was compressed twice; unpack it once"},
	{"\x28\xb5\x2f\xfd", 0, "zstd inside compressed data: it was compressed twice; unpack it once"},
	{"BZh", 0, "bzip2 data; recompress it with gzip or zstd"},
	{"\xfd7zXZ\x00", 0, "xz data; recompress it with gzip or zstd"},
	{"\x04\x22\x4d\x18", 0, "lz4 data; recompress it with gzip or zstd"},
	{"7z\xbc\xaf\x27\x1c", 0, "a 7z archive; unpack it"},
	// The zero before it is the end of a link's name; a row may hold the word.
	{"\x00ustar", 256, "a tar archive; unpack it"},
	{"%PDF-", 0, "a PDF document"},
	{"\xff\xfe\x00\x00", 0, "UTF-32 text; convert it to UTF-8"},
	{"\x00\x00\xfe\xff", 0, "UTF-32 text; convert it to UTF-8"},
	{"\xff\xfe", 0, "UTF-16 text; convert it to UTF-8, for instance with iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", 0, "UTF-16 text; convert it to UTF-8, for instance with iconv -f UTF-16 -t UTF-8"},
	{"{\x00", 0, "UTF-16 text without a byte order mark; convert it to UTF-8 with iconv -f UTF-16LE -t UTF-8"},
	{"\x00{", 0, "UTF-16 text without a byte order mark; convert it to UTF-8 with iconv -f UTF-16BE -t UTF-8"},
}

// recognise names a file that cannot be JSONL.
func recognise(head []byte) error {
	for _, f := range formats {
		if len(head) >= f.at && bytes.HasPrefix(head[f.at:], []byte(f.magic)) {
			return fmt.Errorf("%w: it is %s", ErrFormat, f.what)
		}
	}
	text := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, utf8BOM)))
	switch {
	case bytes.HasPrefix(text, []byte("version https://git-lfs.github.com/spec/")):
		return fmt.Errorf("%w stands in place of the file", ErrLFSPointer)
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		return fmt.Errorf("%w: it is an HTML page; was a login or error page saved in place of the file?", ErrFormat)
	case bytes.HasPrefix(text, []byte("<?xml")):
		return fmt.Errorf("%w: it is an XML document", ErrFormat)
	}
	return nil
}
