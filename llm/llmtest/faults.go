package llmtest

import (
	"net/http"
	"time"

	"github.com/goevals/evals/llm"
)

// The names of [Faults].
const (
	// Rate limits: 429, and how long to wait in every form there is.
	FaultRateLimit         = "rate-limit"          // it does not say
	FaultRateLimitZero     = "rate-limit-zero"     // no time at all
	FaultRateLimitSeconds  = "rate-limit-seconds"  // 2 seconds
	FaultRateLimitFraction = "rate-limit-fraction" // 1.5 seconds
	FaultRateLimitMillis   = "rate-limit-ms"       // 500 ms, in a header of its own
	FaultRateLimitDate     = "rate-limit-date"     // an HTTP date in 3 seconds
	FaultRateLimitRFC850   = "rate-limit-rfc850"   // the same in the old form
	FaultRateLimitPast     = "rate-limit-past"     // a date an hour ago
	FaultRateLimitGarbage  = "rate-limit-garbage"  // "soon"
	FaultRateLimitReset    = "rate-limit-reset"    // only in the x-ratelimit headers: tokens in 2 s, requests in 8 ms
	FaultRateLimitWords    = "rate-limit-words"    // only in the message: 1.25 s
	FaultRateLimitHour     = "rate-limit-hour"     // 3,600 seconds
	FaultMinuteQuota       = "minute-quota"        // tokens a minute, 2 seconds

	// What waiting does not heal.
	FaultInsufficientQuota = "insufficient-quota" // 429, and no money
	FaultDailyQuota        = "daily-quota"        // 429 until tomorrow, though it may say seconds
	FaultNoBalance         = "no-balance"         // 402; Gemini says 403
	FaultBadKey            = "bad-key"            // 401; Gemini says 400
	FaultForbidden         = "forbidden"          // 403
	FaultNoModel           = "no-model"           // 404
	FaultBadRequest        = "bad-request"        // 400, a parameter that the model does not take
	FaultTooLong           = "too-long"           // 400, the context is too long
	FaultBlockedPrompt     = "blocked-prompt"     // 400 content_filter; Gemini says 200 without candidates

	// Servers that fail.
	FaultServerError = "server-error" // 500
	FaultBadGateway  = "bad-gateway"  // 502, an HTML page
	FaultUnavailable = "unavailable"  // 503
	FaultGatewayTime = "gateway-time" // 504
	FaultOverloaded  = "overloaded"   // 529; Gemini says 503
	FaultTimeout     = "timeout"      // 408
	FaultHTML        = "html"         // 200, an HTML page
	FaultEmptyBody   = "empty-body"   // 200, nothing
	FaultErrorIn200  = "error-in-200" // 200, an error object
	FaultErrorMidway = "error-midway" // an error object after two tokens
	FaultBusyIn200   = "busy-in-200"  // 200, an error object that says 429
	FaultNoChoices   = "no-choices"   // an answer without choices (candidates)
	FaultHang        = "hang"         // no answer at all
	FaultHangMidway  = "hang-midway"  // nothing more after two tokens
	FaultReset       = "reset"        // the connection breaks before the answer
	FaultResetMidway = "reset-midway" // and after two tokens
	FaultTruncated   = "truncated"    // the body ends after two tokens, as if all were well
	FaultNoFinish    = "no-finish"    // no finish reason and no [DONE], after all tokens

	// Answers that are whole, and odd.
	FaultNoDone       = "no-done"       // a finish reason, but no [DONE]
	FaultLateEnd      = "late-end"      // the body ends 20 ms after [DONE]
	FaultSlowDrip     = "slow-drip"     // 7 bytes at a time, 1 ms apart
	FaultKeepAlives   = "keep-alives"   // 500 comments in a row
	FaultLongLine     = "long-line"     // 2 MB in one event
	FaultUsageFloats  = "usage-floats"  // 12.0 tokens
	FaultUsageStrings = "usage-strings" // "12" tokens
	FaultNoUsage      = "no-usage"

	// Answers that are no answer.
	FaultRefusal       = "refusal"
	FaultContentFilter = "content-filter" // half of the text
	FaultLength        = "length"         // half of the text
	FaultLengthEmpty   = "length-empty"   // nothing but thoughts
	FaultThoughtsOnly  = "thoughts-only"  // the same, and a natural end
)

const plans = "You exceeded your current quota, please check your plan and billing details."

func limit(name, reason string, edit func(*problem)) Fault {
	p := problem{
		status: 429, typ: "requests", code: "rate_limit_exceeded",
		message:       "Rate limit reached for requests.",
		geminiMessage: "Resource has been exhausted (e.g. check quota).",
	}
	if edit != nil {
		edit(&p)
	}
	return saying(name, llm.KindRateLimit, reason, p)
}

// inHeader is a rate limit with this Retry-After. Gemini itself sends none; a
// gateway in front of it does.
func inHeader(name, reason string, value func(now time.Time) string) Fault {
	return limit(name, reason, func(p *problem) {
		p.header, p.gateway = func(h http.Header, now time.Time) { h.Set("Retry-After", value(now)) }, true
	})
}

// inBoth is a rate limit with this Retry-After, or this delay in Gemini's body.
func inBoth(name, reason, header, value, delay string) Fault {
	p := problem{
		status: 429, typ: "requests", code: "rate_limit_exceeded",
		message:       "Rate limit reached for requests.",
		geminiMessage: plans,
		details:       quotaDetails("m", 60, quotaRequestsMinute, delay),
		header:        func(h http.Header, _ time.Time) { h.Set(header, value) },
	}
	return saying(name, llm.KindRateLimit, reason, p)
}

var faults = func() []Fault {
	var out []Fault
	for _, part := range [][]Fault{rateLimits(), lasting(), failing(), broken(), odd(), noAnswers()} {
		out = append(out, part...)
	}
	return out
}()

func rateLimits() []Fault {
	date := func(layout string, in time.Duration) func(time.Time) string {
		return func(now time.Time) string { return now.Add(in).UTC().Format(layout) }
	}
	return []Fault{
		limit(FaultRateLimit, "too fast", nil),
		inBoth(FaultRateLimitZero, "too fast; come back at once", "Retry-After", "0", "0s"),
		inBoth(FaultRateLimitSeconds, "too fast; whole seconds", "Retry-After", "2", "2s"),
		inBoth(FaultRateLimitFraction, "too fast; a fraction of seconds", "Retry-After", "1.5", "1.5s"),
		inBoth(FaultRateLimitMillis, "too fast; milliseconds", "Retry-After-Ms", "500", "0.5s"),
		inHeader(FaultRateLimitDate, "too fast; an HTTP date", date(http.TimeFormat, 3*time.Second)),
		inHeader(FaultRateLimitRFC850, "too fast; a date of RFC 850", date("Monday, 02-Jan-06 15:04:05 GMT", 3*time.Second)),
		inHeader(FaultRateLimitPast, "too fast; a date that is over", date(http.TimeFormat, -time.Hour)),
		inBoth(FaultRateLimitGarbage, "too fast; what is no time", "Retry-After", "soon", "soon"),
		limit(FaultRateLimitReset, "too fast; only the headers of the limits", func(p *problem) {
			p.header = func(h http.Header, _ time.Time) {
				for name, v := range map[string]string{
					"Limit-Requests": "100", "Remaining-Requests": "99", "Reset-Requests": "8ms",
					"Limit-Tokens": "10000", "Remaining-Tokens": "0", "Reset-Tokens": "2s",
				} {
					h.Set("X-Ratelimit-"+name, v)
				}
			}
		}),
		limit(FaultRateLimitWords, "too fast; only in words", func(p *problem) {
			p.message += " Please try again in 1.25s."
			p.geminiMessage = plans + " Please retry in 1.25s."
			p.details = quotaDetails("m", 60, quotaRequestsMinute, "")
		}),
		inBoth(FaultRateLimitHour, "too fast; an hour", "Retry-After", "3600", "3600s"),
		saying(FaultMinuteQuota, llm.KindRateLimit, "too many tokens a minute", problem{
			status: 429, typ: "tokens", code: "rate_limit_exceeded",
			message:       "Rate limit reached for m in organization org-0 on tokens per min (TPM): Limit 10000, Used 9990, Requested 400. Please try again in 2s.",
			geminiMessage: plans + " Please retry in 1.6s.",
			details:       quotaDetails("m", 10000, quotaTokensMinute, "2s"),
			header:        retryAfter(2 * time.Second),
		}),
	}
}

func lasting() []Fault {
	return []Fault{
		saying(FaultInsufficientQuota, llm.KindBalance, "no money left, told as a 429", problem{
			status: 429, typ: "insufficient_quota", code: "insufficient_quota", message: plans,
			geminiMessage: "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.",
		}),
		saying(FaultDailyQuota, llm.KindQuota, "no more until tomorrow", problem{
			status: 429, typ: "requests", code: "rate_limit_exceeded",
			message:       "Rate limit reached for m in organization org-0 on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.",
			geminiMessage: plans + " Please retry in 37.826266382s.",
			details:       quotaDetails("m", 200, quotaRequestsDay, "37s"),
		}),
		saying(FaultNoBalance, llm.KindBalance, "no money left", problem{
			status: 402, typ: "unknown_error", code: "invalid_request_error", message: "Insufficient Balance",
			geminiStatus: 403, geminiMessage: "This API method requires billing to be enabled. Please enable billing on project #0.",
			details: []any{errorInfo("BILLING_DISABLED")},
		}),
		saying(FaultBadKey, llm.KindAuth, "a wrong key", problem{
			status: 401, typ: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key provided.",
			geminiStatus: 400, geminiMessage: "API key not valid. Please pass a valid API key.",
			details: []any{errorInfo("API_KEY_INVALID"), localized("API key not valid. Please pass a valid API key.")},
		}),
		saying(FaultForbidden, llm.KindAuth, "not allowed", problem{
			status: 403, typ: "invalid_request_error", code: "permission_denied", message: "You do not have access to this model.",
			geminiMessage: "Generative Language API has not been used in project 0 before or it is disabled.",
			details:       []any{errorInfo("SERVICE_DISABLED")},
		}),
		saying(FaultNoModel, llm.KindNotFound, "no such model", problem{
			status: 404, typ: "invalid_request_error", code: "model_not_found", message: "The model `m` does not exist or you do not have access to it.",
			geminiMessage: "models/m is not found for API version v1beta, or is not supported for generateContent.",
		}),
		saying(FaultBadRequest, llm.KindBadRequest, "a parameter that the model does not take", problem{
			status: 400, typ: "invalid_request_error", code: "unsupported_parameter", param: "max_tokens",
			message:       "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			geminiMessage: "Thinking level is not supported for this model.",
		}),
		saying(FaultTooLong, llm.KindContext, "more than the model takes", problem{
			status: 400, typ: "invalid_request_error", code: "context_length_exceeded", param: "messages",
			message:       "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
			geminiMessage: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		}),
		{Name: FaultBlockedPrompt, Kind: llm.KindBlocked, Reason: "a filter stopped the prompt",
			Edit: func(_ Chat, r Reply) Reply { r.Blocked = "SAFETY"; return r }},
	}
}

// blocked is what Azure says of a prompt that its filter stopped.
var blocked = problem{
	status: 400, code: "content_filter", param: "prompt",
	message: "The response was filtered due to the prompt triggering the content management policy.",
	inner:   map[string]any{"code": "ResponsibleAIPolicyViolation"},
}

// failed is what goes out in the middle of an answer.
var failed = problem{status: 500, typ: "server_error", code: "server_error", message: "The server had an error while processing your request.", geminiMessage: "An internal error has occurred."}

const page = "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"

func failing() []Fault {
	raw := func(name string, kind llm.ErrorKind, reason string, h http.HandlerFunc) Fault {
		return Fault{Name: name, Kind: kind, Reason: reason, Answer: func(w http.ResponseWriter, r *http.Request, _ Chat) { h(w, r) }}
	}
	in200 := func(name string, kind llm.ErrorKind, reason string, p problem) Fault {
		return Fault{Name: name, Kind: kind, Reason: reason, atOnce: true, Answer: func(w http.ResponseWriter, r *http.Request, c Chat) {
			_, v := c.API.dialect().failure(p)
			if !c.Stream {
				sendJSON(w, c.API, http.StatusOK, v)
				return
			}
			out := (&scripted{dialect: c.API.dialect(), chat: c}).events(w, r)
			out.send(v)
			out.end()
		}}
	}
	server := func(status int, typ, code, message string) problem {
		return problem{status: status, typ: typ, code: code, message: message}
	}
	overloaded := server(529, "overloaded_error", "overloaded_error", "Overloaded")
	overloaded.geminiStatus, overloaded.geminiMessage = 503, "The model is overloaded. Please try again later."
	return []Fault{
		saying(FaultServerError, llm.KindServer, "the server failed", failed),
		raw(FaultBadGateway, llm.KindServer, "a gateway's page", HTML(502, page)),
		saying(FaultUnavailable, llm.KindServer, "the server is not there", server(503, "server_error", "service_unavailable", "The service is unavailable.")),
		saying(FaultGatewayTime, llm.KindServer, "the server took too long", server(504, "timeout_error", "timeout_error", "The deadline expired before the request could complete.")),
		saying(FaultOverloaded, llm.KindServer, "the server has too much to do", overloaded),
		saying(FaultTimeout, llm.KindServer, "the request took too long", server(408, "timeout_error", "", "Request timed out.")),
		raw(FaultHTML, llm.KindBadResponse, "a page for people", HTML(200, "<html><body>Please log in.</body></html>")),
		raw(FaultEmptyBody, llm.KindBadResponse, "nothing at all", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
		}),
		in200(FaultErrorIn200, llm.KindServer, "an error in a 200", failed),
		in200(FaultBusyIn200, llm.KindRateLimit, "a rate limit in a 200", problem{status: 429, typ: "requests", code: "rate_limit_exceeded", message: "Rate limit reached for requests."}),
		{Name: FaultNoChoices, Kind: llm.KindBadResponse, Reason: "an answer without choices", Damage: Damage{Empty: true}},
	}
}

func broken() []Fault {
	midway := func(name string, kind llm.ErrorKind, reason string, end Ending) Fault {
		return Fault{Name: name, Kind: kind, Reason: reason, Damage: Damage{Then: end, After: 2, Bills: true}}
	}
	failing := midway(FaultErrorMidway, llm.KindServer, "an error in the middle of a stream", EndError)
	failing.Streamed = true
	return []Fault{
		failing,
		{Name: FaultHang, Kind: llm.KindTimeout, Reason: "no answer", Answer: func(w http.ResponseWriter, r *http.Request, _ Chat) { Hang(w, r) }},
		midway(FaultHangMidway, llm.KindTimeout, "no end", EndHang),
		{Name: FaultReset, Kind: llm.KindConnection, Reason: "the connection breaks", Answer: func(w http.ResponseWriter, _ *http.Request, _ Chat) { breakConnection(w) }},
		midway(FaultResetMidway, llm.KindIncomplete, "the connection breaks in the middle", EndReset),
		midway(FaultTruncated, llm.KindIncomplete, "half of an answer", EndCut),
		{Name: FaultNoFinish, Kind: llm.KindIncomplete, Reason: "a stream that does not say that it is over", Streamed: true,
			Damage: Damage{NoFinish: true, NoDone: true}},
	}
}

func odd() []Fault {
	return []Fault{
		{Name: FaultNoDone, API: OpenAI, Streamed: true, Reason: "a finish reason, but no [DONE]", Damage: Damage{NoDone: true}},
		{Name: FaultLateEnd, Streamed: true, Reason: "the body ends late", Damage: Damage{Linger: 20 * time.Millisecond}},
		{Name: FaultSlowDrip, Reason: "a few bytes at a time", Damage: Damage{Piece: 7, Drip: time.Millisecond}},
		{Name: FaultKeepAlives, API: OpenAI, Streamed: true, Reason: "hundreds of comments", Damage: Damage{Comments: 500}},
		{Name: FaultLongLine, Reason: "a line of megabytes", Damage: Damage{Pad: 2 << 20}},
		{Name: FaultUsageFloats, Reason: "12.0 tokens", Damage: Damage{Usage: UsageFloats}},
		{Name: FaultUsageStrings, Reason: `"12" tokens`, Damage: Damage{Usage: UsageStrings}},
		{Name: FaultNoUsage, Reason: "no usage", Damage: Damage{Usage: UsageMissing}},
	}
}

func noAnswers() []Fault {
	edit := func(name, reason string, f func(r *Reply)) Fault {
		return Fault{Name: name, Reason: reason, Edit: func(_ Chat, r Reply) Reply {
			r.Tokens, r.Usage = nil, nil // of the answer that was not to be
			f(&r)
			return r
		}}
	}
	half := func(r *Reply, finish string) {
		t := words(r.Text)
		r.Text = ""
		for _, w := range t[:len(t)/2] {
			r.Text += w
		}
		r.Finish, r.ToolCalls = finish, nil
	}
	thoughts := func(r *Reply, finish string) {
		if r.Reasoning == "" {
			r.Reasoning = "Let me think about it."
		}
		r.Text, r.Finish, r.ToolCalls = "", finish, nil
	}
	return []Fault{
		edit(FaultRefusal, "the model refuses", func(r *Reply) {
			r.Text, r.Refusal, r.ToolCalls, r.Finish = "", "I cannot help with that.", nil, "stop"
		}),
		edit(FaultContentFilter, "a filter stopped the answer", func(r *Reply) { half(r, "content_filter") }),
		edit(FaultLength, "the answer is cut at its limit", func(r *Reply) { half(r, "length") }),
		edit(FaultLengthEmpty, "the thoughts took all there was", func(r *Reply) { thoughts(r, "length") }),
		edit(FaultThoughtsOnly, "thoughts and nothing else", func(r *Reply) { thoughts(r, "stop") }),
	}
}

// breakConnection breaks the connection so that the caller sees a reset, where
// there is a connection of its own to break.
func breakConnection(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			if tcp, ok := conn.(interface{ SetLinger(int) error }); ok {
				_ = tcp.SetLinger(0) // without it the end is a clean one, which will do
			}
			conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}
