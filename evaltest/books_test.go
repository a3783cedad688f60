package evaltest_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/price"
)

// sampleSplit is the part of GSM8K that lies in this repository.
func sampleSplit(t *testing.T) *dataset.Dataset {
	t.Helper()
	ds, err := gsm8k.Load(filepath.Join("..", "testdata", "gsm8k_sample.jsonl.gz"))
	require.NoError(t, err)
	return ds
}

// fullSplit is the whole test split, which is not ours to commit.
func fullSplit(t *testing.T) *dataset.Dataset {
	t.Helper()
	ds, err := gsm8k.Load(sharedFile(t, "data/gsm8k_test.jsonl.gz"))
	require.NoError(t, err)
	require.Equal(t, splitSize, ds.Len(), "it is the whole split or it is none")
	return ds
}

const splitSize = 1319 // problems of the test split

// generated are as many sums as the split has problems.
func generated(t *testing.T) *dataset.Dataset {
	t.Helper()
	items := make([]dataset.Item, splitSize)
	for i := range items {
		items[i] = dataset.Item{ID: fmt.Sprintf("sum-%d", i), Input: fmt.Sprintf("What is %d + %d?", i, 3*i+1), Target: strconv.Itoa(4*i + 1)}
	}
	ds, err := dataset.New("sums", items)
	require.NoError(t, err)
	return ds
}

// fated counts the questions by what becomes of them.
func fated(ds *dataset.Dataset, p *llmtest.Pupil) map[llmtest.Fate]int {
	n := map[llmtest.Fate]int{}
	for it := range ds.All() {
		n[p.Fate(it.Input)]++
	}
	return n
}

// TestBakeoffBooks: a fake of known accuracy and known bills answers a whole
// dataset; the bake-off says of it what its own books say, to the last token and
// to the last digit of the last dollar. That it is GSM8K's test split is said by
// the subtest's name: without the data that one is skipped, never made smaller.
func TestBakeoffBooks(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		data         func(*testing.T) *dataset.Dataset
	}{
		{"full-split", "the claim is about this one", fullSplit},
		{"sample", "real problems, always at hand", sampleSplit},
		{"generated", "as many as the split has, always at hand", generated},
	} {
		t.Run(row.name, func(t *testing.T) {
			if raceDetector && row.name != "sample" {
				t.Skip("the detector sees in the sample all that there is to see")
			}
			checkBooks(t, row.data(t))
		})
	}
}

// checkBooks lets pupils of several kinds answer a dataset.
func checkBooks(t *testing.T, ds *dataset.Dataset) {
	t.Helper()
	for _, row := range []struct {
		name, reason string
		pupil        llmtest.Pupil
		rules        []llmtest.Rule
	}{
		{"mixed", "every fate, judged and escalated", llmtest.Pupil{Wrong: 0.05, Vague: 0.04, Mumbled: 0.02, Cached: 7, Seed: 1}, nil},
		{"perfect", "nothing to judge", llmtest.Pupil{Seed: 2}, nil},
		{"hopeless", "0 % is a number", llmtest.Pupil{Wrong: 1, Seed: 3}, nil},
		{"busy", "refused calls are no attempts and cost nothing", llmtest.Pupil{Wrong: 0.1, Vague: 0.05, Seed: 4}, []llmtest.Rule{
			{Faults: []llmtest.Fault{llmtest.Busy(time.Millisecond)}, Probability: 0.02, Tries: 1, Limit: 5},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			pupil := row.pupil
			pupil.Answers = map[string]string{}
			for it := range ds.All() {
				pupil.Answers[it.Input] = it.Target
			}
			pupil.Thinks = func(c llmtest.Chat) bool { return string(c.Field("reasoning_effort")) == `"high"` }
			server := &llmtest.Server{Reply: pupil.Reply, Seed: 5, Rules: row.rules}
			court := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "GRADE: C"} }}
			rates, dues := price.PerMillion("0.137", "0.0131", "0.61"), price.PerMillion("0.05", "0.005", "0.4")
			cost := func(r llm.Response) (string, bool) {
				if r.Model == "court" {
					return dues.Response(r)
				}
				return rates.Response(r)
			}
			ask := func(level string) evaltest.Strategy {
				m := openai.Config{Model: "pupil", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
				return evaltest.Ask(m, func(it dataset.Item) llm.Request {
					req := llm.Prompt(it.Input)
					req.Thinking = &llm.Thinking{Level: level}
					return req
				})
			}
			jury := judge.New(openai.Config{Model: "court", BaseURL: "http://127.0.0.1/v1", HTTPClient: court.Client()}.New())
			c := bakeoff.Contestant{Name: "pupil", Model: "pupil", Workers: 64, ThinkingFrom: 3}
			var rep *evaltest.Report
			evaltest.RunForTest(t, ds, evaltest.Escalate(ask("minimal"), ask("high"), 3), nil, func(r *evaltest.Report) { rep = r },
				evaltest.Grader(grade.Numeric()), evaltest.Judge(jury), evaltest.Price(cost), evaltest.Parallel(64),
				evaltest.MinAccuracy(0), evaltest.Dir(t.TempDir()))
			got, err := bakeoff.NewRow(c, rep.Stats, rep.Records())
			require.NoError(t, err)

			fates, books, fees := fated(ds, &pupil), server.Counts().Billed, court.Counts().Billed
			unusable := fates[llmtest.FateVague] + fates[llmtest.FateMumbled]
			assert.Equal(t, ds.Len()-fates[llmtest.FateWrong], got.Correct, row.reason)
			assert.InDelta(t, 100*float64(ds.Len()-fates[llmtest.FateWrong])/float64(ds.Len()), got.Accuracy, 1e-12)
			assert.LessOrEqual(t, got.Low, got.Accuracy)
			assert.GreaterOrEqual(t, got.High, got.Accuracy)
			assert.Equal(t, fates[llmtest.FateMumbled], got.JudgeRescued)
			assert.Equal(t, fates[llmtest.FateMumbled], got.Unparsed)
			assert.Equal(t, got.Correct, got.ExactCorrect+got.JudgeRescued)
			assert.Equal(t, ds.Len()+2*unusable, got.Attempts, "two more for what was unusable twice")
			assert.Equal(t, 2*unusable, got.Retries)
			assert.Equal(t, unusable, got.Escalations)
			assert.Equal(t, server.Counts().Faults, got.RateLimits)
			assert.Equal(t, len(row.rules) > 0, got.RateLimits > 0)
			assert.Equal(t, got.RateLimits, got.ErrorCounts[llm.KindRateLimit])
			assert.Zero(t, got.Errors)

			assert.Equal(t, []int64{books.Input, books.CachedInput, books.Output, books.Reasoning}, []int64{got.Input, got.Cached, got.Output, got.Reasoning})
			owed, ok := rates.Cost(books)
			require.True(t, ok)
			assert.Equal(t, owed.String(), got.Cost.String())
			due, ok := dues.Cost(fees)
			require.True(t, ok || fees.Input == 0)
			assert.Equal(t, owed.Add(due).String(), got.Total.String(), "the judge's on top")
			assert.False(t, got.AtLeast)
			if got.Judge == nil {
				assert.Zero(t, fates[llmtest.FateMumbled])
			} else {
				assert.Equal(t, []int64{fees.Input, fees.Output}, []int64{got.Judge.Input, got.Judge.Output})
				assert.Equal(t, due.String(), got.Judge.Cost.String())
			}
			checkItems(t, ds, c, rep, got)
		})
	}
}

// checkItems: the results file holds every answer, and adds up to the row.
func checkItems(t *testing.T, ds *dataset.Dataset, c bakeoff.Contestant, rep *evaltest.Report, row bakeoff.Row) {
	t.Helper()
	path, err := bakeoff.WriteItems(t.TempDir(), c, 0, rep.Records())
	require.NoError(t, err)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	dec := json.NewDecoder(z)
	var output int64
	n, correct, thinking := 0, 0, 0
	for {
		var it bakeoff.Item
		if err := dec.Decode(&it); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		want := ds.At(n)
		assert.Equal(t, want.ID, it.ID, "in the order of the dataset")
		assert.Equal(t, want.Target, it.Gold)
		assert.True(t, it.Success)
		v, err := grade.Numeric().Grade(t.Context(), want, llm.Response{Text: it.Raw})
		require.NoError(t, err)
		if it.Graded == nil {
			assert.Equal(t, v.Mark, it.Verdict.Mark, "it can be graded again")
		}
		if strings.EqualFold(string(it.Outcome), "correct") {
			correct++
		}
		if it.Thinking {
			thinking++
		}
		output += it.Usage.Output
		n++
	}
	assert.Equal(t, ds.Len(), n)
	assert.Equal(t, row.Correct, correct)
	assert.Equal(t, row.Escalations, thinking)
	assert.Equal(t, row.Output, output)
}
