package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/goevals/evals/llm/internal/jsonraw"
)

// chunk reads one event's data or a whole JSON body.
func (w *Watch) chunk(data []byte, at time.Duration) {
	if !json.Valid(data) {
		return
	}
	var c chunk
	// A field of an unexpected type spoils itself only.
	if _, err := c.read(data); err != nil {
		return
	}
	if c.Choices != nil || c.Candidates != nil || isSet(c.Usage) || isSet(c.UsageMetadata) {
		w.s.Answer = true
	}
	w.says = w.says || c.Choices != nil || c.Candidates != nil || c.BlockReason != ""
	w.identify(&c)
	w.counts.merge(c.Usage)
	w.counts.merge(c.UsageMetadata)
	w.counts.merge(c.GroqUsage)
	if c.generated() {
		w.token(at)
	}
	if c.carriesError() {
		w.fail(data, at)
	}
	for _, ch := range c.Choices {
		if isError(ch.Error) { // OpenRouter's place for an upstream's failure
			w.fail(data, at)
		}
		w.choice(ch.Index, reasonText(ch.FinishReason))
	}
	for _, ca := range c.Candidates {
		w.choice(ca.Index, ca.FinishReason)
	}
	if c.BlockReason != "" {
		w.s.Answer, w.s.Finish = true, named(c.BlockReason)
		w.done(at)
	}
	w.typed(&c, data, at)
}

func (c *chunk) carriesError() bool {
	return isError(c.Error) || isError(c.GroqError) || c.Object == "error" || c.Type == "error"
}

// isError tells an error from the fields that say that there was none.
func isError(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}

// fail notes that the answer carries an error, and keeps the first one.
func (w *Watch) fail(data []byte, at time.Duration) {
	if !w.s.Failed && len(data) <= maxErrorBody {
		w.s.Error = bytes.Clone(data)
	}
	w.s.Failed = true
	w.done(at)
}

// token notes an event that holds generated tokens.
func (w *Watch) token(at time.Duration) {
	at = max(at, 1)
	if w.s.FirstToken == 0 {
		w.s.FirstToken = at
	}
	if !w.noTimes {
		w.s.Chunks = append(w.s.Chunks, at)
	}
}

func (w *Watch) identify(c *chunk) {
	for _, v := range [...]string{c.ID, c.ResponseID} {
		if v != "" && w.s.ID == "" {
			w.s.ID = named(v)
		}
	}
	for _, v := range [...]string{c.Model, c.ModelVersion} {
		if v != "" {
			w.s.Model = named(v)
		}
	}
}

// maxNamed is the longest name that is kept until its keys are masked, in bytes.
// What is shown of it is cut after that: half a key would not be found.
const maxNamed = 64 << 10

// named is a name that a server gave. None is as long as maxNamed, and what
// were cut off here could end in half a key.
func named(s string) string {
	if len(s) > maxNamed {
		return fmt.Sprintf("(a name of %d bytes)", len(s))
	}
	return s
}

// choice notes that a choice was seen, and its finish reason if it has one. Any
// number of choices may come, so the unfinished ones are counted, not searched
// for.
func (w *Watch) choice(index int, reason string) {
	if w.choices == nil {
		w.choices = map[int]bool{}
	}
	finished, seen := w.choices[index]
	if !seen {
		w.open++
	}
	if reason != "" {
		w.s.Finish = named(reason)
		if !finished {
			w.open--
		}
	}
	w.choices[index] = finished || reason != ""
	if w.open == 0 {
		w.s.Done = true
	}
}

// typed reads the events and bodies of APIs that name them: OpenAI's responses
// and Anthropic's messages.
func (w *Watch) typed(c *chunk, data []byte, at time.Duration) {
	for _, prefix := range [...]string{"response.", "message_", "content_block_"} {
		w.says = w.says || strings.HasPrefix(c.Type, prefix)
	}
	switch c.Type {
	case "response.completed", "response.incomplete", "response.failed":
		w.s.Answer = true
		if c.Type == "response.failed" {
			w.fail(data, at)
		}
		w.over(at)
	case "message_stop":
		w.s.Answer = true
		w.over(at)
	case "message_delta":
		var d struct {
			StopReason json.RawMessage `json:"stop_reason"`
		}
		if json.Unmarshal(c.Delta, &d) == nil {
			w.finish(reasonText(d.StopReason))
		}
	}
	w.finish(reasonText(c.StopReason))
	w.whole(c)
	for _, raw := range []json.RawMessage{c.Response, c.Message} {
		if !isSet(raw) || raw[0] != '{' {
			continue
		}
		var inner chunk
		if odd, err := inner.read(raw); err == nil && !odd {
			w.identify(&inner)
			w.counts.merge(inner.Usage)
			w.whole(&inner)
		}
	}
}

// whole takes the end of a response of OpenAI's from its status. A failed one
// has its error beside it.
func (w *Watch) whole(c *chunk) {
	if c.Object != "response" {
		return
	}
	switch reasonText(c.Status) {
	case "completed":
		w.finish("completed")
	case "incomplete":
		w.finish("incomplete")
		w.finish(c.IncompleteReason)
	}
}

func (w *Watch) finish(reason string) {
	if reason != "" {
		w.s.Finish = named(reason)
	}
}

// over notes an event after which nothing comes.
func (w *Watch) over(at time.Duration) {
	w.done(at)
	w.s.DoneAt = max(at, 1)
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
	s, _ := jsonraw.Text(raw)
	return s
}
