package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/goevals/evals/evaltest/load"
)

// dryLoad makes every request, prints a line for each to standard output and the
// histogram of their lengths to standard error.
func (p *program) dryLoad(ctx context.Context, l *load.Load) error {
	out := bufio.NewWriter(p.stdout)
	var lengths []int
	made, bad := 0, 0
	err := load.DryRun(ctx, *l, func(r load.Planned) error {
		if r.Request.AskedInput > 0 {
			lengths = append(lengths, r.Request.AskedInput)
		}
		if made++; r.Err != nil {
			bad++
		}
		_, err := io.WriteString(out, dryLine(&r))
		return err
	})
	if e := out.Flush(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	histogram(p.stderr, lengths)
	if l.Users > 0 && l.RequestsPerUser == 0 && l.Phases.Measured.Count == 0 && l.Source.Len() == 0 {
		fmt.Fprintln(p.stderr, "These are each user's first requests: how many follow depends on the answers.") //nolint:errcheck // nowhere to tell it
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d requests %w", bad, made, errNotMade)
	}
	return nil
}

// dryLine is a request as batchbench-agent's dry run would write one.
func dryLine(r *load.Planned) string {
	known := func(ok bool, v any) any {
		if ok {
			return v
		}
		return "-"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[DRY-RUN] seq=%d user=%v due_ms=%v phase=%v input_tokens=%v output_tokens=%v shared_prefix_tokens=%d group=%v possible_cached_tokens=%d entry=%v",
		r.Seq, known(r.User >= 0, r.User), known(r.Timed, fmt.Sprintf("%.3f", float64(r.Due)/1e6)), known(r.Phase != "", r.Phase),
		known(r.Request.AskedInput > 0, r.Request.AskedInput), known(r.Request.Output.Max > 0, r.Request.Output.Max), r.Request.Shared,
		known(r.Request.Group >= 0, r.Request.Group), r.Request.PossibleCached, known(r.Request.Entry >= 0, r.Request.Entry))
	if r.Err != nil {
		fmt.Fprintf(&b, " error=%q\n", r.Err)
		return b.String()
	}
	fmt.Fprintf(&b, " stream=%t body_bytes=%d\n", !r.Whole, len(r.Body))
	return b.String()
}

// Sizes of batchbench's histogram.
const (
	histogramBins = 20
	histogramBar  = 50
)

// histogram prints the lengths as batchbench does: 20 bins of equal width, and
// its own rules for the middle and the ends, which are not those of latencies.
func histogram(w io.Writer, lengths []int) {
	if len(lengths) == 0 {
		return
	}
	slices.Sort(lengths)
	least, most, sum := lengths[0], lengths[len(lengths)-1], 0
	width := max(1, (most-least+histogramBins-1)/histogramBins)
	var bins [histogramBins]int
	for _, n := range lengths {
		sum += n
		bins[min(histogramBins-1, (n-least)/width)]++
	}
	at := func(q float64) int { return lengths[min(len(lengths)-1, int(math.Round(float64(len(lengths))*q)))] }
	var b strings.Builder
	fmt.Fprintf(&b, "Input lengths: n=%d min=%d mean=%.1f median=%d p95=%d p99=%d max=%d\n",
		len(lengths), least, float64(sum)/float64(len(lengths)), lengths[len(lengths)/2], at(0.95), at(0.99), most)
	digits, largest := len(fmt.Sprint(most)), slices.Max(bins[:])
	for i, n := range bins {
		from := least + i*width
		if from > most {
			break
		}
		bar := n * histogramBar / largest
		if n > 0 {
			bar = max(1, bar)
		}
		line := fmt.Sprintf("  %*d..%-*d %*d %s", digits, from, digits, min(most, from+width-1), len(fmt.Sprint(largest)), n, strings.Repeat("#", bar))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	io.WriteString(w, b.String()) //nolint:errcheck // nowhere to tell it
}
