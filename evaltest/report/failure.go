package report

import (
	"fmt"
	"io"
	"iter"

	"github.com/goevals/evals/evaltest/result"
)

// FailureOptions say how [Failures] lists. The zero value works.
type FailureOptions struct {
	Max   int  // the most that are listed; the default is 20, negative is no limit
	Width int  // columns; the default is 80
	Text  int  // bytes shown of a text from outside; the default is 400
	Asked bool // also show what was asked
	// Confirms also lists answers that only confirm that an item is broken.
	Confirms bool
	// Run returns the command that runs the record's item alone; nil or ""
	// prints none.
	Run func(*result.Record) string
}

// Failures lists the records that are not correct, in their order: outcome,
// what was got and wanted, how that was found, the error, each physical call if
// there were several, and how to run the item alone. It returns how many there
// are, listed or not, and the writer's error.
func Failures(w io.Writer, records iter.Seq[*result.Record], o FailureOptions) (int, error) {
	if o.Max == 0 {
		o.Max = 20
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	if o.Text <= 0 {
		o.Text = 400
	}
	p := &page{w: w, width: o.Width}
	n := 0
	for r := range records {
		if r.Outcome == result.Correct || r.Confirms && !o.Confirms {
			continue
		}
		if n++; o.Max < 0 || n <= o.Max {
			writeFailure(p, r, o)
		}
		if p.err != nil {
			return n, p.err
		}
	}
	if o.Max >= 0 && n > o.Max {
		p.line(fmt.Sprintf("%d more that are not correct", n-o.Max))
	}
	return n, p.err
}

func writeFailure(p *page, r *result.Record, o FailureOptions) {
	const indent = "  "
	outcome := inline(string(r.Outcome), 40)
	if r.Verdict != nil && r.Verdict.Reason != "" {
		outcome += " (" + inline(string(r.Verdict.Reason), 40) + ")"
	}
	p.para("", "item", keyText(r.Item.ID, r.Sample)+": "+outcome)
	quoted := func(label, s string) { p.para(indent, label, `"`+inline(s, o.Text)+`"`) }
	if o.Asked && r.Item.Input != "" {
		quoted("asked", r.Item.Input)
	}
	if v := r.Verdict; v != nil && v.Answer != "" {
		quoted("got", v.Answer)
	} else if r.Response != nil && r.Response.Text != "" {
		quoted("reply", r.Response.Text)
	}
	if r.Verdict != nil || r.Response != nil {
		quoted("want", r.Item.Target)
		for _, t := range r.Item.Targets {
			quoted("or", t)
		}
	}
	if v := r.Verdict; v != nil {
		if v.How != "" {
			p.para(indent, "how", inline(v.How, o.Text))
		}
		if v.Why != "" {
			p.para(indent, "why", inline(v.Why, o.Text))
		}
	}
	if r.Response != nil && r.Response.Refusal != "" {
		quoted("refusal", r.Response.Refusal)
	}
	if r.Error != nil {
		p.para(indent, "error", fmt.Sprintf("%s: %s", inline(string(r.Error.Kind), 40), inline(r.Error.Message, o.Text)))
	}
	writeTries(p, indent, r)
	if o.Run != nil {
		if cmd := o.Run(r); cmd != "" {
			p.verbatim(indent, "run", command(cmd))
		}
	}
}
