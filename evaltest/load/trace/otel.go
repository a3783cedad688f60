package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// readOTel reads all spans before it emits the first: exports have no order,
// and which span is a model call and which only wraps one shows at the end.
func readOTel(s *source, emit func(raw) bool) error {
	w := &spanReader{s: s, v: s.values(), seen: map[spanKey]int{}}
	for {
		switch w.v.peek() {
		case 0:
			if _, err := w.v.token(); err != nil && err != io.EOF {
				return s.fail(w.v.line, err)
			}
			return w.emit(emit)
		case '[', ']':
			if _, err := w.v.token(); err != nil {
				return s.fail(w.v.line, err)
			}
		default:
			if line, err := w.object(); err != nil {
				return s.fail(line, err)
			}
		}
	}
}

type spanKey struct{ trace, id string }

// A spanReader walks exports and collects what is needed of each span.
type spanReader struct {
	s     *source
	v     *valueReader
	o     objectReader
	spans []span
	seen  map[spanKey]int // index in spans
}

// containers are the lists that an export nests spans in; "batches" is
// Tempo's name of resourceSpans.
var containers = []string{
	"resourceSpans", "resource_spans", "batches", "scopeSpans", "scope_spans",
	"instrumentationLibrarySpans", "instrumentation_library_spans", "spans",
}

// beside are what containers hold besides lists.
var beside = []string{"resource", "scope", "instrumentationLibrary", "schemaUrl", "schema_url"}

// object reads an object that holds containers, or is a span. It returns the
// line of what is wrong.
func (w *spanReader) object() (line int, err error) {
	line = w.v.line
	if t, err := w.v.token(); err != nil || t.Kind() != '{' {
		if err == nil {
			err = fmt.Errorf("%w: %s is not a JSON object", ErrSyntax, quote(t.String()))
		}
		return line, err
	}
	members, container, size := []byte{'{'}, false, 0
	for w.v.peek() == '"' {
		t, err := w.v.token()
		if err != nil {
			return w.v.line, err
		}
		name := t.String()
		kind := w.v.peek()
		if slices.Contains(containers, name) && kind == '[' {
			container = true
			if line, err := w.list(); err != nil {
				return line, err
			}
			continue
		}
		text, at, err := w.v.value()
		if err != nil {
			return at, err
		}
		if slices.Contains(beside, name) {
			container = true
			continue
		}
		if size += len(text); size > w.s.o.MaxLine {
			return line, fmt.Errorf("%w: a JSON object is longer than %d bytes (Options.MaxLine)", ErrLineTooLong, w.s.o.MaxLine)
		}
		if len(members) > 1 {
			members = append(members, ',')
		}
		members, _ = jsontext.AppendQuote(members, name)
		members = append(append(members, ':'), text...)
	}
	if _, err := w.v.token(); err != nil {
		return w.v.line, err
	}
	if container || len(members) == 1 {
		return line, nil
	}
	return line, w.span(append(members, '}'), line)
}

// list reads a container.
func (w *spanReader) list() (line int, err error) {
	if _, err := w.v.token(); err != nil {
		return w.v.line, err
	}
	for {
		switch k := w.v.peek(); k {
		case ']', 0:
			_, err := w.v.token()
			return w.v.line, err
		default:
			if line, err := w.object(); err != nil {
				return line, err
			}
		}
	}
}

// span reads one span and keeps it.
func (w *spanReader) span(text []byte, line int) error {
	p := spanParser{span: span{line: line}}
	if !jsontext.Value(text).IsValid() {
		w.s.rep.Replaced++
		var err error
		if text, err = jsontext.AppendFormat(nil, text, jsontext.AllowInvalidUTF8(true)); err != nil {
			return syntax(err)
		}
	}
	if err := w.o.read(text, p.member); err != nil {
		return err
	}
	if p.key.id == "" {
		return fmt.Errorf("%w: the object is neither an export with resourceSpans nor a span with a spanId: %s", ErrColumn, quote(string(text)))
	}
	sp := p.finish()
	if _, twice := w.seen[sp.key]; twice {
		sp.skip = DuplicateSpan
	} else {
		w.seen[sp.key] = len(w.spans)
	}
	if sp.skip == "" && (!sp.started || sp.end < sp.start) {
		return fmt.Errorf("%w: a model call's span needs a start, and an end that is not before it: span %s", ErrValue, quote(sp.key.id))
	}
	w.spans = append(w.spans, sp)
	return nil
}

// emit emits the model calls in order of time, and every other span as one
// that is skipped.
func (w *spanReader) emit(emit func(raw) bool) error {
	w.markWrappers()
	order := make([]int, len(w.spans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.spans[a].start, w.spans[b].start) })
	for _, i := range order {
		sp := &w.spans[i]
		r := raw{skip: sp.skip, abs: sp.start, Row: Row{
			Line: sp.line, Timed: true, Session: sp.session, Input: sp.input, Output: sp.output,
			Failed: sp.failed, Model: sp.model, Elapsed: time.Duration(sp.end - sp.start),
		}}
		if r.Session == "" {
			r.Session = sp.key.trace
		}
		if !emit(r) {
			return nil
		}
	}
	return nil
}

// markWrappers marks the model calls that have another one below them: a
// framework's span around the client library's, with the same tokens again.
func (w *spanReader) markWrappers() {
	done := make([]bool, len(w.spans)) // all above it have been marked
	for i := range w.spans {
		if w.spans[i].skip != "" {
			continue
		}
		at := i
		for {
			parent, known := w.seen[spanKey{w.spans[at].key.trace, w.spans[at].parent}]
			if !known || parent == i || done[at] {
				break
			}
			done[at] = true // also ends a circle of parents
			if w.spans[parent].skip == "" {
				w.spans[parent].skip = Wrapper
			}
			at = parent
		}
	}
}
