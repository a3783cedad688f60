package call

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// The shared file is one record: shareMagic, the record's length and the
// checksum of the rest as 32-bit little-endian numbers, the rest as varints.
// Times are relative to the moment of writing, whose wall-clock time is in it:
// processes have no other clock in common. A clock that was set back since then
// counts as if no time had passed, which is the safe side, and one set forward
// as if it had.
const (
	shareMagic = "evalim1\n"
	shareHead  = len(shareMagic) + 4 + 4
	// shareMost bounds the file: the window, and what is before and after it.
	shareMost    = shareHead + (shareCharges+16)*4*binary.MaxVarintLen64 + shareText
	shareCharges = int(time.Minute/shareGrain) + 16
	shareText    = 600 // bytes of the provider's words
	// shareOld is when a time is too old to matter, and is not told from
	// others.
	shareOld = 10 * time.Minute
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// save appends the record.
func (s *Scope) save(b []byte, now time.Duration, wall time.Time) []byte {
	b = append(b, shareMagic...)
	b = append(b, make([]byte, shareHead-len(b))...)
	num := func(n int64) { b = binary.AppendVarint(b, n) }
	when := func(t time.Duration) { num(int64(max(t-now, -shareOld))) }
	num(wall.UnixNano())
	num(int64(s.pause.gen))
	when(s.pause.until)
	num(int64(s.pause.count))
	num(int64(s.pause.asked))
	for _, q := range []*quota{&s.quotas.requests, &s.quotas.tokens} {
		when(q.due)
		when(q.provider)
	}
	w := &s.quotas.window
	w.expire(now)
	num(int64(w.n))
	for i := range w.n {
		c := w.get(i)
		when(c.from)
		when(c.at)
		num(c.requests)
		num(c.tokens)
	}
	text := ""
	if now < s.pause.until {
		text = s.pause.words()
	}
	num(int64(len(text)))
	b = append(b, text...)
	binary.LittleEndian.PutUint32(b[len(shareMagic):], uint32(len(b)))
	binary.LittleEndian.PutUint32(b[len(shareMagic)+4:], crc32.Checksum(b[shareHead:], castagnoli))
	return b
}

// words are what others are told of the rate limit.
func (p *pause) words() string {
	if p.text == "" && p.err != nil {
		p.text = cut(wire.Mask(p.err.Error()), shareText-40) // cut says how much is missing
	}
	return p.text
}

// load takes the record over. An empty file is a new one: what this process
// knows stands. One that is no record was torn, and nobody knows what others
// have used: the buckets are empty.
func (s *Scope) load(data []byte, now time.Duration, wall time.Time) {
	if len(data) == 0 {
		s.share.dirty = true
		return
	}
	r := shareReader{data: data, ok: true}
	p, before := r.record(now, wall, s), s.pause
	if !r.ok {
		s.quotas.empty(now)
		s.share.dirty = true
		return
	}
	if p.gen < before.gen { // ours could not be written
		s.share.dirty = true
		return
	}
	s.pause = p
	if p.count < before.count {
		s.refusals.answered = true // another process was
	}
	switch {
	case now >= p.until:
	case p.gen != before.gen: // another process met a rate limit
		s.paused(now)
		s.crowded(now)
	case p.until > before.until:
		s.clock.stand(now, p.until)
	default:
		return
	}
	s.dismiss(now)
}

// empty forgets all that may go at once.
func (q *quotas) empty(now time.Duration) {
	for _, l := range []*quota{&q.requests, &q.tokens} {
		l.due, l.provider = max(l.due, now), max(l.provider, now)
	}
}

type shareReader struct {
	data []byte
	ok   bool
}

// record reads all, changes the quotas of s if it is whole, and returns the
// pause.
func (r *shareReader) record(now time.Duration, wall time.Time, s *Scope) (p pause) {
	if !r.whole() {
		r.ok = false
		return p
	}
	age := min(max(wall.Sub(time.Unix(0, r.num())), 0), longestPause)
	when := func() time.Duration {
		t := time.Duration(r.num())
		if t <= -shareOld || t > longestPause {
			r.ok = r.ok && t <= longestPause
			return never
		}
		return now - age + t
	}
	p = pause{gen: uint64(r.num()), until: when(), count: int(r.least(0)), asked: time.Duration(r.least(0))}
	var due, provider [2]time.Duration
	for i := range due {
		due[i], provider[i] = when(), when()
	}
	w := window{grain: shareGrain, drift: shareDrift, ring: s.quotas.window.ring}
	for n := r.least(0); n > 0 && r.ok; n-- {
		c := charge{from: when(), at: when(), requests: r.least(0), tokens: r.least(0)}
		if w.n >= shareCharges || w.n > 0 && c.at < w.get(w.n-1).at || c.from > c.at || c.requests > maxPerMinute || c.tokens > maxPerMinute*1000 {
			r.ok = false
			break
		}
		w.push(c)
		w.requests += c.requests
		w.tokens += c.tokens
	}
	p.text = r.text(r.least(0))
	if !r.ok {
		s.quotas.window = window{grain: shareGrain, drift: shareDrift} // they use the same ring
		return p
	}
	s.quotas.window = w
	s.quotas.requests.due, s.quotas.requests.provider = due[0], provider[0]
	s.quotas.tokens.due, s.quotas.tokens.provider = due[1], provider[1]
	if p.err = s.pause.err; p.gen != s.pause.gen || p.asked != s.pause.asked {
		p.err = &llm.Error{Kind: llm.KindRateLimit, Err: errors.New("another process met: " + p.text)}
	}
	return p
}

// whole checks and takes off the head.
func (r *shareReader) whole() bool {
	if len(r.data) < shareHead || string(r.data[:len(shareMagic)]) != shareMagic {
		return false
	}
	size := binary.LittleEndian.Uint32(r.data[len(shareMagic):])
	sum := binary.LittleEndian.Uint32(r.data[len(shareMagic)+4:])
	if int64(size) < int64(shareHead) || int64(size) > int64(len(r.data)) {
		return false
	}
	r.data = r.data[shareHead:size] // a longer record may have stood here
	return crc32.Checksum(r.data, castagnoli) == sum
}

func (r *shareReader) num() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.ok = false
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *shareReader) least(n int64) int64 {
	v := r.num()
	if v < n {
		r.ok = false
		return n
	}
	return v
}

func (r *shareReader) text(n int64) string {
	if n > int64(len(r.data)) {
		r.ok = false
		return ""
	}
	return string(r.data[:n])
}
