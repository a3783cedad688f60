package grade

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// maxChoices is the number of letters.
const maxChoices = 26

// A ChoiceOption changes how [Choice] reads.
type ChoiceOption func(*choiceGrader)

// ChoiceCount says how many options an item has whose [dataset.Item.Choices]
// are empty: its prompt lists them as A, B, …. It lies between 2 and 26;
// anything else panics.
func ChoiceCount(n int) ChoiceOption {
	if n < 2 || n > maxChoices {
		panic(fmt.Sprintf("grade: ChoiceCount(%d): give 2 to %d", n, maxChoices))
	}
	return func(g *choiceGrader) { g.count = n }
}

// Choice grades multiple choice. The options are the item's
// [dataset.Item.Choices], A the first, or as many letters as [ChoiceCount]
// says. The target is a letter or the text of an option, or, where several
// options together are the answer, their letters: "A,B". The
// [dataset.Item.Targets] are further accepted answers.
//
// The answer is the last one that the reply states:
//
//  1. behind a marker, in some twenty-five languages: ANSWER: B, Antwort: B,
//     the answer is B, \boxed{B}, #### B, <answer>B</answer>; or as a line of
//     its own at the reply's beginning or end;
//  2. else in a phrase that chooses: I pick B, I lean to option B, B is
//     correct, A is wrong, so B;
//  3. else in a list that goes through all the options and calls one of them
//     right: B: correct, B ✓, [x] B.
//
// It may be wrapped (**B**, $B$, \(B\), "B", \text{B}), carry its text
// (B) Paris) or be nothing but an option's text. A letter counts only as a
// word of its own. The article a and the pronoun I are no letters, and small
// letters count only where a marker, a phrase or a label (b. or b)) stands
// with them.
//
// What is not the model's own answer is none: the wrong answer is B, you might
// think that it is B, B if x is even, a further question that the model asked
// itself. An option's number (the second one, 2) is not read: 0 or 1 may be the
// first. A/B is a hedge, even where several options are wanted.
//
// A reply that names several options of which none is final (A or B), or a
// letter with another option's text, is Unparsed with [ReasonAmbiguous]; one
// that states none, or one beyond the item's options, or "none of the above"
// where no option says so, with [ReasonNoAnswer].
//
// An item with more than 26 choices, with fewer than two, or whose target is
// none of them, is an error that wraps [ErrTarget].
func Choice(opts ...ChoiceOption) Grader {
	g := choiceGrader{}
	for _, o := range opts {
		o(&g)
	}
	return g
}

type choiceGrader struct{ count int }

var (
	_ Grader = choiceGrader{}
	_ Named  = choiceGrader{}
)

// Name returns "choice".
func (choiceGrader) Name() string { return "choice" }

func (g choiceGrader) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	opts, err := g.options(item)
	if err != nil {
		return Verdict{}, err
	}
	opts.input, opts.asksWrong = item.Input, wrongAsked.MatchString(item.Input)
	targets, err := opts.targets(item)
	if err != nil {
		return Verdict{}, err
	}
	text, v, ok := finalText(g.Name(), item, resp)
	if !ok {
		return v, nil
	}
	c := findChoice(text, opts)
	switch c.kind {
	case claimAmbiguous:
		v := unparsed(g.Name(), ReasonAmbiguous, c.why)
		v.Answer = c.text
		return v, nil
	case claimChoice:
	default:
		v := unparsed(g.Name(), ReasonNoAnswer, c.why)
		v.Answer = c.text
		return v, nil
	}
	how := g.Name() + ": " + c.how
	several := false
	for _, t := range targets {
		if t == c.set {
			return graded(true, c.text, how, ""), nil
		}
		several = several || t.size() > 1
	}
	if c.set.size() > 1 && !several {
		v := unparsed(g.Name(), ReasonAmbiguous, "the reply chooses "+c.set.String()+", and the item wants one")
		v.Answer = c.text
		return v, nil
	}
	return graded(false, c.text, how, "want "+targetNames(targets)+", got "+c.set.String()), nil
}

// A choiceSet is a set of options, bit 0 for A.
type choiceSet uint32

func (s choiceSet) size() int { return bits.OnesCount32(uint32(s)) }

// first returns the place of the first option in a set that has one.
func (s choiceSet) first() int { return bits.TrailingZeros32(uint32(s)) }

// String returns the letters: "A", "A, C".
func (s choiceSet) String() string {
	out := ""
	for i := range maxChoices {
		if s&(1<<i) == 0 {
			continue
		}
		if out != "" {
			out += ", "
		}
		out += string(rune('A' + i))
	}
	return out
}

func targetNames(targets []choiceSet) string {
	out := ""
	for i, t := range targets {
		if i > 0 {
			out += " or "
		}
		out += t.String()
	}
	return out
}
