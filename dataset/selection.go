package dataset

import (
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A selection is the part of a dataset that is used. Its parts are applied in
// one order, whatever the order of the options: ids, filters, shard, sample,
// limit. Overrides come before all of them.
type selection struct {
	ids     []string
	filters []func(Item) bool
	shard   int // from 1; 0 if there are no shards
	shards  int
	sample  int
	seed    uint64
	limit   int
}

// IDs keeps the items with these ids, in the order of the file. An id that the
// dataset does not hold is an error that names the nearest one. It panics
// without ids.
func IDs(ids ...string) Option {
	if len(ids) == 0 {
		panic("dataset: IDs(): no id given")
	}
	ids = slices.Clone(ids)
	return func(c *config) {
		c.once("IDs", quoteAll(ids[:min(len(ids), 3)]))
		c.sel.ids = ids
	}
}

// Filter keeps the items for which keep returns true. Several filters must all
// agree. Filters see overridden targets. They are called in file order, never
// from two goroutines at once, and must not keep the item. Open calls them in
// each pass: there they must decide by the item alone. It panics if keep is
// nil.
func Filter(keep func(Item) bool) Option {
	if keep == nil {
		panic("dataset: Filter(nil)")
	}
	return func(c *config) { c.sel.filters = append(c.sel.filters, keep) }
}

// Shard keeps the i-th of n shards, i from 1 to n, so that n processes share
// the work: the shards are disjoint and together are everything. An item's
// shard depends on its id alone: it is the first 8 bytes, big-endian, of the
// SHA-256 of "shard\x00" + id, modulo n, plus 1. Shards are therefore of
// unequal size, and stay what they are when rows are added. It panics if n < 1
// or i is outside 1..n.
func Shard(i, n int) Option {
	if n < 1 || i < 1 || i > n {
		panic(fmt.Sprintf("dataset: Shard(%d, %d): shards count from 1 to n", i, n))
	}
	return func(c *config) {
		c.once("Shard", fmt.Sprintf("%d, %d", i, n))
		c.sel.shard, c.sel.shards = i, n
	}
}

// Sample keeps n items drawn at random, all if there are fewer, in the order
// of the file. The same seed and ids give the same sample with every version
// of Go and on every machine: it is the n items with the smallest keys, an
// item's key being the first 8 bytes, big-endian, of the SHA-256 of "sample\x00"
// + the seed in decimal + "\x00" + id. So a smaller sample is part of a larger
// one with the same seed, and rows that are added displace few. It panics if
// n < 1.
func Sample(n int, seed uint64) Option {
	if n < 1 {
		panic(fmt.Sprintf("dataset: Sample(%d, %d): n must be at least 1", n, seed))
	}
	return func(c *config) {
		c.once("Sample", fmt.Sprintf("%d, %d", n, seed))
		c.sel.sample, c.sel.seed = n, seed
	}
}

// Limit keeps the first n items, all if there are fewer. The rest of the file
// is still checked. It panics if n < 1.
func Limit(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("dataset: Limit(%d): n must be at least 1", n))
	}
	return func(c *config) {
		c.once("Limit", fmt.Sprint(n))
		c.sel.limit = n
	}
}

// hash8 is the first 8 bytes of a SHA-256: slow for a hash, but the same
// everywhere and for ever, and no id can be made to fall into a wanted shard
// without trying.
func hash8(parts ...string) uint64 {
	h := sha256.New()
	for i, p := range parts {
		if i > 0 {
			h.Write([]byte{0})
		}
		h.Write([]byte(p))
	}
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0]))
}

func shardOf(id string, n int) int { return int(hash8("shard", id)%uint64(n)) + 1 }

func (s *selection) key(id string) uint64 {
	return hash8("sample", strconv.FormatUint(s.seed, 10), id)
}

// narrows reports whether anything is left out.
func (s *selection) narrows() bool {
	return len(s.ids) > 0 || len(s.filters) > 0 || s.shards > 0 || s.sample > 0 || s.limit > 0
}

// A selector applies a selection to items as they come, and counts.
type selector struct {
	*selection
	ids map[string]bool // wanted, and whether it came by

	seen, named, filtered, sharded int // how many were left after each part
}

func newSelector(s *selection) *selector {
	sel := &selector{selection: s}
	if len(s.ids) > 0 {
		sel.ids = make(map[string]bool, len(s.ids))
		for _, id := range s.ids {
			sel.ids[id] = false
		}
	}
	return sel
}

// admit applies the parts that look at one item alone.
func (s *selector) admit(it *Item) bool {
	s.seen++
	if s.ids != nil {
		if _, wanted := s.ids[it.ID]; !wanted {
			return false
		}
		s.ids[it.ID] = true
	}
	s.named++
	for _, keep := range s.filters {
		if !keep(*it) {
			return false
		}
	}
	s.filtered++
	if s.shards > 0 && shardOf(it.ID, s.shards) != s.shard {
		return false
	}
	s.sharded++
	return true
}

// missing returns the wanted ids that did not come by.
func (s *selector) missing() []string {
	var ids []string
	for _, id := range s.selection.ids {
		if !s.ids[id] && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// words describes what the selection did.
func (s *selector) words() string {
	var parts []string
	left := s.seen
	part := func(now int, format string, args ...any) {
		parts = append(parts, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%d of %d)", now, left))
		left = now
	}
	if len(s.selection.ids) > 0 {
		part(s.named, "ids")
	}
	if len(s.filters) > 0 {
		part(s.filtered, "filter")
	}
	if s.shards > 0 {
		part(s.sharded, "shard %d of %d", s.shard, s.shards)
	}
	if s.sample > 0 {
		part(min(s.sample, left), "sample of %d, seed %d", s.sample, s.seed)
	}
	if s.limit > 0 {
		part(min(s.limit, left), "limit %d", s.limit)
	}
	return strings.Join(parts, ", ")
}

// A draw keeps the n entries with the smallest keys; of equal keys the first
// to come.
type draw[T any] struct {
	n       int
	entries []drawn[T] // a heap, the largest key on top
}

type drawn[T any] struct {
	val T // first: an empty struct at the end would be padded
	key uint64
	seq int
}

func (d *draw[T]) Len() int      { return len(d.entries) }
func (d *draw[T]) Swap(i, j int) { d.entries[i], d.entries[j] = d.entries[j], d.entries[i] }
func (d *draw[T]) Less(i, j int) bool {
	a, b := &d.entries[i], &d.entries[j]
	return a.key > b.key || a.key == b.key && a.seq > b.seq
}
func (d *draw[T]) Push(x any) { d.entries = append(d.entries, x.(drawn[T])) }
func (d *draw[T]) Pop() any {
	last := len(d.entries) - 1
	e := d.entries[last]
	d.entries = d.entries[:last]
	return e
}

// offer takes val if key is among the n smallest so far. make is called only
// then.
func (d *draw[T]) offer(key uint64, seq int, make func() T) {
	if len(d.entries) < d.n {
		heap.Push(d, drawn[T]{make(), key, seq})
		return
	}
	if key < d.entries[0].key {
		d.entries[0] = drawn[T]{make(), key, seq}
		heap.Fix(d, 0)
	}
}

// inOrder returns what was kept, in the order in which it came.
func (d *draw[T]) inOrder() []T {
	slices.SortFunc(d.entries, func(a, b drawn[T]) int { return a.seq - b.seq })
	vals := make([]T, len(d.entries))
	for i, e := range d.entries {
		vals[i] = e.val
	}
	return vals
}
