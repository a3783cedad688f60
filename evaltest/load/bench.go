package load

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/metric"
)

// Benchmark runs a load as a benchmark and reports its numbers, each with the
// percentiles that it has enough values for:
//
//	ttft-p50-ns …         time to the first token, p50, p90, p99; also ttfo, tpot,
//	                      itl, icl, e2e, and response-ttft and response-e2e from
//	                      when a request was due
//	lag-p99-ns …          how late the client was
//	requests/s            answers a second; steady-requests/s in the steady window
//	output-tok/s          tokens; total-tok/s with the input's, steady-output-tok/s
//	user-tok/s            tokens a second that one user sees
//	goodput-%             answers within Metric.SLO, of all that were due;
//	good-requests/s       the same a second
//	ok-%                  answers, of all that were due
//	concurrency           requests in flight on average; arrivals/s sent a second
//	input-tok/req …       output-tok/req, cached-%: what was really asked
//
// Package metric has their formulas. -cpu changes this client, not the server.
// The name of the benchmark should not end in digits behind a "-", which
// benchstat takes for a number of processors.
//
// If the load does not end by itself, -benchtime says how many measured requests
// there are (-benchtime=5000x: an iteration is one of them), or how long the
// measured part is (-benchtime=30s: the only iteration is the run). The warm-up
// of Phases comes before. If it does end (RequestsPerUser, a measured phase with
// a limit, a source or schedule that ends), an iteration is the whole
// run: give -benchtime=1x, and -count for repeats. Make the source inside the
// benchmark function, so that each repeat has a salt of its own; the server's
// prefix cache would answer the second from the first.
//
// A run of which nothing is to be believed ([Report.Problem]) fails b, and prints
// no numbers. So does a Load that makes no sense. Failed requests alone do not:
// look at ok-%.
func Benchmark(b *testing.B, l Load) *Report {
	b.Helper()
	printUnits()
	if err := l.fill(); err != nil {
		b.Fatalf("load.Benchmark: %v", err)
	}
	if l.endless() {
		d, err := time.ParseDuration(flag.Lookup("test.benchtime").Value.String())
		if err != nil { // so many requests: "5000x"
			report, err := runGated(b.Context(), &l, b.Loop)
			return judge(b, "Benchmark", report, err)
		}
		// b.Loop would guess how many requests fit into the time from how fast the
		// first were sent, all users at once, and be far off.
		l.Phases.Measured.For = d
	}
	return whole(b, "Benchmark", func(ctx context.Context) (*Report, error) { return runGated(ctx, &l, nil) })
}

// BenchmarkAgents runs trajectories as a benchmark. An iteration is the whole
// run: give -benchtime=1x, and -count for repeats. Beside the numbers of
// [Benchmark] it reports
//
//	jobs/h        trajectories that were completed, an hour
//	job-ok-%      of those that ended by themselves
//	job-p50-ns    from admission to end
func BenchmarkAgents(b *testing.B, a Agents) *Report {
	b.Helper()
	printUnits()
	return whole(b, "BenchmarkAgents", func(ctx context.Context) (*Report, error) { return RunAgents(ctx, a) })
}

// printUnits prints benchstat's metadata once a process, before the first result:
// later, testing may be in the middle of a line.
var printUnits = sync.OnceFunc(func() {
	fmt.Fprintln(os.Stdout, strings.Join(metric.AllUnits(), "\n"))
})

// endless reports whether only a benchmark's iterations end a load.
func (l *Load) endless() bool {
	if l.RequestsPerUser > 0 || l.Source.Len() > 0 {
		return false
	}
	if m := l.Phases.Measured; m.Count > 0 || m.For > 0 && m.For != arrival.Forever {
		return false
	}
	_, ends := l.Schedule.Length()
	return !l.open() || !ends
}

// whole runs one iteration, which is a run of its own: the numbers of two would
// be those of neither.
func whole(b *testing.B, name string, run func(context.Context) (*Report, error)) *Report {
	b.Helper()
	var report *Report
	var err error
	for n := 0; b.Loop(); n++ {
		if n > 0 {
			judge(b, name, report, err) // what went wrong goes first
			b.Fatalf("load.%s: one iteration is a whole run, and -benchtime asked for more: give -benchtime=1x, and -count=10 for ten runs", name)
		}
		report, err = run(b.Context())
	}
	return judge(b, name, report, err)
}

// judge reports the numbers of a run that can be believed.
func judge(b *testing.B, name string, report *Report, err error) *Report {
	b.Helper()
	if err != nil {
		b.Fatalf("load.%s: %v", name, err)
	}
	if err := report.Problem(); err != nil {
		b.Fatalf("load.%s: %v", name, err)
	}
	list, err := report.Result.Metrics()
	if err != nil {
		b.Fatalf("load.%s: %v", name, err)
	}
	for _, m := range list {
		b.ReportMetric(m.Value, m.Unit)
	}
	b.ReportMetric(0, "ns/op") // an iteration's time says nothing that requests/s does not
	if text := notes(report); text != "" {
		b.Log(text)
	}
	return report
}

// notes is what a reader should know. testing shows ten lines.
func notes(r *Report) string {
	list := slices.Concat(r.Warnings, r.Result.Warnings)
	for _, e := range r.Result.Errors {
		said := ""
		if len(e.Examples) > 0 {
			said = ", such as " + e.Examples[0]
		}
		list = append(list, fmt.Sprintf("%d of %d failed: %s%s", e.Count, r.Result.Counts.Due, e.Class, said))
	}
	return strings.Join(list, "; ")
}
