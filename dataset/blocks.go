package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// How much is read, decoded and handed on at a time. Rows that are kept whole
// share the memory of their block, so that large ones cost fewest allocations;
// blocks that are used again are the smaller, the flatter memory stays.
const (
	keptBlock   = 512 << 10
	reusedBlock = 128 << 10
)

// A block is a run of whole lines.
type block struct {
	data []byte
	line int // of the first line, from 1
	// cut is set if the last line has no line end: only at the end of input.
	cut bool
	err error // what came after data; then the block is the last one
}

// A blockReader cuts a stream into blocks that end with a line. It is the one
// place that bounds memory: a line may not grow beyond max.
type blockReader struct {
	r     io.Reader
	size  int // of a block: keptBlock or reusedBlock
	max   int
	line  int
	carry []byte // begins the next block
	free  chan []byte
	done  bool
}

// next returns the next block; after one with an err or the last there are no
// more.
func (b *blockReader) next() (block, bool) {
	if b.done {
		return block{}, false
	}
	buf := b.buffer(len(b.carry))
	buf = append(buf, b.carry...)
	seen := len(buf) // bytes known to hold no line end
	for {
		n, err := b.fill(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return b.last(buf, err), true
		}
		if i := bytes.LastIndexByte(buf[seen:], '\n'); i >= 0 {
			end := seen + i + 1
			b.carry = append(b.carry[:0], buf[end:]...)
			return b.cut(buf[:end]), true
		}
		seen = len(buf)
		if seen-1 > b.max { // - 1: a CR may be part of the line end
			b.done = true
			return block{line: b.line + 1, err: b.tooLong()}, true
		}
		grown := make([]byte, len(buf), 2*cap(buf))
		copy(grown, buf)
		buf = grown
	}
}

func (b *blockReader) tooLong() error {
	return fmt.Errorf("%w: over the limit of %d bytes; raise it with dataset.MaxLine if the line is meant to be so long", ErrLineTooLong, b.max)
}

// buffer returns an empty buffer with room for more than n bytes.
func (b *blockReader) buffer(n int) []byte {
	if n < b.size/2 {
		select {
		case buf := <-b.free:
			return buf[:0]
		default:
			return make([]byte, 0, b.size)
		}
	}
	return make([]byte, 0, 2*n+b.size)
}

// fill reads until p is full or the input ends.
func (b *blockReader) fill(p []byte) (int, error) {
	n, idle := 0, 0
	for n < len(p) {
		m, err := b.r.Read(p[n:])
		n += m
		if err != nil {
			return n, err
		}
		if m > 0 {
			idle = 0
		} else if idle++; idle > 100 {
			return n, io.ErrNoProgress
		}
	}
	return n, nil
}

func (b *blockReader) cut(data []byte) block {
	blk := block{data: data, line: b.line + 1}
	b.line += bytes.Count(data, []byte{'\n'})
	return blk
}

func (b *blockReader) last(data []byte, err error) block {
	b.done = true
	if err != io.EOF {
		// The line at hand is not whole: it is no row that was read.
		data = data[:bytes.LastIndexByte(data, '\n')+1]
		blk := b.cut(data)
		blk.err = err
		return blk
	}
	blk := b.cut(data)
	blk.cut = len(data) > 0 && data[len(data)-1] != '\n'
	return blk
}

// A digest is the SHA-256 of the uncompressed content, which is what two
// copies of a dataset have in common, however they are compressed.
type digest struct{ h hash.Hash }

func newDigest() digest         { return digest{sha256.New()} }
func (d digest) add(p []byte)   { d.h.Write(p) }
func (d digest) String() string { return hex.EncodeToString(d.h.Sum(nil)) }
