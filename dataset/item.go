package dataset

import "encoding/json"

// An Item is one row of a dataset: what is asked and what is expected.
type Item struct {
	// ID is unique in its dataset. A row without one is given its number in
	// the file: "1", "2", ….
	ID string
	// Input is the question, or the one variable of the prompt.
	Input string
	// Target is the expected answer, as the grader wants it. JSON numbers,
	// booleans, objects and arrays stand here as their JSON text, digit for
	// digit.
	Target string
	// Targets are further accepted answers.
	Targets []string
	// Choices are the options of a multiple-choice row, in order: A is
	// Choices[0].
	Choices []string
	// Group is the item's cluster (document, topic, template) for statistics
	// and breakdowns.
	Group string
	// Raw is the row as it stood in the file, one JSON object; nil for items
	// made in code. Decode and Metadata read it. Do not modify it: it may
	// share memory with other rows.
	Raw json.RawMessage
}
