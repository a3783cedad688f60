package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/grade/peer"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
)

// A graderKind is a grader by name, made anew for the settings of a row.
type graderKind struct {
	name  string
	about string
	needs rowNeeds
	// flag is the one flag that this kind takes, if any; modes are the values
	// of a row's field mode, the default first.
	flag  string
	modes []string
	make  func(s settings) (grade.Grader, error)
}

// settings decide which grader a row gets: those of the command line and those
// of the row. They are comparable, so that equal ones share a grader.
type settings struct {
	pattern   string
	threshold float64
	locale    string
	mode      string
	options   int
}

// ours are the graders of package grade, by the names that they have there, and
// the reading of judges' replies.
var ours = []graderKind{
	{
		name: "numeric", flag: "locale",
		about: "the final number, compared exactly; -locale says how numbers are written",
		make:  func(s settings) (grade.Grader, error) { return numeric(s.locale) },
	},
	{
		name:  "choice",
		about: "the letter or text of one of the row's choices",
		needs: rowNeeds{choices: true},
		make: func(s settings) (grade.Grader, error) {
			if s.options > 0 {
				return grade.Choice(grade.ChoiceCount(s.options)), nil
			}
			return grade.Choice(), nil
		},
	},
	{
		name:  "exact-normalised",
		about: "the whole response, case, white space and wrapping forgiven",
		make:  func(settings) (grade.Grader, error) { return grade.Exact(), nil },
	},
	{
		name:  "exact-strict",
		about: "the whole response, byte by byte",
		make:  func(settings) (grade.Grader, error) { return grade.ExactStrict(), nil },
	},
	{
		name:  "contains-word",
		about: "the target stands in the response as a word of its own",
		make:  func(settings) (grade.Grader, error) { return grade.Includes(), nil },
	},
	{
		name:  "includes",
		about: "the target stands anywhere in the response, inside of words too",
		make:  func(settings) (grade.Grader, error) { return grade.Includes(grade.Substring()), nil },
	},
	{
		name: "regexp", flag: "pattern",
		about: "what -pattern captures is the answer; without groups, a match is right",
		make: func(s settings) (grade.Grader, error) {
			re, err := regexp.Compile(s.pattern)
			if err != nil {
				return nil, usagef("grade: -pattern: %v", err)
			}
			return grade.Regexp(re), nil
		},
	},
	{
		name: "json", modes: []string{"equal", "subset"},
		about: "the JSON value in the response, compared as a structure; field mode: equal or subset",
		needs: rowNeeds{json: true},
		make: func(s settings) (grade.Grader, error) {
			if s.mode == "subset" {
				return grade.JSON(grade.JSONSubset()), nil
			}
			return grade.JSON(), nil
		},
	},
	{
		name:  "tool-calls",
		about: "the calls in the row's field tool_calls: names, order and arguments",
		needs: rowNeeds{json: true, toolCalls: true},
		make:  func(settings) (grade.Grader, error) { return grade.ToolCalls(), nil },
	},
	{
		name: "f1", flag: "threshold",
		about: "shared words; correct from -threshold on, and the score is kept",
		make:  func(s settings) (grade.Grader, error) { return grade.F1(s.threshold), nil },
	},
	{
		name:  "judge-reply",
		about: "the verdict that a judge's reply amounts to; field judge_reply instead of response, no target",
		needs: rowNeeds{judgeReply: true},
		make:  func(settings) (grade.Grader, error) { return grade.Func(judgeReply), nil },
	},
}

// judgeReply reads a judge's reply. Nobody is asked.
func judgeReply(_ context.Context, _ dataset.Item, reply llm.Response) (grade.Verdict, error) {
	v, _ := judge.ParseResponse(reply)
	return v, nil
}

// kinds returns all graders: ours, then the peers' rules.
func kinds() []graderKind {
	all := slices.Clone(ours)
	for _, r := range peer.Rules() {
		all = append(all, graderKind{
			name:  r.Name,
			about: r.About,
			make:  func(settings) (grade.Grader, error) { return r.Grader, nil },
		})
	}
	return all
}

func kindByName(name string) (graderKind, error) {
	all := kinds()
	names := make([]string, len(all))
	for i, k := range all {
		if k.name == name {
			return k, nil
		}
		names[i] = k.name
	}
	if g, ok := peer.Lookup(name); ok { // a rule with an argument of the user's
		return graderKind{name: name, make: func(settings) (grade.Grader, error) { return g, nil }}, nil
	}
	list := "\n  " + strings.Join(names, "\n  ")
	if name == "" {
		return graderKind{}, usagef("grade: -grader is missing; it takes one of%s", list)
	}
	return graderKind{}, usagef("grade: unknown grader %q%s; the graders are%s", name, didYouMean(name, names), list)
}

// A bench makes graders and keeps those it made.
type bench struct {
	kind  graderKind
	flags settings
	made  map[settings]grade.Grader
}

// grader returns the grader for a row. Fields that the kind does not read are
// ignored: the same rows may be graded in several ways.
func (b *bench) grader(r *row) (grade.Grader, error) {
	s := b.flags
	if b.kind.flag == "locale" && r.locale != "" {
		s.locale = r.locale
	}
	if b.kind.needs.choices {
		s.options = r.options
	}
	if len(b.kind.modes) > 0 && r.mode != "" {
		if !slices.Contains(b.kind.modes, r.mode) {
			return nil, fmt.Errorf("field \"mode\": %q is none of %s", r.mode, strings.Join(b.kind.modes, ", "))
		}
		s.mode = r.mode
	}
	if g, ok := b.made[s]; ok {
		return g, nil
	}
	g, err := b.kind.make(s)
	if err != nil && r.locale != "" && s.locale == r.locale {
		err = fmt.Errorf("field \"locale\": %w", err)
	}
	if err == nil {
		if b.made == nil || len(b.made) > 100 { // a hostile file cannot fill the memory
			b.made = map[settings]grade.Grader{}
		}
		b.made[s] = g
	}
	return g, err
}
