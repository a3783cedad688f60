package client

import (
	"encoding/json"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// typical is an event as vLLM sends it.
func typical(i int) string {
	return `data: {"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk","created":1700000000,"model":"some-org/some-model-7b","choices":[{"index":0,"delta":{"content":" word` + strconv.Itoa(i%10) + `"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
}

// reading gives a body to one answer again and again, in reads of at most a page.
type reading struct {
	c    *Client
	a    *answer
	rec  record.Request
	body []byte
	buf  []byte
}

func newReading(tb testing.TB, body string) *reading {
	c, err := New(Config{Host: "http://h", Concurrency: 1})
	require.NoError(tb, err)
	return &reading{c: c, a: c.flights.Get().(*answer), body: []byte(body), buf: make([]byte, 4096)}
}

func (r *reading) run(w *watchdog) *record.Failure {
	clearRecord(&r.rec)
	r.a.begin(r.c, nil, &r.rec, w, nil)
	for at := 0; at < len(r.body); {
		n := copy(r.buf, r.body[at:])
		at += n
		r.a.read(r.buf[:n], time.Duration(at))
	}
	return r.a.end(time.Duration(len(r.body)), nil)
}

// TestAllocations: a fragment costs none, and an answer a few.
func TestAllocations(t *testing.T) {
	var body strings.Builder
	for i := range 1000 {
		body.WriteString(typical(i))
	}
	r := newReading(t, body.String()+stop+tail+ended)
	w := &watchdog{start: time.Now(), cancel: func() {}}
	defer w.stop()
	require.Nil(t, r.run(w))
	require.Len(t, r.rec.Fragments, 1000)
	n := testing.AllocsPerRun(20, func() { r.run(w) })
	assert.LessOrEqual(t, n, 8.0, "for 1000 fragments")
}

// TestFlat: an answer that is used again does not hold on to what it read,
// except for buffers of a bounded size.
func TestFlat(t *testing.T) {
	big := newReading(t, delta(`"content":"`+strings.Repeat("x", 3<<20)+`"`)+stop+ended)
	w := &watchdog{start: time.Now(), cancel: func() {}}
	defer w.stop()
	require.Nil(t, big.run(w))
	small := newReading(t, typical(1)+stop+ended)
	small.a = big.a
	var m runtime.MemStats
	heap := func() uint64 {
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	require.Nil(t, small.run(w))
	assert.LessOrEqual(t, cap(small.a.split.line), 1<<20)
	assert.LessOrEqual(t, cap(small.a.split.own), 1<<20)
	before := heap()
	for range 5000 {
		small.run(w)
	}
	assert.Less(t, int64(heap())-int64(before), int64(256<<10))
	runtime.KeepAlive(small)
}

// BenchmarkEvent is what one event of a stream costs once it has been read, and
// what decoding it with encoding/json would.
func BenchmarkEvent(b *testing.B) {
	const n = 100
	var body strings.Builder
	for i := range n {
		body.WriteString(typical(i))
	}
	r := newReading(b, body.String()+stop+ended)
	w := &watchdog{start: time.Now(), cancel: func() {}}
	defer w.stop()
	b.Run("scan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.run(w)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
	})
	b.Run("encoding-json", func(b *testing.B) {
		data := []byte(strings.TrimSpace(strings.TrimPrefix(typical(1), "data: ")))
		for b.Loop() {
			var c struct {
				Model   string
				Choices []struct {
					Delta  struct{ Content, Reasoning *string }
					Finish *string `json:"finish_reason"`
				}
				Usage json.RawMessage
			}
			if err := json.Unmarshal(data, &c); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/event")
	})
}
