package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// TestWrongBaseURL: an address that is not the API's is told by the URL that
// was called, and what most servers want is said where it may help.
func TestWrongBaseURL(t *testing.T) {
	const hint = "most servers want a base URL that ends in /v1"
	notFound := llmtest.Status(404, `{"detail":"Not Found"}`)
	rows := []struct {
		name, reason string
		base         string
		answer       http.HandlerFunc
		url          string // "" if the error names none
		hint         bool
	}{
		{"no path", "a server of one's own", "http://127.0.0.1:8091", notFound, "http://127.0.0.1:8091/chat/completions", true},
		{"slash", "the path is joined with one slash, and still not the API's", "http://127.0.0.1:8091/", notFound, "http://127.0.0.1:8091/", true},
		{"other path", "any path but a version's may be wrong", "http://127.0.0.1:8091/api", notFound, "http://127.0.0.1:8091/api/chat/completions", true},
		{"v1", "nothing to advise", "http://127.0.0.1:8091/v1", notFound, "http://127.0.0.1:8091/v1/chat/completions", false},
		{"v1beta", "Gemini's", "http://127.0.0.1/v1beta/openai", notFound, "http://127.0.0.1/v1beta/openai/chat/completions", false},
		{"no model", "the model is what was not found", "http://127.0.0.1:8091", llmtest.Status(404, `{"error":{"message":"no such model","code":"model_not_found"}}`), "", false},
		{"page", "a proxy's page", "http://127.0.0.1:8091", llmtest.HTML(404, "<h1>Not here</h1>"), "http://127.0.0.1:8091/chat/completions", true},
		{"405", "a page that takes no POST", "http://127.0.0.1:8091", llmtest.Status(405, `{"detail":"Method Not Allowed"}`), "http://127.0.0.1:8091/chat/completions", true},
		{"200 page", "a web interface answers everything", "http://127.0.0.1:8091", llmtest.HTML(200, "<h1>Chat with me</h1>"), "http://127.0.0.1:8091/chat/completions", true},
		{"keys", "none is shown", "http://me:topsecret-0123456789@127.0.0.1:8091/x?key=topsecret-9876543210", notFound, "http://127.0.0.1:8091/x", true},
		{"500", "the address is right", "http://127.0.0.1:8091", llmtest.Status(500, `{"error":"boom"}`), "", false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := &llmtest.Server{Reply: raw(r.answer)}
			c := openai.Config{Model: "m", BaseURL: r.base, HTTPClient: &http.Client{Transport: everyPath{s.Memory()}}}
			_, err := c.New().Generate(t.Context(), llm.Prompt("q"))
			require.Error(t, err)
			assert.Equal(t, r.url != "", strings.Contains(err.Error(), "POST "+r.url), "%v", err)
			assert.Equal(t, r.hint, strings.Contains(err.Error(), hint), "%s: %v", r.reason, err)
			assert.NotContains(t, err.Error(), "topsecret")
		})
	}
}

// everyPath has a server take every path for its own.
type everyPath struct{ base http.RoundTripper }

func (e everyPath) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Path, req.URL.RawQuery = "/v1/chat/completions", ""
	return e.base.RoundTrip(req)
}

// TestServersOwnWords: what a server says of a request that it does not take is
// shown in its own words, at least 300 characters of them.
func TestServersOwnWords(t *testing.T) {
	words := "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': " + strings.Repeat("Input should be text or json_object. ", 7) + "}]"
	require.Greater(t, len(words), 300)
	rows := []struct {
		name, reason string
		answer       http.HandlerFunc
		want         string
		kind         llm.ErrorKind
	}{
		{"error object", "llama-cpp-python answers 500 to a request that it cannot validate", llmtest.Status(500, `{"error":{"message":"`+words+`","type":"internal_server_error","param":null,"code":null}}`), words, llm.KindServer},
		{"text", "a body that is no JSON has words too", llmtest.Status(500, words), words[:300], llm.KindServer},
		{"page", "what a page says to people is shown without its tags", llmtest.HTML(500, "<p>"+words+"</p>"), words[:300], llm.KindServer},
		{"detail", "FastAPI says where", llmtest.Status(422, `{"detail":[{"type":"literal_error","loc":["body","response_format",0,"type"],"msg":"Input should be 'text'"},{"loc":["body"],"msg":"second"}]}`), "body.response_format.0.type: Input should be 'text'", llm.KindBadRequest},
		{"detail without a place", "an empty place is no prefix", llmtest.Status(422, `{"detail":[{"loc":[],"msg":"Input should be 'text'"}]}`), ": Input should be 'text'", llm.KindBadRequest},
		{"api_error", "a type that says less than the status does", llmtest.Status(401, `{"error":{"message":"who are you","type":"api_error"}}`), "who are you", llm.KindAuth},
		{"api_error in a 200", "where there is no status the type is all there is", llmtest.Status(200, `{"error":{"message":"m","type":"api_error"}}`), "m", llm.KindServer},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			m, _ := fake(raw(r.answer))
			_, err := m.Generate(t.Context(), llm.Prompt("q"))
			assert.ErrorContains(t, err, r.want, r.reason)
			assert.Equal(t, r.kind, llm.KindOf(err), r.reason)
			var e *llm.Error
			require.True(t, errors.As(err, &e))
			assert.Less(t, len(e.Message), 800)
		})
	}
}

// TestBillingHint: an account is topped up where the base URL points to.
func TestBillingHint(t *testing.T) {
	rows := []struct {
		name, reason   string
		base, provider string
		link           string // "" is none
	}{
		{"OpenAI", "whose account it is", "https://api.openai.com/v1", "", "platform.openai.com"},
		{"region of OpenAI's", "it is one account", "https://eu.api.openai.com/v1", "", "platform.openai.com"},
		{"other server", "Provider is openai by default, but the account is not OpenAI's", "https://llm.example.com/v1", "", ""},
		{"this machine", "a proxy's account is not OpenAI's", "http://127.0.0.1:4000/v1", "openai", ""},
		{"name that ends alike", "another host", "https://api.notopenai.com/v1", "", ""},
		{"name that begins alike", "another host", "https://api.openai.com.example.com/v1", "", ""},
		{"DeepSeek by its URL", "the link is known without Provider", "https://api.deepseek.com", "", "platform.deepseek.com/top_up"},
		{"OpenRouter", "the preset's", "https://openrouter.ai/api/v1", "openrouter", "openrouter.ai/settings/credits"},
		{"proxy for OpenRouter", "who is paid there is not known", "https://proxy.example.com/v1", "openrouter", ""},
		{"Azure", "the bill is Microsoft's", "https://r.openai.azure.com/openai/v1", "openai", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := &llmtest.Server{Reply: raw(llmtest.Status(402, `{"error":{"message":"Insufficient Balance"}}`))}
			c := openai.Config{Model: "m", BaseURL: r.base, Provider: r.provider, KeyOptional: true, HTTPClient: &http.Client{Transport: everyPath{s.Memory()}}}
			_, err := c.New().Generate(t.Context(), llm.Prompt("q"))
			var e *llm.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, llm.KindBalance, e.Kind)
			assert.Contains(t, e.Hint, "top up")
			if r.link == "" {
				assert.NotContains(t, e.Hint, "https://", r.reason)
			} else {
				assert.Contains(t, e.Hint, r.link, r.reason)
			}
		})
	}
}
