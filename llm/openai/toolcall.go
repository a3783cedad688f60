package openai

import (
	"strings"

	"github.com/goevals/evals/llm"
)

// call is a tool call whose arguments come piece by piece.
type call struct {
	id, name string
	args     strings.Builder
}

// perCall is what keeping a call takes beside its texts, in bytes.
const perCall = 128

// toolCall adds a call or a piece of one.
func (a *answer) toolCall(tc toolCall) {
	slot := a.slot(tc)
	if slot < 0 {
		slot = len(a.calls)
		a.calls = append(a.calls, &call{})
		a.callBytes += perCall
	}
	if tc.Index != nil {
		if a.slots == nil {
			a.slots = map[int]int{}
		}
		a.slots[*tc.Index] = slot
	}
	c, before := a.calls[slot], a.calls[slot].args.Len()
	if tc.ID != "" {
		c.id = tc.ID
	}
	if c.name == "" {
		c.name = tc.Function.Name
		a.callBytes += len(c.name)
	}
	if raw := tc.Function.Arguments; len(raw) > 0 && raw[0] == '"' {
		c.args.WriteString(plainText(raw))
	} else if len(raw) > 0 && string(raw) != "null" {
		c.args.Write(raw)
	}
	a.callBytes += c.args.Len() - before
}

// slot is which of the calls so far a piece belongs to, -1 for a new one. In a
// whole answer each is one. In a stream their index tells, where a server sends
// it, or the id. Some send one index for all; a call then begins with another id
// and a name, while others send another id with each piece, but no name. Where
// there is neither, a name begins a call.
func (a *answer) slot(tc toolCall) int {
	if a.chunks == 0 || len(a.calls) == 0 {
		return -1
	}
	slot, known := len(a.calls)-1, true
	if tc.Index != nil {
		slot, known = a.slots[*tc.Index]
	}
	last := a.calls[slot]
	switch {
	case !known:
		return -1
	case tc.ID != "" && tc.ID != last.id && (tc.Index == nil || last.id != "" && tc.Function.Name != ""):
		return -1
	case tc.ID == "" && tc.Index == nil && tc.Function.Name != "" && last.name != "":
		return -1
	}
	return slot
}

func (a *answer) toolCalls() []llm.ToolCall {
	var out []llm.ToolCall
	for _, c := range a.calls {
		out = append(out, llm.ToolCall{ID: c.id, Name: c.name, Arguments: c.args.String()})
	}
	return out
}
