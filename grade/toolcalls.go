package grade

import (
	"context"
	"fmt"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A ToolCallOption changes how [ToolCalls] compares.
type ToolCallOption func(*toolCallGrader)

// AnyOrder accepts the wanted calls in any order.
func AnyOrder() ToolCallOption { return func(g *toolCallGrader) { g.anyOrder = true } }

// FurtherCalls accepts calls beside the wanted ones.
func FurtherCalls() ToolCallOption { return func(g *toolCallGrader) { g.further = true } }

// FurtherArguments accepts arguments that the target does not name, at any
// depth, as [JSONSubset] does.
func FurtherArguments() ToolCallOption { return func(g *toolCallGrader) { g.subset = true } }

// CallsInText reads the calls from the response's text if the response has
// none of its own, for models that write their calls as JSON. The text holds
// a call or an array of calls, in a shape that a target may have.
func CallsInText() ToolCallOption { return func(g *toolCallGrader) { g.inText = true } }

// ToolCalls compares the calls that a response asks for with the item's
// target: a JSON array of calls, or one call. A call is
//
//	{"name": "weather", "arguments": {"city": "Paris"}}
//
// or OpenAI's {"type": "function", "function": {"name": …, "arguments": …}}.
// The arguments are an object, or a string that holds one; none are {}. An
// empty array wants an answer without calls. [dataset.Item.Targets] are
// further accepted lists of calls.
//
// Names and the order of the calls must be the same, further calls are wrong,
// and arguments are compared as [JSON] compares. Arguments that are not a JSON
// object make the response Unparsed with [ReasonInvalid], a key that is there
// twice with [ReasonDuplicateKey].
func ToolCalls(opts ...ToolCallOption) Grader {
	g := toolCallGrader{}
	for _, o := range opts {
		o(&g)
	}
	return g
}

type toolCallGrader struct{ anyOrder, further, subset, inText bool }

var (
	_ Grader = toolCallGrader{}
	_ Named  = toolCallGrader{}
)

// Name returns "tool-calls".
func (toolCallGrader) Name() string { return "tool-calls" }

// A toolCall is a call whose arguments are read.
type toolCall struct {
	name string
	args any
	text string // as it stood
}

func (g toolCallGrader) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	if resp.Refusal != "" || len(resp.ToolCalls) == 0 {
		if v, ok := unanswered(g.Name(), resp); ok {
			return v, nil
		}
	}
	targets := accepted(item)
	wants, keys, err := g.targets(item, targets)
	if err != nil {
		return Verdict{}, err
	}
	got, no := g.calls(item, resp, keys)
	if no != nil {
		return unparsed(g.Name(), no.reason, no.why), nil
	}
	why := ""
	for i, want := range wants {
		miss := g.compare(want, got)
		if miss == "" {
			return graded(true, showCalls(got), g.how(), ""), nil
		}
		if i == 0 {
			why = miss
		}
	}
	if len(wants) > 1 {
		why += "\nnor is it one of the further accepted lists"
	}
	return graded(false, showCalls(got), g.how(), why), nil
}

func (g toolCallGrader) how() string {
	how := g.Name() + ": in order"
	if g.anyOrder {
		how = g.Name() + ": in any order"
	}
	if g.further {
		how += ", further calls allowed"
	}
	if g.subset {
		how += ", further arguments allowed"
	}
	return how
}

// targets reads the accepted lists of calls.
func (g toolCallGrader) targets(item dataset.Item, targets []string) ([][]toolCall, keyCase, error) {
	wants, keys := make([][]toolCall, len(targets)), foldKeys
	for i, t := range targets {
		v, err := parseJSON(t, exactKeys)
		if err != nil {
			return nil, keys, &TargetError{g.Name(), item.ID, t,
				"it is not JSON (" + err.Error() + "): write an array of {name, arguments}, [] for no call"}
		}
		calls, no := readCalls(v, exactKeys)
		if no != nil {
			return nil, keys, &TargetError{g.Name(), item.ID, t, no.why}
		}
		if _, err := parseJSON(t, foldKeys); err != nil {
			keys = exactKeys
		} else if _, no := readCalls(v, foldKeys); no != nil {
			keys = exactKeys // such keys stand in arguments written as a string
		}
		wants[i] = calls
	}
	return wants, keys, nil
}

// calls reads the response's calls.
func (g toolCallGrader) calls(item dataset.Item, resp llm.Response, keys keyCase) ([]toolCall, *noJSON) {
	if len(resp.ToolCalls) == 0 {
		if !g.inText {
			return nil, nil
		}
		found, no := replyJSON(item, resp, '[', keys)
		if no != nil {
			return nil, no
		}
		return readCalls(found.value, keys)
	}
	calls := make([]toolCall, len(resp.ToolCalls))
	for i, c := range resp.ToolCalls {
		args, no := readArguments(c.Arguments, keys)
		if no != nil {
			no.why = fmt.Sprintf("call %d (%s): %s", i+1, quote(c.Name), no.why)
			return nil, no
		}
		calls[i] = toolCall{c.Name, args, c.Arguments}
	}
	return calls, nil
}

// readArguments reads arguments as a model wrote them.
func readArguments(text string, keys keyCase) (any, *noJSON) {
	if strings.TrimSpace(text) == "" {
		return jsonObject{}, nil
	}
	v, err := parseJSON(text, keys)
	if no := duplicateOf(err); no != nil {
		return nil, no
	}
	if err != nil {
		return nil, &noJSON{ReasonInvalid, "the arguments are not JSON: " + err.Error()}
	}
	switch v.(type) {
	case jsonObject:
		return v, nil
	case nil:
		return jsonObject{}, nil
	}
	return nil, &noJSON{ReasonInvalid, "the arguments are no object: " + quote(text)}
}

// readCalls reads a call or an array of calls.
func readCalls(v any, keys keyCase) ([]toolCall, *noJSON) {
	list, ok := v.(jsonArray)
	if !ok {
		list = jsonArray{0: v}
	}
	calls := make([]toolCall, 0, len(list))
	for i := range len(list) {
		c, no := readCall(list[i], keys)
		if no != nil {
			no.why = fmt.Sprintf("call %d: %s", i+1, no.why)
			return nil, no
		}
		calls = append(calls, c)
	}
	return calls, nil
}

func readCall(v any, keys keyCase) (toolCall, *noJSON) {
	const shape = "want an object with a name and arguments, or with a function that has them"
	obj, ok := v.(jsonObject)
	if !ok {
		return toolCall{}, &noJSON{ReasonInvalid, shape}
	}
	if inner, ok := obj["function"].(jsonObject); ok {
		obj = inner
	}
	name, ok := obj["name"].(string)
	if !ok || name == "" {
		return toolCall{}, &noJSON{ReasonInvalid, shape}
	}
	if k := unknownKey(obj); k != "" {
		return toolCall{}, &noJSON{ReasonInvalid, "unknown key " + quote(k) + ": " + shape}
	}
	switch args := obj["arguments"].(type) {
	case nil:
		return toolCall{name, jsonObject{}, "{}"}, nil
	case jsonObject:
		return toolCall{name, args, showJSON(args)}, nil
	case string:
		read, no := readArguments(args, keys)
		return toolCall{name, read, args}, no
	}
	return toolCall{}, &noJSON{ReasonInvalid, "the arguments are neither an object nor a string that holds one"}
}

// unknownKey returns the first key, in order, that a call does not have, such
// as a misspelt "arguments": without it the call would seem to have none.
func unknownKey(obj jsonObject) string {
	first := ""
	for k := range obj {
		switch k {
		case "name", "arguments", "id", "type", "call_id", "index", "status":
			continue
		}
		if first == "" || k < first {
			first = k
		}
	}
	return first
}

// showCalls writes calls in short: name(arguments), ….
func showCalls(calls []toolCall) string {
	const limit = 2000
	if len(calls) == 0 {
		return "no call"
	}
	var b strings.Builder
	for i, c := range calls {
		if b.Len() > limit {
			fmt.Fprintf(&b, " and %d more", len(calls)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name + "(" + c.text + ")")
	}
	return b.String()
}
