package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// ErrClosed is returned by a Writer that was closed or aborted.
var ErrClosed = errors.New("dataset: writer is closed")

// A Writer writes items as JSONL, each checked on its way out: what was
// written loads again, by the default column names, as the same items. It is
// not safe for concurrent use.
type Writer struct {
	w      *bufio.Writer
	zip    io.WriteCloser // compresses into file; nil if it does not
	file   *os.File       // nil if not made by Create
	path   string         // what file becomes
	ids    map[string]bool
	rows   int
	check  rowReader
	err    error // the first, and then always
	closed bool
}

// Create begins a file: compressed with gzip if path ends in .gz, with zstd if
// it ends in .zst, plain otherwise. It is written under a temporary name in
// the same folder and takes its place, over an older file, when Close
// succeeds: nobody ever sees half a dataset.
func Create(path string) (*Writer, error) {
	f, err := createTemp(path)
	if err != nil {
		e := fileError(path, err)
		if errors.Is(err, os.ErrNotExist) {
			e.Hint = "The folder of the new file must exist."
		}
		return nil, e
	}
	w := NewWriter(nil)
	w.file, w.path = f, path
	switch {
	case strings.HasSuffix(path, ".gz"):
		// No name and time in the header: the same items make the same file.
		w.zip = gzip.NewWriter(f)
	case strings.HasSuffix(path, ".zst"):
		w.zip, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
		if err != nil {
			w.Abort()
			return nil, fileError(path, err)
		}
	}
	if w.zip != nil {
		w.w.Reset(w.zip)
	} else {
		w.w.Reset(f)
	}
	return w, nil
}

// createTemp makes a new file beside path, with the permissions that the
// user's umask gives, which os.CreateTemp would not.
func createTemp(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for try := 0; ; try++ {
		name := filepath.Join(dir, "."+base+".tmp"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(try))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) || try > 1000 {
			return f, err
		}
	}
}

// NewWriter writes plain JSONL to w. Close then only flushes.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 64<<10), ids: map[string]bool{}, check: rowReader{cols: newColumns(Mapping{})}}
}

// Write writes one item: its fields under the names id, input, target,
// targets, choices and group, then, if it was read by column names, the columns
// of its row that no field took. A column that would be read back as a field
// is refused: see WriteRow. The row of an item that a decode function made is
// not written, for what the function made of it cannot be told.
func (w *Writer) Write(it Item) error {
	if it.ID == "" {
		return w.refuse(fmt.Errorf("%w: the item has no id", ErrRow))
	}
	if w.ids[it.ID] {
		return w.refuse(fmt.Errorf("%w: %s was written already", ErrDuplicateID, quote(it.ID)))
	}
	if err := it.checkChoices(); err != nil {
		return w.refuse(fmt.Errorf("item %s: %w", quote(it.ID), err))
	}
	row, err := itemRow(&it)
	if err == nil {
		row, err = oneLine(row)
	}
	if err != nil {
		return w.refuse(fmt.Errorf("item %s: %w", quote(it.ID), err))
	}
	back, err := w.check.read(row)
	if err == nil && !back.sameFields(it) {
		err = fmt.Errorf("%w: a column of its row would be read back as a field", ErrField)
	}
	if err != nil {
		return w.refuse(fmt.Errorf("item %s cannot be written so that it loads as it is: %w", quote(it.ID), err))
	}
	if err := w.line(row); err != nil {
		return err
	}
	w.ids[it.ID] = true
	return nil
}

// WriteRow writes a row as it is, such as the Raw of an item that is to stay
// what it was. It must be one JSON object; line breaks inside it are removed.
// Its columns are not looked at: loading it needs the options that loaded it
// before, and two rows with one id are not found out here.
func (w *Writer) WriteRow(row json.RawMessage) error {
	line, err := oneLine(bytes.Trim(row, " \t\r\n"))
	if err == nil {
		err = (&rowReader{}).scan(line)
	}
	if err != nil {
		return w.refuse(err)
	}
	return w.line(line)
}

// oneLine removes white space from a row that spans lines.
func oneLine(row []byte) ([]byte, error) {
	if !bytes.ContainsAny(row, "\r\n") {
		return row, nil
	}
	v := jsontext.Value(bytes.Clone(row))
	if err := v.Compact(); err != nil {
		return nil, syntaxError(err, row)
	}
	return v, nil
}

// refuse keeps the error of an item that was not written.
func (w *Writer) refuse(err error) error {
	if w.closed {
		return ErrClosed
	}
	if w.err == nil {
		w.err = withPath(w.name(), err)
	}
	return w.err
}

func (w *Writer) line(row []byte) error {
	if w.closed {
		return ErrClosed
	}
	if w.err != nil {
		return w.err
	}
	if len(row) > DefaultMaxLine {
		return w.refuse((&blockReader{max: DefaultMaxLine}).tooLong())
	}
	if _, err := w.w.Write(row); err != nil {
		w.err = fileError(w.name(), err)
	} else if err := w.w.WriteByte('\n'); err != nil {
		w.err = fileError(w.name(), err)
	}
	w.rows++
	return w.err
}

func (w *Writer) name() string {
	if w.path == "" {
		return "dataset writer"
	}
	return w.path
}

// Close writes what is left and, for Create, puts the file in its place. On an
// error there is no new file, and an older one stays as it was. Nothing
// written is [ErrEmpty], for an empty file would not load.
func (w *Writer) Close() error {
	if w.closed {
		return ErrClosed
	}
	if w.err == nil && w.rows == 0 {
		w.err = &Error{Path: w.name(), Err: fmt.Errorf("%w: nothing was written", ErrEmpty)}
	}
	if w.err == nil {
		w.err = w.flush()
	}
	if w.err != nil {
		err := w.err
		w.Abort()
		return err
	}
	w.closed = true
	return nil
}

func (w *Writer) flush() error {
	err := w.w.Flush()
	if err == nil && w.zip != nil {
		err = w.zip.Close()
	}
	if err == nil && w.file != nil {
		err = w.file.Sync()
	}
	if err == nil && w.file != nil {
		err = w.file.Close()
	}
	if err == nil && w.file != nil {
		err = os.Rename(w.file.Name(), w.path)
	}
	if err != nil {
		return fileError(w.name(), err)
	}
	return nil
}

// Abort gives up: the temporary file is removed and nothing takes its place.
// After Close it does nothing, so that it can be deferred.
func (w *Writer) Abort() {
	if w.closed {
		return
	}
	w.closed = true
	if w.file != nil {
		w.file.Close()
		os.Remove(w.file.Name())
	}
}

// itemRow is an item as one line of JSON, without the line end.
func itemRow(it *Item) ([]byte, error) {
	b := []byte{'{'}
	var err error
	text := func(name, s string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		b = appendText(b, s, &err)
	}
	list := func(name string, ss []string) {
		b = append(b, ',', '"')
		b = append(b, name...)
		b = append(b, '"', ':', '[')
		for i, s := range ss {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, s, &err)
		}
		b = append(b, ']')
	}
	text("id", it.ID)
	text("input", it.Input)
	text("target", it.Target)
	if len(it.Targets) > 0 {
		list("targets", it.Targets)
	}
	if len(it.Choices) > 0 {
		list("choices", it.Choices)
	}
	if it.Group != "" {
		text("group", it.Group)
	}
	if err == nil && it.cols != nil {
		b, err = appendRest(b, it)
	}
	return append(b, '}'), err
}

func appendText(b []byte, s string, failed *error) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil && *failed == nil {
		*failed = fmt.Errorf("%w: %w: %s", ErrSyntax, bare{err}, quote(s))
	}
	return out
}

// appendRest adds the columns that no field took, as they stand in the row.
func appendRest(b []byte, it *Item) ([]byte, error) {
	taken, err := it.cols.taken(it.Raw)
	if err != nil {
		return b, err
	}
	skip := map[string]bool{}
	for _, name := range taken {
		skip[name] = true
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(it.Raw))
	if _, err := dec.ReadToken(); err != nil {
		return b, err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return b, err
		}
		var plain []byte
		if plain, err = appendName(nil, name); err != nil {
			return b, err
		}
		key := bytes.Clone(name)
		val, err := dec.ReadValue()
		if err != nil {
			return b, err
		}
		if skip[string(plain)] {
			continue
		}
		b = append(b, ',')
		b = append(b, key...)
		b = append(b, ':')
		b = append(b, val...)
	}
	return b, nil
}
