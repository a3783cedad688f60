package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/goevals/evals/llm/internal/jsonlist"
	"github.com/goevals/evals/llm/internal/jsonraw"
)

// chunk is the union of what the APIs put into one event or body, as far as
// the transport needs it. Fields that differ in type between providers stay
// raw, and are parts of what was read.
type chunk struct {
	ID, ResponseID       string
	Model, ModelVersion  string
	Type, Object         string
	Choices              []chunkChoice
	Candidates           []geminiCandidate
	BlockReason          string // of promptFeedback
	Usage, UsageMetadata json.RawMessage
	GroqUsage, GroqError json.RawMessage
	Response             json.RawMessage // of OpenAI's responses API
	Message              json.RawMessage // of Anthropic's message_start
	Delta                json.RawMessage // of both
	StopReason           json.RawMessage // of Anthropic's whole answer
	Status               json.RawMessage // of a whole response of OpenAI's
	IncompleteReason     string          // of its incomplete_details
	Error                json.RawMessage
}

type chunkChoice struct {
	Index        int
	FinishReason json.RawMessage
	Delta        json.RawMessage
	Message      json.RawMessage // whole, as some servers stream it
	Text         string
	Error        json.RawMessage
}

type geminiCandidate struct {
	Index        int
	FinishReason string
	Parts        []json.RawMessage
}

// textFields are where a choice's delta has what the model wrote, partFields
// where Gemini's parts have it, and deltaFields where Anthropic's deltas do: a
// signature_delta proves where thoughts came from; nobody generated it.
var (
	textFields  = jsonraw.Names(textList[:])
	partFields  = jsonraw.Names(partList[:])
	deltaFields = jsonraw.Names(deltaList[:])

	// Arrays, whose length is known when anyFull is compiled.
	textList  = [...]string{"content", "reasoning_content", "reasoning", "reasoning_details", "refusal", "tool_calls", "function_call", "audio"}
	partList  = [...]string{"text", "functionCall", "inlineData", "executableCode", "codeExecutionResult"}
	deltaList = [...]string{"text", "thinking", "partial_json"}
)

// The names of each object stand before the function that reads it, in the
// order and the lines of the places where the values go.
var (
	chunkNames = jsonraw.Names{
		"id", "responseId", "model", "modelVersion", "type", "object",
		"choices", "candidates", "promptFeedback", "usage", "usageMetadata",
		"x_groq", "response", "message", "delta",
		"stop_reason", "status", "incomplete_details", "error",
	}
	feedbackNames   = jsonraw.Names{"blockReason"}
	incompleteNames = jsonraw.Names{"reason"}
	groqNames       = jsonraw.Names{"usage", "error"}
)

// read reads valid JSON; of what is no object nothing. odd says that a text or
// an object is of another type; it is then left out. The error is
// [jsonlist.ErrTooLong].
func (c *chunk) read(data []byte) (odd bool, err error) {
	var id, responseID, model, version, typ, object, choices, candidates, feedback, groq, incomplete json.RawMessage
	chunkNames.Read(data,
		&id, &responseID, &model, &version, &typ, &object,
		&choices, &candidates, &feedback, &c.Usage, &c.UsageMetadata,
		&groq, &c.Response, &c.Message, &c.Delta,
		&c.StopReason, &c.Status, &incomplete, &c.Error,
	)
	var reason, blocked json.RawMessage
	feedbackNames.Read(feedback, &blocked)
	incompleteNames.Read(incomplete, &reason)
	groqNames.Read(groq, &c.GroqUsage, &c.GroqError)
	text := func(raw json.RawMessage) (s string) {
		if isSet(raw) {
			var ok bool
			s, ok = jsonraw.Text(raw)
			odd = odd || !ok
		}
		return s
	}
	c.ID, c.ResponseID, c.Model, c.ModelVersion = text(id), text(responseID), text(model), text(version)
	c.Type, c.Object, c.BlockReason, c.IncompleteReason = text(typ), text(object), text(blocked), text(reason)
	for _, raw := range [...]json.RawMessage{feedback, incomplete, groq} {
		odd = odd || isSet(raw) && raw[0] != '{'
	}
	if c.Choices, err = readList(choices, readChoice); err != nil {
		return odd, err
	}
	c.Candidates, err = readList(candidates, readCandidate)
	return odd, err
}

// readList is the list raw, nil if it is none.
func readList[T any](raw json.RawMessage, read func(json.RawMessage) (T, error)) ([]T, error) {
	list, err := jsonlist.Elements(raw)
	if list == nil || err != nil {
		return nil, err
	}
	out := make([]T, len(list))
	for i, raw := range list {
		if out[i], err = read(raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var choiceNames = jsonraw.Names{"index", "finish_reason", "delta", "message", "text", "error"}

func readChoice(raw json.RawMessage) (c chunkChoice, err error) {
	var index, text json.RawMessage
	choiceNames.Read(raw, &index, &c.FinishReason, &c.Delta, &c.Message, &text, &c.Error)
	c.Index, c.Text = choiceIndex(index), reasonText(text)
	return c, nil
}

var (
	candidateNames = jsonraw.Names{"index", "finishReason", "content"}
	contentNames   = jsonraw.Names{"parts"}
)

func readCandidate(raw json.RawMessage) (c geminiCandidate, err error) {
	var index, finish, content, parts json.RawMessage
	candidateNames.Read(raw, &index, &finish, &content)
	contentNames.Read(content, &parts)
	c.Index, c.FinishReason = choiceIndex(index), reasonText(finish)
	c.Parts, err = jsonlist.Elements(parts)
	return c, err
}

// choiceIndex is a choice's place; 0 if it is not told, or no whole number.
func choiceIndex(raw json.RawMessage) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		return 0
	}
	return n
}

// generated reports whether a chunk holds something that the model wrote. A
// role alone, an empty text and a keep-alive do not.
func (c *chunk) generated() bool {
	for _, ch := range c.Choices {
		if ch.Text != "" || anyFull(textFields, ch.Delta) || anyFull(textFields, ch.Message) {
			return true
		}
	}
	for _, ca := range c.Candidates {
		for _, p := range ca.Parts {
			if anyFull(partFields, p) {
				return true
			}
		}
	}
	switch {
	case c.Type == "content_block_delta":
		return anyFull(deltaFields, c.Delta)
	case strings.HasPrefix(c.Type, "response.") && strings.HasSuffix(c.Type, ".delta"):
		return isFull(c.Delta)
	}
	return false
}

// anyFull reports whether one of these fields of the object raw is not empty.
func anyFull(names jsonraw.Names, raw json.RawMessage) bool {
	var places [max(len(textList), len(partList), len(deltaList))]json.RawMessage // none is allocated
	fields := places[:len(names)]
	names.ReadExact(raw, fields)
	return slices.ContainsFunc(fields, isFull)
}
