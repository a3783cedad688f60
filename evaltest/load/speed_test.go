package load_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/workload"
)

// The benchmarks hold ours against the barest client there is, in turns, in one
// run and against the same server in the same process: times alone would say
// more of the machine. With -short they only show that they work.

// length is how long each leg of a benchmark takes.
func length(b *testing.B, long time.Duration) time.Duration {
	if testing.Short() {
		return long / 40
	}
	_ = b
	return long
}

// bare is what one would write by hand to send as many requests as can be.
type bare struct {
	http *http.Client
	url  string
	body []byte
}

func newBare(url string, body []byte, n int) *bare {
	return &bare{&http.Client{Transport: &http.Transport{MaxIdleConns: n, MaxIdleConnsPerHost: n, DisableCompression: true}}, url + "/v1/chat/completions", body}
}

func (c *bare) post(ctx context.Context, body []byte) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	return resp.Body, nil
}

// BenchmarkRate is the request rate of a closed loop of 64 users beside that of
// a bare one: x-bare is ours over theirs.
func BenchmarkRate(b *testing.B) {
	for _, kind := range []struct {
		name   string
		output int
		whole  bool
	}{{"whole", 1, true}, {"stream", 16, false}} {
		b.Run("answer="+kind.name+"/rate", func(b *testing.B) { benchRate(b, kind.output, kind.whole) })
	}
}

func benchRate(b *testing.B, output int, whole bool) {
	const users = 64
	each, pairs := 300, 8 // many short legs meet the same disturbances
	if testing.Short() {
		each, pairs = 5, 1
	}
	url, stop, err := (&fake.Server{}).Start()
	require.NoError(b, err)
	b.Cleanup(stop)
	source := words(b, 64, output, func(o *workload.Options) { o.Count = users * each })
	l := load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: source, Users: users, RequestsPerUser: each, Metric: metric.Config{Limits: easy},
		ModifyPrompt: func(p *client.Prompt) { p.Whole = whole },
		Lookahead:    users * each, // all bodies are made before the clock runs, as the bare client's one is
	}
	c, err := client.New(client.Config{Host: url, Model: "m", Concurrency: users})
	require.NoError(b, err)
	first, err := source.Request(0)
	require.NoError(b, err)
	body, err := c.Body(client.Prompt{Text: first.Prompt, MaxTokens: output, MinTokens: output, Whole: whole})
	require.NoError(b, err)
	var ours, theirs []float64
	legs := []func(){
		func() {
			rep, err := load.Run(b.Context(), l)
			require.NoError(b, err)
			require.EqualValues(b, users*each, rep.Result.Counts.OK)
			rate, _ := rep.Result.Whole.RequestRate.Get()
			ours = append(ours, rate)
		},
		func() { theirs = append(theirs, bareRate(b, newBare(url, body, users), users, each)) },
	}
	for b.Loop() {
		for n := range pairs {
			legs[n%2]()
			legs[1-n%2]()
		}
	}
	shares := make([]float64, len(ours))
	for i := range ours {
		shares[i] = ours[i] / theirs[i]
	}
	b.ReportMetric(median(ours), "ours-requests/s")
	b.ReportMetric(median(theirs), "bare-requests/s")
	b.ReportMetric(median(shares), "x-bare") // of neighbouring legs
	b.ReportMetric(0, "ns/op")
}

// bareRate is the bare client's requests a second.
func bareRate(b *testing.B, c *bare, users, each int) float64 {
	defer c.http.CloseIdleConnections()
	var wg sync.WaitGroup
	start := time.Now()
	for range users {
		wg.Go(func() {
			for range each {
				body, err := c.post(b.Context(), c.body)
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, body); err != nil {
					b.Error(err)
				}
				body.Close() //nolint:errcheck // it was read to its end
			}
		})
	}
	wg.Wait()
	return float64(users*each) / time.Since(start).Seconds()
}

func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// BenchmarkStreams reads 300 streams of 50 tokens a second, half of them with a
// run of ours and half with a bare reader at the same time, so that whatever else
// the machine does meets both. It says by how much the gaps between tokens as the
// client saw them differ from those between the server's writes, for each, and
// ours over theirs. BenchmarkPaced of evaltest/load/client has the same of the
// client alone.
func BenchmarkStreams(b *testing.B) {
	const streams, gap = 300, 20 * time.Millisecond
	tokens := max(5, int(length(b, 4*time.Second)/gap))
	saw := &log{stop: func() {}}
	server := &fake.Server{TTFT: gap, ITL: gap, Saw: saw.add}
	url, stop, err := server.Start()
	require.NoError(b, err)
	b.Cleanup(stop)
	source := words(b, 32, tokens, nil)
	var ours, theirs [2][]float64 // p50, p99
	for b.Loop() {
		var mine, bare map[string][]time.Duration
		var both sync.WaitGroup
		both.Go(func() { mine = ourStreams(b, url, source, streams/2) })
		both.Go(func() { bare = bareStreams(b, url, source, tokens, streams/2, streams) })
		both.Wait()
		list := told(saw, streams)
		spread(&ours, distortion(b, list, mine))
		spread(&theirs, distortion(b, list, bare))
	}
	for i, name := range []string{"p50", "p99"} {
		shares := make([]float64, len(ours[i]))
		for n := range shares {
			shares[n] = ours[i][n] / theirs[i][n]
		}
		b.ReportMetric(median(ours[i]), "ours-off-"+name+"-ns")
		b.ReportMetric(median(theirs[i]), "bare-off-"+name+"-ns")
		b.ReportMetric(median(shares), "x-bare-"+name) // of the same moment
	}
	b.ReportMetric(0, "ns/op")
}

func spread(into *[2][]float64, off []float64) {
	slices.Sort(off)
	into[0] = append(into[0], off[len(off)/2])
	into[1] = append(into[1], off[len(off)*99/100])
}

// told waits until the server has told of so many requests, and forgets them.
func told(saw *log, n int) (list []*fake.Seen) {
	for len(list) < n {
		runtime.Gosched()
		list = saw.all()
	}
	saw.mu.Lock()
	defer saw.mu.Unlock()
	saw.seen = nil
	return list
}

// distortion is the difference, for each token but the first of each stream that
// was seen, between the gap that was seen and the one that was written.
func distortion(b *testing.B, list []*fake.Seen, seen map[string][]time.Duration) (off []float64) {
	for _, s := range list {
		at, ok := seen[s.User]
		if !ok {
			continue
		}
		require.Len(b, at, len(s.Written), s.User)
		for i := 1; i < len(at); i++ {
			off = append(off, float64((at[i] - at[i-1] - s.Written[i].Sub(s.Written[i-1])).Abs()))
		}
	}
	return off
}

func ourStreams(b *testing.B, url string, source workload.Source, streams int) map[string][]time.Duration {
	seen := map[string][]time.Duration{}
	rep, err := load.Run(b.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: source, Users: streams, RequestsPerUser: 1, Join: time.Second / 2,
		Metric: metric.Config{Limits: easy}, ModifyPrompt: func(p *client.Prompt) { p.User = digits(p.Text) },
		Sink: func(r *record.Request) error {
			at := make([]time.Duration, len(r.Fragments))
			for i, f := range r.Fragments {
				at[i] = f.At
			}
			req, err := source.Request(r.User) // one request a user: its number is the user's
			seen[digits(req.Prompt)] = at
			return err
		},
	})
	require.NoError(b, err)
	require.EqualValues(b, streams, rep.Result.Counts.OK)
	return seen
}

// digits stands for a prompt in the field user: the server tells it back.
func digits(text string) string { return strconv.Itoa(len(text)) + text[max(0, len(text)-40):] }

func bareStreams(b *testing.B, url string, source workload.Source, tokens, from, to int) map[string][]time.Duration {
	streams := to - from
	c := newBare(url, nil, streams)
	defer c.http.CloseIdleConnections()
	maker, err := client.New(client.Config{Host: url, Model: "m", Concurrency: streams})
	require.NoError(b, err)
	seen := map[string][]time.Duration{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for i := range streams {
		req, err := source.Request(from + i)
		require.NoError(b, err)
		body, err := maker.Body(client.Prompt{Text: req.Prompt, MaxTokens: tokens, MinTokens: tokens, User: digits(req.Prompt)})
		require.NoError(b, err)
		wg.Go(func() {
			// Between ours, so that none of the two meets the other at each token.
			<-time.After(time.Second / 2 * time.Duration(2*i+1) / time.Duration(2*streams))
			at, err := readLines(b.Context(), c, body, start)
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[digits(req.Prompt)] = at
		})
	}
	wg.Wait()
	return seen
}

// readLines notes when each line came that has content.
func readLines(ctx context.Context, c *bare, body []byte, start time.Time) (at []time.Duration, err error) {
	in, err := c.post(ctx, body)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadSlice('\n')
		now := time.Since(start)
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return at, err
		}
		if bytes.Contains(line, []byte(`"content":"`)) && !bytes.Contains(line, []byte(`"content":""`)) {
			at = append(at, now)
		}
	}
}

// BenchmarkOpenRate is how exactly an open loop of 1,000 arrivals a second keeps
// its rate: off-% is the difference to what was asked.
func BenchmarkOpenRate(b *testing.B) {
	url, stop, err := (&fake.Server{TTFT: 5 * time.Millisecond}).Start()
	require.NoError(b, err)
	b.Cleanup(stop)
	var off, lag []float64
	for b.Loop() {
		leg := length(b, 10*time.Second)
		rep, err := load.Run(b.Context(), load.Load{
			Client: client.Config{Host: url, Model: "m"}, Source: words(b, 64, 8, nil), Schedule: arrival.Constant(1000),
			Phases: arrival.Phases{Warmup: arrival.Limit{For: leg / 10}, Measured: arrival.Limit{For: leg}}, Metric: metric.Config{Limits: easy},
		})
		require.NoError(b, err)
		achieved, _ := rep.Result.Rates.Achieved.Get()
		p99, _ := rep.Result.Dists[metric.Lag].At(0.99).Value.Get()
		off, lag = append(off, 100*abs(achieved-1000)/1000), append(lag, p99)
	}
	b.ReportMetric(slices.Max(off), "off-%")
	b.ReportMetric(median(lag), "lag-p99-ns")
	b.ReportMetric(0, "ns/op")
}

func abs(x float64) float64 { return max(x, -x) }

// BenchmarkMemory is what a long replay keeps: x-half is the live heap when all of
// 50,000 trajectories were played over that when half of them were. A metric keeps
// up to 2 MiB of values by default, and the timeline 4 MiB of bins in a minute,
// which would be most of it; so few values are kept here.
func BenchmarkMemory(b *testing.B) {
	url, stop, err := (&fake.Server{}).Start()
	require.NoError(b, err)
	b.Cleanup(stop)
	n := 50_000
	if testing.Short() {
		n = 500
	}
	var ratios []float64
	for b.Loop() {
		half, end := heaps(b, url, n)
		ratios = append(ratios, end/half)
		b.ReportMetric(half, "half-heap-B")
		b.ReportMetric(end, "end-heap-B")
	}
	b.ReportMetric(median(ratios), "x-half")
	b.ReportMetric(0, "ns/op")
}

// heaps are the live heaps after half and all of n trajectories of four turns,
// less what was there before: the plans, which are the caller's.
func heaps(b *testing.B, url string, n int) (half, end float64) {
	plans, err := agent.Synthesize(1, n, agent.Shape{Input: agent.Fixed(64), Turns: agent.Fixed(4), Output: agent.Fixed(8), Environment: agent.Fixed(16)})
	require.NoError(b, err)
	before := liveHeap()
	var seen int
	_, err = load.RunAgents(b.Context(), load.Agents{
		Client: client.Config{Host: url, Model: "m"}, Plans: plans, Metric: metric.Config{Limits: easy, Exact: 1024},
		Config: agent.Config{Text: token.Words{}, Seed: 1, MaxActive: 32, Sink: counting{nil, func() {
			switch seen++; seen {
			case n * 2:
				half = liveHeap() - before
			case n * 4:
				end = liveHeap() - before
			}
		}}},
	})
	require.NoError(b, err)
	runtime.KeepAlive(plans)
	return half, end
}

type counting struct {
	*events
	each func()
}

func (c counting) Request(*record.Request) error { c.each(); return nil }
func (c counting) Trajectory(*agent.Event) error { return nil }

// liveHeap is what is reachable, in bytes.
func liveHeap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
