package gemini_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
)

// BenchmarkGenerate is what the client and the SDK below it cost a call, of one
// short text in and out.
func BenchmarkGenerate(b *testing.B) {
	answer := func(contentType, s string) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			r.Body.Close()
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {contentType}}, Request: r, Body: io.NopCloser(strings.NewReader(s))}, nil
		})
	}
	for name, base := range map[string]http.RoundTripper{
		"whole": answer("application/json", ok), "stream": answer("text/event-stream", strings.Repeat(text("word "), 100)+end("STOP")),
	} {
		b.Run(name, func(b *testing.B) {
			m := gemini.Config{Model: "gemini-2.5-flash", BaseURL: "http://127.0.0.1", HTTPClient: &http.Client{Transport: base}}.New()
			req := llm.Prompt("What is 6 times 3?")
			req.Stream = name == "stream"
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Generate(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
