package grade

import (
	"context"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A JSONOption changes how [JSON] compares.
type JSONOption func(*jsonGrader)

// JSONSubset lets the response's objects have keys that the target's have
// not, at any depth. The target's keys must all be there and match. Arrays
// must still have the target's length and match element by element.
func JSONSubset() JSONOption { return func(g *jsonGrader) { g.subset = true } }

// JSON compares the JSON value in a response with the item's target, which is
// JSON text itself; [dataset.Item.Targets] are further accepted values.
//
// The order of keys never counts, the order of elements does. Numbers are
// compared by value and exactly, whatever their size: 42, 42.0 and 4.2e1 are
// one number, and "42" is none. Strings are compared rune by rune, keys
// exactly. An object with the same key twice is not graded
// ([ReasonDuplicateKey]): which of the two counts depends on the reader. Keys
// that differ in case only count as the same key, unless the target itself
// has such keys.
//
// The value is found so: the whole reply, if it is JSON; else the last code
// fence that holds JSON; else the one object or array in the text, citations
// such as [1] aside. Different values outside a fence are [ReasonAmbiguous];
// JSON that is cut or malformed is [ReasonInvalid].
//
// Why lists the differences, one a line, as JSON pointer, want and got; the
// same difference always reads the same.
func JSON(opts ...JSONOption) Grader {
	g := jsonGrader{}
	for _, o := range opts {
		o(&g)
	}
	return g
}

type jsonGrader struct{ subset bool }

var (
	_ Grader = jsonGrader{}
	_ Named  = jsonGrader{}
)

// Name returns "json" or "json-subset".
func (g jsonGrader) Name() string {
	if g.subset {
		return "json-subset"
	}
	return "json"
}

func (g jsonGrader) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	if v, ok := unanswered(g.Name(), resp); ok {
		return v, nil
	}
	targets := accepted(item)
	wants, keys, err := g.targets(item, targets)
	if err != nil {
		return Verdict{}, err
	}
	found, no := replyJSON(item, resp, kindOf(targets[0]), keys)
	if no != nil {
		return unparsed(g.Name(), no.reason, no.why), nil
	}
	how := g.Name() + ": " + found.how
	var why string
	for i, want := range wants {
		equal, diff := sameJSON(want, found.value, g.subset)
		if equal {
			return graded(true, found.text, how, ""), nil
		}
		if i == 0 {
			why = diff
		}
	}
	if len(wants) > 1 {
		why += "\nnor is it one of the further accepted values"
	}
	return graded(false, found.text, how, why), nil
}

// targets parses the accepted values, and says how strict to be on the case
// of the response's keys.
func (g jsonGrader) targets(item dataset.Item, targets []string) ([]any, keyCase, error) {
	wants, keys := make([]any, len(targets)), foldKeys
	for i, t := range targets {
		if _, err := parseJSON(t, foldKeys); err != nil {
			keys = exactKeys
		}
		v, err := parseJSON(t, exactKeys)
		if err != nil {
			return nil, keys, &TargetError{g.Name(), item.ID, t,
				"it is not one JSON value (" + err.Error() + "): write the target as JSON text, a string in quotation marks"}
		}
		wants[i] = v
	}
	return wants, keys, nil
}

// replyJSON finds the JSON value of a response. A response that is JSON as it
// stands is read before reasoning is stripped: what looks like a reasoning tag
// in one of its strings is text.
func replyJSON(item dataset.Item, resp llm.Response, kind byte, keys keyCase) (foundJSON, *noJSON) {
	raw := strings.TrimSpace(resp.Text)
	if v, err := parseJSON(raw, keys); err == nil {
		return foundJSON{v, raw, "the whole reply"}, nil
	}
	text, incomplete := answerText(resp.Text, item.Input)
	switch {
	case incomplete:
		return foundJSON{}, &noJSON{ReasonIncomplete, "the text ends inside its reasoning block"}
	case isBlank(text):
		return foundJSON{}, &noJSON{ReasonNoAnswer, "nothing is left outside of reasoning"}
	}
	return findJSON(text, kind, keys)
}

// kindOf returns '{' or '[' if text is an object or array, else 0.
func kindOf(text string) byte {
	text = strings.TrimSpace(text)
	if text != "" && (text[0] == '{' || text[0] == '[') {
		return text[0]
	}
	return 0
}
