package grade

import (
	"context"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A TextOption changes how [Exact], [Includes] and [Regexp] compare texts.
type TextOption interface {
	ExactOption
	IncludesOption
	RegexpOption
}

// An ExactOption changes how [Exact] compares.
type ExactOption interface{ exact(*exactGrader) }

// MatchCase compares upper and lower case as different.
func MatchCase() TextOption { return matchCase{} }

type matchCase struct{}

func (matchCase) exact(g *exactGrader)       { g.matchCase = true }
func (matchCase) includes(g *includesGrader) { g.matchCase = true }
func (matchCase) regexp(g *regexpGrader)     { g.matchCase = true }

// Exact compares the whole response with the item's target, after the same
// normalisation of both; [dataset.Item.Targets] are further accepted answers.
//
//  1. Unicode NFC; full-width forms and typographic quotation marks, hyphens
//     and minus signs become the plain ones; invisible characters are dropped.
//     Not NFKC, under which x² is x2.
//  2. Full Unicode case folding (ß is ss), unless [MatchCase] is given.
//  3. White space is trimmed, and runs of it become one space.
//  4. What stands around the answer is taken off: .,;:!?… at its edges, pairs
//     of brackets, quotation marks, Markdown and LaTeX wrappers such as **B**,
//     `B`, $B$, \(B\), \boxed{B}, \text{B}, a code fence, headings,
//     list items, and the HTML tags for bold, italic and code.
//
// Inside the answer nothing is removed: (3.14) and "3.14." are 3.14 and never
// 314, don't is not dont, C++ is not C, -5 is not 5, 20% is not 20. Brackets
// around a list stay: (0, 1) is not [0, 1]. If the target itself ends in a
// factorial (5!) or is wrapped in underscores (__init__), so must the answer.
//
// Reasoning blocks are removed first. A response without text is never right,
// not even if the target is empty: it is Unparsed with [ReasonNoResponse].
func Exact(opts ...ExactOption) Grader {
	g := exactGrader{}
	for _, o := range opts {
		o.exact(&g)
	}
	return g
}

type exactGrader struct{ matchCase bool }

var (
	_ Grader = exactGrader{}
	_ Named  = exactGrader{}
)

// Name returns "exact-normalised".
func (exactGrader) Name() string { return "exact-normalised" }

func (g exactGrader) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	text, v, ok := finalText(g.Name(), item, resp)
	if !ok {
		return v, nil
	}
	answer := unfence(strings.TrimSpace(text))
	targets := accepted(item)
	for _, t := range targets {
		if equalsKey(answer, targetKey(t, g.matchCase), g.matchCase) {
			return graded(true, answer, g.how(), ""), nil
		}
	}
	return graded(false, answer, g.how(), "want "+wanted(targets)+", got "+quote(answer)), nil
}

// unfence returns the inside of a code fence that is all of s.
func unfence(s string) string {
	if !strings.HasPrefix(s, "```") && !strings.HasPrefix(s, "~~~") {
		return s
	}
	blocks := fencedBlocks(s)
	if len(blocks) != 1 || blocks[0].content == "" || blocks[0].end != len(s) {
		return s
	}
	return blocks[0].content
}

func (g exactGrader) how() string {
	if g.matchCase {
		return g.Name() + ": the whole reply, case kept"
	}
	return g.Name() + ": the whole reply"
}

// ExactStrict compares the response with the item's target byte by byte;
// [dataset.Item.Targets] are further accepted answers. Nothing is forgiven,
// not even one newline at the end: for that, use [Exact]. The one thing taken
// off is a reasoning block, with the white space around it, because that is no
// part of an answer.
func ExactStrict() Grader { return strictGrader{} }

type strictGrader struct{}

var (
	_ Grader = strictGrader{}
	_ Named  = strictGrader{}
)

// Name returns "exact-strict".
func (strictGrader) Name() string { return "exact-strict" }

func (g strictGrader) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	if v, ok := unanswered(g.Name(), resp); ok {
		return v, nil
	}
	how := g.Name() + ": the same bytes"
	targets := accepted(item)
	for _, t := range targets {
		if resp.Text == t {
			return graded(true, resp.Text, how, ""), nil
		}
	}
	text, incomplete := stripReasoning(resp.Text)
	if incomplete {
		return unparsed(g.Name(), ReasonIncomplete, "the text ends inside its reasoning block"), nil
	}
	if text != resp.Text {
		text = strings.TrimSpace(text)
	}
	why := "want " + wanted(targets) + ", got " + quote(text)
	for _, t := range targets {
		if text == t {
			return graded(true, text, how, ""), nil
		}
		if strings.TrimSpace(text) == strings.TrimSpace(t) {
			why += ": they differ only in the white space at their ends"
		}
	}
	return graded(false, text, how, why), nil
}
