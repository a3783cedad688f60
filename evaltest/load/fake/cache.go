package fake

import "sync"

// A cache remembers blocks by their hashes, in two generations: when the young
// one is full it becomes the old one, and what was not used since then is lost.
// That costs one map operation a block, where a list of the last uses would cost
// memory and time several times over.
type cache struct {
	mu         sync.Mutex
	half       int
	young, old map[uint64]struct{}
}

func newCache(blocks int) *cache {
	return &cache{half: max(1, blocks/2), young: map[uint64]struct{}{}}
}

// hold returns how many of the first blocks it held, and holds all from now on.
// A block that is held behind one that is not is of no use.
func (c *cache) hold(blocks []uint64) (held int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range blocks {
		_, ok := c.young[b]
		if !ok {
			_, ok = c.old[b]
		}
		if !ok {
			break
		}
		held++
	}
	for _, b := range blocks { // only now: a generation may end here, with blocks that are wanted
		if _, ok := c.young[b]; ok {
			continue
		}
		if len(c.young) >= c.half {
			c.young, c.old = map[uint64]struct{}{}, c.young
		}
		c.young[b] = struct{}{}
	}
	return held
}
