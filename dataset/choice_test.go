package dataset

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCheckChoice: D13, and the spellings that must not be refused.
func TestCheckChoice(t *testing.T) {
	cities := []string{"Paris", "New York", "(C) Rome"}
	tests := []struct {
		name, reason, target string
		choices              []string
		ok                   bool
	}{
		{"letter", "the usual target", "B", cities, true},
		{"small letter", "some datasets write it so", "b", cities, true},
		{"letter in brackets", "BIG-Bench writes (B)", "(B)", cities, true},
		{"text", "the other usual target", "New York", cities, true},
		{"text in another case", "the grader folds it too", " new  york", cities, true},
		{"text of a labelled choice", "labels stand in many choice columns", "Rome", cities, true},
		{"labelled text", "the label is not the text", "B) New York", cities, true},
		{"several letters", "together they are the answer", "A,C", cities, true},
		{"several letters in words", "the same", "A and C", cities, true},
		{"several letters in JSON", "the same, with Mapping.TargetJSON", `["A","B"]`, cities, true},
		{"letters without commas", "the same", "ABC", cities, true},
		{"letters in any order", "a list has none", "C, A", cities, true},
		{"letters that make a word", "joined ones are in order", "BAC", cities, false},
		{"letter beyond", "there is no fourth choice", "D", cities, false},
		{"list with a letter beyond", "there is no fourth choice", "A,D", cities, false},
		{"repeated letters", "no answer", "AA", cities, false},
		{"word of letters", "cab is a word", "cab", cities, false},
		{"another text", "an audio benchmark had 143 such rows", "London", cities, false},
		{"part of a text", "York is not New York", "York", cities, false},
		{"empty", "no answer", "", cities, false},
		{"number", "the number of a choice needs Mapping.TargetIndex", "1", cities, false},
		{"number that is a text", "choices may be numbers", "1", []string{"2", "1"}, true},
		{"letter that is its own text", "both readings agree", "A", []string{"A", "B"}, true},
		{"letter that is another's text", "which is meant cannot be told", "A", []string{"B", "A"}, false},
		{"beyond 26", "choices after Z have no letter but a text", "c27", append(make([]string, 26), "c27"), true},
	}
	var seen []string
	for _, tt := range tests {
		unique(t, &seen, tt.name, tt.reason)
		err := checkChoice(tt.target, tt.choices)
		if tt.ok {
			assert.NoError(t, err, "%s: %s", tt.name, tt.reason)
		} else {
			assert.ErrorIs(t, err, ErrTarget, "%s: %s", tt.name, tt.reason)
		}
	}
}
