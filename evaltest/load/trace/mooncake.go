package trace

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/evaltest/load/agent"
)

// A mooncakeRow is a line of Mooncake or Bailian, before it is checked as a
// whole.
type mooncakeRow struct {
	raw
	hasInput, hasOutput, hasHashes bool
	text                           *string
	messages                       []Message
	delta                          bool
}

func readMooncake(s *source, emit func(raw) bool) error {
	var o objectReader
	sessions := map[string]*dialogue{}
	return s.jsonLines(func(line int, text []byte) (bool, error) {
		r := mooncakeRow{raw: raw{Row: Row{Line: line, BlockTokens: s.o.BlockTokens}}}
		err := o.read(text, func(name string, v jsontext.Value) error { return s.mooncakeField(&r, name, v) })
		if err != nil {
			return false, err
		}
		if r.text != nil || r.messages != nil {
			err = s.texts(&r, sessions)
		} else if err = needLengths(&r); err == nil {
			err = checkHashes(&r.Row, s.rep)
		}
		if err != nil {
			return false, err
		}
		return emit(r.raw), nil
	})
}

func (s *source) mooncakeField(r *mooncakeRow, name string, v jsontext.Value) (err error) {
	switch name {
	case "timestamp":
		var text string
		if text, err = numberOf(v); err == nil {
			r.Timed = true
			r.abs, err = parseTime(text, time.Millisecond)
		}
	case "delay":
		var text string
		if text, err = numberOf(v); err == nil {
			r.stated = true
			r.Delay, err = parseDuration(text, time.Millisecond)
		}
	case "input_length":
		r.hasInput = true
		r.Input, err = tokensOf(v)
	case "output_length":
		r.hasOutput = true
		r.Output, err = tokensOf(v)
	case "hash_ids":
		r.hasHashes = true
		r.Hashes, err = hashesOf(v)
	case "session_id":
		r.Session, err = nameOf(v)
	case "text_input":
		var text string
		text, err = stringOf(v)
		r.text = &text
	case "messages":
		r.messages, err = messagesOf(v)
	case "message_mode":
		var mode string
		if mode, err = stringOf(v); err == nil && mode != "delta" && mode != "history" {
			err = fmt.Errorf("%w: %s is neither delta nor history", ErrValue, quote(mode))
		}
		r.delta = mode == "delta"
	case "payload":
		err = fmt.Errorf("%w: rows that are whole requests are a dataset of bodies, which evaltest/load/workload reads", ErrValue)
	default:
		s.unread.add(name)
	}
	return err
}

func needLengths(r *mooncakeRow) error {
	switch {
	case !r.hasInput:
		return fmt.Errorf("%w: the row has no input_length, text_input or messages", ErrColumn)
	case !r.hasOutput:
		return fmt.Errorf("%w: the row has no output_length", ErrColumn)
	case r.delta:
		return fmt.Errorf("%w: message_mode is delta and there are no messages", ErrColumn)
	}
	return nil
}

// checkHashes checks that the hash ids fit the length: one for each block, the
// last of which may be shorter, or have none.
func checkHashes(r *Row, rep *Report) error {
	if len(r.Hashes) == 0 {
		r.Hashes, r.BlockTokens = nil, 0
		return nil
	}
	blocks := int64(len(r.Hashes))
	rest := int64(r.Input) - blocks*int64(r.BlockTokens)
	if rest <= -int64(r.BlockTokens) || rest >= int64(r.BlockTokens) {
		return fmt.Errorf("%w: %d hash ids of %d tokens do not fit an input_length of %d; if the blocks have another size, set Options.BlockTokens",
			ErrValue, blocks, r.BlockTokens, r.Input)
	}
	if rest > 0 {
		rep.Tails++
	}
	return nil
}

// A dialogue is what was said in a session whose rows hold texts.
type dialogue struct {
	delta   bool
	history []Message
}

// texts makes the prompt of a row that holds one.
func (s *source) texts(r *mooncakeRow, sessions map[string]*dialogue) error {
	switch {
	case r.text != nil && r.messages != nil:
		return fmt.Errorf("%w: the row has both text_input and messages", ErrColumn)
	case r.hasInput || r.hasHashes:
		return fmt.Errorf("%w: a row with text_input or messages has no input_length and no hash_ids", ErrColumn)
	case r.delta && r.messages == nil:
		return fmt.Errorf("%w: message_mode is delta and there are no messages", ErrColumn)
	}
	fresh := r.messages
	if r.text != nil {
		fresh = []Message{{Role: agent.User, Text: *r.text}}
	}
	s.count(fresh)
	r.Messages = fresh
	if d := sessions[r.Session]; d != nil && r.Session != "" {
		if d.delta != r.delta {
			return fmt.Errorf("%w: the session %s mixes the message modes delta and history", ErrValue, quote(r.Session))
		}
		if r.delta {
			r.Messages = append(d.history[:len(d.history):len(d.history)], fresh...)
		}
	}
	for _, m := range r.Messages {
		r.Input += m.Tokens
	}
	r.uncounted, r.mute = s.o.Count == nil, r.Output == 0
	if r.Input > maxTokens {
		return fmt.Errorf("%w: a prompt of more than %d tokens", ErrValue, maxTokens)
	}
	if r.Session != "" {
		d := &dialogue{delta: r.delta}
		if r.delta {
			// The reply is what the server will say; only its length is known.
			d.history = append(r.Messages[:len(r.Messages):len(r.Messages)], Message{Role: agent.Assistant, Tokens: r.Output, Live: true})
		}
		sessions[r.Session] = d
	}
	return nil
}

// count sets the lengths of texts.
func (s *source) count(messages []Message) {
	if s.o.Count == nil {
		return
	}
	for i := range messages {
		n := s.o.Count(messages[i].Text)
		if n < 0 || n > maxTokens {
			panic(fmt.Sprintf("trace: Options.Count returned %d for a text of %d bytes", n, len(messages[i].Text)))
		}
		messages[i].Tokens = n
	}
}

// messagesOf reads a list of messages with a role and a text.
func messagesOf(v jsontext.Value) ([]Message, error) {
	messages := []Message{}
	err := eachOf(v, func(v jsontext.Value) error {
		var m Message
		var o objectReader
		hasRole, hasText := false, false
		err := o.read(v, func(name string, v jsontext.Value) (err error) {
			switch name {
			case "role", "from":
				var role string
				if role, err = stringOf(v); err == nil {
					hasRole = true
					m.Role, err = roleOf(role)
				}
			case "content", "value":
				hasText = true
				m.Text, err = stringOf(v)
			case "tool_calls", "function_call", "tool_call_id":
				err = fmt.Errorf("%w: messages with tool calls are not supported", ErrValue)
			}
			return err
		})
		if err == nil && (!hasRole || !hasText) {
			err = fmt.Errorf("%w: a message needs a role and a text: %s", ErrColumn, quote(string(v)))
		}
		messages = append(messages, m)
		return err
	})
	return messages, err
}

// eachOf calls f with each element of a list.
func eachOf(v jsontext.Value, f func(v jsontext.Value) error) error {
	if v.Kind() != '[' {
		return fmt.Errorf("%w: %s is not a list", ErrValue, quote(string(v)))
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := d.ReadToken(); err != nil {
		return syntax(err)
	}
	for d.PeekKind() != ']' {
		element, err := d.ReadValue()
		if err != nil {
			return syntax(err)
		}
		if err := f(element); err != nil {
			return err
		}
	}
	return nil
}

// roleOf translates the names that chat exports use.
func roleOf(name string) (agent.Role, error) {
	switch name {
	case "user", "human":
		return agent.User, nil
	case "assistant", "gpt", "chatgpt", "bing", "bard", "model":
		return agent.Assistant, nil
	case "system", "developer":
		return agent.System, nil
	case "tool":
		return agent.Tool, nil
	}
	return "", fmt.Errorf("%w: the role %s is unknown; known are user, human, assistant, gpt, chatgpt, bing, bard, model, system, developer and tool", ErrValue, quote(name))
}
