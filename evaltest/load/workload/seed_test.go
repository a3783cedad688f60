package workload

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMix(t *testing.T) {
	// Golden vectors of batchbench.md, G15.
	for _, row := range []struct {
		name, reason string
		root, agent  uint64
		stream       Stream
		want         uint64
	}{
		{"root", "nothing is added for agent and stream 0", 42, 0, 0, 42},
		{"agent", "wraps", 42, 1, 0, 11400714819323198527},
		{"stream", "wraps", 42, 0, Invocations, 15111065706836454701},
		{"both", "the sum wraps again", 42, 1, Invocations, 8065036452450101570},
		{"latency", "the last of the small numbers", 42, 7, ToolLatency, 7786379679768249804},
		{"initial", "text has large stream numbers", 42, 0, InitialText, 3458764513820540970},
		{"environment", "after turn 7, counted from 0", 42, 3, EnvironmentText(7), 9531242056223774614},
		{"reset", "before turn 1", 42, 3, ResetText(1), 16001572678154931823},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, Mix(row.root, row.agent, row.stream), row.reason)
		})
	}
}

func TestRandIsStable(t *testing.T) {
	var b strings.Builder
	for _, s := range []Stream{InputLength, OutputLength, InitialText, EnvironmentText(3)} {
		for agent := range uint64(3) {
			r := Rand(42, agent, s)
			fmt.Fprintf(&b, "%#x %d: %d %d %d %.12g\n", uint64(s), agent, r.Uint64(), r.IntN(1000), r.IntN(10_000), r.NormFloat64())
		}
	}
	golden(t, "streams.txt", b.String())
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[Stream]bool{}
	for _, s := range []Stream{InputLength, Invocations, OutputLength, EnvironmentLength, ToolLatency, GroupChoice, SharedSalt, SharedText, Arrivals, ThinkTime, UserTag, OwnSalt, InitialText} {
		assert.Falsef(t, seen[s], "stream %d is used twice", s)
		seen[s] = true
	}
}

// The first number of each agent's stream is all that most requests draw. These
// first numbers must look independent: uniform, and without correlation from
// one agent to the next.
func TestFirstDrawsAreUniform(t *testing.T) {
	const n, bins = 20_000, 20
	var counts [bins]float64
	var product, last float64
	for agent := range uint64(n) {
		x := Rand(1, agent, InputLength).Float64()
		counts[int(x*bins)]++
		if agent > 0 {
			product += (x - .5) * (last - .5)
		}
		last = x
	}
	chi2 := 0.0
	for _, c := range counts {
		chi2 += (c - n/bins) * (c - n/bins) / (n / bins)
	}
	assert.Less(t, chi2, 43.8, "chi-square with 19 degrees of freedom, 0.1 %")
	// The products have mean 0 and variance 1/144; 4 standard errors.
	assert.Less(t, math.Abs(product/n), 4/(12*math.Sqrt(n)))
}

func TestNewSeed(t *testing.T) {
	assert.NotZero(t, NewSeed())
	assert.NotEqual(t, NewSeed(), NewSeed())
}
