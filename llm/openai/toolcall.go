package openai

import (
	"encoding/json"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/internal/jsonraw"
)

// toolCall is a call or a piece of one, as it came. Name and arguments stand in
// it itself where a server takes the Responses API's form for this one's.
type toolCall struct {
	Index, ID, Function json.RawMessage

	Custom json.RawMessage // OpenAI's tools that take a free text
	function
}

var toolCallNames = jsonraw.Names{"index", "id", "function", "custom", "name", "arguments", "input"}

func (c *toolCall) read(raw json.RawMessage) error {
	return client.Object("", raw, toolCallNames, &c.Index, &c.ID, &c.Function, &c.Custom, &c.Name, &c.Arguments, &c.Input)
}

type function struct {
	Name      json.RawMessage
	Arguments json.RawMessage // a text; an object from some servers
	Input     json.RawMessage // of a custom tool
}

var functionNames = jsonraw.Names{"name", "arguments", "input"}

func (f *function) read(path string, raw json.RawMessage) error {
	return client.Object(path, raw, functionNames, &f.Name, &f.Arguments, &f.Input)
}

// piece is a toolCall whose shape was looked at.
type piece struct {
	index *int
	id    string
	function
}

// call is a tool call whose arguments come piece by piece.
type call struct {
	id, name string
	args     strings.Builder
}

// perCall is what keeping a call takes beside its texts, in bytes.
const perCall = 128

// toolCall adds a call or a piece of one. The error is a *client.Odd.
func (a *answer) toolCall(raw json.RawMessage) error {
	var tc toolCall
	if err := tc.read(raw); err != nil || client.Nothing(raw) {
		return err
	}
	p := piece{function: tc.function}
	if len(tc.Index) > 0 && string(tc.Index) != "null" {
		n, err := client.Index("index", tc.Index, 0)
		if err != nil {
			return err
		}
		p.index = &n
	}
	p.id = plainText(tc.ID)
	if p.id == "" && !client.Nothing(tc.ID) && tc.ID[0] != '"' {
		p.id = string(tc.ID) // it is sent back as it came
	}
	path := ""
	for _, in := range []struct {
		path string
		raw  json.RawMessage
	}{{"function", tc.Function}, {"custom", tc.Custom}} {
		if client.Nothing(in.raw) {
			continue
		}
		path, p.function = in.path, function{}
		if err := p.function.read(path, in.raw); err != nil {
			return err
		}
		break
	}
	if err := a.call(p); err != nil {
		if path == "" {
			return err
		}
		return under(err, path)
	}
	return nil
}

// call adds a piece to the call that it belongs to.
func (a *answer) call(p piece) error {
	name, err := client.Text("name", p.Name)
	if err != nil {
		return err
	}
	slot := a.slot(p, name)
	if slot < 0 {
		slot = len(a.calls)
		a.calls = append(a.calls, &call{})
		a.callBytes += perCall
	}
	if p.index != nil {
		if a.slots == nil {
			a.slots = map[int]int{}
		}
		a.slots[*p.index] = slot
	}
	c, before := a.calls[slot], a.calls[slot].args.Len()
	if p.id != "" {
		c.id = p.id
	}
	if c.name == "" {
		c.name = name
		a.callBytes += len(c.name)
	}
	args := p.Arguments
	if len(args) == 0 {
		args = p.Input
	}
	if len(args) > 0 && args[0] == '"' {
		c.args.WriteString(plainText(args))
	} else if len(args) > 0 && string(args) != "null" {
		c.args.Write(args)
	}
	a.callBytes += c.args.Len() - before
	return nil
}

// slot is which of the calls so far a piece belongs to, -1 for a new one. In a
// whole answer each is one. In a stream their index tells, where a server sends
// it, or the id. Some send one index for all; a call then begins with another id
// and a name, while others send another id with each piece, but no name. Where
// there is neither, a name begins a call.
func (a *answer) slot(p piece, name string) int {
	if a.chunks == 0 || len(a.calls) == 0 {
		return -1
	}
	slot, known := len(a.calls)-1, true
	if p.index != nil {
		slot, known = a.slots[*p.index]
	}
	last := a.calls[slot]
	switch {
	case !known:
		return -1
	case p.id != "" && p.id != last.id && (p.index == nil || last.id != "" && name != ""):
		return -1
	case p.id == "" && p.index == nil && name != "" && last.name != "":
		return -1
	}
	return slot
}

func (a *answer) toolCalls() []llm.ToolCall {
	var out []llm.ToolCall
	for _, c := range a.calls {
		if c.name == "" {
			a.warn("a tool call has no name: the server sent it in a form that is not known, or not to its end")
		}
		out = append(out, llm.ToolCall{ID: c.id, Name: c.name, Arguments: c.args.String()})
	}
	return out
}
