package grade

import (
	"context"
	"fmt"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// All is Correct if every part is. Parts are asked in order: the first that is
// Incorrect decides, and the rest are not asked, so put cheap graders before
// judges. If none is Incorrect but one could not decide, neither does All: it
// is Ungraded if a part is, else Unparsed.
//
// The score is the lowest of the parts asked, 0 where undecided. All of no
// parts, or of a nil one, panics.
func All(parts ...Grader) Grader { return newCombined("all", parts, Incorrect, Correct) }

// Any is Correct if a part is. Parts are asked in order: the first that is
// Correct decides, and the rest are not asked. If none is Correct but one
// could not decide, neither does Any: it is Ungraded if a part is, else
// Unparsed.
//
// The score is the highest of the parts asked, 0 where undecided. Any of no
// parts, or of a nil one, panics.
func Any(parts ...Grader) Grader { return newCombined("any", parts, Correct, Incorrect) }

// combined is All or Any: the one is the other with right and wrong swapped.
type combined struct {
	word      string
	parts     []Grader
	decides   Mark // the mark of a part that settles it
	otherwise Mark // the mark if every part gave that
}

var (
	_ Grader = combined{}
	_ Named  = combined{}
)

func newCombined(word string, parts []Grader, decides, otherwise Mark) Grader {
	checkParts(word, parts)
	return combined{word, append([]Grader(nil), parts...), decides, otherwise}
}

func checkParts(word string, parts []Grader) {
	if len(parts) == 0 {
		panic("grade: " + word + " of no graders: give at least one")
	}
	for i, p := range parts {
		if p == nil {
			panic(fmt.Sprintf("grade: %s: grader %d is nil", word, i+1))
		}
	}
}

// Name returns the parts' names in brackets: all(numeric, regexp).
func (c combined) Name() string { return namesOf(c.word, c.parts) }

func namesOf(word string, parts []Grader) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = NameOf(p)
	}
	return word + "(" + strings.Join(names, ", ") + ")"
}

func (c combined) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	var (
		calls []llm.Response
		seen  []Verdict
		open  = -1 // the part that could not decide
	)
	for i := range c.parts {
		v, err := gradePart(ctx, c.word, c.parts, i, item, resp)
		calls = append(calls, v.Calls...)
		if err != nil {
			return Verdict{Calls: calls}, err
		}
		seen = append(seen, v)
		switch v.Mark {
		case c.decides:
			v = c.attribute(v, i)
			v.Score, v.Calls = c.score(seen), calls
			return v, nil
		case Ungraded:
			if open < 0 || seen[open].Mark != Ungraded {
				open = i
			}
		case Unparsed:
			if open < 0 {
				open = i
			}
		}
	}
	if open >= 0 {
		v := c.attribute(seen[open], open)
		v.Score, v.Calls = 0, calls
		return v, nil
	}
	return c.unanimous(seen, calls), nil
}

// attribute says in How and Why which part decided.
func (c combined) attribute(v Verdict, i int) Verdict { return attribute(v, c.word, c.parts, i) }

func attribute(v Verdict, word string, parts []Grader, i int) Verdict {
	v.How = fmt.Sprintf("%s: part %d of %d: %s", word, i+1, len(parts), v.How)
	if v.Why != "" {
		v.Why = fmt.Sprintf("part %d of %d (%s): %s", i+1, len(parts), NameOf(parts[i]), v.Why)
	}
	return v
}

// unanimous is the verdict if all parts gave the mark that decides nothing by
// itself.
func (c combined) unanimous(seen []Verdict, calls []llm.Response) Verdict {
	v := Verdict{Mark: c.otherwise, Score: c.score(seen), Calls: calls}
	var hows, whys []string
	for i, s := range seen {
		hows = append(hows, s.How)
		if v.Answer == "" {
			v.Answer = s.Answer
		}
		if s.Mark != Correct {
			if v.Reason == "" {
				v.Reason = s.Reason
			}
			whys = append(whys, fmt.Sprintf("part %d of %d (%s): %s", i+1, len(seen), NameOf(c.parts[i]), s.Why))
		}
	}
	v.How = fmt.Sprintf("%s: %d of %d parts: %s", c.word, len(seen), len(c.parts), strings.Join(hows, "; "))
	v.Why = strings.Join(whys, "\n")
	return v
}

// score is the lowest score for All, the highest for Any.
func (c combined) score(seen []Verdict) float64 {
	s := seen[0].Score
	for _, v := range seen[1:] {
		if c.decides == Incorrect {
			s = min(s, v.Score)
		} else {
			s = max(s, v.Score)
		}
	}
	return s
}

// gradePart asks one part. Its error names it, and so does a verdict that no
// grader may give.
func gradePart(ctx context.Context, word string, parts []Grader, i int, item dataset.Item, resp llm.Response) (Verdict, error) {
	v, err := parts[i].Grade(ctx, item, resp)
	if err == nil {
		err = v.Check()
	}
	if err != nil {
		err = fmt.Errorf("grade: %s: part %d of %d (%s): %w", word, i+1, len(parts), NameOf(parts[i]), err)
	}
	return v, err
}

// Not is Correct where g is Incorrect, and Incorrect where g is Correct. Where
// g could not decide, neither does Not: its mark stays Unparsed or Ungraded.
// A response with neither text nor tool calls, a refusal, and an answer that
// never left its reasoning block are Unparsed whatever g says, so that a dead
// endpoint never passes a test of what must not be there. A nil g panics.
func Not(g Grader) Grader {
	checkParts("not", []Grader{g})
	return not{g}
}

type not struct{ g Grader }

var (
	_ Grader = not{}
	_ Named  = not{}
)

// Name returns not(…).
func (n not) Name() string { return namesOf("not", []Grader{n.g}) }

func (n not) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	if resp.Refusal != "" || len(resp.ToolCalls) == 0 {
		if _, v, ok := finalText("not", item, resp); !ok {
			return v, nil
		}
	}
	v, err := gradePart(ctx, "not", []Grader{n.g}, 0, item, resp)
	if err != nil {
		return Verdict{Calls: v.Calls}, err
	}
	v.How = "not: " + v.How
	switch v.Mark {
	case Correct:
		v.Mark, v.Score, v.Reason, v.Why = Incorrect, 0, ReasonWrong, n.Name()+": the reply is what it must not be"
	case Incorrect:
		v.Mark, v.Score, v.Reason, v.Why = Correct, 1, "", ""
	}
	return v, nil
}
