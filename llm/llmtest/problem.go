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
	sendJSON(w, api, status, v)
}

// sendJSON answers with v, in the words of an API.
func sendJSON(w http.ResponseWriter, api API, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error()) // of our own types
	}
	w.Header().Set("Content-Type", api.jsonType())
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a caller that has gone learns nothing
}

// Google's error details.

func googleDetail(typ string, fields map[string]any) any {
	fields["@type"] = "type.googleapis.com/google.rpc." + typ
	return fields
}

// retryDelay is a duration in Google's form: seconds with an s.
func retryDelay(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

func errorInfo(reason string) any {
	return googleDetail("ErrorInfo", map[string]any{
		"reason": reason, "domain": "googleapis.com", "metadata": map[string]string{"service": "generativelanguage.googleapis.com"},
	})
}

// localized says the message again.
func localized(message string) any {
	return googleDetail("LocalizedMessage", map[string]any{"locale": "en-US", "message": message})
}

// quotaDetails name the quota that was used up, by Google's id, and how long to
// wait, if delay says so.
func quotaDetails(model string, limit int, id, delay string) []any {
	metric := "generate_content_free_tier_requests"
	if id == quotaTokensMinute {
		metric = "generate_content_free_tier_input_token_count"
	}
	all := []any{
		googleDetail("QuotaFailure", map[string]any{"violations": []any{map[string]any{
			"quotaMetric":     "generativelanguage.googleapis.com/" + metric,
			"quotaId":         id,
			"quotaDimensions": map[string]string{"location": "global", "model": model},
			"quotaValue":      strconv.Itoa(limit),
		}}}),
		googleDetail("Help", map[string]any{"links": []any{map[string]any{
			"description": "Learn more about Gemini API quotas", "url": "https://ai.google.dev/gemini-api/docs/rate-limits",
		}}}),
	}
	if delay != "" {
		all = append(all, googleDetail("RetryInfo", map[string]any{"retryDelay": delay}))
	}
	return all
}

// Google's ids of quotas.
const (
	quotaRequestsMinute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
	quotaTokensMinute   = "GenerateContentInputTokensPerModelPerMinute-FreeTier"
	quotaRequestsDay    = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
)

// busy is a rate limit that says how long to wait, as each API says it:
// OpenAI's in headers, Gemini's in the body.
func busy(wait time.Duration) problem {
	return problem{
		status: http.StatusTooManyRequests, typ: "requests", code: "rate_limit_exceeded",
		message:       fmt.Sprintf("Rate limit reached for requests. Please try again in %v.", wait),
		geminiMessage: fmt.Sprintf("You exceeded your current quota. Please retry in %s.", retryDelay(wait)),
		details:       quotaDetails("m", 60, quotaRequestsMinute, retryDelay(wait)),
		header:        retryAfter(wait),
	}
}

// retryAfter sets the header in whole seconds, rounded up, and the exact time
// beside it, as OpenAI does.
func retryAfter(wait time.Duration) func(http.Header, time.Time) {
	return func(h http.Header, _ time.Time) {
		h.Set("Retry-After", strconv.FormatFloat(math.Ceil(wait.Seconds()), 'f', 0, 64))
		h.Set("Retry-After-Ms", strconv.FormatInt(wholeMillis(wait).Milliseconds(), 10))
	}
}
