package openai

import (
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// byCode is what the codes and types of known servers mean. They are compared
// in lower case without separators.
var byCode = map[string]llm.ErrorKind{}

// byType are types that say less than a status does: they count only where
// the status says nothing.
var byType = map[string]llm.ErrorKind{}

// dailyWords tell a limit that a run cannot wait for from one that it can.
var dailyWords = []string{"per day", "daily limit", "daily quota"}

// byWords is asked last, where code and status leave it open.
var byWords = []struct {
	kind  llm.ErrorKind
	words []string
}{
	{llm.KindContext, []string{"context length", "context window", "context size", "maximum context", "prompt is too long", "too many tokens", "input is too long", "reduce the length"}},
	{llm.KindBalance, []string{"insufficient balance", "insufficient credit", "insufficient funds", "plan and billing", "more credits"}},
	{llm.KindQuota, dailyWords},
	{llm.KindBlocked, []string{"content management policy", "content filter", "content policy"}},
	{llm.KindAuth, []string{"invalid api key", "incorrect api key", "api key not valid"}},
}

// byWordsUnsent are words that are believed only where there is no status:
// an error object inside a 200.
var byWordsUnsent = []struct {
	kind  llm.ErrorKind
	words []string
}{
	{llm.KindRateLimit, []string{"rate limit", "rate-limit", "too many requests", "quota"}},
	{llm.KindServer, []string{"overloaded", "unavailable", "internal error", "internal server", "upstream", "try again", "timeout", "timed out"}},
}

func init() {
	for kind, codes := range map[llm.ErrorKind]string{
		llm.KindBalance:    "insufficient_quota billing_hard_limit_reached billing_not_active insufficient_balance insufficient_user_quota insufficient_credits payment_required",
		llm.KindAuth:       "invalid_api_key invalid_authentication authentication_error account_deactivated permission_error permission_denied unauthorized unauthenticated access_denied invalid_organization",
		llm.KindContext:    "context_length_exceeded request_too_large prompt_too_long exceed_context_size_error",
		llm.KindBlocked:    "content_filter content_policy_violation responsible_ai_policy_violation moderation_blocked data_inspection_failed",
		llm.KindNotFound:   "model_not_found deployment_not_found unknown_model not_found_error",
		llm.KindRateLimit:  "rate_limit_exceeded rate_limit_error rate_limit_reached too_many_requests resource_exhausted requests tokens throttling_exception",
		llm.KindServer:     "server_error internal_error internal_server_error internal service_unavailable service_unavailable_error unavailable overloaded_error engine_overloaded server_overloaded upstream_error deadline_exceeded timeout_error",
		llm.KindBadRequest: "unsupported_parameter unsupported_value invalid_value missing_required_parameter invalid_type",
	} {
		for _, c := range strings.Fields(codes) {
			byCode[fold(c)] = kind
		}
	}
	byType[fold("invalid_request_error")] = llm.KindBadRequest
	byType[fold("invalid_argument")] = llm.KindBadRequest
	byType[fold("BadRequestError")] = llm.KindBadRequest
	byType[fold("api_error")] = llm.KindServer
}

func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// kind classifies an error body. status is 200 for one inside a good answer.
func kind(status int, d detail) llm.ErrorKind {
	text := strings.ToLower(d.message)
	has := func(words []string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	for _, c := range []string{d.inner, d.code, d.kind} {
		k, ok := byCode[fold(c)]
		if ok && k == llm.KindRateLimit && has(dailyWords) {
			return llm.KindQuota // one code for both limits
		}
		if ok {
			return k
		}
	}
	k := wire.StatusKind(status)
	open := status < 300 || k == llm.KindBadRequest || k == llm.KindRateLimit
	for _, b := range byWords {
		if open && has(b.words) {
			return b.kind
		}
	}
	if status >= 300 {
		return k
	}
	for _, b := range byWordsUnsent {
		if has(b.words) {
			return b.kind
		}
	}
	for _, c := range []string{d.code, d.kind} {
		if k, ok := byType[fold(c)]; ok {
			return k
		}
	}
	return llm.KindBadResponse
}
