package workload

import (
	"sort"
	"sync"
)

// A before answers what the requests before one have in common with it. It
// looks at each request's lengths or group once, in order, and keeps only what
// changed the answer: with equal lengths or few groups it stops looking early.
type before struct {
	mu   sync.Mutex
	next int // the first request that was not looked at

	// longest are the requests with a longer common beginning than all before.
	longest []mark
	// first is each group's first request.
	first map[int]int
}

type mark struct{ seq, tokens int }

// overlap is the longest common beginning of a request before seq, where of
// returns that of one request, and no request has more than most.
func (b *before) overlap(seq, most int, of func(seq int) int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	top := 0
	if n := len(b.longest); n > 0 {
		top = b.longest[n-1].tokens
	}
	for ; b.next < seq && top < most; b.next++ {
		if tokens := of(b.next); tokens > top {
			b.longest = append(b.longest, mark{b.next, tokens})
			top = tokens
		}
	}
	i := sort.Search(len(b.longest), func(i int) bool { return b.longest[i].seq >= seq })
	if i == 0 {
		return 0
	}
	return b.longest[i-1].tokens
}

// group reports whether a request before seq has the same group, where of
// returns the group of one request, and there are so many groups.
func (b *before) group(seq, group, groups int, of func(seq int) int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == nil {
		b.first = map[int]int{}
	}
	for ; b.next < seq && len(b.first) < groups; b.next++ {
		if _, known := b.first[group]; known {
			break // its first request is looked at: that is enough
		}
		if g := of(b.next); !has(b.first, g) {
			b.first[g] = b.next
		}
	}
	first, ok := b.first[group]
	return ok && first < seq
}

func has(m map[int]int, k int) bool {
	_, ok := m[k]
	return ok
}

// blocks rounds tokens down to whole blocks.
func blocks(tokens, block int) int { return tokens - tokens%block }
