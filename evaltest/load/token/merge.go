package token

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

// A merge is what becomes of a pair of adjacent tokens: id, and how early.
type merge struct{ rank, id int32 }

// A vocabulary merges the bytes of a piece into tokens. It is not changed once
// it is made, except for its cache.
type vocabulary struct {
	bytes [256]int32 // the token of each byte; -1 if there is none
	// holes says that there are bytes without a token which may occur in text.
	// They are dropped before anything is merged, as Hugging Face's library
	// does where there is no token for the unknown.
	holes bool
	// whole maps the bytes of a token to its id where a piece that is a token
	// is not merged but taken whole, and is nil elsewhere.
	whole map[string]int32
	// merges are by pair, the left id in the upper half. If nil, two tokens
	// merge into the one in whole that has their bytes, the lowest id first, as
	// tiktoken does.
	merges map[uint64]merge

	seed  maphash.Seed
	cache [cacheSize]atomic.Pointer[cached] // of short pieces, by hash
}

const (
	cacheSize = 1 << 16
	// cacheWord is the longest piece in bytes that is cached. Words are
	// shorter; what is longer is hardly ever seen twice.
	cacheWord = 48
)

type cached struct {
	piece string
	ids   []int32
}

func pairKey(l, r int32) uint64 { return uint64(uint32(l))<<32 | uint64(uint32(r)) }

// A sink takes ids, or counts them.
type sink struct {
	ids   []int
	n     int
	count bool
}

func (k *sink) add(ids ...int32) {
	k.n += len(ids)
	if k.count {
		return
	}
	for _, id := range ids {
		k.ids = append(k.ids, int(id))
	}
}

// piece adds the tokens of p, which is not empty, to k. The cache comes before
// the vocabulary: it is small enough for the processor's.
func (v *vocabulary) piece(k *sink, p string) {
	switch {
	case len(p) == 1 && !v.holes:
		k.add(v.bytes[p[0]])
		return
	case len(p) > cacheWord:
		v.encode(k, p)
		return
	}
	// A piece lies in one of two places, or else two frequent words in the same
	// place would push each other out again and again.
	place := maphash.String(v.seed, p) % cacheSize
	first, second := &v.cache[place], &v.cache[place^1]
	c := first.Load()
	if c == nil || c.piece != p {
		old := c
		if c = second.Load(); c == nil || c.piece != p {
			c = v.remember(p)
			second.Store(old)
			first.Store(c)
		}
	}
	k.add(c.ids...)
}

func (v *vocabulary) remember(p string) *cached {
	var own sink
	v.encode(&own, p)
	c := &cached{piece: strings.Clone(p), ids: make([]int32, len(own.ids))}
	for i, id := range own.ids {
		c.ids[i] = int32(id)
	}
	return c
}

// encode is piece without the cache.
func (v *vocabulary) encode(k *sink, p string) {
	if v.whole != nil {
		if id, ok := v.whole[p]; ok {
			k.add(id)
			return
		}
	}
	if v.holes {
		p = v.drop(p)
	}
	v.merge(k, p)
}

// drop returns p without the bytes that have no token.
func (v *vocabulary) drop(p string) string {
	missing := func(b byte) bool { return v.bytes[b] < 0 }
	i := 0
	for i < len(p) && !missing(p[i]) {
		i++
	}
	if i == len(p) {
		return p
	}
	kept := append(make([]byte, 0, len(p)), p[:i]...)
	for ; i < len(p); i++ {
		if !missing(p[i]) {
			kept = append(kept, p[i])
		}
	}
	return string(kept)
}

// A part is a token of a piece while it is merged: a node of a doubly linked
// list that is kept in an array by where the part starts.
type part struct{ id, prev, next int32 }

// A candidate is a pair that could be merged. It is stale if the ids at its
// place have changed since.
type candidate struct{ rank, at, left, right, id int32 }

func (a candidate) before(b candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.at < b.at
}

// A workbench is the memory that a merge needs.
type workbench struct {
	parts []part
	heap  []candidate
}

var workbenches = sync.Pool{New: func() any { return new(workbench) }}

// merge adds the tokens of p to k: of all adjacent pairs the one with the
// lowest rank, and of equals the leftmost, is merged, until none can be. A
// heap finds it: a search of the whole piece for each merge would take
// quadratic time, hours for a megabyte without a space.
func (v *vocabulary) merge(k *sink, p string) {
	w := workbenches.Get().(*workbench)
	defer workbenches.Put(w)
	n := int32(len(p))
	w.parts, w.heap = w.parts[:0], w.heap[:0]
	for i := range n {
		w.parts = append(w.parts, part{v.bytes[p[i]], i - 1, i + 1})
	}
	for i := range n - 1 {
		v.propose(w, p, i)
	}
	for len(w.heap) > 0 {
		c := w.pop()
		left := &w.parts[c.at]
		if left.id != c.left || left.next >= n || w.parts[left.next].id != c.right {
			continue
		}
		right := &w.parts[left.next]
		left.id, right.id, left.next = c.id, gone, right.next
		if left.next < n {
			w.parts[left.next].prev = c.at
		}
		v.propose(w, p, left.prev)
		v.propose(w, p, c.at)
	}
	for i := int32(0); i < n; i = w.parts[i].next {
		k.add(w.parts[i].id)
	}
	const keep = 1 << 16 // parts; a giant's memory is not kept
	if n > keep {
		*w = workbench{}
	}
}

// gone is the id of a part that was merged into the one before it.
const gone = -2

// propose puts the pair of the part at i and the next on the heap, if there is
// such a pair and it can be merged.
func (v *vocabulary) propose(w *workbench, p string, i int32) {
	if i < 0 || int(w.parts[i].next) >= len(p) {
		return
	}
	j := w.parts[i].next
	l, r := w.parts[i].id, w.parts[j].id
	if v.merges != nil {
		if m, ok := v.merges[pairKey(l, r)]; ok {
			w.push(candidate{m.rank, i, l, r, m.id})
		}
		return
	}
	if id, ok := v.whole[p[i:w.parts[j].next]]; ok {
		w.push(candidate{id, i, l, r, id})
	}
}

func (w *workbench) push(c candidate) {
	w.heap = append(w.heap, c)
	for i := len(w.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !w.heap[i].before(w.heap[up]) {
			return
		}
		w.heap[i], w.heap[up] = w.heap[up], w.heap[i]
		i = up
	}
}

func (w *workbench) pop() candidate {
	top, last := w.heap[0], len(w.heap)-1
	w.heap[0] = w.heap[last]
	w.heap = w.heap[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return top
		}
		if down+1 < last && w.heap[down+1].before(w.heap[down]) {
			down++
		}
		if !w.heap[down].before(w.heap[i]) {
			return top
		}
		w.heap[i], w.heap[down] = w.heap[down], w.heap[i]
		i = down
	}
}
