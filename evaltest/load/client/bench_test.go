package client_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/record"
)

// skim reads one request with as little work as possible: the fake must not be
// what is measured.
func skim(r *bufio.Reader) error {
	length := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(v)))
		}
		if len(line) <= 2 {
			_, err := r.Discard(length)
			return err
		}
	}
}

func skimmed(tb testing.TB, answer string) string {
	b := []byte(answer)
	return listen(tb, func(c *net.TCPConn, r *bufio.Reader) {
		for skim(r) == nil {
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	})
}

// closedLoop makes n calls from so many goroutines.
func closedLoop(users, n int, call func(user int)) time.Duration {
	var next atomic.Int64
	var wg sync.WaitGroup
	begun := time.Now()
	for user := range users {
		wg.Go(func() {
			for next.Add(1) <= int64(n) {
				call(user)
			}
		})
	}
	wg.Wait()
	return time.Since(begun)
}

func bareTransport(users int) *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: users, DisableCompression: true}
}

// BenchmarkRate is the rate of short calls in a closed loop, beside that of
// net/http which reads the answers and looks at nothing. The two take turns in
// short rounds; the ratio is the median of those of neighbours.
func BenchmarkRate(b *testing.B) {
	const users = 16
	const n = 500 // calls of a round; many short rounds meet the same disturbances
	pairs := 16
	if testing.Short() {
		pairs = 2
	}
	for _, bench := range []struct {
		name, answer string
		whole        bool
	}{
		{"whole", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(okWhole)) + "\r\n\r\n" + okWhole, true},
		{"stream", chunked("Content-Type: text/event-stream\r\n", okStream), false},
	} {
		b.Run(bench.name, func(b *testing.B) {
			url := skimmed(b, bench.answer)
			c, err := client.New(client.Config{Host: url, Concurrency: users, Timeouts: client.Timeouts{First: time.Minute, Idle: time.Minute, Total: time.Minute}})
			require.NoError(b, err)
			defer c.Close()
			start := time.Now()
			recs, failures := make([]record.Request, users), atomic.Int64{}
			ours := func(user int) {
				c.Do(context.Background(), &client.Call{Start: start, Body: hello, Whole: bench.whole}, &recs[user])
				if recs[user].Failure != nil {
					failures.Add(1)
				}
			}
			hc := &http.Client{Transport: bareTransport(users)}
			defer hc.CloseIdleConnections()
			bare := func(int) {
				req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(hello))
				req.Header.Set("Content-Type", "application/json")
				resp, err := hc.Do(req)
				if err != nil {
					failures.Add(1)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			closedLoop(users, 200, ours)
			closedLoop(users, 200, bare)
			var took [2]time.Duration
			var allocs [2]uint64
			var ratios []float64
			for b.Loop() {
				for pair := range pairs {
					var one [2]time.Duration
					for i := range 2 {
						who := (pair + i) % 2
						var before, after runtime.MemStats
						runtime.ReadMemStats(&before)
						one[who] = closedLoop(users, n, []func(int){ours, bare}[who])
						runtime.ReadMemStats(&after)
						allocs[who] += after.Mallocs - before.Mallocs
						took[who] += one[who]
					}
					ratios = append(ratios, 100*float64(one[1])/float64(one[0]))
				}
			}
			if failures.Load() > 0 {
				b.Fatalf("%d calls failed: %+v", failures.Load(), recs[0].Failure)
			}
			slices.Sort(ratios)
			calls := float64(len(ratios) * n)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(calls/took[0].Seconds(), "req/s")
			b.ReportMetric(calls/took[1].Seconds(), "bare-req/s")
			b.ReportMetric(ratios[len(ratios)/2], "rate-%-of-bare")
			b.ReportMetric(float64(allocs[0])/calls, "allocs/req")
			b.ReportMetric(float64(allocs[1])/calls, "bare-allocs/req")
		})
	}
}

// A paced fake sends events at times of its own, and writes into each when that
// was.
const (
	pace      = 20 * time.Millisecond
	sentField = `"created":`
)

func pacedServer(tb testing.TB, events int, base time.Time) string {
	var seq atomic.Int64
	return listen(tb, func(c *net.TCPConn, r *bufio.Reader) {
		for skim(r) == nil {
			// The phases are spread, so that the streams do not all write at once.
			next := time.Now().Add(time.Duration(seq.Add(1)*7919%1000) * pace / 1000)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
			var buf, event []byte
			t := time.NewTimer(time.Until(next))
			for range events {
				<-t.C
				next = next.Add(pace)
				event = append(event[:0], `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk",`+sentField...)
				event = strconv.AppendInt(event, int64(time.Since(base)), 10)
				event = append(event, `,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`+"\n\n"...)
				buf = append(strconv.AppendInt(buf[:0], int64(len(event)), 16), "\r\n"...)
				buf = append(append(buf, event...), "\r\n"...)
				if _, err := c.Write(buf); err != nil {
					return
				}
				t.Reset(time.Until(next))
			}
			t.Stop()
			const last = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
			_, _ = io.WriteString(c, hex(len(last))+"\r\n"+last+"\r\n0\r\n\r\n")
		}
	})
}

// sentAt is what an event says of when it was sent; -1 if it does not.
func sentAt(event []byte) time.Duration {
	_, rest, ok := bytes.Cut(event, []byte(sentField))
	if !ok {
		return -1
	}
	digits, _, _ := bytes.Cut(rest, []byte{','})
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return -1
	}
	return time.Duration(n)
}

// A stream is when its events were sent and seen.
type stream struct{ sent, seen []time.Duration }

// distortions are by how much the gaps that were seen differ from those that
// were sent.
func (s stream) distortions() (d []time.Duration) {
	for i := 1; i < len(s.sent); i++ {
		d = append(d, ((s.seen[i] - s.seen[i-1]) - (s.sent[i] - s.sent[i-1])).Abs())
	}
	return d
}

// bareStream reads a stream with net/http and notes when each read returned.
func bareStream(tr *http.Transport, url string, base time.Time) (s stream) {
	req, _ := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(hello))
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return s
	}
	defer resp.Body.Close()
	var data []byte
	var ends []int
	var times []time.Duration
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		at := time.Since(base)
		data = append(data, buf[:n]...)
		ends, times = append(ends, len(data)), append(times, at)
		if err != nil {
			break
		}
	}
	from, read := 0, 0
	for {
		i := bytes.Index(data[from:], []byte("\n\n"))
		if i < 0 {
			return s
		}
		end := from + i + 2
		for ends[read] < end {
			read++
		}
		if at := sentAt(data[from:end]); at >= 0 {
			s.sent, s.seen = append(s.sent, at), append(s.seen, times[read])
		}
		from = end
	}
}

// oneStream reads a stream with the client.
func oneStream(c *client.Client, base time.Time) (s stream) {
	var rec record.Request
	var reply client.Reply
	c.Do(context.Background(), &client.Call{Start: base, Body: hello, Reply: &reply}, &rec)
	for event := range reply.Events() {
		if at := sentAt(event); at >= 0 {
			s.sent = append(s.sent, at)
		}
	}
	for _, f := range rec.Fragments {
		s.seen = append(s.seen, f.At)
	}
	if rec.Failure != nil || len(s.sent) != len(s.seen) {
		return stream{}
	}
	return s
}

func quantile(d []time.Duration, q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	return float64(d[int(float64(len(d)-1)*q)])
}

// BenchmarkPaced is by how much the client distorts the gaps between the events
// of many paced streams, beside what a bare reader of net/http sees of the same
// fake. "turns" has all streams read by the one, then by the other, in rounds of
// a second, for a machine that does nothing else; in "mixed" half of the streams
// are each one's, at the same time, so that whatever else the machine does meets
// both. The shares are medians of those of neighbouring rounds, the times those
// of all rounds together.
func BenchmarkPaced(b *testing.B) {
	streams, events, rounds := 300, 50, 12
	if testing.Short() {
		streams, events, rounds = 20, 25, 2
	}
	for _, mixed := range []bool{false, true} {
		name := map[bool]string{false: "turns", true: "mixed"}[mixed]
		b.Run(name+"/streams="+strconv.Itoa(streams)+"/rate=50tok", func(b *testing.B) {
			base := time.Now()
			url := pacedServer(b, events, base)
			c, err := client.New(client.Config{Host: url, Concurrency: streams, IdleTimeout: time.Minute, Timeouts: client.Timeouts{First: time.Minute, Idle: time.Minute, Total: 10 * time.Minute}})
			require.NoError(b, err)
			defer c.Close()
			tr := bareTransport(streams)
			defer tr.CloseIdleConnections()
			var mu sync.Mutex
			var pool [2][]time.Duration
			lost := 0
			run := func(who func(i int) int) {
				var wg sync.WaitGroup
				for i := range streams {
					wg.Go(func() {
						var s stream
						if who(i) == 0 {
							s = oneStream(c, base)
						} else {
							s = bareStream(tr, url, base)
						}
						d := s.distortions()
						mu.Lock()
						defer mu.Unlock()
						pool[who(i)] = append(pool[who(i)], d...)
						if len(s.sent) != events {
							lost++
						}
					})
				}
				wg.Wait()
			}
			run(func(int) int { return 0 }) // for the connections
			run(func(int) int { return 1 })
			pool = [2][]time.Duration{}
			qs := []float64{0.5, 0.99}
			var all [2][]time.Duration
			shares := make([][]float64, len(qs))
			var cpu [2]time.Duration
			for b.Loop() {
				for round := range rounds / 2 {
					for i := range 2 {
						who := (round + i) % 2
						if mixed {
							run(func(s int) int { return (s + who) % 2 })
							continue
						}
						before := cpuTime()
						run(func(int) int { return who })
						cpu[who] += cpuTime() - before
					}
					for who := range pool {
						slices.Sort(pool[who])
						all[who] = append(all[who], pool[who]...)
					}
					for i, q := range qs {
						shares[i] = append(shares[i], 100*quantile(pool[0], q)/max(quantile(pool[1], q), 1))
					}
					pool = [2][]time.Duration{}
				}
			}
			if lost > 0 {
				b.Fatalf("%d streams were not whole", lost)
			}
			slices.Sort(all[0])
			slices.Sort(all[1])
			b.ReportMetric(0, "ns/op")
			if cpu[1] > 0 { // the fake's included, which is most of it
				b.ReportMetric(float64(cpu[0])/float64(len(all[0])), "cpu-ns/event")
				b.ReportMetric(float64(cpu[1])/float64(len(all[1])), "bare-cpu-ns/event")
			}
			for i, name := range []string{"p50", "p99"} {
				slices.Sort(shares[i])
				b.ReportMetric(quantile(all[0], qs[i]), name+"-gap-distortion-ns")
				b.ReportMetric(quantile(all[1], qs[i]), name+"-bare-gap-distortion-ns")
				b.ReportMetric(shares[i][len(shares[i])/2], name+"-%-of-bare")
			}
		})
	}
}
