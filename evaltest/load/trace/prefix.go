package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// A prefixTree holds the prompts of a trace as paths of blocks: what two
// prompts share from their beginning is one path.
type prefixTree struct {
	next map[edge]int32
	node []node // the root is 0
}

// An edge is a block behind a path.
type edge struct {
	after  int32
	hash   uint64
	tokens int32 // the same id with another length is another text
}

type node struct {
	parent int32
	edge   edge
	forks  uint8 // paths that go on from here, at most 2
	ends   bool  // a prompt's hash ids end here
}

func newPrefixTree() *prefixTree {
	return &prefixTree{next: map[edge]int32{}, node: make([]node, 1)}
}

// blockSize is the length of the i-th hashed block of a row.
func blockSize(r *Row, i int) int32 {
	return int32(min(r.BlockTokens, r.Input-i*r.BlockTokens))
}

// add adds a row's prompt and returns how many of its tokens were there.
func (t *prefixTree) add(r *Row) (known int64) {
	at := int32(0)
	for i, hash := range r.Hashes {
		e := edge{at, hash, blockSize(r, i)}
		n, ok := t.next[e]
		if ok {
			known += int64(e.tokens)
		} else {
			n = int32(len(t.node))
			t.next[e] = n
			t.node = append(t.node, node{parent: at, edge: e})
			t.node[at].forks = min(t.node[at].forks+1, 2)
		}
		at = n
	}
	t.node[at].ends = true
	return known
}

// A segment is a run of blocks that no prompt of the trace has in part.
type segment struct {
	end    int32 // its last node
	tokens int
}

// segments cuts a row's path where prompts part or end.
func (t *prefixTree) segments(r *Row) (cut []segment) {
	at, tokens := int32(0), 0
	for i, hash := range r.Hashes {
		e := edge{at, hash, blockSize(r, i)}
		at = t.next[e]
		tokens += int(e.tokens)
		if n := &t.node[at]; n.ends || n.forks > 1 {
			cut = append(cut, segment{at, tokens})
			tokens = 0
		}
	}
	return cut
}

// name names the path to a node by what stands on it, so that two files, or
// two parts of one, name the same path alike.
func (t *prefixTree) name(end int32) string {
	hash := sha256.New()
	var b [12]byte
	for at := end; at != 0; at = t.node[at].parent {
		binary.LittleEndian.PutUint64(b[:8], t.node[at].edge.hash)
		binary.LittleEndian.PutUint32(b[8:], uint32(t.node[at].edge.tokens))
		hash.Write(b[:])
	}
	return hex.EncodeToString(hash.Sum(nil)[:12])
}
