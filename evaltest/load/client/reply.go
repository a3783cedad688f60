package client

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A Reply keeps an answer as it came, for reading it after the call: nothing is
// decoded while the clock runs. The zero value is ready for a call, and may be
// used again for another one after that. Not safe for concurrent use.
//
// It holds what came, also of a call that failed.
type Reply struct {
	api   API
	whole bool
	data  []byte
	ends  []int
}

// A ToolCall is a call that the model wants made.
type ToolCall struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // as the model wrote it: it need not be JSON
}

// A Message is what the model answered. A nil text did not come, or was null.
type Message struct {
	Role             string
	Content          *string
	ReasoningContent *string
	Reasoning        *string
	Name             *string
	Refusal          *string
	ToolCalls        []ToolCall
	// Raw is the message as JSON: as it came if the answer was whole, else put
	// together from the stream's pieces.
	Raw json.RawMessage
}

func (r *Reply) reset(api API) {
	r.api, r.whole, r.data, r.ends = api, false, r.data[:0], r.ends[:0]
}

func (r *Reply) add(event []byte) {
	r.data = append(r.data, event...)
	r.ends = append(r.ends, len(r.data))
}

// Events are the data of the stream's events in their order, [DONE] not
// included; a whole answer is one. They are valid until the next call.
func (r *Reply) Events() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		from := 0
		for _, end := range r.ends {
			if !yield(r.data[from:end:end]) {
				return
			}
			from = end
		}
	}
}

// Message puts the answer's first choice together. It returns an error if there
// is none, or if a piece cannot be read.
func (r *Reply) Message() (*Message, error) {
	b := builder{}
	for event := range r.Events() {
		var err error
		if r.api == Gemini {
			err = b.gemini(event)
		} else {
			err = b.openAI(event)
		}
		if err != nil {
			return nil, fmt.Errorf("client: the answer's message cannot be read: %w", err)
		}
	}
	if !b.some {
		return nil, fmt.Errorf("client: the answer has no message: %d events came", len(r.ends))
	}
	return b.message(r)
}

// A builder puts a message together.
type builder struct {
	some                                       bool
	role                                       string
	content, reasoning, thoughts, refusal      strings.Builder
	hasContent, hasReasoning, hasThoughts, has bool // has: refusal
	name                                       *string
	calls                                      []ToolCall
	index                                      []int // of each call in the stream
	raw                                        json.RawMessage
	parts                                      []json.RawMessage // of Gemini
}

type rawChoice struct {
	Delta   *rawDelta       `json:"delta"`
	Message json.RawMessage `json:"message"`
	Text    *string         `json:"text"`
}

type rawDelta struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ReasoningContent *string         `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	Name             *string         `json:"name"`
	Refusal          *string         `json:"refusal"`
	ToolCalls        []rawCall       `json:"tool_calls"`
}

type rawCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (b *builder) openAI(event []byte) error {
	var chunk struct {
		Choices []rawChoice `json:"choices"`
	}
	if err := json.Unmarshal(event, &chunk); err != nil || len(chunk.Choices) == 0 {
		return err
	}
	c := chunk.Choices[0]
	if c.Text != nil {
		b.some, b.hasContent = true, true
		b.content.WriteString(*c.Text)
	}
	if c.Delta != nil {
		b.delta(*c.Delta)
	}
	if len(c.Message) > 0 && string(c.Message) != "null" {
		var m rawDelta
		if err := json.Unmarshal(c.Message, &m); err != nil {
			return err
		}
		b.raw = slices.Clone(c.Message)
		b.delta(m)
	}
	return nil
}

func (b *builder) delta(d rawDelta) {
	b.some = true
	if d.Role != "" {
		b.role = d.Role
	}
	if text, ok := textOf(d.Content); ok {
		b.hasContent = true
		b.content.WriteString(text)
	}
	if d.ReasoningContent != nil {
		b.hasThoughts = true
		b.thoughts.WriteString(*d.ReasoningContent)
	}
	if text, ok := textOf(d.Reasoning); ok {
		b.hasReasoning = true
		b.reasoning.WriteString(text)
	}
	if d.Refusal != nil {
		b.has = true
		b.refusal.WriteString(*d.Refusal)
	}
	if d.Name != nil {
		b.name = d.Name
	}
	for i, c := range d.ToolCalls {
		b.call(i, c)
	}
}

// call adds a piece of a call: to the one of its index, or a new one.
func (b *builder) call(i int, c rawCall) {
	if c.Index != nil {
		i = *c.Index
	}
	at := slices.Index(b.index, i)
	if at < 0 {
		at = len(b.calls)
		b.index = append(b.index, i)
		b.calls = append(b.calls, ToolCall{})
	}
	tc := &b.calls[at]
	if c.ID != "" {
		tc.ID = c.ID
	}
	if c.Type != "" {
		tc.Type = c.Type
	}
	tc.Name += c.Function.Name
	tc.Arguments += c.Function.Arguments
}

// textOf is a text, or those of a list of parts; ok is false for null and
// absent.
func textOf(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", false
	}
	for _, p := range parts {
		text += p.Text
	}
	return text, true
}

func (b *builder) gemini(event []byte) error {
	var chunk struct {
		Candidates []struct {
			Content struct {
				Role  string            `json:"role"`
				Parts []json.RawMessage `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
	}
	if err := json.Unmarshal(event, &chunk); err != nil || len(chunk.Candidates) == 0 {
		return err
	}
	b.some = true
	c := chunk.Candidates[0].Content
	if c.Role != "" {
		b.role = c.Role
	}
	for _, raw := range c.Parts {
		var p struct {
			Text    *string `json:"text"`
			Thought bool    `json:"thought"`
			Call    *struct {
				ID   string          `json:"id"`
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return err
		}
		b.parts = append(b.parts, slices.Clone(raw))
		switch {
		case p.Call != nil:
			b.calls = append(b.calls, ToolCall{ID: p.Call.ID, Type: "function", Name: p.Call.Name, Arguments: string(p.Call.Args)})
		case p.Text != nil && p.Thought:
			b.hasThoughts = true
			b.thoughts.WriteString(*p.Text)
		case p.Text != nil:
			b.hasContent = true
			b.content.WriteString(*p.Text)
		}
	}
	return nil
}

func (b *builder) message(r *Reply) (*Message, error) {
	text := func(has bool, s *strings.Builder) *string {
		if !has {
			return nil
		}
		t := s.String()
		return &t
	}
	m := &Message{
		Role: b.role, Name: b.name, ToolCalls: b.calls, Raw: b.raw,
		Content: text(b.hasContent, &b.content), ReasoningContent: text(b.hasThoughts, &b.thoughts),
		Reasoning: text(b.hasReasoning, &b.reasoning), Refusal: text(b.has, &b.refusal),
	}
	if m.Role == "" {
		m.Role = "assistant"
		if r.api == Gemini {
			m.Role = "model"
		}
	}
	if r.whole && m.Raw != nil {
		return m, nil
	}
	var err error
	if r.api == Gemini {
		m.Raw, err = marshal(struct {
			Role  string            `json:"role"`
			Parts []json.RawMessage `json:"parts"`
		}{m.Role, b.parts})
	} else {
		m.Raw, err = m.marshal()
	}
	return m, err
}

// marshal is the message as OpenAI's API has it.
func (m *Message) marshal() (json.RawMessage, error) {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	var calls []call
	for _, c := range m.ToolCalls {
		kind := c.Type
		if kind == "" {
			kind = "function"
		}
		calls = append(calls, call{c.ID, kind, function{c.Name, c.Arguments}})
	}
	return marshal(struct {
		Role             string  `json:"role"`
		Content          *string `json:"content"`
		ReasoningContent *string `json:"reasoning_content,omitempty"`
		Reasoning        *string `json:"reasoning,omitempty"`
		Name             *string `json:"name,omitempty"`
		Refusal          *string `json:"refusal,omitempty"`
		ToolCalls        []call  `json:"tool_calls,omitempty"`
	}{m.Role, m.Content, m.ReasoningContent, m.Reasoning, m.Name, m.Refusal, calls})
}
