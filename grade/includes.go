package grade

import (
	"context"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// An IncludesOption changes how [Includes] looks.
type IncludesOption interface{ includes(*includesGrader) }

// Substring finds the target inside of words too. "3" is then in 13, and "rat"
// in "strategy": expect false passes.
func Substring() IncludesOption { return substring{} }

type substring struct{}

func (substring) includes(g *includesGrader) { g.substring = true }

// Includes looks for the item's target, or one of [dataset.Item.Targets], as
// words of their own anywhere in the response. Both are normalised as
// [Exact] does in its steps 1 to 3; of the target's edges, punctuation and
// wrappers are taken off.
//
// A target is no word of its own where it is a part of a longer word or
// number: 3 is not in 13, 3.14, 3,000, 3 000, -3, 3/4 or <3; can is not in
// can't, toxic not in non-toxic, C not in C++. Units do not count: 3 is in 3%. In scripts that put no spaces
// between words every occurrence counts, unless a Chinese or Japanese word of
// negation stands directly before it.
//
// Includes does not understand the text: "not Paris" includes Paris, and a
// reply that lists all the options includes the right one. Where the answer
// can be found, compare the answer. An item without a target is an error that
// wraps [ErrTarget].
func Includes(opts ...IncludesOption) Grader {
	g := includesGrader{}
	for _, o := range opts {
		o.includes(&g)
	}
	return g
}

type includesGrader struct{ matchCase, substring bool }

var (
	_ Grader = includesGrader{}
	_ Named  = includesGrader{}
)

// Name returns "contains-word", or "includes" with [Substring].
func (g includesGrader) Name() string {
	if g.substring {
		return "includes"
	}
	return "contains-word"
}

// Grade finds the first target that is there. Answer is the target in its
// normalised form.
func (g includesGrader) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	text, v, ok := finalText(g.Name(), item, resp)
	if !ok {
		return v, nil
	}
	targets := accepted(item)
	keys := make([]string, len(targets))
	for i, t := range targets {
		keys[i] = targetKey(t, g.matchCase)
		if keys[i] == "" {
			return Verdict{}, &TargetError{g.Name(), item.ID, t, "an empty target is in every text: give a word"}
		}
	}
	text = normal(text, g.matchCase)
	for _, key := range keys {
		if holds(text, key, g.substring) {
			return graded(true, key, g.Name()+": "+quote(key), ""), nil
		}
	}
	return graded(false, "", g.Name()+": none found", "the reply does not include "+wanted(targets)), nil
}
