package run

import (
	"context"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// Ask answers an item with one call of m; prompt makes the request and must be
// safe for concurrent use. nil arguments panic.
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
	return s.model.Generate(ctx, s.prompt(it))
}

func (s ask) Name() string { return "ask " + NameOf(s.model) }
