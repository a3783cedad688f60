package arrival_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/arrival"
)

// Send requests to a server at an even rate that first climbs, measure the rest,
// and keep the load on until the last measured request has been answered.
func Example() {
	stages, err := arrival.ParseStages("50ms:0..400,forever:400")
	if err != nil {
		fmt.Println(err)
		return
	}
	schedule, err := arrival.Stages(arrival.Even, stages...)
	if err != nil {
		fmt.Println(err)
		return
	}
	phases := arrival.Phases{
		Warmup:   arrival.Limit{For: 50 * time.Millisecond},
		Measured: arrival.Limit{Count: 20},
		Cooldown: arrival.Limit{For: arrival.Forever},
	}
	if err := phases.Fits(schedule); err != nil {
		fmt.Println(err)
		return
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var requests sync.WaitGroup
	var measured atomic.Int64
	report := arrival.Pacer{Phases: phases}.Run(ctx, schedule, nil, func(a arrival.Arrival) {
		requests.Go(func() { // the pacer goes on at once
			time.Sleep(5 * time.Millisecond) // the server
			if a.Phase == "measured" && measured.Add(1) == 20 {
				stop()
			}
		})
	})
	requests.Wait()
	// Also look at report.Measured.Achieved, LagP99 and report.Cooldown.
	fmt.Printf("%s: %d warm-up, %d measured, asked %.0f/s\n", schedule, report.Warmup, report.Measured.N, report.Measured.Asked)
	// Output:
	// constant 50ms:0..400,forever:400: 10 warm-up, 20 measured, asked 400/s
}

// A dry run: when would requests be due?
func ExamplePhases_Label() {
	r := rand.New(rand.NewPCG(1, 2))
	phases := arrival.Phases{Warmup: arrival.Limit{Count: 2}, Measured: arrival.Limit{Count: 3}}
	for a := range phases.Label(arrival.Poisson(10).Times(r)) {
		fmt.Println(a.Seq, a.Due.Round(time.Millisecond), a.Phase)
	}
	// Output:
	// 0 59ms warm-up
	// 1 66ms warm-up
	// 2 70ms measured
	// 3 316ms measured
	// 4 474ms measured
}

// Three users, of which each asks again 20 ms after its last answer.
func ExampleClosed() {
	loop := arrival.Closed{
		Users: 3, RequestsPerUser: 4,
		Think: arrival.Fixed(20 * time.Millisecond),
		Rand:  func(user int) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(user))) },
	}
	report, err := loop.Run(context.Background(), func(context.Context, arrival.Arrival) {
		time.Sleep(5 * time.Millisecond) // the server
	})
	fmt.Println(report.Total.N, report.End, err)
	// Output:
	// 12 complete <nil>
}

// Look for the rate that a server sustains. This one answers all in time up to
// 130 requests a second.
func ExampleSearch() {
	try := func(_ context.Context, rate float64) (float64, error) {
		if rate <= 130 {
			return 1, nil
		}
		return 130 / rate, nil
	}
	found, err := arrival.Search{Start: 20, Tolerance: 0.1}.Run(context.Background(), try)
	fmt.Printf("at least %.0f/s, below %.0f/s (%s, %d runs) %v\n", found.Rate, found.Above, found.Ended, found.Tries, err)
	for _, p := range found.Points {
		mean, _ := p.Mean()
		fmt.Printf("%6.1f/s %.2f %s\n", p.Rate, mean, p.Verdict)
	}
	// Output:
	// at least 123/s, below 135/s (enclosed, 14 runs) <nil>
	//   20.0/s 1.00 sustained
	//   40.0/s 1.00 sustained
	//   80.0/s 1.00 sustained
	//  160.0/s 0.81 not-sustained
	//  113.1/s 1.00 sustained
	//  134.5/s 0.97 not-sustained
	//  123.4/s 1.00 sustained
}
