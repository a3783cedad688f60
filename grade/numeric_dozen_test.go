package grade

import "testing"

// TestNumericDozensAndShares: what multiplies a number in words, or is added to
// it, is part of it. What is not clear is not graded.
func TestNumericDozensAndShares(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "dozen and a half", reason: "not the half alone", response: "a dozen and a half", target: "18", want: Correct, answer: "a dozen and a half"},
		{name: "dozen and a half, marked", reason: "behind a marker too", response: "The answer is a dozen and a half.", target: "18", want: Correct},
		{name: "dozen and a half is no half", reason: "the half is one of a dozen", response: "a dozen and a half", target: "0.5", want: Incorrect},
		{name: "dozen and a half of dozens", reason: "nobody counts dozens so", response: "a dozen and a half", target: "1.5", want: Incorrect},
		{name: "one dozen and a half", reason: "a count of dozens may be asked for", response: "The answer is one dozen and a half.", target: "1.5", want: Correct},
		{name: "one dozen and a half eggs", reason: "the same in eggs", response: "The answer is one dozen and a half.", target: "18", want: Correct},
		{name: "half a dozen", reason: "not the half alone", response: "The answer is half a dozen eggs.", target: "6", want: Correct, answer: "half a dozen"},
		{name: "a half dozen", reason: "another order of the words", response: "a half-dozen", target: "6", want: Correct},
		{name: "half a dozen is no half", reason: "the half is one of a dozen", response: "The answer is half a dozen.", target: "0.5", want: Incorrect},
		{name: "a dozen", reason: "a number in words", response: "#### a dozen", target: "12", want: Correct},
		{name: "a dozen is no one", reason: "its article is no count", response: "She has a dozen.", target: "1", want: Incorrect},
		{name: "two dozen", reason: "in eggs", response: "The answer is two dozen eggs.", target: "24", want: Correct},
		{name: "two dozen as a unit", reason: "how many dozens?", response: "The answer is two dozen.", target: "2", want: Correct},
		{name: "2 dozen", reason: "digits are no other number", response: "So she has 2 dozen eggs.", target: "24", want: Correct, answer: "2 dozen"},
		{name: "1.5 dozen", reason: "a decimal of dozens", response: "The answer is 1.5 dozen.", target: "18", want: Correct},
		{name: "1 1/2 dozen", reason: "a mixed number of dozens", response: "The answer is 1 1/2 dozen.", target: "18", want: Correct},
		{name: "2 dozen and a half", reason: "the half is one of a dozen", response: "The answer is 2 dozen and a half.", target: "30", want: Correct},
		{name: "2 dozen and a half is no 2", reason: "the half counts", response: "The answer is 2 dozen and a half.", target: "2", want: Incorrect},
		{name: "a third of a dozen", reason: "a share of it", response: "two thirds of a dozen", target: "8", want: Correct},
		{name: "dozens", reason: "no number", response: "The answer is dozens.", target: "12", want: Unparsed},
		{name: "baker's dozen", reason: "no twelve", response: "The answer is a baker's dozen.", target: "12", want: Unparsed},
		{name: "a dozen or so", reason: "an approximation", response: "The answer is a dozen or so.", target: "12", want: Unparsed},
		{name: "a dozen and six", reason: "a sum that is not read", response: "The answer is a dozen and six.", target: "12", want: Unparsed},
		{name: "half a million", reason: "not the half alone", response: "The answer is half a million.", target: "500000", want: Correct, answer: "half a million"},
		{name: "half a million is no half", reason: "the half is one of a million", response: "The answer is half a million.", target: "0.5", want: Incorrect},
		{name: "quarter million", reason: "without an article", response: "The answer is a quarter million.", target: "250000", want: Correct},
		{name: "three quarters of a million", reason: "with of", response: "The answer is three quarters of a million dollars.", target: "750000", want: Correct},
		{name: "one and a half million", reason: "a mixed number of millions", response: "The answer is one and a half million.", target: "1500000", want: Correct},
		{name: "1 and a half million", reason: "the same in digits", response: "The answer is $1 and a half million.", target: "1500000", want: Correct},
		{name: "a million and a half", reason: "the half may be one of a million", response: "The answer is a million and a half.", target: "1000000.5", want: Unparsed},
		{name: "2 million and a half", reason: "the same in digits", response: "The answer is 2 million and a half.", target: "2000000", want: Unparsed, why: ReasonAmbiguous},
		{name: "five lakh", reason: "a scale that words do not have yet is no unit", response: "The answer is five lakh.", target: "5", want: Unparsed},
		{name: "two and a half", reason: "a mixed number", response: "two and a half", target: "2.5", want: Correct},
		{name: "one and three quarters", reason: "a mixed number", response: "one and three quarters", target: "1.75", want: Correct},
		{name: "a hundred and a half", reason: "half of one", response: "a hundred and a half", target: "100.5", want: Correct},
		{name: "half an hour", reason: "a unit is none of the words that multiply", response: "The answer is half an hour.", target: "0.5", want: Correct},
		{name: "2 hours and a half", reason: "the half counts, behind the unit too", response: "The answer is 2 hours and a half.", target: "2.5", want: Correct},
		{name: "2 hours and a half are no 2", reason: "the half counts", response: "The answer is 2 hours and a half.", target: "2", want: Incorrect},
		{name: "a half of something else", reason: "it is not of the number's unit", response: "The answer is 2 pies and a half of the cake.", target: "2.5", want: Incorrect},
		{name: "target in words", reason: "a target is read alike", response: "The answer is 6.", target: "half a dozen", want: Correct},
	})
}
