package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/fake"
	loadrecord "github.com/goevals/evals/evaltest/load/record"
)

// watched is a model server and what it saw, in the order in which its
// requests came.
type watched struct {
	*fake.Server
	url  string
	stop func()
	mu   sync.Mutex
	all  []*fake.Seen
}

func serveFake(t *testing.T, s *fake.Server) *watched {
	t.Helper()
	w := &watched{Server: s}
	s.Saw = func(seen *fake.Seen) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, seen)
	}
	url, stop, err := s.Start()
	require.NoError(t, err)
	w.url, w.stop = url, sync.OnceFunc(stop)
	t.Cleanup(w.stop)
	return w
}

// seen are the calls in the order of arrival. It stops the server: a client may
// have its answer before the server has noted what it did.
func (w *watched) seen() []*fake.Seen {
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.all)
	slices.SortFunc(list, func(a, b *fake.Seen) int { return a.N - b.N })
	return list
}

// agents runs evals agent against the server. The client is not judged: it
// shares its processors with the server and with other tests.
func (w *watched) agents(t *testing.T, words ...string) ran {
	t.Helper()
	return evals("", noEnv, slices.Concat([]string{"agent", "-host", w.url, "-model", "m", "-quiet", "-seed", "7"}, strings.Fields(unhurried+" -limit cached=off"), words)...)
}

// fileOf writes a file of a test.
func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// atOnce is how many of the requests in a file were at the server at once. The
// server's own count is higher by those that are answered and not yet noted.
func atOnce(t *testing.T, path string) (most int) {
	t.Helper()
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	for _, line := range linesOf(t, path) {
		var q loadrecord.Request
		require.NoError(t, json.Unmarshal([]byte(line), &q))
		edges = append(edges, edge{q.Sent, 1}, edge{q.Done, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), a.step-b.step) })
	n := 0
	for _, e := range edges {
		n += e.step
		most = max(most, n)
	}
	return most
}

// prepared makes of a command line what would be run.
func prepared(words ...string) (*agentFlags, *agentPlan, load.Agents, error) {
	fs := flag.NewFlagSet("agent", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var errs bytes.Buffer
	f := &agentFlags{p: &program{stdout: io.Discard, stderr: &errs, env: noEnv}, fs: fs, families: families()}
	f.declare()
	if err := fs.Parse(words); err != nil {
		return f, nil, load.Agents{}, err
	}
	plan, run, err := f.prepare(context.Background())
	return f, plan, run, err
}

// figures masks what differs from run to run: times and rates.
var figures = regexp.MustCompile(`[0-9]+\.[0-9]+`)

// The golden vectors' manifests: G4 is the README's example, G5 is replayed with
// overheads of 5 and 10, G12 has blocks whose sums with the overhead are the
// prompts.
const (
	manifestG4 = `{"schema_version":1,"trajectory_id":"short-agent","requests":[{"prompt_tokens":256,"output_tokens":64},{"prompt_tokens":448,"output_tokens":96}]}
{"schema_version":1,"trajectory_id":"long-agent","requests":[{"prompt_tokens":512,"output_tokens":128},{"prompt_tokens":896,"output_tokens":128,"delay_after_ms":25},{"prompt_tokens":1280,"output_tokens":64}],"metadata":{"from":"a test"}}

{"schema_version":1,"trajectory_id":"compacting-agent","requests":[{"prompt_tokens":768,"output_tokens":128},{"prompt_tokens":384,"output_tokens":64,"reset_before":true}]}
`
	manifestG5 = `{"schema_version":1,"trajectory_id":"a","requests":[{"prompt_tokens":100,"output_tokens":20},{"prompt_tokens":150,"output_tokens":10,"delay_after_ms":25},{"prompt_tokens":60,"output_tokens":5,"reset_before":true}]}
`
	manifestG12 = `{"schema_version":2,"trajectory_id":"coding-agent-a","requests":[` +
		`{"prompt_tokens":1240,"output_tokens":128,"overhead_tokens":40,"delay_after_ms":20,"blocks":[{"seed":"sys","tokens":600,"role":"system"},{"seed":"tool-a","tokens":420,"role":"tool_definition"},{"seed":"task-a","tokens":180,"role":"user"}]},` +
		`{"prompt_tokens":1560,"output_tokens":64,"overhead_tokens":52,"stream":true,"max_tokens":96,"blocks":[{"seed":"sys","tokens":600,"role":"system"},{"seed":"tool-a","tokens":420,"role":"tool_definition"},{"seed":"task-a","tokens":180,"role":"user"},{"seed":"say-a","tokens":128,"role":"assistant","live":true},{"seed":"result-a","tokens":180,"role":"tool"}]}]}
{"schema_version":2,"trajectory_id":"coding-agent-b","start_after_ms":40,"requests":[` +
		`{"prompt_tokens":1300,"output_tokens":32,"overhead_tokens":40,"blocks":[{"seed":"sys","tokens":600,"role":"system"},{"seed":"tool-a","tokens":420,"role":"tool_definition"},{"seed":"task-b","tokens":240,"role":"user"}]}]}
`
)

func TestAgentHelp(t *testing.T) {
	r := evals("", noEnv, "help", "agent")
	require.Equal(t, 0, r.code)
	golden(t, "agent-help.golden", r.stdout)
	f, _, _, err := prepared()
	require.NoError(t, err)
	f.fs.VisitAll(func(x *flag.Flag) {
		assert.Regexp(t, `(?m)^  -(\S+ .*-)?`+x.Name+`\b`, r.stdout, "each flag has its topic")
	})
	assert.Contains(t, r.stdout, "What differs from batchbench-agent:")
}

// TestAgentFlagNames has the flags of batchbench-agent, from its documentation.
func TestAgentFlagNames(t *testing.T) {
	f, _, _, err := prepared()
	require.NoError(t, err)
	names := strings.Fields(`agents agent-plans-jsonl max-active-agents replay-initial-overhead-tokens replay-turn-overhead-tokens admission time-scale
		model host endpoint api-key api-key-env sglang v verbose dry-run seed results-csv tokenizer-model
		tool-invocations tool-call-latency-ms tool-latency-ms tool-call-latency-lognorm-mu tool-call-latency-lognorm-sigma
		tool-call-latency-lognorm-median-ms tool-call-latency-lognorm-median tool-call-latency-lognorm-max-ms tool-call-latency-lognorm-max
		user-prefix disable-user-tagging dp-rank-perfect-routing dp-rank-perfect-routing-num
		request-timeout-secs max-retries retry-delay-ms ignore-eos agent-events-jsonl`)
	for _, head := range []string{"input", "output", "environment", "initial-prompt", "model-response", "environment-response"} {
		names = append(names, head+"-tokens")
	}
	for _, head := range []string{"input", "output", "environment", "initial-prompt", "model-response", "environment-response", "tool-invocations"} {
		for _, tail := range []string{"mu", "median", "sigma", "max"} {
			names = append(names, head+"-lognorm-"+tail)
		}
	}
	for _, name := range names {
		assert.NotNil(t, f.fs.Lookup(name), "-%s", name)
	}
}
