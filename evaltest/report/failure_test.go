package report_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

func failures(t *testing.T, rs iter.Seq[*result.Record], o report.FailureOptions) (string, int) {
	var b strings.Builder
	n, err := report.Failures(&b, rs, o)
	require.NoError(t, err)
	return b.String(), n
}

func runLine(r *result.Record) string { return "go test -run 'TestX/^" + r.Item.ID + "$' ." }

func TestFailures(t *testing.T) {
	rs := outcomes(map[result.Outcome]int{
		result.Correct: 2, result.Incorrect: 1, result.Unparsed: 1, result.Ungraded: 1, result.Truncated: 1,
		result.Blocked: 1, result.Refused: 1, result.Errored: 1, result.NotRun: 1,
	})
	rs[2].Item.Targets = []string{"four", "IV"}
	rs[3].Sample = 2
	rs[5].Response.Text = strings.Repeat("so 9 * 2 is ", 60)
	ordinary, n := failures(t, slices.Values(rs), report.FailureOptions{Run: runLine})
	assert.Equal(t, 8, n)
	bad, n := failures(t, slices.Values(hostileRecords()), report.FailureOptions{Run: runLine})
	assert.Equal(t, 3, n)
	few, n := failures(t, slices.Values(rs), report.FailureOptions{Max: 1, Width: 40, Text: 20})
	assert.Equal(t, 8, n, "all are counted")
	golden(t, "failures.golden", "== ordinary\n"+ordinary+"\n== hostile\n"+bad+"\n== few, narrow, short\n"+few)
	for line := range strings.Lines(ordinary + bad) {
		checkLine(t, line, 80, "run ")
	}
}

func TestFailuresLimits(t *testing.T) {
	rs := outcomes(map[result.Outcome]int{result.Incorrect: 30})
	for _, tt := range []struct {
		name, reason string
		max, listed  int
		says         string
	}{
		{"default", "20", 0, 20, "10 more that are not correct"},
		{"all", "negative is no limit", -1, 30, ""},
		{"exactly", "no line about none", 30, 30, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, n := failures(t, slices.Values(rs), report.FailureOptions{Max: tt.max})
			assert.Equal(t, 30, n)
			assert.Equal(t, tt.listed, strings.Count(text, "item "), tt.reason)
			if tt.says == "" {
				assert.NotContains(t, text, "more that")
			}
			assert.Contains(t, text, tt.says)
		})
	}
	text, n := failures(t, slices.Values(outcomes(map[result.Outcome]int{result.Correct: 3})), report.FailureOptions{})
	assert.Empty(t, text, "nothing to list")
	assert.Zero(t, n)
}
