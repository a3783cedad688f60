package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// App answers with a whole application. In is what it wants of an item: string
// gets the item's Input, dataset.Item the item, any other type is decoded from
// the row (see dataset.Item.Decode). Out is what is graded: a string type as
// it is, an [llm.Response] as it is (for usage, finish reason or tool calls
// that only the application knows), anything else as its JSON text. f must be
// safe for concurrent use; nil panics.
//
// A row that does not fit In, or an Out that is no JSON, is that item's error
// and names the item and the field. Calls that f makes under its context
// through llm/wire are counted; of others only an llm.Response's Usage is
// known.
//
// What an error of f means is said by an [llm.Error] in it, else by the HTTP
// status that it carries, as SDKs' errors do (see call.Classify of package llm/call), else by how
// the last call that f made through llm/wire failed. Of an application whose
// calls are not seen and whose errors are text alone nothing is known: a
// server's failure gets no other attempt, and a wrong key does not end the run.
func App[In, Out any](f func(context.Context, In) (Out, error)) Strategy {
	if f == nil {
		panic("evaltest/run.App: the function is nil")
	}
	return app[In, Out]{f}
}

type app[In, Out any] struct {
	f func(context.Context, In) (Out, error)
}

func (s app[In, Out]) Execute(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
	var in In
	switch p := any(&in).(type) {
	case *string:
		*p = it.Input
	case *dataset.Item:
		*p = it
	default:
		if err := it.Decode(&in); err != nil {
			return llm.Response{}, fmt.Errorf("the application wants a %T: %w", in, err)
		}
	}
	out, err := s.f(ctx, in)
	resp, bad := response(out)
	if err != nil {
		if bad != nil {
			resp = llm.Response{}
		}
		return resp, err
	}
	if bad != nil {
		return llm.Response{}, fmt.Errorf("item %.100q: the application's answer is graded as JSON: %w", it.ID, bad)
	}
	return resp, nil
}

func (s app[In, Out]) Name() string { return "app " + NameOf(s.f) }

// response makes what an application returned something to grade.
func response(out any) (llm.Response, error) {
	switch v := out.(type) {
	case llm.Response:
		return v, nil
	case *llm.Response:
		if v == nil {
			return llm.Response{}, nil
		}
		return *v, nil
	case string:
		return llm.Response{Text: v}, nil
	case json.Marshaler: // decides for itself, also if it is a string
	default:
		if r := reflect.ValueOf(out); r.Kind() == reflect.String {
			return llm.Response{Text: r.String()}, nil
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // "a < b" is to be found by a grader of text
	if err := enc.Encode(out); err != nil {
		return llm.Response{}, err
	}
	return llm.Response{Text: string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))}, nil
}
