package gemini_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
)

// failed is an error body as Google's APIs write it.
func failed(status int, word, message string, details ...string) string {
	m, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	s := fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%q`, status, m, word)
	if len(details) > 0 {
		s += `,"details":[` + strings.Join(details, ",") + `]`
	}
	return s + "}}"
}

const (
	googleRPC = "type.googleapis.com/google.rpc."
	exhausted = "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."
)

func reason(r string) string {
	return fmt.Sprintf(`{"@type":"%sErrorInfo","reason":%q,"domain":"googleapis.com"}`, googleRPC, r)
}

func retryIn(delay string) string {
	return fmt.Sprintf(`{"@type":"%sRetryInfo","retryDelay":%q}`, googleRPC, delay)
}

func quota(ids ...string) string {
	var vs []string
	for _, id := range ids {
		id, value, _ := strings.Cut(id, "=")
		vs = append(vs, fmt.Sprintf(`{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":%q,"quotaDimensions":{"model":"gemini-2.5-flash"},"quotaValue":%q}`, id, value))
	}
	return fmt.Sprintf(`{"@type":"%sQuotaFailure","violations":[%s]}`, googleRPC, strings.Join(vs, ","))
}

const (
	perDay    = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
	perMinute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
)

// TestKinds is the table of what refusals mean.
func TestKinds(t *testing.T) {
	rows := []struct {
		name, reason string
		body         string
		status       int
		kind         llm.ErrorKind
		hint         string // "" if there is none
	}{
		{"wrong key", "a 400", failed(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", reason("API_KEY_INVALID")), 400, llm.KindAuth, "check the key in GOOGLE_API_KEY or GEMINI_API_KEY"},
		{"wrong key in words", "gateways drop the details", failed(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), 400, llm.KindAuth, "check the key"},
		{"expired key", "a 400 that every call would meet", failed(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", reason("API_KEY_INVALID")), 400, llm.KindAuth, "check the key"},
		{"leaked key", "a 403 that every call would meet", failed(403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key."), 403, llm.KindAuth, "check the key"},
		{"blocked key", "the key's own restrictions", failed(403, "PERMISSION_DENIED", "Requests to this API are blocked.", reason("API_KEY_SERVICE_BLOCKED")), 403, llm.KindAuth, "check the key"},
		{"401", "a token that has run out", failed(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", reason("ACCESS_TOKEN_EXPIRED")), 401, llm.KindAuth, "check the key"},
		{"403", "no words are needed", failed(403, "PERMISSION_DENIED", "no"), 403, llm.KindAuth, "check the key"},
		{"API not enabled", "the project is at fault, not the key", failed(403, "PERMISSION_DENIED", "API has not been used in project 1 before or it is disabled.", reason("SERVICE_DISABLED")), 403, llm.KindAuth, "enable the API"},
		{"billing disabled", "a 403 that no other key heals", failed(403, "PERMISSION_DENIED", "This API method requires billing to be enabled.", reason("BILLING_DISABLED")), 403, llm.KindBalance, "enable billing"},
		{"billing in words", "a 400 that every call would meet", failed(400, "FAILED_PRECONDITION", "Gemini API free tier is not available in your country. Please enable billing on your project."), 400, llm.KindBalance, "enable billing"},
		{"location", "every call will fail", failed(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), 400, llm.KindAuth, "not offered where this machine is"},
		{"precondition", "its words are none of an account's", failed(400, "FAILED_PRECONDITION", "The file is not ready."), 400, llm.KindBadRequest, ""},
		{"spending cap", "waiting raises no cap", failed(429, "RESOURCE_EXHAUSTED", "Your project has exceeded its monthly spending cap. Please go to AI Studio at https://ai.studio/spend"), 429, llm.KindBalance, "raise the spending cap"},
		{"billing disabled, as a quota", "waiting pays nothing", failed(429, "RESOURCE_EXHAUSTED", "m", reason("BILLING_DISABLED")), 429, llm.KindBalance, "enable billing"},
		{"402", "a gateway's", `{"error":"pay"}`, 402, llm.KindBalance, "enable billing"},
		{"404", "every further call would fail alike", failed(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent."), 404, llm.KindNotFound, `check Config.Model, "gemini-2.5-flash"`},
		{"bad request", "the request is at fault", failed(400, "INVALID_ARGUMENT", "Invalid value at 'generation_config'"), 400, llm.KindBadRequest, ""},
		{"T8", "a number in a text is no status", failed(400, "INVALID_ARGUMENT", "429 is over the quota of the field per day"), 400, llm.KindBadRequest, ""},
		{"too long", "a 400 that a shorter prompt heals", failed(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), 400, llm.KindContext, "shorten the prompt"},
		{"too long on Vertex AI", "other words for the same", failed(400, "INVALID_ARGUMENT", "Unable to submit request because the input token count is 40000 but the model only supports up to 32768."), 400, llm.KindContext, "shorten the prompt"},
		{"too many bytes", "a limit of bytes, not of tokens", failed(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."), 400, llm.KindContext, "shorten the prompt"},
		{"500", "the server's trouble passes", failed(500, "INTERNAL", "An internal error has occurred."), 500, llm.KindServer, ""},
		{"503", "never a rate limit", failed(503, "UNAVAILABLE", "The model is overloaded. Please try again later."), 503, llm.KindServer, ""},
		{"503 in a quota's words", "the status counts", failed(429, "RESOURCE_EXHAUSTED", exhausted, quota(perDay)), 503, llm.KindServer, ""},
		{"503 in a key's words", "the status counts", failed(400, "INVALID_ARGUMENT", "m", reason("API_KEY_INVALID")), 503, llm.KindServer, ""},
		{"504", "the server's trouble passes", failed(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."), 504, llm.KindServer, ""},
		{"499", "the server gave up", failed(499, "CANCELLED", "The operation was cancelled."), 499, llm.KindServer, ""},
		{"408", "the server's trouble passes", ``, 408, llm.KindServer, ""},
		{"429", "the words name no quota", failed(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), 429, llm.KindRateLimit, "call.Limits"},
		{"429 on Vertex AI", "shared capacity", failed(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later."), 429, llm.KindRateLimit, "call.Limits"},
		{"429 in billing's words", "they stand in every one", failed(429, "RESOURCE_EXHAUSTED", exhausted), 429, llm.KindRateLimit, "call.Limits"},
		{"L01 prepaid", "an empty account; no wait heals it", failed(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing."), 429, llm.KindBalance, "top up"},
		{"429 without a body", "the status is enough", ``, 429, llm.KindRateLimit, "call.Limits"},
		{"429 HTML", "the status is enough", `<html>slow down</html>`, 429, llm.KindRateLimit, "call.Limits"},
		{"429 that says 400", "the status is the wire's", failed(400, "INVALID_ARGUMENT", "m"), 429, llm.KindRateLimit, "call.Limits"},
		{"L08 day", "resets at midnight only", failed(429, "RESOURCE_EXHAUSTED", exhausted, quota(perDay+"=50"), retryIn("7s")), 429, llm.KindQuota, "generate_content_free_tier_requests (" + perDay + ", 50)"},
		{"L08 minute", "a run can wait", failed(429, "RESOURCE_EXHAUSTED", exhausted, quota(perMinute+"=5"), retryIn("7s")), 429, llm.KindRateLimit, perMinute},
		{"L08 both", "the minute's refused first; the day's is told when it is over", failed(429, "RESOURCE_EXHAUSTED", exhausted, quota(perMinute, perDay)), 429, llm.KindRateLimit, perDay},
		{"L08 quota_limit", "as Vertex AI words it", failed(429, "RESOURCE_EXHAUSTED", "Quota exceeded", fmt.Sprintf(`{"@type":"%sErrorInfo","reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_limit":"GenerateContentRequestsPerDay","quota_metric":"aiplatform.googleapis.com/x"}}`, googleRPC)), 429, llm.KindQuota, "aiplatform.googleapis.com/x (GenerateContentRequestsPerDay)"},
		{"L08 in words", "no quota is named, but a day is", failed(429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Generate requests' and limit 'Requests per day'"), 429, llm.KindQuota, "the server does not name it"},
		{"L08 none at all", "waiting heals nothing", failed(429, "RESOURCE_EXHAUSTED", exhausted, quota(perMinute+"=0", perDay+"=0")), 429, llm.KindQuota, "no quota for gemini-2.5-flash at all"},
		{"L08 none in words", "a limit of 0 is no limit of a minute", failed(429, "RESOURCE_EXHAUSTED", exhausted+"\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-2.5-pro"), 429, llm.KindQuota, "no quota"},
		{"L08 some in words", "0.5 and 05 are not 0", failed(429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric: x, limit: 0.5, limit: 05"), 429, llm.KindRateLimit, "call.Limits"},
		{"array", "of a stream", "[" + failed(429, "RESOURCE_EXHAUSTED", exhausted, quota(perDay)) + "]", 429, llm.KindQuota, perDay},
		{"wrapped", "a gateway puts the body into its message", `{"error":{"message":` + string(must(json.Marshal(failed(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")))) + `,"code":400,"status":"Bad Request"}}`, 400, llm.KindAuth, "check the key"},
		{"no code", "the SDK says status 0", `{"error":{"message":"m"}}`, 502, llm.KindServer, ""},
		{"text", "the status is all there is", `oops`, 400, llm.KindBadRequest, ""},
		{"redirect", "the request is not sent elsewhere", ``, 302, llm.KindBadResponse, ""},
	}
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(t, seen[r.name], "two rows are called %q", r.name)
		seen[r.name] = true
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", r.name, stream), func(t *testing.T) {
				s := serve(llmtest.Status(r.status, r.body))
				req := llm.Prompt("q")
				req.Stream = stream
				_, err := ask(t, s, s.config(), req)
				le := failing(t, err, r.kind)
				assert.Equal(t, r.status, le.Status, "the status is the wire's")
				if r.hint == "" {
					assert.Empty(t, le.Hint, r.reason)
				} else {
					assert.Contains(t, le.Hint, r.hint, r.reason)
				}
				assert.Equal(t, 1, s.Calls(), "one call, whatever comes")
			})
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestCaseL07(t *testing.T) {
	rows := []struct {
		name, reason string
		body         string
		header       []string
		want         *time.Duration
	}{
		{"38 s", "in the body only", failed(429, "RESOURCE_EXHAUSTED", "m", retryIn("38s")), nil, new(38 * time.Second)},
		{"0.5 s", "fractions of a second count", failed(429, "RESOURCE_EXHAUSTED", "m", retryIn("0.5s")), nil, new(500 * time.Millisecond)},
		{"the message's is longer", "RetryInfo is cut to whole seconds", failed(429, "RESOURCE_EXHAUSTED", "m\nPlease retry in 58.934310785s.", retryIn("58s")), nil, new(59 * time.Second)},
		{"the header's is longer", "the longer of two waits is the safe one", failed(429, "RESOURCE_EXHAUSTED", "m", retryIn("3s")), []string{"Retry-After", "7"}, new(7 * time.Second)},
		{"header only", "at once is an answer", ``, []string{"Retry-After", "0"}, new(time.Duration(0))},
		{"no details", "it did not say, which is not 0", failed(429, "RESOURCE_EXHAUSTED", "m"), nil, nil},
		{"array", "the form of a stream without events", "[" + failed(429, "RESOURCE_EXHAUSTED", "m", retryIn("38s")) + "]", nil, new(38 * time.Second)},
	}
	for _, r := range rows {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", r.name, stream), func(t *testing.T) {
				s := serve(llmtest.Status(429, r.body, r.header...))
				req := llm.Prompt("q")
				req.Stream = stream
				_, err := ask(t, s, s.config(), req)
				le := failing(t, err, llm.KindRateLimit)
				assert.Equal(t, r.want, le.RetryAfter, r.reason)
			})
		}
	}
	s := serve(events(text("18"), ev(failed(429, "RESOURCE_EXHAUSTED", "m", retryIn("38s")))))
	got, err := ask(t, s, s.config(), streamed("q"))
	assert.Equal(t, new(38*time.Second), failing(t, err, llm.KindRateLimit).RetryAfter, "inside a stream as well")
	assert.Equal(t, "18", got.Text)
}

func TestCaseL08(t *testing.T) {
	day := serve(llmtest.Status(429, failed(429, "RESOURCE_EXHAUSTED", exhausted, quota(perDay+"=50"), retryIn("7s"))))
	_, err := ask(t, day, day.config(), llm.Prompt("q"))
	le := failing(t, err, llm.KindQuota, "generativelanguage.googleapis.com/generate_content_free_tier_requests", "midnight Pacific time")
	assert.True(t, le.Kind.Fatal())
	assert.False(t, le.Kind.Retryable(), "the server's 7 s would heal nothing")

	minute := serve(llmtest.Status(429, failed(429, "RESOURCE_EXHAUSTED", exhausted, quota(perMinute+"=5"), retryIn("7s"))))
	_, err = ask(t, minute, minute.config(), llm.Prompt("q"))
	le = failing(t, err, llm.KindRateLimit, perMinute)
	assert.Equal(t, new(7*time.Second), le.RetryAfter)
}

func TestErrorDetails(t *testing.T) {
	s := serve(llmtest.Status(429, failed(429, "RESOURCE_EXHAUSTED", "slow"), "X-Ratelimit-Limit-Requests", "10", "X-Ratelimit-Remaining-Requests", "0"))
	got, err := ask(t, s, s.config(), llm.Prompt("q"))
	le := failing(t, err, llm.KindRateLimit)
	assert.Equal(t, 429, le.Status)
	assert.Equal(t, "RESOURCE_EXHAUSTED", le.Code)
	assert.Equal(t, "slow", le.Message)
	require.NotNil(t, le.RateLimit)
	assert.True(t, le.RateLimit.Requests.Exhausted())
	assert.Equal(t, le.RateLimit, got.RateLimit)

	s = serve(llmtest.Status(400, failed(400, "INVALID_ARGUMENT", "m", reason("API_KEY_INVALID"))))
	_, err = ask(t, s, s.config(), llm.Prompt("q"))
	assert.Equal(t, "API_KEY_INVALID", failing(t, err, llm.KindAuth).Code, "the reason says more than the word")

	s = serve(llmtest.Status(400, failed(400, "INVALID_ARGUMENT", strings.Repeat("é", 5000))))
	_, err = ask(t, s, s.config(), llm.Prompt("q"))
	assert.Less(t, len(err.Error()), 1000, "a server's words are cut")

	s = serve(llmtest.Status(200, ok, "X-Ratelimit-Remaining-Requests", "9"))
	got, err = ask(t, s, s.config(), llm.Prompt("q"))
	require.NoError(t, err)
	require.NotNil(t, got.RateLimit)
	assert.Equal(t, new(int64(9)), got.RateLimit.Requests.Remaining)
}

// TestWrongBaseURL: an address that is not the API's is told by the URL that
// was called.
func TestWrongBaseURL(t *testing.T) {
	rows := []struct {
		name, reason string
		answer       http.HandlerFunc
		named        bool
	}{
		{"other server", "there is no such path", llmtest.Status(404, `{"detail":"Not Found"}`), true},
		{"page", "a proxy's", llmtest.HTML(404, "<h1>Not here</h1>"), true},
		{"405", "a page that takes no POST", llmtest.Status(405, ``), true},
		{"200 page", "a web interface answers everything", llmtest.HTML(200, "<h1>Chat with me</h1>"), true},
		{"no model", "the model is what was not found", llmtest.Status(404, failed(404, "NOT_FOUND", "models/x is not found")), false},
		{"500", "the address is right", llmtest.Status(500, `{}`), false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := serve(r.answer)
			cfg := s.config()
			cfg.BaseURL = "http://me:topsecret-0123456789@127.0.0.1/x"
			_, err := ask(t, s, cfg, llm.Prompt("q"))
			assert.Equal(t, r.named, strings.Contains(err.Error(), "POST http://127.0.0.1/x/v1beta/models/gemini-2.5-flash:generateContent"), "%s: %v", r.reason, err)
			assert.NotContains(t, err.Error(), "topsecret")
		})
	}
}

func TestUsageOfFailedAnswersIsKept(t *testing.T) {
	s := serve(body(`{"candidates":[],"usageMetadata":{"promptTokenCount":3}}`))
	got, err := ask(t, s, s.config(), llm.Prompt("q"))
	want := llm.Usage{Input: 3, Known: true}
	assert.Equal(t, want, failing(t, err, llm.KindBadResponse).Usage, "U11: a failed call may have been billed")
	assert.Equal(t, want, got.Usage)
}

func TestSDKRefusals(t *testing.T) {
	m := gemini.Config{Model: "gemini-2.5-flash", BaseURL: "http://127.0.0.1"}
	s := serve(body(ok))
	m.HTTPClient = s.client()
	req := llm.Prompt("q")
	req.Extra = map[string]json.RawMessage{"contents": nil}
	_, err := ask(t, s, m, req)
	require.NoError(t, err, "what is sent is the caller's")
	assert.NotContains(t, string(s.last(t).body), "contents")
}
