package gemini_test

import (
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

var a = text("18")

var rows = []row{
	{"plain", "the rows below are told from this one", false, body(ok), "18", llm.FinishStop, "", ""},
	{"plain stream", "pieces are joined", true, events(text("1"), text("8"), end("STOP")), "18", llm.FinishStop, "", ""},
	{"indented", "the API indents its bodies", false, body("{\n  \"candidates\": [\n    {\n      \"content\": {\n        \"parts\": [ {\"text\": \"18\"} ]\n      },\n      \"finishReason\": \"STOP\"\n    }\n  ]\n}\n"), "18", llm.FinishStop, "", ""},

	{"error in a 200", "never an empty answer", false, body(`{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`), "", "", llm.KindRateLimit, "RESOURCE_EXHAUSTED"},
	{"error text in a 200", "an object is not the only form", false, body(`{"error":"overloaded"}`), "", "", llm.KindServer, "overloaded"},
	{"error array in a 200", "what a stream without events has", false, body(`[{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}]`), "", "", llm.KindServer, "m"},
	{"unknown error in a 200", "nothing to try again by", false, body(`{"error":{"message":"m"}}`), "", "", llm.KindBadResponse, "m"},
	{"null error", "is none", false, body(strings.Replace(ok, "{", `{"error":null,`, 1)), "18", llm.FinishStop, "", ""},
	{"no error in other words", "an empty list is none", false, body(strings.Replace(ok, "{", `{"error":[],`, 1)), "18", llm.FinishStop, "", ""},
	{"null candidate", "holds no answer", false, body(`{"candidates":[null]}`), "", "", llm.KindBadResponse, "no candidates"},
	{"empty candidate", "holds no answer", true, events(ev(`{"candidates":[{"index":0}]}`), llmtest.Done), "", "", llm.KindBadResponse, "no candidates"},
	{"candidate without content", "it says that it is over", false, body(`{"candidates":[{"finishReason":"STOP"}]}`), "", llm.FinishStop, "", ""},
	{"error in a stream", "the text so far is kept", true, events(a, a, ev(`{"error":{"code":500,"message":"m","status":"INTERNAL"}}`)), "1818", "", llm.KindServer, "INTERNAL"},
	{"error without code", "by its word", true, events(a, ev(`{"error":{"message":"m","status":"UNAVAILABLE"}}`)), "18", "", llm.KindServer, "UNAVAILABLE"},
	{"error text in a stream", "an object is not the only form", true, events(a, ev(`{"error":"STREAM_EXPLODED"}`)), "18", "", llm.KindBadResponse, "STREAM_EXPLODED"},
	{"error event", "named, with another body", true, events(a, "event: error\ndata: {\"message\":\"gateway\",\"code\":502}\n\n"), "18", "", llm.KindServer, "gateway"},
	{"error array in a stream", "an object is not the only form", true, events(a, ev(`[{"error":{"code":503,"message":"m"}}]`)), "18", "", llm.KindServer, "m"},
	{"bare error in a stream", "servers break out of the stream", true, events(a, "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"The model is overloaded.\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n"), "18", "", llm.KindServer, "overloaded"},
	{"bare error array", "the form of a stream without events", true, events(a, "[{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"m\",\n    \"status\": \"RESOURCE_EXHAUSTED\"\n  }\n}]"), "18", "", llm.KindRateLimit, "RESOURCE_EXHAUSTED"},
	{"bare error before a reset", "its words say more than the reset does", true, llmtest.Reset(a, "{\"error\":{\"code\":503,\"message\":\"m\"}}\n"), "18", "", llm.KindServer, "m"},
	{"bare error after the end", "the answer was whole", true, events(a, end("STOP"), "{\"error\":{\"code\":500}}\n"), "18", llm.FinishStop, "", ""},
	{"stream asked, error came", "200 JSON instead of events", true, body(`{"error":{"code":503,"message":"m"}}`), "", "", llm.KindServer, "m"},
	{"error in text", "an answer about errors is none", true, events(text(`{"error": {"code": 500}}`), end("STOP")), `{"error": {"code": 500}}`, llm.FinishStop, "", ""},

	{"type alone", "a gateway's error: a reader needs it", true, events(ev(`{"error":{"message":"quota exceeded","type":"rate_limit_error"}}`)), "", "", llm.KindRateLimit, "[rate_limit_error]"},
	{"no error object", "a gateway's failure, which is no chunk", true, events("data: {\"code\":429,\"message\":\"slow down\"}\n\n", llmtest.Done), "", "", llm.KindRateLimit, "slow down"},
	{"no error object after text", "half an answer would be graded", true, events(a, "data: {\"code\":500,\"message\":\"boom\"}\n\n", llmtest.Done), "18", "", llm.KindServer, "boom"},
	{"no error object, no end", "the words say more than the cut does", true, events(a, "data: {\"code\":429,\"message\":\"slow down\"}\n\n"), "18", "", llm.KindRateLimit, "slow down"},
	{"a word beside a whole answer", "a server's notes are no error", true, events("data: {\"message\":\"in the queue\"}\n\n", a, end("STOP")), "18", llm.FinishStop, "", ""},
	{"a whole body that is no answer", "its words are shown", false, body(`{"code":429,"message":"slow down"}`), "", "", llm.KindRateLimit, "slow down"},
	{"prompt blocked after text", "half an answer would pass for whole", true, events(a, ev(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`)), "18", llm.FinishContentFilter, "", "PROHIBITED_CONTENT"},
	{"thoughts only", "a cut in the thoughts", false, body(`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]},"finishReason":"MAX_TOKENS"}]}`), "", llm.FinishLength, "", ""},
	{"usage of the prompt alone", "a stream's first chunks have no more, and the answer took some", false, body(`{"candidates":[{"content":{"parts":[{"text":"18"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7}}`), "18", llm.FinishStop, "", "usage is unknown: candidatesTokenCount is missing"},

	{"event that is cut", "half an event is no end", true, events(a, "data: {\"candidates\":[{\"ind"), "18", "", llm.KindIncomplete, ""},
	{"event that is no JSON", "it is not left out in silence", true, events(a, "data: hello\n\n"), "18", "", llm.KindBadResponse, "not JSON"},
	{"empty stream", "nothing is no answer, and another try may bring one", true, events(), "", "", llm.KindIncomplete, ""},
	{"usage only", "it is no answer", true, events(ev(`{"usageMetadata":{"promptTokenCount":3}}`)), "", "", llm.KindIncomplete, ""},
	{"unary cut", "truncated JSON", false, body(ok[:60]), "", "", llm.KindIncomplete, ""},
	{"no line end", "the last line counts", true, events(a, strings.TrimSpace(end("STOP"))), "18", llm.FinishStop, "", ""},
	{"unspecified reason", "is none", true, events(a, end("FINISH_REASON_UNSPECIFIED")), "18", "", llm.KindIncomplete, ""},
	{"DONE", "gateways send it", true, events(a, end("STOP"), llmtest.Done), "18", llm.FinishStop, "", ""},
	{"DONE without reason", "it says that it is over", true, events(a, llmtest.Done), "18", "", "", "without a finish reason"},
	{"chunks after the reason", "grounding and usage come late", true, events(end("STOP"), a), "18", llm.FinishStop, "", ""},

	{"C06 comments", "the SDK breaks on them", true, events(": ping\n\n", a, ": ping\n\n", "retry: 3000\n\n", "data:\n\n", "event: ping\n\n", a, end("STOP")), "1818", llm.FinishStop, "", ""},
	{"C06 event names", "the SDK breaks on them", true, events("event: message\nid: 1\n"+a, "event: message\n"+end("STOP")), "18", llm.FinishStop, "", ""},
	{"C06 LF", "line ends of proxies", true, events(strings.ReplaceAll(a+end("STOP"), "\r\n", "\n")), "18", llm.FinishStop, "", ""},
	{"C06 CR", "the standard allows it", true, events(strings.ReplaceAll(a+end("STOP"), "\r\n", "\r")), "18", llm.FinishStop, "", ""},
	{"C06 single line ends", "the SDK breaks on them", true, events(strings.ReplaceAll(a+end("STOP"), "\r\n\r\n", "\n")), "18", llm.FinishStop, "", ""},
	{"C06 no space", "the space is optional", true, events(strings.ReplaceAll(a+end("STOP"), "data: ", "data:")), "18", llm.FinishStop, "", ""},
	{"C06 BOM", "it is no part of the first field", true, events("\xef\xbb\xbf"+a, end("STOP")), "18", llm.FinishStop, "", ""},
	{"C06 several lines", "one document over data lines", true, events("data: {\"candidates\":[\ndata: {\"content\":{\"parts\":[{\"text\":\"18\"}]},\ndata: \"finishReason\":\"STOP\"}]}\n\n"), "18", llm.FinishStop, "", ""},
	{"C06 split character", "a character over two writes", true, events("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\xc3", "\xa9\"}]}}]}\r\n\r\n", end("STOP")), "é", llm.FinishStop, "", ""},
	{"C06 megabyte line", "a line reader's default limit would lose it", true, events(text(strings.Repeat("x", 3<<20)), end("STOP")), strings.Repeat("x", 3<<20), llm.FinishStop, "", ""},

	{"C08 HTML 200 stream", "a gateway's page", true, llmtest.HTML(200, "<html><head><title>Blocked</title><style>b{}</style></head><body>Request denied</body></html>"), "", "", llm.KindBadResponse, `status 200, content type text/html): "Blocked Request denied"`},
	{"C08 HTML 200 unary", "a page is no empty answer", false, llmtest.HTML(200, "<html><title>Blocked</title></html>"), "", "", llm.KindBadResponse, "status 200, content type text/html"},
	{"C08 HTML 504", "the status counts", false, llmtest.HTML(504, "<html><title>504 Gateway Time-out</title></html>"), "", "", llm.KindServer, "HTTP 504"},
	{"C08 HTML 502 stream", "the status counts where the body says nothing", true, llmtest.HTML(502, "<html>nginx</html>"), "", "", llm.KindServer, "HTTP 502"},
	{"empty 200", "the SDK takes it for an answer", false, body(``), "", "", llm.KindBadResponse, "the body is empty"},
	{"empty object", "the SDK takes it for an answer", false, body(`{}`), "", "", llm.KindBadResponse, "no candidates"},
	{"no candidates", "an empty list is no empty answer", false, body(`{"candidates":[],"usageMetadata":{"promptTokenCount":3}}`), "", "", llm.KindBadResponse, "no candidates"},
	{"empty array", "a stream of nothing is no empty answer", true, body(`[]`), "", "", llm.KindBadResponse, "no candidates"},
	{"leading lines, trailing bytes", "keep-alive lines before the JSON", false, body("\n\n " + ok + " x"), "18", llm.FinishStop, "", ""},
	{"304", "no success", false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, "", "", llm.KindBadResponse, "304"},
	{"204", "no success", false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, "", "", llm.KindBadResponse, "204"},
	{"a stream unasked", "some proxies always stream", false, events(a, end("STOP")), "18", llm.FinishStop, "", ""},
	{"a stream without its type", "a proxy renames it", true, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, a, end("STOP"))
	}, "18", llm.FinishStop, "", ""},
	{"whole instead of stream", "a server that ignores alt=sse", true, body(ok), "18", llm.FinishStop, "", "came whole"},
	{"array instead of stream", "what the API sends without alt=sse", true, body(`[{"candidates":[{"content":{"parts":[{"text":"1"}]}}]},` + "\r\n" + `{"candidates":[{"content":{"parts":[{"text":"8"}]},"finishReason":"STOP"}]}]`), "18", llm.FinishStop, "", "came whole"},

	{"array without an end", "half an answer is none", true, body(`[{"candidates":[{"content":{"parts":[{"text":"18"}]}}]}]`), "18", "", llm.KindIncomplete, ""},

	{"several candidates", "one is used, and it says so", false, body(`{"candidates":[{"content":{"parts":[{"text":"18"}]},"finishReason":"STOP","index":0},{"content":{"parts":[{"text":"19"}]},"finishReason":"STOP","index":1}]}`), "18", llm.FinishStop, "", "several candidates"},
	{"candidate far away", "only the first counts", false, body(`{"candidates":[{"content":{"parts":[{"text":"19"}]},"finishReason":"STOP","index":7}]}`), "", "", llm.KindBadResponse, "no candidates"},
	{"odd types", "a field of another type spoils itself only", false, body(`{"modelVersion":7,"responseId":1.5,"candidates":[{"avgLogprobs":"x","content":{"role":7,"parts":[{"text":"18"}]},"finishReason":"STOP"}]}`), "18", llm.FinishStop, "", ""},
	{"null parts", "what is left of the budget after thinking", false, body(`{"candidates":[{"content":{"parts":null,"role":"model"},"finishReason":"MAX_TOKENS"}]}`), "", llm.FinishLength, "", ""},
	{"no content", "it says that it is over", false, body(`{"candidates":[{"finishReason":"STOP"}]}`), "", llm.FinishStop, "", ""},
	{"no reason in a whole body", "it was read to its end", false, body(`{"candidates":[{"content":{"parts":[{"text":"18"}]}}]}`), "18", "", "", ""},
	{"a picture", "nothing is left out in silence", false, body(`{"candidates":[{"content":{"parts":[{"text":"18"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},"finishReason":"STOP"}]}`), "18", llm.FinishStop, "", "inlineData"},
	{"signature alone", "the end of a thought has no text", true, events(a, ev(`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"AAAA"}]},"finishReason":"STOP"}]}`)), "18", llm.FinishStop, "", ""},

	{"SAFETY", "blocked, with a reason", false, body(`{"candidates":[{"finishReason":"SAFETY","finishMessage":"harm"}]}`), "", llm.FinishContentFilter, "", "SAFETY: \"harm\""},
	{"RECITATION", "a filter's word, with the text so far", false, body(finished("RECITATION")), "18", llm.FinishContentFilter, "", "RECITATION"},
	{"PROHIBITED_CONTENT", "a filter's word, with the text so far", false, body(finished("PROHIBITED_CONTENT")), "18", llm.FinishContentFilter, "", "PROHIBITED_CONTENT"},
	{"BLOCKLIST", "a filter's word, with the text so far", false, body(finished("BLOCKLIST")), "18", llm.FinishContentFilter, "", "BLOCKLIST"},
	{"SPII", "a filter's word, with the text so far", false, body(finished("SPII")), "18", llm.FinishContentFilter, "", "SPII"},
	{"IMAGE_SAFETY", "a filter's word, with the text so far", false, body(finished("IMAGE_SAFETY")), "18", llm.FinishContentFilter, "", "IMAGE_SAFETY"},
	{"MALFORMED_FUNCTION_CALL", "kept as it came", false, body(finished("MALFORMED_FUNCTION_CALL")), "18", "MALFORMED_FUNCTION_CALL", "", "MALFORMED_FUNCTION_CALL"},
	{"UNEXPECTED_TOOL_CALL", "kept as it came", true, events(a, end("UNEXPECTED_TOOL_CALL")), "18", "UNEXPECTED_TOOL_CALL", "", "UNEXPECTED_TOOL_CALL"},
	{"OTHER", "kept as it came", false, body(finished("OTHER")), "18", "OTHER", "", "OTHER"},
	{"CONTINUATION", "half an answer is cut", false, body(finished("CONTINUATION")), "18", llm.FinishLength, "", "CONTINUATION"},
	{"a new reason", "kept as it came", false, body(finished("NEW_REASON")), "18", "NEW_REASON", "", "NEW_REASON"},

	{"reset before the answer", "nothing was billed, and another try may pass", false, llmtest.Reset(), "", "", llm.KindConnection, ""},
	{"no body", "the status is all there is", false, llmtest.Status(503, ``), "", "", llm.KindServer, "HTTP 503"},
}

func finished(reason string) string { return strings.Replace(ok, "STOP", reason, 1) }

func TestAnswers(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(t, seen[r.name], "two rows are called %q", r.name)
		seen[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			silent(t)
			s := serve(r.answer)
			req := llm.Prompt("What is 6*3?")
			req.Stream = r.stream
			got, err := ask(t, s, s.config(), req)
			assert.Equal(t, r.text, got.Text, r.reason)
			if r.kind != "" {
				le := failing(t, err, r.kind, r.says)
				assert.Equal(t, "gemini", le.Provider)
				return
			}
			require.NoError(t, err, r.reason)
			assert.Equal(t, r.finish, got.Finish, r.reason)
			if r.says == "" {
				assert.Empty(t, got.Warnings)
			} else {
				assert.Contains(t, joined(got.Warnings), r.says)
			}
		})
	}
}

// TestCaseC03 is the case's Gemini form: half an answer is none, however clean
// the end of its connection is.
func TestCaseC03(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"clean end": events(text("The answer"), text(" is 1")),
		"reset":     llmtest.Reset(text("The answer"), text(" is 1")),
	} {
		t.Run(name, func(t *testing.T) {
			silent(t) // the SDK logs what breaks a stream
			s := serve(h)
			got, err := ask(t, s, s.config(), streamed("q"))
			failing(t, err, llm.KindIncomplete)
			assert.Equal(t, "The answer is 1", got.Text)
			assert.False(t, got.Usage.Known, "unknown, not estimated")
			assert.True(t, llm.KindOf(err).Retryable())
		})
	}
}

// TestCaseC04 is the case's Gemini form: the finish reason is the end, and
// there is never a [DONE].
func TestCaseC04(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"clean end":              events(text("18"), end("STOP")),
		"reset after the reason": llmtest.Reset(text("18"), end("STOP")),
		"reason beside the text": events(ev(ok)),
	} {
		t.Run(name, func(t *testing.T) {
			silent(t)
			s := serve(h)
			got, err := ask(t, s, s.config(), streamed("q"))
			require.NoError(t, err)
			assert.Equal(t, "18", got.Text)
			assert.Equal(t, llm.FinishStop, got.Finish)
			assert.Empty(t, got.Warnings)
		})
	}
}

func TestCaseC09(t *testing.T) {
	const usage = `,"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7}`
	for _, r := range []struct{ name, feedback, code, says string }{
		{"SAFETY", `{"blockReason":"SAFETY"}`, "SAFETY", "the prompt was blocked"},
		{"with a message", `{"blockReason":"PROHIBITED_CONTENT","blockReasonMessage":"no"}`, "PROHIBITED_CONTENT", "no"},
		{"nothing", `{}`, "unknown", "unknown"},
		{"unspecified", `{"blockReason":"BLOCKED_REASON_UNSPECIFIED"}`, "unknown", "unknown"},
		{"an odd type", `{"blockReason":7}`, "unknown", "unknown"},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", r.name, stream), func(t *testing.T) {
				answer := `{"promptFeedback":` + r.feedback + usage + `}`
				h := body(answer)
				if stream {
					h = events(ev(answer))
				}
				s := serve(h)
				req := llm.Prompt("q")
				req.Stream = stream
				got, err := ask(t, s, s.config(), req)
				le := failing(t, err, llm.KindBlocked, r.says)
				assert.Equal(t, r.code, le.Code)
				want := llm.Usage{Input: 7, Known: true}
				assert.Equal(t, want, le.Usage, "prompt tokens are counted")
				assert.Equal(t, want, got.Usage)
				assert.Equal(t, llm.FinishContentFilter, got.Finish)
				assert.False(t, le.Kind.Retryable())
				assert.Equal(t, 1, s.Calls())
			})
		}
	}
}

func TestCaseC11(t *testing.T) {
	const parts = `[{"thought":true,"text":"Maybe 17?"},{"text":"The answer "},{"text":"is 18."}]`
	whole := body(`{"candidates":[{"content":{"parts":` + parts + `},"finishReason":"STOP"}]}`)
	stream := events(ev(`{"candidates":[{"content":{"parts":[{"thought":true,"text":"Maybe 17?"}]}}]}`),
		ev(`{"candidates":[{"content":{"parts":[{"text":"The answer "},{"text":"is 18."}]},"finishReason":"STOP"}]}`))
	for name, h := range map[string]http.HandlerFunc{"whole": whole, "stream": stream} {
		t.Run(name, func(t *testing.T) {
			s := serve(h)
			req := llm.Prompt("q")
			req.Stream = name == "stream"
			got, err := ask(t, s, s.config(), req)
			require.NoError(t, err)
			assert.Equal(t, "The answer is 18.", got.Text)
			assert.Equal(t, "Maybe 17?", got.Reasoning)
		})
	}
}

func TestCaseC13(t *testing.T) {
	s := serve(body(strings.Replace(finished("SAFETY"), `"18"`, `"The answer is 4"`, 1)))
	got, err := ask(t, s, s.config(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, "The answer is 4", got.Text, "the text is kept")
	assert.Equal(t, llm.FinishContentFilter, got.Finish, "and the reason shown")
}

func TestCaseC15(t *testing.T) {
	for name, answer := range map[string]string{
		"empty":   `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":3,"thoughtsTokenCount":9}}`,
		"partial": `{"candidates":[{"content":{"parts":[{"text":"so 9 * 2"}]},"finishReason":"MAX_TOKENS"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(body(answer))
			got, err := ask(t, s, s.config(), llm.Prompt("q"))
			require.NoError(t, err)
			assert.Equal(t, llm.FinishLength, got.Finish)
		})
	}
}

func TestCaseU06(t *testing.T) {
	var growing []string
	for i := 1; i <= 50; i++ {
		growing = append(growing, ev(fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":%d}}`, i)))
	}
	rows := []struct {
		name, reason string
		events       []string
		want         llm.Usage
	}{
		{"50 chunks", "each repeats the counts so far", append(growing, end("STOP")), llm.Usage{Input: 10, Output: 50, Known: true}},
		{"last only", "servers that count at the end", []string{a, ev(ok)}, llm.Usage{Input: 3, Output: 1, Known: true}},
		{"a field in an earlier one", "it counts if the last lacks it", []string{
			ev(`{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":10,"thoughtsTokenCount":5,"cachedContentTokenCount":4}}`),
			ev(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":2}}`),
		}, llm.Usage{Input: 11, CachedInput: 4, Output: 7, Reasoning: 5, Known: true}},
		{"a null in the last", "says no more than none", []string{ev(ok), ev(`{"usageMetadata":{"promptTokenCount":null,"candidatesTokenCount":2}}`)}, llm.Usage{Input: 3, Output: 2, Known: true}},
		{"empty last", "an object without counts says nothing", []string{ev(ok), ev(`{"usageMetadata":{}}`)}, llm.Usage{Input: 3, Output: 1, Known: true}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := serve(events(r.events...))
			got, err := ask(t, s, s.config(), streamed("q"))
			require.NoError(t, err)
			assert.Equal(t, r.want, got.Usage, r.reason)
		})
	}
}

func TestCaseU15(t *testing.T) {
	rows := []struct {
		name, usage string
		want        llm.Usage
		warned      bool
	}{
		{"float", `{"promptTokenCount":3,"candidatesTokenCount":12.0}`, llm.Usage{Input: 3, Output: 12, Known: true}, false},
		{"text", `{"promptTokenCount":3,"candidatesTokenCount":"12"}`, llm.Usage{}, true},
		{"fraction", `{"promptTokenCount":3,"candidatesTokenCount":12.5}`, llm.Usage{}, true},
		{"no object", `"12"`, llm.Usage{}, true},
		{"beyond int32", `{"promptTokenCount":3000000000,"candidatesTokenCount":1}`, llm.Usage{Input: 3000000000, Output: 1, Known: true}, false},
		{"null", `null`, llm.Usage{}, false},
		{"thoughts and tools", `{"promptTokenCount":10,"toolUsePromptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":30,"cachedContentTokenCount":8}`, llm.Usage{Input: 15, CachedInput: 8, Output: 32, Reasoning: 30, Known: true}, false},
	}
	for _, r := range rows {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", r.name, stream), func(t *testing.T) {
				answer := `{"candidates":[{"content":{"parts":[{"text":"18"}]},"finishReason":"STOP"}],"usageMetadata":` + r.usage + `}`
				h := body(answer)
				if stream {
					h = events(ev(answer))
				}
				s := serve(h)
				req := llm.Prompt("q")
				req.Stream = stream
				got, err := ask(t, s, s.config(), req)
				require.NoError(t, err)
				assert.Equal(t, "18", got.Text, "the answer is not lost over its accounting")
				assert.Equal(t, r.want, got.Usage)
				assert.Equal(t, r.warned, strings.Contains(joined(got.Warnings), "usage is unknown"), "%q", got.Warnings)
			})
		}
	}
}

func TestMissingUsageIsUnknown(t *testing.T) {
	s := serve(body(`{"candidates":[{"content":{"parts":[{"text":"18"}]},"finishReason":"STOP"}]}`))
	got, err := ask(t, s, s.config(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, llm.Usage{}, got.Usage)
	assert.Empty(t, got.Warnings)
}

// TestTimes: a keep-alive is no token, a thought is one; each piece with
// generated tokens has its time.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(llmtest.SlowStream(time.Second,
			": keep-alive\n\n", // 1 s
			ev(`{"candidates":[{"content":{"parts":[{"text":""}]}}],"usageMetadata":{"promptTokenCount":3}}`), // 2 s
			ev(`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]}`),                       // 3 s
			text("1")+text("8"), // 4 s, two in one piece
			ev(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}`), // 5 s
			end("STOP"), // 6 s
		))
		got, err := ask(t, s, s.config(), streamed("q"))
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{3 * time.Second, 4 * time.Second, 4 * time.Second, 5 * time.Second}, got.Chunks)
		assert.Equal(t, 3*time.Second, got.Timing.FirstToken)
		assert.Equal(t, 6*time.Second, got.Timing.Total)
		assert.Equal(t, "gemini-2.5-flash", s.config().Model)

		s = serve(body(ok))
		got, err = ask(t, s, s.config(), llm.Prompt("q"))
		require.NoError(t, err)
		assert.Nil(t, got.Chunks)
		assert.Zero(t, got.Timing.FirstToken)
		assert.False(t, got.Timing.Start.IsZero())
	})
}

func TestToolCalls(t *testing.T) {
	const parts = `[{"text":"ok: "},{"functionCall":{"id":"c1","name":"f","args":{"x": 9007199254740993,"a":[1, 2]}},"thoughtSignature":"QUJD"},{"functionCall":{"name":"g"}},{"functionCall":{"name":"g","args":null}}]`
	want := []llm.ToolCall{
		{ID: "c1!QUJD", Name: "f", Arguments: `{"x":9007199254740993,"a":[1,2]}`},
		{ID: "g#1", Name: "g", Arguments: "{}"},
		{ID: "g#2", Name: "g", Arguments: "{}"},
	}
	answer := `{"candidates":[{"content":{"parts":` + parts + `},"finishReason":"STOP"}]}`
	for name, h := range map[string]http.HandlerFunc{"whole": body(answer), "stream": events(ev(answer))} {
		t.Run(name, func(t *testing.T) {
			s := serve(h)
			req := llm.Prompt("q")
			req.Stream = name == "stream"
			got, err := ask(t, s, s.config(), req)
			require.NoError(t, err)
			assert.Equal(t, want, got.ToolCalls)
			assert.Equal(t, llm.FinishToolCalls, got.Finish)
			assert.Equal(t, "ok: ", got.Text)
			assert.Empty(t, got.Warnings)
		})
	}
	s := serve(body(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.x"}],"willContinue":true},"thoughtSignature":"` + strings.Repeat("A", 70<<10) + `"}]},"finishReason":"STOP"}]}`))
	got, err := ask(t, s, s.config(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Contains(t, joined(got.Warnings), "streamFunctionCallArguments")
	assert.Contains(t, joined(got.Warnings), "signature of 71680 bytes")
	assert.Equal(t, "f#0", got.ToolCalls[0].ID)
}

func TestIdentity(t *testing.T) {
	s := serve(body(ok))
	got, err := ask(t, s, s.config(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, "gemini-2.5-flash", got.Model)
	assert.Equal(t, "r1", got.ID)
	assert.Equal(t, llm.Usage{Input: 3, Output: 1, Known: true}, got.Usage)
}
