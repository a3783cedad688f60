package agent

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Body says what stands in every request besides its messages.
type Body struct {
	// Model is the model's name; needed.
	Model string
	// SGLang names the limits max_new_tokens and min_new_tokens in place of
	// max_tokens and min_tokens.
	SGLang bool
	// IgnoreEOS asks the server to go on to the full length.
	IgnoreEOS bool
	// Stream asks for replies in pieces with usage at the end, unless a turn
	// says otherwise. Default: whole.
	Stream bool
	// DeclareTool declares the environment tool in prompts without blocks.
	// BatchBench declares none, which strict servers refuse once the messages
	// hold calls of it.
	DeclareTool bool
	// Extra are further fields, as JSON. None may be one of ours.
	Extra map[string]jsontext.Value
}

var ownFields = []string{"model", "messages", "tools", "max_tokens", "min_tokens", "max_new_tokens", "min_new_tokens", "ignore_eos", "stream", "stream_options", "user"}

// A bodyMaker writes bodies. The same parts give the same bytes.
type bodyMaker struct {
	head, tail  []byte
	maxKey      string
	minKey      string
	stream      bool
	declareTool bool
}

func newBodyMaker(b Body) (*bodyMaker, error) {
	if b.Model == "" {
		return nil, problemf(ErrConfig, "Body.Model is empty")
	}
	m := &bodyMaker{maxKey: "max_tokens", minKey: "min_tokens", stream: b.Stream, declareTool: b.DeclareTool}
	if b.SGLang {
		m.maxKey, m.minKey = "max_new_tokens", "min_new_tokens"
	}
	var err error
	if m.head, err = quote([]byte(`{"model":`), b.Model); err != nil {
		return nil, problemf(ErrConfig, "Body.Model is %q; it must be UTF-8", b.Model)
	}
	m.head = append(m.head, `,"messages":[`...)
	if b.IgnoreEOS {
		m.tail = append(m.tail, `,"ignore_eos":true`...)
	}
	names := make([]string, 0, len(b.Extra))
	for name := range b.Extra {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := b.Extra[name].Clone()
		if slices.Contains(ownFields, name) {
			return nil, problemf(ErrConfig, "Body.Extra sets %q, which the agent sets itself", name)
		}
		if err := v.Compact(); err != nil {
			return nil, fmt.Errorf("%w: Body.Extra field %q: %w", ErrConfig, name, err)
		}
		m.tail = append(m.tail, ',')
		if m.tail, err = quote(m.tail, name); err != nil {
			return nil, problemf(ErrConfig, "Body.Extra has the field %q; it must be UTF-8", name)
		}
		m.tail = append(append(m.tail, ':'), v...)
	}
	return m, nil
}

func (m *bodyMaker) streamed(t *Turn) bool {
	if t.Stream != nil {
		return *t.Stream
	}
	return m.stream
}

// body writes a body into memory of its own: net/http may still read the last
// one when an answer came early.
func (m *bodyMaker) body(t *Turn, messages, tools []byte, user string) []byte {
	if m.declareTool && len(t.Blocks) == 0 {
		tools = []byte(environmentTool)
	}
	b := make([]byte, 0, len(m.head)+len(messages)+len(tools)+len(m.tail)+len(user)+160)
	b = append(b, m.head...)
	b = append(b, messages...)
	b = append(b, ']')
	if len(tools) > 0 {
		b = append(append(append(b, `,"tools":[`...), tools...), ']')
	}
	b = append(append(append(b, `,"`...), m.maxKey...), `":`...)
	b = strconv.AppendInt(b, int64(t.Max), 10)
	b = append(append(append(b, `,"`...), m.minKey...), `":`...)
	b = strconv.AppendInt(b, int64(t.Min), 10)
	if m.streamed(t) {
		b = append(b, `,"stream":true,"stream_options":{"include_usage":true}`...)
	}
	if user != "" {
		b = append(b, `,"user":`...)
		b, _ = jsontext.AppendQuote(b, user) // checked by Config.check
	}
	return append(append(b, m.tail...), '}')
}
