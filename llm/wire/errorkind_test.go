package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

func TestErrorKind(t *testing.T) {
	quota := func(ids string) string {
		return `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[` + ids + `]}]}}`
	}
	const perDay, perMinute = `{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}`, `{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}`
	rows := []struct {
		name, reason string
		status       int
		body         string
		want         llm.ErrorKind
	}{
		{"L01", "a 429 that no waiting heals", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.KindBalance},
		{"rate limit", "one that a run waits for", 429, `{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`, llm.KindRateLimit},
		{"rate limit without a body", "the status is enough", 429, ``, llm.KindRateLimit},
		{"rate limit in HTML", "the status is enough", 429, `<html>slow down</html>`, llm.KindRateLimit},
		{"L08 day", "resets at midnight only", 429, quota(perDay), llm.KindQuota},
		{"L08 minute", "a run can wait for it", 429, quota(perMinute), llm.KindRateLimit},
		{"L08 both", "the minute's may be what refused", 429, quota(perDay + "," + perMinute), llm.KindRateLimit},
		{"L08 quota_limit", "as Vertex AI words it", 429, `{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_limit":"GenerateContentRequestsPerDay"}}]}}`, llm.KindQuota},
		{"OpenRouter's day", "no code, by its words", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits","code":429}}`, llm.KindQuota},
		{"DeepSeek", "its status says it", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, llm.KindBalance},
		{"Anthropic", "a 400 with words", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}}`, llm.KindBalance},
		{"Anthropic overloaded", "a status that net/http has no name for", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.KindServer},
		{"Anthropic key", "every further call would fail alike", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, llm.KindAuth},
		{"Google key", "a 400 for a wrong key", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, llm.KindAuth},
		{"array", "of Google's compatible endpoint", 404, `[{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}]`, llm.KindNotFound},
		{"C12", "never tried again", 400, `{"error":{"code":"content_filter","message":"filtered","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, llm.KindBlocked},
		{"C16", "a setting that can be left out", 400, `{"error":{"code":"unsupported_parameter","param":"max_tokens","message":"use max_completion_tokens"}}`, llm.KindBadRequest},
		{"context", "no code, by its words", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens","type":"invalid_request_error","code":null}}`, llm.KindContext},
		{"502 HTML", "C08", 502, `<html>bad gateway</html>`, llm.KindServer},
		{"T8", "a number in a text is no status", 400, `{"error":{"message":"4290 tokens is over the quota of the field"}}`, llm.KindBadRequest},
		{"T8 status first", "a 500 that speaks of quotas is the server's", 500, `{"error":{"message":"rate limit store unavailable: quota exceeded"}}`, llm.KindServer},
		{"T14 inside a 200", "by its own status", 200, `{"error":{"message":"upstream","code":429}}`, llm.KindRateLimit},
		{"C01 inside a 200", "by its words, where it has nothing else", 200, `{"error":{"message":"quota exceeded"}}`, llm.KindRateLimit},
		{"C01 a text", "nothing says that another try heals it", 200, `{"error":"STREAM_EXPLODED"}`, llm.KindBadResponse},
		{"413", "a rate limit by its code, which it will always meet", 413, `{"error":{"message":"Request too large on tokens per minute (TPM)","type":"tokens","code":"rate_limit_exceeded"}}`, llm.KindContext},
		{"no such model", "a 400 with words", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`, llm.KindNotFound},
		{"T8 a day", "what an argument allows a day is no limit of the account", 400, `{"error":{"message":"429 is over the quota of the field per day"}}`, llm.KindBadRequest},
		{"L08 both, and words of a day", "the minute's refused first", 429, strings.Replace(quota(perDay+","+perMinute), "details.", "details: 50 requests per day", 1), llm.KindRateLimit},
		{"Google's billing", "a 403 that no other key heals", 403, `{"error":{"code":403,"message":"This API method requires billing to be enabled.","status":"PERMISSION_DENIED"}}`, llm.KindBalance},
		{"Google's billing, by country", "a 400 that every call would meet", 400, `{"error":{"code":400,"message":"Gemini API free tier is not available in your country. Please enable billing on your project.","status":"FAILED_PRECONDITION"}}`, llm.KindBalance},
		{"billing in a rate limit", "it says how to raise the limit, which a run can wait for", 429, `{"error":{"code":429,"message":"Rate limit reached. Enable billing to raise it.","status":"RESOURCE_EXHAUSTED"}}`, llm.KindRateLimit},
		{"Google's places", "a 400 that every call would meet", 400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, llm.KindAuth},
		{"Google's size", "a shorter prompt passes", 400, `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`, llm.KindContext},
		{"Google's token", "a new one is needed, whatever the status", 400, `{"error":{"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"ACCESS_TOKEN_EXPIRED"}]}}`, llm.KindAuth},
		{"499", "the server gave up, which passes", 499, ``, llm.KindServer},
		{"deadline inside a 200", "the server gave up, which passes", 200, `{"error":{"message":"Deadline expired before operation could complete."}}`, llm.KindServer},
		{"FastAPI", "a validator's refusal is the request's", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, llm.KindBadRequest},
		{"failed response", "of OpenAI's responses API", 200, `{"type":"response.failed","response":{"error":{"code":"server_error","message":"sorry"}}}`, llm.KindServer},
		{"wrapped", "a gateway's 500 around an empty account", 500, `{"error":{"message":"{\"error\":{\"code\":\"insufficient_quota\"}}"}}`, llm.KindBalance},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, wire.ErrorKind(r.status, []byte(r.body)), r.reason)
		})
	}
}

func TestReadError(t *testing.T) {
	rows := []struct{ name, body, message, code string }{
		{"OpenAI", `{"error":{"message":"m","type":"t","code":"c"}}`, "m", "c"},
		{"a text", `{"error":"m"}`, "m", ""},
		{"old vLLM", `{"object":"error","message":"m","code":40001}`, "m", "40001"},
		{"FastAPI", `{"detail":"m"}`, "m", ""},
		{"FastAPI's place", `{"detail":[{"loc":["body","tools",0],"msg":"m"}]}`, "body.tools.0: m", ""},
		{"Azure", `{"error":{"code":"429","message":"m"}}`, "m", ""},
		{"Bedrock", `{"Message":"m"}`, "m", ""},
		{"nothing", `{}`, "", ""},
		{"no JSON", `oops`, "", ""},
		{"deep", `[[[[[[[["m"]]]]]]]]`, "", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := wire.ReadError([]byte(r.body))
			assert.Equal(t, r.message, got.Message)
			assert.Equal(t, r.code, got.Code)
		})
	}
	assert.Equal(t, 429, wire.ReadError([]byte(`{"error":{"code":"429"}}`)).HTTP)
}

func FuzzReadError(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","code":429}}`, `[{"error":"x"}]`, `{"errors":[{"msg":"x"}]}`, `{"error":{"message":"{\"error\":{}}","details":[1,{"@type":"google.rpc.QuotaFailure","violations":[1]}]}}`} {
		f.Add(200, s)
		f.Add(429, s)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if wire.ErrorKind(status, []byte(body)) == "" {
			t.Error("no kind")
		}
		if n := len(wire.ReadError([]byte(body)).Message); n > 3*len(body) { // a bad byte becomes a character of three
			t.Errorf("a message of %d bytes out of %d", n, len(body))
		}
	})
}
