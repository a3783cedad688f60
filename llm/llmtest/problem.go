package llmtest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// problem is an error that a provider answers with, in the words of both APIs.
type problem struct {
	status  int
	message string
	typ     string // OpenAI's
	code    string
	param   string
	inner   any

	geminiStatus  int    // if it is not status
	geminiMessage string // if it is not message
	word          string // Gemini's status; "" for the one that goes with the number
	details       []any

	// header is what OpenAI says in headers, and a gateway in front of any API;
	// nil for none.
	header  func(h http.Header, now time.Time)
	gateway bool
}

func (p problem) write(w http.ResponseWriter, api API) {
	if p.header != nil && (api == OpenAI || p.gateway) {
		p.header(w.Header(), time.Now())
	}
	status, v := api.dialect().failure(p)
	sendJSON(w, status, v)
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error()) // of our own types
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a caller that has gone learns nothing
}

// Google's error details.

func googleDetail(typ string, fields map[string]any) any {
	fields["@type"] = "type.googleapis.com/google.rpc." + typ
	return fields
}

// retryInDetail says how long to wait. Google's durations are seconds with an s.
func retryInDetail(delay string) any {
	return googleDetail("RetryInfo", map[string]any{"retryDelay": delay})
}

func retryDelay(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

func errorInfo(reason string) any {
	return googleDetail("ErrorInfo", map[string]any{"reason": reason, "domain": "googleapis.com"})
}

// quotaFailure names the quotas that were used up, by Google's ids.
func quotaFailure(model string, limit int, ids ...string) any {
	var violations []any
	for _, id := range ids {
		violations = append(violations, map[string]any{
			"quotaMetric":     "generativelanguage.googleapis.com/generate_content_requests",
			"quotaId":         id,
			"quotaDimensions": map[string]string{"location": "global", "model": model},
			"quotaValue":      strconv.Itoa(limit),
		})
	}
	return googleDetail("QuotaFailure", map[string]any{"violations": violations})
}

// Google's ids of quotas.
const (
	quotaRequestsMinute = "GenerateRequestsPerMinutePerProjectPerModel"
	quotaTokensMinute   = "GenerateContentInputTokensPerModelPerMinute"
	quotaRequestsDay    = "GenerateRequestsPerDayPerProjectPerModel"
	quotaConcurrent     = "GenerateConcurrentRequestsPerProjectPerModel"
)

// busy is a rate limit that says how long to wait, as each API says it:
// OpenAI's in headers, Gemini's in the body.
func busy(wait time.Duration) problem {
	return problem{
		status: http.StatusTooManyRequests, typ: "requests", code: "rate_limit_exceeded",
		message:       fmt.Sprintf("Rate limit reached for requests. Please try again in %v.", wait),
		geminiMessage: fmt.Sprintf("You exceeded your current quota. Please retry in %s.", retryDelay(wait)),
		details:       []any{quotaFailure("m", 60, quotaRequestsMinute), retryInDetail(retryDelay(wait))},
		header:        retryAfter(wait),
	}
}

// retryAfter sets the header in whole seconds, rounded up, and the exact time
// beside it, as OpenAI does.
func retryAfter(wait time.Duration) func(http.Header, time.Time) {
	return func(h http.Header, _ time.Time) {
		h.Set("Retry-After", strconv.FormatFloat(math.Ceil(wait.Seconds()), 'f', 0, 64))
		h.Set("Retry-After-Ms", strconv.FormatInt((wait+time.Millisecond-1).Milliseconds(), 10))
	}
}
