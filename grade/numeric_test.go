package grade

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

func gradeNumber(t testing.TB, g Grader, response, target string) Verdict {
	t.Helper()
	v, err := g.Grade(context.Background(), dataset.Item{ID: "item", Target: target}, llm.Response{Text: response})
	require.NoError(t, err)
	require.NoError(t, v.Check())
	return v
}

// A numericRow is one response with the verdict that we declare.
type numericRow struct {
	name, reason     string
	response, target string
	want             Mark
	answer           string // if not empty: what must be extracted
	why              Reason // if not empty: the verdict's reason
	locale           string
}

func runNumericRows(t *testing.T, rows []numericRow) {
	t.Helper()
	names := map[string]bool{}
	for _, row := range rows {
		require.False(t, names[row.name], "duplicate name %q", row.name)
		names[row.name] = true
		require.NotEmpty(t, row.reason, row.name)
		t.Run(row.name, func(t *testing.T) {
			var opts []NumericOption
			if row.locale != "" {
				opts = append(opts, Locale(row.locale))
			}
			v := gradeNumber(t, Numeric(opts...), row.response, row.target)
			assert.Equal(t, row.want, v.Mark, "%s: %q against %q: %+v", row.reason, row.response, row.target, v)
			if row.answer != "" {
				assert.Equal(t, row.answer, v.Answer, row.reason)
			}
			if row.why != "" {
				assert.Equal(t, row.why, v.Reason, row.reason)
			}
		})
	}
}
