package evaltest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest"
)

func init() {
	own := evaltest.Leg{Name: "own-way", Go: evaltest.PoolLeg().Go}
	late := evaltest.Leg{Name: "late", Go: own.Go}
	race := func(legs ...evaltest.Leg) func(*testing.B) {
		return func(b *testing.B) { evaltest.Race(b, capitals(b, 4), answers{}, legs, exact, evaltest.Offline()) }
	}
	benchScenarios["races"] = func(b *testing.B) {
		b.Run("plain", func(b *testing.B) { evaltest.Benchmark(b, capitals(b, 4), answers{}, exact, evaltest.Offline()) })
		b.Run("one", race(evaltest.PoolLeg()))
		runs := 0
		b.Run("two", func(b *testing.B) {
			legs := []evaltest.Leg{own, evaltest.PoolLeg()}
			if runs++; runs > 1 {
				legs = append(legs, late)
			}
			race(legs...)(b)
		})
	}
}

// TestRaceUnits: a race prints the metadata of its own legs before its results,
// once, and never into the middle of a line.
func TestRaceUnits(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		args         []string
		results      int
	}{
		{"once", "no later run", nil, 3},
		{"count", "the line of a later run has begun when its race begins", []string{"-test.count=3"}, 9},
		{"processors", "so has that of another -cpu", []string{"-test.cpu=1,2", "-test.count=2"}, 12},
		{"verbose", "testing prints in another order", []string{"-test.v", "-test.count=2"}, 6},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newBenchChild(t, "races", append(row.args, "-test.benchtime=1x")...).with("EVALTEST_PASS", "1").run()
			out := c.out.String()
			require.Equal(t, 0, c.code, out)
			results := 0
			for _, line := range strings.Split(out, "\n") {
				switch {
				case strings.Contains(line, "Unit "):
					assert.Regexp(t, `^Unit \S+ better=(higher|lower)$`, line, row.reason)
				case strings.HasPrefix(line, "BenchmarkChild") && strings.Contains(line, "items/s"):
					assert.Regexp(t, `^BenchmarkChild/\S+\s+1\t`, line, row.reason)
					results++
				}
			}
			assert.Equal(t, row.results, results, out)
			for _, unit := range []string{"ours-ns", "pool-ns", "vs-pool-%", "own-way-ns", "vs-own-way-%", "accuracy-%"} {
				line := "Unit " + unit + " better="
				assert.Equal(t, 1, strings.Count(out, line), "%s: %s", unit, out)
				assert.Less(t, strings.Index(out, line), strings.Index(out, " "+unit), "before its first result")
			}
			assert.NotContains(t, out, "Unit sequential-ns", "nobody raced so")
		})
	}
}
