package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"

	"golang.org/x/term"

	"github.com/goevals/evals/grade"
)

const defaultThreshold = 0.5

var gradeCommand = command{
	name: "grade",
	line: "grade -grader NAME [FILE]",
	what: "grade responses, one JSON row a line, with any grader or another project's rule",
	more: `Reads rows from FILE, or from standard input without FILE or for "-". The file
is JSONL, plain, gzip or zstd, whatever its name. A row is a JSON object:

  id          a string or number; without it, the row's number
  response    the text to grade; null, as providers write it, if none came
  target      the right answer: a string, a number, for -grader json any JSON
  targets     further right answers, a list
  input       the question, if it is a text: tells a repetition of it from an answer
  choices     for -grader choice: how many options (4 for A to D) or their texts
  mode        for -grader json: equal (the default) or subset
  locale      for -grader numeric: how numbers are written, over -locale
  tool_calls  for -grader tool-calls: [{"name": …, "arguments": {…}}, …]
  judge_reply for -grader judge-reply, instead of response: what a judge replied
  finish      for -grader judge-reply: why the reply ended, if it is known: stop,
              length, content_filter, refusal

Other fields are ignored. Each row becomes one line of output, in the same
order: id, response and target as they stood, then verdict (correct, incorrect
or unparsed; of a judge's reply correct, incorrect or ungraded), answer, how,
score, and reason and why if it is not correct.

A row that cannot be graded ends the program with an error that names file and
line. What was written before it is complete and in order. No row at all is an
error too.

Examples:

  evals grade -grader numeric answers.jsonl
  evals grade -grader 'lm-eval.gsm8k.strict-match' answers.jsonl.gz
  evals grade -grader regexp -pattern 'Answer: (\w+)' <answers.jsonl
  evals grade -list`,
	setup: setupGrade,
}

type gradeFlags struct {
	grader string
	list   bool
	settings
	set map[string]bool
}

func setupGrade(p *program, fs *flag.FlagSet) func([]string) error {
	f := &gradeFlags{}
	fs.StringVar(&f.grader, "grader", "", "grade with the grader or rule called `NAME`; -list shows them")
	fs.BoolVar(&f.list, "list", false, "list the graders, a line each, and stop")
	fs.StringVar(&f.locale, "locale", "", "how numbers are written in responses, such as `de`; for -grader numeric")
	fs.StringVar(&f.pattern, "pattern", "", "the regular `expression` of -grader regexp, in Go's syntax")
	fs.Float64Var(&f.threshold, "threshold", defaultThreshold, "the least `score` that is correct, above 0 and at most 1; for -grader f1")
	return func(args []string) error {
		f.set = map[string]bool{}
		fs.Visit(func(fl *flag.Flag) { f.set[fl.Name] = true })
		return p.grade(f, args)
	}
}

func (p *program) grade(f *gradeFlags, args []string) error {
	if f.list {
		if len(args) > 0 {
			return usagef("grade: -list takes no FILE")
		}
		return listGraders(p.stdout)
	}
	b, err := f.bench()
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return usagef("grade: one FILE at a time, not %d; for several: cat a.jsonl b.jsonl | evals grade …", len(args))
	}
	path := strings.Join(args, "")
	if path == "" && isTerminal(p.stdin) {
		return usagef("grade: no FILE, and standard input is a terminal; name a file of rows, or - to type them")
	}
	src, err := p.open(path)
	if err != nil {
		return err
	}
	defer src.close()
	return p.gradeRows(b, src)
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bench checks the flags against the grader, before anything is read.
func (f *gradeFlags) bench() (*bench, error) {
	kind, err := kindByName(f.grader)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"locale", "pattern", "threshold"} {
		if !f.set[name] || name == kind.flag {
			continue
		}
		for _, k := range ours {
			if k.flag == name {
				return nil, usagef("grade: -%s is for -grader %s, not for %s", name, k.name, kind.name)
			}
		}
	}
	switch {
	case kind.flag == "pattern" && f.pattern == "":
		return nil, usagef("grade: -grader regexp needs -pattern, such as -pattern 'Answer: (\\w+)'")
	case !(f.threshold > 0 && f.threshold <= 1) || math.IsNaN(f.threshold):
		return nil, usagef("grade: -threshold %v lies outside of 0..1; give more than 0 and at most 1", f.threshold)
	case f.set["locale"] && f.locale == "":
		return nil, usagef("grade: -locale is empty; give one such as en or de, or leave it out")
	}
	b := &bench{kind: kind, flags: f.settings}
	if kind.needs.choices {
		return b, nil // no row, no grader
	}
	if _, err := b.grader(&row{}); err != nil {
		var usage *usageError
		if !errors.As(err, &usage) {
			err = usagef("grade: %v", err)
		}
		return nil, err
	}
	if kind.flag == "pattern" {
		// What groups capture is compared with the target; without groups
		// nothing is. The pattern has just been compiled by the grader.
		b.kind.needs.noTarget = regexp.MustCompile(f.pattern).NumSubexp() == 0
	}
	return b, nil
}

// gradeRows grades row after row. Output is complete up to the row that an
// error names.
func (p *program) gradeRows(b *bench, src *source) error {
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	err := func() error {
		for number := 1; ; number++ {
			raw, err := src.next()
			if err == io.EOF && number == 1 {
				return fmt.Errorf("%s holds no row; nothing was graded", src.name)
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			text, err := b.gradeRow(raw, number)
			if err != nil {
				return &rowError{src.name, src.line, err}
			}
			if _, err := out.Write(text); err != nil {
				return err
			}
			if src.live {
				if err := out.Flush(); err != nil {
					return err
				}
			}
		}
	}()
	if ferr := out.Flush(); ferr != nil {
		return fmt.Errorf("write the output: %w", ferr)
	}
	return err
}

func (b *bench) gradeRow(raw []byte, number int) ([]byte, error) {
	r, err := parseRow(raw, number, b.kind.needs)
	if err != nil {
		return nil, err
	}
	g, err := b.grader(r)
	if err != nil {
		return nil, err
	}
	v, err := g.Grade(context.Background(), r.item, r.resp)
	if err == nil {
		err = v.Check()
	}
	if err != nil {
		return nil, err
	}
	return line(r, v)
}

// numeric makes the numeric grader for a locale; "" is its default. A locale
// that is not known is a programmer's mistake to grade, and data here.
func numeric(locale string) (g grade.Grader, err error) {
	if locale == "" {
		return grade.Numeric(), nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(strings.TrimPrefix(fmt.Sprint(p), "grade.Locale: "))
		}
	}()
	return grade.Numeric(grade.Locale(locale)), nil
}

func listGraders(w io.Writer) error {
	all := kinds()
	width := 0
	for _, k := range all {
		width = max(width, len(k.name))
	}
	for _, k := range all {
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, k.name, k.about); err != nil {
			return err
		}
	}
	return nil
}
