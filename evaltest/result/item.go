package result

import (
	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// ItemOf returns it as a journal keeps it. Slices are shared, not copied.
func ItemOf(it dataset.Item) Item {
	return Item{
		ID: it.ID, Input: it.Input, Target: it.Target, Targets: it.Targets,
		Choices: it.Choices, Group: it.Group, Row: it.Raw,
	}
}

// DatasetItem returns the record's item as a dataset hands it out, to grade
// the record again. Slices are shared with the record.
func (r *Record) DatasetItem() dataset.Item {
	it := &r.Item
	return dataset.Item{
		ID: it.ID, Input: it.Input, Target: it.Target, Targets: it.Targets,
		Choices: it.Choices, Group: it.Group, Raw: it.Row,
	}
}

// LLMResponse returns the response that was graded; false if none came.
func (r *Record) LLMResponse() (llm.Response, bool) {
	if r.Response == nil {
		return llm.Response{}, false
	}
	return *r.Response, true
}
