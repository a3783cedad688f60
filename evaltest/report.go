package evaltest

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

// A Report is what a run came to.
type Report struct {
	// Stats are the numbers. Every answer that the run owed is in them;
	// subtests that -run and -skip left out are not.
	Stats *report.Stats
	// Decisions are what the gates decided, in a fixed order.
	Decisions []gate.Decision
	// Comparison is that with the baseline; nil if there was none. Its First is
	// what it was before broken items were asked again.
	Comparison *gate.Comparison
	// Narrowed says that only part of the dataset was asked for, by -run,
	// -skip, ids or failed: gates about the whole are not evaluated.
	Narrowed bool
	// Stopped says why the run ended before all its items had run; "" if it
	// did not. It may quote a server: escape it before it is shown.
	Stopped string
	// Journal is the path of the run's file; "" for a benchmark that asked
	// nobody.
	Journal string
	// Warnings is non-fatal trouble with the run as a whole; that of single
	// items is in Stats.
	Warnings []string
	// Summary is the text that the test prints.
	Summary string

	ds       *dataset.Dataset
	broken   *report.Broken
	accepted string   // what became of the baseline
	trouble  []string // why the test fails, gates excepted, a line each
}

// Failed reports whether the test fails by this run as a whole. Without an
// accuracy gate it also fails by its subtests.
func (r *Report) Failed() bool { return len(r.trouble) > 0 || gate.AnyFailed(r.Decisions) }

// Records yields the run's records from its journal, the latest one of each
// item's sample, in the order of the dataset, an item's samples one after the
// other; an error ends it. Items without a record are not in it.
func (r *Report) Records() iter.Seq2[result.Record, error] {
	return func(yield func(result.Record, error) bool) {
		j, err := result.Read(r.Journal)
		if err != nil {
			yield(result.Record{}, err)
			return
		}
		// The journal has them as they ended, and whoever zips those with the
		// dataset compares answers with other items' targets.
		place, n := make(map[string]int, r.ds.Len()), 0
		for it := range r.ds.All() {
			place[it.ID], n = n, n+1
		}
		slices.SortStableFunc(j.Records, func(a, b result.Record) int {
			return cmp.Or(cmp.Compare(place[a.Item.ID], place[b.Item.ID]), cmp.Compare(a.Sample, b.Sample))
		})
		for _, rec := range j.Records {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// text is what a person is shown: first what the summary does not say. Some of
// it quotes servers.
func (r *Report) text() string {
	var b strings.Builder
	for _, why := range r.trouble {
		b.WriteString(report.Escape(why, 2000) + "\n")
	}
	return b.String() + r.Summary
}

// aside is what a person should know of a run that passed: what could not be
// decided, and what was accepted. "" if there is nothing.
func (r *Report) aside() string {
	var gates []gate.Decision
	for _, d := range r.Decisions {
		if d.Status == gate.NotEnoughData {
			gates = append(gates, d)
		}
	}
	if len(gates) == 0 && r.accepted == "" {
		return ""
	}
	var b strings.Builder
	report.Aside(&b, r.Stats, report.Options{Gates: gates, Accepted: r.accepted})
	return b.String()
}

// print puts the report into the test's log and fails the test if it must.
func (r *Report) print(t testing.TB) {
	t.Helper()
	if r.Failed() {
		t.Error(r.text())
	} else {
		t.Log(r.text())
	}
}
