//go:build unix

package evaltest_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

const (
	manyItems   = 100_000
	manyWorkers = 64
)

// manyRows is a dataset whose records take about 0.6 KB each.
func manyRows(t *testing.T) *dataset.Dataset {
	t.Helper()
	items := make([]dataset.Item, manyItems)
	for i := range items {
		items[i] = dataset.Item{ID: fmt.Sprintf("item-%06d", i), Input: strings.Repeat("why? ", 30), Target: "yes"}
	}
	ds, err := dataset.New("many", items)
	require.NoError(t, err)
	return ds
}

func init() {
	scenarios["perf: run"] = func(t *testing.T) {
		ds := manyRows(t)
		same := grade.Func(func(_ context.Context, it dataset.Item, r llm.Response) (grade.Verdict, error) {
			if r.Text == it.Target {
				return grade.Verdict{Mark: grade.Correct, Score: 1, Answer: r.Text, How: "same text"}, nil
			}
			return grade.Verdict{Mark: grade.Incorrect, Reason: grade.ReasonWrong, How: "same text"}, nil
		})
		begun := time.Now()
		evaltest.Run(t, ds, answers{}, evaltest.Grader(same), evaltest.Parallel(manyWorkers), evaltest.Offline())
		fmt.Printf("took %d ns\n", time.Since(begun))
	}
	scenarios["perf: bare"] = func(t *testing.T) {
		ds := manyRows(t)
		begun := time.Now()
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
		fmt.Printf("took %d ns\n", time.Since(begun))
	}
}

// measure plays a scenario and returns its own time and the process's peak
// memory.
func measure(b *testing.B, scenario string) (ns, rss float64) {
	b.Helper()
	c := &child{dir: b.TempDir()}
	c.cmd = command(c, scenario, "-test.timeout=10m")
	out, err := c.cmd.Output()
	require.NoError(b, err, string(out))
	m := regexp.MustCompile(`took (\d+) ns`).FindSubmatch(out)
	require.NotNil(b, m, string(out))
	ns, err = strconv.ParseFloat(string(m[1]), 64)
	require.NoError(b, err)
	usage, ok := c.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(b, ok)
	require.NoError(b, os.RemoveAll(c.dir))
	return ns, float64(usage.Maxrss)
}

// BenchmarkRun compares Run over 100,000 items that do nothing, each recorded
// before its subtest ends, with a bare loop of concurrent t.Run calls, as the
// median of the rounds' ratios. The limits are 3 times the time and 1.5 times
// the memory. Use -benchtime=5x: one iteration is one round of two processes.
func BenchmarkRun(b *testing.B) {
	var times, sizes, perItem []float64
	for b.Loop() {
		bareNS, bareRSS := measure(b, "perf: bare")
		ns, rss := measure(b, "perf: run")
		times = append(times, ns/bareNS)
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
