package metric

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// small is a run with something of everything.
func small(t testing.TB, loop Loop) *Result {
	slo, err := Preset("mlperf-llama2-70b-interactive")
	require.NoError(t, err)
	m := meter(t, Config{Loop: loop, Users: 2, Rate: 20, Expected: steady(20), Shape: 1, SLO: slo, CacheWanted: true, Limits: Limits{Unfinished: 0.05}})
	for i := range 40 {
		at := time.Duration(i) * 50 * ms
		r := answered(i, at+ms, at+21*ms, at+31*ms, at+41*ms, at+61*ms)
		r.Due, r.Connected, r.User = at, at+2*ms, i%2
		r.AskedInput, r.AskedOutput, r.PossibleCached, r.Usage.CachedInput = 100, 4, 60, 50
		r.Trajectory, r.Turn = "t"+strconv.Itoa(i%2), i/2
		if i == 7 {
			r.Tries = []record.Try{{Sent: at + ms, Done: at + ms, Status: 503, Failure: record.Failure{Class: record.Server, Message: "busy"}}}
		}
		add(t, m, r)
	}
	bad := failing(40, 100*ms, 120*ms, record.RateLimited)
	bad.Trajectory, bad.Turn, bad.User = "t1", 20, 1
	cut := failing(41, 1950*ms, 2*time.Second, record.Canceled)
	warm := answered(42, 0, 5*ms)
	warm.Phase = record.Warmup
	add(t, m, bad, cut, warm)
	if loop == Sessions {
		require.NoError(t, m.AddJob(Job{Trajectory: "t0", Finished: 2 * time.Second, Turns: 20, Tool: 100 * ms, Completed: true}))
		require.NoError(t, m.AddJob(Job{Trajectory: "t1", Agent: 1, Finished: 1900 * ms, Turns: 21}))
	}
	return m.Result(Health{CPU: Some(0.31), GCPause: Some(0.001)})
}

func TestText(t *testing.T) {
	for _, loop := range []Loop{Open, Closed, Sessions} {
		r := small(t, loop)
		var b bytes.Buffer
		require.NoError(t, r.WriteText(&b))
		golden(t, "text-"+string(loop)+".txt", b.String())
	}
	late := meter(t, Config{Loop: Open, Rate: 10, Expected: steady(10)})
	for i := range 20 {
		r := answered(i, time.Duration(i)*190*ms, time.Duration(i+1)*190*ms)
		r.Due = time.Duration(i) * 100 * ms
		add(t, late, r)
	}
	var b bytes.Buffer
	require.NoError(t, late.Result(Health{CPU: Some(0.99)}).WriteText(&b))
	golden(t, "text-invalid.txt", b.String())
}

func TestSummary(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, small(t, Closed).WriteSummary(&b, BaseSheet))
	golden(t, "summary-base.txt", b.String())
	b.Reset()
	require.NoError(t, small(t, Sessions).WriteSummary(&b, AgentSheet))
	golden(t, "summary-agent.txt", b.String())
	b.Reset()
	require.NoError(t, meter(t, Config{}).Result(Health{}).WriteSummary(&b, AgentSheet))
	assert.Contains(t, b.String(), "p50=n/a")
}

func TestJSON(t *testing.T) {
	r := small(t, Sessions)
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	golden(t, "result.json", b.String())
	var back Result
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&back))
	assert.Equal(t, r.Dists, back.Dists, "full precision")
	assert.Equal(t, r.Whole, back.Whole)
	assert.Equal(t, r.Validity, back.Validity)
	assert.Equal(t, r.Jobs, back.Jobs)
}

// Every distribution has a formula, and every duration names its unit.
func TestDefinitions(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Definitions() {
		assert.False(t, seen[d.Name], d.Name)
		seen[d.Name] = true
		assert.NotEmpty(t, d.Formula, d.Name)
	}
	r := small(t, Sessions)
	for name := range r.Dists {
		assert.True(t, seen[string(name)], "%s has no definition", name)
	}
	Definitions()[0].Name = "mine"
	assert.Equal(t, string(TTFT), Definitions()[0].Name, "a copy")
}

const (
	theirBase = "timestamp, model, dataset_path, dataset_size, users, requests_per_user, total_requests, successful_requests, failed_requests, total_prompt_tokens, total_completion_tokens, total_duration_seconds, requests_per_second, prompt_tokens_per_second, completion_tokens_per_second, latency_p50_ms, latency_p90_ms, latency_p99_ms, output_tokens, output_vary, output_lognorm_mu, output_lognorm_sigma, output_lognorm_max, sglang, request_timeout_secs, max_retries, retry_delay_ms, host, endpoint"

	theirAgent = "timestamp, model, workload_mode, agent_plans_jsonl, agent_plans_sha256, trajectory_schema_version, agents, requested_max_active_agents, max_active_agents, completed_agents, planned_tool_invocations, total_requests, successful_requests, failed_requests, total_input_tokens, total_output_tokens, estimated_cached_input_tokens, total_tool_call_latency_seconds, total_duration_seconds, last_agent_admitted_seconds, final_drain_seconds, requests_per_second, input_tokens_per_second, output_tokens_per_second, latency_p50_ms, latency_p90_ms, latency_p99_ms, agent_end_to_end_latency_p50_ms, agent_end_to_end_latency_p90_ms, agent_end_to_end_latency_p99_ms, host, endpoint, sglang, ignore_eos, user_tagging, dp_rank_perfect_routing, dp_rank_perfect_routing_num, seed, replay_initial_overhead_tokens, replay_turn_overhead_tokens, agent_events_jsonl, tool_call_latency_ms, tool_call_latency_lognorm_mu, tool_call_latency_lognorm_median_ms, tool_call_latency_lognorm_sigma, tool_call_latency_lognorm_max_ms"
)

func TestCSV(t *testing.T) {
	for _, c := range []struct {
		name   string
		sheet  Sheet
		theirs string
		loop   Loop
		cells  map[string]string
	}{
		{"base", BaseSheet, theirBase, Closed, map[string]string{
			"total_requests": "41", "successful_requests": "40", "failed_requests": "1", "total_prompt_tokens": "4000",
			"total_completion_tokens": "160", "total_duration_seconds": "2.01", "latency_p50_ms": "60",
			"users": "2", "seed": "42", "dataset_path": "", "model": "'=cmd|' /C calc'!A0", "output_lognorm_mu": "-0.5", "valid": "1", "incomplete_requests": "1",
		}},
		{"agent", AgentSheet, theirAgent, Sessions, map[string]string{
			"completed_agents": "1", "planned_tool_invocations": "41", "estimated_cached_input_tokens": "3800",
			"total_tool_call_latency_seconds": "0.1", "total_duration_seconds": "2", "agent_end_to_end_latency_p99_ms": "2000",
			"seed": "42", "jobs_per_hour": "1800", "valid": "1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := map[string]string{"seed": "42", "model": "=cmd|' /C calc'!A0", "output_lognorm_mu": "-0.5"}
			if c.sheet == BaseSheet {
				settings["users"] = "2"
			}
			var b bytes.Buffer
			require.NoError(t, small(t, c.loop).WriteCSV(&b, c.sheet, settings))
			rows, err := csv.NewReader(&b).ReadAll()
			require.NoError(t, err)
			require.Len(t, rows, 2)
			theirs := strings.Split(c.theirs, ", ")
			assert.Equal(t, theirs, rows[0][:len(theirs)], "theirs first, in their order")
			assert.Len(t, slices.Compact(slices.Sorted(slices.Values(rows[0]))), len(rows[0]), "no name twice")
			for name, want := range c.cells {
				i := slices.Index(rows[0], name)
				require.GreaterOrEqual(t, i, 0, name)
				assert.Equal(t, want, rows[1][i], name)
			}
		})
	}
	err := small(t, Closed).WriteCSV(new(bytes.Buffer), BaseSheet, map[string]string{"sede": "1"})
	assert.ErrorContains(t, err, `"sede"`)
	err = small(t, Closed).WriteCSV(new(bytes.Buffer), BaseSheet, map[string]string{"total_requests": "1"})
	assert.Error(t, err, "a measured column is not for the caller to set")
}

func TestDisarm(t *testing.T) {
	for _, c := range []struct{ name, reason, in, want string }{
		{"plain", "as it is", "gpt-4", "gpt-4"}, {"negative", "a number", "-1.5e3", "-1.5e3"}, {"formula", "runs", "=1+1", "'=1+1"},
		{"plus", "runs", "+cmd", "'+cmd"}, {"at", "runs", "@SUM(1)", "'@SUM(1)"}, {"blank first", "some strip it", "  =1", "'  =1"},
		{"tab first", "starts a formula too", "\t=1", `\x09=1`}, {"wide", "folded by some", "＝1", "'＝1"},
		{"Inf", "Go's number, a spreadsheet's name", "-Inf", "'-Inf"}, {"escape", "terminal", "a\x1b[1m", `a\x1b[1m`}, {"empty", "empty", "", ""},
	} {
		assert.Equal(t, c.want, disarm(c.in), "%s: %s", c.name, c.reason)
	}
}

func FuzzDisarm(f *testing.F) {
	for _, s := range []string{"", "=1", "-1", "\r=x", "　=1", "-\x00", "+1e5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := disarm(s)
		head := strings.TrimLeftFunc(got, unicode.IsSpace)
		if _, err := strconv.ParseFloat(got, 64); err != nil && head != "" {
			require.NotContains(t, []string{"=", "+", "-", "@"}, head[:1])
		}
		require.False(t, strings.ContainsFunc(got, unicode.IsControl))
	})
}

func TestBench(t *testing.T) {
	r := small(t, Open)
	var b bytes.Buffer
	require.NoError(t, r.WriteBench(&b, "Load/model=gpt-5/rate=20", map[string]string{"server": "v1 beta", "seed": "42"}))
	golden(t, "bench.txt", b.String())
	assert.NotContains(t, b.String(), " ttft-p99-ns", "40 values have no p99")
	assert.Contains(t, b.String(), " itl-p99-ns", "120 tokens have one")
	for _, c := range []struct {
		name, reason, bench string
		config              map[string]string
	}{
		{"lower", "benchfmt wants an upper-case letter", "load", nil},
		{"empty", "no name", "", nil},
		{"key", "upper case would not be configuration", "Load", map[string]string{"Model": "x"}},
		{"space", "nor would a space", "Load", map[string]string{"my model": "x"}},
		{"value", "a second line could be a forged result", "Load", map[string]string{"model": "x\nBenchmarkFast 1 1 ns/op"}},
	} {
		var b bytes.Buffer
		assert.Error(t, r.WriteBench(&b, c.bench, c.config), "%s: %s", c.name, c.reason)
		assert.Empty(t, b.String())
	}
	b.Reset()
	require.NoError(t, r.WriteBench(&b, "Load/model=a b\u2028-12", nil))
	assert.Contains(t, b.String(), "\nBenchmarkLoad/model=a_b_-12/load\t40\t", "no trailing number, no white space")
}

// B10: small numbers keep their digits.
func TestB10Precision(t *testing.T) {
	m := meter(t, Config{})
	r := answered(0, 0, 30000*time.Hour/4)
	r.Fragments[0].At = 7 * time.Hour
	r.Done = 7*time.Hour + 13
	add(t, m, r)
	var b bytes.Buffer
	require.NoError(t, m.Result(Health{}).WriteBench(&b, "Load", nil))
	fields := strings.Fields(b.String()[strings.Index(b.String(), "BenchmarkLoad"):])
	i := slices.Index(fields, "requests/s")
	require.Positive(t, i)
	got, err := strconv.ParseFloat(fields[i-1], 64)
	require.NoError(t, err)
	assert.InEpsilon(t, 1/(7*3600+13e-9), got, 1e-12)
}

// The real benchstat must read the lines, scale the units and put two models
// side by side.
func TestBenchstatReads(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	mod, err := filepath.Abs("../../../.ci/tools.mod")
	require.NoError(t, err)
	if _, err := os.Stat(mod); errors.Is(err, os.ErrNotExist) {
		t.Skip("no .ci/tools.mod: the module was taken without its repository")
	}
	var b bytes.Buffer
	for range 6 {
		for _, model := range []string{"gpt-5", "gpt-6"} {
			require.NoError(t, small(t, Open).WriteBench(&b, "Load/model="+model, nil))
		}
	}
	path := filepath.Join(t.TempDir(), "bench.txt")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	out, err := exec.Command("go", "tool", "-modfile="+mod, "benchstat", "-col", "/model", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text := string(out)
	assert.Contains(t, text, "gpt-5", "the digits are not a number of processors")
	assert.Contains(t, text, "gpt-6")
	assert.Contains(t, text, "ttft-p50-sec")
	assert.Contains(t, text, "20.00m", "the time to first token, 20 ms")
	assert.NotContains(t, text, "NaN")
	assert.NotContains(t, text, "parsing")
}

func TestMetricsAreDistinct(t *testing.T) {
	list, err := small(t, Sessions).Metrics()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, v := range list {
		assert.False(t, seen[v.Unit], v.Unit)
		seen[v.Unit] = true
		assert.False(t, strings.ContainsFunc(v.Unit, unicode.IsSpace))
		assert.False(t, math.IsNaN(v.Value) || math.IsInf(v.Value, 0))
		assert.Contains(t, []string{"", "higher", "lower"}, v.Better)
	}
}
