package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A lineReader hands out lines of a bounded length.
type lineReader struct {
	r     *bufio.Reader
	max   int
	n     int  // the line handed out last, from 1
	ended bool // it had a line end
	long  []byte
}

// next returns the next line that is not blank, without its end and without
// white space around it; io.EOF after the last. It is good until the next call.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil {
			return nil, err
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
			return line, nil
		}
	}
}

func (l *lineReader) read() ([]byte, error) {
	l.n++
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = l.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) && len(l.long) <= l.max {
			l.long = append(l.long, line...)
			line, err = l.r.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	l.ended = err == nil
	switch {
	case len(bytes.TrimRight(line, "\r\n")) > l.max:
		return nil, fmt.Errorf("%w: it is longer than %d bytes (Options.MaxLine)", ErrLineTooLong, l.max)
	case err == io.EOF && len(line) == 0:
		return nil, io.EOF
	case err != nil && err != io.EOF:
		return nil, err
	}
	return line, nil
}
