package evaltest

import (
	"context"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
)

// A Strategy answers one item; see [run.Strategy].
type Strategy = run.Strategy

// StrategyFunc makes a function a [Strategy]; see [run.StrategyFunc].
type StrategyFunc = run.StrategyFunc

// An Attempt says which logical try at the item this is; see [run.Attempt].
type Attempt = run.Attempt

// A State is what a strategy keeps of one item between attempts; see
// [run.State].
type State = run.State

// A Preparer is a [Strategy] with something to do before the first item; see
// [run.Preparer].
type Preparer = run.Preparer

// A Closer is a [Strategy] with something to give back; see [run.Closer].
type Closer = run.Closer

// Ask answers an item with one call of m; see [run.Ask].
func Ask(m llm.Model, prompt func(dataset.Item) llm.Request) Strategy { return run.Ask(m, prompt) }

// Escalate answers with fast, and with thinking from attempt from on; see
// [run.Escalate].
func Escalate(fast, thinking Strategy, from int) Strategy { return run.Escalate(fast, thinking, from) }

// App answers with a whole application: the row is decoded into In, and Out is
// graded, as it is if it is text, else as JSON; see [run.App].
func App[In, Out any](f func(context.Context, In) (Out, error)) Strategy { return run.App(f) }
