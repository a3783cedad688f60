package run

import (
	"context"
	"fmt"
	"slices"
	"unicode"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// Ask answers an item with one call of m; prompt makes the request and must be
// safe for concurrent use. nil arguments panic. A model that is a [Preparer] or
// a [Closer] is prepared and closed with the run.
//
// An answer that ended naturally gets a warning where a stop text of its request
// is words alone ("Question"): such a text also stands in ordinary sentences,
// and ends an answer in the middle of one, which no finish reason tells.
func Ask(m llm.Model, prompt func(dataset.Item) llm.Request) Strategy {
	if m == nil {
		panic("evaltest/run.Ask: the model is nil")
	}
	if prompt == nil {
		panic("evaltest/run.Ask: prompt is nil; for an item's input alone: func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }")
	}
	return ask{m, prompt}
}

type ask struct {
	model  llm.Model
	prompt func(dataset.Item) llm.Request
}

var _ Strategy = ask{}

func (s ask) Execute(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
	req := s.prompt(it)
	if err := call.Announce(ctx, req); err != nil {
		return llm.Response{}, err
	}
	resp, err := s.model.Generate(ctx, req)
	if err != nil || resp.Finish != llm.FinishStop {
		return resp, err
	}
	for _, stop := range req.Stop {
		if inProse(stop) {
			resp.Warnings = append(slices.Clip(resp.Warnings),
				fmt.Sprintf("the stop text %q may stand in any sentence, and ends the answer there: begin it with a line break, as in %q", stop, "\n"+stop))
		}
	}
	return resp, nil
}

// inProse reports a stop text of letters and blanks: it begins ordinary words,
// or is one.
func inProse(stop string) bool {
	words := false
	for _, r := range stop {
		if r != ' ' && !unicode.IsLetter(r) {
			return false
		}
		words = words || r != ' '
	}
	return words
}

func (s ask) Name() string { return "ask " + NameOf(s.model) }
