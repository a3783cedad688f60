package llmtest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/goevals/evals/llm/llmtest"
)

// fuzzBody: whatever is sent to a path, the answer is a 200 or a 400 and JSON
// (a stream has JSON in each event), and nothing panics.
func fuzzBody(t *testing.T, path, body string) {
	s := &llmtest.Server{
		Cache: &llmtest.PrefixCache{Min: 1, Block: 1}, Limits: llmtest.Limits{RPM: 10, TPM: 1 << 40}, CapOutput: true,
		Reply: func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Reasoning: c.Model, Text: c.Last()} },
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	if w.Code != 200 && w.Code != 400 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("the answer is no JSON: %s", w.Body)
		}
		return
	}
	for line := range strings.Lines(w.Body.String()) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if ok && data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Fatalf("an event is no JSON: %s", line)
		}
	}
}

func FuzzOpenAI(f *testing.F) {
	for _, s := range []string{
		openAIBody, `{"stream":true,"stream_options":{"include_usage":true},` + openAIBody[1:], ``, `null`, `[]`, `{"messages":null}`,
		`{"messages":[{"role":"user"}]}`, `{"messages":[{"content":[{"text":"a"},1]}]}`, `{"messages":[{"content":7}],"max_tokens":-1}`,
		`{"messages":[{"tool_calls":[]}]}`, `{"model":"\u0000","messages":[{"content":"\ud800 \n\r data: x"}],"stream":true}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) { fuzzBody(t, "/v1/chat/completions", body) })
}

func FuzzGemini(f *testing.F) {
	for _, s := range []string{
		geminiBody, ``, `null`, `{"contents":null}`, `{"contents":[{}]}`, `{"contents":[{"parts":[{}]}]}`, `{"contents":[{"parts":[null]}]}`,
		`{"contents":[{"role":"model","parts":[{"functionResponse":{"response":null}}]}],"systemInstruction":{"parts":null}}`,
		`{"contents":[{"parts":[{"text":"a b"}]}],"generationConfig":{"maxOutputTokens":1}}`, `{"contents":[{"parts":[{"text":7}]}]}`,
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, body string, stream bool) {
		path := "/v1beta/models/m:generateContent"
		if stream {
			path = "/v1beta/models/m:streamGenerateContent?alt=sse"
		}
		fuzzBody(t, path, body)
	})
}

// FuzzPath: whatever path is asked, somebody answers.
func FuzzPath(f *testing.F) {
	for _, s := range []string{
		"/", "/v1/chat/completions", "/v1beta/models/:generateContent", "/models/a:b:c", "/v1beta1/publishers/x/models/y:countTokens",
		"/openai/deployments/", "/openai/deployments//chat/completions", "/v1/models/", "//models//:generateContent",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(geminiBody))
		r.URL.Path = path
		w := httptest.NewRecorder()
		new(llmtest.Server).ServeHTTP(w, r)
		if w.Code == 0 || w.Body.Len() == 0 {
			t.Fatalf("path %q: status %d, %d bytes", path, w.Code, w.Body.Len())
		}
	})
}
