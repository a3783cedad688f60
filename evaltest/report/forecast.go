package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/shopspring/decimal"
)

// A Forecast is what a run would ask for and spend.
type Forecast struct {
	Dataset, Strategy string
	// Items, Samples an item, and Answers: less than their product if -run
	// leaves some out. Attempts is the most that an answer may take.
	Items, Samples, Answers, Attempts int
	// Input and Output are tokens, and JudgeInput and JudgeOutput those of
	// judges. OutputUnknown says that nobody knows Output; MaxOutput is then
	// what the requests allow, 0 if they do not say.
	Input, Output, JudgeInput, JudgeOutput int64
	OutputUnknown                          bool
	MaxOutput                              int64
	// From says where these numbers come from.
	From string
	// USD is the cost, if Priced. Unpriced names what is not in it, because
	// nobody knows its cost, such as the judge.
	USD      decimal.Decimal
	Priced   bool
	Unpriced []string
	// Detects says which drop the items can show, a line each.
	Detects []string
	// Budget are the limits; none if empty.
	Budget  []string
	Notes   []string
	Journal string // that the run would go on with
}

// Plan writes a forecast for people. It returns the writer's error.
func Plan(w io.Writer, f Forecast) error {
	p := &page{w: w, width: 80}
	text := plural(f.Items, "item")
	if f.Dataset != "" {
		text += " of " + inline(f.Dataset, 200)
	}
	if f.Samples > 1 {
		text += ", " + plural(f.Samples, "sample") + " each"
	}
	text += fmt.Sprintf(": %s of %s", plural(f.Answers, "answer"), inline(f.Strategy, 200))
	if f.Attempts > 1 {
		text += fmt.Sprintf(", at most %d attempts each", f.Attempts)
	}
	p.para("", "plan", text)
	tokens := fmt.Sprintf("about %s in", thousands(f.Input))
	switch {
	case !f.OutputUnknown:
		tokens += fmt.Sprintf(", %s out", thousands(f.Output))
	case f.MaxOutput > 0:
		tokens += fmt.Sprintf(", out unknown, at most %s (MaxOutputTokens)", thousands(f.MaxOutput))
	default:
		tokens += ", out unknown"
	}
	if f.JudgeInput+f.JudgeOutput > 0 {
		tokens += fmt.Sprintf("; judge %s in, %s out", thousands(f.JudgeInput), thousands(f.JudgeOutput))
	}
	p.para("", "tokens", tokens+" ("+f.From+")")
	if f.Priced {
		cost := "about $" + f.USD.String()
		if len(f.Unpriced) > 0 {
			cost = "at least " + cost + ": what " + strings.Join(f.Unpriced, " and ") + " costs is unknown"
		}
		p.para("", "cost", cost)
	} else {
		p.para("", "cost", "unknown: no accepted run says what answers cost")
	}
	for i, d := range f.Detects {
		label := ""
		if i == 0 {
			label = "shows"
		}
		p.para("", label, d)
	}
	if len(f.Budget) == 0 {
		p.para("", "budget", "none: set MaxCost or MaxTokens")
	}
	for _, b := range f.Budget {
		p.para("", "budget", b)
	}
	if f.Journal != "" {
		p.para("", "resume", "what the journal has is not asked for again, and less is spent")
	}
	for _, n := range f.Notes {
		p.para("", "note", visible(n))
	}
	return p.err
}
