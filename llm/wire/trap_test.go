package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// TestTrap04FailedCallsKeepTheirTokens: what was billed is counted, whatever
// became of the answer above the transport.
func TestTrap04FailedCallsKeepTheirTokens(t *testing.T) {
	wire.SetDrainTime(t, time.Minute) // every body ends, however busy the machine is
	usage := event("", `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
	rows := []struct {
		name, reason string
		h            http.HandlerFunc
		ask          func(ctx context.Context, client *http.Client) error
		kind         llm.ErrorKind // of the logged call
	}{
		{"an answer that the SDK cannot read", "go-openai drops all of it for usage that is written 7.0",
			llmtest.Status(200, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7.0,"completion_tokens":3.0}}`),
			func(ctx context.Context, client *http.Client) error {
				_, err := openAI(client).CreateChatCompletion(ctx, chat("q"))
				return err
			}, ""},
		{"an error that bills", "some gateways send usage with it",
			llmtest.Status(500, `{"error":{"message":"failed after generating"},"usage":{"prompt_tokens":7,"completion_tokens":3}}`), askOnce, llm.KindServer},
		{"an error in a 200", "it was billed all the same", llmtest.Status(200, `{"error":{"message":"upstream"},"usage":{"prompt_tokens":7,"completion_tokens":3}}`), askOnce, llm.KindServer},
		{"a stream that breaks after its usage", "it was billed all the same", llmtest.Reset(llmtest.Text("a"), usage), askOnce, llm.KindIncomplete},
		{"a stream that ends in an error", "it was billed all the same", llmtest.Stream(llmtest.Text("a"), usage, event("", `{"error":{"message":"x","code":503}}`)), askOnce, llm.KindServer},
		{"an answer that nobody reads", "it was billed all the same", llmtest.Status(200, `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`), closeUnread, ""},
		{"a stream that nobody reads", "it was billed all the same", llmtest.Stream(llmtest.Text("a"), llmtest.Finish("stop"), usage, llmtest.Done), closeUnread, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var log llm.CallLog
			err := r.ask(llm.WithCallLog(t.Context(), &log), &http.Client{Transport: memory(r.h)})
			t.Log("the SDK says: ", err)
			require.Len(t, log.Calls(), 1)
			got := log.Calls()[0]
			assert.Equal(t, llm.Usage{Input: 7, Output: 3, Known: true}, got.Response.Usage, r.reason)
			assert.Equal(t, r.kind, llm.KindOf(got.Err), "%v", got.Err)
			var e *llm.Error
			if r.kind != "" {
				require.ErrorAs(t, got.Err, &e)
				assert.Equal(t, got.Response.Usage, e.Usage, "on the error as well")
			}
		})
	}
}

func askOnce(ctx context.Context, client *http.Client) error {
	_, _, err := call(ctx, client.Transport, chatURL, `{}`)
	return err
}

func closeUnread(ctx context.Context, client *http.Client) error {
	req, err := http.NewRequestWithContext(ctx, "POST", chatURL, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// TestTrap05UnknownUsageIsNotZero: a call whose usage nobody told is logged and
// counted as unknown, so that totals are "at least".
func TestTrap05UnknownUsageIsNotZero(t *testing.T) {
	rows := []struct {
		name, reason string
		h            http.HandlerFunc
		stream       bool
	}{
		{"timed out", "billed for all we know", llmtest.Hang, false},
		{"503", "no answer, no usage", llmtest.Status(503, `{"error":{"message":"busy"}}`), false},
		{"reset", "billed for all we know", llmtest.Reset(), false},
		{"no usage", "not reported is not zero", llmtest.Status(200, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`), false},
		{"usage null", "not reported is not zero", llmtest.Status(200, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":null}`), false},
		{"a stream without usage", "nobody asked for it", llmtest.Stream(llmtest.Text("a"), llmtest.Finish("stop"), llmtest.Done), true},
		{"a cut stream", "not estimated in silence", llmtest.Stream(llmtest.Text("a")), true},
		{"unreadable", "a text is no count", llmtest.Status(200, `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":"7","completion_tokens":3}}`), false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log llm.CallLog
				ctx, cancel := context.WithTimeout(llm.WithCallLog(t.Context(), &log), time.Minute)
				defer cancel()
				_ = askOnce(ctx, &http.Client{Transport: memory(r.h)}) // some fail, which is not the point
				require.Len(t, log.Calls(), 1)
				assert.Equal(t, llm.Usage{}, log.Calls()[0].Response.Usage)
				var total llm.UsageTotal
				total.Count(llm.Usage{Input: 7, Output: 3, Known: true})
				total.Count(log.Calls()[0].Response.Usage)
				assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 7, Output: 3, Known: true}, Calls: 2, Unknown: 1}, total)
			})
		})
	}
}

// TestTrap05ThoughtsAreOutput: thinking tokens are billed as output, wherever a
// provider counts them.
func TestTrap05ThoughtsAreOutput(t *testing.T) {
	for name, raw := range map[string]string{
		"Gemini, beside the candidates": `{"promptTokenCount":10,"candidatesTokenCount":50,"thoughtsTokenCount":100,"totalTokenCount":160}`,
		"OpenAI, inside the completion": `{"prompt_tokens":10,"completion_tokens":150,"completion_tokens_details":{"reasoning_tokens":100}}`,
		"xAI, beside the completion":    `{"prompt_tokens":10,"completion_tokens":50,"total_tokens":160,"completion_tokens_details":{"reasoning_tokens":100}}`,
		"responses, inside the output":  `{"input_tokens":10,"output_tokens":150,"output_tokens_details":{"reasoning_tokens":100}}`,
	} {
		u, warns := wire.ReadUsage(json.RawMessage(raw))
		assert.Equal(t, llm.Usage{Input: 10, Output: 150, Reasoning: 100, Known: true}, u, name)
		assert.Empty(t, warns)
	}
}

// TestTrap14ErrorsInside200: an error object is an error whatever the status,
// and an answer that was billed but is empty, blocked or cut is none.
func TestTrap14ErrorsInside200(t *testing.T) {
	usage := `"usage":{"prompt_tokens":7,"completion_tokens":3}`
	gemini := `"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3}`
	rows := []struct {
		name, url, body string
		finish          llm.FinishReason
		kind            llm.ErrorKind
	}{
		{"error", chatURL, `{"error":{"message":"upstream failed","code":502},` + usage + `}`, "", llm.KindServer},
		{"quota", chatURL, `{"error":{"message":"quota exceeded"},` + usage + `}`, "", llm.KindRateLimit},
		{"no money", chatURL, `{"error":{"code":"insufficient_quota","message":"x"},` + usage + `}`, "", llm.KindBalance},
		{"a bare text", chatURL, `{"error":"STREAM_EXPLODED",` + usage + `}`, "", llm.KindBadResponse},
		{"Gemini's error", apis[4].url, `[{"error":{"code":503,"status":"UNAVAILABLE","message":"overloaded"},` + gemini + `}]`, "", llm.KindServer},
		{"length", chatURL, `{"choices":[{"message":{"content":""},"finish_reason":"length"}],` + usage + `}`, llm.FinishLength, ""},
		{"filter", chatURL, `{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}],` + usage + `}`, llm.FinishContentFilter, ""},
		{"Gemini length", "http://fake/v1beta/models/m:generateContent", `{"candidates":[{"finishReason":"MAX_TOKENS"}],` + gemini + `}`, llm.FinishLength, ""},
		{"Gemini blocked", "http://fake/v1beta/models/m:generateContent", `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},` + gemini + `}`, llm.FinishContentFilter, ""},
		{"Anthropic refusal", "http://fake/v1/messages", `{"type":"message","stop_reason":"refusal","usage":{"input_tokens":7,"output_tokens":3}}`, llm.FinishRefusal, ""},
		{"responses failed", "http://fake/v1/responses", `{"object":"response","status":"failed","error":{"code":"server_error","message":"x"},"usage":{"input_tokens":7,"output_tokens":3}}`, "", llm.KindServer},
		{"responses incomplete", "http://fake/v1/responses", `{"object":"response","status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":7,"output_tokens":3}}`, llm.FinishLength, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var log llm.CallLog
			_, _, err := call(llm.WithCallLog(t.Context(), &log), memory(llmtest.Status(200, r.body)), r.url, `{}`)
			require.NoError(t, err)
			require.Len(t, log.Calls(), 1)
			got := log.Calls()[0]
			assert.Equal(t, r.kind, llm.KindOf(got.Err), "%v", got.Err)
			assert.Equal(t, r.finish, got.Response.Finish)
			assert.Equal(t, llm.Usage{Input: 7, Output: 3, Known: true}, got.Response.Usage, "billed all the same")
		})
	}
}

func TestIsModelCall(t *testing.T) {
	rows := []struct {
		path string
		want bool
	}{
		{"/v1/chat/completions", true}, {"/v1/completions", true}, {"/v1/responses", true}, {"/v1/responses/", true}, {"/v1/embeddings", true},
		{"/openai/deployments/d/chat/completions", true}, {"/openai/v1/responses", true}, {"/api/v1/chat/completions", true},
		{"/v1/messages", true}, {"/anthropic/v1/messages", true}, {"/v1/messages/count_tokens", false}, {"/v1/messages/batches", false},
		{"/v1beta/models/gemini-2.5-flash:generateContent", true}, {"/v1beta/models/m:streamGenerateContent", true},
		{"/v1beta1/projects/p/locations/l/publishers/google/models/m:generateContent", true},
		{"/v1/projects/p/locations/l/publishers/anthropic/models/claude@20250514:rawPredict", true},
		{"/v1/projects/p/locations/l/publishers/anthropic/models/claude:streamRawPredict", true},
		{"/v1/projects/p/locations/l/publishers/google/models/embed:predict", true},
		{"/v1/projects/p/locations/l/endpoints/7:predict", false},
		{"/v1/projects/p/locations/l/endpoints/openapi/chat/completions", true},
		{"/v1beta/models/m:countTokens", false}, {"/v1beta/models/m:batchGenerateContent", false}, {"/v1beta/models/generateContent", false},
		{"/model/anthropic.claude-v2:1/invoke", true}, {"/model/m/invoke-with-response-stream", true}, {"/model/m/converse", true}, {"/model/m/converse-stream", true},
		{"/functions/f/invoke", false}, {"/v2/chat", true}, {"/api/chat", true}, {"/api/generate", true},
		{"/v1/models", false}, {"/v1/files", false}, {"/v1/batches", false}, {"/search", false}, {"/", false}, {"", false},
	}
	for _, r := range rows {
		assert.Equal(t, r.want, wire.IsModelCall("POST", r.path), r.path)
		assert.False(t, wire.IsModelCall("GET", r.path), r.path)
	}
}

// TestOtherContentTypes: a model's answer in a form that is not read along is
// passed on, and that its usage is unknown is said.
func TestOtherContentTypes(t *testing.T) {
	rows := []struct {
		name, contentType, body string
		known                   bool
		warn                    string
	}{
		{"JSON as text", "text/plain", goodAnswer, true, ""},
		{"JSON as nothing", "", goodAnswer, true, ""},
		{"events as text", "text/plain", llmtest.Text("a") + llmtest.Finish("stop") + event("", `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`) + llmtest.Done, true, ""},
		{"Bedrock's events", "application/vnd.amazon.eventstream", "\x00\x01", false, `the content type "application/vnd.amazon.eventstream" is not read along`},
		{"JSON and more", "application/json", "\n\n" + goodAnswer + "\ntrailing", true, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var log llm.CallLog
			_, text, err := call(llm.WithCallLog(t.Context(), &log), memory(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{r.contentType}
				fmt.Fprint(w, r.body)
			}), chatURL, `{}`)
			require.NoError(t, err)
			assert.Equal(t, r.body, text)
			require.NoError(t, log.Calls()[0].Err)
			got := log.Calls()[0].Response
			assert.Equal(t, r.known, got.Usage.Known)
			if r.warn == "" {
				assert.Empty(t, got.Warnings)
			} else {
				assert.Contains(t, strings.Join(got.Warnings, "; "), r.warn)
			}
		})
	}
}
