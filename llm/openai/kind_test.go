package openai_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// refusal is one answer of one provider and what it is taken for. A wait of -1
// is none; hint is contained.
type refusal struct {
	name, reason string
	provider     string
	status       int
	body         string
	head         []string // names and values
	kind         llm.ErrorKind
	wait         time.Duration
	hint         string
}

const none = time.Duration(-1)

// epochMS is how OpenRouter writes a moment: this one is 8 hours after
// synctest's beginning.
var epochMS = strconv.FormatInt(time.Date(2000, 1, 1, 8, 0, 0, 0, time.UTC).UnixMilli(), 10)

var refusals = []refusal{
	// OpenAI.
	{"L01 insufficient_quota", "a 429 that no wait heals", "openai", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, nil, llm.KindBalance, none, "platform.openai.com/settings/organization/billing"},
	{"hard limit", "a 400 that no change of the request heals", "openai", 400, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","code":"billing_hard_limit_reached"}}`, nil, llm.KindBalance, none, "top up"},
	{"requests a minute", "one that a run waits for", "openai", 429, `{"error":{"message":"Rate limit reached for gpt-5-nano in organization org-1 on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.","type":"requests","code":"rate_limit_exceeded"}}`, nil, llm.KindRateLimit, 20 * time.Second, "call.Limits"},
	{"requests a day", "the same code", "openai", 429, `{"error":{"message":"Rate limit reached for gpt-5-nano on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.","type":"requests","code":"rate_limit_exceeded"}}`, nil, llm.KindQuota, 7*time.Minute + 12*time.Second, "resume"},
	{"L10 the exhausted dimension", "the other one resets at once", "openai", 429, `{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`, []string{"x-ratelimit-remaining-requests", "99", "x-ratelimit-reset-requests", "8ms", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-limit-tokens", "30000", "x-ratelimit-reset-tokens", "6m0s"}, llm.KindRateLimit, 6 * time.Minute, "used up: tokens (30000), back in 6m0s"},
	{"Retry-After wins over words", "the header is made for it", "openai", 429, `{"error":{"message":"Please try again in 20s.","code":"rate_limit_exceeded"}}`, []string{"Retry-After", "3"}, llm.KindRateLimit, 3 * time.Second, ""},
	{"L05 date", "Retry-After may be one", "openai", 429, `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`, []string{"Retry-After", "Sat, 01 Jan 2000 00:00:07 GMT", "Date", ""}, llm.KindRateLimit, 7 * time.Second, ""},
	{"L03 zero", "at once is an answer", "openai", 429, `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`, []string{"Retry-After", "0"}, llm.KindRateLimit, 0, ""},
	{"L03 ten minutes", "as it was said", "openai", 429, `{"error":{"message":"slow"}}`, []string{"Retry-After", "600"}, llm.KindRateLimit, 10 * time.Minute, ""},
	{"key", "every further call would fail alike", "openai", 401, `{"error":{"message":"Incorrect API key provided: sk-a***b.","type":"invalid_request_error","code":"invalid_api_key"}}`, nil, llm.KindAuth, none, "OPENAI_API_KEY"},
	{"country", "a 403 that no waiting heals", "openai", 403, `{"error":{"message":"Country, region, or territory not supported","type":"request_forbidden","code":"unsupported_country_region_territory"}}`, nil, llm.KindAuth, none, "may not do this"},
	{"model", "every further call would fail alike", "openai", 404, `{"error":{"message":"The model 'gpt-x' does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}`, nil, llm.KindNotFound, none, `Config.Model, "m"`},
	{"context", "a 400 that a shorter prompt heals", "openai", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, nil, llm.KindContext, none, "shorten the prompt"},
	{"long text", "it has a code of its own", "openai", 400, `{"error":{"message":"Invalid 'messages[0].content': string too long.","type":"invalid_request_error","code":"string_above_max_length"}}`, nil, llm.KindContext, none, "shorten"},
	{"flagged", "a reasoning model's own filter", "openai", 400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","type":"invalid_request_error","code":"invalid_prompt"}}`, nil, llm.KindBlocked, none, "blocked again"},
	{"C16 max_tokens", "the setting's other name is known", "openai", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, nil, llm.KindBadRequest, none, "MaxTokensField to openai.MaxCompletionTokens"},
	{"C16 temperature", "the setting can be left out", "openai", 400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`, nil, llm.KindBadRequest, none, "leave Request.Temperature nil"},
	{"effort", "older models cannot switch it off", "openai", 400, `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'none' with this model.","type":"invalid_request_error","param":"reasoning_effort","code":"unsupported_value"}}`, nil, llm.KindBadRequest, none, "Request.Thinking"},
	{"slow down", "a 503 is the server's trouble, whatever its words", "openai", 503, `{"error":{"message":"Slow Down","type":"server_error"}}`, nil, llm.KindServer, none, ""},
	{"words of a 5xx", "T8: they start no pause", "openai", 500, `{"error":{"message":"rate limit of the quota exceeded, too many requests"}}`, nil, llm.KindServer, none, ""},
	{"words of a 400", "T8: 4290 tokens is no 429", "openai", 400, `{"error":{"message":"4290 tokens; connection quota"}}`, nil, llm.KindBadRequest, none, ""},

	// DeepSeek.
	{"no balance", "the code says less than the status does", "deepseek", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, nil, llm.KindBalance, none, "platform.deepseek.com"},
	{"no model", "a 400 that every call would meet", "deepseek", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}`, nil, llm.KindNotFound, none, "Config.Model"},
	{"no schemas", "another response_format may do", "deepseek", 400, `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error"}}`, nil, llm.KindBadRequest, none, "Request.Schema"},
	{"thoughts wanted back", "of a turn that called a tool", "deepseek", 400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, nil, llm.KindBadRequest, none, "Thinking to Off for conversations with tool calls"},
	{"busy", "the server's trouble passes", "deepseek", 503, `{"error":{"message":"Service is too busy.","type":"service_unavailable_error"}}`, nil, llm.KindServer, none, ""},

	// OpenRouter.
	{"no credits", "no wait heals it", "openrouter", 402, `{"error":{"code":402,"message":"Insufficient credits"}}`, nil, llm.KindBalance, none, "openrouter.ai/settings/credits"},
	{"in flight", "the balance is held by calls under way", "openrouter", 402, `{"error":{"code":402,"message":"In-flight budget","metadata":{"limit_source":"openrouter_in_flight_budget"}}}`, []string{"Retry-After", "5"}, llm.KindRateLimit, 5 * time.Second, ""},
	{"429 in a 200", "with the provider's own words", "openrouter", 200, `{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"m is temporarily rate-limited upstream. Please retry shortly.","provider_name":"Chutes"}}}`, nil, llm.KindRateLimit, none, ""},
	{"502 in a 200", "the words of the provider behind are shown", "openrouter", 200, `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":{"error":{"message":"boom"}},"provider_name":"Atlas"}}}`, nil, llm.KindServer, none, ""},
	{"503 in a 200", "the error came after the status had gone out", "openrouter", 200, `{"error":{"code":503,"message":"No instances available"}}`, nil, llm.KindServer, none, ""},
	{"no providers, 404", "the account's own settings", "openrouter", 404, `{"error":{"message":"No allowed providers are available for the selected model.","code":404,"metadata":{"available_providers":["a"],"requested_providers":["b"]}}}`, nil, llm.KindNotFound, none, "allow one of the model's providers"},
	{"no providers, 503", "they may come back", "openrouter", 503, `{"error":{"message":"No allowed providers are available for the selected model.","code":503}}`, nil, llm.KindServer, none, ""},
	{"no providers, 502 in a 200", "they may come back", "openrouter", 200, `{"error":{"message":"No allowed providers are available for the selected model.","code":502}}`, nil, llm.KindServer, none, ""},
	{"L08 free models a day", "the header is in the body, in milliseconds", "openrouter", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"` + epochMS + `"},"provider_name":null}}}`, nil, llm.KindQuota, 8 * time.Hour, "used up: requests (50), back in 8h0m0s"},
	{"L08 by its source", "whatever its words", "openrouter", 429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"limit_source":"openrouter_free_tier_daily"}}}`, nil, llm.KindQuota, none, "a limit of a day"},
	{"free models a minute", "one that a run waits for", "openrouter", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Remaining":"0","X-RateLimit-Reset":` + epochMS + `}}}}`, nil, llm.KindRateLimit, 8 * time.Hour, "used up"},
	{"moderation", "a 403 that is not the key's", "openrouter", 403, `{"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["violence"],"flagged_input":"…","provider_name":"OpenAI"}}}`, nil, llm.KindBlocked, none, "blocked again"},
	{"no such model", "the name is wrong, not the request", "openrouter", 400, `{"error":{"message":"a/b is not a valid model ID","code":400}}`, nil, llm.KindNotFound, none, "Config.Model"},
	{"context behind it", "the provider's words", "openrouter", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens\"}}","provider_name":"X"}}}`, nil, llm.KindContext, none, "shorten"},

	// Groq.
	{"tokens a day", "the same code as for a minute", "groq", 429, `{"error":{"message":"Rate limit reached for model x in organization y service tier on_demand on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.","type":"tokens","code":"rate_limit_exceeded"}}`, nil, llm.KindQuota, 9*time.Minute + 38016*time.Millisecond, "a limit of a day"},
	{"tokens a minute", "the header's wait counts, not the words'", "groq", 429, `{"error":{"message":"Rate limit reached for model x on tokens per minute (TPM): Limit 6000, Used 5900, Requested 400. Please try again in 3s.","type":"tokens","code":"rate_limit_exceeded"}}`, []string{"retry-after", "4"}, llm.KindRateLimit, 4 * time.Second, ""},
	{"413", "a rate limit by its code, which it will always meet", "groq", 413, `{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 8000","type":"tokens","code":"rate_limit_exceeded"}}`, nil, llm.KindContext, none, "larger than the account's limit"},
	{"over capacity", "the server's trouble passes", "groq", 503, `{"error":{"message":"x is currently over capacity.","type":"internal_server_error"}}`, nil, llm.KindServer, none, ""},

	// Anthropic.
	{"overloaded", "529 is the server's trouble", "anthropic", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, nil, llm.KindServer, none, ""},
	{"rate limit", "the type is all that tells", "anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit"}}`, []string{"retry-after", "11"}, llm.KindRateLimit, 11 * time.Second, ""},
	{"credit", "a 400", "anthropic", 400, `{"error":{"code":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API.","type":"invalid_request_error"}}`, nil, llm.KindBalance, none, "top up"},
	{"rights", "the key may not do this, whatever it may else", "anthropic", 403, `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission"}}`, nil, llm.KindAuth, none, "ANTHROPIC_API_KEY"},
	{"no budgets", "Claude 4.7 and later", "anthropic", 400, `{"error":{"code":"invalid_request_error","message":"\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.","type":"invalid_request_error"}}`, nil, llm.KindBadRequest, none, "does not take that setting of Request.Thinking"},
	{"too large", "a 413 that a shorter prompt heals", "anthropic", 413, `{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, nil, llm.KindContext, none, "shorten"},
	{"too long", "a 400 without a code, by its words", "anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, nil, llm.KindContext, none, "shorten"},

	// Gemini's compatible endpoint.
	{"L07 RetryInfo", "the wait is in the body", "gemini", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 37.5s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}]`, nil, llm.KindRateLimit, 38 * time.Second, ""},
	{"L08 a day's quota", "with a wait of seconds beside it", "gemini", 429, `[{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12s"}]}}]`, nil, llm.KindQuota, 12 * time.Second, "a limit of a day"},
	{"L08 both quotas", "one of them comes back", "gemini", 429, `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDay"},{"quotaId":"GenerateRequestsPerMinute"}]}]}}]`, nil, llm.KindRateLimit, none, ""},
	{"key of Google's", "a 400", "gemini", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, nil, llm.KindAuth, none, "GEMINI_API_KEY"},
	{"overloaded model", "the server's trouble passes", "gemini", 503, `[{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]`, nil, llm.KindServer, none, ""},

	// Azure.
	{"words say when", "without a header", "azure", 429, `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 26 seconds."}}`, nil, llm.KindRateLimit, 26 * time.Second, ""},
	{"header says when", "it wins", "azure", 429, `{"error":{"code":"429","message":"Please retry after 26 seconds."}}`, []string{"retry-after-ms", "1500"}, llm.KindRateLimit, 1500 * time.Millisecond, ""},
	{"C12 prompt", "which filter it was stands in the message", "azure", 400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"filtered":true,"detected":true}}}}}`, nil, llm.KindBlocked, none, "blocked again"},
	{"deployment", "what is called a model is a deployment there", "azure", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again."}}`, nil, llm.KindNotFound, none, `deployment's name, "m"`},
	{"key of Azure's", "a code that is the status says nothing more", "azure", 401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, nil, llm.KindAuth, none, "AZURE_OPENAI_API_KEY"},
	{"path", "what was not found is no model", "azure", 404, `{"error":{"code":"404","message":"Resource not found"}}`, nil, llm.KindNotFound, none, "POST https://r.openai.azure.com/openai/v1/chat/completions"},

	// Together.
	{"no such model of Together's", "a code that is not known, by the status", "together", 404, `{"error":{"message":"Unable to access model x.","type":"invalid_request_error","param":null,"code":"model_not_available"}}`, nil, llm.KindNotFound, none, "Config.Model"},

	// Servers of one's own.
	{"vLLM's context", "a code that is the status, by its words", "vllm", 400, `{"error":{"message":"This model's maximum context length is 2048 tokens. However, you requested 4096 tokens.","type":"BadRequestError","param":"input_tokens","code":400}}`, nil, llm.KindContext, none, "--max-model-len"},
	{"vLLM's model", "a type that is not known, by the status", "vllm", 404, `{"error":{"message":"The model 'x' does not exist.","type":"NotFoundError","param":"model","code":404}}`, nil, llm.KindNotFound, none, "Config.Model"},
	{"vLLM's key", "which variable it would be in is told", "vllm", 401, `{"error":"Unauthorized"}`, nil, llm.KindAuth, none, "VLLM_API_KEY is not set"},
	{"FastAPI", "a body of validators says where", "vllm", 422, `{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}`, nil, llm.KindBadRequest, none, ""},
	{"SGLang's context", "the old shape, by its words", "sglang", 400, `{"object":"error","message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequestError","param":null,"code":400}`, nil, llm.KindContext, none, "--context-length"},
	{"llama.cpp's context", "the type tells", "llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}`, nil, llm.KindContext, none, "--ctx-size"},
	{"llama.cpp's context in a 200", "some builds send no status", "llama.cpp", 200, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}`, nil, llm.KindContext, none, "--ctx-size"},
	{"llama.cpp's context as a 500", "older builds", "llama.cpp", 500, `{"error":{"code":500,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, nil, llm.KindContext, none, "--ctx-size"},
	{"loading", "it passes as soon as the model is there", "llama.cpp", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, nil, llm.KindServer, none, ""},
	{"not built in", "a 501 that no other try heals", "llama.cpp", 501, `{"error":{"code":501,"message":"This feature is not supported","type":"not_supported_error"}}`, nil, llm.KindBadRequest, none, ""},
	{"not pulled", "the command that heals it", "ollama", 404, `{"error":{"message":"model \"m\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, nil, llm.KindNotFound, none, "ollama pull m"},
	{"queue full", "the server's trouble passes", "ollama", 503, `{"error":{"message":"server busy, please try again.  maximum pending requests exceeded","type":"api_error"}}`, nil, llm.KindServer, none, ""},
	{"llama-cpp-python's context", "it has OpenAI's code", "openai", 400, `{"error":{"message":"This model's maximum context length is 512 tokens. However, you requested 900 tokens. Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, nil, llm.KindContext, none, "shorten"},

	// Gateways.
	{"413 of nginx", "the status is all there is", "openai", 413, `<html><head><title>413 Request Entity Too Large</title></head></html>`, nil, llm.KindContext, none, "shorten"},
	{"usage not asked for", "older servers refuse the field that asks for usage", "openai", 400, `{"error":{"message":"Extra inputs are not permitted: stream_options","type":"invalid_request_error"}}`, nil, llm.KindBadRequest, none, `Extra["stream_options"] as null`},
	{"the other name", "older servers", "openai", 400, `{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}`, nil, llm.KindBadRequest, none, "MaxTokensField to openai.MaxTokens"},
}

func presetOf(t *testing.T, provider string) openai.Config {
	t.Helper()
	switch provider {
	case "openai":
		return openai.Config{Model: "m", BaseURL: openai.DefaultBaseURL}
	case "azure":
		return openai.Azure("https://r.openai.azure.com", "m")
	}
	for _, p := range presets {
		if p.cfg.Provider == provider {
			return p.cfg
		}
	}
	t.Fatalf("no configuration of %q", provider)
	return openai.Config{}
}

// refused is the error of a call that is answered so.
func (r refusal) refused(t *testing.T, stream bool) *llm.Error {
	t.Helper()
	s := &llmtest.Server{Reply: raw(func(w http.ResponseWriter, q *http.Request) {
		for i := 0; i < len(r.head); i += 2 {
			w.Header().Set(r.head[i], r.head[i+1])
		}
		if stream && r.status == 200 {
			llmtest.Stream(llmtest.Text("so far"), "data: "+r.body+"\n\n", llmtest.Done)(w, q)
			return
		}
		llmtest.Status(r.status, r.body)(w, q)
	})}
	cfg := presetOf(t, r.provider)
	cfg.HTTPClient = &http.Client{Transport: everyPath{s.Memory()}}
	req := llm.Prompt("q")
	req.Stream = stream
	resp, err := cfg.New().Generate(t.Context(), req)
	var le *llm.Error
	require.ErrorAs(t, err, &le)
	if stream && r.status == 200 {
		assert.Equal(t, "so far", resp.Text)
	}
	return le
}

// setKeys gives each provider but vLLM a key.
func setKeys(t *testing.T) {
	for _, p := range presets {
		if p.key != "VLLM_API_KEY" {
			t.Setenv(p.key, "key-of-"+strings.ToLower(p.key))
		}
	}
}

// checkRefusals checks the rows of one case, or those of none.
func checkRefusals(t *testing.T, id string) {
	setKeys(t)
	seen, ran := map[string]bool{}, 0
	for _, r := range refusals {
		require.False(t, seen[r.name], "two rows are called %q", r.name)
		seen[r.name] = true
		if caseID.FindString(r.name) != id {
			continue
		}
		ran++
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%s/stream=%v", r.provider, r.name, stream), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := r.refused(t, stream)
					assert.Equal(t, r.kind, e.Kind, "%s: %v", r.reason, e)
					assert.Equal(t, r.provider, e.Provider)
					assert.Equal(t, r.status, e.Status)
					if r.wait == none {
						assert.Nil(t, e.RetryAfter)
					} else if assert.NotNil(t, e.RetryAfter, r.reason) {
						assert.Equal(t, r.wait, *e.RetryAfter)
					}
					assert.Contains(t, e.Hint, r.hint)
					assert.Contains(t, e.Error(), e.Hint, "a person sees it")
					assert.NotContains(t, e.Error(), "key-of-")
				})
			})
		}
	}
	require.Positive(t, ran)
}

func TestKinds(t *testing.T)   { checkRefusals(t, "") }
func TestCaseL01(t *testing.T) { checkRefusals(t, "L01") } // insufficient_quota is no rate limit
func TestCaseL03(t *testing.T) { checkRefusals(t, "L03") } // a Retry-After of 0, and a long one
func TestCaseL05(t *testing.T) { checkRefusals(t, "L05") } // Retry-After as a date
func TestCaseL07(t *testing.T) { checkRefusals(t, "L07") } // Gemini's wait is in the body
func TestCaseL08(t *testing.T) { checkRefusals(t, "L08") } // a day's quota
func TestCaseL10(t *testing.T) { checkRefusals(t, "L10") } // the reset of what is used up

// TestErrorWords: what a person needs of an error stands in its text.
func TestErrorWords(t *testing.T) {
	setKeys(t)
	for name, want := range map[string][]string{
		"429 in a 200": {"[429]", "Provider returned error: m is temporarily rate-limited upstream", "(from Chutes)"},
		"502 in a 200": {"[502]", "Provider returned error: boom (from Atlas)"},
		"C12 prompt":   {"[content_filter]", "(filtered: jailbreak)"},
		"tokens a day": {"tokens per day (TPD)"},
		"FastAPI":      {"body.messages: Field required"},
	} {
		for _, r := range refusals {
			if r.name == name {
				for _, w := range want {
					assert.Contains(t, r.refused(t, false).Error(), w)
				}
			}
		}
	}
}

func TestRateLimitOfErrors(t *testing.T) {
	setKeys(t)
	for _, r := range refusals {
		if r.name == "L10 the exhausted dimension" {
			l := r.refused(t, true).RateLimit
			require.NotNil(t, l)
			assert.True(t, l.Tokens.Exhausted())
			assert.Equal(t, new(int64(99)), l.Requests.Remaining)
			assert.InDelta(t, 6*time.Minute, *l.Tokens.Reset, float64(time.Second))
		}
	}
}

// FuzzRefused: whatever a server answers, Generate returns an error of some
// kind, or an answer, and shows no key.
func FuzzRefused(f *testing.F) {
	for _, r := range refusals {
		f.Add(r.status, r.body, false)
	}
	f.Add(200, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop","content_filter_results":[]}]}`, true)
	f.Add(429, `{"error":{"metadata":{"raw":"{\"error\":{\"metadata\":{}}}","headers":{"":1}},"details":[1,{"violations":[null]}]}}`, false)
	f.Fuzz(func(t *testing.T, status int, body string, stream bool) {
		if status < 200 || status > 599 || status == 204 || status == 304 {
			t.Skip()
		}
		t.Setenv("GROQ_API_KEY", "key-0123456789-key")
		s := &llmtest.Server{Reply: raw(llmtest.Status(status, body+"key-0123456789-key"))}
		if stream {
			s.Reply = raw(llmtest.Stream("data: " + body + "\n\n"))
		}
		cfg := openai.Groq("m")
		cfg.HTTPClient = &http.Client{Transport: everyPath{s.Memory()}}
		req := llm.Prompt("q")
		req.Stream = stream
		resp, err := cfg.New().Generate(t.Context(), req)
		s.Memory().Wait()
		assert.Zero(t, s.Memory().OpenBodies())
		if err != nil {
			var le *llm.Error
			require.ErrorAs(t, err, &le)
			assert.NotEmpty(t, le.Kind)
			assert.NotContains(t, err.Error()+fmt.Sprint(resp), "key-0123456789-key")
			assert.Less(t, len(err.Error()), 4000)
		}
	})
}
