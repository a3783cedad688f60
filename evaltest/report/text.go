package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade/stat"
)

// Options say what [Text] prints beside the numbers. The zero value works.
type Options struct {
	Width  int // columns; the default is 80
	Groups int // the most groups that are listed; the default is 10
	// Gates are what was decided; they stand right below the headline.
	Gates []gate.Decision
	// Warnings concern the run as a whole; each is printed once.
	Warnings []string
	// Journal is the path of the run's file.
	Journal string
	// Corrected is the accuracy without the judge's known errors.
	Corrected *Corrected
	// Broken are the items that broke, where the run fails on them.
	Broken *Broken
	// Accepted says what became of the baseline that the run was to write.
	Accepted string
	// Accept is the command that makes the run the baseline without asking again,
	// for one that could not be compared.
	Accept string
	// Resume is the command that finishes the run, for runs that have
	// something left to do.
	Resume string
}

// shortText is how much of a name or message from outside a summary shows.
const shortText = 160

// Text writes a summary for people: the headline, what the gates decided, what
// did not go right, the rest of the numbers, and where the journal lies. It
// returns the writer's error.
func Text(w io.Writer, s *Stats, o Options) error {
	if o.Width <= 0 {
		o.Width = 80
	}
	if o.Groups <= 0 {
		o.Groups = 10
	}
	p := &page{w: w, width: o.Width}
	writeHeadline(p, s)
	writeCorrected(p, s, o.Corrected)
	writeGates(p, o.Gates)
	writeBroken(p, o.Broken)
	writeAccepted(p, o.Accepted)
	writeTrouble(p, s)
	writeGroups(p, s, o.Groups)
	writeSpent(p, s)
	writeSpeed(p, s)
	writeOverrides(p, s.Overrides)
	writeWarnings(p, s, o.Warnings)
	writeWhere(p, s, o)
	return p.err
}

// Aside writes only the headline, the gates and what was accepted: for a run that
// passes, of which the rest is not shown. It returns the writer's error.
func Aside(w io.Writer, s *Stats, o Options) error {
	if o.Width <= 0 {
		o.Width = 80
	}
	p := &page{w: w, width: o.Width}
	p.line(Headline(s))
	writeGates(p, o.Gates)
	writeAccepted(p, o.Accepted)
	return p.err
}

func writeAccepted(p *page, text string) {
	if text != "" {
		p.para("", "baseline", visible(text))
	}
}

// Headline is a run in one line: "80/100 correct, 10 incorrect, 10 errored".
// Every outcome that occurred is in it.
func Headline(s *Stats) string {
	parts := []string{fmt.Sprintf("%d/%d correct", s.Correct(), s.Total)}
	rest := maps.Clone(s.Outcomes)
	for _, o := range result.Outcomes {
		if n := rest[o]; n > 0 && o != result.Correct {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(o), "_", " ")))
		}
		delete(rest, o)
	}
	for _, o := range slices.Sorted(maps.Keys(rest)) { // of a newer version's journal
		parts = append(parts, fmt.Sprintf(`%d "%s"`, rest[o], inline(string(o), 40)))
	}
	return strings.Join(parts, ", ")
}

func writeHeadline(p *page, s *Stats) {
	var run []string
	for _, part := range []string{inline(s.Name, 200), inline(s.Strategy, 60), modelNames(s), inline(s.Dataset, 200)} {
		if part != "" {
			run = append(run, part)
		}
	}
	if len(run) > 0 {
		p.para("", "run", strings.Join(run, ", "))
	}
	if s.Total == 0 {
		p.para("", "accuracy", "none: no item was run")
		return
	}
	if s.Curtailed {
		answered := s.Total - s.Outcomes[result.NotRun]
		p.para("", "accuracy", fmt.Sprintf("at least %s: %s", stat.Percent(s.Correct(), s.Total), Headline(s)))
		p.para("", "", fmt.Sprintf("%s of the %d that were asked", stat.Percent(s.Correct(), answered), answered))
		return
	}
	p.para("", "accuracy", stat.Percent(s.Correct(), s.Total)+": "+Headline(s))
	interval := fmt.Sprintf("95%% interval %s", s.Interval())
	if s.Items != s.Total {
		interval += fmt.Sprintf(" (%s to %s, as wide as for %s)", plural(s.Total, "answer"), plural(s.Items, "item"), plural(s.Items, "answer"))
	}
	p.para("", "", interval)
	if s.HasScores {
		p.para("", "score", fmt.Sprintf("mean %.3f over all %d", s.MeanScore, s.Total))
	}
	writeSamples(p, s.Consistency)
}

// modelNames are the models that answered, the most frequent first; "" for the
// one that the strategy's name ends with.
func modelNames(s *Stats) string {
	var names []string
	if len(s.Models) == 1 {
		for m := range s.Models {
			if strings.HasSuffix(s.Strategy, " "+m) {
				return ""
			}
		}
	}
	for _, m := range byCount(s.Models) {
		if len(names) == 3 {
			names = append(names, fmt.Sprintf("%d more models", len(s.Models)-3))
			break
		}
		names = append(names, inline(m, 60))
	}
	return strings.Join(names, " and ")
}

func writeGates(p *page, gates []gate.Decision) {
	for _, d := range gates {
		status := string(d.Status)
		switch d.Status {
		case gate.Failed:
			status = "FAILED"
		case gate.NotEvaluated:
			status = "not evaluated"
		case gate.NotEnoughData:
			status = "not enough data for"
		}
		p.para("", "gate", fmt.Sprintf("%s %s: %s", status, d.Gate, visible(d.Text)))
	}
}

// writeTrouble tells what did not go right and what to do about it.
func writeTrouble(p *page, s *Stats) {
	if n := s.Outcomes[result.Truncated]; n > 0 {
		p.para("", "truncated", fmt.Sprintf("%d of %d truncated: cut at the token limit, not wrong; raise MaxOutputTokens (reasoning counts too)", n, s.Total))
	}
	if n := s.Outcomes[result.NotRun]; n > 0 && s.Curtailed {
		p.para("", "curtailed", fmt.Sprintf("%d of %d were not asked: no answer to them could change what a gate decides", n, s.Total))
	} else if n > 0 {
		p.para("", "not run", fmt.Sprintf("%d of %d never ran and count as not correct", n, s.Total))
	}
	if len(s.Reasons) > 0 {
		p.para("", "reasons", countsText(s.Reasons))
	}
	if s.Abandoned > 0 {
		p.para("", "abandoned", fmt.Sprintf("%s given up: the strategy, grader or judge ignored the end of its time", plural(s.Abandoned, "answer")))
	}
	for _, e := range s.Errors {
		text := fmt.Sprintf("%d %s, such as %s: %s", e.Count, inline(string(e.Kind), 40), inline(e.ID, 60), inline(e.Message, 2*shortText))
		p.para("", "error", text)
		if h := hints[e.Kind]; h != "" {
			p.para("", "", "to do: "+h)
		}
	}
}

// countsText lists counts, the greatest first: "wrong 10, no_answer 3".
func countsText[K ~string](m map[K]int) string {
	var parts []string
	for _, k := range byCount(m) {
		parts = append(parts, fmt.Sprintf("%s %d", inline(string(k), 40), m[k]))
	}
	return strings.Join(parts, ", ")
}

// byCount sorts m's keys by their counts, the greatest first, then by name.
func byCount[K ~string](m map[K]int) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
}

func writeGroups(p *page, s *Stats, most int) {
	for i, g := range s.Groups {
		if i == most {
			p.para("", "", plural(len(s.Groups)-most, "more group")+", none of them worse")
			break
		}
		label := ""
		if i == 0 {
			label = "groups"
		}
		score := fmt.Sprintf("%d/%d", g.Correct, g.Total)
		p.para("", label, fmt.Sprintf("%9s  %6s  %s", score, stat.Percent(g.Correct, g.Total), inline(g.Name, 60)))
	}
}

// maxOverrides is how many overrides are listed.
const maxOverrides = 10

func writeOverrides(p *page, list []Override) {
	actions := map[string]int{}
	for i, o := range list {
		actions[o.Action]++
		if i < maxOverrides {
			p.para("", "override", fmt.Sprintf("%s (%s): %s", inline(o.ID, 60), inline(o.Action, 20), inline(o.Reason, shortText)))
		}
	}
	if n := len(list) - maxOverrides; n > 0 {
		p.para("", "override", fmt.Sprintf("%d more; in all: %s", n, countsText(actions)))
	}
}

func writeWarnings(p *page, s *Stats, run []string) {
	seen := map[string]bool{}
	for _, w := range run {
		if !seen[w] {
			seen[w] = true
			p.para("", "warning", inline(w, 2*shortText))
		}
	}
	for _, w := range s.Warnings {
		if !seen[w.Text] {
			p.para("", "warning", fmt.Sprintf("%s: %s", plural(w.Count, "answer"), inline(w.Text, shortText)))
		}
	}
	if s.MoreWarnings > 0 {
		p.para("", "warning", fmt.Sprintf("%d more of other kinds; they are in the journal", s.MoreWarnings))
	}
}

func writeWhere(p *page, s *Stats, o Options) {
	if o.Journal != "" {
		p.verbatim("", "journal", command(o.Journal))
		p.verbatim("", "see more", "go run github.com/goevals/evals/evaltest/cmd/evals show "+shellQuote(o.Journal, runtime.GOOS == "windows"))
	}
	if o.Accept != "" {
		p.verbatim("", "accept", command(o.Accept))
	}
	if o.Resume != "" {
		p.verbatim("", "resume", command(o.Resume))
	}
}
