package main

import (
	"cmp"
	"strconv"
	"time"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/llm/wire"
)

// settings are the columns of the CSV that are asked for and not measured: all
// of metric.AgentSheet.Settings. What does not apply is an empty cell.
func (f *agentFlags) settings(p *agentPlan, rep *load.Report) map[string]string {
	delay := f.server.delay
	if delay == 0 {
		delay = int(client.DefaultDelay / time.Millisecond)
	}
	s := map[string]string{
		"timestamp": rep.Started.UTC().Format(time.RFC3339), "model": f.server.model, "workload_mode": p.mode,
		"agent_plans_jsonl": p.plans.File, "agent_plans_sha256": p.plans.SHA256, "trajectory_schema_version": unlessZero(p.plans.SchemaVersion),
		"agents": strconv.Itoa(len(p.plans.List)), "requested_max_active_agents": unlessZero(f.active), "max_active_agents": strconv.Itoa(rep.Agents.MaxActive),
		"host": wire.Mask(f.server.host), "endpoint": wire.Mask(cmp.Or(f.server.endpoint, "/v1/chat/completions")),
		"sglang": strconv.FormatBool(f.server.sglang || f.server.lengths == string(client.SGLang)), "ignore_eos": strconv.FormatBool(f.ignoreEOS),
		"user_tagging": strconv.FormatBool(!f.noTags), "dp_rank_perfect_routing": strconv.FormatBool(f.perfect), "dp_rank_perfect_routing_num": unlessZero(f.ranks),
		"seed": strconv.FormatUint(rep.Seed, 10), "replay_initial_overhead_tokens": "", "replay_turn_overhead_tokens": "",
		"agent_events_jsonl": f.events, "admission_mode": f.admission, "time_scale": "",
		"request_timeout_secs": strconv.Itoa(f.server.timeout), "max_retries": strconv.Itoa(f.server.retries), "retry_delay_ms": strconv.Itoa(delay),
		"arrival": "sessions", "rate": "", "duration_seconds": "", "salt": f.traceSalt, "tokenizer": p.tokenizer, "evals_version": version(),
	}
	if p.shape == nil {
		s["replay_initial_overhead_tokens"], s["replay_turn_overhead_tokens"] = strconv.Itoa(f.initialOver), strconv.Itoa(f.turnOver)
		s["time_scale"] = strconv.FormatFloat(f.timeScale, 'g', -1, 64)
	}
	for _, x := range f.families {
		x.columns(s, p.shape != nil)
	}
	return s
}

// columns fills in the family's columns: of a replay, which has no shape, with
// empty cells.
func (f *family) columns(s map[string]string, used bool) {
	fixed, unit := f.column+"_tokens", ""
	switch f.column {
	case "tool_invocations":
		fixed = f.column
	case "tool_call_latency":
		fixed, unit = f.column+"_ms", "_ms"
	}
	head := f.column + "_lognorm_"
	for _, name := range []string{fixed, head + "mu", head + "median" + unit, head + "sigma", head + "max" + unit} {
		s[name] = ""
	}
	real := func(name string, v *float64) {
		if v != nil {
			s[head+name] = strconv.FormatFloat(*v, 'g', -1, 64)
		}
	}
	switch {
	case !used:
	case f.sigma.p != nil:
		real("mu", f.mu.p)
		real("median"+unit, f.median.p)
		real("sigma", f.sigma.p)
		if f.max.p != nil {
			s[head+"max"+unit] = strconv.Itoa(*f.max.p)
		}
	case f.fixed.p != nil:
		s[fixed] = strconv.Itoa(*f.fixed.p)
	default:
		s[fixed] = strconv.Itoa(f.standard)
	}
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
