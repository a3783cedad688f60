package metric

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/goevals/evals/evaltest/load/record"
)

// A Bucket is what answers of a range of turns, or of input lengths, come to.
type Bucket struct {
	From int64 `json:"from"`
	To   int64 `json:"to"` // inclusive
	N    int64 `json:"n"`
	// Wait is the time until the client sent it, [Queue]; TTFT and E2E are on
	// the service clock.
	Wait Dist `json:"queue_ns"`
	TTFT Dist `json:"ttft_ns"`
	E2E  Dist `json:"e2e_ns"`
	// CachedShare is the server's cached tokens of the input; absent without usage.
	CachedShare Figure `json:"cached_share"`
}

type bucket struct {
	from, to        int64
	n               int64
	wait, ttft, e2e Pool
	cached, input   int64
}

const (
	bucketExact  = 1 << 13 // values kept of a bucket's metric; there are up to 150
	singleTurns  = 32      // turns with a bucket each; later ones share, by powers of two
	shortContext = 10      // inputs of less than 2^10 tokens share one
)

// bucket adds an answer to the bucket of its turn and that of its input.
func (m *Meter) bucket(r *record.Request, v *View) {
	if r.Trajectory != "" {
		turn := int64(r.Turn)
		from, to := turn, turn
		if turn >= singleTurns {
			from, to = octaveOf(turn)
		}
		m.into(m.turns, from, to).add(r, v)
	}
	length := int64(r.AskedInput)
	if r.Usage.Known {
		length = r.Usage.Input
	}
	if length == 0 {
		return
	}
	from, to := int64(0), int64(1)<<shortContext-1
	if length > to {
		from, to = octaveOf(length)
	}
	m.into(m.contexts, from, to).add(r, v)
}

func octaveOf(n int64) (from, to int64) {
	from = 1 << (bits.Len64(uint64(n)) - 1)
	return from, 2*from - 1
}

func (m *Meter) into(buckets map[int]*bucket, from, to int64) *bucket {
	key := int(from)
	b := buckets[key]
	if b == nil {
		exact := bucketExact
		if m.config.Exact > 0 {
			exact = min(exact, m.config.Exact)
		}
		b = &bucket{from: from, to: to, wait: Pool{Exact: exact}, ttft: Pool{Exact: exact}, e2e: Pool{Exact: exact}}
		buckets[key] = b
	}
	return b
}

func (b *bucket) add(r *record.Request, v *View) {
	b.n++
	for _, c := range []struct {
		pool  *Pool
		value Figure
	}{{&b.wait, v.Queue}, {&b.ttft, v.TTFT}, {&b.e2e, v.E2E}} {
		if x, ok := c.value.Get(); ok {
			c.pool.Add(x, 1)
		}
	}
	if r.Usage.Known {
		b.cached, b.input = b.cached+r.Usage.CachedInput, b.input+r.Usage.Input
	}
}

func bucketList(buckets map[int]*bucket) []Bucket {
	var list []Bucket
	for _, key := range slices.Sorted(maps.Keys(buckets)) {
		b := buckets[key]
		list = append(list, Bucket{
			From: b.from, To: b.to, N: b.n, Wait: b.wait.Dist(), TTFT: b.ttft.Dist(), E2E: b.e2e.Dist(),
			CachedShare: ratio(float64(b.cached), float64(b.input)),
		})
	}
	return list
}
