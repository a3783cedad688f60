package grade

import (
	"context"
	"fmt"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// FuncOf makes a grader of a question of yes or no. f says whether the
// response is right, and why not. It is called from many goroutines at once.
//
// Refusals, and responses with neither text nor tool calls, are Unparsed
// without asking f: a check that something is absent would pass on them. Use
// [Func] to see every response. An empty name or a nil f panics.
func FuncOf(name string, f func(dataset.Item, llm.Response) (right bool, why string)) Grader {
	if name == "" || f == nil {
		panic(fmt.Sprintf("grade: FuncOf(%q, f): give a name and a function", name))
	}
	return yesNo{name, f}
}

type yesNo struct {
	name string
	f    func(dataset.Item, llm.Response) (bool, string)
}

var (
	_ Grader = yesNo{}
	_ Named  = yesNo{}
)

// Name returns the name that FuncOf was given.
func (g yesNo) Name() string { return g.name }

func (g yesNo) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	if resp.Refusal != "" || len(resp.ToolCalls) == 0 {
		if v, ok := unanswered(g.name, resp); ok {
			return v, nil
		}
	}
	right, why := g.f(item, resp)
	return graded(right, "", g.name+": function", why), nil
}
