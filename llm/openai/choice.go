package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/internal/jsonraw"
)

// choice is one choice of a body or chunk, as it came. All fields are raw, so
// that one of another type is an error with its name: encoding/json would leave
// it out, and an answer without it would be graded.
type choice struct {
	Index, Message, Delta, Text, Finish json.RawMessage

	Error  json.RawMessage // OpenRouter
	Filter json.RawMessage // Azure
	Usage  json.RawMessage // Moonshot
}

var choiceNames = jsonraw.Names{"index", "message", "delta", "text", "finish_reason", "error", "content_filter_results", "usage"}

func (c *choice) read(raw json.RawMessage) error {
	return client.Object("", raw, choiceNames, &c.Index, &c.Message, &c.Delta, &c.Text, &c.Finish, &c.Error, &c.Filter, &c.Usage)
}

// none reports whether a choice holds nothing: null, or an object of something
// else.
func (c choice) none() bool {
	return client.Nothing(c.Message) && client.Nothing(c.Delta) && client.Nothing(c.Text) && len(c.Finish) == 0 && !isError(c.Error)
}

type message struct {
	Content json.RawMessage // a text, or parts

	ReasoningContent, Reasoning, Refusal, ToolCalls, FunctionCall, Audio json.RawMessage

	Images json.RawMessage // OpenRouter
}

var messageNames = jsonraw.Names{"content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call", "audio", "images"}

func (m *message) read(raw json.RawMessage) error {
	return client.Object("", raw, messageNames, &m.Content, &m.ReasoningContent, &m.Reasoning, &m.Refusal, &m.ToolCalls, &m.FunctionCall, &m.Audio, &m.Images)
}

// none reports whether a message is not there, or has no field that counts.
func (m message) none() bool {
	return m.Content == nil && m.Refusal == nil && m.ReasoningContent == nil && m.Reasoning == nil && m.ToolCalls == nil && m.FunctionCall == nil && m.Audio == nil && m.Images == nil
}

// addChoices adds those of a body or chunk. The error is of a choice, or a field
// of another type.
func (a *answer) addChoices(raw json.RawMessage, whole bool) error {
	list, err := client.Elements("choices", raw)
	if err != nil {
		return err
	}
	first := true
	for i, raw := range list {
		var c choice
		err := c.read(raw)
		index := 0
		if err == nil {
			index, err = client.Index("index", c.Index, i)
		}
		switch {
		case err != nil:
		case index != 0 || whole && !first:
			a.warn("the answer has several choices: only the first is used")
		default:
			first = first && c.none()
			err = a.choice(c, whole)
		}
		if err != nil {
			return under(err, "choices["+strconv.Itoa(i)+"]")
		}
	}
	return nil
}

// under is err with the path of the field that it is about.
func under(err error, path string) error {
	if err == nil {
		return nil
	}
	var odd *client.Odd
	if errors.As(err, &odd) {
		return odd.Under(path)
	}
	return err
}

// choice adds one choice.
func (a *answer) choice(c choice, whole bool) error {
	if whole && c.none() {
		return nil
	}
	if err := a.written(c, whole); err != nil {
		return err
	}
	a.choices++
	a.tally.add(c.Usage)
	if len(c.Filter) > 0 {
		a.filtered = cmp.Or(filterHits(c.Filter), a.filtered)
	}
	if isError(c.Error) {
		return &client.NoAnswer{Body: errorObject(c.Error), IsError: true, Why: "the choice is an error object"}
	}
	if client.Nothing(c.Finish) {
		return nil
	}
	finish, err := client.Text("finish_reason", c.Finish)
	var typ json.RawMessage
	finishNames.Read(c.Finish, &typ)
	if s, ok := jsonraw.Text(typ); ok && s != "" {
		finish, err = s, nil // SGLang's own form
	}
	switch {
	case err != nil:
		return err
	case brokenFinish[finish]:
		return &client.NoAnswer{Server: true, Why: fmt.Sprintf("the server gave up: its finish reason is %q", finish)}
	}
	a.finish = finish
	return nil
}

var finishNames = jsonraw.Names{"type"}

// brokenFinish are finish reasons that mean a failure of the server:
// OpenRouter's, and DeepSeek's for having no machine left.
var brokenFinish = map[string]bool{"error": true, "insufficient_system_resource": true}

// written adds what the model wrote. Some servers put a whole message into a
// stream, or a delta into a whole answer.
func (a *answer) written(c choice, whole bool) error {
	names, raws := []string{"delta", "message"}, []json.RawMessage{c.Delta, c.Message}
	if whole {
		names, raws = []string{"message", "delta"}, []json.RawMessage{c.Message, c.Delta}
	}
	for i, raw := range raws {
		var m message
		err := m.read(raw)
		if err == nil && !m.none() {
			err = a.message(m)
		}
		if err != nil {
			return under(err, names[i])
		}
		if !m.none() {
			break
		}
	}
	text, err := client.Text("text", c.Text)
	a.text.WriteString(text)
	return err
}

func (a *answer) message(m message) error {
	if err := a.content(m.Content); err != nil {
		return err
	}
	a.thoughts(m)
	a.media(m)
	if !client.Nothing(m.Refusal) {
		refusal, err := client.Text("refusal", m.Refusal)
		if err != nil {
			return err
		}
		a.refusal.WriteString(refusal)
	}
	list, err := client.Elements("tool_calls", m.ToolCalls)
	if err != nil {
		return err
	}
	for i, raw := range list {
		if err := a.toolCall(raw); err != nil {
			return under(err, "tool_calls["+strconv.Itoa(i)+"]")
		}
	}
	var f function
	if err := f.read("function_call", m.FunctionCall); err != nil || client.Nothing(m.FunctionCall) {
		return err
	}
	return under(a.call(piece{function: f}), "function_call")
}

// media adds what was spoken, and says what is no text.
func (a *answer) media(m message) {
	if !client.Nothing(m.Images) {
		a.warn("the answer has images, which were left out")
	}
	if client.Nothing(m.Audio) {
		return
	}
	var audio struct {
		Transcript string `json:"transcript"`
	}
	_ = json.Unmarshal(m.Audio, &audio) // of a stream each piece has some of its fields
	if plainText(m.Content) == "" {
		a.text.WriteString(audio.Transcript)
	}
	a.warn("the answer is speech, of which the transcript was taken")
}

// thoughts adds a message's reasoning, a text or parts. The answer is whole
// without it.
func (a *answer) thoughts(m message) {
	name, raw := "reasoning_content", m.ReasoningContent
	if client.Nothing(raw) {
		name, raw = "reasoning", m.Reasoning
	}
	switch {
	case client.Nothing(raw):
	case raw[0] == '"' || raw[0] == '[':
		a.reasoning.WriteString(partsText(raw))
	default:
		a.warn("the answer's thoughts were left out: " + client.OddField(name, raw, "a text").Error())
	}
}

// part is a part of a content.
type part struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Thinking json.RawMessage `json:"thinking"`
	Refusal  string          `json:"refusal"`
}

// content is a text, or parts of which some are thoughts, or one part.
func (a *answer) content(raw json.RawMessage) error {
	switch {
	case len(raw) == 0 || raw[0] == '"' || string(raw) == "null":
		a.text.WriteString(plainText(raw))
		return nil
	case raw[0] == '{':
		return under(a.part(raw), "content")
	case raw[0] != '[':
		return client.OddField("content", raw, "a text or a list of parts")
	}
	list, err := client.Elements("content", raw)
	for i, raw := range list {
		if err = a.part(raw); err != nil {
			return under(err, "content["+strconv.Itoa(i)+"]")
		}
	}
	return err
}

func (a *answer) part(raw json.RawMessage) error {
	switch {
	case string(raw) == "null":
		return nil
	case raw[0] == '"':
		a.text.WriteString(plainText(raw))
		return nil
	case raw[0] != '{':
		return client.OddField("", raw, "an object")
	}
	var p part
	_ = json.Unmarshal(raw, &p) // a type of another type is none that is known
	text, err := client.Text("text", p.Text)
	switch {
	case p.Type == "thinking" || p.Type == "reasoning":
		a.reasoning.WriteString(text + partsText(p.Thinking))
	case p.Type == "refusal":
		a.refusal.WriteString(p.Refusal)
	case err != nil:
		return err
	case text == "" && p.Type != "" && p.Type != "text" && p.Type != "output_text":
		a.warn(fmt.Sprintf("the answer has a part of the type %q, which is no text and was left out", p.Type))
	case p.Text == nil:
		return client.OddField("text", nil, "a text")
	default:
		a.text.WriteString(text)
	}
	return nil
}

// partsText is the text of a string or of a list of text parts.
func partsText(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '[' {
		return plainText(raw)
	}
	list, _ := client.Elements("", raw) // thoughts: those of too long a list are left out
	var b strings.Builder
	for _, raw := range list {
		var p struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(raw, &p) // parts without text have none to add
		b.WriteString(p.Text)
	}
	return b.String()
}

// plainText is a JSON string's value, and "" for anything else.
func plainText(raw json.RawMessage) string {
	s, _ := jsonraw.Text(raw)
	return s
}
