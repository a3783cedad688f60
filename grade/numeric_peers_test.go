package grade

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNumericWherePeersDiffer holds the responses on which other frameworks'
// rules disagree with each other, with the verdict that we declare and why.
func TestNumericWherePeersDiffer(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "01", reason: "the dataset's own form", response: "#### 18", target: "18", want: Correct},
		{name: "02", reason: "a full stop ends the sentence", response: "#### 18.", target: "18", want: Correct},
		{name: "03", reason: "currency is no part of the value", response: "#### $18", target: "18", want: Correct},
		{name: "04", reason: "a blank behind #### is not needed", response: "####18", target: "18", want: Correct},
		{name: "05", reason: "a unit is no part of the value", response: "#### 18 dollars", target: "18", want: Correct},
		{name: "06", reason: "thousands separators in the response", response: "#### 1,450,000", target: "1450000", want: Correct},
		{name: "07", reason: "thousands separators in the target", response: "#### 1450000", target: "1,450,000", want: Correct},
		{name: "08", reason: "numbers, not texts", response: "#### 18.0", target: "18", want: Correct},
		{name: "09", reason: "numbers, not texts", response: "#### 18.00", target: "18", want: Correct},
		{name: "10", reason: "the sign counts", response: "#### 10", target: "-10", want: Incorrect},
		{name: "11", reason: "U+2212 is a minus sign", response: "#### −10", target: "-10", want: Correct},
		{name: "12", reason: "the invented question is not the model's turn", response: "#### 18\n\nQuestion: Tom has 5 apples.", target: "18", want: Correct},
		{name: "13", reason: "the last marker of the model's turn", response: "#### 8\nWait, I miscounted.\n#### 18", target: "18", want: Correct},
		{name: "14", reason: "a marker in words", response: "The answer is 18.", target: "18", want: Correct},
		{name: "15", reason: "the final stop is not needed", response: "The answer is 18", target: "18", want: Correct},
		{name: "16", reason: "18 is not 8", response: "The answer is 8", target: "18", want: Incorrect},
		{name: "17", reason: "markdown", response: "The answer is **18**.", target: "18", want: Correct},
		{name: "18", reason: "LaTeX box", response: `The answer is \boxed{18}`, target: "18", want: Correct},
		{name: "19", reason: "LaTeX math", response: `The answer is \(18\).`, target: "18", want: Correct},
		{name: "20", reason: "the first statement behind the marker", response: "The answer is 18 eggs for 2 people", target: "18", want: Correct},
		{name: "21", reason: "the English prefix", response: "Answer: 18", target: "18", want: Correct},
		{name: "22", reason: "markdown around the marker", response: "**Answer:** 18", target: "18", want: Correct},
		{name: "23", reason: "a percent sign is a unit", response: "Answer: 18%", target: "18", want: Correct},
		{name: "24", reason: "fractions have a value", response: "Answer: 3/4", target: "0.75", want: Correct},
		{name: "25", reason: "no suffix match", response: "Answer: 118", target: "18", want: Incorrect},
		{name: "26", reason: "two answers are none", response: "Answer: 18 or 20", target: "20", want: Unparsed, why: ReasonAmbiguous},
		{name: "27", reason: "an ellipsis is punctuation", response: "So she earns 18...", target: "18", want: Correct},
		{name: "28", reason: "the last number and its unit", response: "Step 1: 16-3-4=9. Step 2: 9*2=18 dollars", target: "18", want: Correct},
		{name: "29", reason: "50 cents are not nothing", response: "She earns $18.50", target: "18", want: Incorrect},
		{name: "30", reason: "no rounding", response: "Answer: 123456", target: "123457", want: Incorrect},
		{name: "31", reason: "blanks group thousands", response: "Answer: 1 000", target: "1000", want: Correct},
		{name: "32", reason: "in English 1.000 is 1", response: "Answer: 1.000", target: "1000", want: Incorrect},
		{name: "33", reason: "an exclamation mark is punctuation", response: "Answer: 18!", target: "18", want: Correct},
		{name: "34", reason: "brackets are punctuation", response: "Answer: (18)", target: "18", want: Correct},
		{name: "35", reason: "an exponent has a value", response: "Answer: 1e3", target: "1000", want: Correct},
		{name: "36", reason: "words behind the number", response: "Answer: 18 eggs, thanks", target: "18", want: Correct},
		{name: "37", reason: "behind a marker number words count", response: "Answer: eighteen", target: "18", want: Correct},
		{name: "38", reason: "no number at all", response: "I cannot solve this.", target: "18", want: Unparsed, why: ReasonNoAnswer},
	})
}

// TestNumericOnPeerResponses grades the responses of the shared peer file. A
// person finds all of them right but two.
func TestNumericOnPeerResponses(t *testing.T) {
	data, err := os.ReadFile(sharedFile(t, "cases/peer-rules.json"))
	require.NoError(t, err)
	var rows []struct{ Response, Target string }
	require.NoError(t, json.Unmarshal(data, &rows))
	wrong := map[string]Mark{"She earns $18.50": Incorrect, "I cannot solve this.": Unparsed}
	seen := 0
	for _, row := range rows {
		want, ok := wrong[row.Response]
		if !ok {
			want = Correct
		}
		v := gradeNumber(t, Numeric(), row.Response, row.Target)
		assert.Equal(t, want, v.Mark, "%q against %q: %+v", row.Response, row.Target, v)
		seen++
	}
	assert.Greater(t, seen, 200)
}
