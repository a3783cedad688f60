package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/workload"
	"github.com/goevals/evals/llm"
)

// A bodyMaker turns a workload's requests into bytes, before they are due.
type bodyMaker struct {
	client  *client.Client
	api     client.API
	lengths client.Lengths
	ask     func(*client.Prompt)
}

// make returns the body of a request and whether the answer is asked for in one
// piece.
func (m *bodyMaker) make(req *workload.Request) (body []byte, whole bool, err error) {
	if req.Body != nil {
		return m.given(req)
	}
	p := client.Prompt{MaxTokens: req.Output.Max, MinTokens: req.Output.Min, Text: req.Prompt}
	if m.api == client.Gemini || m.lengths == client.OpenAI {
		p.MinTokens = 0 // there is no such field: the report warns
	}
	if len(req.Messages) > 0 {
		if p.Messages, p.Extra, err = m.messages(req.Messages); err != nil {
			return nil, false, err
		}
	}
	if m.ask != nil {
		m.ask(&p)
	}
	body, err = m.client.Body(p)
	return body, p.Whole, err
}

// given is a body that the workload holds, sent byte for byte unless a length of
// the answer was asked for, which then replaces the body's own.
func (m *bodyMaker) given(req *workload.Request) (body []byte, whole bool, err error) {
	body = req.Body
	if req.Output != (workload.Output{}) {
		if m.api == client.Gemini {
			return nil, false, errors.New("load: the length of the answer stands inside a Gemini body: write it there, or give texts or messages")
		}
		most, least := "max_tokens", "min_tokens"
		switch m.lengths {
		case client.SGLang:
			most, least = "max_new_tokens", "min_new_tokens"
		case client.OpenAI:
			most, least = "max_completion_tokens", ""
		}
		if body, err = withLengths(body, most, least, req.Output); err != nil {
			return nil, false, err
		}
	}
	whole, err = wholeBody(body)
	return body, whole && m.api != client.Gemini, err
}

// topLevel calls each for the fields of a JSON object.
func topLevel(body []byte, each func(name string, value jsontext.Value) error) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '{' {
		return errors.New("load: a body is no JSON object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return fmt.Errorf("load: a body: %w", err)
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return fmt.Errorf("load: a body: %w", err)
		}
		key := name.String() // the token is valid until the next read
		value, err := dec.ReadValue()
		if err != nil {
			return fmt.Errorf("load: a body: %w", err)
		}
		if err := each(key, value); err != nil {
			return err
		}
	}
	return nil
}

// lengthNames are all names under which a body may bound its answer: leaving
// another one in would contradict the one that was asked for.
var lengthNames = map[string]bool{
	"max_tokens": true, "min_tokens": true, "max_new_tokens": true, "min_new_tokens": true, "max_completion_tokens": true,
}

// withLengths returns the body with the bounds of its answer replaced.
func withLengths(body []byte, most, least string, out workload.Output) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	err := topLevel(body, func(name string, value jsontext.Value) error {
		if lengthNames[name] {
			return nil
		}
		quoted, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return fmt.Errorf("load: a body's field %q: %w", name, err)
		}
		b.Write(quoted)
		b.WriteByte(':')
		b.Write(value)
		b.WriteByte(',')
		return nil
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "%q:%d", most, out.Max)
	if least != "" && out.Min > 0 {
		fmt.Fprintf(&b, ",%q:%d", least, out.Min)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// wholeBody reports whether a body asks for its answer in one piece.
func wholeBody(body []byte) (bool, error) {
	whole := true
	err := topLevel(body, func(name string, value jsontext.Value) error {
		if name == "stream" {
			whole = string(value) != "true"
		}
		return nil
	})
	return whole, err
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type toolCall struct {
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type message struct {
	Role       llm.Role   `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type part struct {
	Text string `json:"text"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// messages writes a conversation as the API has it, and what of it stands
// elsewhere in the body.
func (m *bodyMaker) messages(list []llm.Message) (json.RawMessage, map[string]json.RawMessage, error) {
	if m.api == client.Gemini {
		return geminiMessages(list)
	}
	out := make([]message, len(list))
	for i, in := range list {
		out[i] = message{Role: in.Role, Content: &in.Content, ToolCallID: in.ToolCallID}
		for _, call := range in.ToolCalls {
			out[i].ToolCalls = append(out[i].ToolCalls, toolCall{ID: call.ID, Type: "function", Function: function{call.Name, call.Arguments}})
		}
		if len(in.ToolCalls) > 0 && in.Content == "" {
			out[i].Content = nil // "" is refused beside tool calls by some servers, null by none
		}
	}
	raw, err := marshal(out)
	return raw, nil, err
}

// geminiMessages has the roles of Gemini: system texts apart, the model's own
// are "model". Tools would have to be said in other words, which no workload
// needed yet: they are refused.
func geminiMessages(list []llm.Message) (json.RawMessage, map[string]json.RawMessage, error) {
	var system []part
	var contents []content
	for i, in := range list {
		if len(in.ToolCalls) > 0 || in.Role == llm.RoleTool {
			return nil, nil, fmt.Errorf("load: message %d has tools, which are not made for the Gemini API here: use its OpenAI-compatible endpoint", i+1)
		}
		switch in.Role {
		case llm.RoleSystem, llm.RoleDeveloper:
			system = append(system, part{in.Content})
		case llm.RoleAssistant:
			contents = append(contents, content{"model", []part{{in.Content}}})
		default:
			contents = append(contents, content{"user", []part{{in.Content}}})
		}
	}
	raw, err := marshal(contents)
	if err != nil || len(system) == 0 {
		return raw, nil, err
	}
	instruction, err := marshal(content{Parts: system})
	return raw, map[string]json.RawMessage{"systemInstruction": instruction}, err
}

// marshal is JSON with <, > and & as they are: one byte each, not six.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("load: messages: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
