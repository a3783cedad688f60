package metric

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// long is a request of a long run: 50 tokens, 20 ms apart, at its own time.
func long(r *record.Request, i int, rate time.Duration) {
	at := time.Duration(i) * rate
	shift := at - r.Due
	r.Seq, r.User = i, i%256
	r.Due, r.FirstSent, r.Sent, r.Done = at, at, at+1, r.Done+shift
	for k := range r.Fragments {
		r.Fragments[k].At += shift + time.Duration(i%7)*time.Microsecond/7
	}
	r.Done = r.Fragments[len(r.Fragments)-1].At
}

func template(tokens int) *record.Request {
	r := answered(0, 0)
	for k := range tokens {
		r.Fragments = append(r.Fragments, record.Fragment{At: time.Duration(100+20*k) * ms, Bytes: 5})
	}
	r.Usage.Output = int64(tokens)
	return r
}

func BenchmarkAdd(b *testing.B) {
	for _, tokens := range []int{1, 50, 500} {
		b.Run("tokens="+strconv.Itoa(tokens)+"/add", func(b *testing.B) {
			m, r := meter(b, Config{}), template(tokens)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				long(r, i, ms)
				if err := m.Add(r); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkResult(b *testing.B) {
	m, r := meter(b, Config{}), template(50)
	for i := range 100_000 {
		long(r, i, ms)
		require.NoError(b, m.Add(r))
	}
	for b.Loop() {
		m.Result(Health{})
	}
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// BenchmarkMemory says what a meter holds after so many requests of 20 tokens.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run("requests="+strconv.Itoa(n)+"/heap", func(b *testing.B) {
			for b.Loop() {
				before := heap()
				m, r := meter(b, Config{}), template(20)
				for i := range n {
					long(r, i, ms)
					if err := m.Add(r); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(heap()-before)/1e6, "heap-MB")
				runtime.KeepAlive(m)
			}
		})
	}
}

// Memory must not grow with the run: here with a small limit, so that the test
// is quick.
func TestMemoryIsBounded(t *testing.T) {
	m, r := meter(t, Config{Exact: 1000}), template(20)
	step := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			long(r, i, 100*ms)
			require.NoError(t, m.Add(r))
		}
		return heap()
	}
	first := step(0, 10_000)
	second := step(10_000, 30_000)
	require.Less(t, int64(second)-int64(first), int64(4<<20), "20,000 requests more")
	require.Equal(t, HistogramError, m.Result(Health{}).Dists[TTFT].RelativeError, "and it says what it costs")
}
