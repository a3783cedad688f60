package evals_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/price"
	"github.com/goevals/evals/llm/wire"
)

// This file compares models, and this library with what one would write in its
// place. Every b.Loop iteration is a whole pass, so say how many:
//
//	go test -run '^$' -bench 'Race|Throughput|Bakeoff' -benchtime=1x -count=10 -timeout 60m . | tee new.txt
//	go tool benchstat -col /provider new.txt
//
// benchstat comes by go get -tool golang.org/x/perf/cmd/benchstat; this module
// has it in .ci/tools.mod: go tool -modfile=.ci/tools.mod benchstat. To copy the
// file, copy testdata/gsm8k_sample.jsonl.gz too, and change the package's name.
//
// With no key in the environment two fakes on this machine answer, as fast and
// as well as the table says. With the key of a provider that one is asked, for
// money: EVALTEST_MAX_COST=0.50 caps what each benchmark may spend, -short asks
// less. EVALTEST_GSM8K=PATH takes the problems from PATH, such as the whole
// test split. The files lie beside the journals; the log says where.

// contestants are who is compared: models, prices in USD per million tokens
// and the day on which the provider's page stated them, and how each is asked.
// TestPrices checks the prices against those of package price, which a run is
// billed by: it also knows that DeepSeek costs double in peak hours.
var contestants = []contestant{
	{name: "deepseek", model: "deepseek-flash", input: "0.15", cached: "0.003", output: "0.6", asOf: "2026-10-17",
		workers: 250, fast: &llm.Thinking{Off: true}, thinking: &llm.Thinking{Level: openai.Enabled},
		needs:  []string{"DEEPSEEK_API_KEY"},
		client: func(_ testing.TB, model string) llm.Model { return openai.DeepSeek(model).New() }},
	{name: "gemini-levels", model: "gemini-3.5-flash-lite", input: "0.3", cached: "0.03", output: "2.5", asOf: "2026-11-09",
		workers: 250, fast: &llm.Thinking{Level: "minimal"}, thinking: &llm.Thinking{Level: "high"},
		needs:  []string{"GOOGLE_API_KEY", "GEMINI_API_KEY", vertexSwitch},
		client: func(_ testing.TB, model string) llm.Model { return gemini.New(model) }},
	{name: "gemini-budgets", model: "gemini-2.5-flash-lite", input: "0.1", cached: "0.01", output: "0.4", asOf: "2026-11-09",
		workers: 5, fast: &llm.Thinking{Off: true}, thinking: &llm.Thinking{Budget: new(int64(2048))},
		needs:  []string{"GOOGLE_API_KEY", "GEMINI_API_KEY", vertexSwitch},
		client: func(_ testing.TB, model string) llm.Model { return gemini.New(model) }},
	{name: "openai", model: "gpt-5-nano", input: "0.05", cached: "0.005", output: "0.4", asOf: "2026-11-09",
		workers: 100, fast: &llm.Thinking{Level: "minimal"}, thinking: &llm.Thinking{Level: "high"},
		needs:  []string{"OPENAI_API_KEY"},
		client: func(_ testing.TB, model string) llm.Model { return openai.New(model) }},
	// Any other server that speaks OpenAI's API, with a key in
	// EVALS_BENCH_API_KEY if it wants one. Its prices are not known here, and
	// neither is how its thinking is switched: a further attempt asks the same.
	// EVALS_BENCH_NOTE is what the files are to say of the server.
	{name: "compatible", model: cmp.Or(os.Getenv("EVALS_BENCH_MODEL"), "default"), workers: 4,
		needs: []string{"EVALS_BENCH_BASE_URL"},
		client: func(tb testing.TB, model string) llm.Model {
			return openai.Config{Model: model, BaseURL: serverURL(tb), KeyEnv: "EVALS_BENCH_API_KEY", KeyOptional: true}.New()
		}},
}

// fakes take part when no other contestant can: servers on this machine whose
// times are log-normal (median, sigma), and that know how many of their answers
// will be right. Their prices are made up.
var fakes = []contestant{
	fake("fake-quick", "0.10", "0.01", "0.40", llmtest.Pupil{First: llmtest.LogNormal(12*time.Millisecond, 0.4), Wrong: 0.12, Vague: 0.06, Mumbled: 0.02}),
	fake("fake-slow", "0.50", "0.05", "2.00", llmtest.Pupil{First: llmtest.LogNormal(20*time.Millisecond, 0.6), Wrong: 0.04, Vague: 0.02, Mumbled: 0.02}),
}

const (
	judgeModel  = "gpt-5-nano"
	judgeNeeds  = "OPENAI_API_KEY"
	fakeJudge   = "fake-judge" // of the fakes; it says that all is correct
	fakeSeed    = 20261130
	fakeWorkers = 32
	thinksFrom  = 3 // attempts 1 and 2 are fast
	attempts    = 3
)

// BenchmarkRace answers the same 30 problems one by one, in chunks, and as a
// run does.
func BenchmarkRace(b *testing.B) {
	compare(b, func(b *testing.B, c contestant) {
		ds := problemsFor(b, 30)
		race := evaltest.Race(b, ds, c.ask(b, c.fast),
			[]evaltest.Leg{evaltest.SequentialLeg(), evaltest.ChunkedLeg()},
			c.settings(ds), evaltest.Parallel(min(c.workers, ds.Len()/3))) // one chunk alone is a pool
		tell(b, board.AddRace(c.entry(), race))
	})
}

// BenchmarkOverhead shows what a run itself takes for an item, with nobody to
// wait for. It has no provider, so it is no row of the comparison; its number
// goes to throughput.json, if BenchmarkThroughput runs after it.
func BenchmarkOverhead(b *testing.B) {
	begin(b)
	ds := repeated(b, 5000) // it costs nothing
	known := evaltest.StrategyFunc(func(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
		return llm.Response{Text: "#### " + it.Target, Usage: llm.Usage{Known: true}, CostUSD: "0"}, nil // so that a budget lets it go on
	})
	race := evaltest.Race(b, ds, known, []evaltest.Leg{evaltest.SequentialLeg()}, evaltest.Grader(grade.Numeric()), evaltest.Parallel(1))
	overhead := float64(race.Median(bakeoff.Ours)-race.Median(bakeoff.Sequential)) / float64(race.Items)
	b.ReportMetric(overhead, "overhead-ns/item")
	board.AddOverhead(overhead)
}

// BenchmarkThroughput answers 1,000 problems in chunks, with a plain pool, and
// as a run does: the claim is that a run is as fast as the pool.
func BenchmarkThroughput(b *testing.B) {
	compare(b, func(b *testing.B, c contestant) {
		ds := problemsFor(b, 1000)
		race := evaltest.Race(b, ds, c.ask(b, c.fast),
			[]evaltest.Leg{evaltest.ChunkedLeg(), evaltest.PoolLeg()}, c.settings(ds))
		tell(b, board.AddThroughput(c.entry(), race))
	})
}

// BenchmarkBakeoff answers all problems: fast, thinking where that was no use,
// and with a judge for what then still cannot be compared.
func BenchmarkBakeoff(b *testing.B) {
	compare(b, func(b *testing.B, c contestant) {
		if times := flag.Lookup("test.benchtime").Value.String(); times != "1x" {
			b.Fatalf("-benchtime=%s: a row is of one pass, so use -benchtime=1x, with -count for more rows", times)
		}
		ds := wordProblems(b)
		if testing.Short() {
			ds = repeated(b, 50)
		}
		strategy := evaltest.Escalate(c.ask(b, c.fast), c.ask(b, c.thinking), thinksFrom)
		fallback, judged := c.judge(b)
		rep := evaltest.Benchmark(b, ds, strategy, c.settings(ds), fallback)
		row, err := board.AddRun(c.entry(), attempts, rep.Stats, rep.Journal, rep.Records())
		tell(b, err)
		per := func(total int) float64 { return float64(total) / float64(row.Items) }
		b.ReportMetric(row.Low, "accuracy-low-%")
		b.ReportMetric(row.High, "accuracy-high-%")
		b.ReportMetric(per(row.Attempts), "attempts/item")
		b.ReportMetric(100*per(row.Escalations), "escalated-%")
		b.ReportMetric(100*per(row.Unparsed), "unparsed-%")
		b.ReportMetric(100*per(row.JudgeRescued), "rescued-%")
		b.ReportMetric(100*per(row.Errors), "errored-%")
		if usd, known := row.JudgeUSD(); judged && known {
			b.ReportMetric(1e6*usd/float64(row.Items), "judge-µUSD/item")
		}
	})
}

// A contestant is a model, and how it is asked.
type contestant struct {
	name, model           string
	input, cached, output string // USD per million tokens; empty if not known
	asOf                  string // the day of these prices
	workers               int    // the most items at once
	fast, thinking        *llm.Thinking
	needs                 []string // one of these variables; nil for a fake
	client                func(testing.TB, string) llm.Model
}

// missing says why the contestant cannot take part; "" if it can.
func (c contestant) missing() string {
	for _, name := range c.needs {
		v := os.Getenv(name)
		if name == vertexSwitch {
			if on, err := strconv.ParseBool(v); err != nil || !on {
				continue
			}
		}
		if v != "" {
			return ""
		}
	}
	return strings.Join(c.needs, " or ") + " is not set"
}

// vertexSwitch is no key but a switch: Vertex AI, with the machine's own
// credentials, in place of a key.
const vertexSwitch = "GOOGLE_GENAI_USE_VERTEXAI"

// serverURL is the address of the contestant "compatible". A client panics at
// what is none: that of a variable is no mistake of the program, and the other
// benchmarks are to go on.
func serverURL(tb testing.TB) string {
	tb.Helper()
	base := os.Getenv("EVALS_BENCH_BASE_URL")
	if u, err := url.Parse(base); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		tb.Fatalf("EVALS_BENCH_BASE_URL=%q: want http:// or https:// and a host, such as http://127.0.0.1:8080/v1", wire.Mask(base))
	}
	return base
}

// ask is the strategy of one call, thinking or not.
func (c contestant) ask(tb testing.TB, thinking *llm.Thinking) evaltest.Strategy {
	m := c.client(tb, c.model)
	if thinking != nil && thinking != c.fast {
		m = thinker{m}
	}
	return evaltest.Ask(m, func(it dataset.Item) llm.Request {
		req := llm.Prompt(instruction + it.Input)
		req.Thinking = thinking
		return req
	})
}

// thinker is a model that is asked to think: reports name it so.
type thinker struct{ llm.Model }

func (t thinker) Name() string { return run.NameOf(t.Model) + " with thinking" }

const instruction = "Solve this problem. Think step by step, and be brief. End with a line that holds nothing but #### and the number.\n\nProblem: "

// settings are the same in all three benchmarks. A pass that was paid for is not
// thrown away for one answer in a hundred that is lost: it counts as not correct,
// and is said.
func (c contestant) settings(ds *dataset.Dataset) evaltest.Option {
	lost := max(1, ds.Len()/100)
	return evaltest.Options(
		evaltest.Grader(grade.Numeric()), evaltest.Parallel(c.workers), evaltest.Attempts(attempts), evaltest.Price(prices().Response),
		evaltest.MaxErrored(lost), evaltest.MaxUngraded(lost),
	)
}

// judge is asked about what the grader cannot compare; without a key for it
// such answers stay unparsed, which counts as not correct.
func (c contestant) judge(b *testing.B) (fallback evaltest.Option, judged bool) {
	switch {
	case c.needs == nil:
		server := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "GRADE: C"} }}
		return evaltest.Judge(judge.New(openai.Config{Model: fakeJudge, BaseURL: server.Start(b), Provider: fakeJudge}.New())), true
	case os.Getenv(judgeNeeds) != "":
		return evaltest.Judge(judge.New(openai.New(judgeModel))), true
	}
	b.Logf("%s is not set: answers that the grader cannot compare are not judged", judgeNeeds)
	return evaltest.Options(), false
}

// entry is what the files say of the contestant.
func (c contestant) entry() bakeoff.Contestant {
	e := bakeoff.Contestant{
		Name: c.name, Model: c.model, Workers: c.workers,
		Price: bakeoff.Price{Input: c.input, CachedInput: c.cached, Output: c.output, AsOf: c.asOf},
	}
	if c.thinking != nil {
		e.ThinkingFrom = thinksFrom
	}
	return e
}

// fake is a contestant that a server on this machine plays.
func fake(name, input, cached, output string, pupil llmtest.Pupil) contestant {
	return contestant{
		name: name, model: name, input: input, cached: cached, output: output, workers: fakeWorkers,
		fast: &llm.Thinking{Level: "minimal"}, thinking: &llm.Thinking{Level: "high"},
		client: func(tb testing.TB, model string) llm.Model {
			return openai.Config{Model: model, BaseURL: fakeServer(tb, pupil).Start(tb), Provider: name}.New()
		},
	}
}

// fakeServer answers the problems. It tells the instruction as cached.
func fakeServer(tb testing.TB, pupil llmtest.Pupil) *llmtest.Server {
	pupil.Seed, pupil.Answers = fakeSeed, map[string]string{}
	for it := range wordProblems(tb).All() {
		pupil.Answers[it.Input] = it.Target
	}
	pupil.Cached = llmtest.CountWords(instruction)
	pupil.Question = func(prompt string) string { return strings.TrimPrefix(prompt, instruction) }
	pupil.Thinks = func(c llmtest.Chat) bool { return string(c.Field("reasoning_effort")) == `"high"` }
	return &llmtest.Server{Reply: pupil.Reply, Seed: fakeSeed}
}

// prices are the list prices, and those of the fakes.
func prices() *price.Table {
	t := price.Default().With(price.Entry{Model: fakeJudge, Rates: price.PerMillion("0.20", "0.02", "0.80")})
	for _, c := range fakes {
		t = t.With(price.Entry{Model: c.model, Rates: price.PerMillion(c.input, c.cached, c.output)})
	}
	return t
}

// compare runs a benchmark for each contestant whose key is set, and for the
// fakes if there is none.
func compare(b *testing.B, bench func(*testing.B, contestant)) {
	begin(b)
	board.SetDataset(wordProblems(b))
	for _, c := range contestants {
		why := c.missing()
		b.Run(evaltest.BenchName("provider", c.name), func(b *testing.B) {
			if why != "" {
				b.Skip(why)
			}
			bench(b, c)
		})
	}
	if anyLive() {
		return
	}
	for _, c := range fakes {
		b.Run(evaltest.BenchName("provider", c.name), func(b *testing.B) { bench(b, c) })
	}
}

// begin is where every benchmark of this file does. Of several numbers of
// processors testing labels the first row with one that it did not run on, and
// the files pool all passes of a contestant.
func begin(b *testing.B) {
	b.Helper()
	if procs := flag.Lookup("test.cpu").Value.String(); strings.Contains(procs, ",") {
		b.Fatalf("-cpu=%s: one number at a time, as -cpu=N or GOMAXPROCS=N, and a process for each", procs)
	}
	sayWho()
}

// sayWho says once who takes part. The first line is one of benchstat's
// configuration, so that it keeps what fakes answered apart from live results;
// the others it passes over. Later, anything on standard output could land in
// the middle of a result.
var sayWho = sync.OnceFunc(func() {
	fmt.Println(units)
	if !anyLive() {
		fmt.Println("answered-by: fakes on this machine, for no contestant's key is set")
	}
	for _, c := range contestants {
		if why := c.missing(); why != "" {
			fmt.Printf("# %s is skipped: %s\n", c.name, why)
		}
	}
	switch server, model := os.Getenv("EVALS_BENCH_BASE_URL"), os.Getenv("EVALS_BENCH_MODEL"); {
	case server != "" && model == "":
		fmt.Println(`# compatible is asked for a model "default", for EVALS_BENCH_MODEL is not set`)
	case server == "" && model != "":
		fmt.Printf("# EVALS_BENCH_MODEL=%q is asked of nobody, for EVALS_BENCH_BASE_URL is not set\n", model)
	}
})

// units tell benchstat which way the numbers of this file are better.
const units = `Unit overhead-ns/item better=lower
Unit accuracy-low-% better=higher
Unit accuracy-high-% better=higher
Unit attempts/item better=lower
Unit escalated-% better=lower
Unit unparsed-% better=lower
Unit rescued-% better=lower
Unit errored-% better=lower
Unit judge-µUSD/item better=lower`

// anyLive reports whether a contestant's key is set.
func anyLive() bool {
	return slices.ContainsFunc(contestants, func(c contestant) bool { return c.missing() == "" })
}

// wordProblems are what is asked: rows of {question, answer}.
func wordProblems(tb testing.TB) *dataset.Dataset {
	ds, err := gsm8k.Load(cmp.Or(os.Getenv("EVALTEST_GSM8K"), "testdata/gsm8k_sample.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	return ds
}

// problemsFor are n problems, a tenth of that with -short.
func problemsFor(tb testing.TB, n int) *dataset.Dataset {
	if testing.Short() {
		n = max(10, n/10)
	}
	return repeated(tb, n)
}

// repeated are n problems: the first ones, and again from the start where there
// are fewer.
func repeated(tb testing.TB, n int) *dataset.Dataset {
	all := wordProblems(tb)
	items := make([]dataset.Item, n)
	for i := range items {
		it := all.At(i % all.Len())
		items[i] = dataset.Item{ID: fmt.Sprintf("%s.%d", it.ID, i/all.Len()), Input: it.Input, Target: it.Target}
	}
	ds, err := dataset.New(all.Name(), items)
	if err != nil {
		tb.Fatal(err)
	}
	return ds
}

// board keeps what the benchmarks of this process come to.
var board = bakeoff.NewBoard(methodology)

// methodology says how it was done, once somebody has taken part.
func methodology() bakeoff.Methodology {
	m := bakeoff.NewMethodology()
	switch {
	case !anyLive():
		m.Seed, m.Judge = fakeSeed, fakeJudge
	case os.Getenv(judgeNeeds) != "":
		m.Judge = judgeModel
	}
	m.Notes = []string{
		"Legs of a race make one attempt an item, grade it, and take turns at being first; laps are in the order in which they ran.",
		"Times are of this machine and this hour. Costs are by list price; the judge's is not in a contestant's.",
	}
	if !anyLive() {
		m.Notes = append(m.Notes, "Contestants and judge are fakes on this machine: the judge says that all is correct, and prices are made up.")
	}
	if note := os.Getenv("EVALS_BENCH_NOTE"); note != "" {
		m.Notes = append(m.Notes, note)
	}
	for _, c := range contestants {
		if why := c.missing(); why != "" {
			m.Notes = append(m.Notes, fmt.Sprintf("%s did not take part: %s.", c.name, why))
		}
	}
	return m
}

// tell says where the files lie, or why there are none: a run that keeps no
// journal, such as one that replays a cassette, has nowhere to put them.
func tell(b *testing.B, err error) {
	b.Helper()
	switch {
	case errors.Is(err, bakeoff.ErrNoJournal):
		b.Log(err)
	case err != nil:
		b.Fatal(err)
	case testing.Verbose():
		b.Logf("files: %s", board.Dir())
	}
}

// TestPrices: the contestants' table says what the list prices do.
func TestPrices(t *testing.T) {
	for _, c := range contestants {
		e, ok := price.Default().Find(c.model)
		if c.input == "" {
			continue // a server of one's own
		}
		if want := price.PerMillion(c.input, c.cached, c.output); !ok || !e.Input.Equal(want.Input) || !e.CachedInput.Equal(want.CachedInput) || !e.Output.Equal(want.Output) {
			t.Errorf("%s: the table above says %s, %s, %s; the price list has %v, %v, %v (known: %t)", c.model, c.input, c.cached, c.output, e.Input, e.CachedInput, e.Output, ok)
		}
		if day := e.AsOf.Format(time.DateOnly); day != c.asOf {
			t.Errorf("%s: the table above is of %s, the price list of %s", c.model, c.asOf, day)
		}
	}
}
