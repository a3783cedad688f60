package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

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

	// cols is how the row was mapped; nil if a decode function or code made
	// the item. Metadata is computed from it on demand: decoding every row
	// into a map up front costs more time and memory than all the rest.
	cols *columns
}

// Metadata returns the rest of the row: the columns that no field took,
// numbers as json.Number. An item of a decode function or made in code has no
// such knowledge: it returns all columns of Raw. Without Raw the map is empty.
//
// The row was checked when it was loaded, so that an error means that Raw was
// changed since.
func (it Item) Metadata() (map[string]any, error) {
	if it.Raw == nil {
		return map[string]any{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(it.Raw))
	dec.UseNumber()
	m := map[string]any{}
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("dataset: metadata of item %s: %w", quote(it.ID), err)
	}
	if it.cols == nil {
		return m, nil
	}
	taken, err := it.cols.taken(it.Raw)
	if err != nil {
		return nil, fmt.Errorf("dataset: metadata of item %s: %w", quote(it.ID), err)
	}
	for _, name := range taken {
		delete(m, name)
	}
	return m, nil
}

// Decode decodes the whole row into v, which is a pointer to a struct with
// encoding/json tags or to a map. As encoding/json does, it takes a column for
// a field whose name differs in case only; of two such columns the later one
// counts, so that rows with both are better decoded into a map. The row's
// syntax was checked at load; an error means that the row's columns do not fit v, or, as [ErrNoRow], that the
// item was made in code without Raw.
func (it Item) Decode(v any) error {
	if it.Raw == nil {
		return fmt.Errorf("dataset: item %s: %w: it was made in code; set Raw to its JSON object", quote(it.ID), ErrNoRow)
	}
	if err := json.Unmarshal(it.Raw, v); err != nil {
		return fmt.Errorf("dataset: row of item %s: %w", quote(it.ID), err)
	}
	return nil
}

// Equal reports whether the exported fields are equal, nil and empty lists
// alike. go-cmp calls it.
func (it Item) Equal(other Item) bool {
	return it.sameFields(other) && bytes.Equal(it.Raw, other.Raw)
}

// sameFields compares all but Raw.
func (it Item) sameFields(other Item) bool {
	return it.ID == other.ID && it.Input == other.Input && it.Target == other.Target &&
		it.Group == other.Group &&
		slices.Equal(it.Targets, other.Targets) && slices.Equal(it.Choices, other.Choices)
}
