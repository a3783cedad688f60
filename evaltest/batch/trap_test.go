package batch_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/batch"
)

// TestTrap22OneEndForEachItem: workers that die hang nothing, the end of the
// input overtakes no item, many more items than there is room for wait for
// nobody, and each item ends exactly once. A hang is a deadlock of the bubble,
// which fails the test, as does a goroutine that is left.
func TestTrap22OneEndForEachItem(t *testing.T) {
	for _, row := range []struct {
		name     string
		items    int
		parallel int
		every    int // so many items, one kills its worker
	}{
		{"no worker dies", 1000, 8, 0},
		{"some die", 1000, 8, 7},
		{"all die", 1000, 8, 1},
		{"the only one dies each time", 50, 1, 1},
		{"the last one dies", 9, 3, 9},
		{"more workers than items", 3, 64, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dies := func(i int) bool { return row.every > 0 && i%row.every == row.every-1 }
				fn := func(_ context.Context, i int) (int, error) {
					<-time.After(time.Duration(i%5) * time.Second)
					switch {
					case dies(i) && i%2 == 0:
						panic("no such planet")
					case dies(i):
						runtime.Goexit()
					}
					return -i, nil
				}
				ends := make([]int, row.items)
				for r := range batch.Run(t.Context(), upto(row.items), fn, batch.Options{Parallel: row.parallel}) {
					ends[r.Index]++
					assert.Equal(t, dies(r.In), r.Err != nil, "item %d: %v", r.In, r.Err)
					if r.Err == nil {
						assert.Equal(t, -r.In, r.Out)
					}
				}
				for i, n := range ends {
					require.Equal(t, 1, n, "item %d", i)
				}
			})
		})
	}
}
