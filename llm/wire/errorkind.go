package wire

import (
	"net/http"
	"strings"

	"github.com/goevals/evals/llm"
)

// kindOfCode is what the codes that servers state mean, in lower case and
// without separators. A code says more than a status does: an empty account
// answers 429.
var kindOfCode = codes(map[llm.ErrorKind]string{
	llm.KindBalance: "insufficient_quota billing_hard_limit_reached billing_not_active insufficient_balance insufficient_user_quota insufficient_credits payment_required billing_error billing_disabled",
	llm.KindAuth: "invalid_api_key invalid_authentication authentication_error account_deactivated permission_error permission_denied unauthorized unauthenticated access_denied invalid_organization service_disabled unsupported_country_region_territory " +
		// Google's reasons.
		"api_key_invalid api_key_expired api_key_service_blocked api_key_http_referrer_blocked api_key_ip_address_blocked api_key_android_app_blocked api_key_ios_app_blocked " +
		"access_token_expired access_token_scope_insufficient access_token_type_unsupported account_state_invalid credentials_missing consumer_invalid consumer_suspended user_project_denied",
	llm.KindContext:    "context_length_exceeded request_too_large prompt_too_long exceed_context_size_error string_above_max_length tokens_limit_reached",
	llm.KindBlocked:    "content_filter content_policy_violation responsible_ai_policy_violation moderation_blocked data_inspection_failed invalid_prompt",
	llm.KindNotFound:   "model_not_found deployment_not_found unknown_model not_found_error not_found",
	llm.KindRateLimit:  "rate_limit_exceeded rate_limit_error rate_limit_reached rate_limited too_many_requests resource_exhausted requests tokens throttling_exception throttling_error ratelimitexceeded",
	llm.KindServer:     "server_error internal_error internal_server_error internal service_unavailable service_unavailable_error unavailable unavailable_error overloaded_error engine_overloaded server_overloaded upstream_error deadline_exceeded timeout_error model_overloaded",
	llm.KindBadRequest: "unsupported_parameter unsupported_value invalid_value missing_required_parameter invalid_type not_supported_error",
})

// kindOfType are words that say less than a status does: they count only where
// the status says nothing.
var kindOfType = codes(map[llm.ErrorKind]string{
	llm.KindBadRequest: "invalid_request_error invalid_argument BadRequestError failed_precondition",
	llm.KindServer:     "api_error",
})

// dailyWords tell a limit that a run cannot wait for from one that it can. They
// are asked only of what is a rate limit by its code or status.
var dailyWords = []string{"per day", "per-day", "per_day", "daily limit", "daily quota"}

// depletedWords tell an account without money from a rate limit. Gemini answers
// both with the code of the latter.
var depletedWords = []string{"credits are depleted", "spending cap"}

// billingWords tell an account that nobody pays for from a key that may not do
// this. They are not asked of rate limits, which say how to raise them.
var billingWords = []string{"enable billing", "requires billing", "billing to be enabled", "billing is not enabled", "billing is disabled"}

// kindOfWords is asked last, where code and status leave it open. Words are
// believed in a server's error only, never in an answer.
var kindOfWords = []kindWords{
	{llm.KindContext, []string{"context length", "context window", "context size", "maximum context", "prompt is too long", "too many tokens", "input is too long", "reduce the length", "exceed n_ctx", "input token count", "exceeds the maximum number of tokens", "request payload size exceeds"}},
	{llm.KindBalance, []string{"insufficient balance", "insufficient credit", "insufficient funds", "credit balance is too low", "more credits"}},
	{llm.KindBalance, depletedWords},
	{llm.KindQuota, dailyWords},
	{llm.KindBlocked, []string{"content management policy", "content filter", "content policy", "flagged as potentially violating"}},
	{llm.KindAuth, []string{"invalid api key", "incorrect api key", "api key not valid", "api key expired", "location is not supported"}},
	{llm.KindNotFound, []string{"is not a valid model", "model not exist", "model does not exist", "unknown model"}},
}

// kindOfWordsInside are believed where there is no status: an error inside a
// 200.
var kindOfWordsInside = []kindWords{
	{llm.KindRateLimit, []string{"rate limit", "rate-limit", "too many requests", "quota exceeded", "exceeded your current quota", "resource exhausted", "resource has been exhausted"}},
	{llm.KindServer, []string{"overloaded", "unavailable", "internal error", "internal server", "upstream", "try again", "timeout", "timed out", "deadline expired", "deadline exceeded", "over capacity", "over_capacity"}},
}

type kindWords struct {
	kind  llm.ErrorKind
	words []string
}

func codes(m map[llm.ErrorKind]string) map[string]llm.ErrorKind {
	out := map[string]llm.ErrorKind{}
	for kind, names := range m {
		for _, n := range strings.Fields(names) {
			out[fold(n)] = kind
		}
	}
	return out
}

func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// ErrorKind is [ErrorBody.Kind] of a body that is not read yet.
func ErrorKind(status int, body []byte) llm.ErrorKind { return ReadError(body).Kind(status) }

// Kind is what a failed answer with this HTTP status and body means, of a
// server about which nothing is known: by the code in its body, then by the
// status, and by the message only where both leave it open. For an error object
// inside a good answer status is 200. A client that knows its provider asks its
// own table first.
func (e ErrorBody) Kind(status int) llm.ErrorKind {
	text := strings.ToLower(e.Message)
	if status < 300 && e.HTTP != 0 {
		status = e.HTTP // the error came after the status had gone out
	}
	if status == http.StatusRequestEntityTooLarge {
		// Groq calls a request that is larger than the limit of a minute a
		// rate limit: it would never pass.
		return llm.KindContext
	}
	for _, c := range []string{e.Inner, e.Reason, e.Code, e.Type, e.Status} {
		k, ok := kindOfCode[fold(c)]
		if ok && k == llm.KindRateLimit && has(text, depletedWords) {
			return llm.KindBalance
		}
		if ok && k == llm.KindRateLimit && e.daily(text) {
			return llm.KindQuota // one code for both
		}
		if ok && k == llm.KindAuth && has(text, billingWords) {
			return llm.KindBalance
		}
		if ok {
			return k
		}
	}
	k := StatusKind(status)
	if status == http.StatusTooManyRequests && e.Daily {
		return llm.KindQuota
	}
	if (k == llm.KindBadRequest || k == llm.KindAuth) && has(text, billingWords) {
		return llm.KindBalance
	}
	if status < 300 || k == llm.KindBadRequest || k == llm.KindRateLimit {
		for _, w := range kindOfWords {
			if w.kind == llm.KindQuota && (k == llm.KindBadRequest || !e.daily(text)) {
				continue // a field of so many a day is no limit
			}
			if has(text, w.words) {
				return w.kind
			}
		}
	}
	if status >= 300 {
		return k
	}
	for _, w := range kindOfWordsInside {
		if has(text, w.words) {
			return w.kind
		}
	}
	for _, c := range []string{e.Code, e.Type, e.Status} {
		if k, ok := kindOfType[fold(c)]; ok {
			return k
		}
	}
	return llm.KindBadResponse
}

// daily reports whether a limit is one of a day. Where the body names quotas its
// words are not asked: those of a minute refuse first.
func (e ErrorBody) daily(text string) bool {
	return e.Daily || !e.named && has(text, dailyWords)
}

func has(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
