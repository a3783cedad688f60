package llmtest_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/goevals/evals/llm/llmtest"
)

// BenchmarkServer is what a call of the fake costs, the caller's side included,
// over each front: calls a second by parallel callers.
func BenchmarkServer(b *testing.B) {
	text := llmtest.Words(50)
	for _, api := range []struct {
		name, path, body string
	}{
		{"openai", "/v1/chat/completions", openAIBody},
		{"openai-stream", "/v1/chat/completions", `{"stream":true,"stream_options":{"include_usage":true},` + openAIBody[1:]},
		{"gemini", "/v1beta/models/m:generateContent", geminiBody},
		{"gemini-stream", "/v1beta/models/m:streamGenerateContent?alt=sse", geminiBody},
	} {
		for _, front := range []string{"memory", "loopback"} {
			b.Run(api.name+"/"+front, func(b *testing.B) {
				s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: text} }}
				client, root := s.Client(), "http://fake"
				if front == "loopback" {
					client, root = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}, s.StartRoot(b)
					defer client.CloseIdleConnections()
				}
				b.ReportAllocs()
				b.SetParallelism(32)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						resp, err := client.Post(root+api.path, "application/json", bytes.NewReader([]byte(api.body)))
						if err != nil {
							b.Error(err)
							return
						}
						_, _ = io.Copy(io.Discard, resp.Body) // counted below
						resp.Body.Close()
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
				if n := s.Counts().Answered; n < b.N {
					b.Errorf("%d of %d answered", n, b.N)
				}
			})
		}
	}
}
