//go:build unix

package evaltest_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func init() {
	scenarios["perf: run"] = func(t *testing.T) {
		ds := manyProblems(t)
		same := grade.Func(func(_ context.Context, it dataset.Item, r llm.Response) (grade.Verdict, error) {
			if r.Text == it.Target {
				return grade.Verdict{Mark: grade.Correct, Score: 1, Answer: r.Text, How: "same text"}, nil
			}
			return grade.Verdict{Mark: grade.Incorrect, Reason: grade.ReasonWrong, How: "same text"}, nil
		})
		books(t, func() {
			evaltest.Run(t, ds, answers{}, evaltest.Grader(same), evaltest.Parallel(manyWorkers), evaltest.Offline())
		})
	}
	scenarios["perf: bare"] = func(t *testing.T) {
		ds := manyProblems(t)
		books(t, func() { bareRun(t, ds) })
	}
}

// bareRun is a subtest an item, manyWorkers at once, and nothing else.
func bareRun(t *testing.T, ds *dataset.Dataset) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range manyWorkers {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= ds.Len() {
					return
				}
				it := ds.At(i)
				t.Run(it.ID, func(t *testing.T) {
					if it.Target == "" {
						t.Error("no target")
					}
				})
			}
		})
	}
	wait.Wait()
}

// BenchmarkRun compares Run over 100,000 items that do nothing, each recorded
// before its subtest ends, with a bare loop of concurrent t.Run calls, as the
// median of the rounds' ratios. The limits are 3 times the time and 1.5 times
// the memory. Use -benchtime=5x: one iteration is one round of two processes.
func BenchmarkRun(b *testing.B) {
	var times, sizes, perItem []float64
	for b.Loop() {
		bare, bareRSS := play(b, "perf: bare")
		took, rss := play(b, "perf: run")
		ns := took["wall-ns"]
		times = append(times, ns/bare["wall-ns"])
		sizes = append(sizes, rss/bareRSS)
		perItem = append(perItem, ns/manyItems)
	}
	b.ReportMetric(median(times), "x-bare-time")
	b.ReportMetric(median(sizes), "x-bare-memory")
	b.ReportMetric(median(perItem), "ns/item")
	b.ReportMetric(0, "ns/op")
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
