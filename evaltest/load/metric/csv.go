package metric

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Sheet is the shape of a summary's one CSV row: batchbench's columns in its
// order, then ours.
type Sheet int

// Sheets.
const (
	BaseSheet  Sheet = iota // of the batchbench program
	AgentSheet              // of batchbench-agent
)

// A column is filled from the result if value is set, else from the settings.
type column struct {
	name  string
	value func(*Result) Figure
}

func setting(names string) []column {
	var list []column
	for name := range strings.FieldsSeq(names) {
		list = append(list, column{name: name})
	}
	return list
}

func count(f func(*Result) int64) func(*Result) Figure {
	return func(r *Result) Figure { return Some(float64(f(r))) }
}

// at is a quantile of a distribution, scaled from ns.
func at(name Name, p, scale float64) func(*Result) Figure {
	return func(r *Result) Figure { return r.Dists[name].At(p).Value.times(scale) }
}

func ofJobs(f func(*Jobs) Figure) func(*Result) Figure {
	return func(r *Result) Figure {
		if r.Jobs == nil {
			return Figure{}
		}
		return f(r.Jobs)
	}
}

var (
	allRequests = count(func(r *Result) int64 { return r.Counts.OK + r.Counts.Failed + r.Counts.Dropped })
	okRequests  = count(func(r *Result) int64 { return r.Counts.OK })
	badRequests = count(func(r *Result) int64 { return r.Counts.Failed + r.Counts.Dropped })
	outputs     = count(func(r *Result) int64 { return r.Tokens.Output })
	inputs      = func(r *Result) Figure { return r.Tokens.Input }
	elapsed     = func(r *Result) Figure { return Some(r.elapsed()) }
	perSecond   = func(f func(*Result) Figure) func(*Result) Figure {
		return func(r *Result) Figure {
			if v, ok := f(r).Get(); ok {
				return ratio(v, r.elapsed())
			}
			return Figure{}
		}
	}
	p50 = func(r *Result) Figure { return r.legacy.latency[0].times(1e-6) }
	p90 = func(r *Result) Figure { return r.legacy.latency[1].times(1e-6) }
	p99 = func(r *Result) Figure { return r.legacy.latency[2].times(1e-6) }
)

// elapsed is batchbench's duration in seconds: of jobs, from the first
// admission to the last end, else the whole window.
func (r *Result) elapsed() float64 {
	if r.Jobs != nil {
		return r.Jobs.Elapsed.Seconds()
	}
	return r.Whole.Length().Seconds()
}

var sheets = [...][]column{
	BaseSheet: slices.Concat(
		setting("timestamp model dataset_path dataset_size users requests_per_user"),
		[]column{
			{"total_requests", allRequests}, {"successful_requests", okRequests}, {"failed_requests", badRequests},
			{"total_prompt_tokens", inputs}, {"total_completion_tokens", outputs}, {"total_duration_seconds", elapsed},
			{"requests_per_second", perSecond(allRequests)}, {"prompt_tokens_per_second", perSecond(inputs)},
			{"completion_tokens_per_second", perSecond(outputs)},
			{"latency_p50_ms", p50}, {"latency_p90_ms", p90}, {"latency_p99_ms", p99},
		},
		setting(`output_tokens output_vary output_lognorm_mu output_lognorm_sigma output_lognorm_max
			sglang request_timeout_secs max_retries retry_delay_ms host endpoint`),
		setting(`seed input_tokens input_vary input_prefix_overlap input_lognorm_mu input_lognorm_median
			input_lognorm_sigma input_lognorm_max output_lognorm_median`),
		ours,
	),
	AgentSheet: slices.Concat(
		setting("timestamp model workload_mode agent_plans_jsonl agent_plans_sha256 trajectory_schema_version agents requested_max_active_agents max_active_agents"),
		[]column{
			{"completed_agents", ofJobs(func(j *Jobs) Figure { return Some(float64(j.Completed)) })},
			{"planned_tool_invocations", ofJobs(func(j *Jobs) Figure { return Some(float64(j.Planned)) })},
			{"total_requests", allRequests}, {"successful_requests", okRequests}, {"failed_requests", badRequests},
			{"total_input_tokens", inputs}, {"total_output_tokens", outputs},
			{"estimated_cached_input_tokens", ofJobs(func(j *Jobs) Figure { return Some(float64(j.EstimatedCached)) })},
			{"total_tool_call_latency_seconds", ofJobs(func(j *Jobs) Figure { return Some(j.ToolTotal.Seconds()) })},
			{"total_duration_seconds", elapsed},
			{"last_agent_admitted_seconds", ofJobs(func(j *Jobs) Figure { return Some(j.LastReplacement.Seconds()) })},
			{"final_drain_seconds", ofJobs(func(j *Jobs) Figure { return Some(j.Drain.Seconds()) })},
			{"requests_per_second", perSecond(allRequests)}, {"input_tokens_per_second", perSecond(inputs)},
			{"output_tokens_per_second", perSecond(outputs)},
			{"latency_p50_ms", p50}, {"latency_p90_ms", p90}, {"latency_p99_ms", p99},
			{"agent_end_to_end_latency_p50_ms", func(r *Result) Figure { return r.legacy.wall[0].times(1e-6) }},
			{"agent_end_to_end_latency_p90_ms", func(r *Result) Figure { return r.legacy.wall[1].times(1e-6) }},
			{"agent_end_to_end_latency_p99_ms", func(r *Result) Figure { return r.legacy.wall[2].times(1e-6) }},
		},
		setting(`host endpoint sglang ignore_eos user_tagging dp_rank_perfect_routing dp_rank_perfect_routing_num seed
			replay_initial_overhead_tokens replay_turn_overhead_tokens agent_events_jsonl tool_call_latency_ms
			tool_call_latency_lognorm_mu tool_call_latency_lognorm_median_ms tool_call_latency_lognorm_sigma tool_call_latency_lognorm_max_ms`),
		setting(`admission_mode time_scale input_tokens input_lognorm_mu input_lognorm_median input_lognorm_sigma input_lognorm_max
			output_tokens output_lognorm_mu output_lognorm_median output_lognorm_sigma output_lognorm_max
			environment_tokens environment_lognorm_mu environment_lognorm_median environment_lognorm_sigma environment_lognorm_max
			tool_invocations tool_invocations_lognorm_mu tool_invocations_lognorm_median tool_invocations_lognorm_sigma tool_invocations_lognorm_max
			request_timeout_secs max_retries retry_delay_ms`),
		[]column{
			{"jobs_per_hour", ofJobs(func(j *Jobs) Figure { return j.PerHour })},
			{"job_success_fraction", ofJobs(func(j *Jobs) Figure { return j.Success })},
		},
		ours,
	),
}

// ours are the columns that both sheets end in. Their percentiles are by rule
// Linear, unlike those of latency_p50_ms and its like.
var ours = slices.Concat(
	setting("arrival rate duration_seconds salt tokenizer evals_version"),
	[]column{
		{"valid", func(r *Result) Figure { return oneOrZero(r.Validity.Valid) }},
		{"incomplete_requests", count(func(r *Result) int64 { return r.Counts.Incomplete })},
		{"dropped_requests", count(func(r *Result) int64 { return r.Counts.Dropped })},
		{"warm_up_requests", count(func(r *Result) int64 { return r.Counts.Warmup })},
		{"tries_retried", count(func(r *Result) int64 { return r.Counts.Retries })},
		{"cached_input_tokens", func(r *Result) Figure { return r.Tokens.Cached }},
		{"possible_cached_input_tokens", count(func(r *Result) int64 { return r.Tokens.PossibleCached })},
		{"ttft_p50_ms", at(TTFT, 0.5, 1e-6)}, {"ttft_p90_ms", at(TTFT, 0.9, 1e-6)}, {"ttft_p99_ms", at(TTFT, 0.99, 1e-6)},
		{"tpot_p50_ms", at(TPOT, 0.5, 1e-6)}, {"tpot_p90_ms", at(TPOT, 0.9, 1e-6)}, {"tpot_p99_ms", at(TPOT, 0.99, 1e-6)},
		{"itl_p50_ms", at(ITL, 0.5, 1e-6)}, {"itl_p99_ms", at(ITL, 0.99, 1e-6)},
		{"e2e_p50_ms", at(E2E, 0.5, 1e-6)}, {"e2e_p99_ms", at(E2E, 0.99, 1e-6)},
		{"response_e2e_p50_ms", at(ResponseE2E, 0.5, 1e-6)}, {"response_e2e_p99_ms", at(ResponseE2E, 0.99, 1e-6)},
		{"lag_p99_ms", at(Lag, 0.99, 1e-6)},
		{"steady_requests_per_second", func(r *Result) Figure { return r.Steady.RequestRate }},
		{"steady_output_tokens_per_second", func(r *Result) Figure { return r.Steady.OutputRate }},
		{"concurrency_mean", func(r *Result) Figure { return r.Whole.Concurrency }},
		{"goodput_fraction", func(r *Result) Figure {
			if r.Goodput == nil {
				return Figure{}
			}
			return r.Goodput.Fraction
		}},
	},
)

func oneOrZero(b bool) Figure {
	if b {
		return Some(1)
	}
	return Some(0)
}

// Columns returns the sheet's column names in order.
func (s Sheet) Columns() []string {
	names := make([]string, len(sheets[s]))
	for i, c := range sheets[s] {
		names[i] = c.name
	}
	return names
}

// Settings returns the names of the columns that WriteCSV takes from settings.
func (s Sheet) Settings() []string {
	var names []string
	for _, c := range sheets[s] {
		if c.value == nil {
			names = append(names, c.name)
		}
	}
	return names
}

// WriteCSV writes a header and one row. Measured columns come from the result,
// the others from settings, by column name; what is missing or absent is an
// empty cell, and a setting that is no such column is an error. The valid
// column is 1 or 0. Text that a spreadsheet would run as a formula gets an
// apostrophe before it.
func (r *Result) WriteCSV(w io.Writer, s Sheet, settings map[string]string) error {
	known := s.Settings()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("metric: CSV setting %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	row := make([]string, len(sheets[s]))
	for i, c := range sheets[s] {
		if c.value == nil {
			row[i] = disarm(settings[c.name])
		} else if v, ok := c.value(r).Get(); ok {
			row[i] = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	out := csv.NewWriter(w)
	if err := out.WriteAll([][]string{s.Columns(), row}); err != nil {
		return fmt.Errorf("metric: writing CSV: %w", err)
	}
	return nil
}

// disarm makes text fit for a spreadsheet's cell. Numbers stay as they are,
// negative ones too; control characters are written as \\xNN.
func disarm(s string) string {
	if _, err := strconv.ParseFloat(s, 64); err == nil && strings.Trim(s, "0123456789.eE+-") == "" {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	text := b.String()
	if head := strings.TrimLeftFunc(text, unicode.IsSpace); head != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(head)[0]) {
		return "'" + text
	}
	return text
}
