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

// BenchmarkReplay opens a cassette of 3,000 streamed interactions and replays
// them all, once an iteration, without an SDK on top.
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
	b.ReportAllocs()
	for b.Loop() {
		pass(cassette.Replay)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/call")
}
