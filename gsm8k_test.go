// Package evals_test holds the evals that the README shows. Read this file
// from top to bottom: it is the shape of an eval of your own.
package evals_test

import (
	"cmp"
	"os"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/openai"
)

// TestGSM8K asks a model the word problems of a dataset, one subtest each, and
// fails if its answers are worse than those that were accepted before.
//
// As it stands it needs no key and no network: what a small open model said to
// 118 problems of our own is replayed from testdata. Variables change that:
//
//	EVALTEST_MODEL=gpt-5-nano  asks that model live, with OPENAI_API_KEY and,
//	                           for another server than OpenAI's, OPENAI_BASE_URL
//	EVALTEST_JUDGE=gpt-5-mini  is the live judge; else the model judges itself
//	EVALTEST_GSM8K=PATH        takes the problems from PATH, such as the full
//	                           test split of 1,319; it needs a live model
//	EVALTEST_BASELINE=PATH     is a live model's own baseline; without, it has none
func TestGSM8K(t *testing.T) {
	evaltest.Run(t, problems(t), strategy(), settings(t), secondOpinion(), gates())
}

// BenchmarkGSM8K makes one pass over the same problems and reports what the
// model took, without a judge: go test -run '^$' -bench GSM8K -benchtime 1x .
func BenchmarkGSM8K(b *testing.B) {
	evaltest.Benchmark(b, problems(b), strategy(), settings(b))
}

// problems is the dataset: rows of {question, answer}, where the answer ends
// in "#### 18".
func problems(tb testing.TB) *dataset.Dataset {
	ds, err := gsm8k.Load(cmp.Or(os.Getenv("EVALTEST_GSM8K"), "testdata/gsm8k_sample.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	return ds
}

// live reports whether a model is asked, rather than what one said replayed.
func live() bool { return os.Getenv("EVALTEST_MODEL") != "" }

// model is the live model of that name, or the one on this machine that
// testdata was recorded from.
func model(name string) llm.Model {
	if live() {
		return openai.New(name)
	}
	return openai.Config{Model: "smollm2-135m-instruct", BaseURL: "http://127.0.0.1:8091/v1"}.New()
}

// strategy is how an item is answered: cheaply, and from the third attempt on
// with more effort. Another attempt is made where an answer is cut or does not
// mark its number, and where a call failed: never because the number is wrong.
func strategy() evaltest.Strategy {
	m := model(os.Getenv("EVALTEST_MODEL"))
	// At temperature 0 the second answer would be the first one again.
	cheap := evaltest.Escalate(evaltest.Ask(m, fast(0)), evaltest.Ask(m, fast(0.3)), 2)
	return evaltest.Escalate(cheap, evaltest.Ask(m, thinking), 3)
}

// fast turns a problem into what the model is sent: behind an example.
func fast(temperature float64) func(dataset.Item) llm.Request {
	return func(item dataset.Item) llm.Request {
		return with("minimal", 96, temperature, llm.Request{Messages: []llm.Message{
			{Role: llm.RoleUser, Content: "A baker has 5 boxes with 4 cakes each. She sells 6 cakes. How many are left?"},
			{Role: llm.RoleAssistant, Content: "She has 5 * 4 = 20 cakes.\nThere are 20 - 6 = 14 left.\n#### 14"},
			{Role: llm.RoleUser, Content: item.Input},
		}})
	}
}

// thinking is what it is sent in the third attempt.
func thinking(item dataset.Item) llm.Request {
	return with("high", 256, 0, llm.Prompt(item.Input+"\nThink step by step, and end with #### and the number."))
}

// with sets how much a live model reasons. The small one cannot: it gets room,
// in tokens, and a temperature, which models that reason refuse.
func with(effort string, room int64, temperature float64, req llm.Request) llm.Request {
	if live() {
		req.Thinking = &llm.Thinking{Level: effort}
	} else {
		req.MaxOutputTokens, req.Temperature = &room, &temperature
	}
	return req
}

// settings say how answers are graded, and where recorded ones are.
func settings(tb testing.TB) evaltest.Option {
	graded := evaltest.Options(evaltest.Grader(grade.Numeric(grade.RequireMarker())), evaltest.Attempts(3))
	switch {
	case live():
		return graded
	case os.Getenv("EVALTEST_GSM8K") != "":
		tb.Fatal("EVALTEST_GSM8K names other problems than those whose answers are recorded: name a model to ask in EVALTEST_MODEL, such as gpt-5-nano with OPENAI_API_KEY")
	}
	// A call that is not in the cassette is an error: nothing is asked.
	return evaltest.Options(graded, evaltest.Cassette("testdata/gsm8k_sample.cassette.jsonl.gz"))
}

// secondOpinion is a judge, who is asked what an answer means that still has no
// number after the last attempt. What it costs is counted apart. A judge must
// earn its say: beside such answers it gets two that we know, and if it is wrong
// about one, all that it judged is ungraded.
func secondOpinion() evaltest.Option {
	var opts []judge.Option
	if !live() { // it would go round in circles
		opts = []judge.Option{judge.Temperature(0), judge.MaxOutputTokens(96), judge.Reasks(0)}
	}
	known := func(id, answer string, label grade.Mark) judge.Labelled {
		item := dataset.Item{ID: id, Input: "How many legs have 2 cats and 6 ants?", Target: "44"}
		return judge.Labelled{Item: item, Response: llm.Response{Text: answer}, Label: label}
	}
	j := judge.New(model(cmp.Or(os.Getenv("EVALTEST_JUDGE"), os.Getenv("EVALTEST_MODEL"))), opts...)
	return evaltest.Judge(judge.WithCanaries(j, []judge.Labelled{
		known("right", "Forty-four.", grade.Correct), known("wrong", "Forty-two.", grade.Incorrect),
	}, judge.CanaryConfig{}))
}

// gates are what passes.
func gates() evaltest.Option {
	if live() {
		return evaltest.MinAccuracy(0.5)
	}
	return evaltest.Options(
		// The accepted run. When a change is meant, look at it, then accept it:
		// go test -run TestGSM8K . -evaltest.update
		evaltest.Baseline("testdata/gsm8k_sample.baseline.jsonl.gz"),
		evaltest.MaxErrored(0),
		// Recordings do not fall by chance. A live model's do: the paired test
		// that comes with a baseline tells chance from a drop.
		evaltest.MaxDrop(0),
		// A very small model: 1 answer of 118 is right, and as a judge it misses
		// a canary. Ask more of yours, and let nothing be ungraded.
		evaltest.MinAccuracy(0.008), evaltest.MaxUngraded(2),
	)
}
