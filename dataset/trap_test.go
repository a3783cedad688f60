package dataset

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTrap21OneIDOnePlace: a repeated id would make two answers one, so it is
// refused before anything is asked, with both places; and an item's place is
// that of its row, however the items are selected.
func TestTrap21OneIDOnePlace(t *testing.T) {
	_, err := Read(strings.NewReader(`{"id":"a","question":"1","answer":"1"}
{"id":"b","question":"2","answer":"2"}
{"id":"a","question":"3","answer":"3"}
`), "eggs.jsonl")
	require.ErrorIs(t, err, ErrDuplicateID)
	assert.ErrorContains(t, err, "eggs.jsonl:3")
	assert.ErrorContains(t, err, "line 1")
	_, err = New("code", []Item{{ID: "a", Input: "1", Target: "1"}, {ID: "a", Input: "2", Target: "2"}})
	require.ErrorIs(t, err, ErrDuplicateID)

	const n = 200
	names := rand.New(rand.NewPCG(1, 2)).Perm(n) // ids whose order is not the rows'
	var rows strings.Builder
	var ids []string
	for i, name := range names {
		ids = append(ids, fmt.Sprintf("id-%03d", name))
		fmt.Fprintf(&rows, `{"id":%q,"question":"what is %d?","answer":"%d"}`+"\n", ids[i], i, i)
	}
	for name, opts := range map[string][]Option{
		"all": nil, "by id, backwards": {IDs(ids[150], ids[7], ids[70])}, "sample": {Sample(50, 7)}, "limit": {Limit(20)},
	} {
		ds, err := Read(strings.NewReader(rows.String()), "eggs.jsonl", opts...)
		require.NoError(t, err, name)
		last := -1
		for it := range ds.All() {
			var at int
			_, err := fmt.Sscan(it.Target, &at)
			require.NoError(t, err)
			require.Equal(t, ids[at], it.ID, "%s: an answer would be zipped with another item's target", name)
			require.Equal(t, fmt.Sprintf("what is %d?", at), it.Input, name)
			require.Greater(t, at, last, "%s: not in the order of the rows", name)
			last = at
		}
	}
}
