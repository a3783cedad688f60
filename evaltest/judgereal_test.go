package evaltest_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// The calls of TestSmallJudge are recorded; testdata/record.sh of the project's
// root records them again.
const (
	sampleRows      = "../testdata/gsm8k_sample.jsonl.gz"
	sampleAnswers   = "testdata/small_answers.cassette.jsonl.gz"
	judgedUnparsed  = "testdata/small_judge.cassette.jsonl.gz"
	judgedLabelled  = "testdata/small_judge_labels.cassette.jsonl.gz"
	smallModel      = "smollm2-135m-instruct"
	smallModelURL   = "http://127.0.0.1:8091/v1" // what testdata/record.sh serves
	judgedLabelsMax = 60                         // sample items whose answers are labelled
)

// TestSmallJudge has a small model of 135 million parameters judge answers to
// the sample: those of the same model in which the grader found nothing, and
// then answers that are known to be right or wrong. Such a judge is weak, and
// everything that is printed of it must show that.
func TestSmallJudge(t *testing.T) {
	mode := cassette.Replay
	if os.Getenv("EVALS_RECORD_JUDGE") != "" { // EVALTEST_CASSETTE would record the answers too
		mode = cassette.Record
	}
	t.Setenv("EVALTEST_CASSETTE", "")
	ds, err := gsm8k.Load(sampleRows)
	require.NoError(t, err)
	answers := recordedAnswers(t, ds, mode)
	model := openai.Config{Model: smallModel, BaseURL: smallModelURL}.New()
	// Without a cap it goes round in circles, and with a higher one it still does.
	options := []judge.Option{judge.Temperature(0), judge.MaxOutputTokens(96), judge.Reasks(0)}
	small := judge.New(model, options...)

	var cal *judge.Calibration
	t.Run("labels", func(t *testing.T) {
		c, err := cassette.Open(judgedLabelled, cassette.Options{Mode: mode})
		require.NoError(t, err)
		ctx := wire.WithMiddleware(t.Context(), c)
		alone := judge.New(call.New(model, call.Config{Timeout: 5 * time.Minute}), options...)
		cal, err = judge.Calibrate(ctx, alone, labelled(t, ds, answers), judge.CalibrateConfig{Parallel: 2})
		require.NoError(t, err)
		require.NoError(t, c.Close())
		t.Logf("%v", cal)
		require.Empty(t, cal.Errored)
		require.NoError(t, cal.KappaErr)
		// It says correct to nearly everything. Landis and Koch (1977) call a
		// kappa below 0.2 slight.
		assert.Less(t, cal.Kappa.Interval.Hi, 0.2)
		assert.Less(t, cal.SpecificityInterval.Hi, 0.2)
	})

	t.Run("unparsed", func(t *testing.T) {
		var rep *evaltest.Report
		t.Run("run", func(t *testing.T) {
			rep = evaltest.Run(t, ds, said(answers), evaltest.Grader(grade.Numeric()), evaltest.Judge(small), evaltest.Calibrated(cal),
				evaltest.Cassette(judgedUnparsed, mode), evaltest.MinAccuracy(0), evaltest.MaxUngraded(ds.Len()), evaltest.Dir(t.TempDir()))
		})
		require.NotNil(t, rep)
		assert.Equal(t, 4, rep.Stats.Judge.Called, rep.Summary)
		assert.Equal(t, 3, rep.Stats.Judge.Overturned)
		assert.Equal(t, 1, rep.Stats.Judge.Ungraded)
		assert.Positive(t, rep.Stats.JudgeUsage.Input, "what the judge spent is known, apart")
		assert.Zero(t, rep.Stats.Usage.Input, "and none of it is the subject's")
	})
}

// said is a strategy that gives answers which are there already.
func said(answers map[string]llm.Response) evaltest.Strategy {
	return evaltest.StrategyFunc(func(_ context.Context, item dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
		return answers[item.ID], nil
	})
}

// recordedAnswers are the small model's to the sample: each its first and only
// one, at temperature 0.
func recordedAnswers(t *testing.T, ds *dataset.Dataset, mode cassette.Mode) map[string]llm.Response {
	t.Helper()
	answers := map[string]llm.Response{}
	t.Run("answers", func(t *testing.T) {
		model := openai.Config{Model: smallModel, BaseURL: smallModelURL}.New()
		prompt := func(item dataset.Item) llm.Request {
			req := llm.Prompt(item.Input)
			req.Temperature, req.MaxOutputTokens = new(0.0), new(int64(256))
			return req
		}
		rep := evaltest.Run(t, ds, evaltest.Ask(model, prompt), evaltest.Grader(grade.Numeric()), evaltest.Attempts(1),
			evaltest.Cassette(sampleAnswers, mode), evaltest.MinAccuracy(0), evaltest.Dir(t.TempDir()))
		for rec, err := range rep.Records() {
			require.NoError(t, err)
			require.NotEqual(t, result.Errored, rec.Outcome)
			resp := *rec.Response
			answers[rec.Item.ID] = llm.Response{Text: resp.Text, Finish: resp.Finish}
		}
	})
	require.Len(t, answers, ds.Len())
	return answers
}

// labelled are answers of which it is known whether they are right: the sample's
// own solutions, and the small model's that end in another number.
func labelled(t *testing.T, ds *dataset.Dataset, answers map[string]llm.Response) []judge.Labelled {
	t.Helper()
	var all []judge.Labelled
	for item := range ds.All() {
		if len(all) == 2*judgedLabelsMax {
			break
		}
		said := answers[item.ID]
		v, err := grade.Numeric().Grade(t.Context(), item, said)
		require.NoError(t, err)
		if v.Mark != grade.Incorrect || said.Finish != llm.FinishStop {
			continue
		}
		var row struct{ Answer string }
		require.NoError(t, json.Unmarshal(item.Raw, &row))
		all = append(all, judge.Labelled{Item: item, Response: llm.Response{Text: row.Answer, Finish: llm.FinishStop}, Label: grade.Correct},
			judge.Labelled{Item: item, Response: said, Label: grade.Incorrect})
	}
	return all
}
