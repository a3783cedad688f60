package result

import (
	"bytes"
	"os"
	"runtime"
	"sync"
)

// A committer appends lines to a file in groups: while one write is under way,
// lines of other goroutines gather in the next batch, which is then written at
// once. add returns when its line's batch has been written.
//
// There is no goroutine of its own: the first to add to a batch writes it,
// when the write before it is done. So a single writer pays no switch of
// goroutines at all, and nobody writes for others for longer than one batch.
type committer struct {
	mu      sync.Mutex
	file    *os.File
	off     int64 // where the next write goes: the end of the last good line
	next    *batch
	spare   []byte // a written batch's buffer, to be used again
	writing bool   // somebody writes, or is about to
	records int    // in the file
	err     error  // the first failure; nothing is written after it
	idle    sync.Cond
}

type batch struct {
	buf     []byte
	lines   int
	records int           // of the lines
	lead    chan struct{} // told to write; received by the first to add
	done    chan struct{} // closed when written; err is set before that
	err     error
}

func newCommitter(f *os.File, off int64, records int) *committer {
	c := &committer{file: f, off: off, records: records, next: newBatch(nil)}
	c.idle.L = &c.mu
	return c
}

func newBatch(buf []byte) *batch {
	return &batch{buf: buf[:0], done: make(chan struct{}), lead: make(chan struct{}, 1)}
}

// add appends a line, a record or not, and waits for it to be with the kernel.
func (c *committer) add(line []byte, record bool) error {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	b := c.next
	b.buf = append(b.buf, line...)
	b.lines++
	if record {
		b.records++
	}
	switch {
	case !c.writing:
		c.writing = true
		// Workers that are ready to run add their lines first: at 64 of them
		// this makes batches of about 20 of what would else be single writes,
		// and it costs nothing where nobody else is ready.
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	case b.lines == 1: // the first of this batch writes it, after the one before
		c.mu.Unlock()
		<-b.lead
		runtime.Gosched()
		c.mu.Lock()
	default:
		c.mu.Unlock()
		<-b.done
		return b.err
	}
	// This goroutine writes. Others gather in a new batch meanwhile.
	c.next = newBatch(c.spare)
	c.spare = nil
	if c.err == nil {
		c.mu.Unlock()
		n, err := c.file.WriteAt(b.buf, c.off)
		c.mu.Lock()
		c.wrote(b, n, err)
	}
	b.err = c.err
	c.handOver(b)
	c.mu.Unlock()
	return b.err
}

// wrote takes note of what a write of b came to. After a failure, whole lines
// of a half-written batch stay: they are records, though their writers are told
// that they may not be. What follows the last newline goes; if even that fails,
// the torn tail is cut on resume.
func (c *committer) wrote(b *batch, n int, err error) {
	keep, records := len(b.buf), b.records
	if err != nil {
		keep = bytes.LastIndexByte(b.buf[:n], '\n') + 1
		records = min(records, bytes.Count(b.buf[:keep], []byte{'\n'}))
		_ = c.file.Truncate(c.off + int64(keep))
	}
	c.off += int64(keep)
	c.records += records
	if err != nil {
		c.err = &WriteError{Path: c.file.Name(), Op: "write", Records: c.records, Err: err}
	}
}

// handOver ends b and lets the first of the next batch write.
func (c *committer) handOver(b *batch) {
	if cap(b.buf) <= 4<<20 {
		c.spare = b.buf
	}
	b.buf = nil
	close(b.done)
	if c.next.lines == 0 {
		c.writing = false
		c.idle.Broadcast()
		return
	}
	c.next.lead <- struct{}{}
}

// stop makes every later add return err and waits for those before. It returns
// the error that the committer already had.
func (c *committer) stop(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.writing {
		c.idle.Wait()
	}
	had := c.err
	c.err = err
	return had
}
