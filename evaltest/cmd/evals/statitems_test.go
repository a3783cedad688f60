package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSameItems: two runs are told apart by the hash that both have.
func TestSameItems(t *testing.T) {
	type f = map[string]string
	for _, row := range []struct {
		name, reason               string
		old, now, wantOld, wantNow f
	}{
		{"baseline and run", "the run was held against it", f{"items": "a"}, f{"items": "a", "dataset": "d"}, f{"items": "a"}, f{"items": "a"}},
		{"a baseline came in between", "both have the file", f{"dataset": "d"}, f{"items": "a", "dataset": "d"}, f{"dataset": "d"}, f{"dataset": "d"}},
		{"other items", "stays a difference", f{"items": "a", "dataset": "d"}, f{"items": "b", "dataset": "d"}, f{"items": "a"}, f{"items": "b"}},
		{"nothing in common", "is not known to be equal", f{"items": "a"}, f{"dataset": "d"}, f{"items": "a"}, f{"dataset": "d"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			sameItems(row.old, row.now)
			assert.Equal(t, row.wantOld, row.old, row.reason)
			assert.Equal(t, row.wantNow, row.now, row.reason)
		})
	}
}
