package result

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A Writer writes a journal. All methods are safe for concurrent use. The zero
// value is not usable: [Create] or [Append] one, and Close or Abort it.
type Writer struct {
	commits *committer
	path    string // the plain file

	mu       sync.Mutex // guards what follows
	closed   bool
	final    string
	warnings []error
}

// Create begins a journal at path and writes its header. Neither path nor
// path + ".gz" may exist: a journal is never overwritten (fs.ErrExist). Folders
// on the way are made, readable by the user only, as is the file: records hold
// prompts and answers. The error is a *[WriteError] that says what to do.
//
// The file is locked until it is closed, so that no other process appends to
// it (on Unix and Windows, and where the file system has locks).
func Create(path string, h Header) (*Writer, error) {
	path = plainPath(path)
	fail := func(err error) (*Writer, error) {
		return nil, &WriteError{Path: path, Op: "create", Err: err}
	}
	h.Format = Format
	if h.Created.IsZero() {
		h.Created = time.Now()
	}
	h.Created = h.Created.UTC()
	if h.Go == "" {
		h.Go = runtime.Version()
	}
	var line bytes.Buffer
	if err := encodeHeader(&line, h); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(err)
	}
	if _, err := os.Lstat(path + ".gz"); err == nil {
		return fail(&os.PathError{Op: "create", Path: path + ".gz", Err: os.ErrExist})
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fail(err)
	}
	if err := lock(f); err != nil {
		f.Close()
		return fail(err)
	}
	if _, err := f.WriteAt(line.Bytes(), 0); err != nil {
		f.Close()
		os.Remove(path) // it is ours, and without a header it is no journal
		return fail(err)
	}
	return newWriter(f, path, int64(line.Len()), 0), nil
}

func newWriter(f *os.File, path string, off int64, records int) *Writer {
	return &Writer{commits: newCommitter(f, off, records), path: path, final: path}
}

// Write appends a record and returns nil when the kernel has it: from then on
// no death of this process loses it. Many goroutines' records go in one write,
// so Write is worth calling from all workers at once.
//
// A record that cannot be encoded (no item id, no outcome, a NaN score) is
// refused and nothing else. A failed write is a *[WriteError] and final: the
// journal stays whole up to there, and every later Write returns that error.
// Write keeps nothing of rec.
func (w *Writer) Write(rec *Record) error {
	b := buffers.Get().(*bytes.Buffer)
	defer release(b)
	if err := encodeRecord(b, rec); err != nil {
		return err
	}
	return w.commits.add(b.Bytes(), true)
}

// Close writes the end, waits for the disk to have the file, and replaces it
// by its compressed form, path + ".gz". A crash at any point leaves one file
// that Open reads. If compressing fails, on a full disk for example, the plain
// file stays: that is a warning (see Warnings), not an error. After a failed
// Write, Close returns that error and leaves the plain file without an end.
func (w *Writer) Close(end End) error {
	if end.Finished.IsZero() {
		end.Finished = time.Now()
	}
	end.Finished = end.Finished.UTC()
	w.mu.Lock()
	defer w.mu.Unlock()
	synced, err := w.finish(func() error {
		var line bytes.Buffer
		if err := encodeEnd(&line, end); err != nil {
			return err
		}
		return w.commits.add(line.Bytes(), false)
	})
	if err != nil {
		return err
	}
	err = w.compress(synced)
	if err := synced(); err != nil {
		return err
	}
	if err != nil {
		w.warnings = append(w.warnings, fmt.Errorf("result: journal %s stays uncompressed: %w", w.path, err))
	}
	return nil
}

// Abort closes the file as it stands, without an end and plain, as a killed
// process would leave it. It returns a failed Write's error, if there was one.
func (w *Writer) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	synced, err := w.finish(func() error { return nil })
	if err != nil {
		return err
	}
	err = synced()
	if e := w.commits.file.Close(); e != nil && err == nil {
		err = &WriteError{Path: w.path, Op: "close", Records: w.commits.records, Err: e}
	}
	return err
}

// finish runs last, stops the committer and begins to sync the file; synced
// waits for that and returns what it came to. If finish fails, the file is
// synced and closed.
func (w *Writer) finish(last func() error) (synced func() error, err error) {
	if w.closed {
		return nil, ErrClosed
	}
	w.closed = true
	err = last()
	if had := w.commits.stop(ErrClosed); err == nil {
		err = had
	}
	f, done := w.commits.file, make(chan error, 1)
	go func() { done <- f.Sync() }()
	synced = sync.OnceValue(func() error {
		if err := <-done; err != nil {
			return &WriteError{Path: w.path, Op: "sync", Records: w.commits.records, Err: err}
		}
		return nil
	})
	if err != nil {
		_ = synced()
		f.Close()
		return nil, err
	}
	return synced, nil
}

// compress replaces the plain file and closes it. The order is such that a
// crash leaves the plain file, or both with the same content (readers prefer
// plain): the compressed one gets its name when the disk has the plain one,
// which it does while this compresses. The file stays open, and so locked,
// until it is gone: a process that resumes it in between would write to a file
// without a name.
func (w *Writer) compress(synced func() error) error {
	f := w.commits.file
	packed := w.path + ".gz"
	if err := pack(w.path, packed, synced); err != nil {
		_ = synced() // before f is closed
		f.Close()
		return err
	}
	if runtime.GOOS == "windows" { // which removes no open file
		f.Close()
	}
	err := os.Remove(w.path)
	f.Close()
	if err == nil {
		w.final = packed
	}
	return err
}

// Path returns where the journal lies now: the plain file while it is written,
// the compressed one after Close.
func (w *Writer) Path() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.final
}

// Warnings returns non-fatal trouble so far: a damaged tail that Append cut, a
// file that Close could not compress.
func (w *Writer) Warnings() []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]error(nil), w.warnings...)
}

// plainPath returns the path of the journal's plain file.
func plainPath(path string) string { return strings.TrimSuffix(path, ".gz") }

// Append reopens a journal to go on with it, whether it was closed, aborted or
// cut off by a kill, and returns what it holds. A damaged tail is cut off, with
// a *[LineError] among the Journal's warnings. A compressed journal is
// unpacked first, so that it is plain while it is written. Records written
// now replace earlier ones of the same key when the journal is read.
//
// path names the plain or the compressed file. Errors: fs.ErrNotExist,
// [ErrFormat], [ErrInUse], a *[LineError] for damage that is not at the end,
// a *[WriteError].
func Append(path string) (*Writer, *Journal, error) {
	plain := plainPath(path)
	if err := restore(plain); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(plain, os.O_RDWR, 0)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf("result: append to journal: %w", err)
		}
		return nil, nil, &WriteError{Path: plain, Op: "open", Err: err}
	}
	w, j, err := appendTo(f, plain)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return w, j, nil
}

func appendTo(f *os.File, plain string) (*Writer, *Journal, error) {
	if err := lock(f); err != nil {
		return nil, nil, fmt.Errorf("%w: %s: wait for it to end", err, plain)
	}
	if !named(f, plain) { // the other process closed and compressed it just now
		return nil, nil, fmt.Errorf("%w: %s: try again", ErrInUse, plain)
	}
	r := &Reader{path: plain, src: f}
	if err := r.start(); err != nil {
		return nil, nil, err
	}
	j, err := r.journal()
	if err != nil {
		return nil, nil, err
	}
	fail := func(op string, err error) (*Writer, *Journal, error) {
		return nil, nil, &WriteError{Path: plain, Op: op, Records: r.records, Err: err}
	}
	if err := f.Truncate(r.good); err != nil {
		return fail("repair", err)
	}
	if r.unterminated { // a whole last line without its newline
		if _, err := f.WriteAt([]byte{'\n'}, r.good); err != nil {
			return fail("repair", err)
		}
		r.good++
	}
	w := newWriter(f, plain, r.good, r.records)
	w.warnings = append(w.warnings, j.Warnings...)
	return w, j, nil
}
