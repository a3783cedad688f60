package fake

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

const (
	maxHead    = 64 << 10 // bytes of a request's line and header
	readBuffer = 8 << 10
	keepBuffer = 1 << 20 // a larger buffer is given up after the request
)

// A reader reads requests from a connection: HTTP/1.1 and 1.0, bodies with a
// Content-Length or in chunks. What it returns is valid until the next read.
//
// It is not net/http's server because that spends more on a request that is
// answered with a constant than this one does with all its counting (see
// BenchmarkRequests), and a measured client on the same machine lacks what the
// server takes.
type reader struct {
	conn    net.Conn
	maxBody int
	buf     []byte // buf[from:to] has been received and not been used
	from    int
	to      int
	chunks  []byte // a body that came in chunks
}

// A head is the first part of a request. Its parts lie in the reader's buffer, or
// in what that was before it grew for the body.
type head struct {
	method, target []byte
	fields         []byte // the header's lines
	length         int
	chunked        bool
	http10, close  bool
	expect         bool // 100-continue
}

// A protocolError is why the rest of a connection cannot be read.
type protocolError struct{ problem }

func (e *protocolError) Error() string { return e.message }

func refuse(status int, format string, args ...any) error {
	return &protocolError{problem{status: status, message: fmt.Sprintf(format, args...)}}
}

// fill reads more; the buffer grows as it must.
func (r *reader) fill() error {
	if r.to == len(r.buf) {
		grown := make([]byte, max(readBuffer, 2*len(r.buf)))
		copy(grown, r.buf[:r.to])
		r.buf = grown
	}
	n, err := r.conn.Read(r.buf[r.to:])
	r.to += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// next reads a request. before is called if the client waits for leave to send
// its body. The error is io.EOF if the client closed the connection between
// requests, a *protocolError, or the connection's.
func (r *reader) next(h *head, before func() error) (body []byte, arrived time.Time, err error) {
	if cap(r.chunks) > keepBuffer {
		r.chunks = nil
	}
	if len(r.buf) > keepBuffer && r.to-r.from < readBuffer {
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.buf, r.from = append(make([]byte, 0, readBuffer), r.buf[:r.to]...)[:readBuffer], 0
	} else if r.from > 0 {
		r.to, r.from = copy(r.buf, r.buf[r.from:r.to]), 0
	}
	end, err := r.head()
	if err != nil {
		return nil, arrived, err
	}
	if err := h.parse(r.buf[r.from:end]); err != nil {
		return nil, arrived, err
	}
	if h.length > r.maxBody {
		return nil, arrived, refuse(http.StatusRequestEntityTooLarge, "the body has %d bytes: this server reads %d", h.length, r.maxBody)
	}
	if h.expect && r.to-end < h.length || h.expect && h.chunked {
		if err := before(); err != nil {
			return nil, arrived, err
		}
	}
	if h.chunked {
		body, end, err = r.chunked(end)
	} else {
		for r.to-end < h.length && err == nil {
			err = inside(r.fill())
		}
		if err == nil {
			body = r.buf[end : end+h.length : end+h.length]
			end += h.length
		}
	}
	if err != nil {
		return nil, arrived, err
	}
	arrived = time.Now()
	r.from = end
	return body, arrived, nil
}

// inside makes the end of a connection an error: a request has begun.
func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// head reads up to the empty line and returns where it ends. Empty lines before
// a request are passed over: some clients send one after a body.
func (r *reader) head() (end int, err error) {
	line := r.from // where the line begins
	for scan := r.from; ; {
		i := bytes.IndexByte(r.buf[scan:r.to], '\n')
		if i < 0 {
			scan = r.to
			if r.to-r.from > maxHead {
				return 0, refuse(http.StatusRequestHeaderFieldsTooLarge, "the head of the request has more than %d bytes", maxHead)
			}
			if err := r.fill(); err != nil {
				if r.to > r.from {
					err = inside(err)
				}
				return 0, err
			}
			continue
		}
		at := scan + i
		empty := at == line || at == line+1 && r.buf[line] == '\r'
		scan, line = at+1, at+1
		switch {
		case empty && line-r.from <= 2:
			r.from = line
		case empty:
			return line, nil
		}
	}
}

// parse reads a head.
func (h *head) parse(b []byte) error {
	*h = head{}
	line, rest := cutLine(b)
	var ok bool
	var version []byte
	if h.method, line, ok = bytes.Cut(line, []byte{' '}); !ok {
		return refuse(http.StatusBadRequest, "the request's first line is no line of HTTP: %q", cut(h.method))
	}
	if h.target, version, ok = bytes.Cut(line, []byte{' '}); !ok || len(h.target) == 0 {
		return refuse(http.StatusBadRequest, "the request's first line is no line of HTTP: %q", cut(line))
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.http10, h.close = true, true
	default:
		return refuse(http.StatusHTTPVersionNotSupported, "the version %q is neither HTTP/1.1 nor HTTP/1.0", cut(version))
	}
	h.fields = rest
	sized := false
	for line, rest = cutLine(rest); len(line) > 0; line, rest = cutLine(rest) {
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok || len(name) == 0 || bytes.IndexByte(name, ' ') >= 0 || bytes.IndexByte(name, '\t') >= 0 {
			return refuse(http.StatusBadRequest, "%q is no line of a header", cut(line))
		}
		if err := h.field(name, bytes.Trim(value, " \t"), &sized); err != nil {
			return err
		}
	}
	if h.chunked && sized { // where such a request ends is a matter of opinion
		return refuse(http.StatusBadRequest, "the request has both Content-Length and Transfer-Encoding")
	}
	return nil
}

// field takes what matters of the header.
func (h *head) field(name, value []byte, sized *bool) error {
	switch {
	case is(name, "content-length"):
		n, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil || *sized && int(n) != h.length {
			return refuse(http.StatusBadRequest, "the Content-Length %q cannot be", cut(value))
		}
		h.length, *sized = int(n), true
	case is(name, "transfer-encoding"):
		if !is(value, "chunked") || h.http10 || h.chunked {
			return refuse(http.StatusNotImplemented, "the Transfer-Encoding %q is not known here: chunked is", cut(value))
		}
		h.chunked = true
	case is(name, "connection"):
		for part := range bytes.SplitSeq(value, []byte{','}) {
			h.close = h.close || is(bytes.TrimSpace(part), "close")
		}
	case is(name, "expect"):
		if !is(value, "100-continue") {
			return refuse(http.StatusExpectationFailed, "the Expect %q is not known here", cut(value))
		}
		h.expect = true
	case is(name, "content-encoding"):
		if !is(value, "identity") {
			return refuse(http.StatusUnsupportedMediaType, "the Content-Encoding %q is not known here", cut(value))
		}
	}
	return nil
}

// is compares without case; lower is in lower case.
func is(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

// header makes a map of the fields.
func (h *head) header() http.Header {
	m := http.Header{}
	for line, rest := cutLine(h.fields); len(line) > 0; line, rest = cutLine(rest) {
		name, value, _ := bytes.Cut(line, []byte{':'})
		key := textproto.CanonicalMIMEHeaderKey(string(name))
		m[key] = append(m[key], string(bytes.Trim(value, " \t")))
	}
	return m
}

// path is the target's, without scheme, host and query.
func (h *head) path() []byte {
	p := h.target
	if p[0] != '/' {
		if _, after, ok := bytes.Cut(p, []byte("://")); ok {
			p = after[max(0, strings.IndexByte(string(after)+"/", '/')):]
		}
	}
	p, _, _ = bytes.Cut(p, []byte{'?'})
	return p
}

// chunked reads a body in chunks, which begins at from, and returns where it
// ends in the buffer.
func (r *reader) chunked(from int) (body []byte, end int, err error) {
	r.chunks = r.chunks[:0]
	for {
		line, next, err := r.line(from)
		if err != nil {
			return nil, 0, err
		}
		size, _, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.ParseUint(string(bytes.Trim(size, " \t")), 16, 31)
		if err != nil {
			return nil, 0, refuse(http.StatusBadRequest, "%q is no size of a chunk", cut(line))
		}
		if len(r.chunks)+int(n) > r.maxBody {
			return nil, 0, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", r.maxBody)
		}
		from = next
		if n == 0 {
			break
		}
		for r.to-from < int(n) {
			if err := inside(r.fill()); err != nil {
				return nil, 0, err
			}
		}
		r.chunks = append(r.chunks, r.buf[from:from+int(n)]...)
		from += int(n)
		if line, from, err = r.line(from); err != nil {
			return nil, 0, err
		} else if len(line) > 0 {
			return nil, 0, refuse(http.StatusBadRequest, "a chunk is longer than it says")
		}
	}
	for trailer := 0; ; { // the trailer is passed over
		line, next, err := r.line(from)
		if err != nil {
			return nil, 0, err
		}
		trailer += next - from
		if from = next; len(line) == 0 {
			return r.chunks, from, nil
		}
		if trailer > maxHead {
			return nil, 0, refuse(http.StatusRequestHeaderFieldsTooLarge, "the trailer of the request has more than %d bytes", maxHead)
		}
	}
}

// line reads one that begins at from.
func (r *reader) line(from int) (line []byte, next int, err error) {
	const most = 4 << 10
	for scan := from; ; {
		if i := bytes.IndexByte(r.buf[scan:r.to], '\n'); i >= 0 {
			return bytes.TrimSuffix(r.buf[from:scan+i], []byte{'\r'}), scan + i + 1, nil
		}
		if scan = r.to; scan-from > most {
			return nil, 0, refuse(http.StatusBadRequest, "a line between chunks has more than %d bytes", most)
		}
		if err := inside(r.fill()); err != nil {
			return nil, 0, err
		}
	}
}
