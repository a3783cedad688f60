package evaltest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/llm"
)

// hooked is a strategy with hooks.
type hooked struct {
	evaltest.Strategy
	prepare, close error
}

func (h hooked) Prepare(context.Context) error { return h.prepare }
func (h hooked) Close() error                  { return h.close }
func (h hooked) Name() string                  { return "hooked" }

func init() {
	scenarios["prepare fails"] = func(t *testing.T) {
		asked := evaltest.StrategyFunc(func(context.Context, dataset.Item, evaltest.Attempt) (llm.Response, error) {
			t.Error("asked")
			return llm.Response{}, nil
		})
		evaltest.Run(t, capitals(t, 3), hooked{Strategy: asked, prepare: errors.New("no index at /srv/index")}, exact)
	}
	scenarios["close fails"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 3), hooked{Strategy: answers{}, close: errors.New("the server did not stop")}, exact)
	}
}
