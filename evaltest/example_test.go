package evaltest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/grade"
)

// Ticket is what a row of the dataset decodes into.
type Ticket struct {
	Text string `json:"input"`
}

// route is the application under test.
func route(_ context.Context, t Ticket) (string, error) {
	if strings.Contains(t.Text, "invoice") {
		return "billing", nil
	}
	return "support", nil
}

// goTest runs a test as go test without flags does.
func goTest(name string, f func(*testing.T)) {
	for name, value := range map[string]string{"test.v": "false", "test.run": "", "test.skip": "", "test.count": "1"} {
		old := flag.Lookup(name).Value.String()
		flag.Set(name, value)
		defer flag.Set(name, old)
	}
	testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: name, F: f}})
}

// A test of a whole application. In a _test.go file, TestRouting is run by go
// test; the example runs it by hand.
func Example() {
	TestRouting := func(t *testing.T) {
		ds := evaltest.Load(t, "testdata/tickets.jsonl")
		rep := evaltest.Run(t, ds, evaltest.App(route),
			evaltest.Grader(grade.Exact()),
			evaltest.MinAccuracy(0.7), // accepted on the day this was written
			evaltest.Offline(),        // route asks nobody
			evaltest.Dir(exampleDir),
		)
		fmt.Println(rep.Stats.Correct(), "of", rep.Stats.Total)
		for _, d := range rep.Decisions {
			fmt.Println(d.Gate, d.Status)
		}
	}
	goTest("TestRouting", TestRouting)
	// Output:
	// 3 of 4
	// MinAccuracy passed
	// MaxErrored passed
	// MaxUngraded passed
}

// goBench runs a benchmark as go test -bench -benchtime=1x does, without what it
// prints for benchstat.
func goBench(f func(*testing.B)) {
	times, stdout := flag.Lookup("test.benchtime").Value.String(), os.Stdout
	flag.Set("test.benchtime", "1x")
	os.Stdout, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	defer func() {
		os.Stdout.Close()
		os.Stdout = stdout
		flag.Set("test.benchtime", times)
	}()
	testing.Benchmark(f)
}

// A race of a run against one item after another and a plain pool. In a _test.go
// file, BenchmarkRouting is run by go test; the example runs it by hand.
func ExampleRace() {
	var race *bakeoff.Race
	BenchmarkRouting := func(b *testing.B) {
		ds := evaltest.Load(b, "testdata/tickets.jsonl")
		race = evaltest.Race(b, ds, evaltest.App(route),
			[]evaltest.Leg{evaltest.SequentialLeg(), evaltest.PoolLeg()},
			evaltest.Grader(grade.Exact()),
			evaltest.Parallel(2),
			evaltest.Offline(), // route asks nobody
			evaltest.Dir(exampleDir),
		)
	}
	goBench(BenchmarkRouting)
	for _, lap := range race.Passes[0] { // lap.Wall is how long it took
		fmt.Println(lap.Leg, lap.Answered, "of", race.Items, "answered,", lap.Correct, "correct")
	}
	// Unordered output:
	// sequential 4 of 4 answered, 3 correct
	// pool 4 of 4 answered, 3 correct
	// ours 4 of 4 answered, 3 correct
}
