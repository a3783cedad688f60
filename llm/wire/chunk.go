package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// chunk is the union of what the APIs put into one event or body, as far as
// the transport needs it. Fields that differ in type between providers stay
// raw.
type chunk struct {
	ID           string            `json:"id"`
	ResponseID   string            `json:"responseId"`
	Model        string            `json:"model"`
	ModelVersion string            `json:"modelVersion"`
	Type         string            `json:"type"`
	Object       string            `json:"object"`
	Choices      []chunkChoice     `json:"choices"`
	Candidates   []geminiCandidate `json:"candidates"`
	Feedback     struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage         json.RawMessage `json:"usage"`
	UsageMetadata json.RawMessage `json:"usageMetadata"`
	Groq          struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
	Response json.RawMessage `json:"response"` // of OpenAI's responses API
	Message  json.RawMessage `json:"message"`  // of Anthropic's message_start
	Error    json.RawMessage `json:"error"`
}

type chunkChoice struct {
	Index        int                        `json:"index"`
	FinishReason json.RawMessage            `json:"finish_reason"`
	Delta        map[string]json.RawMessage `json:"delta"`
	Text         string                     `json:"text"`
}

type geminiCandidate struct {
	Index        int    `json:"index"`
	FinishReason string `json:"finishReason"`
	Content      struct {
		Parts []map[string]json.RawMessage `json:"parts"`
	} `json:"content"`
}

// chunk reads one event's data or a whole JSON body.
func (w *Watch) chunk(data []byte, at time.Duration) {
	var c chunk
	var typeErr *json.UnmarshalTypeError
	// A field of an unexpected type spoils itself only.
	if err := json.Unmarshal(data, &c); err != nil && !errors.As(err, &typeErr) {
		return
	}
	if c.Choices != nil || c.Candidates != nil || isSet(c.Usage) || isSet(c.UsageMetadata) {
		w.s.Answer = true
	}
	w.says = w.says || c.Choices != nil || c.Candidates != nil || c.Feedback.BlockReason != ""
	w.identify(c)
	w.counts.merge(c.Usage)
	w.counts.merge(c.UsageMetadata)
	w.counts.merge(c.Groq.Usage)
	if generated(c) && w.s.FirstToken == 0 {
		w.s.FirstToken = max(at, 1)
	}
	if isSet(c.Error) && string(c.Error) != "false" || c.Object == "error" || c.Type == "error" {
		w.s.Failed = true
		w.done(at)
	}
	for _, ch := range c.Choices {
		w.choice(ch.Index, reasonText(ch.FinishReason))
	}
	for _, ca := range c.Candidates {
		w.choice(ca.Index, ca.FinishReason)
	}
	if c.Feedback.BlockReason != "" {
		w.s.Answer, w.s.Finish = true, short(c.Feedback.BlockReason)
		w.done(at)
	}
	w.typed(c, at)
}

func (w *Watch) identify(c chunk) {
	for _, v := range []string{c.ID, c.ResponseID} {
		if v != "" && w.s.ID == "" {
			w.s.ID = short(v)
		}
	}
	for _, v := range []string{c.Model, c.ModelVersion} {
		if v != "" {
			w.s.Model = short(v)
		}
	}
}

// short keeps a server from filling records with a name: no real one is longer.
func short(s string) string {
	if len(s) > 256 {
		return strings.ToValidUTF8(s[:256], "") + "…"
	}
	return s
}

// choice notes that a choice was seen, and its finish reason if it has one.
func (w *Watch) choice(index int, reason string) {
	if w.choices == nil {
		w.choices = map[int]bool{}
	}
	if reason == "" {
		if _, ok := w.choices[index]; !ok {
			w.choices[index] = false
		}
	} else {
		w.choices[index], w.s.Finish = true, short(reason)
	}
	for _, finished := range w.choices {
		if !finished {
			return
		}
	}
	w.s.Done = true
}

// typed reads the events of APIs that name them: OpenAI's responses and
// Anthropic's messages.
func (w *Watch) typed(c chunk, at time.Duration) {
	for _, prefix := range []string{"response.", "message_", "content_block_"} {
		w.says = w.says || strings.HasPrefix(c.Type, prefix)
	}
	switch c.Type {
	case "response.completed", "response.incomplete", "response.failed":
		w.s.Answer = true
		w.s.Failed = w.s.Failed || c.Type == "response.failed"
		w.done(at)
		w.s.DoneAt = max(at, 1)
	case "message_stop":
		w.s.Answer = true
		w.done(at)
		w.s.DoneAt = max(at, 1)
	}
	for _, raw := range []json.RawMessage{c.Response, c.Message} {
		var inner chunk
		if isSet(raw) && raw[0] == '{' && json.Unmarshal(raw, &inner) == nil {
			w.identify(inner)
			w.counts.merge(inner.Usage)
		}
	}
}

// generated reports whether a chunk holds something that the model wrote. A
// role alone, an empty text and a keep-alive do not.
func generated(c chunk) bool {
	for _, ch := range c.Choices {
		if ch.Text != "" {
			return true
		}
		for _, f := range []string{"content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call", "audio"} {
			if isFull(ch.Delta[f]) {
				return true
			}
		}
	}
	for _, ca := range c.Candidates {
		for _, p := range ca.Content.Parts {
			if isFull(p["text"]) || isFull(p["functionCall"]) || isFull(p["inlineData"]) {
				return true
			}
		}
	}
	return c.Type == "content_block_delta" || strings.HasPrefix(c.Type, "response.") && strings.HasSuffix(c.Type, ".delta")
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func isFull(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

func reasonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
