package bakeoff

import (
	"slices"
	"time"

	"github.com/goevals/evals/llm"
)

// Names of legs, as laps have them and as [Race.Row] and [Race.Throughput] look
// for them.
const (
	Ours       = "ours"       // what this library runs
	Sequential = "sequential" // one item after another
	Chunked    = "chunked"    // as many as may run at once, then the next as many
	Pool       = "pool"       // another one whenever one has ended
)

// A Race is the same items worked through in several ways, pass by pass.
type Race struct {
	Provider string `json:"provider"` // the contestant's name; evaltest.Race leaves it empty
	Workers  int    `json:"workers"`  // the most items at once
	Items    int    `json:"items"`    // of a lap
	// Warmup is what opened the connections before the first lap. It is in no
	// lap, and was paid for.
	Warmup Lap `json:"warmup"`
	// Passes have every lap, raw, in the order in which they ran.
	Passes [][]Lap `json:"passes"`
	// Journal is the path of the journal of our leg; "" if there is none.
	Journal string `json:"-"`
}

// A Lap is one leg in one pass.
type Lap struct {
	Leg string `json:"leg"`
	// Wall is the time from the first item's start to the last one's end. That
	// of our leg has the writing of the journal in it.
	Wall time.Duration `json:"wall_ns"`
	// Answered items got an answer, Correct of them a right one; Errors are the
	// items without. An item that never ran is in none.
	Answered int `json:"ok"`
	Correct  int `json:"correct"`
	Errors   int `json:"errors"`
	// RateLimits is how many calls the provider refused as too fast.
	RateLimits int `json:"rate_limit_hits"`
	// Usage is what the lap's calls spent, failed ones included.
	Usage llm.UsageTotal `json:"usage"`
}

// Walls are the laps of a leg, in the order of the passes.
func (r *Race) Walls(leg string) []time.Duration {
	var walls []time.Duration
	for _, lap := range r.laps(leg) {
		walls = append(walls, lap.Wall)
	}
	return walls
}

func (r *Race) laps(leg string) []Lap {
	var laps []Lap
	for _, pass := range r.Passes {
		for _, lap := range pass {
			if lap.Leg == leg {
				laps = append(laps, lap)
			}
		}
	}
	return laps
}

// Legs are the names of the legs, in the order of the first pass.
func (r *Race) Legs() []string {
	var names []string
	if len(r.Passes) > 0 {
		for _, lap := range r.Passes[0] {
			names = append(names, lap.Leg)
		}
	}
	return names
}

// Median is the median wall of a leg; 0 if there is no such leg.
func (r *Race) Median(leg string) time.Duration { return median(r.Walls(leg)) }

// Ratio is how many times as long as ours the leg took: the median over the
// passes of the ratio of two laps of the same pass, since these ran under the
// same conditions. 0 if one of them is missing.
func (r *Race) Ratio(leg string) float64 {
	theirs, ours := r.Walls(leg), r.Walls(Ours)
	if len(theirs) != len(ours) || slices.Contains(ours, 0) {
		return 0
	}
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = float64(theirs[i]) / float64(ours[i])
	}
	return median(ratios)
}

// Add appends the passes of another race of the same contestant, and what its
// warm-up spent.
func (r *Race) Add(other *Race) {
	r.Passes = append(r.Passes, other.Passes...)
	r.Warmup.add(other.Warmup)
	r.Journal = other.Journal
}

func (l *Lap) add(o Lap) {
	l.Wall += o.Wall
	l.Answered += o.Answered
	l.Correct += o.Correct
	l.Errors += o.Errors
	l.RateLimits += o.RateLimits
	l.Usage.Merge(o.Usage)
}

// A RaceRow is a race as a summary has it. Times are medians over the passes,
// in seconds; those of legs that did not run are left out. Passes have the raw
// ones, and the order in which the legs of each pass ran.
type RaceRow struct {
	SequentialSeconds float64 `json:"sequential_s,omitempty"`
	ChunkedSeconds    float64 `json:"gather_s,omitempty"`
	PoolSeconds       float64 `json:"semaphore_s,omitempty"`
	OursSeconds       float64 `json:"ours_s"`
	// Speedup is sequential over ours, derived from the raw times.
	Speedup float64 `json:"speedup_seq_to_ours,omitempty"`
	OK      int     `json:"ok"` // answered items of our leg, right or wrong, all passes together
	*Race
}

// Row is what a summary says of the race.
func (r *Race) Row() RaceRow {
	row := RaceRow{
		SequentialSeconds: r.Median(Sequential).Seconds(), ChunkedSeconds: r.Median(Chunked).Seconds(),
		PoolSeconds: r.Median(Pool).Seconds(), OursSeconds: r.Median(Ours).Seconds(), Speedup: r.Ratio(Sequential), Race: r,
	}
	for _, lap := range r.laps(Ours) {
		row.OK += lap.Answered
	}
	return row
}

// A LegRow is one leg of a throughput file: medians and sums over the passes.
type LegRow struct {
	WallSeconds float64 `json:"wall_s"` // the median of a pass
	// ItemsPerSec is all answered items over all the leg's time, so of several
	// passes it is no quotient of WallSeconds.
	ItemsPerSec float64 `json:"items_per_s"`
	Answered    int     `json:"ok"`              // answered items of all passes, right or wrong
	Errors      int     `json:"errors"`          // items that got no answer
	RateLimits  int     `json:"rate_limit_hits"` // calls refused as too fast
}

// A ThroughputRow is a race as a throughput file has it.
type ThroughputRow struct {
	Chunked *LegRow `json:"chunked_gather,omitempty"`
	Pool    *LegRow `json:"semaphore_pool,omitempty"`
	Ours    *LegRow `json:"ours"`
	// Parity is how many times as long as ours the plain pool took, and
	// ChunkedFactor how many times as long the chunks; 0 if that leg did not run.
	Parity        float64 `json:"pool_over_ours,omitempty"`
	ChunkedFactor float64 `json:"chunked_over_ours,omitempty"`
	*Race
}

// Throughput is what a throughput file says of the race.
func (r *Race) Throughput() ThroughputRow {
	return ThroughputRow{
		Chunked: r.legRow(Chunked), Pool: r.legRow(Pool), Ours: r.legRow(Ours),
		Parity: r.Ratio(Pool), ChunkedFactor: r.Ratio(Chunked), Race: r,
	}
}

func (r *Race) legRow(leg string) *LegRow {
	laps := r.laps(leg)
	if len(laps) == 0 {
		return nil
	}
	var sum Lap
	for _, lap := range laps {
		sum.add(lap)
	}
	row := &LegRow{WallSeconds: r.Median(leg).Seconds(), Answered: sum.Answered, Errors: sum.Errors, RateLimits: sum.RateLimits}
	if s := sum.Wall.Seconds(); s > 0 {
		row.ItemsPerSec = float64(sum.Answered) / s
	}
	return row
}

// median is the middle value, or the mean of the two in the middle.
func median[T time.Duration | float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
