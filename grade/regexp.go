package grade

import (
	"context"
	"regexp"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A RegexpOption changes how [Regexp] compares.
type RegexpOption interface{ regexp(*regexpGrader) }

// FirstMatch takes the first match instead of the last.
func FirstMatch() RegexpOption { return firstMatch{} }

type firstMatch struct{}

func (firstMatch) regexp(g *regexpGrader) { g.first = true }

// Regexp grades with a regular expression.
//
// If re has groups, the last match in the response gives the answer: the group
// named "answer" if there is one, else the first group that captured
// something. It is compared with the item's target and [dataset.Item.Targets]
// as [Exact] compares. No match, or a match whose group captured nothing, is
// Unparsed with [ReasonNoAnswer].
//
// If re has no groups, a response that matches is right and any other is
// wrong, whatever the target is.
//
// Go's expressions take linear time: no response can make one hang. A nil re
// panics.
func Regexp(re *regexp.Regexp, opts ...RegexpOption) Grader {
	if re == nil {
		panic("grade: Regexp(nil): give a compiled expression")
	}
	g := regexpGrader{re: re, group: re.SubexpIndex("answer")}
	for _, o := range opts {
		o.regexp(&g)
	}
	return g
}

type regexpGrader struct {
	re        *regexp.Regexp
	group     int // of the answer, or -1 for the first that captured something
	first     bool
	matchCase bool
}

var (
	_ Grader = regexpGrader{}
	_ Named  = regexpGrader{}
)

// Name returns "regexp".
func (regexpGrader) Name() string { return "regexp" }

func (g regexpGrader) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	text, v, ok := finalText(g.Name(), item, resp)
	if !ok {
		return v, nil
	}
	how := g.Name() + ": last match of " + quote(g.re.String())
	if g.first {
		how = g.Name() + ": first match of " + quote(g.re.String())
	}
	match := g.match(text)
	if g.re.NumSubexp() == 0 {
		if match == nil {
			return graded(false, "", how, "the reply does not match"), nil
		}
		return graded(true, text[match[0]:match[1]], how, ""), nil
	}
	if match == nil {
		return unparsed(g.Name(), ReasonNoAnswer, "the reply does not match "+quote(g.re.String())), nil
	}
	answer := g.capture(text, match)
	if isBlank(answer) {
		return unparsed(g.Name(), ReasonNoAnswer, "the match captured nothing"), nil
	}
	targets := accepted(item)
	for _, t := range targets {
		if equalsKey(answer, targetKey(t, g.matchCase), g.matchCase) {
			return graded(true, answer, how, ""), nil
		}
	}
	return graded(false, answer, how, "want "+wanted(targets)+", got "+quote(answer)), nil
}

// match returns the indexes of the match that counts.
func (g regexpGrader) match(text string) []int {
	if g.first || g.re.NumSubexp() == 0 {
		return g.re.FindStringSubmatchIndex(text)
	}
	all := g.re.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// capture returns what the answer's group captured.
func (g regexpGrader) capture(text string, match []int) string {
	for i := 1; i <= g.re.NumSubexp(); i++ {
		if g.group > 0 && i != g.group {
			continue
		}
		if lo, hi := match[2*i], match[2*i+1]; lo >= 0 && lo < hi {
			return text[lo:hi]
		}
	}
	return ""
}
