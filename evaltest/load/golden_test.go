package load_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown says which tests show what this package promises: for each golden vector
// and trap of BatchBench, each case from other tools' issues, and each proof that
// was asked of the load generator. A test is named by its folder below this one
// ("load" is this one, "evals" the program), its name and, behind a slash, a text that stands in it.
var shown = []struct {
	id, what string
	tests    string // separated by spaces
}{
	{"G1", "indices of percentiles, by BatchBench's rule", "metric.TestG1BatchbenchPercentiles"},
	{"G2", "estimate of cached tokens", "metric.TestG2CachedEstimate agent.TestEstimateCached"},
	{"G3", "what the environment adds", "agent.TestCompile/G3 agent.TestReadRefuses/G3:"},
	{"G4", "the example manifest", "agent.TestCompile/G4 evals.TestAgentGoldenManifests"},
	{"G5", "overheads of a replay", "agent.TestCompile/G5"},
	{"G6", "a request's own overhead", "agent.TestCompile/G6"},
	{"G7", "content and answers with an overhead", "agent.TestCompile/G7"},
	{"G8", "time scale", "agent.TestCompileTurn/G8 arrival.TestTrace/G8"},
	{"G9", "admission and slots", "agent.TestAdmissionOrder agent.TestSlotPool"},
	{"G10", "tags and ranks", "agent.TestTags/loadtest-1"},
	{"G11", "bodies", "agent.TestBody agent.TestCompileTurn/G11 client.TestBody/G11"},
	{"G12", "sums of blocks", "agent.TestBlockSums"},
	{"G13", "what a turn appends", "agent.TestAppend"},
	{"G14", "a stream", "client.TestReply/G14 client.TestVectors"},
	{"G15", "mixing of streams", "workload.TestMix"},
	{"G16", "names from seeds", "agent.TestToolName agent.TestBlocks/G16 agent.TestBlockSeed"},
	{"G17", "endpoints", "client.TestAddress"},
	{"G18", "which user sends what, and lengths", "workload.TestEntry/G18 workload.TestDraw/G18:"},
	{"G19", "manifests that are refused", "agent.TestReadRefuses/G19"},
	{"G20", "exact texts", "token.TestExactGolden"},

	{"trap 1", "retries that are never made", "load.TestTrapRetry client.TestRetry"},
	{"trap 2", "logging in the latency", "load.TestTrapLog"},
	{"trap 3", "prompts that are not exact", "load.TestExactPrompts load.TestExactPrefixes"},
	{"trap 4", "overlap of the shortest prompt", "workload.TestOverlapRules"},
	{"trap 5", "a long run ends with the list", "load.TestTrapLongRun"},
	{"trap 6", "all or nothing", "load.TestUnbuilt agent.TestTextFailsItsOwnTrajectory load.TestReplayInterrupted load.TestReplayKilled load.TestInterrupt evals.TestLoadInterrupt evals.TestAgentInterrupt"},
	{"trap 7", "retries that cannot help", "client.TestRetry/trap"},
	{"trap 8", "waits for a retry in the latency", "load.TestTrapRetry metric.TestMeasure/retry"},
	{"trap 9", "success if all failed", "load.TestBenchmarkFails metric.TestB08NothingAnswered evals.TestLoadExit evals.TestAgentExit"},
	{"trap 10", "a row that cannot be repeated", "metric.TestCSV/seed evals.TestAllSettings evals.TestAgentSettings"},
	{"trap 11", "causes that are lost", "load.TestTrapCause"},
	{"trap 12", "tags that cannot be repeated", "agent.TestTags"},
	{"trap 13", "seeds that change with a release", "workload.TestGolden workload.TestRandIsStable token.TestTextIsPinned agent.TestGoldenBodies"},
	{"trap 14", "reasoning that is dropped", "agent.TestParseReply/reasoning agent.TestBlocks/BatchBench"},
	{"trap 15", "tools that are not declared", "agent.TestBlocks/fn_e3b98a4da31a"},
	{"trap 16", "what a template adds", "load.TestReplay metric.TestLengthsAndCache"},
	{"trap 17", "cached tokens that nobody compares", "metric.TestLengthsAndCache fake.TestCacheOfWorkload"},
	{"trap 18", "three coarse percentiles", "metric.TestType7 metric.TestFew"},
	{"trap 19", "one row a run", "load.TestBenchmarkReadByBenchstat metric.TestBenchstatReads"},
	{"trap 20", "two defaults of a timeout", "load.TestTrapTimeout client.TestTimeouts evals.TestFlagsToLoad/request-timeout-secs"},
	{"trap 21", "lengths that pile up at the maximum", "workload.TestStatistics"},
	{"trap 22", "failures counted as requests", "load.TestB03 metric.TestB03ErrorsAndUnfinished"},
	{"trap 23", "the drain in the rates", "metric.TestSteadyWindowClosed metric.TestSteadyWindowOpen"},
	{"trap 24", "options that are ignored", "workload.TestSettingsErrors/orphan evals.TestLoadFlagErrors"},
	{"trap 25", "an example that breaks its own rule", "agent.TestBlockSums/1530"},

	{"B01", "coordinated omission", "load.TestB01 metric.TestB01CoordinatedOmission"},
	{"B03", "errors and unfinished requests", "load.TestB03 metric.TestB03ErrorsAndUnfinished"},
	{"B04", "reasoning and roles in the time to the first token", "load.TestStreams metric.TestB04ReasoningFirst"},
	{"B05", "time per token of chunks", "load.TestStreams metric.TestB05TokensPerChunk"},
	{"B07", "warm-up", "load.TestB07 metric.TestB07WarmUpExcluded load.TestWarmup"},
	{"B08", "NaN in benchmark lines", "load.TestBenchmarkFails metric.TestB08NothingAnswered"},
	{"B10", "small values", "metric.TestB10Precision"},

	{"tokens", "each length from 1 to 30,000, as a server counts", "load.TestExactPrompts load.TestExactPrefixes fake.TestTokenizers"},
	{"tokens of a real server", "if there is one", "load.TestRealServer"},
	{"omission", "an open loop shows a stall, a closed one is labelled", "load.TestOmissionOpen load.TestOmissionClosed load.TestOmissionLateClient load.TestOmissionRealTime"},
	{"streams", "each gives the numbers that are defined", "load.TestStreams client.TestVectors"},
	{"gaps", "add up to last minus first", "load.TestStreams client.FuzzStream metric.TestGapsAddUp metric.FuzzMeasure"},
	{"replay", "200 trajectories as planned, interrupted and killed", "load.TestReplay load.TestReplayInterrupted load.TestReplayKilled"},
	{"rate", "against a bare client", "load.BenchmarkRate"},
	{"paced streams", "against a bare client", "load.BenchmarkStreams"},
	{"open rate", "within 0.5 % of 1,000 a second", "load.BenchmarkOpenRate"},
	{"memory", "flat over a long run", "load.BenchmarkMemory"},
	{"flags", "BatchBench's, with their meaning", "evals.TestFlagsToLoad evals.TestAgentFlagNames evals.TestAgentFlags"},
	{"benchstat", "reads what benchmarks print", "load.TestBenchmark load.TestBenchmarkReadByBenchstat"},
}

// TestGoldenTable: each test that the table names is there, and each vector, trap
// and case is in the table.
func TestGoldenTable(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range shown {
		assert.False(t, seen[row.id], "%s stands twice", row.id)
		seen[row.id] = true
		assert.NotEmpty(t, row.what)
		for _, name := range strings.Fields(row.tests) {
			name, text, _ := strings.Cut(name, "/")
			room, name, ok := strings.Cut(name, ".")
			require.True(t, ok, "%s: %s", row.id, row.tests)
			texts, found := testsOf(t, room)[name]
			if assert.True(t, found, "%s: there is no %s in %s", row.id, name, room) && text != "" {
				assert.Contains(t, texts, text, "%s: %s.%s", row.id, room, name)
			}
		}
	}
	for i := range 20 {
		assert.True(t, seen[fmt.Sprint("G", i+1)], "G%d", i+1)
	}
	for i := range 25 {
		assert.True(t, seen[fmt.Sprint("trap ", i+1)], "trap %d", i+1)
	}
}

var rooms = map[string]map[string]string{}

// testsOf are the functions of a room's test files, each with the texts that stand
// in it.
func testsOf(t *testing.T, room string) map[string]string {
	t.Helper()
	if rooms[room] != nil {
		return rooms[room]
	}
	dir := room
	switch room {
	case "load":
		dir = "."
	case "evals":
		dir = "../cmd/evals"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no tests in %s", dir)
	list := map[string]string{}
	for _, path := range files {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Body == nil {
				continue
			}
			var b strings.Builder
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						b.WriteString(s)
					} else {
						b.WriteString(lit.Value) // a number
					}
					b.WriteByte('\n')
				}
				return true
			})
			list[f.Name.Name] = b.String()
		}
	}
	rooms[room] = list
	return list
}
