package metric

import (
	"fmt"
	"io"
	"strings"
)

// WriteSummary writes what batchbench (or batchbench-agent) prints at the end
// of a run: the same numbers in the same order, by its definitions and its
// rule of percentiles. Its rates are over the whole run, failures among the
// requests; [Result.WriteText] has better ones.
func (r *Result) WriteSummary(w io.Writer, s Sheet) error {
	var b strings.Builder
	if s == AgentSheet {
		r.agentSummary(&b)
	} else {
		r.baseSummary(&b)
	}
	if r.unkept > 0 {
		fmt.Fprintf(&b, "  … and %d more failures that were not kept\n", r.unkept)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("metric: writing the summary: %w", err)
	}
	return nil
}

func (r *Result) baseSummary(b *strings.Builder) {
	c := r.Counts
	fmt.Fprintf(b, "Requests: total=%s successful=%d failed=%s\n", whole(allRequests(r)), c.OK, whole(badRequests(r)))
	fmt.Fprintf(b, "Tokens: prompt=%s completion=%d\n", whole(r.Tokens.Input), r.Tokens.Output)
	fmt.Fprintf(b, "Duration: %.2f s\n", r.elapsed())
	fmt.Fprintf(b, "Throughput: requests/s=%s prompt tok/s=%s completion tok/s=%s\n",
		two(perSecond(allRequests)(r)), two(perSecond(inputs)(r)), two(perSecond(outputs)(r)))
	fmt.Fprintf(b, "Latency (ms): %s\n", three(r.legacy.latency))
	if n, _ := badRequests(r).Get(); n > 0 {
		fmt.Fprintf(b, "Failures: %.0f\n", n)
		for _, f := range r.failed {
			fmt.Fprintf(b, "  user %d: %s\n", f.User, f.Message)
		}
	}
}

func (r *Result) agentSummary(b *strings.Builder) {
	j := r.Jobs
	if j == nil {
		j = &Jobs{}
	}
	fmt.Fprintf(b, "Agents: completed=%d total=%d\n", j.Completed, j.Total)
	fmt.Fprintf(b, "Rolling admission: last agent admitted at %.2f s, final drain %.2f s\n", j.LastReplacement.Seconds(), j.Drain.Seconds())
	fmt.Fprintf(b, "Tool invocations: planned=%d; requests: total=%s successful=%d failed=%s\n",
		j.Planned, whole(allRequests(r)), r.Counts.OK, whole(badRequests(r)))
	fmt.Fprintf(b, "Input tokens: %s\n", whole(r.Tokens.Input))
	fmt.Fprintf(b, "Output tokens: %d\n", r.Tokens.Output)
	fmt.Fprintf(b, "Estimated cached input tokens: %d (server reported %s)\n", j.EstimatedCached, whole(r.Tokens.Cached))
	fmt.Fprintf(b, "Tool-call latency: %.2f s\n", j.ToolTotal.Seconds())
	fmt.Fprintf(b, "Duration: %.2f s; requests/s=%s input tok/s=%s output tok/s=%s\n", r.elapsed(),
		two(perSecond(allRequests)(r)), two(perSecond(inputs)(r)), two(perSecond(outputs)(r)))
	fmt.Fprintf(b, "Request latency (ms): %s\n", three(r.legacy.latency))
	fmt.Fprintf(b, "Agent end-to-end latency (ms): %s\n", three(r.legacy.wall))
	for _, f := range r.failed {
		agent := "?"
		if f.Agent >= 0 {
			agent = fmt.Sprint(f.Agent)
		}
		fmt.Fprintf(b, "Failure: agent %s trajectory \"%s\" invocation %d: %s\n", agent, f.Trajectory, f.Turn+1, f.Message)
	}
}

func whole(f Figure) string { return digits(f, 0) }

func two(f Figure) string { return digits(f, 2) }

func digits(f Figure, n int) string {
	v, ok := f.Get()
	if !ok {
		return "n/a"
	}
	return fmt.Sprintf("%.*f", n, v)
}

// three writes batchbench's three percentiles in milliseconds.
func three(q [3]Figure) string {
	return fmt.Sprintf("p50=%s p90=%s p99=%s", two(q[0].times(1e-6)), two(q[1].times(1e-6)), two(q[2].times(1e-6)))
}
