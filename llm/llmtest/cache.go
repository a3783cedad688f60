package llmtest

import (
	"hash/fnv"
	"strings"
	"sync"
	"time"
)

// A PrefixCache is how a provider spares itself what it has read before: the
// leading tokens of a prompt that it saw not long ago, in whole blocks. What is
// found is told as cached tokens, and costs no [Latency].PerInput. It keeps a
// few dozen bytes for each block of each prompt until its TTL is over. Set the
// fields before the first call; safe for concurrent use, by several Servers too.
type PrefixCache struct {
	// Min is the fewest tokens that are kept, Block the step from there on.
	// Defaults 1,024 and 128, as of OpenAI.
	Min, Block int
	// TTL is how long a prefix is kept after it was last read; default 5
	// minutes, below 0 for ever.
	TTL time.Duration

	mu    sync.Mutex
	seen  map[uint64]time.Time // the hash of a prefix → when it was last read
	purge int                  // how large seen may grow before the old ones go
}

const defaultTTL = 5 * time.Minute

// boundaries are the hashes of the prompt's prefixes that may be kept, shortest
// first, and their lengths in tokens.
func (p *PrefixCache) boundaries(c Chat, count func(string) int) (hashes []uint64, lengths []int) {
	next, block := p.Min, p.Block
	if next <= 0 {
		next = 1024
	}
	if block <= 0 {
		block = 128
	}
	h := fnv.New64a()
	put := func(s string) {
		_, _ = h.Write([]byte(s)) // a hash never fails
		_, _ = h.Write([]byte{0xff})
	}
	put(c.Model)
	n := 0
	for _, m := range c.Messages {
		put(m.Role)
		for _, w := range words(m.Content) {
			text := strings.TrimRight(w, " ")
			put(text)
			n += count(w)
			if n >= next {
				hashes, lengths = append(hashes, h.Sum64()), append(lengths, next+(n-next)/block*block)
				next += ((n-next)/block + 1) * block
			}
			put(w[len(text):]) // behind the boundary: a text that goes on there begins alike
		}
	}
	return hashes, lengths
}

// look returns how many leading tokens are known, and a function that keeps
// the prompt: called once it has been read.
func (p *PrefixCache) look(c Chat, count func(string) int) (cached int, keep func()) {
	if p == nil {
		return 0, func() {}
	}
	hashes, lengths := p.boundaries(c, count)
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(hashes) - 1; i >= 0; i-- {
		if at, ok := p.seen[hashes[i]]; ok && p.alive(at, now) {
			cached = lengths[i]
			break
		}
	}
	return cached, func() { p.keep(hashes) }
}

func (p *PrefixCache) alive(at, now time.Time) bool {
	ttl := p.TTL
	if ttl == 0 {
		ttl = defaultTTL
	}
	return ttl < 0 || now.Sub(at) < ttl
}

func (p *PrefixCache) keep(hashes []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen, p.purge = map[uint64]time.Time{}, 1024
	}
	now := time.Now()
	for _, h := range hashes {
		p.seen[h] = now
	}
	if len(p.seen) <= p.purge {
		return
	}
	for h, at := range p.seen {
		if !p.alive(at, now) {
			delete(p.seen, h)
		}
	}
	p.purge = max(2*len(p.seen), 1024)
}
