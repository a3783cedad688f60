package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	loadrecord "github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/token"
)

// askedBody is what the server saw of a request.
type askedBody struct {
	Model    string            `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
	Max      int               `json:"max_tokens"`
	Min      int               `json:"min_tokens"`
	User     string            `json:"user"`
	Stream   bool              `json:"stream"`
}

func (a *askedBody) from(t *testing.T, s *fake.Seen) *askedBody {
	t.Helper()
	require.NoError(t, json.Unmarshal(s.Body, a))
	return a
}

// ofAgent are the requests of the agent that is called so, in their order.
func (w *watched) ofAgent(name string) (list []*fake.Seen) {
	for _, s := range w.seen() {
		if s.User == name {
			list = append(list, s)
		}
	}
	return list
}

// TestAgentGoldenManifests replays the manifests of the golden vectors through
// the program: what the server counts is what the manifest says.
func TestAgentGoldenManifests(t *testing.T) {
	arguments := `{"request":"continue"}`
	words := func(more int) func(string) int {
		return func(text string) int {
			if text == arguments {
				return more
			}
			return len(strings.Fields(text))
		}
	}
	o200k, err := token.Encoding("o200k_base")
	require.NoError(t, err)
	type turn struct{ input, max, messages, tools int }
	for _, row := range []struct {
		name, reason, manifest string
		server                 *fake.Server
		flags                  string
		want                   [][]turn // of each agent
	}{
		{"G4", "a template that adds nothing", manifestG4, &fake.Server{Count: words(0)}, "", [][]turn{
			{{256, 64, 1, 0}, {448, 96, 3, 0}}, {{512, 128, 1, 0}, {896, 128, 3, 0}, {1280, 64, 5, 0}}, {{768, 128, 1, 0}, {384, 64, 1, 0}},
		}},
		{"G5", "overheads of 5 and 10: two of the request, three of a message, four of a call", manifestG5,
			&fake.Server{Count: words(4), PerRequest: 2, PerMessage: 3}, "-replay-initial-overhead-tokens 5 -replay-turn-overhead-tokens 10",
			[][]turn{{{100, 20, 1, 0}, {150, 10, 3, 0}, {60, 5, 1, 0}}}},
		{"G12", "blocks by a real tokenizer, with 28 of the request and 6 of a message", manifestG12,
			&fake.Server{Encode: o200k.Encode, PerRequest: 28, PerMessage: 6}, "-tokenizer-model o200k_base",
			[][]turn{{{1240, 128, 2, 1}, {1560, 96, 4, 1}}, {{1300, 32, 2, 1}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.NotEmpty(t, row.reason)
			w := serveFake(t, row.server)
			path := fileOf(t, "plans.jsonl", row.manifest)
			r := w.agents(t, slices.Concat([]string{"-agent-plans-jsonl", path, "-user-prefix", "u"}, strings.Fields(row.flags))...)
			require.Equal(t, 0, r.code, r.stderr)
			assert.NotContains(t, r.stdout, "inputs had not the asked length")
			for i, turns := range row.want {
				list := w.ofAgent(fmt.Sprintf("u-%d", i))
				require.Len(t, list, len(turns))
				for k, want := range turns {
					a := new(askedBody).from(t, list[k])
					assert.Equal(t, want, turn{list[k].Input, a.Max, len(a.Messages), len(a.Tools)}, "agent %d turn %d", i, k)
					assert.Equal(t, "m", a.Model)
				}
			}
		})
	}
}

// TestAgentStream: what a turn of the manifest says goes before -stream.
func TestAgentStream(t *testing.T) {
	w := serveFake(t, &fake.Server{})
	path := fileOf(t, "plans.jsonl", manifestG12)
	r := w.agents(t, "-agent-plans-jsonl", path, "-user-prefix", "u", "-tokenizer-model", "o200k_base")
	require.Equal(t, 0, r.code, r.stderr)
	var got []bool
	for _, s := range w.ofAgent("u-0") {
		got = append(got, s.Streamed)
		assert.Equal(t, s.Streamed, new(askedBody).from(t, s).Stream)
	}
	assert.Equal(t, []bool{false, true}, got, "whole, as batchbench-agent asks, but for the turn that says stream")

	w = serveFake(t, &fake.Server{})
	r = w.agents(t, "-stream", "-full")
	require.Equal(t, 0, r.code, r.stderr)
	for _, s := range w.seen() {
		assert.True(t, s.Streamed)
	}
}

// TestAgentBody: what stands in a request besides messages.
func TestAgentBody(t *testing.T) {
	w := serveFake(t, &fake.Server{})
	r := w.agents(t, "-output-tokens", "17", "-tool-invocations", "2")
	require.Equal(t, 0, r.code, r.stderr)
	for _, s := range w.seen() {
		a := new(askedBody).from(t, s)
		assert.Equal(t, []int{17, 17}, []int{a.Max, a.Min}, "G11")
		assert.Empty(t, a.Tools)
		assert.NotContains(t, string(s.Body), "tool_choice")
		assert.NotContains(t, string(s.Body), "ignore_eos")
	}
	w = serveFake(t, &fake.Server{})
	r = w.agents(t, "-sglang", "-ignore-eos", "-declare-tool", "-tool-invocations", "2", "-output-tokens", "17", "-header", "X-Mine: 1")
	require.Equal(t, 0, r.code, r.stderr)
	for _, s := range w.seen() {
		assert.Contains(t, string(s.Body), `"max_new_tokens":17,"min_new_tokens":17`)
		assert.NotContains(t, string(s.Body), `"max_tokens"`)
		assert.Contains(t, string(s.Body), `"ignore_eos":true`)
		assert.Len(t, new(askedBody).from(t, s).Tools, 1)
		assert.Equal(t, "1", s.Header.Get("X-Mine"))
	}
}

// TestAgentReplies: recorded prompts are the same whatever the server says.
func TestAgentReplies(t *testing.T) {
	last := func(out int, flags ...string) string {
		w := serveFake(t, &fake.Server{Output: out})
		r := w.agents(t, append(flags, "-tool-invocations", "2", "-disable-user-tagging")...)
		require.Equal(t, 0, r.code, r.stderr)
		return string(w.seen()[1].Body)
	}
	assert.Contains(t, last(1), "the water house river", "live: the fake's own words")
	assert.NotContains(t, last(1, "-replies", "recorded"), "the water house river")
}

// TestAgentRouting has golden vector G10 as a server sees it.
func TestAgentRouting(t *testing.T) {
	run := func(flags ...string) []*fake.Seen {
		w := serveFake(t, &fake.Server{})
		r := w.agents(t, append(flags, "-agents", "10", "-tool-invocations", "2", "-input-tokens", "4")...)
		require.Equal(t, 0, r.code, r.stderr)
		list := w.seen()
		require.Len(t, list, 20)
		return list
	}
	const key, worker = agent.HeaderRoutingKey, agent.HeaderTargetWorker
	ranks := map[string][]string{}
	for _, s := range run("-user-prefix", "loadtest", "-dp-rank-perfect-routing", "-dp-rank-perfect-routing-num", "8") {
		assert.Equal(t, s.User, s.Header.Get(key))
		ranks[s.User] = append(ranks[s.User], s.Header.Get(worker))
	}
	for i, want := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "0", "1"} {
		assert.Equal(t, []string{want, want}, ranks[fmt.Sprintf("loadtest-%d", i)], "all turns of agent %d", i)
	}
	tags := map[string]bool{}
	for _, s := range run() {
		assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, s.User)
		assert.Equal(t, s.User, s.Header.Get(key))
		assert.Empty(t, s.Header.Values(worker))
		tags[s.User] = true
	}
	assert.Len(t, tags, 10)
	for _, s := range run() {
		assert.True(t, tags[s.User], "the seed's tags again: %s", s.User)
	}
	for _, s := range run("-disable-user-tagging", "-user-prefix", "x") {
		assert.NotContains(t, string(s.Body), `"user":`+`"x`)
		assert.Empty(t, s.User)
		assert.Empty(t, s.Header.Values(key))
	}
}

// TestAgentSlots: a slot that is left goes to the next one, with its rank.
func TestAgentSlots(t *testing.T) {
	w := serveFake(t, &fake.Server{})
	dir := t.TempDir()
	events, requests := filepath.Join(dir, "deep", "events.jsonl"), filepath.Join(dir, "requests.jsonl")
	r := w.agents(t, "-agents", "5", "-max-active-agents", "1", "-tool-invocations", "1", "-user-prefix", "u",
		"-dp-rank-perfect-routing", "-dp-rank-perfect-routing-num", "3", "-agent-events-jsonl", events, "-requests-jsonl", requests)
	require.Equal(t, 0, r.code, r.stderr)
	for i, s := range w.seen() {
		assert.Equal(t, fmt.Sprintf("u-%d", i), s.User)
		assert.Equal(t, "0", s.Header.Get(agent.HeaderTargetWorker))
	}
	assert.Equal(t, 1, atOnce(t, requests))
	assert.Len(t, linesOf(t, events), 5)
}

// TestAgentOutputs has all files of one run.
func TestAgentOutputs(t *testing.T) {
	w := serveFake(t, &fake.Server{CacheBlock: 16})
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	r := w.agents(t, "-agents", "2", "-max-active-agents", "1", "-tool-invocations", "3", "-tool-call-latency-ms", "3", "-dp-rank-perfect-routing", "-dp-rank-perfect-routing-num", "2",
		"-results-csv", at("r.csv"), "-json", at("r.json"), "-requests-jsonl", at("q.jsonl"), "-agent-events-jsonl", at("e.jsonl"), "-bench", at("b.txt"), "-require", "ok-%>=100")
	require.Equal(t, 0, r.code, r.stderr)
	assert.Empty(t, r.stderr)
	// Whether a text was late depends on the machine.
	late := regexp.MustCompile(`(?m)^Requests later than due .*\n`)
	golden(t, "agent-summary.golden", figures.ReplaceAllString(late.ReplaceAllString(r.stdout, ""), "…"))

	events := strings.Join(linesOf(t, at("e.jsonl")), "\n") + "\n"
	golden(t, "agent-events.golden", regexp.MustCompile(`_seconds":[0-9.e-]+`).ReplaceAllString(events, `_seconds":…`))

	lines := linesOf(t, at("q.jsonl"))
	require.Len(t, lines, 6)
	for i, line := range lines {
		var q loadrecord.Request
		require.NoError(t, json.Unmarshal([]byte(line), &q))
		assert.True(t, q.OK())
		assert.Equal(t, fmt.Sprintf("sampled-%d", i/3), q.Trajectory, "one agent after the other")
		assert.Equal(t, i%3, q.Turn)
	}

	var doc struct {
		Seed     uint64
		Workload struct {
			Plans map[string]any
			Shape map[string]any
		}
		Result map[string]any
	}
	text, err := os.ReadFile(at("r.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &doc))
	assert.Equal(t, uint64(7), doc.Seed)
	assert.Contains(t, doc.Workload.Shape, "tool_call_latency_ms")
	assert.NotEmpty(t, doc.Result)
	assert.Contains(t, strings.Join(linesOf(t, at("b.txt")), "\n"), "BenchmarkAgent")

	file, err := os.Open(at("r.csv"))
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	golden(t, "agent-columns.golden", strings.Join(rows[0], "\n")+"\n")
	cell := map[string]string{}
	for i, name := range rows[0] {
		cell[name] = rows[1][i]
	}
	for name, want := range map[string]string{
		"workload_mode": "synthetic", "agent_plans_jsonl": "", "agents": "2", "requested_max_active_agents": "1", "max_active_agents": "1", "completed_agents": "2",
		"planned_tool_invocations": "6", "total_requests": "6", "successful_requests": "6", "failed_requests": "0", "host": w.url, "endpoint": "/v1/chat/completions",
		"sglang": "false", "ignore_eos": "false", "user_tagging": "true", "dp_rank_perfect_routing": "true", "dp_rank_perfect_routing_num": "2", "seed": "7",
		"agent_events_jsonl": at("e.jsonl"), "tool_call_latency_ms": "3", "admission_mode": "closed-loop", "time_scale": "", "input_tokens": "128", "output_tokens": "64",
		"environment_tokens": "64", "tool_invocations": "3", "request_timeout_secs": "60", "max_retries": "2", "retry_delay_ms": "250", "tokenizer": "words", "valid": "1",
	} {
		assert.Equal(t, want, cell[name], name)
	}
	estimated, err := strconv.Atoi(cell["estimated_cached_input_tokens"])
	require.NoError(t, err)
	// Each turn adds 64 + 64 and a call of one word: 128, 257, 386.
	assert.Equal(t, 2*(128+257), estimated)
}

// TestAgentSettings: every column that is asked for has its value, and an
// unknown one would be refused.
func TestAgentSettings(t *testing.T) {
	g4 := fileOf(t, "g4.jsonl", manifestG4)
	for _, flags := range []string{"-retry-delay-ms 0", "-agent-plans-jsonl " + g4, "-input-lognorm-mu 1.5 -input-lognorm-sigma 1 -tool-call-latency-lognorm-median 3 -tool-call-latency-lognorm-sigma 2 -tool-call-latency-lognorm-max 9"} {
		f, plan, _, err := prepared(strings.Fields(flags)...)
		require.NoError(t, err)
		rep := reportOf(plan)
		got := f.settings(plan, rep)
		var names []string
		for name := range got {
			names = append(names, name)
		}
		assert.ElementsMatch(t, metric.AgentSheet.Settings(), names, flags)
		if strings.Contains(flags, "lognorm") {
			assert.Equal(t, []string{"", "1.5", "", "1", "", "3", "2", "9"}, []string{got["input_tokens"], got["input_lognorm_mu"], got["input_lognorm_median"], got["input_lognorm_sigma"],
				got["tool_call_latency_ms"], got["tool_call_latency_lognorm_median_ms"], got["tool_call_latency_lognorm_sigma"], got["tool_call_latency_lognorm_max_ms"]})
		}
		assert.Equal(t, "250", got["retry_delay_ms"], "0 is the default")
		if strings.Contains(flags, "plans") {
			assert.Equal(t, []string{"trajectory_replay", g4, "1", "", "0", "1"}, []string{got["workload_mode"], got["agent_plans_jsonl"], got["trajectory_schema_version"],
				got["input_tokens"], got["replay_turn_overhead_tokens"], got["time_scale"]})
			assert.Len(t, got["agent_plans_sha256"], 64)
		}
	}
}

// TestAgentExit has the exit codes of runs.
func TestAgentExit(t *testing.T) {
	fail := func(which func(n int) bool, f fake.Failure) *fake.Server {
		return &fake.Server{Fail: func(n int) fake.Failure {
			if which(n) {
				return f
			}
			return fake.Failure{}
		}}
	}
	all, firstOnly := func(int) bool { return true }, func(n int) bool { return n == 0 }
	for _, row := range []struct {
		name, reason string
		server       *fake.Server
		flags        string
		code, calls  int
		says         string
	}{
		{"well", "all answered", &fake.Server{}, "", 0, 4, "completed=1 total=1"},
		{"all failed", "batchbench-agent ends with 0", fail(all, fake.Failure{Status: 400}), "", 1, 1, "Failure: agent 0 trajectory \"sampled-0\" invocation 1"},
		{"tried again", "two tries after the first", fail(all, fake.Failure{Status: 500}), "-max-retries 2 -retry-delay-ms 1", 1, 3, "total=1 successful=0 failed=1"},
		{"saved by a try", "one request, whatever its tries", fail(firstOnly, fake.Failure{Status: 503}), "-retry-delay-ms 1", 0, 5, "total=4 successful=4"},
		{"not tried again", "no retries wanted", fail(firstOnly, fake.Failure{Status: 503}), "-max-retries 0", 1, 1, "Requests of the plan without an answer or a failure of the server: 0 canceled in flight, 0 could not be built, 3 not attempted"},
		{"one of two", "something was answered", fail(firstOnly, fake.Failure{Status: 400}), "-agents 2", 0, 5, "Agents not completed: 1 failed"},
		{"threshold missed", "one of two failed", fail(firstOnly, fake.Failure{Status: 400}), "-agents 2 -require ok-%>=100", 1, 5, `-require "ok-%>=100": ok-% is 80`},
		{"limit missed", "no answer is so fast", &fake.Server{}, "-slo-e2e 1ns -slo-share 0.5", 1, 4, "the limits were not kept"},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.NotEmpty(t, row.reason)
			w := serveFake(t, row.server)
			r := w.agents(t, strings.Fields(row.flags)...)
			assert.Equal(t, row.code, r.code, r.stderr)
			assert.Contains(t, r.stdout+r.stderr, row.says)
			assert.Equal(t, row.calls, w.Counts().Requests)
		})
	}
	t.Run("invalid", func(t *testing.T) {
		w := serveFake(t, &fake.Server{})
		w.agents(t) // for the connections of the first run
		r := w.agents(t, "-limit", "lag-max=1ns")
		assert.Equal(t, 1, r.code)
		assert.Contains(t, r.stderr, "the run is not valid: lag max")
		assert.Contains(t, r.stdout, "completed=1", "the summary is there all the same")
	})
	t.Run("in flight", func(t *testing.T) {
		w := serveFake(t, &fake.Server{TTFT: 20 * time.Millisecond})
		path := filepath.Join(t.TempDir(), "q.jsonl")
		// No word of the lag: a limit that is given is kept.
		r := evals("", noEnv, "agent", "-host", w.url, "-quiet", "-limit", "cpu=off", "-limit", "gc-pause=off", "-limit", "achieved=off", "-limit", "cached=off", "-agents", "6", "-tool-invocations", "2", "-max-in-flight", "1", "-requests-jsonl", path)
		assert.Equal(t, 0, r.code, "requests wait because they are to: %s", r.stderr)
		assert.Equal(t, 1, atOnce(t, path))
	})
	t.Run("nobody there", func(t *testing.T) {
		r := evals("", noEnv, "agent", "-host", "http://127.0.0.1:1", "-quiet", "-max-retries", "0")
		assert.Equal(t, 1, r.code)
		assert.Contains(t, r.stdout, "successful=0 failed=1")
	})
}

// odd answers with a text of its own.
func odd(t *testing.T, body string) *watched {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return &watched{url: server.URL}
}

func TestAgentWithoutUsage(t *testing.T) {
	r := odd(t, `{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`).agents(t, "-max-retries", "0")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stdout, "successful=0 failed=1", "as batchbench-agent")
	assert.Contains(t, r.stdout, "usage")
}

// TestAgentVerbose: what a model says is cut and harmless.
func TestAgentVerbose(t *testing.T) {
	text := `\u001b]0;x\u0007\u202e` + strings.Repeat("é", 60)
	r := odd(t, `{"choices":[{"message":{"role":"assistant","content":"`+text+`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`).agents(t, "-tool-invocations", "1", "--verbose")
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stderr, `agent=0 invocation=1 messages=1 request="the `)
	assert.Contains(t, r.stderr, ` reply="\x1b]0;x\a\u202e`)
	assert.NotContains(t, r.stderr, "\x1b")
	reply := regexp.MustCompile(`reply=(".*")…`).FindStringSubmatch(r.stderr)
	require.Len(t, reply, 2)
	plain, err := strconv.Unquote(reply[1])
	require.NoError(t, err)
	assert.Equal(t, 50, len([]rune(plain)), "and the mark of the cut behind it")
	r = odd(t, `{"error":"`+text+`"}`).agents(t, "-v", "-max-retries", "0")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "failure=")
	assert.NotContains(t, r.stdout+r.stderr, "\x1b")
}

// TestAgentUnbuilt: a text that cannot be made ends its own trajectory.
func TestAgentUnbuilt(t *testing.T) {
	w := serveFake(t, &fake.Server{})
	small := strings.NewReplacer(`"prompt_tokens":1300`, `"prompt_tokens":881`, `"tool-a","tokens":420`, `"tool-b","tokens":1`)
	manifest := strings.SplitAfter(manifestG12, "\n")
	path := fileOf(t, "plans.jsonl", manifest[0]+small.Replace(manifest[1]))
	r := w.agents(t, "-agent-plans-jsonl", path, "-tokenizer-model", "o200k_base")
	assert.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, "completed=1 total=2")
	assert.Contains(t, r.stdout, "1 could not be built")
	r = w.agents(t, "-agent-plans-jsonl", path, "-tokenizer-model", "o200k_base", "-dry-run")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, `trajectory "coding-agent-b"`)
}

// TestAgentOpenLoop has the line that only an open loop has.
func TestAgentOpenLoop(t *testing.T) {
	w := serveFake(t, &fake.Server{})
	path := fileOf(t, "plans.jsonl", manifestG12)
	r := w.agents(t, "-agent-plans-jsonl", path, "-tokenizer-model", "o200k_base", "-admission", "open-loop", "-time-scale", "2")
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `Open-loop admission: late=0 max lag=[0-9.]+ ms, at most [12] active\n`, r.stdout)
}
