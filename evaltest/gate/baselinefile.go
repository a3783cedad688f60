package gate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"

	"github.com/goevals/evals/evaltest/result"
)

// BaselineFormat names the format of a baseline's file and its version, the
// first thing in it.
const BaselineFormat = baselineKind + "1"

const baselineKind = "evals.baseline/"

// ErrBaseline is wrapped by what [ReadBaseline] returns for a file that is no
// baseline, or no whole one.
var ErrBaseline = errors.New("gate: not a baseline that this program reads")

// A LineError is a line of a baseline's file that cannot be read.
type LineError struct {
	Line  int    // from 1; the header is line 1
	Field string // the field's name; empty if the line is no object
	Err   error
}

// Error names line and field.
func (e *LineError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d, field %q: %v", e.Line, e.Field, e.Err)
}

// Unwrap returns the cause and [ErrBaseline].
func (e *LineError) Unwrap() []error { return []error{ErrBaseline, e.Err} }

// What a file may be at most: a line with the outcomes and scores of
// [MaxSamples] samples is far below maxLine, and a small compressed file must
// not fill the memory.
const (
	maxLine = 1 << 20
	maxFile = 1 << 30
)

// Write writes the baseline as JSON lines: the header, then one line an item.
// Equal baselines give equal bytes, and an item that changes changes one line.
// It refuses what [ReadBaseline] would.
func (b *Baseline) Write(w io.Writer) error {
	h := b.Header
	h.Format = BaselineFormat
	if err := b.check(); err != nil {
		return fmt.Errorf("gate: this baseline cannot be written: %w", err)
	}
	bw := bufio.NewWriter(w)
	// A bufio.Writer keeps its first error, so Flush has it.
	number := 0
	line := func(v any) error {
		number++
		text, err := json.Marshal(v, json.Deterministic(true))
		if err == nil && len(text) >= maxLine {
			err = scanError(bufio.ErrTooLong, number)
		}
		if err != nil {
			return fmt.Errorf("gate: this baseline cannot be written: %w", err)
		}
		bw.Write(text)
		bw.WriteByte('\n')
		return nil
	}
	if err := line(h); err != nil {
		return err
	}
	for i := range b.Items {
		if err := line(&b.Items[i]); err != nil {
			return err
		}
	}
	return bw.Flush()
}

// WriteGzip is Write, compressed, without a time or a name in the gzip header.
// Its bytes are equal for equal baselines as long as the compressor is the
// same version; what they unpack to always is.
func (b *Baseline) WriteGzip(w io.Writer) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := b.Write(zw); err != nil {
		return err
	}
	return zw.Close()
}

// check reports what Write and ReadBaseline refuse.
func (b *Baseline) check() error {
	if err := b.Header.check(); err != nil {
		return &LineError{Line: 1, Field: fieldOf(err), Err: unfield(err)}
	}
	sum := &tally{header: b.Header}
	for i := range b.Items {
		if err := sum.add(&b.Items[i], i+2); err != nil {
			return err
		}
	}
	return sum.end()
}

// A tally holds items against their header.
type tally struct {
	header BaselineHeader
	last   string
	items  int
	counts result.Counts
}

func (t *tally) add(it *BaselineItem, line int) error {
	if err := it.check(t.header.Samples); err != nil {
		return &LineError{Line: line, Field: fieldOf(err), Err: unfield(err)}
	}
	switch {
	case t.items > 0 && it.ID == t.last:
		return &LineError{line, "id", fmt.Errorf("duplicate id %s: the line before has it too", quoted(it.ID))}
	case t.items > 0 && it.ID < t.last:
		return &LineError{line, "id", fmt.Errorf("%s comes after %s: the items of a baseline are sorted by id", quoted(it.ID), quoted(t.last))}
	case t.items == t.header.Items:
		return &LineError{line, "", fmt.Errorf("one item more than the %d that the header says", t.header.Items)}
	}
	if t.counts == nil {
		t.counts = result.Counts{}
	}
	for _, o := range it.Outcomes {
		t.counts[o]++
	}
	t.last = it.ID
	t.items++
	return nil
}

func (t *tally) end() error {
	if t.items != t.header.Items {
		return &LineError{1, "items", fmt.Errorf("the header says %s, and %d follow: the file was cut off", plural(t.header.Items, "item"), t.items)}
	}
	for _, o := range slices.Sorted(maps.Keys(t.header.Counts)) {
		n := t.header.Counts[o]
		if t.counts[o] != n {
			return &LineError{1, "counts", fmt.Errorf("the header says %d %s, and the items have %d: the file was changed by hand", n, o, t.counts[o])}
		}
	}
	return nil
}

func fieldOf(err error) string {
	var f *fieldError
	if errors.As(err, &f) {
		return f.field
	}
	return ""
}

func unfield(err error) error {
	var f *fieldError
	if errors.As(err, &f) {
		return f.err
	}
	return err
}

// ReadBaseline reads what Write or WriteGzip wrote; it tells by the first
// bytes. Anything else is an error that wraps [ErrBaseline] and is mostly a
// [LineError]: another version, a field that is missing, unknown or of the
// wrong type, an outcome or score that is none, ids that are not sorted or come
// twice, and items that are not those that the header counts. The caller adds
// the file's name. Errors of r itself are returned as they are.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	br := bufio.NewReader(r)
	magic, err := br.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		zr, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("%w: damaged gzip: %w", ErrBaseline, err)
		}
		br = bufio.NewReader(zr)
	}
	s := bufio.NewScanner(io.LimitReader(br, maxFile+1))
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	s.Split(scanWhole)
	b, line, err := readLines(s)
	if err != nil {
		return nil, err
	}
	if err := s.Err(); err != nil {
		return nil, scanError(err, line+1)
	}
	return b, nil
}

func scanError(err error, line int) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return &LineError{line, "", fmt.Errorf("longer than %d bytes", maxLine)}
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return &LineError{line, "", fmt.Errorf("the compressed file is damaged: %w", err)}
	case errors.Is(err, errCut):
		return &LineError{line, "", err}
	}
	return fmt.Errorf("gate: baseline, line %d: %w", line, err)
}

var errCut = errors.New("it does not end with a line feed: the file was cut off")

// scanWhole is bufio.ScanLines without leniency: the last line ends too, and a
// carriage return is part of the line.
func scanWhole(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, errCut
	}
	return 0, nil, nil
}

// readLines returns the number of the last line that it read.
func readLines(s *bufio.Scanner) (b *Baseline, line int, err error) {
	if !s.Scan() {
		if s.Err() != nil {
			return nil, 0, nil
		}
		return nil, 0, &LineError{1, "", errors.New("the file is empty")}
	}
	b = &Baseline{}
	if err := readHeader(s.Bytes(), &b.Header); err != nil {
		return nil, 1, err
	}
	sum, size := &tally{header: b.Header}, int64(len(s.Bytes()))
	for line = 1; s.Scan(); {
		line++
		if size += int64(len(s.Bytes())) + 1; size > maxFile {
			return nil, line, &LineError{line, "", fmt.Errorf("the file has more than %d bytes", maxFile)}
		}
		var it BaselineItem
		if err := unmarshal(s.Bytes(), &it, line); err != nil {
			return nil, line, err
		}
		if err := sum.add(&it, line); err != nil {
			return nil, line, err
		}
		b.Items = append(b.Items, it)
	}
	if s.Err() != nil {
		return nil, line, nil
	}
	return b, line, sum.end()
}

func readHeader(text []byte, h *BaselineHeader) error {
	var kind struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return jsonError(text, err, 1)
	}
	switch {
	case kind.Format == "":
		return &LineError{1, "format", errors.New("it is missing: this is no baseline")}
	case kind.Format != BaselineFormat && strings.HasPrefix(kind.Format, baselineKind):
		return &LineError{1, "format", fmt.Errorf("%s is a version that this program does not read; it reads %s: write the baseline again, or use the version that wrote it", quoted(kind.Format), BaselineFormat)}
	case kind.Format != BaselineFormat:
		return &LineError{1, "format", fmt.Errorf("%s is no baseline; want %s", quoted(kind.Format), BaselineFormat)}
	}
	if err := unmarshal(text, h, 1); err != nil {
		return err
	}
	if err := h.check(); err != nil {
		return &LineError{1, fieldOf(err), unfield(err)}
	}
	return nil
}

func unmarshal(text []byte, v any, line int) error {
	if err := json.Unmarshal(text, v, json.RejectUnknownMembers(true)); err != nil {
		return jsonError(text, err, line)
	}
	return nil
}

func jsonError(text []byte, err error, line int) error {
	if what := whatElse(text); what != nil {
		return &LineError{line, "", what}
	}
	return &LineError{line, jsonField(err), jsonCause(err)}
}

// jsonField is the name of the outermost field that a JSON error is about.
func jsonField(err error) string {
	var sem *json.SemanticError
	var syn *jsontext.SyntacticError
	var at jsontext.Pointer
	switch {
	case errors.As(err, &sem):
		at = sem.JSONPointer
	case errors.As(err, &syn):
		at = syn.JSONPointer
	}
	for token := range at.Tokens() {
		return clip(token)
	}
	return ""
}

// jsonCause says it without the package's own name and without quoting more of
// the file than a name.
func jsonCause(err error) error {
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return errors.New("it is not known in this version")
		case sem.GoType != nil && sem.GoType.Kind() == reflect.Float64 && sem.JSONKind == '0':
			return fmt.Errorf("%s is out of range", clip(string(sem.JSONValue)))
		case sem.GoType != nil && jsonNoun(sem.GoType) == "number" && sem.JSONKind == '0':
			return fmt.Errorf("%s is no whole number of 64 bits", clip(string(sem.JSONValue)))
		case sem.GoType != nil:
			return fmt.Errorf("a JSON %s cannot be a %s", sem.JSONKind, jsonNoun(sem.GoType))
		}
	}
	return fmt.Errorf("no valid JSON: %w", err)
}

// jsonNoun is what JSON has for a Go type.
func jsonNoun(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list"
	case reflect.String:
		return "text"
	}
	return "object"
}

// whatElse recognises what a text that is no JSON was left by, nil if nothing
// is known.
func whatElse(text []byte) error {
	for _, mark := range []string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"} {
		if bytes.HasPrefix(text, []byte(mark)) {
			return errors.New("a merge conflict: take the whole file of one side, or accept a run again")
		}
	}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return errors.New("a byte order mark: save it without one")
	}
	return nil
}
