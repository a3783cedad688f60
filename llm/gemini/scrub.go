package gemini

import (
	"bytes"
	"io"
	"strings"

	"github.com/goevals/evals/llm/wire"
)

// scrubber removes secrets from an answer as it is read, so that nothing above
// ever sees them: a cassette and a capture search for what stood in the request
// when they saw it, and an access token comes to it only below them. Bytes are
// held back only as long as they may be the beginning of a secret.
type scrubber struct {
	rc    io.ReadCloser
	forms []string // the secret's spellings, longer ones first
	found func()
	held  []byte // read, and may begin a secret
	ready []byte // to hand out
	err   error
}

func (s *scrubber) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	buf := make([]byte, min(len(p), 16<<10))
	for len(s.ready) == 0 && s.err == nil {
		n, err := s.rc.Read(buf)
		s.held, s.err = append(s.held, buf[:n]...), err
		s.release()
		if n == 0 && err == nil {
			return 0, nil
		}
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	if len(s.ready) > 0 {
		return n, nil
	}
	return n, s.err
}

// release moves to ready what cannot be a secret's any more.
func (s *scrubber) release() {
	keep := 0
	for _, f := range s.forms {
		if bytes.Contains(s.held, []byte(f)) {
			s.held = bytes.ReplaceAll(s.held, []byte(f), []byte(wire.Masked))
			s.found()
		}
	}
	if s.err == nil {
		for _, f := range s.forms {
			keep = max(keep, begun(s.held, f))
		}
	}
	cut := len(s.held) - keep
	s.ready = append(s.ready, s.held[:cut]...)
	s.held = append(s.held[:0], s.held[cut:]...)
}

// begun is how much of f, not all of it, the end of b may be the beginning of.
// It looks at the places where f's first byte stands: tokens are long, and this
// is done with each read.
func begun(b []byte, f string) int {
	for from := max(len(b)-len(f)+1, 0); ; from++ {
		i := bytes.IndexByte(b[from:], f[0])
		if i < 0 {
			return 0
		}
		if from += i; strings.HasPrefix(f, string(b[from:])) {
			return len(b) - from
		}
	}
}

func (s *scrubber) Close() error { return s.rc.Close() }
