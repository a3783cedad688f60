package evaltest_test

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/llm"
)

// BenchmarkChild is what TestChild is, for benchmarks.
func BenchmarkChild(b *testing.B) {
	play := benchScenarios[os.Getenv(scenarioVar)]
	if play == nil {
		b.Skip("only played by children")
	}
	play(b)
}

// priced answers with the target, tokens and a cost.
func priced(usd string) evaltest.Strategy {
	return evaltest.StrategyFunc(func(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
		text := it.Target
		if it.ID == "spain" {
			text = "Barcelona"
		}
		return llm.Response{
			Text: text, CostUSD: usd, Usage: llm.Usage{Input: 100, CachedInput: 40, Output: 7, Known: true},
		}, nil
	})
}

var benchScenarios = map[string]func(*testing.B){
	"priced": func(b *testing.B) {
		evaltest.Benchmark(b, capitals(b, 4), priced("0.00001234"), exact, evaltest.Offline())
	},
	"99 answers":  func(b *testing.B) { evaltest.Benchmark(b, capitals(b, 99), answers{}, exact, evaltest.Offline()) },
	"100 answers": func(b *testing.B) { evaltest.Benchmark(b, capitals(b, 100), answers{}, exact, evaltest.Offline()) },
	"small": func(b *testing.B) {
		evaltest.Benchmark(b, capitals(b, 4), priced("0.000000045"), exact, evaltest.Offline())
	},
	"unknown": func(b *testing.B) { evaltest.Benchmark(b, capitals(b, 4), answers{}, exact, evaltest.Offline()) },
	"live":    func(b *testing.B) { evaltest.Benchmark(b, capitals(b, 4), priced("0.001"), exact) },
	"dead": func(b *testing.B) {
		evaltest.Benchmark(b, capitals(b, 4), strategy(func(context.Context, dataset.Item) (string, error) {
			return "", &llm.Error{Kind: llm.KindServer, Provider: "fake", Status: 500, Message: "always"}
		}), exact, evaltest.Offline())
	},
	"unreachable": func(b *testing.B) {
		evaltest.Benchmark(b, capitals(b, 40), strategy(func(context.Context, dataset.Item) (string, error) {
			return "", &llm.Error{Kind: llm.KindConnection, Provider: "fake", Message: "refused"}
		}), exact, evaltest.Attempts(1), evaltest.Parallel(2))
	},
	"gate": func(b *testing.B) {
		evaltest.Benchmark(b, capitals(b, 4), wrong, exact, evaltest.MinAccuracy(0.9), evaltest.Offline())
	},
	"resume": func(b *testing.B) { evaltest.Benchmark(b, capitals(b, 4), answers{}, exact, evaltest.Failed()) },
	"names": func(b *testing.B) {
		for _, model := range []string{"gpt-5", "meta/llama 3"} {
			b.Run(evaltest.BenchName("model", model), func(b *testing.B) {
				evaltest.Benchmark(b, capitals(b, 2), answers{}, exact, evaltest.Offline())
			})
		}
	},
}

// newBenchChild prepares a run of a benchmark's scenario.
func newBenchChild(t *testing.T, scenario string, args ...string) *child {
	t.Helper()
	return newChild(t, scenario, append([]string{"-test.run=^$", "-test.bench=^BenchmarkChild$"}, args...)...)
}

// metrics parses the child's benchmark lines: name (without -N), unit, value.
func (c *child) metrics() map[string]map[string]float64 {
	c.t.Helper()
	all := map[string]map[string]float64{}
	for _, line := range regexp.MustCompile(`(?m)^(BenchmarkChild\S*)\s+\d+\t(.*)$`).FindAllStringSubmatch(c.out.String(), -1) {
		name := regexp.MustCompile(`-\d+$`).ReplaceAllString(line[1], "")
		m := map[string]float64{}
		fields := strings.Fields(line[2])
		for i := 0; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			require.NoError(c.t, err)
			m[fields[i+1]] = v
		}
		all[name] = m
	}
	return all
}

func TestBenchmark(t *testing.T) {
	t.Parallel()
	c := newBenchChild(t, "priced", "-test.benchtime=3x", "-test.count=2").run()
	require.Equal(t, 0, c.code, c.out.String())
	m := c.metrics()["BenchmarkChild"]
	for unit, want := range map[string]float64{
		"accuracy-%": 75, "input-tok/item": 100, "cached-tok/item": 40, "output-tok/item": 7, "µUSD/item": 12.34, "retries/item": 0,
	} {
		got, ok := m[unit]
		assert.True(t, ok, "%s in %v", unit, m)
		assert.InDelta(t, want, got, want*1e-3, unit)
	}
	for _, unit := range []string{"ns/op", "items/s", "p50-ns", "p90-ns"} {
		assert.Greater(t, m[unit], 0.0, unit)
	}
	assert.InDelta(t, 4e9/m["ns/op"], m["items/s"], m["items/s"]*0.02, "a pass of 4 items is one operation")
	assert.Equal(t, 1, strings.Count(c.out.String(), "Unit accuracy-% better=higher\n"), "once a process")
	for _, line := range strings.Split(c.out.String(), "\n") {
		assert.Regexp(t, `^(Unit \S+ better=(higher|lower)|goos: .*|goarch: .*|pkg: .*|cpu: .*|BenchmarkChild.*|PASS|)$`, line, "nothing else on standard output")
	}
}

func TestBenchmarkMetrics(t *testing.T) {
	for _, row := range []struct {
		name, reason, scenario string
		want                   map[string]float64
		absent                 []string
	}{
		{"small costs", "B10: 4 digits survive", "small", map[string]float64{"µUSD/item": 0.045}, nil},
		{"unknown", "what is not known is left out, never 0", "unknown", map[string]float64{"accuracy-%": 100}, []string{"µUSD/item", "input-tok/item", "output-tok/item"}},
		{"99 answers", "of fewer than 100 a p99 is the maximum", "99 answers", map[string]float64{"accuracy-%": 100}, []string{"p99-ns"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newBenchChild(t, row.scenario, "-test.benchtime=1x").run()
			require.Equal(t, 0, c.code, c.out.String())
			m := c.metrics()["BenchmarkChild"]
			for unit, want := range row.want {
				assert.InDelta(t, want, m[unit], want*1e-3, "%s: %s", row.reason, unit)
			}
			for _, unit := range row.absent {
				assert.NotContains(t, m, unit, row.reason)
			}
		})
	}
}

func TestBenchmarkFails(t *testing.T) {
	for _, row := range []struct {
		name, reason, scenario, benchtime, want string
	}{
		{"live by time", "it would pay for 100 passes", "live", "1s", "-benchtime=1s against a live model would pay for as many passes as fit into it; say how many: -benchtime=1x (-count=10 for benchstat); if nobody is paid, add evaltest.Offline()"},
		{"dead", "B08: fails with the cause, prints no NaN", "dead", "1x", "fake: HTTP 500: always"},
		{"unreachable", "the rest never ran, and cannot be resumed", "unreachable", "1x", "never ran; it has to run anew"},
		{"gate", "as in Run", "gate", "1x", "FAILED MinAccuracy"},
		{"resume", "a part of a pass measures nothing", "resume", "1x", "a benchmark measures whole passes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newBenchChild(t, row.scenario, "-test.benchtime="+row.benchtime).run()
			assert.Equal(t, 1, c.code)
			assert.Contains(t, c.out.String(), row.want, row.reason)
			assert.Contains(t, c.out.String(), "--- FAIL: BenchmarkChild")
			assert.Empty(t, c.metrics(), "no numbers")
			assert.NotContains(t, c.out.String(), "NaN")
			assert.NotContains(t, c.out.String(), "-evaltest.resume", "a benchmark refuses it")
			assert.NotContains(t, c.out.String(), "resume the run", "a benchmark refuses it")
			assert.NotContains(t, c.out.String(), "returned without B.Loop() == false")
		})
	}
}

// TestBenchmarkPercentile: the numbers have a p99 where the text has one.
func TestBenchmarkPercentile(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"99 answers", "100 answers"} {
		c := newBenchChild(t, scenario, "-test.benchtime=1x", "-test.v").run()
		require.Equal(t, 0, c.code, c.out.String())
		m := c.metrics()["BenchmarkChild"]
		require.NotEmpty(t, m, c.out.String())
		_, measured := m["p99-ns"]
		assert.Equal(t, scenario == "100 answers", measured, scenario)
		assert.Equal(t, !measured, strings.Contains(c.out.String(), "is too small for p99"), scenario)
		assert.NotZero(t, m["p90-ns"], scenario)
	}
}

// TestBenchmarkLive: a live benchmark says how many passes, and keeps a journal
// of what it paid for.
func TestBenchmarkLive(t *testing.T) {
	t.Parallel()
	c := newBenchChild(t, "live", "-test.benchtime=2x").run()
	require.Equal(t, 0, c.code, c.out.String())
	j := c.journal()
	assert.Len(t, j.Records, 4)
	assert.Len(t, j.Replaced, 4, "the second pass")
	assert.Equal(t, "BenchmarkChild", j.Header.Test)
}

func TestBenchNames(t *testing.T) {
	t.Parallel()
	c := newBenchChild(t, "names", "-test.benchtime=1x", "-test.cpu=1").run()
	require.Equal(t, 0, c.code, c.out.String())
	assert.Contains(t, c.out.String(), "BenchmarkChild/model=gpt-5/eval")
	assert.Contains(t, c.out.String(), "BenchmarkChild/model=meta_llama_3/eval")
}
