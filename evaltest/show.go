package evaltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

// Everything that is shown of an item is escaped: a byte 0x16 in a reply would
// otherwise forge results in go test -json, an escape sequence would speak to
// the terminal, and a control character would make a JUnit file unreadable.
// It is written through T.Output, never to standard output, which go test
// parses.

// shownText is how many bytes of an answer one log line shows.
const shownText = 120

// attr is the value of an item's one attribute under go test -json. One costs
// as much as any number of words in it.
func attr(r *result.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "outcome=%s score=%g", report.Escape(string(r.Outcome), 0), r.Score)
	if r.Usage.Known {
		fmt.Fprintf(&b, " input_tokens=%d output_tokens=%d", r.Usage.Input, r.Usage.Output)
	}
	if r.CostUSD != "" {
		fmt.Fprintf(&b, " cost_usd=%s", report.Escape(r.CostUSD, 40))
	}
	if r.Latency > 0 {
		fmt.Fprintf(&b, " latency=%s", r.Latency.Round(time.Microsecond))
	}
	if r.Sample > 0 {
		fmt.Fprintf(&b, " sample=%d", r.Sample)
	}
	return b.String()
}

// line is an item in one line, for -v.
func line(r *result.Record) string {
	var b strings.Builder
	b.WriteString(report.Escape(string(r.Outcome), 40))
	if v := r.Verdict; v != nil && v.Answer != "" {
		fmt.Fprintf(&b, `: "%s"`, report.Escape(v.Answer, shownText))
	}
	if v := r.Verdict; v != nil && v.How != "" {
		fmt.Fprintf(&b, " (%s)", report.Escape(v.How, shownText))
	}
	if n := len(r.Attempts); n > 1 {
		fmt.Fprintf(&b, ", %d attempts", n)
	}
	if r.Usage.Known {
		fmt.Fprintf(&b, ", %d+%d tokens", r.Usage.Input, r.Usage.Output)
	}
	if r.Latency > 0 {
		fmt.Fprintf(&b, ", %s", r.Latency.Round(time.Millisecond))
	}
	return b.String()
}

// details is an item that is not correct: got, want, how, why, and how to run
// it alone.
func details(r *result.Record, again string) string {
	var b strings.Builder
	report.Failures(&b, slices.Values([]*result.Record{r}), report.FailureOptions{
		Confirms: true,
		Run:      func(*result.Record) string { return again },
	})
	if r.Error != nil && r.Error.Stack != "" {
		b.WriteString("  stack\n")
		lines := strings.Split(strings.TrimSuffix(r.Error.Stack, "\n"), "\n")
		for i, l := range lines {
			if i == maxStack {
				fmt.Fprintf(&b, "    %d more lines in the journal\n", len(lines)-i)
				break
			}
			b.WriteString("    " + report.Escape(strings.ReplaceAll(l, "\t", "  "), 400) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxStack is how many lines of a panic's stack are shown.
const maxStack = 40

// write puts text into a test's log, after the place of the call to Run: the
// framework's own lines would tell nobody anything.
func write(tb testing.TB, site, text string) {
	fmt.Fprintf(tb.Output(), "%s: %s\n", site, strings.ReplaceAll(text, "\n", "\n    "))
}
