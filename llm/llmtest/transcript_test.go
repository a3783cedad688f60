package llmtest_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

var (
	thoughtful = llmtest.Reply{Reasoning: "Hm.", Text: "It is", Tokens: &llm.Usage{Input: 9, CachedInput: 4, Output: 3, Reasoning: 1}}
	tools      = llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"é":1}`}, {ID: "c2", Name: "g", Arguments: ""}}}
)

const (
	usageOfAll     = `{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`
	usageOfNothing = `{"prompt_tokens":1,"completion_tokens":0,"total_tokens":1,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`
	geminiUsage    = `,"cachedContentTokenCount":4,"promptTokensDetails":[{"modality":"TEXT","tokenCount":9}],"cacheTokensDetails":[{"modality":"TEXT","tokenCount":4}]},"modelVersion":"m","responseId":"resp-ID"}`
)

func chunk(choices, usage string) string {
	return `data: {"id":"chatcmpl-ID","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[` + choices + `],"usage":` + usage + "}\n\n"
}

func delta(delta, finish string) string {
	return chunk(`{"index":0,"delta":`+delta+`,"logprobs":null,"finish_reason":`+finish+`}`, "null")
}

var transcripts = []struct {
	name   string
	api    llmtest.API
	stream bool
	reply  llmtest.Reply
	want   string
	media  string
}{
	{"an answer", llmtest.OpenAI, false, thoughtful,
		`{"id":"chatcmpl-ID","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"It is","reasoning_content":"Hm.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":` + usageOfAll + "}\n",
		"application/json"},
	{"a stream", llmtest.OpenAI, true, thoughtful,
		delta(`{"role":"assistant","content":"","refusal":null}`, "null") +
			delta(`{"reasoning_content":"Hm."}`, "null") + delta(`{"content":"It "}`, "null") + delta(`{"content":"is"}`, "null") +
			delta(`{}`, `"stop"`) + chunk("", usageOfAll) + "data: [DONE]\n\n",
		"text/event-stream; charset=utf-8"},
	{"tool calls", llmtest.OpenAI, false, tools,
		`{"id":"chatcmpl-ID","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"é\":1}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":""}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":` + usageOfNothing + "}\n",
		"application/json"},
	{"a stream of tool calls", llmtest.OpenAI, true, tools,
		delta(`{"role":"assistant","content":null,"refusal":null}`, "null") +
			delta(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}`, "null") +
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"é\""}}]}`, "null") +
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`, "null") +
			delta(`{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"g","arguments":""}}]}`, "null") +
			delta(`{}`, `"tool_calls"`) + chunk("", usageOfNothing) + "data: [DONE]\n\n",
		"text/event-stream; charset=utf-8"},
	{"an answer", llmtest.Gemini, false, thoughtful,
		`{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"text":"It is"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":12,"thoughtsTokenCount":1` + geminiUsage + "\n",
		"application/json; charset=UTF-8"},
	{"a stream", llmtest.Gemini, true, thoughtful,
		`data: {"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":10,"thoughtsTokenCount":1` + geminiUsage + "\r\n\r\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"It "}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1,"totalTokenCount":11,"thoughtsTokenCount":1` + geminiUsage + "\r\n\r\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"is"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":12,"thoughtsTokenCount":1` + geminiUsage + "\r\n\r\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":12,"thoughtsTokenCount":1` + geminiUsage + "\r\n\r\n",
		"text/event-stream"},
}

// TestTranscripts: what goes over the wire, to the byte. The forms are those of
// the providers' documentation: null where nothing is said, usage in details,
// tool calls in fragments, Gemini's usage so far in each event.
func TestTranscripts(t *testing.T) {
	for _, r := range transcripts {
		t.Run(string(r.api)+"/"+r.name, func(t *testing.T) {
			s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return r.reply }}
			resp, err := ask(t.Context(), s.Client(), r.api, r.stream, "q")
			require.NoError(t, err)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			got := regexp.MustCompile(`(chatcmpl|resp)-[0-9a-f]{16}-1"`).ReplaceAllString(string(b), `$1-ID"`)
			assert.Equal(t, strings.Split(r.want, "\n"), strings.Split(got, "\n"))
			assert.Equal(t, r.media, resp.Header.Get("Content-Type"))
		})
	}
}
