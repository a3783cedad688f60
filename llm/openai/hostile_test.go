package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// TestKeyIsNowhere has a server send the key back in each place of an answer,
// and looks for it, and for half of it, in everything that Generate returns.
func TestKeyIsNowhere(t *testing.T) {
	const key = "topsecret/0123456789-0123456789-0123456789"
	answer := func(with string) string {
		return `{"id":"` + with + `","model":"` + with + `","choices":[{"message":{"content":"my key is ` + with + `!","reasoning_content":"` + with + `","tool_calls":[{"id":"` + with +
			`","function":{"name":"` + with + `","arguments":"` + with + `"}}]},"finish_reason":"` + with + `"}],"usage":{"prompt_tokens":"` + with + `"}}`
	}
	rows := []struct {
		name string
		h    http.HandlerFunc
		ok   bool
	}{
		{"message", llmtest.Status(401, `{"error":{"message":"wrong `+key+`","code":"`+key+`","type":"`+key+`"}}`), false},
		{"message cut in the key", llmtest.Status(401, `{"error":{"message":"`+strings.Repeat("x", 580)+" "+key+`"}}`), false},
		{"page", llmtest.HTML(502, "<h1>"+key+"</h1>"), false},
		{"page cut in the key", llmtest.HTML(200, "<h1>"+strings.Repeat("x", 180)+" "+key+"</h1>"), false},
		{"page of tags cut in the key", llmtest.HTML(502, strings.Repeat("<p> ", 4092)+key), false},
		{"name cut in the key", llmtest.Status(200, strings.ReplaceAll(answer(key), `"id":"`, `"id":"`+strings.Repeat("x", 230))), true},
		{"filter cut in the key", llmtest.Status(400, `{"error":{"message":"no","content_filter_result":{"`+strings.Repeat("x", 230)+key+`":{"filtered":true}}}}`), false},
		{"filter of an answer cut in the key", llmtest.Status(200, `{"choices":[{"message":{"content":"my key is `+key+`!"},"finish_reason":"content_filter","content_filter_results":{"`+strings.Repeat("x", 230)+key+`":{"filtered":true}}}]}`), true},
		{"answer", llmtest.Status(200, answer(key)), true},
		{"no answer", llmtest.Status(200, `{"object":"`+key+`"}`), false},
		{"redirect", llmtest.Status(307, `{}`, "Location", "https://elsewhere/"+key+"?key="+key), false},
		{"error in a stream", llmtest.Stream(`data: {"error":"` + key + "\"}\n\n"), false},
		{"junk in a stream", llmtest.Stream("data: " + strings.Repeat("x", 180) + key + "\n\n"), false},
	}
	for _, place := range []string{"Authorization", "Api-Key"} {
		for _, r := range rows {
			t.Run(place+"/"+r.name, func(t *testing.T) {
				s := &llmtest.Server{Reply: raw(r.h)}
				cfg := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: s.Client(), KeyEnv: "MY_KEY"}
				if place == "Authorization" {
					t.Setenv("MY_KEY", key)
				} else {
					cfg.Header = http.Header{place: {key}}
				}
				var log llm.CallLog
				req := llm.Prompt("q")
				req.Stream = strings.Contains(r.name, "stream")
				resp, err := cfg.New().Generate(llm.WithCallLog(t.Context(), &log), req)
				assert.Equal(t, r.ok, err == nil, "%v", err)
				if r.ok {
					assert.Equal(t, "my key is [masked]!", resp.Text)
					assert.Contains(t, fmt.Sprint(resp.Warnings), "held the key")
				}
				shown := fmt.Sprintf("%+v %+v %v", resp, err, log.Calls())
				if i := strings.Index(shown, "topsecret"); i >= 0 {
					t.Errorf("the key stands in …%s…", shown[max(i-60, 0):min(i+80, len(shown))])
				}
			})
		}
	}
}

// TestShortKeyBlanksNothing: local servers are called with keys such as "x",
// which stand in any text.
func TestShortKeyBlanksNothing(t *testing.T) {
	t.Setenv("MY_KEY", "x")
	s := &llmtest.Server{Reply: raw(llmtest.Status(400, `{"error":{"message":"max_tokens exceeds the context"}}`))}
	_, err := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", KeyEnv: "MY_KEY", HTTPClient: s.Client()}.New().Generate(t.Context(), llm.Prompt("q"))
	require.ErrorContains(t, err, "max_tokens exceeds the context")
}

func TestPanicsShowNoKey(t *testing.T) {
	for name, c := range map[string]openai.Config{
		"Extra":             {Model: "m", Extra: map[string]json.RawMessage{"api_key": json.RawMessage("abcdefgh-12345678")}},
		"user":              {Model: "m", BaseURL: "ftp://me:abcdefgh-12345678@host"},
		"query":             {Model: "m", BaseURL: "ftp://host/?key=abcdefgh-12345678"},
		"query of a no-URL": {Model: "m", BaseURL: "http://%zz/?key=abcdefgh-12345678"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				v := fmt.Sprint(recover())
				assert.Contains(t, v, "openai: Config.")
				assert.NotContains(t, v, "abcdefgh")
			}()
			c.New()
		})
	}
	m, _ := fake(nil)
	req := llm.Prompt("q")
	req.Extra = map[string]json.RawMessage{"api_key": json.RawMessage("abcdefgh-12345678")}
	_, err := m.Generate(t.Context(), req)
	require.ErrorContains(t, err, "api_key")
	assert.NotContains(t, err.Error(), "abcdefgh")
}

// TestRedirects: keys go to no other host, and a POST stays one.
func TestRedirects(t *testing.T) {
	t.Setenv(openai.DefaultKeyEnv, "")
	var stolen []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Method+" "+r.Header.Get("Api-Key"))
	}))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	rows := []struct {
		name, reason string
		to           string
		status       int
		ok           bool
	}{
		{"another path", "the same request to the same host", "/new/chat/completions", 307, true},
		{"for ever", "the same request to the same host", "/new/chat/completions", 308, true},
		{"another host", "the key must not go there", elsewhere + "/v1/chat/completions", 307, false},
		{"POST to GET", "a GET asks for something else", "/new/chat/completions", 302, false},
		{"in circles", "it must end", "/v1/chat/completions", 307, false},
		{"to nowhere", "net/http takes it as the answer", "", 307, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			good := &llmtest.Server{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if strings.HasPrefix(req.URL.Path, "/new/") {
					req.URL.Path = "/v1/chat/completions"
					good.ServeHTTP(w, req)
					return
				}
				if r.to != "" {
					w.Header().Set("Location", r.to)
				}
				w.WriteHeader(r.status)
				_, _ = io.WriteString(w, "<a href>moved</a>")
			}))
			defer s.Close()
			m := openai.Config{Model: "m", BaseURL: s.URL + "/v1", Header: http.Header{"Api-Key": {"topsecret-0123456789"}}}.New()
			resp, err := m.Generate(t.Context(), llm.Prompt("q"))
			if r.ok {
				require.NoError(t, err, r.reason)
				assert.Equal(t, "ok", resp.Text)
			} else {
				require.ErrorContains(t, err, "redirect", r.reason)
				assert.False(t, llm.KindOf(err).Retryable())
			}
		})
	}
	assert.Empty(t, stolen)
}

// TestHostileAnswers: nothing that a server sends may panic, hang or fill the
// records.
func TestHostileAnswers(t *testing.T) {
	long, name := strings.Repeat("x", 8<<20), strings.Repeat("x", 1<<20)
	good := `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":%s}`
	rows := []struct {
		name, reason string
		h            http.HandlerFunc
		kind         llm.ErrorKind
		text         string
		known        bool
	}{
		{"8 MB line", "long, but an answer", llmtest.Stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + long + "\"}}]}\n\n" + llmtest.Finish("stop") + llmtest.Done), "", long, false},
		{"1 MB of names", "the names are cut", llmtest.Status(200, `{"id":"`+name+`","model":"m","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`), "", "a", false},
		{"1 MB of code", "the code is cut", llmtest.Status(400, `{"error":{"code":"`+name+`"}}`), llm.KindBadRequest, "", false},
		{"1 MB before an error", "what it means is found behind a long answer", llmtest.Status(200, `{"choices":[{"message":{"content":"`+name+`"}}],"error":{"code":429,"message":"slow"}}`), llm.KindRateLimit, name, false},
		{"invalid UTF-8", "it becomes U+FFFD, as in every JSON decoder of Go", llmtest.Status(200, "{\"choices\":[{\"message\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}"), "", "a\uFFFDb", false},
		{"invalid UTF-8 in an error", "what is shown must be text", llmtest.Status(500, "{\"error\":\"a\xffb\"}"), llm.KindServer, "", false},
		{"deep", "no stack overflow", llmtest.Status(200, strings.Repeat("[", 1<<20)), llm.KindBadResponse, "", false},
		{"usage twice", "the last one counts", llmtest.Status(200, fmt.Sprintf(good, `{"prompt_tokens":1,"completion_tokens":1,"prompt_tokens":2}`)), "", "a", true},
		{"usage negative", "unknown", llmtest.Status(200, fmt.Sprintf(good, `{"prompt_tokens":-1,"completion_tokens":1}`)), "", "a", false},
		{"usage 1e30", "unknown", llmtest.Status(200, fmt.Sprintf(good, `{"prompt_tokens":1e30,"completion_tokens":1}`)), "", "a", false},
		{"index far away", "no slice of that length", llmtest.Stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":2000000000,\"id\":\"a\",\"function\":{\"name\":\"f\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n" + llmtest.Done), "", "", false},
		{"choice far away", "only the first counts", llmtest.Stream("data: {\"choices\":[{\"index\":-7,\"delta\":{\"content\":\"z\"},\"finish_reason\":\"stop\"}]}\n\n" + llmtest.Done), llm.KindBadResponse, "", false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			m, _ := fake(raw(r.h))
			req := llm.Prompt("q")
			req.Stream = true
			resp, err := m.Generate(t.Context(), req)
			require.Equal(t, r.kind, llm.KindOf(err), "%s: %.300v", r.reason, err)
			assert.True(t, resp.Text == r.text, "%s: got %d bytes, want %d", r.reason, len(resp.Text), len(r.text))
			assert.Equal(t, r.known, resp.Usage.Known)
			resp.Text = ""
			assert.Less(t, len(fmt.Sprintf("%+v %v", resp, err)), 2500)
		})
	}
}
