package result

import "github.com/goevals/evals/dataset"

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
