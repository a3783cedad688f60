package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// decompress looks at the first bytes, not at a name that may lie.
func decompress(r io.Reader) (io.Reader, func(), error) {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, compressed("gzip", err)
		}
		z.Multistream(false)
		return &unpacked{"gzip", &members{br, z}}, func() { z.Close() }, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), len(head) == 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:], []byte{0x2a, 0x4d, 0x18}):
		// A window beyond 128 MiB is what a hostile frame could make us allocate.
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, compressed("zstd", err)
		}
		return &unpacked{"zstd", z}, z.Close, nil
	}
	return br, func() {}, nil
}

// members reads all members of a gzip file, and takes the padding with zeros
// that tar and some block devices leave; the library's own way calls it a bad
// header.
type members struct {
	in *bufio.Reader
	z  *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	n, err := m.z.Read(p)
	if err != io.EOF {
		return n, err
	}
	for {
		switch c, err := m.in.ReadByte(); {
		case err != nil:
			return n, err // io.EOF: nothing follows but zeros
		case c == 0:
			continue
		}
		m.in.UnreadByte()
		if head, _ := m.in.Peek(2); len(head) == 2 && !bytes.Equal(head, []byte{0x1f, 0x8b}) {
			return n, gzip.ErrHeader // other data; Reset would call a short one cut off
		}
		if err := m.z.Reset(m.in); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
		m.z.Multistream(false)
		return n, nil
	}
}

// unpacked gives the errors of a decompressor their kind.
type unpacked struct {
	name string
	r    io.Reader
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = compressed(u.name, err)
	}
	return n, err
}

func compressed(name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return fmt.Errorf("%w: the %s data ends too early; fetch the file again", ErrTruncated, name)
	}
	return fmt.Errorf("%w: %s: %w; fetch the file again", ErrCorrupt, name, err)
}
