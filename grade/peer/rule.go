package peer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A Rule is one project's way to grade, by name.
type Rule struct {
	// Name is the rule's name here: project, task and filter or options,
	// such as "lm-eval.gsm8k.strict-match". Unique among [Rules].
	Name string
	// Project is where the rule comes from, such as
	// "EleutherAI/lm-evaluation-harness".
	Project string
	// Version is the commit, or the release where that is what was
	// compared, whose behaviour is reproduced.
	Version string
	// About says in one line what the rule extracts and compares.
	About string
	// Grader applies the rule. Safe for concurrent use.
	Grader grade.Grader
}

// Rules returns all rules, sorted by name. The slice is the caller's.
func Rules() []Rule {
	graders := []*rule{
		gsm8kOriginal,
		lmEvalStrict, lmEvalFlexible, lmEvalCoTStrict, lmEvalCoTFlexible, lmEvalCoTLlama,
		newMGSM("Answer"), helmFinalNumber,
		openAIMatch, openAIIncludes, openAIFuzzy, deepEvalGSM8K,
	}
	for _, at := range []Location{End, Begin, Any, Exact} {
		graders = append(graders,
			newInspect(InspectOptions{Location: at}),
			newInspect(InspectOptions{Location: at, Numeric: true}),
			newInspect(InspectOptions{Location: at, Numeric: true, TrimPunctuation: true}))
	}
	rules := make([]Rule, 0, len(graders))
	for _, g := range graders {
		rules = append(rules, Rule{g.name, g.source.project, g.source.version, g.about, g})
	}
	slices.SortFunc(rules, func(a, b Rule) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return rules
}

// Lookup returns the grader of the rule called name, and whether there is one.
// Names are compared exactly. Beside the names of [Rules] it knows
// "simple-evals.mgsm(prefix=…)" with any prefix.
func Lookup(name string) (grade.Grader, bool) {
	if rest, ok := strings.CutPrefix(name, "simple-evals.mgsm(prefix="); ok {
		if prefix, ok := strings.CutSuffix(rest, ")"); ok && prefix != "" {
			return newMGSM(prefix), true
		}
	}
	for _, r := range Rules() {
		if r.Name == name {
			return r.Grader, true
		}
	}
	return nil, false
}

// A source is the code that a rule reproduces.
type source struct{ project, version string }

// A finding is what a rule makes of one response and one target.
type finding struct {
	mark   grade.Mark
	answer string // what the rule extracted and compared
}

// found is the finding of a comparison that took place.
func found(equal bool, answer string) finding {
	if equal {
		return finding{grade.Correct, answer}
	}
	return finding{grade.Incorrect, answer}
}

// A rule is a [grade.Grader] made of a comparison of two strings.
type rule struct {
	name   string
	source source
	about  string
	// compare must be pure. Its error says what is wrong with the target.
	compare func(response, target string) (finding, error)
}

var (
	_ grade.Grader = (*rule)(nil)
	_ grade.Named  = (*rule)(nil)
)

// Name returns the rule's name.
func (r *rule) Name() string { return r.name }

// Grade applies the rule to the text of resp. An item with several targets is
// correct if one of them is met, as in the projects that know of several. A
// target that the rule cannot use is a [grade.TargetError].
func (r *rule) Grade(_ context.Context, item dataset.Item, resp llm.Response) (grade.Verdict, error) {
	targets := item.Targets
	if item.Target != "" || len(targets) == 0 {
		targets = append([]string{item.Target}, targets...)
	}
	var last finding
	for _, target := range targets {
		if target == "" {
			// Several projects find the empty string in every response.
			// A dataset that lost its targets must not score 100 %.
			return grade.Verdict{}, r.refuse(item, target, "it is empty, and every response would meet it: give one")
		}
		f, err := r.compare(resp.Text, target)
		if err != nil {
			return grade.Verdict{}, r.refuse(item, target, err.Error())
		}
		if last = f; f.mark == grade.Correct {
			break
		}
	}
	return r.verdict(last, resp.Text, targets), nil
}

func (r *rule) refuse(item dataset.Item, target, reason string) error {
	return &grade.TargetError{Grader: r.name, Item: item.ID, Target: target, Reason: reason}
}

func (r *rule) verdict(f finding, text string, targets []string) grade.Verdict {
	v := grade.Verdict{
		Mark:   f.mark,
		Answer: f.answer,
		How:    fmt.Sprintf("peer: %s (%s %s)", r.name, r.source.project, r.source.version),
	}
	switch {
	case f.mark == grade.Correct:
		v.Score = 1
	case strip(text) == "":
		v.Reason, v.Why = grade.ReasonNoResponse, "the response is empty"
	case f.mark == grade.Unparsed:
		v.Reason, v.Why = grade.ReasonNoAnswer, "the rule extracts nothing: "+r.about
	default:
		v.Reason, v.Why = grade.ReasonWrong, fmt.Sprintf("%s does not meet the target %s", quote(f.answer), quote(targets[0]))
		if len(targets) > 1 {
			v.Why += fmt.Sprintf(" nor %d more", len(targets)-1)
		}
	}
	return v
}

// quote shows s within a sentence; of a long text only the end, where most
// rules look, and how much there is.
func quote(s string) string {
	const most = 80
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("…%s (the end of %d bytes)", strconv.Quote(s[len(s)-most:]), len(s))
}
