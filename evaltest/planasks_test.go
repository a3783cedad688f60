package evaltest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// unready has a Prepare that fails.
type unready struct{ evaltest.Strategy }

func (unready) Name() string                  { return "unready" }
func (unready) Prepare(context.Context) error { return errors.New("no index") }

// TestPlanAsksNobody: no model, no judge, no Prepare, and no journal.
func TestPlanAsksNobody(t *testing.T) {
	server := &llmtest.Server{}
	m := openai.Config{Model: "fake", BaseURL: server.Start(t), KeyEnv: "PLAN_TEST_KEY"}.New()
	dir := t.TempDir()
	for _, row := range []struct {
		name, reason string
		opts         []evaltest.Option
	}{
		{"model", "asked by nobody", nil},
		{"judge", "nor is it", []evaltest.Option{evaltest.Judge(lenient{}), evaltest.JudgeIncorrect()}},
		{"cassette", "that does not exist", []evaltest.Option{evaltest.Cassette(dir + "/none.jsonl")}},
		{"samples", "several", []evaltest.Option{evaltest.Samples(4)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			skipped := false
			t.Run("plan", func(t *testing.T) {
				t.Setenv("EVALTEST_PLAN", "1")
				t.Setenv("EVALTEST_DIR", dir+"/journals")
				defer func() { skipped = t.Skipped() }()
				evaltest.Run(t, capitals(t, 4), unready{evaltest.Ask(m, askInput)}, evaltest.Options(exact, evaltest.Options(row.opts...)))
			})
			assert.True(t, skipped, row.reason)
			assert.Zero(t, server.Counts().Calls)
			assert.NoDirExists(t, dir+"/journals")
		})
	}
}
