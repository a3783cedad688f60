package evaltest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
)

// ciItems is how many items the pull requests of these tests are judged by.
const ciItems = 1000

// ciEval is a project's eval and benchmark of one model, which a fake serves.
const ciEval = `package m

import (
	"fmt"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// hostile is an id that would end a block of HTML or markdown, and mention people.
const hostile = "</pre>\x60\x60\x60 @all ::error::<b>"

func questions(tb testing.TB, n int) *dataset.Dataset {
	var items []dataset.Item
	for i := range n {
		id := fmt.Sprintf("q%04d", i)
		if i == 1 {
			id = hostile
		}
		items = append(items, dataset.Item{ID: id, Input: fmt.Sprintf("What is %d plus %d?", i, i), Target: fmt.Sprint(2 * i)})
	}
	ds, err := dataset.New("sums", items)
	if err != nil {
		tb.Fatal(err)
	}
	return ds
}

func strategy() evaltest.Strategy {
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		var i int
		fmt.Sscanf(c.Last(), "What is %d plus", &i)
		return llmtest.Reply{Text: answer(i)}
	}}
	model := openai.Config{Model: "fake", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
	return evaltest.Ask(model, func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) })
}

// settings have a price, without which a budget lets nothing be asked.
func settings() evaltest.Option {
	price := evaltest.Price(func(llm.Response) (string, bool) { return "0.0001", true })
	return evaltest.Options(evaltest.Offline(), evaltest.Grader(grade.Numeric()), price)
}

func TestSums(t *testing.T) {
	evaltest.Run(t, questions(t, 1000), strategy(), settings(), evaltest.MinAccuracy(0.5))
}

func BenchmarkSums(b *testing.B) {
	b.Run(evaltest.BenchName("model", "fake-1"), func(b *testing.B) {
		evaltest.Benchmark(b, questions(b, 100), strategy(), settings())
	})
}
`

// ciAnswer is what differs between two commits: the fake's answers. Of a
// hundred items ten are answered as a coin falls that is tossed anew with each
// seed; of those that are always right, broken in a thousand are not any more.
func ciAnswer(seed, broken int) string {
	return fmt.Sprintf(`package m

import (
	"fmt"
	"math/rand/v2"
)

func answer(i int) string {
	coin := rand.New(rand.NewPCG(%d, uint64(i))).IntN(2)
	switch {
	case i%%10 == 0 && coin == 0:
		return "It is -1."
	case i%%10 == 1 && i/10 < %d:
		return "It is -1."
	}
	return fmt.Sprint("It is ", 2*i)
}
`, seed, broken*ciItems/1000)
}

// A pullRequest is a module under git with a commit for each state of the fake.
type pullRequest struct {
	*userModule
	scripts string
	states  int
}

func newPullRequest(t *testing.T) *pullRequest {
	t.Helper()
	if testing.Short() {
		t.Skip("builds test binaries of two commits")
	}
	for _, program := range []string{"bash", "git", "awk"} {
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
			t.Skipf(".ci/compare wants a POSIX system with bash, git and awk: %s, %v", runtime.GOOS, err)
		}
	}
	scripts, err := filepath.Abs(filepath.Join("..", ".ci"))
	require.NoError(t, err)
	p := &pullRequest{userModule: newModule(t, map[string]string{"eval_test.go": ciEval}), scripts: scripts}
	none := filepath.Join(t.TempDir(), "none")
	p.env = append(p.env, "GOFLAGS=", "GITHUB_ACTIONS=", "GIT_CONFIG_GLOBAL="+none, "GIT_CONFIG_SYSTEM="+none,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	p.git("init", "-q", "-b", "main")
	return p
}

func (p *pullRequest) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.root, p.env
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// commit commits the fake's state and returns the commit.
func (p *pullRequest) commit(answer string) string {
	p.t.Helper()
	p.write("answer_test.go", answer)
	p.states++ // git looks at sizes and times first
	p.age("answer_test.go", time.Duration(p.states)*time.Minute)
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "a state of the fake")
	return p.git("rev-parse", "HEAD")
}

// A verdict is what the script came to.
type verdict struct {
	code                                      int
	text, report, comment, summary, benchstat string
}

// compare runs the script.
func (p *pullRequest) compare(args ...string) verdict {
	p.t.Helper()
	out, summary := filepath.Join(p.t.TempDir(), "out"), filepath.Join(p.t.TempDir(), "summary.md")
	cmd := exec.Command("bash", append([]string{filepath.Join(p.scripts, "compare"), "-out", out}, args...)...)
	cmd.Dir, cmd.Env = p.root, append(p.env, "GITHUB_STEP_SUMMARY="+summary)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	read := func(path string) string {
		b, _ := os.ReadFile(path) // not there if nothing was compared
		return string(b)
	}
	return verdict{cmd.ProcessState.ExitCode(), text.String(), read(filepath.Join(out, "report.md")), read(filepath.Join(out, "comment.md")), read(summary), read(filepath.Join(out, "benchstat.txt"))}
}

// brokenIDs are the items that a pull request with 3 % breaks.
func brokenIDs() (ids []string) {
	for k := range 29 {
		ids = append(ids, fmt.Sprintf("q%04d", 10*k+11))
	}
	return ids
}

// TestCompare runs what the pull-request workflow runs.
func TestCompare(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	base := p.commit(ciAnswer(1, 0))
	same := p.commit(ciAnswer(2, 0))
	worse := p.commit(ciAnswer(2, 30))

	green := p.compare("-count=6", base, same)
	require.Equal(t, 0, green.code, green.text)
	assert.Contains(t, green.report, "### evals: no regression shown")
	assert.Contains(t, green.report, "verdict  no evidence of a drop: accuracy ")
	golden(t, "ci-benchstat", settledTable(green.benchstat))

	red := p.compare("-count=1", base, worse)
	require.Equal(t, 1, red.code, red.text)
	assert.Contains(t, red.report, "### evals: worse than base")
	assert.Contains(t, red.report, "verdict  regressed: accuracy ")
	for _, id := range brokenIDs() {
		line := "broke    " + id + ": correct, incorrect\n"
		assert.True(t, strings.Contains(red.report, line), "no %q in %s", line, "the report")
		assert.True(t, strings.Contains(red.text, line), "no %q in %s", line, "the log")
	}
	assert.Contains(t, red.report, "broke    &lt;/pre&gt;``` @all ::error::&lt;b&gt;: correct, incorrect\n", "as text, in a block of HTML")
	assert.NotContains(t, red.report, "</pre>```")
	for _, v := range []verdict{green, red} {
		assert.Equal(t, v.report, v.summary, "the job's summary is the report")
	}
	assert.Empty(t, p.git("status", "--porcelain"), "the work tree is not touched")
	assert.Equal(t, 1, strings.Count(p.git("worktree", "list"), "\n")+1, "no work tree is left")
}

// TestCompareFails: a test or a benchmark that fails on head alone is red, and
// what it printed is shown as text, in as much room as there is.
func TestCompareFails(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	p.write("eval_test.go", "package m\n") // no eval: it builds faster
	plain := func(fault string) string {
		return fmt.Sprintf("package m\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n\nvar _ = strings.Repeat\n\n"+
			"func TestPlain(t *testing.T) { t.Parallel(); %s }\n\nfunc BenchmarkPlain(b *testing.B) { for b.Loop() { %s } }\n",
			fault, strings.ReplaceAll(fault, "t.", "b."))
	}
	good := p.commit(plain(""))
	bad := p.commit(plain(`t.Fatal("</pre> <b>@all</b>\n::error::boo\n" + strings.Repeat("x", 70000))`))
	p.env = append(p.env, "GITHUB_ACTIONS=true")

	v := p.compare("-count=1", good, bad)
	require.Equal(t, 1, v.code, v.text)
	assert.Contains(t, v.report, "- evals fail on head, and not on base")
	assert.Contains(t, v.report, "- benchmarks fail on head, and not on base")
	assert.Contains(t, v.report, "No eval ran on both: nothing is compared.")
	assert.Contains(t, v.report, "#### benchstat, 1 pass of each in turn")
	assert.Contains(t, v.report, "&lt;/pre&gt; &lt;b&gt;@all&lt;/b&gt;\n")
	assert.NotContains(t, v.report, "<b>")
	assert.Less(t, len(v.comment), 1000)
	assert.Contains(t, v.comment, "- evals fail on head")
	assert.Contains(t, v.comment, "too long for a comment")
	assert.Regexp(t, `(?s)::stop-commands::([0-9a-f]{32})\n.*\n::[0-9a-f]{32}::\n`, v.text)
	assert.NotContains(t, v.text, "::error::", "the log has the tables; what failed is in the report")

	v = p.compare("-count=1", bad, good)
	require.Equal(t, 0, v.code, v.text)
	assert.Contains(t, v.report, "- evals fail on base, and no longer on head")
	assert.Contains(t, v.report, "### evals: none was compared")
}

// ciMore are more evals of the project, two of them too small to judge by.
const ciMore = `package m

import (
	"testing"

	"github.com/goevals/evals/evaltest"
)

func TestMore(t *testing.T) {
	evaltest.Run(t, questions(t, 40), strategy(), settings(), evaltest.MinAccuracy(0))
}

func TestFew(t *testing.T) {
	evaltest.Run(t, questions(t, 2), strategy(), settings(), evaltest.MinAccuracy(0))
}

func TestOne(t *testing.T) {
	evaltest.Run(t, questions(t, 1), strategy(), settings(), evaltest.MinAccuracy(0))
}
`

// TestCompareTop: what stands at the top of the report, of evals that are not
// there any more, that have too little data, and whose items broke by chance.
func TestCompareTop(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	const rule = "package m\n\nimport \"fmt\"\n\nfunc answer(i int) string {\n\tif i == %d {\n\t\treturn \"It is -1.\"\n\t}\n\treturn fmt.Sprint(\"It is \", 2*i)\n}\n"
	p.write("more_test.go", ciMore)
	base := p.commit(fmt.Sprintf(rule, -1))
	chance := p.commit(fmt.Sprintf(rule, 1))
	p.write("more_test.go", strings.Replace(ciMore, "40)", "8)", 1)) // of another size: git looks at that first
	shorter := p.commit(fmt.Sprintf(rule, -1) + "\n// shorter\n")
	gone := map[string]string{}
	more := ciMore[strings.Index(ciMore, "func TestMore"):strings.Index(ciMore, "func TestFew")]
	for name, body := range map[string]string{
		"deleted": "", "skipped": "func TestMore(t *testing.T) { t.Skip(\"no key\") }\n",
	} {
		p.write("more_test.go", strings.Replace(ciMore, more, body, 1))
		gone[name] = p.commit(fmt.Sprintf(rule, -1) + "\n// " + name + "\n")
	}
	const (
		unjudged = "- 2 evals could not be judged (not enough data): example-com-m/_/testfew, example-com-m/_/testone\n"
		none     = "eval example-com-m/_/testmore made no journal on head"
	)
	for _, row := range []struct {
		name, reason, head string
		env                string
		code               int
		want, not          []string
	}{
		{"by chance", "no red, but said", chance, "", 0, []string{
			"### evals: no regression shown\n", "- 1 item broke in example-com-m/_/testmore, within chance\n", "- 1 item broke in example-com-m/_/testsums, within chance\n",
			"- 1 item broke in example-com-m/_/testfew, which could not be judged\n", unjudged,
		}, []string{"worse"}},
		{"shorter", "what is not asked cannot break", shorter, "", 0, []string{
			"### evals: no regression shown\n", "- 32 items of example-com-m/_/testmore not there on head\n",
		}, []string{"broke in"}},
		{"deleted", "no evidence is no all-clear", gone["deleted"], "", 1, []string{
			"### evals: worse than base\n", "- " + none + ": deleted, skipped, or refused before it asked (see below); -allow-gone REGEXP", unjudged,
		}, nil},
		{"skipped", "it was meant", gone["skipped"], "COMPARE_ALLOW_GONE=testfew|/testmore$", 0, []string{
			"### evals: no regression shown\n", "- " + none + ", which is allowed\n",
		}, nil},
	} {
		require.NotEmpty(t, row.reason)
		p.env = append(p.env, row.env)
		v := p.compare("-count=1", "-bench=^$", base, row.head)
		top, _, _ := strings.Cut(v.report, "\n#### ")
		require.Equal(t, row.code, v.code, "%s: %s", row.name, v.text)
		for _, s := range row.want {
			assert.Contains(t, top, s, row.name)
		}
		for _, s := range row.not {
			assert.NotContains(t, top, s, row.name)
		}
	}
}

// settledTable is benchstat's output without what a machine decides: times, what
// follows from them, and the columns' widths.
func settledTable(s string) string {
	var b strings.Builder
	timed := false
	for _, line := range strings.Split(s, "\n") {
		if strings.HasPrefix(line, "goos:") || strings.HasPrefix(line, "goarch:") || strings.HasPrefix(line, "cpu:") {
			continue
		}
		if strings.Contains(line, "│") && strings.Contains(line, "vs base") {
			timed = strings.Contains(line, "sec") || strings.Contains(line, "items/s")
		}
		line = regexp.MustCompile(` {2,}`).ReplaceAllString(line, "  ")
		name, _, ok := strings.Cut(line, " ")
		if timed && ok && !strings.Contains(line, "│") && name != "" {
			line = name + "  (a time)"
		}
		b.WriteString(regexp.MustCompile(`-\d+( |$)`).ReplaceAllString(strings.TrimRight(line, " "), "$1") + "\n")
	}
	return b.String()
}

// TestCompareRefuses: what cannot be compared is an error of its own, not red.
func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	base := p.commit(ciAnswer(1, 0))
	broken := p.commit("package m\n\nfunc answer(i int) string {\n")
	for _, row := range []struct {
		name, reason string
		args         []string
		want         string
	}{
		{"no commits", "usage", nil, "name two commits, BASE and HEAD, not 0"},
		{"unknown commit", "named", []string{base, "nowhere"}, "there is no commit nowhere"},
		{"unknown flag", "named", []string{"-cuont=3", base, base}, "unknown flag -cuont=3"},
		{"no passes", "the value is named", []string{"-count=0", base, base}, "-count 0: want"},
		{"alpha", "a share, not a percentage", []string{"-alpha=5", base, base}, "-alpha 5: want"},
		{"evals that may be gone", "no pattern", []string{"-allow-gone=(", base, base}, "-allow-gone (: no regular expression"},
		{"does not build", "no run, no verdict", []string{broken, broken}, "base does not build"},
	} {
		require.NotEmpty(t, row.reason)
		v := p.compare(row.args...)
		assert.Equal(t, 2, v.code, "%s: %s", row.name, v.text)
		assert.Contains(t, v.text, row.want, row.name)
		assert.Empty(t, v.report, row.name)
	}
}

// TestLive runs what the scheduled workflow runs: a dataset in parts, each with
// its share of the budget, made one run that is held against an accepted one.
func TestLive(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	p.write("answer_test.go", ciAnswer(1, 0))
	dir := t.TempDir()
	live := func(env []string, args ...string) (string, int) {
		cmd := exec.Command("bash", append([]string{filepath.Join(p.scripts, "live")}, args...)...)
		cmd.Dir, cmd.Env = p.root, append(append(p.env, "LIVE_RUN=^TestSums$", "LIVE_BUDGET_USD=2.00", "EVALTEST_MODEL=fake", "GITHUB_ACTIONS=true"), env...)
		text, _ := cmd.CombinedOutput()
		return string(text), cmd.ProcessState.ExitCode()
	}
	for _, row := range []struct {
		name, want string
		env, args  []string
	}{
		{"no model", "EVALTEST_MODEL names no model: nothing was asked", []string{"EVALTEST_MODEL="}, []string{"part", "1/2", dir}},
		{"no budget", "want US dollars for all parts together", []string{"LIVE_BUDGET_USD="}, []string{"part", "1/2", dir}},
		{"no part", "part 2: want I/N", nil, []string{"part", "2", dir}},
		{"no journals", "there is no journal in", nil, []string{"merge", filepath.Join(dir, "none"), filepath.Join(dir, "nowhere")}},
	} {
		text, code := live(row.env, row.args...)
		assert.Equal(t, 2, code, row.name)
		assert.Contains(t, text, row.want, row.name)
	}
	parts := []string{filepath.Join(dir, "1"), filepath.Join(dir, "2")}
	for i, part := range parts {
		text, code := live(nil, "part", fmt.Sprintf("%d/2", i+1), part)
		require.Equal(t, 0, code, text)
		assert.Contains(t, text, fmt.Sprintf("live: part %d/2 with at most $1.0000", i+1))
		assert.Regexp(t, `(?s)::stop-commands::([0-9a-f]{32})\n.*\n::[0-9a-f]{32}::\n`, text, "what a test prints is no command to the runner")
	}
	whole := filepath.Join(dir, "whole")
	text, code := live(nil, append([]string{"merge", whole}, parts...)...)
	require.Equal(t, 0, code, text)
	assert.Regexp(t, `accuracy +9\d\.\d%: 9\d\d/1000 correct`, text, "all of the dataset")

	text, code = live(nil, "merge", filepath.Join(dir, "half"), parts[1])
	assert.Equal(t, 1, code, text)
	assert.Contains(t, text, "part 1 of 2 is missing")

	p.write("answer_test.go", ciAnswer(1, 30))
	worse := filepath.Join(dir, "3")
	text, code = live(nil, "part", "2/2", worse)
	require.Equal(t, 0, code, text)
	text, code = live([]string{"LIVE_BASELINE=" + filepath.Join(whole, "1.jsonl.gz")}, "merge", filepath.Join(dir, "worse"), parts[0], worse)
	assert.Equal(t, 1, code, text)
	assert.Contains(t, text, "verdict  regressed: accuracy ")
	report, err := os.ReadFile(filepath.Join(dir, "worse", "report.md"))
	require.NoError(t, err)
	assert.Contains(t, string(report), "\nbroke    q0021: correct, incorrect\n")
}

// TestCompareFalseAlarms: over 200 pull requests that change nothing the gate is
// red no more often than alpha and three standard errors, and over 200 that
// break 3 % it always is. It is the script's comparison, without its processes.
func TestCompareFalseAlarms(t *testing.T) {
	const runs = 200
	side := func(seed uint64, broken int) *gate.Baseline {
		b := &gate.Baseline{Header: gate.BaselineHeader{Samples: 1}}
		rng := rand.New(rand.NewPCG(seed, 5))
		for i := range ciItems {
			o := result.Correct
			if i%10 == 0 && rng.IntN(2) == 0 || i%10 == 1 && i/10 < broken*ciItems/1000 {
				o = result.Incorrect
			}
			b.Items = append(b.Items, gate.BaselineItem{ID: fmt.Sprintf("q%04d", i), Outcomes: []result.Outcome{o}})
		}
		return b
	}
	red := func(broken int) (n int) {
		for k := range uint64(runs) {
			c, err := gate.Compare(side(2*k, 0), side(2*k+1, broken), gate.CompareOptions{OnMismatch: gate.Warn})
			require.NoError(t, err)
			if c.Verdict == gate.Regressed {
				n++
			}
		}
		return n
	}
	alpha := gate.DefaultAlpha
	most := alpha + 3*math.Sqrt(alpha*(1-alpha)/runs)
	alarms, caught := red(0), red(30)
	t.Logf("%d of %d false alarms, at most %.1f; %d of %d drops seen", alarms, runs, most*runs, caught, runs)
	assert.LessOrEqual(t, float64(alarms), most*runs)
	assert.Positive(t, alarms, "a gate that is never red is none")
	assert.GreaterOrEqual(t, caught, runs*95/100, "3 % of 1,000 items, against 10 % that are a coin's")
}
