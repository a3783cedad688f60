package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest/report"
)

func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		name, reason                          string
		done, total, correct, errored, column int
		eta                                   time.Duration
		want                                  string
	}{
		{"whole", "", 42, 100, 35, 1, 80, 80 * time.Second, "42/100, 35 correct (83.3%), 1 errored, 1m20s left"},
		{"none yet", "no share of nothing", 0, 100, 0, 0, 80, 0, "0/100, 0 correct"},
		{"unknown total", "a stream", 42, 0, 42, 0, 80, 0, "42, 42 correct (100.0%)"},
		{"under a second", "never 0s left while it runs", 99, 100, 99, 0, 80, time.Millisecond, "99/100, 99 correct (100.0%), 1s left"},
		{"hours", "", 1, 1319, 1, 0, 80, 3*time.Hour + 123*time.Millisecond, "1/1319, 1 correct (100.0%), 3h0m0s left"},
		{"narrow", "the end goes first", 42, 100, 35, 1, 40, time.Minute, "42/100, 35 correct (83.3%), 1 errored"},
		{"narrower", "", 42, 100, 35, 1, 10, time.Minute, "42/100"},
		{"too narrow", "never more than the width", 42, 100, 35, 1, 4, time.Minute, "42/1"},
		{"no width", "not a terminal", 42, 100, 35, 0, 0, time.Minute, "42/100, 35 correct (83.3%), 1m0s left"},
		{"more correct than done", "counters read at different times must not panic", 4, 9, 5, 0, 80, 0, "4/9, 5 correct"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, report.Progress(tt.done, tt.total, tt.correct, tt.errored, tt.eta, tt.column), tt.reason)
		})
	}
}
