package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

// ask makes a call of an API without any client of it.
func ask(ctx context.Context, c *http.Client, api llmtest.API, stream bool, text string) (*http.Response, error) {
	url, body := "http://fake/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"`+text+`"}]}`
	if stream {
		body = `{"stream":true,"stream_options":{"include_usage":true},` + body[1:]
	}
	if api == llmtest.Gemini {
		url, body = "http://fake/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"`+text+`"}]}]}`
		if stream {
			url = "http://fake/v1beta/models/m:streamGenerateContent?alt=sse"
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return c.Do(req)
}

// wireRow is what a fault looks like on the wire: "*" expects nothing.
type wireRow struct {
	name   string
	status int    // 0: no answer
	header string // "Name: value", a regular expression
	body   string // a regular expression of the whole answer, "" expects an empty one
	stream string // of a streamed one; "" expects what body does
	err    error  // of reading it
	gemini int    // the status, if it is another one
	gbody  string // what Gemini's API says; "-" for nothing, as it does not have the fault
	gline  string // and in a stream
}

const (
	openAIError = `^\{"error":\{"message":".+","type":"\w*","param":(null|"\w+"),"code":(null|"\w+")(,"innererror":\{.+\})?\}\}\n$`
	googleError = `^\{"error":\{"code":\d+,"message":".+","status":"[A-Z_]+"(,"details":\[.+\])?\}\}\n$`
	exhausted   = `"code":429,.*"status":"RESOURCE_EXHAUSTED"`
)

func retryIn(delay string) string {
	return exhausted + `,"details":\[\{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":\[\{"quotaDimensions":\{"location":"global","model":"m"\},"quotaId":"[\w-]+","quotaMetric":"[\w./]+","quotaValue":"\d+"\}\]\},\{"@type":"type.googleapis.com/google.rpc.Help","links":\[\{[^]]+\}\]\},\{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"\}\]`
}

var wireRows = []wireRow{
	{name: llmtest.FaultRateLimit, status: 429, header: `Retry-After: $`, body: `"code":"rate_limit_exceeded"`, gbody: exhausted + `\}\}`},
	{name: llmtest.FaultRateLimitZero, status: 429, header: "Retry-After: 0$", body: openAIError, gbody: retryIn("0s")},
	{name: llmtest.FaultRateLimitSeconds, status: 429, header: "Retry-After: 2$", body: openAIError, gbody: retryIn("2s")},
	{name: llmtest.FaultRateLimitFraction, status: 429, header: `Retry-After: 1\.5$`, body: openAIError, gbody: retryIn(`1\.5s`)},
	{name: llmtest.FaultRateLimitMillis, status: 429, header: "Retry-After-Ms: 500$", body: openAIError, gbody: retryIn(`0\.5s`)},
	{name: llmtest.FaultRateLimitDate, status: 429, header: "Retry-After: Sat, 01 Jan 2000 00:00:03 GMT$", body: openAIError, gbody: exhausted},
	{name: llmtest.FaultRateLimitRFC850, status: 429, header: "Retry-After: Saturday, 01-Jan-00 00:00:03 GMT$", body: openAIError, gbody: exhausted},
	{name: llmtest.FaultRateLimitPast, status: 429, header: "Retry-After: Fri, 31 Dec 1999 23:00:00 GMT$", body: openAIError, gbody: exhausted},
	{name: llmtest.FaultRateLimitGarbage, status: 429, header: "Retry-After: soon$", body: openAIError, gbody: retryIn("soon")},
	{name: llmtest.FaultRateLimitReset, status: 429, header: "X-Ratelimit-Reset-Tokens: 2s$", body: openAIError, gbody: exhausted},
	{name: llmtest.FaultRateLimitWords, status: 429, header: "Retry-After: $", body: `Please try again in 1\.25s\.`, gbody: `Please retry in 1\.25s\.`},
	{name: llmtest.FaultRateLimitHour, status: 429, header: "Retry-After: 3600$", body: openAIError, gbody: retryIn("3600s")},
	{name: llmtest.FaultMinuteQuota, status: 429, header: "Retry-After-Ms: 2000$", body: `tokens per min \(TPM\)`, gbody: `PerModelPerMinute.*"retryDelay":"2s"`},
	{name: llmtest.FaultInsufficientQuota, status: 429, body: `"code":"insufficient_quota"`, gbody: `prepayment credits.*"RESOURCE_EXHAUSTED"`},
	{name: llmtest.FaultDailyQuota, status: 429, body: `requests per day \(RPD\)`, gbody: `RequestsPerDay.*"retryDelay":"37s"`},
	{name: llmtest.FaultNoBalance, status: 402, body: `Insufficient Balance`, gemini: 403, gbody: `BILLING_DISABLED`},
	{name: llmtest.FaultBadKey, status: 401, body: `"code":"invalid_api_key"`, gemini: 400, gbody: `"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"googleapis.com","metadata":\{"service":"generativelanguage.googleapis.com"\},"reason":"API_KEY_INVALID".*google.rpc.LocalizedMessage`},
	{name: llmtest.FaultForbidden, status: 403, body: openAIError, gbody: `"PERMISSION_DENIED"`},
	{name: llmtest.FaultNoModel, status: 404, body: `"code":"model_not_found"`, gbody: `"NOT_FOUND"`},
	{name: llmtest.FaultBadRequest, status: 400, body: `"param":"max_tokens","code":"unsupported_parameter"`, gbody: `"INVALID_ARGUMENT"`},
	{name: llmtest.FaultTooLong, status: 400, body: `"code":"context_length_exceeded"`, gbody: `"INVALID_ARGUMENT"`},
	{name: llmtest.FaultBlockedPrompt, status: 400, body: `"code":"content_filter","innererror":\{"code":"ResponsibleAIPolicyViolation"\}`,
		gemini: 200, gbody: `^\{"promptFeedback":\{"blockReason":"SAFETY"\},"usageMetadata":\{"promptTokenCount":2,"totalTokenCount":2,"promptTokensDetails":\[\{"modality":"TEXT","tokenCount":2\}\]\}`,
		gline: `^data: \{"promptFeedback":\{"blockReason":"SAFETY"\},"usageMetadata":\{"promptTokenCount":2,"totalTokenCount":2,[^\n]*\r\n\r\n$`},
	{name: llmtest.FaultServerError, status: 500, body: openAIError, gbody: `"INTERNAL"`},
	{name: llmtest.FaultBadGateway, status: 502, header: "Content-Type: text/html", body: `^<html>`, gbody: `^<html>`},
	{name: llmtest.FaultUnavailable, status: 503, body: openAIError, gbody: `"UNAVAILABLE"`},
	{name: llmtest.FaultGatewayTime, status: 504, body: openAIError, gbody: `"DEADLINE_EXCEEDED"`},
	{name: llmtest.FaultOverloaded, status: 529, body: `"overloaded_error"`, gemini: 503, gbody: `The model is overloaded`},
	{name: llmtest.FaultTimeout, status: 408, body: openAIError, gbody: googleError},
	{name: llmtest.FaultHTML, status: 200, header: "Content-Type: text/html", body: `^<html>`, gbody: `^<html>`},
	{name: llmtest.FaultEmptyBody, status: 200, body: `^$`, gbody: `^$`},
	{name: llmtest.FaultErrorIn200, status: 200, body: openAIError, stream: `^data: \{"error":\{.+\}\}\n\ndata: \[DONE\]\n\n$`,
		gbody: googleError, gline: `^data: \{"error":\{"code":500,.+\}\}\r\n\r\n$`},
	{name: llmtest.FaultBusyIn200, status: 200, body: openAIError, stream: `^data: \{"error":\{.*rate_limit_exceeded`, gbody: exhausted},
	{name: llmtest.FaultErrorMidway, status: 200, body: "-", stream: `two "\}.+\n\ndata: \{"error":\{.+\}\}\n\ndata: \[DONE\]\n\n$`,
		gbody: "-", gline: `two "\}.+\r\n\r\ndata: \{"error":\{"code":500,.+\}\}\r\n\r\n$`},
	{name: llmtest.FaultNoChoices, status: 200, body: `"choices":\[\],"usage":`, gbody: `^\{"usageMetadata":.*"modelVersion":"m"`, gline: `^data: \{"usageMetadata"`},
	{name: llmtest.FaultHang, err: context.DeadlineExceeded},
	{name: llmtest.FaultHangMidway, status: 200, err: context.DeadlineExceeded, body: `^\{`, stream: `"content":"two "`, gbody: `^\{`, gline: `"text":"two "`},
	{name: llmtest.FaultReset, err: io.EOF},
	{name: llmtest.FaultResetMidway, status: 200, err: io.ErrUnexpectedEOF, body: `^\{`, stream: `"content":"two "`, gbody: `^\{`, gline: `"text":"two "`},
	{name: llmtest.FaultTruncated, status: 200, body: `^\{.*[^}\n]$`, stream: `"content":"two "\},"logprobs":null,"finish_reason":null\}\],"usage":null\}\n\n$`,
		gbody: `^\{.*[^}\n]$`, gline: `"text":"two "[^\n]+\r\n\r\n$`},
	{name: llmtest.FaultNoFinish, status: 200, body: "-", stream: `"content":"four"\},"logprobs":null,"finish_reason":null\}\],"usage":null\}\n\ndata: [^\n]*"choices":\[\],"usage":[^\n]*\n\n$`,
		gbody: "-", gline: `"text":""[^\n]*"index":0\}[^\n]*\r\n\r\n$`},
	{name: llmtest.FaultNoDone, status: 200, body: "-", stream: `"finish_reason":"stop"[^\n]*\n\ndata: [^\n]*"usage":[^\n]*\n\n$`, gbody: "-"},
	{name: llmtest.FaultLateEnd, status: 200, body: "-", stream: `\[DONE\]\n\n$`, gbody: "-", gline: `"STOP"[^\n]*\r\n\r\n$`},
	{name: llmtest.FaultSlowDrip, status: 200, body: `"one two three four"`, stream: `"content":"four"`, gbody: `"one two three four"`, gline: `"text":"four"`},
	{name: llmtest.FaultKeepAlives, status: 200, body: "-", stream: `(?s)\n\n(: keep-alive\n\n){500}data: .*\n\n: keep-alive\n\ndata: [^\n]*four`, gbody: "-"},
	{name: llmtest.FaultLongLine, status: 200, body: `^\{"obfuscation":"x{999}`, stream: `^data: \{"obfuscation":"x{999}`, gbody: `^\{"obfuscation":"x{999}`, gline: `^data: \{"obfuscation":"x{999}`},
	{name: llmtest.FaultUsageFloats, status: 200, body: `"prompt_tokens":2\.0,"completion_tokens":4\.0`, gbody: `"promptTokenCount":2\.0,"candidatesTokenCount":4\.0`},
	{name: llmtest.FaultUsageStrings, status: 200, body: `"prompt_tokens":"2","completion_tokens":"4"`, gbody: `"promptTokenCount":"2","candidatesTokenCount":"4"`},
	{name: llmtest.FaultNoUsage, status: 200, body: `^[^$]*"finish_reason":"stop"[^u]*$`, stream: `"finish_reason":"stop"\}\]\}\n\ndata: \[DONE\]`, gbody: `"finishReason":"STOP","index":0\}\],"modelVersion"`},
	{name: llmtest.FaultRefusal, status: 200, body: `"content":null,"refusal":"I cannot`, stream: `"delta":\{"refusal":"I cannot`, gbody: `"finishReason":"SAFETY","finishMessage":"I cannot`},
	{name: llmtest.FaultContentFilter, status: 200, body: `"content":"one two ".*"finish_reason":"content_filter"`, stream: `"finish_reason":"content_filter"`, gbody: `"finishReason":"SAFETY"`},
	{name: llmtest.FaultLength, status: 200, body: `"content":"one two ".*"finish_reason":"length"`, stream: `"finish_reason":"length"`, gbody: `"finishReason":"MAX_TOKENS"`},
	{name: llmtest.FaultLengthEmpty, status: 200, body: `"content":"","reasoning_content":"Let me.*"finish_reason":"length".*"reasoning_tokens":5`, stream: `"reasoning_content":"Let "`, gbody: `"thought":true.*"MAX_TOKENS".*"thoughtsTokenCount":5`, gline: `"text":"Let ","thought":true`},
	{name: llmtest.FaultThoughtsOnly, status: 200, body: `"content":"","reasoning_content":"Let me.*"finish_reason":"stop"`, stream: `"reasoning_content":"Let "`, gbody: `"thought":true.*"STOP"`, gline: `"text":"Let ","thought":true`},
}

// want is what the row expects of a call; have is false if the API, or the
// mode, does not have the fault.
func (r wireRow) want(api llmtest.API, stream bool) (status int, body string, have bool) {
	status, body = r.status, r.body
	if stream && r.stream != "" {
		body = r.stream
	}
	if api == llmtest.Gemini {
		if r.gemini != 0 {
			status = r.gemini
		}
		if body = r.gbody; stream && r.gline != "" {
			body = r.gline
		}
	}
	return status, body, body != "-"
}

func TestFaultsOnTheWire(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range wireRows {
		assert.False(t, seen[row.name], "%s has two rows", row.name)
		seen[row.name] = true
		for _, api := range []llmtest.API{llmtest.OpenAI, llmtest.Gemini} {
			for mode, stream := range map[string]bool{"whole": false, "stream": true} {
				t.Run(row.name+"/"+string(api)+"/"+mode, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { onTheWire(t, row, api, stream) })
				})
			}
		}
	}
	for _, f := range llmtest.Faults() {
		assert.True(t, seen[f.Name], "the fault %q has no row", f.Name)
		assert.NotEmpty(t, f.Reason, f.Name)
	}
}

func onTheWire(t *testing.T, row wireRow, api llmtest.API, stream bool) {
	fault := llmtest.Named(row.name)
	s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: fault}}, Reply: func(llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: "one two three four"}
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	status, body, have := row.want(api, stream)
	resp, err := ask(ctx, s.Client(), api, stream, "say words")
	if status == 0 {
		require.ErrorIs(t, err, row.err)
		s.Memory().Wait()
		assert.Equal(t, map[string]int{row.name: 1}, s.Counts().ByFault)
		return
	}
	require.NoError(t, err)
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	s.Memory().Wait()
	if !have {
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode, "the call does not have the fault, and is not touched")
		assert.Zero(t, s.Counts().Faults)
		return
	}
	if row.err != nil {
		require.ErrorIs(t, err, row.err)
	} else {
		require.NoError(t, err)
	}
	assert.Equal(t, status, resp.StatusCode)
	matches(t, body, string(got))
	if name, value, ok := strings.Cut(row.header, ":"); ok && (api == llmtest.OpenAI || name == "Content-Type" || name == "Retry-After" && row.gbody == exhausted) {
		assert.Regexp(t, "^"+strings.TrimSpace(value), resp.Header.Get(name))
	}
	if status >= 300 && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		assert.True(t, json.Valid(got))
		matches(t, map[llmtest.API]string{llmtest.OpenAI: openAIError, llmtest.Gemini: googleError}[api], string(got))
	}
	assert.Equal(t, map[string]int{row.name: 1}, s.Counts().ByFault)
	if fault[0].Kind == "" {
		assert.Equal(t, 1, s.Counts().Answered, "an odd answer is one")
	}
}

func matches(t *testing.T, re, got string) {
	t.Helper()
	if !regexp.MustCompile(re).MatchString(got) {
		if len(got) > 3000 {
			got = got[:3000] + "…"
		}
		t.Errorf("the answer is\n%s\nwant it to match %s", got, re)
	}
}

func TestGeminiHasNoHeadersOfWaits(t *testing.T) {
	s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: []llmtest.Fault{llmtest.Busy(90 * time.Millisecond)}}}}
	resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, "q")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, "1", resp.Header.Get("Retry-After"), "rounded up, never early")
	assert.Equal(t, "90", resp.Header.Get("Retry-After-Ms"))
	resp, err = ask(t.Context(), s.Client(), llmtest.Gemini, false, "q")
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Empty(t, resp.Header.Get("Retry-After"))
	assert.Empty(t, resp.Header.Get("Retry-After-Ms"))
	assert.Contains(t, string(b), `"retryDelay":"0.09s"`)
}

// TestUnknownFault: a typo is told at once, with what there is.
func TestUnknownFault(t *testing.T) {
	defer func() { assert.Contains(t, recover(), `"hnag"; there are rate-limit, `) }()
	llmtest.Named("hnag")
}

// TestReplyFault: a Reply may name a fault, and a fault of one's own edits it.
func TestReplyFault(t *testing.T) {
	own := llmtest.Fault{Name: "shout", Edit: func(c llmtest.Chat, r llmtest.Reply) llmtest.Reply {
		r.Text = strings.ToUpper(r.Text)
		return r
	}}
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		if c.N == 1 {
			return llmtest.Reply{Fault: &llmtest.Named(llmtest.FaultUnavailable)[0]}
		}
		return llmtest.Reply{Text: "loud", Fault: &own}
	}}
	resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, "q")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 503, resp.StatusCode)
	resp, err = ask(t.Context(), s.Client(), llmtest.OpenAI, false, "q")
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Contains(t, string(b), "LOUD")
	assert.Equal(t, map[string]int{"shout": 1, llmtest.FaultUnavailable: 1}, s.Counts().ByFault)
}

// TestReplyFaultFits: a fault that a Reply names does not touch calls that it
// does not fit, and may be a storm's.
func TestReplyFaultFits(t *testing.T) {
	for _, r := range []struct {
		name   string
		fault  llmtest.Fault
		api    llmtest.API
		stream bool
		status int
		faults int
	}{
		{"of streams only", llmtest.Named(llmtest.FaultErrorMidway)[0], llmtest.OpenAI, false, 200, 0},
		{"in a stream", llmtest.Named(llmtest.FaultErrorMidway)[0], llmtest.OpenAI, true, 200, 1},
		{"of OpenAI only", llmtest.Named(llmtest.FaultKeepAlives)[0], llmtest.Gemini, true, 200, 0},
		{"a storm's", llmtest.Storm(0, time.Hour).Faults[0], llmtest.OpenAI, false, 429, 1},
	} {
		t.Run(r.name, func(t *testing.T) {
			s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "one two three", Fault: &r.fault} }}
			resp, err := ask(t.Context(), s.Client(), r.api, r.stream, "q")
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, resp.Body) // however it ends
			resp.Body.Close()
			assert.Equal(t, r.status, resp.StatusCode)
			assert.Equal(t, r.faults, s.Counts().Faults)
		})
	}
}

func TestReplyThatPanics(t *testing.T) {
	s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { panic(errors.New("a mistake of the test")) }}
	resp, err := ask(t.Context(), s.Client(), llmtest.Gemini, false, "q")
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 500, resp.StatusCode)
	assert.Contains(t, string(b), "Reply panicked: a mistake of the test")
}
