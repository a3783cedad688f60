package evaltest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// tutorial is what the README's blocks hold, in order, by language.
func tutorial(t *testing.T) map[string][]string {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	blocks := map[string][]string{}
	for _, b := range fence.FindAllStringSubmatch(string(text), -1) {
		blocks[b[1]] = append(blocks[b[1]], b[2])
	}
	return blocks
}

// TestREADME does what the README tells a newcomer to do, and compares what
// happens with what it shows.
func TestREADME(t *testing.T) {
	t.Parallel()
	blocks := tutorial(t)
	require.Len(t, blocks["go"], 11, "application, eval, gate, imports, model, benchmark, limits, busy, judge, baseline, load")
	app, eval, gated, imports, asked, bench := blocks["go"][0], blocks["go"][1], blocks["go"][2], blocks["go"][3], blocks["go"][4], blocks["go"][5]
	m := newModule(t, map[string]string{"support.go": app, "support_test.go": eval, "testdata/tickets.jsonl": blocks["json"][0]})
	mod, err := os.ReadFile(m.root + "/go.mod")
	require.NoError(t, err)
	m.write("go.mod", strings.Replace(string(mod), "example.com/m", "example.com/support", 1))

	command, shown, _ := strings.Cut(blocks["console"][0], "\n")
	require.Equal(t, "$ go test .", command)
	shown, _, _ = strings.Cut(shown, "…")
	assert.Contains(t, normal(m.test("."), ""), normal(shown, ""), "the failure that the README shows")
	assert.Contains(t, m.test("-run", "^TestRoute$/^t1$", "."), "ok  \texample.com/support", "one item alone")

	_, ungated, ok := strings.Cut(eval, "\tevaltest.Run(")
	require.True(t, ok)
	ungated, _, _ = strings.Cut("\tevaltest.Run("+ungated, "\n")
	m.write("support_test.go", strings.Replace(eval, ungated+"\n", gated, 1))
	assert.Contains(t, m.test("-v", "."), "gate      passed MinAccuracy", "with the gate of step 5")

	m.write("route_bench_test.go", bench)
	out := m.test("-run", "^$", "-bench", "Route", "-benchtime", "1x", ".")
	assert.Regexp(t, `(?m)^BenchmarkRoute\S*\s+1\s.*\s75\.00 accuracy-%`, out, "the benchmark of step 7")

	model := strings.Replace(eval, ungated+"\n", asked, 1)
	model = strings.Replace(model, "\t\"github.com/goevals/evals/grade\"\n", "\t\"github.com/goevals/evals/grade\"\n"+imports, 1)
	m.write("support_test.go", model)
	out = m.test(".")
	assert.NotContains(t, out, "build failed", "the model of step 6 compiles")
	assert.Contains(t, out, "EVALTEST_CASSETTE=auto", "without a recording it says how to make one")

	m.write("support_test.go", eval)
	m.write("limits_test.go", blocks["go"][6])
	m.write("busy_test.go", blocks["go"][7])
	out = m.test("-v", "-run", "^TestBusy$", ".")
	assert.Contains(t, out, "accuracy  100.0%: 1/1 correct", "the bad day of the section on providers")
	assert.Contains(t, out, "1 answer after 2 attempts", "a broken gateway or half an answer was met")
	assert.Contains(t, out, "waits     1 call met a rate limit", "and so was the storm")

	m.write("busy_test.go", "package support\n")
	m.write("judge_test.go", blocks["go"][8])
	assert.Contains(t, m.test("-run", "^TestRoute$/^t1$", "."), "ok  \texample.com/support", "the judge compiles and vets")
	m.write("support_test.go", strings.Replace(eval, ungated+"\n", blocks["go"][9], 1))
	assert.Contains(t, m.test("-run", "TestRoute", "."), "there is no baseline testdata/tickets.baseline.jsonl.gz yet", "what the section on gates begins with")
	assert.Contains(t, m.test("-run", "TestRoute", ".", "-evaltest.update"), "ok  \texample.com/support", "a run is accepted")
	assert.Contains(t, m.test("-v", "-run", "TestRoute", "."), "gate      not enough data for Baseline", "and the next one compared")
	m.write("support.go", strings.Replace(app, `"Billing", nil`, `"Sales", nil`, 1))
	assert.Contains(t, m.test("-v", "-run", "TestRoute", ".", "-evaltest.max-drop=0.2"), "gate      FAILED MaxDrop: the accuracy of 4 items in both runs fell by 25.0", "as a change that breaks one")

	m.write("server_bench_test.go", strings.Replace(blocks["go"][10], "http://localhost:8000", "http://127.0.0.1:1", 1))
	out = m.test("-run", "^$", "-bench", "Server", "-benchtime", "10x", ".")
	assert.Contains(t, out, "--- FAIL: BenchmarkServer", "the load of a server that is not there")
	assert.Contains(t, out, "no request was answered", "which it says")
}

// TestCopied copies what the README says may be copied: the benchmarks with the
// problems alone, and the tutorial beside them, into a package of another name.
func TestCopied(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"support.go": "package support\n"})
	take := func(names ...string) {
		for _, name := range names {
			text, err := os.ReadFile("../" + name)
			require.NoError(t, err)
			m.write(name, strings.Replace(string(text), "package evals_test", "package support", 1))
		}
	}
	take("benchmark_test.go", tutorialRows)
	m.env = keylessOf(m.env)
	out := m.test("-run", "^TestPrices$", "-bench", "Race", "-benchtime=1x", "-short", ".")
	assert.Regexp(t, `(?m)^BenchmarkRace/provider=fake-quick/eval\S*\s+1\s`, out)
	assert.Contains(t, out, "ok  \texample.com/m")
	take(tutorialFile, tutorialAnswers, tutorialAccepted)
	assert.Contains(t, m.test("-run", "^TestGSM8K$", "."), "ok  \texample.com/m")
}
