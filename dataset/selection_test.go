package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ids runs a selection through all the ways to make one and returns its ids.
func selected(t *testing.T, content string, opts ...Option) ([]string, *Dataset) {
	t.Helper()
	loaded := mustRead(t, content, opts...)
	later, err := mustRead(t, content).Select(opts...)
	require.NoError(t, err)
	require.Equal(t, loaded.Items(), later.Items(), "Select is Load with the same options")
	require.Equal(t, loaded.Selection(), later.Selection())
	made, err := New("x", mustRead(t, content).Items(), opts...)
	require.NoError(t, err)
	require.Equal(t, loaded.Items(), made.Items(), "and so is New")
	seq, err := Open(file(t, "x.jsonl", content), opts...)
	require.NoError(t, err)
	for range 2 { // the sequence can be ranged over again
		var streamed []Item
		for it, err := range seq {
			require.NoError(t, err)
			streamed = append(streamed, it)
		}
		require.Equal(t, loaded.Items(), streamed, "and Open")
	}
	return idsOf(loaded), loaded
}

func TestSelection(t *testing.T) {
	odd := Filter(func(it Item) bool { return strings.HasSuffix(it.ID, "1") || strings.HasSuffix(it.ID, "3") })
	small := Filter(func(it Item) bool { return len(it.ID) < 3 })
	tests := []struct {
		name, reason string
		opts         []Option
		want         []string
		words        string
	}{
		{"all", "no option, no words", nil, idsOf(mustRead(t, rows(20))), ""},
		{"limit", "the first n", []Option{Limit(3)}, []string{"r1", "r2", "r3"}, "limit 3 (3 of 20)"},
		{"limit beyond the end", "all of them, and the words say so", []Option{Limit(99)}, idsOf(mustRead(t, rows(20))), "limit 99 (20 of 20)"},
		{"ids", "in the order of the file", []Option{IDs("r7", "r2", "r7")}, []string{"r2", "r7"}, "ids (2 of 20)"},
		{"two filters", "both must agree", []Option{odd, small}, []string{"r1", "r3"}, "filter (2 of 20)"},
		{"fixed order", "limit comes last wherever it stands", []Option{Limit(1), odd}, []string{"r1"}, "filter (4 of 20), limit 1 (1 of 4)"},
	}
	var seen []string
	for _, tt := range tests {
		unique(t, &seen, tt.name, tt.reason)
		t.Run(tt.name, func(t *testing.T) {
			got, d := selected(t, rows(20), tt.opts...)
			assert.Equal(t, tt.want, got, tt.reason)
			assert.Equal(t, tt.words, d.Selection())
		})
	}
}

// TestSampleIsFixed: these ids were computed apart, with Python's hashlib, and
// must never change: a sample is part of what a result means.
func TestSampleIsFixed(t *testing.T) {
	got, d := selected(t, rows(100), Sample(5, 42))
	assert.Equal(t, sample5of100seed42, got)
	assert.Equal(t, "sample of 5, seed 42 (5 of 100)", d.Selection())
	other, _ := selected(t, rows(100), Sample(5, 43))
	assert.NotEqual(t, got, other)
	larger, _ := selected(t, rows(100), Sample(30, 42))
	assert.Subset(t, larger, got, "a smaller sample is part of a larger one")
	first, d := selected(t, rows(100), Limit(3), Sample(5, 42))
	assert.Equal(t, got[:3], first, "the limit is of the sample")
	assert.Equal(t, "sample of 5, seed 42 (5 of 100), limit 3 (3 of 5)", d.Selection())
	more, _ := selected(t, rows(110), Sample(30, 42))
	kept := 0
	for _, id := range larger {
		if slices.Contains(more, id) {
			kept++
		}
	}
	assert.GreaterOrEqual(t, kept, 20, "ten more rows displace at most ten")
	assert.True(t, slices.IsSortedFunc(larger, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) }), "in the order of the file")
	all, _ := selected(t, rows(10), Sample(11, 1))
	assert.Len(t, all, 10)
}

func TestShards(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		seen := map[string]int{}
		for i := 1; i <= n; i++ {
			ids, d := selected(t, rows(200), Shard(i, n))
			for _, id := range ids {
				seen[id]++
			}
			assert.Equal(t, fmt.Sprintf("shard %d of %d (%d of 200)", i, n, len(ids)), d.Selection())
			assert.Greater(t, len(ids), 200/n/2, "no shard is far too small")
		}
		assert.Len(t, seen, 200, "together they are everything")
		for id, times := range seen {
			assert.Equal(t, 1, times, id)
		}
	}
	var of7 []int
	for i := range 20 {
		of7 = append(of7, shardOf("r"+itoa(i+1), 7))
	}
	assert.Equal(t, shardsOf7, of7)
	both, _ := selected(t, rows(100), Sample(5, math.MaxUint64), Shard(2, 3))
	assert.Equal(t, sampleOfShard, both, "a sample is of its shard")
	assert.Equal(t, shardsOf4, []int{shardOf("r1", 4), shardOf("r2", 4), shardOf("r3", 4), shardOf("", 4), shardOf("é", 4)})
}

func TestSelectNarrowsTwice(t *testing.T) {
	d := mustRead(t, rows(20), Limit(10))
	s, err := d.Select(IDs("r2", "r4", "r9"))
	require.NoError(t, err)
	s, err = s.Select(Limit(2))
	require.NoError(t, err)
	assert.Equal(t, []string{"r2", "r4"}, idsOf(s))
	assert.Equal(t, "limit 10 (10 of 20), then ids (3 of 10), then limit 2 (2 of 3)", s.Selection())
	assert.Equal(t, d.SHA256(), s.SHA256())
	assert.Equal(t, 10, d.Len(), "the first one is unchanged")

	_, err = d.Select(IDs("r11"))
	require.ErrorIs(t, err, ErrUnknownID, "it is in the file but not in the dataset")
	assert.ErrorContains(t, err, `the nearest is "r1"`)
	_, err = d.Select(Fields(Mapping{}))
	assert.ErrorIs(t, err, ErrOption)
	_, err = d.Select(Filter(func(Item) bool { return false }))
	assert.ErrorIs(t, err, ErrEmpty)
}

func TestNearest(t *testing.T) {
	ids := []string{"gsm8k-0001", "gsm8k-0042", "gsm8k-0421", "Legal/7"}
	for want, near := range map[string]string{
		"gsm8k-0043": "gsm8k-0042", "42": "gsm8k-0042", "legal/7": "Legal/7", "GSM8K-0421": "gsm8k-0421", "gsm8k_0001": "gsm8k-0001", "xxxxxxxx": "",
	} {
		n := newNearest(want)
		for _, id := range ids {
			n.offer(id)
		}
		if near == "" {
			assert.Empty(t, n.words(), want)
		} else {
			assert.Equal(t, fmt.Sprintf(" (the nearest is %q)", near), n.words(), want)
		}
	}
}

// TestNearestIsStable: ids are kept in a map, and of equally near ones the
// same is named each time, by Load and Open alike.
func TestNearestIsStable(t *testing.T) {
	for range 20 {
		_, err := Read(strings.NewReader(rows(60)), "x", IDs("r99"))
		require.ErrorContains(t, err, `(the nearest is "r19")`)
	}
	_, err := Open(file(t, "x.jsonl", rows(60)), IDs("r99"))
	require.ErrorContains(t, err, `(the nearest is "r19")`)
}

// TestNearestIsQuick: ids that have nothing in common are not compared byte by
// byte.
func TestNearestIsQuick(t *testing.T) {
	id := strings.Repeat("row of a dataset ", 20)
	n := newNearest(strings.Repeat("another sort of id ", 20))
	assert.Zero(t, testing.AllocsPerRun(10, func() { n.offer(id) }))
	assert.Greater(t, n.distance(id), n.far())
	assert.Empty(t, n.row, "levenshtein was not called")
	n.want = id[:100] + "x" + id[100:]
	assert.Equal(t, 1, n.distance(id), "however long they are, a slip is found")
}

// TestSelectedItemsOwnTheirMemory: blocks are used again while a part of the
// rows is kept, so kept rows must not lie in them.
func TestSelectedItemsOwnTheirMemory(t *testing.T) {
	const n = 80_000 // many blocks
	d := mustRead(t, rows(n), Filter(func(it Item) bool { return strings.HasSuffix(it.ID, "00") }))
	require.Equal(t, n/100, d.Len())
	for it := range d.All() {
		require.Contains(t, string(it.Raw), `"`+it.ID+`"`)
	}
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	d := mustRead(t, rows(50))
	done := make(chan int)
	for range 4 {
		go func() {
			n := 0
			for it := range d.All() {
				if m, err := it.Metadata(); err == nil && len(m) == 0 {
					n++
				}
			}
			if s, err := d.Select(Sample(7, 1)); err == nil {
				n += s.Len()
			}
			done <- n
		}()
	}
	for range 4 {
		assert.Equal(t, 57, <-done)
	}
}

// Computed with Python: hashlib.sha256, the first 8 bytes, big-endian.
var (
	sample5of100seed42 = []string{"r12", "r19", "r44", "r77", "r95"}
	shardsOf4          = []int{4, 4, 4, 4, 4} // of r1, r2, r3, the empty text, é
	shardsOf7          = []int{4, 3, 4, 3, 1, 7, 4, 5, 1, 4, 4, 5, 3, 2, 3, 6, 3, 2, 5, 5}
	sampleOfShard      = []string{"r18", "r29", "r60", "r84", "r98"}
)
