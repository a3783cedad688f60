package trace

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/evaltest/load/agent"
)

// A meter stops a decoder whose value grows without end. The decoder reads
// ahead, so that the bound is not exact.
type meter struct {
	r         io.Reader
	max, left int
}

func (m *meter) refill() { m.left = m.max + looked }

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, fmt.Errorf("%w: a JSON value is longer than %d bytes (Options.MaxLine)", ErrLineTooLong, m.max)
	}
	n, err := m.r.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}

// A valueReader reads JSON values one by one and knows their lines.
type valueReader struct {
	dec  *jsontext.Decoder
	m    *meter
	line int // of what comes next
}

func (s *source) values() *valueReader {
	m := &meter{r: s.in, max: s.o.MaxLine}
	m.refill()
	return &valueReader{dec: jsontext.NewDecoder(m, jsontext.AllowInvalidUTF8(true)), m: m, line: 1}
}

// peek says what comes next; 0 at the end, or if reading it fails.
func (v *valueReader) peek() jsontext.Kind {
	v.m.refill()
	k := v.dec.PeekKind()
	// What the decoder has not handed out begins with the space before it.
	for _, c := range v.dec.UnreadBuffer() {
		if c == '\n' {
			v.line++
		} else if c != ' ' && c != '\t' && c != '\r' && c != ',' && c != ':' {
			break
		}
	}
	return k
}

// value reads the value that was peeked at, and says on which line it begins.
func (v *valueReader) value() (text jsontext.Value, line int, err error) {
	text, err = v.dec.ReadValue()
	line = v.line
	v.line += bytes.Count(text, []byte{'\n'})
	return text, line, syntax(err)
}

// token reads the token that was peeked at.
func (v *valueReader) token() (jsontext.Token, error) {
	t, err := v.dec.ReadToken()
	if err == io.EOF {
		return t, err
	}
	return t, syntax(err)
}

func readShareGPT(s *source, emit func(raw) bool) error {
	v := s.values()
	ids := map[string]bool{}
	for n := 1; ; {
		switch v.peek() {
		case '[', ']':
			if _, err := v.token(); err != nil {
				return s.fail(v.line, err)
			}
		case 0:
			if _, err := v.token(); err == nil || err == io.EOF {
				return nil
			} else {
				return s.fail(v.line, err)
			}
		default:
			text, line, err := v.value()
			more := true
			if err == nil {
				more, err = s.conversation(text, line, n, ids, emit)
			}
			if err != nil {
				return s.fail(line, fmt.Errorf("conversation %d: %w", n, err))
			}
			if !more {
				return nil
			}
			n++
		}
	}
}

// conversation makes a session of the n-th conversation: a turn for each reply
// that follows something else.
func (s *source) conversation(text jsontext.Value, line, n int, ids map[string]bool, emit func(raw) bool) (bool, error) {
	if !text.IsValid() { // exports hold halves of surrogate pairs
		s.rep.Replaced++
		var err error
		if text, err = jsontext.AppendFormat(nil, text, jsontext.AllowInvalidUTF8(true)); err != nil {
			return false, syntax(err)
		}
	}
	var o objectReader
	var messages []Message
	id, found := "", false
	err := o.read(text, func(name string, v jsontext.Value) (err error) {
		switch name {
		case "id":
			id, err = nameOf(v)
		case "conversations", "conversation":
			found = true
			messages, err = messagesOf(v)
		default:
			s.unread.add(name)
		}
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: it has no list named conversations", ErrColumn)
	}
	if err != nil {
		return false, err
	}
	s.count(messages)
	return s.replies(messages, line, sessionName(id, n, ids), emit), nil
}

// replies emits a row for each reply, and one for a question at the end that
// was never answered.
func (s *source) replies(messages []Message, line int, session string, emit func(raw) bool) bool {
	input, turns := 0, 0
	for i := range messages {
		m := &messages[i]
		last := i == len(messages)-1
		reply := m.Role == agent.Assistant && i > 0 && messages[i-1].Role != agent.Assistant
		open := last && m.Role != agent.Assistant
		r := raw{Row: Row{Line: line, Session: session}, uncounted: s.o.Count == nil}
		switch {
		case reply:
			r.Messages, r.Input, r.Output = messages[:i:i], input, m.Tokens
			r.mute = m.Text == "" || !r.uncounted && m.Tokens == 0
			m.Live = !r.mute
		case open:
			r.Messages, r.Input, r.mute = messages, input+m.Tokens, true
		}
		input = min(input+m.Tokens, maxTokens)
		if !reply && !open {
			continue
		}
		turns++
		if !emit(r) {
			return false
		}
	}
	if turns == 0 {
		return emit(raw{Row: Row{Line: line}, skip: NoTurns})
	}
	return true
}

// sessionName makes the id of a conversation one of its own: exports have the
// same id twice, and conversations without.
func sessionName(id string, n int, ids map[string]bool) string {
	if id == "" {
		id = "item-" + strconv.Itoa(n)
	}
	name := id
	for k := 2; ids[name]; k++ {
		name = id + "#" + strconv.Itoa(k)
	}
	ids[name] = true
	return name
}
