// Package evals_test holds the evals that the README shows. Read this file
// from top to bottom: it is the shape of an eval of your own.
package evals_test

import (
	"os"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/openai"
)

// TestGSM8K asks a model the word problems of a dataset, one subtest each, and
// fails if fewer of its answers are right than were accepted before.
//
// As it stands it needs no key and no network: the answers of a small open
// model to 118 problems of our own are replayed from testdata. Two variables
// change that:
//
//	EVALTEST_MODEL=gpt-5-nano   asks that model live, with OPENAI_API_KEY and,
//	                            for another server than OpenAI's, OPENAI_BASE_URL
//	EVALTEST_GSM8K=PATH         takes the problems from PATH, such as the full
//	                            test split of 1,319; it needs a live model
func TestGSM8K(t *testing.T) {
	evaltest.Run(t, problems(t), evaltest.Ask(model(), prompt), settings(t))
}

// BenchmarkGSM8K makes one pass over the same problems and reports what it
// took: go test -run '^$' -bench GSM8K -benchtime 1x .
func BenchmarkGSM8K(b *testing.B) {
	evaltest.Benchmark(b, problems(b), evaltest.Ask(model(), prompt), settings(b))
}

// problems is the dataset: rows of {question, answer}, where the answer ends
// in "#### 18".
func problems(tb testing.TB) *dataset.Dataset {
	path := "testdata/gsm8k_sample.jsonl.gz"
	if full := os.Getenv("EVALTEST_GSM8K"); full != "" {
		path = full
	}
	ds, err := gsm8k.Load(path)
	if err != nil {
		tb.Fatal(err)
	}
	return ds
}

// model is the one that testdata's answers come from, served on this machine,
// unless the environment names another.
func model() llm.Model {
	if name := os.Getenv("EVALTEST_MODEL"); name != "" {
		return openai.New(name)
	}
	return openai.Config{Model: "smollm2-135m-instruct", BaseURL: "http://127.0.0.1:8091/v1"}.New()
}

// prompt turns a problem into what the model is sent.
func prompt(item dataset.Item) llm.Request {
	req := llm.Prompt(item.Input)
	if os.Getenv("EVALTEST_MODEL") == "" {
		// What a small model needs; reasoning models refuse a temperature
		// and would spend so short an answer on their thoughts.
		req.Temperature = new(0.0)
		req.MaxOutputTokens = new(int64(256))
	}
	return req
}

// settings are how answers are graded and what passes.
func settings(tb testing.TB) evaltest.Option {
	live := os.Getenv("EVALTEST_MODEL") != ""
	if os.Getenv("EVALTEST_GSM8K") != "" && !live {
		tb.Fatal("EVALTEST_GSM8K names other problems than those whose answers are recorded: name a model to ask in EVALTEST_MODEL, such as gpt-5-nano with OPENAI_API_KEY")
	}
	graded := evaltest.Grader(grade.Numeric())
	if live {
		return evaltest.Options(graded, evaltest.MinAccuracy(0.5))
	}
	return evaltest.Options(
		graded,
		// A call that is not in the cassette is an error: nothing is asked.
		evaltest.Cassette("testdata/gsm8k_sample.cassette.jsonl.gz"),
		// What was accepted when the answers were recorded. The model is
		// very small.
		evaltest.MinAccuracy(0.025),
	)
}
