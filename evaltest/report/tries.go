package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/result"
)

// Of a record's tries the first and the last ones are listed: a provider that
// stays busy is tried 20 times an attempt.
const (
	firstTries = 6
	lastTries  = 3
)

// writeTries lists the physical calls of a record in a line each, if there were
// several, or one waited in vain.
func writeTries(p *page, indent string, r *result.Record) {
	var lines []string
	waited := false
	for i := range r.Attempts {
		a := &r.Attempts[i]
		for j := range a.TryLog {
			t := &a.TryLog[j]
			waited = waited || t.PauseWait+t.LimitWait+t.SlotWait > 0
			lines = append(lines, fmt.Sprintf("%d.%d %s", a.Number, j+1, tryText(t)))
		}
	}
	if len(lines) < 2 && (r.Error == nil || !waited) {
		return
	}
	label := "tries"
	for i, l := range lines {
		if left := len(lines) - firstTries - lastTries; left > 1 && i >= firstTries && i < firstTries+left {
			if i == firstTries {
				p.para(indent, "", fmt.Sprintf("%d more, which the journal has", left))
			}
			continue
		}
		p.para(indent, label, l)
		label = ""
	}
}

// tryText says what became of one call and what it waited for.
func tryText(t *result.Try) string {
	var b strings.Builder
	switch {
	case t.Error == nil:
		b.WriteString("answered")
	case t.Unsent:
		b.WriteString("not made: " + inline(string(t.Error.Kind), 40))
	default:
		b.WriteString(inline(string(t.Error.Kind), 40))
	}
	if t.Error != nil && t.Error.Status > 0 {
		fmt.Fprintf(&b, " (HTTP %d)", t.Error.Status)
	}
	switch {
	case t.Unsent:
	case t.Replayed:
		b.WriteString(", replayed")
	default:
		b.WriteString(" in " + duration(t.Duration))
	}
	if t.Usage.Known {
		fmt.Fprintf(&b, ", %s+%s tokens", thousands(t.Usage.Input), thousands(t.Usage.Output))
	}
	if t.RetryAfter != nil {
		fmt.Fprintf(&b, ", asked to wait %s", duration(*t.RetryAfter))
	}
	before := "; waited "
	for _, w := range []struct {
		d    time.Duration
		what string
	}{{t.PauseWait, "pause"}, {t.LimitWait, "RPM, TPM"}, {t.SlotWait, "slot"}} {
		if w.d > 0 {
			fmt.Fprintf(&b, "%s%s (%s)", before, duration(w.d), w.what)
			before = ", "
		}
	}
	return b.String()
}
