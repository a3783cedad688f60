package cassette_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
)

// BenchmarkReplay compares three things, once an iteration each, all over one
// cassette of 3,000 streamed interactions (0.9 KB asked, 10 KB in 64 events
// answered):
//
//   - replay: open the file, replay every call, close;
//   - open: open the file and close it, which is the part of replay that reads
//     and indexes it;
//   - off: make the same calls through the same cassette with mode off, which a
//     server in this process answers over memory.
//
// The calls are made with net/http from 16 goroutines, without an SDK on top,
// so that neither replay nor off holds what an SDK takes to encode and decode.
//
// Measured on two cores of a shared AMD EPYC, the three interleaved, as medians
// of five: replay 480 µs a call, of which open 200 µs, against 900 µs with off;
// 43 KB allocated a call, against 61 KB. The machine was busy: only the ratios
// mean anything. Replay takes about half of what the in-memory server does.
func BenchmarkReplay(b *testing.B) {
	const n = 3000
	path := filepath.Join(b.TempDir(), "c.jsonl.gz")
	pad := strings.Repeat("A shop sells apples. ", 40)
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: strings.Repeat("so it is ", 20) + "18"}
	}}
	pass := func(mode cassette.Mode) {
		c, err := cassette.Open(path, cassette.Options{Mode: mode})
		if err != nil {
			b.Fatal(err)
		}
		client := &http.Client{Transport: c.Transport(s.Memory())}
		var wg sync.WaitGroup
		for w := range 16 {
			wg.Go(func() {
				for i := w; i < n; i += 16 {
					body := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":"%s%d"}]}`, pad, i)
					resp, err := client.Post("http://h/v1/chat/completions", "application/json", strings.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
	pass(cassette.Record)
	open := func() {
		c, err := cassette.Open(path, cassette.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
	for _, r := range []struct {
		name string
		once func()
	}{{"replay", func() { pass(cassette.Replay) }}, {"open", open}, {"off", func() { pass(cassette.Off) }}} {
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.once()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/call")
		})
	}
}
