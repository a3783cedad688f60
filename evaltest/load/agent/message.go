package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// environmentTool declares the tool that the synthetic calls are to, for
// servers that refuse calls of undeclared ones.
const environmentTool = `{"type":"function","function":{"name":"environment","description":"Goes on with the task.",` +
	`"parameters":{"type":"object","properties":{"request":{"type":"string"}},"required":["request"]}}}`

func digest(seed string) string {
	sum := sha256.Sum256([]byte(seed))
	return hex.EncodeToString(sum[:])
}

func toolName(seed string) string { return "fn_" + digest(seed)[:12] }
func callID(seed string) string   { return "call_" + digest(seed)[:24] }

// turnCallID is the id of the call that follows turn t, from 0, of an agent.
func turnCallID(agent, t int) string { return fmt.Sprintf("call_batchbench_%d_%d", agent, t+1) }

func appendDefinition(dst []byte, seed, text string) ([]byte, error) {
	dst = append(dst, `{"type":"function","function":{"name":"`...)
	dst = append(dst, toolName(seed)...)
	dst = append(dst, `","description":`...)
	dst, err := quote(dst, text)
	return append(dst, `,"parameters":{"type":"object","properties":{}}}}`...), err
}

func appendArguments(text string) ([]byte, error) {
	dst, err := quote([]byte(`{"input":`), text)
	return append(dst, '}'), err
}

// appendCall appends a tool call; arguments is JSON as text.
func appendCall(dst []byte, id, name, arguments string) []byte {
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendQuote(dst, id) // ASCII of our own making
	dst = append(dst, `,"type":"function","function":{"name":`...)
	dst = strconv.AppendQuote(dst, name)
	dst = append(dst, `,"arguments":`...)
	dst, _ = jsontext.AppendQuote(dst, arguments) // quoted once already: it is UTF-8
	return append(dst, "}}"...)
}

// kept are the fields of a reply that go into the next prompt, in this order.
// BatchBench drops reasoning, the newer name of reasoning_content. The tool
// calls that a model makes are dropped: nobody answers them.
var kept = []string{"content", "reasoning_content", "reasoning", "name", "refusal"}

// A reply is an assistant message without its closing brace, so that tool
// calls can be added.
type reply []byte

// parseReply keeps what is kept of a server's message. A field that is null is
// left out, but for content, which is null if the message has none.
func parseReply(message []byte) (reply, error) {
	var m map[string]jsontext.Value
	if jsontext.Value(message).Kind() != '{' {
		return nil, fmt.Errorf("%w: failed to append model response: the assistant message is not an object", ErrReply)
	}
	// Twice the same name is the server's mistake, not a reason to stop.
	if err := json.Unmarshal(message, &m, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, fmt.Errorf("%w: failed to append model response: %w", ErrReply, err)
	}
	r := reply(`{"role":"assistant"`)
	for _, name := range kept {
		v, ok := m[name]
		if name == "content" && !ok {
			v = jsontext.Value("null")
		} else if name != "content" && (!ok || v.Kind() == 'n') {
			continue
		}
		if err := v.Compact(); err != nil {
			return nil, fmt.Errorf("%w: failed to append model response: %w", ErrReply, err)
		}
		r = append(r, `,"`+name+`":`...)
		r = append(r, v...)
	}
	return r, nil
}

func textReply(text string) (reply, error) {
	dst, err := quote([]byte(`{"role":"assistant","content":`), text)
	return dst, err
}

// messages are the members of a "messages" array, joined by commas.
type messages struct {
	buf []byte
	// open is whether the last message is an assistant's, still without its
	// closing brace; calls whether it has begun its tool calls.
	open, calls bool
}

func (m *messages) reset() { *m = messages{buf: m.buf[:0]} }

// seal closes the last message.
func (m *messages) seal() {
	if m.calls {
		m.buf = append(m.buf, ']')
	}
	if m.open {
		m.buf = append(m.buf, '}')
	}
	m.open, m.calls = false, false
}

func (m *messages) begin() {
	m.seal()
	if len(m.buf) > 0 {
		m.buf = append(m.buf, ',')
	}
}

// say appends a message of a role that makes no calls.
func (m *messages) say(role Role, text string) (err error) {
	m.begin()
	m.buf = append(m.buf, `{"role":"`+string(role)+`","content":`...)
	m.buf, err = quote(m.buf, text)
	m.buf = append(m.buf, '}')
	return err
}

func (m *messages) assistant(r reply) {
	m.begin()
	m.buf = append(m.buf, r...)
	m.open = true
}

// call adds a tool call to the last message, or to a new one if that is not an
// assistant's.
func (m *messages) call(id, name, arguments string) {
	if !m.open {
		m.assistant(reply(`{"role":"assistant","content":null`))
	}
	if m.calls {
		m.buf = append(m.buf, ',')
	} else {
		m.buf = append(m.buf, `,"tool_calls":[`...)
		m.calls = true
	}
	m.buf = appendCall(m.buf, id, name, arguments)
}

func (m *messages) answer(id, text string) (err error) {
	m.begin()
	m.buf = append(m.buf, `{"role":"tool","tool_call_id":`...)
	m.buf = strconv.AppendQuote(m.buf, id)
	m.buf = append(m.buf, `,"content":`...)
	m.buf, err = quote(m.buf, text)
	m.buf = append(m.buf, '}')
	return err
}
