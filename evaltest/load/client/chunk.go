package client

import (
	"bytes"

	"github.com/goevals/evals/evaltest/load/record"
)

// A chunk is what one event, or a whole answer, says as far as a measurement
// needs it. The slices lie in what was scanned.
type chunk struct {
	// Lengths of the generated text by channel, in bytes of UTF-8.
	text, reasoning, tool int
	finish                []byte // a JSON string with its quotes; nil for none
	model                 []byte // the same
	usage                 []byte // an object; nil for none
	choices               int    // how many choices or candidates there are
	failed                bool   // it carries an error
	odd                   string // a field that has another type than the API gives it

	// The last visible text that was read in one string: where it stands, with
	// its quotes, and its length; to is 0 if something came that may have taken
	// its place. For a mould.
	from, to, single int
	name             string // of the field
}

// fragment is what a chunk is as a fragment; ok is false if it holds nothing
// that was generated.
func (c *chunk) fragment() (kind record.Kind, n int, ok bool) {
	n = c.text + c.reasoning + c.tool
	switch {
	case c.text > 0:
		return record.Text, n, true
	case c.tool > 0:
		return record.ToolCall, n, true
	}
	return record.Reasoning, n, n > 0
}

// scan reads one event's data or a whole answer. It is false if b is no JSON
// object.
func (c *chunk) scan(api API, b []byte) bool {
	*c = chunk{}
	cur := cursor{b: b}
	if !cur.open('{') {
		return false
	}
	for first := true; ; first = false {
		key, ok := cur.key(first)
		if !ok {
			break
		}
		if api == Gemini {
			c.geminiField(&cur, key)
		} else {
			c.field(&cur, key)
		}
	}
	cur.end()
	return !cur.bad
}

func (c *chunk) field(cur *cursor, key []byte) {
	switch string(key) {
	case "choices":
		c.text, c.reasoning, c.tool, c.choices, c.finish, c.to = 0, 0, 0, 0, nil, 0
		c.list(cur, "choices", false)
	case "usage":
		c.usage = object(cur)
	case "model":
		c.model = stringOrNil(cur)
	case "error":
		c.failed = isError(cur.skip()) || c.failed
	case "object":
		if bytes.Equal(cur.skip(), []byte(`"error"`)) { // vLLM's older form
			c.failed = true
		}
	default:
		cur.skip()
	}
}

// list reads the first element of a list, and counts all. What is no list is
// null or odd. It takes no function to read with: the cursor would escape, and
// each event cost an allocation.
func (c *chunk) list(cur *cursor, name string, gemini bool) {
	if !cur.open('[') {
		c.noteOdd(name, cur.skip())
		return
	}
	for first := true; cur.more(']', first); first = false {
		c.choices++
		switch {
		case !first:
			cur.skip()
		case gemini:
			c.candidate(cur)
		default:
			c.choice(cur)
		}
	}
}

// noteOdd notes a field of another type than the API gives it. Null is as good
// as absent everywhere.
func (c *chunk) noteOdd(name string, raw []byte) {
	if len(raw) > 0 && string(raw) != "null" {
		c.odd = name
	}
}

func (c *chunk) choice(cur *cursor) {
	if !cur.open('{') {
		c.noteOdd("choices[0]", cur.skip())
		return
	}
	var delta, message channels
	text := 0
	for first := true; ; first = false {
		key, ok := cur.key(first)
		if !ok {
			break
		}
		switch string(key) {
		case "delta":
			delta.read(c, cur)
		case "message": // of a whole answer; some servers stream it too
			message.read(c, cur)
		case "text": // of a completion
			text = c.visibleText(cur, "text")
		case "finish_reason":
			c.finish = stringOrNil(cur)
		case "error": // OpenRouter's place for an upstream's failure
			c.failed = isError(cur.skip()) || c.failed
		default:
			cur.skip()
		}
	}
	c.text = text + delta.visible() + message.visible()
	c.reasoning = delta.hidden() + message.hidden()
	c.tool = delta.calls + delta.function + message.calls + message.function
}

// channels are the lengths of what a delta or message holds, field by field, so
// that a field which stands there twice counts as its last value.
type channels struct {
	content, refusal, reasoning, reasoningContent, details, calls, function int
	thinking                                                                int // content parts that are thoughts
}

func (p *channels) visible() int { return p.content + p.refusal }

// hidden is the length of the reasoning. Servers that send it under two names
// send the same text twice, and its details beside it.
func (p *channels) hidden() int {
	return max(p.reasoning, p.reasoningContent, p.details) + p.thinking
}

func (p *channels) read(c *chunk, cur *cursor) {
	*p = channels{}
	c.to = 0
	if !cur.open('{') {
		c.noteOdd("delta", cur.skip())
		return
	}
	for first := true; ; first = false {
		key, ok := cur.key(first)
		if !ok {
			return
		}
		switch string(key) {
		case "content":
			p.content, p.thinking = 0, 0
			if cur.peek() == '[' {
				p.content, p.thinking = parts(cur)
				c.to = 0
			} else {
				p.content = c.visibleText(cur, "content")
			}
		case "refusal":
			p.refusal = c.visibleText(cur, "refusal")
		case "reasoning":
			p.reasoning = c.reasoningValue(cur)
		case "reasoning_content":
			p.reasoningContent = c.reasoningValue(cur)
		case "reasoning_details":
			p.details = deep(cur, false)
		case "tool_calls":
			p.calls = deep(cur, true)
		case "function_call":
			p.function = deep(cur, true)
		default:
			cur.skip()
		}
	}
}

// textValue is the length of a text; null is none.
func (c *chunk) textValue(cur *cursor, name string) int {
	if cur.peek() != '"' {
		c.noteOdd(name, cur.skip())
		return 0
	}
	raw, plain := cur.str()
	if cur.bad {
		return 0
	}
	return textLen(raw, plain)
}

// visibleText is textValue of a visible text, and notes where it stands.
func (c *chunk) visibleText(cur *cursor, name string) int {
	isText := cur.peek() == '"'
	from := cur.i
	n := c.textValue(cur, name)
	switch {
	case isText:
		c.from, c.to, c.single, c.name = from, cur.i, n, name
	case c.name == name: // it takes the place of the one before
		c.to = 0
	}
	return n
}

// reasoningValue is textValue of a reasoning, which some servers send as an
// object of its parts.
func (c *chunk) reasoningValue(cur *cursor) int {
	if ch := cur.peek(); ch == '{' || ch == '[' {
		return deep(cur, false)
	}
	return c.textValue(cur, "reasoning")
}

// parts are the lengths of content that comes as a list: visible texts, and
// those of parts of the type thinking.
func parts(cur *cursor) (text, thinking int) {
	cur.open('[')
	for first := true; cur.more(']', first); first = false {
		from := *cur
		hidden := false
		if cur.open('{') {
			for first := true; ; first = false {
				key, ok := cur.key(first)
				if !ok {
					break
				}
				v := cur.skip()
				if string(key) == "type" {
					hidden = string(v) == `"thinking"`
				}
			}
		} else {
			cur.skip()
		}
		if n := deep(&from, false); hidden {
			thinking += n
		} else {
			text += n
		}
	}
	return text, thinking
}

// deep is the length of the texts inside of a value, at any depth: the fields
// that hold what was generated, by their names. A tool call's are its name and
// arguments; its id, type and index the server made up.
func deep(cur *cursor, call bool) int {
	n := 0
	switch cur.peek() {
	case '{':
		cur.open('{')
		for first := true; ; first = false {
			key, ok := cur.key(first)
			if !ok {
				return n
			}
			generated := false
			switch string(key) {
			case "text", "thinking", "summary":
				generated = !call
			case "name", "arguments", "input":
				generated = call
			}
			ch := cur.peek()
			switch {
			case generated && ch == '"':
				if raw, plain := cur.str(); !cur.bad {
					n += textLen(raw, plain)
				}
			case generated && call && (ch == '{' || ch == '['): // arguments that are no text
				n += len(cur.skip())
			default:
				n += deep(cur, call)
			}
		}
	case '[':
		cur.open('[')
		for first := true; cur.more(']', first); first = false {
			n += deep(cur, call)
		}
	default:
		cur.skip()
	}
	return n
}

// object is an object as it stands, nil for anything else.
func object(cur *cursor) []byte {
	if raw := cur.skip(); len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	return nil
}

// stringOrNil is a string that is not empty, with its quotes, nil for anything
// else.
func stringOrNil(cur *cursor) []byte {
	if raw := cur.skip(); len(raw) > 2 && raw[0] == '"' {
		return raw
	}
	return nil
}

// isError tells an error from the fields that say that there was none.
func isError(raw []byte) bool {
	switch string(raw) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}
