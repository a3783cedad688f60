package load_test

import (
	"context"
	"fmt"
	"time"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/workload"
)

// Four users ask a server on this machine ten times each, after a warm-up that
// keeps their slots busy and does not count.
func Example() {
	server := &fake.Server{TTFT: 2 * time.Millisecond, ITL: time.Millisecond}
	url, stop, err := server.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	source, err := workload.New(workload.Options{
		Text:   token.Words{},
		Input:  workload.Must(workload.Fixed(100, 0)),
		Output: workload.Must(workload.Fixed(8, 0)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := load.Run(context.Background(), load.Load{
		Client: client.Config{Host: url, Model: "my-model"},
		Source: source,
		Users:  4,
		Phases: arrival.Phases{Warmup: arrival.Limit{Count: 4}, Measured: arrival.Limit{Count: 40}},
		Metric: metric.Config{SLO: metric.SLO{TTFT: time.Minute}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := report.Result
	fmt.Println(r.Counts.OK, "answered,", r.Counts.Warmup, "to warm up")
	fmt.Println("input", r.Tokens.Input, "output", r.Tokens.Output)
	fmt.Println("good:", r.Goodput.Fraction)
	// Output:
	// 40 answered, 4 to warm up
	// input 4000 output 320
	// good: 1
}

// Ten sessions of three turns each, of which three are active at a time: each
// prompt is the one before, the server's reply and the tool's answer.
func ExampleRunAgents() {
	url, stop, err := (&fake.Server{}).Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	plans, err := agent.Synthesize(1, 10, agent.Shape{
		Input: agent.Fixed(200), Turns: agent.Fixed(3), Output: agent.Fixed(20), Environment: agent.Fixed(50),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := load.RunAgents(context.Background(), load.Agents{
		Client: client.Config{Host: url, Model: "my-model"},
		Plans:  plans,
		Config: agent.Config{Text: token.Words{}, MaxActive: 3},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Result.Jobs.Completed, "of", report.Result.Jobs.Total, "sessions,", report.Result.Counts.OK, "requests")
	// Output:
	// 10 of 10 sessions, 30 requests
}
