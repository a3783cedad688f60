package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"
)

// A zstdInput reads all frames of a zstd file.
type zstdInput struct {
	dec  *zstd.Decoder
	walk *zstdWalker
}

func (z *zstdInput) Read(p []byte) (int, error) {
	n, err := z.dec.Read(p)
	if err == nil {
		return n, nil
	}
	if err == io.EOF {
		if err = z.walk.end(); err == nil {
			err = io.EOF
		}
		return n, err
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		if err = z.walk.end(); err == nil {
			err = fmt.Errorf("%w: the zstd data ends too early", ErrTruncated)
		}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		err = fmt.Errorf("%w: a zstd window of more than 128 MiB; recompress it without --ultra --long", ErrFormat)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		err = fmt.Errorf("%w: zstd with a dictionary; recompress it without", ErrFormat)
	case errors.Is(err, zstd.ErrMagicMismatch):
		err = fmt.Errorf("%w: data that is not zstd follows the zstd data", ErrCorrupt)
	case !isIO(err):
		err = fmt.Errorf("%w: zstd: %w", ErrCorrupt, err)
	}
	return n, err
}

// isIO reports whether err is the file's, not the compression's.
func isIO(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) || errors.Is(err, errUnreadable)
}

// errUnreadable marks errors of the underlying reader, which the compression
// libraries hand through beside their own.
var errUnreadable = errors.New("cannot be read")

// A readError is an error of the underlying reader.
type readError struct{ err error }

func (e readError) Error() string        { return e.err.Error() }
func (e readError) Unwrap() error        { return e.err }
func (e readError) Is(target error) bool { return target == errUnreadable }

// markedReader marks the errors of r as its own.
type markedReader struct{ r io.Reader }

func (m markedReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && err != io.EOF {
		err = readError{err}
	}
	return n, err
}

// isSkippable reports whether head begins a skippable zstd frame.
func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// A zstdWalker follows the frame structure of what the decoder reads. The
// decoder takes up to three bytes after the last frame for a clean end, and
// does not say whether a frame carries a checksum: both are seen here.
type zstdWalker struct {
	r     io.Reader
	state walkState
	need  int    // bytes wanted in buf, or to skip
	buf   []byte // of a header that is being read
	sum   bool   // the frame ends with a checksum

	frames, unsummed int
}

type walkState int

const (
	walkMagic  walkState = iota // 4 bytes
	walkSkipN                   // 4 bytes: size of a skippable frame
	walkHeader                  // 1 byte: the frame header's descriptor
	walkBlock                   // 3 bytes: block header
	walkLost                    // not zstd: the decoder will say so
)

func (w *zstdWalker) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.feed(p[:n])
	return n, err
}

func (w *zstdWalker) feed(p []byte) {
	for len(p) > 0 && w.state != walkLost {
		if w.need > 0 { // skipping
			n := min(w.need, len(p))
			w.need -= n
			p = p[n:]
			continue
		}
		want := map[walkState]int{walkMagic: 4, walkSkipN: 4, walkHeader: 1, walkBlock: 3}[w.state]
		n := min(want-len(w.buf), len(p))
		w.buf = append(w.buf, p[:n]...)
		p = p[n:]
		if len(w.buf) == want {
			w.step(w.buf)
			w.buf = w.buf[:0]
		}
	}
}

// step takes one header and says what comes next.
func (w *zstdWalker) step(b []byte) {
	switch w.state {
	case walkMagic:
		switch {
		case bytes.Equal(b, zstdMagic):
			w.state = walkHeader
		case isSkippable(b):
			w.state = walkSkipN
		default:
			w.state = walkLost
		}
	case walkSkipN:
		w.need, w.state = int(binary.LittleEndian.Uint32(b)), walkMagic
	case walkHeader:
		d := b[0]
		single := d&0x20 != 0
		w.sum = d&0x04 != 0
		w.need = []int{0, 1, 2, 4}[d&3] + []int{0, 2, 4, 8}[d>>6]
		if single && d>>6 == 0 {
			w.need++
		}
		if !single {
			w.need++
		}
		w.state = walkBlock
		w.frames++
		if !w.sum {
			w.unsummed++
		}
	case walkBlock:
		h := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		last, kind, size := h&1 != 0, h>>1&3, h>>3
		if kind == 1 { // one byte, repeated
			size = 1
		}
		w.need = size
		if last {
			w.state = walkMagic
			if w.sum {
				w.need += 4
			}
		}
	}
}

// end reports whether the stream ended where a frame does.
func (w *zstdWalker) end() error {
	switch {
	case w.state == walkLost:
		return fmt.Errorf("%w: data that is not zstd follows the zstd data", ErrCorrupt)
	case w.state != walkMagic || w.need > 0:
		return fmt.Errorf("%w: the zstd data ends too early", ErrTruncated)
	case len(w.buf) == 0:
		return nil
	case bytes.HasPrefix(zstdMagic, w.buf):
		return fmt.Errorf("%w: the zstd data ends in the header of a further frame", ErrTruncated)
	}
	return fmt.Errorf("%w: data that is not zstd follows the zstd data", ErrCorrupt)
}

func (w *zstdWalker) warnings() []error {
	if w.unsummed == 0 {
		return nil
	}
	return []error{fmt.Errorf("%d of %s carry no checksum: damage inside them would go unseen; write them with zstd --check", w.unsummed, count(w.frames, "zstd frame"))}
}
