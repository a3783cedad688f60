package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// row is one answer of a server and what it comes to.
type row struct {
	name, reason string
	stream       bool
	answer       http.HandlerFunc
	text         string // kept beside an error too
	finish       llm.FinishReason
	kind         llm.ErrorKind // "" is success
	says         string        // in the error's text, or in a warning
}

func body(s string) http.HandlerFunc      { return llmtest.Status(200, s) }
func events(s ...string) http.HandlerFunc { return llmtest.Stream(s...) }

const (
	usageChunk = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n"
	a          = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"18\"}}]}\n\n"
	stop       = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
)

var rows = []row{
	// C01: an error object inside a 200 stream, in every shape.
	{"C01 object then DONE", "never an empty answer", true, events("data: {\"error\":{\"message\":\"quota exceeded\"}}\n\n", llmtest.Done), "", "", llm.KindRateLimit, "quota exceeded"},
	{"C01 after text", "the text so far is kept", true, events(a, a, "data: {\"error\":{\"message\":\"m\",\"code\":\"server_error\"}}\n\n"), "1818", "", llm.KindServer, "server_error"},
	{"C01 text", "a plain string", true, events(a, "data: {\"error\":\"STREAM_EXPLODED\"}\n\n"), "18", "", llm.KindBadResponse, "STREAM_EXPLODED"},
	{"C01 type alone", "a reader and a retry need it", true, events("data: {\"error\":{\"message\":\"quota exceeded\",\"type\":\"rate_limit_error\"}}\n\n", llmtest.Done), "", "", llm.KindRateLimit, "[rate_limit_error]"},
	{"C01 type beats words", "quota exceeded may be said of a wrong request", false, body(`{"error":{"message":"quota exceeded","type":"invalid_api_key"}}`), "", "", llm.KindAuth, "[invalid_api_key]"},
	{"C01 no error object", "a gateway's failure, which is no chunk", true, events("data: {\"code\":429,\"message\":\"slow down\"}\n\n", llmtest.Done), "", "", llm.KindRateLimit, "slow down"},
	{"C01 no error object after text", "half an answer would be graded", true, events(a, "data: {\"code\":500,\"message\":\"boom\"}\n\n", llmtest.Done), "18", "", llm.KindServer, "boom"},
	{"C01 a word beside a whole answer", "a server's notes are no error", true, events("data: {\"message\":\"in the queue\"}\n\n", a, stop, llmtest.Done), "18", llm.FinishStop, "", ""},
	{"C01 llama.cpp", "old builds name the field of the event so", true, events(a, "error: {\"code\":500,\"message\":\"context shift is disabled\",\"type\":\"server_error\"}\n\n"), "18", "", llm.KindServer, "context shift"},
	{"C01 after a comment", "the SDK mixes the two up", true, events(": ping\n\n", "data: {\"error\":{\"message\":\"overloaded\"}}\n\n"), "", "", llm.KindServer, "overloaded"},
	{"C01 space", "the SDK overlooks it", true, events("data: { \"error\": {\"message\":\"m\",\"type\":\"rate_limit_error\"}}\n\n"), "", "", llm.KindRateLimit, "m"},
	{"C01 not first", "the SDK overlooks it", true, events("data: {\"id\":\"1\",\"error\":{\"message\":\"m\",\"code\":429}}\n\n"), "", "", llm.KindRateLimit, "m"},
	{"C01 object error", "old vLLM", true, events("data: {\"object\":\"error\",\"message\":\"m\",\"type\":\"internal_server_error\"}\n\n"), "", "", llm.KindServer, "m"},
	{"C01 with choices", "OpenRouter puts it beside a choice", true, events(a, "data: {\"error\":{\"message\":\"m\",\"code\":502},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n"), "18", "", llm.KindServer, "m"},
	{"C01 null error", "a null is no error", true, events("data: {\"error\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"18\"},\"finish_reason\":\"stop\"}]}\n\n"), "18", llm.FinishStop, "", ""},
	{"C01 no error", "in other words", true, events("data: {\"error\":[],\"choices\":[{\"index\":0,\"delta\":{\"content\":\"18\"}}]}\n\n", "data: {\"error\":0,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"), "18", llm.FinishStop, "", ""},
	{"C01 unary", "200 with an error object", false, body(`{"error":{"message":"m","code":"insufficient_quota"}}`), "", "", llm.KindBalance, "m"},
	{"C01 unary unknown", "no code to retry by", false, body(`{"error":{"message":"m"}}`), "", "", llm.KindBadResponse, "m"},
	{"C01 stream asked, object came", "200 JSON instead of SSE", true, body(`{"error":{"message":"m","type":"overloaded_error"}}`), "", "", llm.KindServer, "m"},

	{"C01 in a choice", "OpenRouter's other place", true, events(a, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"!\"},\"error\":{\"message\":\"m\",\"code\":429}}]}\n\n"), "18!", "", llm.KindRateLimit, "[429]"},
	{"C01 text beside it", "what was written is kept", true, events(a, "data: {\"error\":{\"message\":\"m\",\"code\":502},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"!\"},\"finish_reason\":\"error\"}]}\n\n"), "18!", "", llm.KindServer, "[502]"},
	{"C01 reason error", "without a word of why", true, events(a, strings.Replace(stop, "stop", "error", 1), llmtest.Done), "18", "", llm.KindServer, `finish reason is "error"`},
	{"C01 no machine", "DeepSeek's reason for an answer that it broke off", false, body(`{"choices":[{"message":{"content":"18"},"finish_reason":"insufficient_system_resource"}]}`), "18", "", llm.KindServer, "insufficient_system_resource"},
	{"C01 Groq", "its own place", true, events(a, "data: {\"x_groq\":{\"id\":\"1\",\"error\":\"over capacity\"},\"choices\":[]}\n\n"), "18", "", llm.KindServer, "over capacity"},
	{"C01 Groq, other words", "the stream was stopped all the same", true, events(a, "data: {\"x_groq\":{\"error\":\"oops\"}}\n\n"), "18", "", llm.KindServer, "oops"},

	{"C01 event", "what it is called counts where its data says nothing", true, events(a, "event: error\ndata: {\"message\":\"overloaded\",\"code\":503}\n\n"), "18", "", llm.KindServer, "overloaded"},
	{"C01 event of a text", "its words say what it is, where there is no object", true, events(a, "event: error\ndata: Too many requests\n\n"), "18", "", llm.KindRateLimit, "Too many requests"},
	{"C01 event with an object", "is not wrapped twice", true, events("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}\n\n"), "", "", llm.KindServer, "m"},
	{"C01 event in a text", "a stream under another content type", true, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, a+"event: error\ndata: {\"message\":\"overloaded\"}\n\n")
	}, "18", "", llm.KindServer, "overloaded"},
	{"C01 event unasked", "a stream where none was asked for", false, events(a, "event: error\ndata: {\"message\":\"overloaded\"}\n\n"), "18", "", llm.KindServer, "overloaded"},

	{"C03 clean end", "half an answer is no answer", true, events(a), "18", "", llm.KindIncomplete, "without a finish reason"},
	{"C03 role only", "nothing came", true, events("data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n"), "", "", llm.KindIncomplete, ""},
	{"C03 reset", "the connection broke", true, llmtest.Reset(a), "18", "", llm.KindIncomplete, ""},
	{"C03 cut in a line", "half an event is no end", true, events(a, "data: {\"choices\":[{\"ind"), "18", "", llm.KindIncomplete, ""},
	{"C03 empty stream", "nothing is no answer, and another try may bring one", true, events(), "", "", llm.KindIncomplete, ""},
	{"unary cut", "truncated JSON", false, body(`{"choices":[{"message":{"content":"18`), "", "", llm.KindIncomplete, ""},
	{"C03 other content type", "nothing but the client reads it along", true, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, a)
	}, "18", "", llm.KindIncomplete, "without a finish reason"},
	{"C04 other content type", "a proxy renames it; its end counts all the same", true, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, a+stop)
	}, "18", llm.FinishStop, "", ""},
	{"C03 other content type, unasked", "a half is none", false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, a)
	}, "18", "", llm.KindIncomplete, "without a finish reason"},
	{"C04 no DONE", "a finish reason is an end", true, events(a, stop), "18", llm.FinishStop, "", ""},
	{"C04 no line end", "the last line counts", true, events(a, strings.TrimSpace(stop)), "18", llm.FinishStop, "", ""},
	{"C04 reset after the reason", "the answer was whole", true, llmtest.Reset(a, stop), "18", llm.FinishStop, "", ""},
	{"DONE without reason", "it says that it is over", true, events(a, llmtest.Done), "18", "", "", "without a finish reason"},

	{"C06 keep-alives", "all four kinds between the deltas", true, events(
		": OPENROUTER PROCESSING\n\n", a, "retry: 3000\n\n", "data:\n\n", "event: ping\n\n", "data: \n\n", a, stop, llmtest.Done), "1818", llm.FinishStop, "", ""},
	{"C06 keep-alive storm", "the SDK gives up after 151 by default", true, events(strings.Repeat(": x\n\n", 2000), a, stop), "18", llm.FinishStop, "", ""},
	{"C06 CRLF", "line ends of Windows servers", true, events(strings.ReplaceAll(a+stop+llmtest.Done, "\n", "\r\n")), "18", llm.FinishStop, "", ""},
	{"C06 CR", "the standard allows it", true, events(strings.ReplaceAll(a+stop+llmtest.Done, "\n", "\r")), "18", llm.FinishStop, "", ""},
	{"C06 no space", "the space is optional", true, events(strings.ReplaceAll(a+stop+llmtest.Done, "data: ", "data:")), "18", llm.FinishStop, "", ""},
	{"C06 BOM", "it is no part of the first field", true, events("\xef\xbb\xbf"+a, stop), "18", llm.FinishStop, "", ""},
	{"C06 several lines", "one document over data lines", true, events("data: {\"choices\":[\ndata: {\"index\":0,\"delta\":{\"content\":\"18\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n"), "18", llm.FinishStop, "", ""},
	{"C06 split character", "a character over two writes", true, events("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xc3", "\xa9\"}}]}\n\n", stop), "é", llm.FinishStop, "", ""},
	{"C06 megabyte line", "a line reader's default limit would lose it", true, events(llmtest.Text(strings.Repeat("x", 3<<20)), stop), strings.Repeat("x", 3<<20), llm.FinishStop, "", ""},

	{"C08 HTML 200 stream", "a gateway's page", true, llmtest.HTML(200, "<html><head><title>Blocked</title><style>b{}</style></head><body>Request&nbsp;denied</body></html>"), "", "", llm.KindBadResponse, `status 200, content type text/html): "Blocked Request&nbsp;denied"`},
	{"C08 HTML 200 unary", "a page is no empty answer", false, llmtest.HTML(200, "<html><title>Blocked</title></html>"), "", "", llm.KindBadResponse, "status 200, content type text/html"},
	{"C08 HTML 504", "the status counts, not the JSON error", false, llmtest.HTML(504, "<html><title>504 Gateway Time-out</title></html>"), "", "", llm.KindServer, "HTTP 504"},
	{"C08 HTML 502 stream", "the status counts where the body says nothing", true, llmtest.HTML(502, "<html>nginx</html>"), "", "", llm.KindServer, "HTTP 502"},
	{"empty 200", "an empty body is no empty answer", false, body(``), "", "", llm.KindBadResponse, "the body is empty"},
	{"blank 200 and leading lines", "keep-alive lines before the JSON", false, body("\n\n  {\"choices\":[{\"message\":{\"content\":\"18\"},\"finish_reason\":\"stop\"}]}"), "18", llm.FinishStop, "", ""},
	{"trailing garbage", "the SDKs take it", false, body(`{"choices":[{"message":{"content":"18"},"finish_reason":"stop"}]} x`), "18", llm.FinishStop, "", ""},
	{"no choices", "an empty success is none", false, body(`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}`), "", "", llm.KindBadResponse, "no choices"},
	{"message in a stream", "a whole answer in one event", true, events("data: {\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"content\":\"18\"},\"finish_reason\":\"stop\"}]}\n\n", llmtest.Done), "18", llm.FinishStop, "", ""},
	{"delta in a whole answer", "proxies that join a stream leave it so", false, body(`{"choices":[{"delta":{"content":"18"},"finish_reason":"stop"}]}`), "18", llm.FinishStop, "", ""},
	{"null choice", "holds no answer", false, body(`{"choices":[null]}`), "", "", llm.KindBadResponse, "no choices"},
	{"empty choice", "holds no answer", false, body(`{"choices":[{"index":0,"logprobs":null}]}`), "", "", llm.KindBadResponse, "no choices"},
	{"null message", "it says that it is over", false, body(`{"choices":[{"message":null,"finish_reason":"stop"}]}`), "", llm.FinishStop, "", ""},
	{"too many choices", "they would fill the memory", false, body(`{"choices":[` + strings.Repeat("{},", 100_000) + `{}]}`), "", "", llm.KindBadResponse, "more than 10000 elements"},
	{"too many choices in a stream", "they would fill the memory", true, events(a, `data: {"choices":[`+strings.Repeat("{},", 100_000)+"{}]}\n\n"), "18", "", llm.KindBadResponse, "more than 10000 elements"},
	{"empty object", "holds no answer", false, body(`{}`), "", "", llm.KindBadResponse, "no choices"},
	{"no choices in a stream", "usage alone is no answer", true, events(usageChunk, llmtest.Done), "", "", llm.KindBadResponse, "no choices"},
	{"304", "no success", false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, "", "", llm.KindBadResponse, "304"},
	{"a stream unasked", "some proxies always stream", false, events(a, stop, llmtest.Done), "18", llm.FinishStop, "", ""},
	{"whole instead of stream", "a server that ignores stream", true, body(`{"choices":[{"message":{"content":"18"},"finish_reason":"stop"}]}`), "18", llm.FinishStop, "", "came whole"},

	{"C12 content filter", "never retried", false, llmtest.Status(400, `{"error":{"code":"content_filter","message":"filtered","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`), "", "", llm.KindBlocked, "content_filter"},
	{"C13 partial", "the text is kept, the reason shown", false, body(`{"choices":[{"message":{"content":"The answer is 4"},"finish_reason":"content_filter"}]}`), "The answer is 4", llm.FinishContentFilter, "", ""},
	{"C13 null", "an empty answer keeps its reason", false, body(`{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}`), "", llm.FinishContentFilter, "", ""},
	{"C13 Azure", "which filter it was", false, body(`{"choices":[{"message":{"content":"The"},"finish_reason":"content_filter","content_filter_results":{"hate":{"filtered":false,"severity":"safe"},"violence":{"filtered":true,"severity":"medium"},"jailbreak":{"filtered":true,"detected":true}}}]}`), "The", llm.FinishContentFilter, "", "stopped the answer: jailbreak, violence (medium)"},
	{"C13 Azure stream", "the prompt's results come first, without a choice", true, events("data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0,\"content_filter_results\":{\"hate\":{\"filtered\":false,\"severity\":\"safe\"}}}]}\n\n", a, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"content_filter\",\"content_filter_results\":{\"sexual\":{\"filtered\":true,\"severity\":\"high\"}}}]}\n\n", llmtest.Done), "18", llm.FinishContentFilter, "", "sexual (high)"},
	{"C13 unfiltered", "results of a good answer are no warning", false, body(`{"choices":[{"message":{"content":"18"},"finish_reason":"stop","content_filter_results":{"hate":{"filtered":false,"severity":"low"},"error":{"code":"content_filter_error","message":"not available"}}}]}`), "18", llm.FinishStop, "", ""},
	{"C15 only thoughts", "an answer that stopped without one is kept apart too", false, body(`{"choices":[{"message":{"content":"","reasoning":"hm"},"finish_reason":"stop"}]}`), "", llm.FinishStop, "", ""},
	{"C15 only thoughts, streamed", "a null content is no text", true, events("data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"hm\",\"content\":null}}]}\n\n", strings.Replace(stop, "stop", "length", 1)), "", llm.FinishLength, "", ""},
	{"think tags", "not cut out in silence", false, body(`{"choices":[{"message":{"content":"<think>17?</think>18"},"finish_reason":"stop"}]}`), "<think>17?</think>18", llm.FinishStop, "", "--reasoning-parser"},
	{"think tag's end", "Qwen's template opens it itself", true, events(llmtest.Text("17?</think>18"), stop), "17?</think>18", llm.FinishStop, "", "<think> tags"},
	{"C15 empty", "all of it went into reasoning", false, body(`{"choices":[{"message":{"content":"","reasoning_content":"hm"},"finish_reason":"length"}]}`), "", llm.FinishLength, "", ""},
	{"C15 partial", "the reader must see that it was cut", true, events(a, strings.Replace(stop, "stop", "length", 1)), "18", llm.FinishLength, "", ""},
	{"C16 max_tokens", "a request that will never do", false, llmtest.Status(400, `{"error":{"message":"Unsupported parameter: 'max_tokens'","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`), "", "", llm.KindBadRequest, "set Config.MaxTokensField to openai.MaxCompletionTokens"},
	{"C16 temperature", "the judge's may be left out", false, llmtest.Status(400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`), "", "", llm.KindBadRequest, "leave Request.Temperature nil"},
	{"C18 stop", "a stop text that was too broad is a plain end", false, body(`{"choices":[{"message":{"content":"Let me identify the "},"finish_reason":"stop"}]}`), "Let me identify the ", llm.FinishStop, "", ""},

	{"refusal", "the refusal field", false, body(`{"choices":[{"message":{"content":null,"refusal":"I cannot."},"finish_reason":"stop"}]}`), "", llm.FinishRefusal, "", ""},
	{"parts", "content as a list; thoughts apart", false, body(`{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Maybe 17?"}]},{"type":"text","text":"It is "},{"type":"text","text":"18."}]},"finish_reason":"stop"}]}`), "It is 18.", llm.FinishStop, "", ""},
	{"one part", "content as an object", false, body(`{"choices":[{"message":{"content":{"type":"text","text":"18"}},"finish_reason":"stop"}]}`), "18", llm.FinishStop, "", ""},
	{"other parts", "what is no text is not left out in silence", false, body(`{"choices":[{"message":{"content":[{"type":"text","text":"18"},{"type":"image_url","image_url":{}}]},"finish_reason":"stop"}]}`), "18", llm.FinishStop, "", `"image_url"`},
	{"refusal as a part", "an empty answer would be graded", false, body(`{"choices":[{"message":{"content":[{"type":"refusal","refusal":"I cannot."}]},"finish_reason":"stop"}]}`), "", llm.FinishRefusal, "", ""},
	{"unknown reason", "kept as it came", false, body(`{"choices":[{"message":{"content":"18"},"finish_reason":"abort"}]}`), "18", "abort", "", ""},
	{"several choices", "one is used, and it says so", false, body(`{"choices":[{"index":0,"message":{"content":"18"},"finish_reason":"stop"},{"index":1,"message":{"content":"19"},"finish_reason":"stop"}]}`), "18", llm.FinishStop, "", "several choices"},
	{"odd fields", "an id that is a number, or created as a fraction, loses no answer", false, body(`{"id":7,"created":1.5,"choices":[{"message":{"content":"18","role":7},"finish_reason":"stop"}]}`), "18", llm.FinishStop, "", ""},
	{"U15 float", "12.0 is 12", false, body(`{"choices":[{"message":{"content":"18"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":12.0}}`), "18", llm.FinishStop, "", ""},
	{"usage of nothing", "a server that does not count sends zeros: an answer of text took tokens", false, body(`{"choices":[{"message":{"content":"18"},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`), "18", llm.FinishStop, "", "usage is unknown"},
	{"usage without output", "an answer of text took tokens, but the prompt's may be right", true, events(a, stop, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":0}}\n\n", llmtest.Done), "18", llm.FinishStop, "", "doubtful: the server counts 7 input and 0 output"},
	{"usage spoiled late", "the counts before it were of half an answer", true, events("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\n", a, stop, "data: {\"choices\":[],\"usage\":\"n/a\"}\n\n", llmtest.Done), "18", llm.FinishStop, "", "usage is unknown"},
	{"U15 text", "the answer is kept", false, body(`{"choices":[{"message":{"content":"18"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":"12"}}`), "18", llm.FinishStop, "", "usage is unknown"},

	{"error text", `{"error":"text"}`, false, llmtest.Status(500, `{"error":"boom"}`), "", "", llm.KindServer, "boom"},
	{"FastAPI", "{\"detail\":…}", false, llmtest.Status(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`), "", "", llm.KindBadRequest, "field required"},
	{"old vLLM", "{\"object\":\"error\"}", false, llmtest.Status(400, `{"object":"error","message":"This model's maximum context length is 2048 tokens","type":"BadRequestError","code":40303}`), "", "", llm.KindContext, "2048"},
	{"list", "Gemini's compatible endpoint", false, llmtest.Status(429, `[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]`), "", "", llm.KindRateLimit, "slow down"},
	{"no body", "the status is all there is", false, llmtest.Status(503, ``), "", "", llm.KindServer, "HTTP 503"},
	{"bad key", "every further call would fail alike", false, llmtest.Status(401, `{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}`), "", "", llm.KindAuth, "Incorrect"},
	{"no balance", "a 429 that waiting does not heal", false, llmtest.Status(429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`), "", "", llm.KindBalance, "quota"},
	{"402", "DeepSeek", false, llmtest.Status(402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`), "", "", llm.KindBalance, "Insufficient"},
	{"daily", "a 429 that the run cannot wait for", false, llmtest.Status(429, `{"error":{"message":"Rate limit reached for requests per day (RPD)","code":"rate_limit_exceeded"}}`), "", "", llm.KindQuota, "per day"},
	{"429", "the wait is in the header", false, llmtest.Status(429, `{"error":{"message":"Rate limit reached for requests","code":"rate_limit_exceeded"}}`, "Retry-After", "2"), "", "", llm.KindRateLimit, "Rate limit"},
	{"model", "every further call would fail alike", false, llmtest.Status(404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`), "", "", llm.KindNotFound, "model"},
	{"overloaded", "529", true, llmtest.Status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "", "", llm.KindServer, "Overloaded"},
	{"prepaid credits", "Gemini's compatible endpoint has one code for both", false, llmtest.Status(429, `[{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.","status":"RESOURCE_EXHAUSTED"}}]`), "", "", llm.KindBalance, "depleted"},
	{"spending cap", "waiting raises no cap", false, llmtest.Status(429, `{"error":{"code":429,"message":"Your project has exceeded its monthly spending cap.","status":"RESOURCE_EXHAUSTED"}}`), "", "", llm.KindBalance, "spending cap"},
	{"reset before the answer", "nothing was billed, and another try may pass", false, llmtest.Reset(), "", "", llm.KindConnection, ""},
}

// caseID is the case of the collection that a row's name begins with, or "".
var caseID = regexp.MustCompile(`^[CL]\d\d`)

// answers runs the rows of one case, or those of none.
func answers(t *testing.T, id string) {
	t.Helper()
	ran := 0
	for _, r := range rows {
		if caseID.FindString(r.name) == id {
			ran++
			t.Run(r.name, func(t *testing.T) { r.run(t) })
		}
	}
	require.Positive(t, ran)
}

func TestAnswers(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(t, seen[r.name], "two rows are called %q", r.name)
		seen[r.name] = true
	}
	answers(t, "")
}

func TestCaseC01(t *testing.T) { answers(t, "C01") }                          // a 200 stream that carries an error object
func TestCaseC03(t *testing.T) { answers(t, "C03") }                          // a clean end without a finish reason
func TestCaseC04(t *testing.T) { answers(t, "C04") }                          // a finish reason but no [DONE]
func TestCaseC06(t *testing.T) { answers(t, "C06") }                          // keep-alives and other spellings of a stream
func TestCaseC08(t *testing.T) { answers(t, "C08") }                          // HTML instead of JSON or a stream
func TestCaseC12(t *testing.T) { answers(t, "C12"); checkRefusals(t, "C12") } // a 400 of the content filter
func TestCaseC13(t *testing.T) { answers(t, "C13") }                          // a filtered answer with some text
func TestCaseC15(t *testing.T) { answers(t, "C15") }                          // cut at the token limit
func TestCaseC16(t *testing.T) { answers(t, "C16"); checkRefusals(t, "C16") } // settings that reasoning models refuse
func TestCaseC18(t *testing.T) { answers(t, "C18") }                          // a stop text that was too broad

func (r row) run(t *testing.T) {
	m, s := fake(raw(r.answer))
	req := llm.Prompt("What is 6*3?")
	req.Stream = r.stream
	var log llm.CallLog
	got, err := m.Generate(llm.WithCallLog(t.Context(), &log), req)
	s.Memory().Wait()
	assert.Equal(t, r.text, got.Text, r.reason)
	assert.Len(t, log.Calls(), 1, "the call is logged once, failed or not")
	assert.Equal(t, 1, s.Memory().Calls(), "nothing is tried again")
	assert.Zero(t, s.Memory().OpenBodies())
	assert.Equal(t, len(got.Chunks) > 0, got.Timing.FirstToken > 0)
	if r.kind == "" {
		require.NoError(t, err, r.reason)
		assert.Equal(t, r.finish, got.Finish, r.reason)
		if r.says == "" {
			assert.Empty(t, got.Warnings)
		} else {
			assert.Contains(t, strings.Join(got.Warnings, "\n"), r.says)
		}
		return
	}
	require.Error(t, err, r.reason)
	var le *llm.Error
	require.ErrorAs(t, err, &le)
	assert.Equal(t, r.kind, le.Kind, "%v: %s", err, r.reason)
	assert.Contains(t, err.Error(), r.says)
	assert.Equal(t, "openai", le.Provider)
}

func TestErrorDetails(t *testing.T) {
	m, _ := fake(raw(llmtest.Status(429, `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`, "Retry-After", "1.5")))
	for _, stream := range []bool{false, true} {
		req := llm.Prompt("q")
		req.Stream = stream
		_, err := m.Generate(t.Context(), req)
		var le *llm.Error
		require.ErrorAs(t, err, &le)
		assert.Equal(t, 429, le.Status)
		assert.Equal(t, "rate_limit_exceeded", le.Code)
		assert.Equal(t, "slow", le.Message)
		assert.Equal(t, new(1500*time.Millisecond), le.RetryAfter, "the SDK loses the header of a failed stream")
	}
	long := strings.Repeat("é", 5000)
	m, _ = fake(raw(llmtest.Status(400, `{"error":{"message":"`+long+`"}}`)))
	_, err := m.Generate(t.Context(), llm.Prompt("q"))
	assert.Less(t, len(err.Error()), 1000, "a server's words are cut")
}

func TestUsageOfFailedAnswersIsKept(t *testing.T) {
	m, _ := fake(raw(body(`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}`)))
	resp, err := m.Generate(t.Context(), llm.Prompt("q"))
	var le *llm.Error
	require.ErrorAs(t, err, &le)
	want := llm.Usage{Input: 3, Known: true}
	assert.Equal(t, want, le.Usage, "U11: a failed call may have been billed")
	assert.Equal(t, want, resp.Usage)
}

func TestReportedCost(t *testing.T) {
	for cost, want := range map[string]string{"0.000123": "0.000123", "1.5e-5": "0.000015", "0": "0", "-1": "", `"0.5"`: "0.5", "1e999999999": "", "null": ""} {
		m, _ := fake(raw(body(`{"choices":[{"message":{"content":"18"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"cost":` + cost + `}}`)))
		r, err := m.Generate(t.Context(), llm.Prompt("q"))
		require.NoError(t, err)
		assert.Equal(t, want, r.CostUSD, cost)
	}
}

func TestStreamedToolCallsOfOddServers(t *testing.T) {
	rows := []struct{ name, chunks string }{
		{"by index", `{"index":0,"id":"1","function":{"name":"f","arguments":""}}|{"index":0,"function":{"arguments":"{\"x\""}}|{"index":0,"function":{"arguments":":1}"}}|{"index":1,"id":"2","function":{"name":"g","arguments":"{}"}}`},
		{"without index", `{"id":"1","function":{"name":"f","arguments":"{\"x\""}}|{"function":{"arguments":":1}"}}|{"id":"2","function":{"name":"g","arguments":"{}"}}`},
		{"one index for all", `{"index":0,"id":"1","function":{"name":"f","arguments":"{\"x\":1}"}}|{"index":0,"id":"2","function":{"name":"g","arguments":"{}"}}`},
		{"another id with each piece", `{"index":0,"id":"1","function":{"name":"f","arguments":"{\"x\""}}|{"index":0,"id":"1","function":{"arguments":":1}"}}|{"index":1,"id":"x","function":{"name":"g","arguments":"{"}}|{"index":1,"id":"2","function":{"arguments":"}"}}`},
		{"indexes far away", `{"index":1000000000,"id":"1","function":{"name":"f","arguments":"{\"x\""}}|{"index":-1,"id":"2","function":{"name":"g","arguments":"{}"}}|{"index":1000000000,"function":{"arguments":":1}"}}`},
		{"index in the first piece only", `{"index":5,"id":"1","function":{"name":"f","arguments":"{\"x\""}}|{"function":{"arguments":":1}"}}|{"id":"2","function":{"name":"g","arguments":"{}"}}`},
		{"index as a text", `{"index":"0","id":"1","function":{"name":"f","arguments":"{\"x\":1}"}}|{"index":"1","id":"2","function":{"name":"g","arguments":"{}"}}`},
		{"objects", `{"index":0,"id":"1","function":{"name":"f","arguments":{"x":1}}}|{"index":1,"id":"2","function":{"name":"g","arguments":{}}}`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var pieces []string
			for _, c := range strings.Split(r.chunks, "|") {
				pieces = append(pieces, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":["+c+"]}}]}\n\n")
			}
			pieces = append(pieces, strings.Replace(stop, "stop", "tool_calls", 1), llmtest.Done)
			m, _ := fake(raw(events(pieces...)))
			got, err := m.Generate(t.Context(), streamed("q"))
			require.NoError(t, err)
			assert.Equal(t, []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":1}`}, {ID: "2", Name: "g", Arguments: "{}"}}, got.ToolCalls)
			assert.Equal(t, llm.FinishToolCalls, got.Finish)
		})
	}
}

// TestToolCallsOfOddServers: in a whole answer each call is one.
func TestToolCallsOfOddServers(t *testing.T) {
	rows := []struct{ name, calls string }{
		{"one index for all", `{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"2","function":{"name":"g","arguments":"{}"}}`},
		{"one id for all", `{"id":"","function":{"name":"f","arguments":"{}"}},{"id":"","function":{"name":"g","arguments":"{}"}}`},
		{"no arguments", `{"index":7,"function":{"name":"f","arguments":null}},{"function":{"name":"g"}}`},
	}
	for _, r := range rows {
		m, _ := fake(raw(body(`{"choices":[{"message":{"tool_calls":[` + r.calls + `]},"finish_reason":"tool_calls"}]}`)))
		got, err := m.Generate(t.Context(), llm.Prompt("q"))
		require.NoError(t, err)
		require.Len(t, got.ToolCalls, 2, r.name)
		assert.Equal(t, "f", got.ToolCalls[0].Name)
		assert.Equal(t, "g", got.ToolCalls[1].Name)
	}
	m, _ := fake(raw(body(`{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`)))
	got, err := m.Generate(t.Context(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, llm.FinishToolCalls, got.Finish, "of a call that the model was told to make OpenAI says stop")

	m, _ = fake(raw(events("data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},{\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n")))
	got, err = m.Generate(t.Context(), streamed("q"))
	require.NoError(t, err)
	assert.Equal(t, []llm.ToolCall{{Name: "f", Arguments: "{}"}, {Name: "g", Arguments: "{}"}}, got.ToolCalls, "a name begins a call")
}

func TestDialError(t *testing.T) {
	refused := errors.New("connection refused")
	_, err := clientOver(func(*http.Request) (*http.Response, error) { return nil, refused }).Generate(context.Background(), llm.Prompt("q"))
	require.ErrorIs(t, err, refused)
	assert.Equal(t, llm.KindConnection, llm.KindOf(err))
	assert.NotErrorIs(t, err, io.EOF)
}
