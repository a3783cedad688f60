package evaltest_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/goevals/evals/evaltest"
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
