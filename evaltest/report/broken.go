package report

import (
	"fmt"
	"strings"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
)

// Broken are the items that were correct in the baseline and no longer are, as
// [Text] shows them: the first few with what was asked, got and wanted.
type Broken struct {
	// Total is how many there are, Flaky how many of them were correct in most
	// of their answers when they were asked again.
	Total, Flaky int
	Records      []BrokenRecord
	// Run returns the command that runs the record's item alone.
	Run func(*result.Record) string
	// List is the path of the list of all of them, and Rerun the command that
	// runs them again, before whatever else was not correct; both may be empty.
	List, Rerun string
}

// A BrokenRecord is an answer to a broken item.
type BrokenRecord struct {
	Record *result.Record
	Change gate.ItemChange
}

func writeBroken(p *page, b *Broken) {
	if b == nil {
		return
	}
	text := plural(b.Total, "item") + " that the baseline has as correct"
	if b.Flaky > 0 {
		text += fmt.Sprintf(", %d of them flaky", b.Flaky)
	}
	if n := len(b.Records); n > 0 && n < b.Total {
		text += fmt.Sprintf("; the first %d", n)
	}
	p.para("", "broken", text)
	for _, r := range b.Records {
		writeFailure(p, r.Record, FailureOptions{Text: 400, Asked: true, Run: b.Run})
		if again := askedAgain(r.Change); again != "" {
			p.para("  ", "again", again)
		}
	}
	if b.List != "" {
		p.verbatim("", "all", command(b.List))
	}
	if b.Rerun != "" {
		p.verbatim("", "rerun", command(b.Rerun))
	}
}

func askedAgain(ch gate.ItemChange) string {
	if ch.Asked == 0 {
		return ""
	}
	kind := "broken"
	if ch.Flaky {
		kind = "flaky"
	}
	return strings.Join([]string{kind, fmt.Sprintf("%d of %s correct", ch.Passed, plural(ch.Asked, "further answer"))}, ": ")
}
