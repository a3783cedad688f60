//go:build unix

package evaltest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
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

// How many items the benchmarks of this file and of perf_unix_test.go have, and
// how many of them are worked on at once.
const (
	manyItems   = 100_000
	manyWorkers = 64
)

// What a run takes beside the answers is measured with items that are as long
// as real ones and a strategy that has every answer at once: rows from a file,
// groups, usage, a model with a price, reasoning in the text, one answer in ten
// wrong. The journal is kept. To profile it:
//
//	EVALTEST_TEST_SCENARIO='many: run' go test -run '^TestChild$' -count=1 -cpuprofile cpu.out -memprofile mem.out ./evaltest

// manyProblems loads manyItems rows like GSM8K's.
func manyProblems(tb testing.TB) *dataset.Dataset {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "many.jsonl")
	f, err := os.Create(path)
	require.NoError(tb, err)
	w := bufio.NewWriter(f)
	for i := range manyItems {
		fmt.Fprintf(w, `{"id":"many-%06d","input":"Ann has %d boxes with %d pens in each, gives %d pens away and buys as many again in the shop next door. How many pens has she got?","target":"%d","group":"topic-%02d"}`+"\n",
			i, i%97+3, i%13+2, i%5+1, (i%97+3)*(i%13+2), i%50)
	}
	require.NoError(tb, w.Flush())
	require.NoError(tb, f.Close())
	return evaltest.Load(tb, path)
}

// solves answers as a client would, but at once.
func solves() evaltest.Strategy {
	var took atomic.Int64 // no two items take the same time
	return evaltest.StrategyFunc(func(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
		answer := it.Target
		if it.ID[len(it.ID)-1] == '7' {
			answer += "1"
		}
		return llm.Response{
			Text:   "She has as many boxes as the text says.\nEach holds the same number of pens, and what she gives away she buys again.\n#### " + answer,
			Finish: llm.FinishStop, Model: "gpt-5-nano",
			Usage:  llm.Usage{Input: 61, Output: 48, Known: true},
			Timing: llm.Timing{Start: time.Now(), FirstToken: 200 * time.Microsecond, Total: time.Millisecond + time.Duration(took.Add(104_729)%999_983)},
		}, nil
	})
}

// manyOptions are of both scenarios.
func manyOptions() evaltest.Option {
	return evaltest.Options(evaltest.Grader(grade.Numeric()), evaltest.Parallel(manyWorkers), evaltest.MinAccuracy(0.5))
}

// books prints what f took: time, CPU of the process and allocations.
func books(tb testing.TB, f func()) {
	var was, is runtime.MemStats
	runtime.GC() // of the dataset
	runtime.ReadMemStats(&was)
	cpu, begun := cpuTime(tb), time.Now()
	f()
	took, spent := time.Since(begun), cpuTime(tb)-cpu
	runtime.ReadMemStats(&is)
	fmt.Printf("books: %d wall-ns %d cpu-ns %d allocs %d B\n", took, spent, is.Mallocs-was.Mallocs, is.TotalAlloc-was.TotalAlloc)
}

// cpuTime is what the process has used so far.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func init() {
	scenarios["many: run"] = func(t *testing.T) {
		ds := manyProblems(t)
		books(t, func() { evaltest.Run(t, ds, solves(), manyOptions()) })
	}
	benchScenarios["many: benchmark"] = func(b *testing.B) {
		ds := manyProblems(b)
		books(b, func() { evaltest.Benchmark(b, ds, solves(), manyOptions()) })
	}
}

// BenchmarkManyItems measures 100,000 items through Run, as subtests, and
// through Benchmark, each in a process of its own and with a journal. One
// iteration is one process: use -benchtime=1x -count=10 for benchstat.
// cpu-ns/item is what to compare on a machine that does other work too.
func BenchmarkManyItems(b *testing.B) {
	for _, way := range []struct{ name, scenario, run, bench string }{
		{"run", "many: run", "^TestChild$", "^$"},
		{"benchmark", "many: benchmark", "^$", "^BenchmarkChild$"},
	} {
		b.Run(evaltest.BenchName("through", way.name), func(b *testing.B) {
			sums := map[string]float64{}
			for b.Loop() {
				took, _ := play(b, way.scenario, "-test.run="+way.run, "-test.bench="+way.bench, "-test.benchtime=1x")
				for unit, v := range took {
					sums[unit] += v
				}
			}
			for unit, v := range sums {
				b.ReportMetric(v/float64(b.N)/manyItems, strings.TrimPrefix(unit, "wall-")+"/item")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// play plays a scenario in a process of its own. It returns what books printed
// there, by unit, and the process's peak memory.
func play(b *testing.B, scenario string, args ...string) (took map[string]float64, rss float64) {
	b.Helper()
	c := &child{dir: b.TempDir()}
	c.cmd = command(c, scenario, append(args, "-test.timeout=10m")...)
	out, err := c.cmd.CombinedOutput()
	require.NoError(b, err, string(out))
	usage, ok := c.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(b, ok)
	require.NoError(b, os.RemoveAll(c.dir)) // the journal is long
	return readBooks(b, out), float64(usage.Maxrss)
}

var bookLine = regexp.MustCompile(`books:(?: \d+ \S+)+`)

func readBooks(b *testing.B, out []byte) map[string]float64 {
	fields := bytes.Fields(bookLine.Find(out))
	require.NotEmpty(b, fields, string(out))
	m := map[string]float64{}
	for i := 1; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(string(fields[i]), 64)
		require.NoError(b, err)
		m[string(fields[i+1])] = v
	}
	return m
}
