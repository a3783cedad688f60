package grade_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// The traps are what an earlier tool for the same purpose fell into.

// TestTrap02YesIsTheWholeAnswer: a reply that contains YES is not a yes. It is
// read as one choice of a closed set, and what is none, or more than one, is no
// verdict.
func TestTrap02YesIsTheWholeAnswer(t *testing.T) {
	question := dataset.Item{ID: "judged", Input: "Is the candidate's answer right?", Choices: []string{"YES", "NO"}, Target: "YES"}
	for _, row := range []struct {
		name, reply string
		want        grade.Mark
	}{
		{"yes", "YES", grade.Correct},
		{"in other type, with a stop", "\n**Yes.**\n", grade.Correct},
		{"no", "NO", grade.Incorrect},
		{"no, although yes", "NO, although yes would be defensible", grade.Unparsed},
		{"no, in a sentence that has a yes", "NO - it ends with the word yes", grade.Incorrect},
		{"both", "YES and NO", grade.Unparsed},
		{"either", "YES/NO", grade.Unparsed},
		{"yes inside a word", "The eyes have it: yesterday's answer", grade.Unparsed},
		{"neither", "It depends on what was asked", grade.Unparsed},
		{"nothing", " ", grade.Unparsed},
	} {
		t.Run(row.name, func(t *testing.T) {
			v, err := grade.Choice().Grade(t.Context(), question, llm.Response{Text: row.reply, Finish: llm.FinishStop})
			require.NoError(t, err)
			assert.Equal(t, row.want, v.Mark, "%q: %s", row.reply, v.How)
		})
	}
	for _, reply := range []string{"NO, although yes would be defensible", "YES and NO", "yesterday"} {
		v, err := grade.Exact().Grade(t.Context(), dataset.Item{ID: "judged", Target: "YES"}, llm.Response{Text: reply})
		require.NoError(t, err)
		assert.NotEqual(t, grade.Correct, v.Mark, "%q", reply)
	}
}

// TestTrap03WhichNumber: the last marker decides, the number behind it is read
// whole, and what is not one number is left to the next attempt or a judge.
func TestTrap03WhichNumber(t *testing.T) {
	for _, row := range []struct {
		name, reply, target string
		want                grade.Mark
	}{
		{"a half is not one", "#### 1/2", "1", grade.Incorrect},
		{"a half", "#### 1/2", "0.5", grade.Correct},
		{"an exponent is not five", "#### 5e3", "5", grade.Incorrect},
		{"an exponent", "#### 5e3", "5000", grade.Correct},
		{"the first marker is not the last", "#### 3\nWait, I forgot one.\n#### 4", "3", grade.Incorrect},
		{"the last marker", "#### 3\nWait, I forgot one.\n#### 4", "4", grade.Correct},
		{"second thoughts behind the marker", "#### 3, wait, no: it is 4", "3", grade.Incorrect},
		{"dressed up", "#### $1,234**", "1234", grade.Correct},
		{"percent", "#### 20%", "20", grade.Correct},
		{"minus of U+2212", "#### −5", "-5", grade.Correct},
		{"two numbers", "#### 18 or 20", "18", grade.Unparsed},
		{"no number", "#### eggs", "18", grade.Unparsed},
		{"a sum that is not worked out", "#### 16 - 3 - 4", "16", grade.Unparsed},
	} {
		t.Run(row.name, func(t *testing.T) {
			v, err := grade.Numeric().Grade(t.Context(), dataset.Item{ID: "n", Target: row.target}, llm.Response{Text: row.reply, Finish: llm.FinishStop})
			require.NoError(t, err)
			assert.Equal(t, row.want, v.Mark, "%q as %q (%s)", row.reply, v.Answer, v.How)
		})
	}
}
