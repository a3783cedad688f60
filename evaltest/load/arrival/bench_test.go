package arrival_test

import (
	"iter"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest/load/arrival"
)

// The lag and the achieved rate on this machine, in real time. Run it with
// -benchtime=10000x, nothing else running, before a capacity number is believed.
func BenchmarkPacer(b *testing.B) {
	for _, bb := range []struct {
		name     string
		schedule arrival.Schedule
		waiter   arrival.Waiter
	}{
		{"rate=1000/wait=spin", arrival.Constant(1000), &arrival.Spin{}},
		{"rate=1000/wait=sleep", arrival.Constant(1000), arrival.Sleep{}},
		{"rate=100/wait=spin", arrival.Constant(100), &arrival.Spin{}},
		{"rate=20000/wait=spin", arrival.Constant(20_000), &arrival.Spin{}},
		{"process=poisson/rate=1000/wait=spin", arrival.Poisson(1000), &arrival.Spin{}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var report arrival.Report
			next, stop := iter.Pull(arrival.Pacer{Waiter: bb.waiter}.Arrivals(b.Context(), bb.schedule, seeded(1), &report))
			for b.Loop() {
				next()
			}
			stop()
			b.ReportMetric(0, "ns/op") // the gap that was asked for
			b.ReportMetric(float64(report.Total.LagP50), "lag-p50-ns")
			b.ReportMetric(float64(report.Total.LagP99), "lag-p99-ns")
			b.ReportMetric(float64(report.Total.LagMax), "lag-max-ns")
			b.ReportMetric(100*report.Total.Shortfall(), "rate-shortfall-%")
		})
	}
}

// What an arrival costs apart from waiting.
func BenchmarkTimes(b *testing.B) {
	for name, s := range map[string]arrival.Schedule{
		"process=constant": arrival.Constant(1000), "process=poisson": arrival.Poisson(1000), "process=gamma": arrival.Gamma(1000, 0.5),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			next, stop := iter.Pull(s.Times(seeded(1)))
			defer stop()
			for b.Loop() {
				next()
			}
		})
	}
}

func BenchmarkMeter(b *testing.B) {
	var m arrival.Meter
	for b.Loop() {
		m.Add(0, 123*time.Microsecond)
	}
}

// TestRealRate measures real time, so it runs only where asked for: an open loop
// of 1,000 requests a second for 10 s keeps its rate to within 0.5 %.
func TestRealRate(t *testing.T) {
	if os.Getenv("EVALS_TEST_PACE") == "" {
		t.Skip("set EVALS_TEST_PACE=1 on a quiet machine to measure real time")
	}
	for _, s := range []arrival.Schedule{arrival.Constant(1000), arrival.Poisson(1000), arrival.Gamma(1000, 0.25)} {
		report := arrival.Pacer{Phases: count(10_000)}.Run(t.Context(), s, seeded(1), func(arrival.Arrival) {})
		t.Logf("%v: %+v, spin %v", s, report.Total, report.Spin)
		assert.InDelta(t, 0, report.Total.Shortfall(), 0.005, s.String())
	}
}
