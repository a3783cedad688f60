package dataset

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyRows writes a file of n rows with long ids.
func manyRows(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprint(n, ".jsonl"))
	f, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintf(w, `{"id":"a-rather-long-identifier-of-a-row-%08d","question":"q","answer":%d}`+"\n", i, i)
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
	return path
}

// liveHeap is what Open keeps alive at the last item of either pass.
func liveHeap(t testing.TB, path string, n int) (first, second int64) {
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	seen := 0
	before := live()
	seq, err := Open(path, Filter(func(Item) bool {
		if seen++; seen == n {
			first = live() - before
		}
		return true
	}))
	require.NoError(t, err)
	items := 0
	for _, err := range seq {
		require.NoError(t, err)
		if items++; items == n {
			second = live() - before
		}
	}
	require.Equal(t, n, items)
	return first, second
}

// TestOpenMemory: what is kept grows by at most 16 bytes an item, beside a
// constant.
func TestOpenMemory(t *testing.T) {
	const few, many = 30_000, 130_000 // both many blocks: the constant is reached
	few1, few2 := liveHeap(t, manyRows(t, few), few)
	many1, many2 := liveHeap(t, manyRows(t, many), many)
	perItem := float64(many1-few1) / (many - few)
	t.Logf("first pass %.1f bytes an item (%d KB at %d), second pass %+d KB", perItem, few1>>10, few, (many2-few2)>>10)
	assert.LessOrEqual(t, perItem, 16.0)
	assert.Less(t, many2-few2, int64(2<<20), "the second pass keeps nothing")
	assert.Less(t, many1, int64(8<<20), "and the constant is a few blocks")
}

// BenchmarkOpen times both passes and reports what verifying keeps of each
// item.
func BenchmarkOpen(b *testing.B) {
	const few, many = 40_000, 240_000
	fewPath, manyPath := manyRows(b, few), manyRows(b, many)
	var perItem float64
	for b.Loop() {
		small, _ := liveHeap(b, fewPath, few)
		large, _ := liveHeap(b, manyPath, many)
		perItem = float64(large-small) / (many - few)
	}
	b.ReportMetric(perItem, "B-kept/item")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*(few+many)), "ns/item")
}

func TestOpenStopsEarly(t *testing.T) {
	seq, err := Open(manyRows(t, 50_000))
	require.NoError(t, err)
	n := 0
	for range seq {
		if n++; n == 10 {
			break
		}
	}
	assert.Equal(t, 10, n)
}

func TestOpenSeesChange(t *testing.T) {
	path := file(t, "x.jsonl", rows(10))
	last := func() (items int, err error) {
		seq, e := Open(path)
		require.NoError(t, e)
		for range 2 {
			items, err = 0, nil
			for _, e := range seq {
				if err = e; e == nil {
					items++
				}
			}
			if items == 10 {
				change(t, path)
			}
		}
		return items, err
	}
	items, err := last()
	assert.Zero(t, items, "seen before the first item")
	require.ErrorIs(t, err, ErrChanged)

	// A change that neither size nor time gives away is seen at the end.
	path = file(t, "y.jsonl", rows(10))
	then := time.Unix(1_700_000_000, 0)
	require.NoError(t, os.Chtimes(path, then, then))
	seq, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(rows(10), "q3", "Q3")), 0o600))
	require.NoError(t, os.Chtimes(path, then, then))
	items, err = 0, nil
	for _, e := range seq {
		if err = e; e == nil {
			items++
		}
	}
	assert.Equal(t, 10, items)
	require.ErrorIs(t, err, ErrChanged)

	require.NoError(t, os.Remove(path))
	for it, e := range seq {
		assert.Zero(t, it)
		require.ErrorIs(t, e, os.ErrNotExist)
	}
}

func change(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(rows(11)), 0o600))
}

// TestHashCollision: ids whose hashes meet are compared before they are called
// duplicates.
func TestHashCollision(t *testing.T) {
	path := file(t, "x.jsonl", rows(10))
	c, err := newConfig(nil)
	require.NoError(t, err)
	s := &stream{path: path, cfg: c}
	all := func(string) uint64 { return 7 }
	assert.NoError(t, s.duplicates(map[uint64]bool{7: true}, all), "ten ids, one hash, no duplicate")
	s.path = file(t, "y.jsonl", rows(10)+row(4)+"\n")
	s.stat = nil
	err = s.duplicates(map[uint64]bool{7: true}, all)
	require.ErrorIs(t, err, ErrDuplicateID)
	assert.ErrorContains(t, err, ":11: ")
	assert.ErrorContains(t, err, "line 4")

	ids := newIDSet()
	for i := range 5000 {
		ids.add(itoa(i))
	}
	twice, _ := ids.repeated()
	assert.Empty(t, twice)
	ids.add("77")
	twice, h := ids.repeated()
	assert.Equal(t, map[uint64]bool{h("77"): true}, twice)
}
