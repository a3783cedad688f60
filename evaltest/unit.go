package evaltest

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/goevals/evals/evaltest/bakeoff"
)

// units are those of every benchmark as benchstat's metadata. The lines are
// keyed by what it makes of a unit: ns becomes sec. One without a number, as a
// p99 of few answers is, does no harm.
var units = []string{
	"Unit items/s better=higher",
	"Unit accuracy-% better=higher",
	"Unit input-tok/item better=lower",
	"Unit cached-tok/item better=higher",
	"Unit output-tok/item better=lower",
	"Unit µUSD/item better=lower",
	"Unit p50-ns better=lower",
	"Unit p90-ns better=lower",
	"Unit p99-ns better=lower",
	"Unit retries/item better=lower",
}

// printUnits prints the metadata once, before the first benchmark measures:
// this is the one thing that the package writes to standard output, because
// that is what benchstat reads. Later, testing may be in the middle of a line.
var printUnits = sync.OnceFunc(func() {
	fmt.Fprintln(os.Stdout, strings.Join(units, "\n"))
})

// raced are the benchmarks that have raced in this process, and the metadata
// that was printed for them.
var raced = struct {
	sync.Mutex
	names, lines map[string]bool
}{names: map[string]bool{}, lines: map[string]bool{}}

// printLegUnits prints the metadata of a race's own units, before its first
// result. testing runs a benchmark once before it begins the line of its first
// result; from the second -count on, the name is already there. So only the
// first race of a name prints, and only what no other one has: legs that come
// in a later race of the same name have no metadata, which benchstat can do
// without; a broken line it cannot read. As with printUnits, a benchmark that
// leaves its first run out and races in a later one is not foreseen.
func printLegUnits(name string, legs []Leg) {
	raced.Lock()
	defer raced.Unlock()
	if raced.names[name] {
		return
	}
	raced.names[name] = true
	for _, line := range legUnits(legs) {
		if !raced.lines[line] {
			raced.lines[line] = true
			fmt.Fprintln(os.Stdout, line)
		}
	}
}

// legUnits are the units of a race as benchstat's metadata.
func legUnits(legs []Leg) []string {
	lines := []string{"Unit " + bakeoff.Ours + "-ns better=lower"}
	for _, leg := range legs {
		lines = append(lines, "Unit "+leg.Name+"-ns better=lower", "Unit vs-"+leg.Name+"-% better=higher")
	}
	return lines
}

// BenchName makes the name of a sub-benchmark from keys and values, such as
// "model=gpt-5/mode=fast/eval" from "model", "gpt-5", "mode", "fast", so that
// benchstat tells its parts apart: -col /model. A slash or a space in a value
// becomes "_". Every name ends in "/eval": benchstat takes digits behind a last
// "-" for the number of processors, and puts two models side by side only if
// the rest of their names is the same. It panics on an odd number of arguments
// or an empty key.
func BenchName(keysAndValues ...string) string {
	if len(keysAndValues) == 0 || len(keysAndValues)%2 != 0 {
		panic(fmt.Sprintf("evaltest.BenchName: %d arguments %q: want keys and values in turn", len(keysAndValues), keysAndValues))
	}
	clean := strings.NewReplacer("/", "_", "=", "_")
	var parts []string
	for i := 0; i < len(keysAndValues); i += 2 {
		if keysAndValues[i] == "" {
			panic(fmt.Sprintf("evaltest.BenchName: an empty key in %q", keysAndValues))
		}
		key, value := clean.Replace(keysAndValues[i]), strings.ReplaceAll(keysAndValues[i+1], "/", "_")
		parts = append(parts, strings.Map(printable, key+"="+value))
	}
	return strings.Join(append(parts, "eval"), "/")
}
