package agent

import (
	"hash/maphash"
	"sync"
)

// EstimateCached is BatchBench's estimate of the cached part of a prompt, in
// tokens, from what the server reported of it and of the prompt before it in
// the session: the smaller of the two. The reply before it is not counted,
// though a server holds that too.
func EstimateCached(before, prompt int64) int64 { return min(before, prompt) }

// cacheable sets how much of each prompt a perfect prefix cache holds from
// the turn before.
func cacheable(p *Plan) {
	for i := 1; i < len(p.Turns); i++ {
		t, before := &p.Turns[i], &p.Turns[i-1]
		switch {
		case p.Blocks():
			t.Cacheable = commonBlocks(before, t)
		case !t.Reset:
			t.Cacheable = min(before.Prompt+before.Output, t.Prompt)
		}
	}
}

// commonBlocks counts the tokens of the blocks that two prompts begin with,
// and of the live one that takes the reply between them.
func commonBlocks(before, t *Turn) (n int) {
	for i, b := range t.Blocks {
		switch {
		case i < len(before.Blocks) && before.Blocks[i].Seed == b.Seed && !(t.Reset && b.Live):
		case i == len(before.Blocks) && b.Live && !t.Reset:
		default:
			return n
		}
		n += b.Tokens
	}
	return n
}

// sent remembers the prompts that a run has sent, as chains of blocks, to say
// what a perfect prefix cache could hold, whichever session sent it. It is
// safe for concurrent use.
type sent struct {
	mu    sync.Mutex
	seed  maphash.Seed
	chain map[uint64]struct{}
}

func newSent() *sent { return &sent{seed: maphash.MakeSeed(), chain: map[uint64]struct{}{}} }

// A link is one block of a prompt as it was sent: equal names are equal bytes.
type link struct {
	name   string
	tokens int
	// held says that the server generated just these bytes as its last reply.
	held bool
}

// prompt returns how many tokens of the prompt are known, and remembers it.
// Before is the chain of the session's prompt before, end that of this one.
func (s *sent) prompt(links []link, before uint64) (known int, end uint64) {
	type step struct {
		before uint64
		name   string
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := true
	for _, l := range links {
		next := maphash.Comparable(s.seed, step{end, l.name})
		_, seen := s.chain[next]
		if whole = whole && (seen || l.held && end == before); whole {
			known += l.tokens
		}
		s.chain[next] = struct{}{}
		end = next
	}
	return known, end
}
