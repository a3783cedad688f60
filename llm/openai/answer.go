package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/internal/jsonraw"
	"github.com/goevals/evals/llm/wire"
)

// completion is a whole answer or a chunk of one, with the fields of the many
// servers that imitate the API. A text of another type is none.
type completion struct {
	ID, Model, Object     string
	Choices, Usage, Error json.RawMessage

	Groq struct {
		Usage json.RawMessage
		Error json.RawMessage // why a stream stopped early
	}
}

var (
	completionNames = jsonraw.Names{"id", "model", "object", "choices", "usage", "error", "x_groq"}
	groqNames       = jsonraw.Names{"usage", "error"}
)

// read reads valid JSON; of what is no object nothing. The raw fields are parts
// of data.
func (c *completion) read(data []byte) {
	var id, model, object, groq json.RawMessage
	completionNames.Read(data, &id, &model, &object, &c.Choices, &c.Usage, &c.Error, &groq)
	groqNames.Read(groq, &c.Groq.Usage, &c.Groq.Error)
	c.ID, c.Model, c.Object = plainText(id), plainText(model), plainText(object)
}

// answer collects an answer from a body or from chunks.
type answer struct {
	text, reasoning, refusal strings.Builder
	calls                    []*call
	slots                    map[int]int // a chunk's index of a call → its place in calls
	callBytes                int         // of all calls, and what keeping them takes
	over                     bool        // the stream said [DONE]
	stray                    []byte      // the first event that is no chunk
	finish                   string
	id, model                string
	filtered                 string // which of the provider's filters it was
	tally                    tally
	warnings                 []string
	chunks, choices          int
	times                    []time.Duration // of the chunks that held tokens
}

// whole reads a body that did not come as a stream of events.
func (a *answer) whole(ctx context.Context, ex *exchange) error {
	value, events, err := ex.Value()
	switch {
	case err != nil:
		return err
	case events != nil:
		return a.eventsIn(ctx, events)
	}
	if err := a.add(value, true); err != nil {
		return err
	}
	if ex.stream {
		a.warnings = append(a.warnings, "a stream was asked for, but the answer came whole: there is no time of the first token")
	}
	if a.choices == 0 {
		return &client.NoAnswer{Body: ex.Body, Why: "the answer has no choices"}
	}
	return nil
}

// eventsIn reads a stream that came without saying so in its content type.
func (a *answer) eventsIn(ctx context.Context, b []byte) error {
	r := wire.NewEventReader(bytes.NewReader(b))
	for {
		ev, err := r.Next()
		a.over = err == nil && string(bytes.TrimSpace(ev.Data)) == done
		if err == io.EOF || a.over {
			return a.end()
		}
		data := ev.Data
		if ev.Name == "error" {
			data = asError(bytes.TrimSpace(data))
		}
		if err == nil {
			err = cmp.Or(a.chunk(data), ctx.Err())
		}
		if err != nil {
			return err
		}
	}
}

// event adds one event's data, which came at this time after the start.
func (a *answer) event(data []byte, at time.Duration) error {
	before := a.size()
	err := a.chunk(data)
	// A role alone, an empty text and a keep-alive are no token.
	if a.size() > before {
		a.times = append(a.times, max(at, 1))
	}
	if err == nil && a.size()+8*len(a.times) > client.MaxAnswer {
		return client.ErrTooLong
	}
	return err
}

// size grows with whatever the model writes.
func (a *answer) size() int {
	return a.text.Len() + a.reasoning.Len() + a.refusal.Len() + a.callBytes
}

// chunk adds one event's data.
func (a *answer) chunk(data []byte) error {
	a.chunks++
	return a.add(data, false)
}

func (a *answer) add(data []byte, whole bool) error {
	if !json.Valid(data) {
		return client.NotJSON(data, whole)
	}
	var c completion
	c.read(data)
	if !whole && a.stray == nil && c.Choices == nil && c.Usage == nil {
		a.stray = bytes.Clone(data[:min(len(data), maxStray)])
	}
	a.tally.add(c.Groq.Usage)
	a.tally.add(c.Usage)
	if isError(c.Error) || c.Object == "error" || whole && bytes.HasPrefix(data, []byte("[")) {
		_ = a.addChoices(c.Choices, whole) // what it holds of an answer is kept
		if c.Error != nil && c.Error[0] == '{' {
			data = errorObject(c.Error) // without the answer so far, which may be long
		}
		return &client.NoAnswer{Body: data, IsError: true, Why: "the answer is an error object"}
	}
	if c.ID != "" && a.id == "" {
		a.id = c.ID
	}
	if c.Model != "" {
		a.model = c.Model
	}
	if err := a.addChoices(c.Choices, whole); err != nil {
		return client.Unread(err)
	}
	if isError(c.Groq.Error) {
		return &client.NoAnswer{Body: errorObject(c.Groq.Error), IsError: true, Server: true, Why: "the server stopped the stream"}
	}
	return nil
}

// errorObject puts an error that stands elsewhere into the usual shape.
func errorObject(raw json.RawMessage) []byte { return []byte(`{"error":` + string(raw) + `}`) }

func isError(raw json.RawMessage) bool { return !client.Nothing(raw) }

// maxWarnings keeps a server from filling records with oddities.
const maxWarnings = 16

func (a *answer) warn(text string) {
	switch {
	case slices.Contains(a.warnings, text) || len(a.warnings) > maxWarnings:
	case len(a.warnings) == maxWarnings:
		a.warnings = append(a.warnings, "there were further warnings")
	default:
		a.warnings = append(a.warnings, text)
	}
}

// done reports whether the stream said why it ended.
func (a *answer) done() bool { return a.finish != "" }

// maxStray is how much of an event that is no chunk is kept, in bytes: as much
// as is read of an error body.
const maxStray = 64 << 10

// end checks a stream that has ended without an error.
func (a *answer) end() error {
	switch {
	case a.choices == 0:
		return &client.NoAnswer{Body: a.stray, Why: "the stream has no choices"}
	case a.done():
	case a.failed():
		return &client.NoAnswer{Body: a.stray, IsError: true, Why: "the stream ended with an error"}
	case a.over:
		a.warn("the stream ended with [DONE] but without a finish reason")
	default:
		return wire.ErrIncomplete
	}
	return nil
}

// failed reports whether an event that is no chunk was an error: gateways put
// theirs into a stream without the object around it. Others put notes there.
func (a *answer) failed() bool {
	e := wire.ReadError(a.stray)
	return e.HTTP >= 400 || e.Message != "" && e.Kind(http.StatusOK) != llm.KindBadResponse
}

func (a *answer) response() llm.Response {
	r := llm.Response{
		Text: a.text.String(), Reasoning: a.reasoning.String(), Refusal: a.refusal.String(),
		ToolCalls: a.toolCalls(), Finish: finishReason(a.finish), Model: a.model, ID: a.id, Chunks: a.times,
	}
	var warnings []string
	r.Usage, r.CostUSD, warnings = a.tally.sum()
	if r.Finish == llm.FinishStop && len(r.ToolCalls) > 0 {
		r.Finish = llm.FinishToolCalls // OpenAI says stop of a call that it was told to make
	}
	if r.Refusal != "" {
		r.Finish = llm.FinishRefusal
	}
	if r.Finish == llm.FinishContentFilter && a.filtered != "" {
		a.warn("the provider's content filter stopped the answer: " + a.filtered)
	}
	if strings.Contains(r.Text, "</think>") || strings.HasPrefix(strings.TrimSpace(r.Text), "<think>") {
		a.warn(thinkTags)
	}
	r.Warnings = append(a.warnings, warnings...)
	client.CheckUsage(&r)
	return r
}

// thinkTags is said instead of cutting the thoughts out: where they end is a
// guess, and a text that was changed in silence is no answer to grade.
const thinkTags = "the text holds <think> tags, which graders see: the server did not tell thoughts from answer " +
	"(vLLM and SGLang need --reasoning-parser, llama.cpp --reasoning-format, Groq the Extra field reasoning_format \"parsed\")"

// finishReason is the reason in our words; an unknown one stays as it came.
func finishReason(s string) llm.FinishReason {
	switch strings.ToLower(s) {
	case "stop", "eos", "eos_token", "end_turn", "stop_sequence", "end":
		return llm.FinishStop
	case "length", "max_tokens", "max_output_tokens", "model_length":
		return llm.FinishLength
	case "tool_calls", "tool_call", "function_call", "tool_use":
		return llm.FinishToolCalls
	case "content_filter", "safety", "prohibited_content", "blocklist", "recitation", "sensitive":
		return llm.FinishContentFilter
	case "refusal":
		return llm.FinishRefusal
	}
	return llm.FinishReason(s)
}
