package load

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

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
//	output-tok/s          tokens; total-tok/s with the input's
//	goodput-%             answers within Metric.SLO, of all that were due
//	ok-%                  answers, of all that were due
//
// Package metric has their formulas. The name of the benchmark should not end in
// digits behind a "-", which benchstat takes for a number of processors.
//
// If the load does not end by itself, an iteration is a measured request, and
// -benchtime says how many there are, or how long: -benchtime=5000x, or 30s. The
// warm-up of Phases comes before the first. If it does end (Each, a measured
// phase with a limit, a source or schedule that ends), an iteration is the whole
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
		report, err := runGated(b.Context(), &l, b.Loop)
		return judge(b, report, err)
	}
	return whole(b, func(ctx context.Context) (*Report, error) { return runGated(ctx, &l, nil) })
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
	return whole(b, func(ctx context.Context) (*Report, error) { return RunAgents(ctx, a) })
}

// printUnits prints benchstat's metadata once a process, before the first result:
// later, testing may be in the middle of a line.
var printUnits = sync.OnceFunc(func() {
	fmt.Fprintln(os.Stdout, strings.Join(metric.AllUnits(), "\n"))
})

// endless reports whether only a benchmark's iterations end a load.
func (l *Load) endless() bool {
	if l.Each > 0 || l.Source.Len() > 0 {
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
func whole(b *testing.B, run func(context.Context) (*Report, error)) *Report {
	b.Helper()
	var report *Report
	var err error
	for n := 0; b.Loop(); n++ {
		if n > 0 {
			b.Fatal("load.Benchmark: one iteration is a whole run, and -benchtime asked for more: give -benchtime=1x, and -count=10 for ten runs")
		}
		report, err = run(b.Context())
	}
	return judge(b, report, err)
}

// judge reports the numbers of a run that can be believed.
func judge(b *testing.B, report *Report, err error) *Report {
	b.Helper()
	if err != nil {
		b.Fatalf("load.Benchmark: %v", err)
	}
	if err := report.Problem(); err != nil {
		b.Fatalf("load.Benchmark: %v", err)
	}
	list, err := report.Result.Metrics()
	if err != nil {
		b.Fatalf("load.Benchmark: %v", err)
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
	return strings.Join(append(append([]string{}, r.Warnings...), r.Result.Warnings...), "; ")
}
