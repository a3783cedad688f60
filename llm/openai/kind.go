package openai

import (
	"net/http"
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
// They are asked only of what is a rate limit by its code or status.
var dailyWords = []string{"per day", "per-day", "daily limit", "daily quota"}

type wordKind struct {
	kind  llm.ErrorKind
	words []string
}

// byWords is asked last, where code and status leave it open. All words are
// those of a server's error, never of an answer.
var byWords = []wordKind{
	{llm.KindContext, []string{"context length", "context window", "context size", "maximum context", "prompt is too long", "too many tokens", "input is too long", "reduce the length", "exceed n_ctx", "input token count"}},
	{llm.KindBalance, []string{"insufficient balance", "insufficient credit", "insufficient funds", "credit balance is too low", "more credits"}},
	{llm.KindQuota, dailyWords},
	{llm.KindBlocked, []string{"content management policy", "content filter", "content policy", "flagged as potentially violating"}},
	{llm.KindAuth, []string{"invalid api key", "incorrect api key", "api key not valid"}},
	{llm.KindNotFound, []string{"is not a valid model", "model not exist", "model does not exist", "unknown model"}},
}

// byWordsUnsent are words that are believed only where there is no status:
// an error object inside a 200.
var byWordsUnsent = []wordKind{
	{llm.KindRateLimit, []string{"rate limit", "rate-limit", "too many requests", "quota exceeded", "exceeded your current quota"}},
	{llm.KindServer, []string{"overloaded", "unavailable", "internal error", "internal server", "upstream", "try again", "timeout", "timed out", "over capacity", "over_capacity"}},
}

func init() {
	for kind, codes := range map[llm.ErrorKind]string{
		llm.KindBalance:    "insufficient_quota billing_hard_limit_reached billing_not_active billing_error insufficient_balance insufficient_user_quota insufficient_credits payment_required",
		llm.KindAuth:       "invalid_api_key invalid_authentication authentication_error account_deactivated permission_error permission_denied unauthorized unauthenticated access_denied invalid_organization unsupported_country_region_territory",
		llm.KindContext:    "context_length_exceeded request_too_large prompt_too_long exceed_context_size_error string_above_max_length tokens_limit_reached",
		llm.KindBlocked:    "content_filter content_policy_violation responsible_ai_policy_violation moderation_blocked data_inspection_failed invalid_prompt",
		llm.KindNotFound:   "model_not_found deployment_not_found unknown_model not_found_error",
		llm.KindRateLimit:  "rate_limit_exceeded rate_limit_error rate_limit_reached rate_limited too_many_requests resource_exhausted requests tokens throttling_exception",
		llm.KindServer:     "server_error internal_error internal_server_error internal service_unavailable service_unavailable_error unavailable unavailable_error overloaded_error engine_overloaded server_overloaded upstream_error deadline_exceeded timeout_error",
		llm.KindBadRequest: "unsupported_parameter unsupported_value invalid_value missing_required_parameter invalid_type not_supported_error",
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

func hasWord(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// kind classifies an error body: by what its structure says, then by the
// status, and by words last. status is 200 for one inside a good answer.
func kind(status int, d detail) llm.ErrorKind {
	text := strings.ToLower(d.message + "\n" + d.raw)
	if k, ok := known(status, d); ok {
		if k == llm.KindRateLimit && (d.daily || strings.Contains(d.limit, "daily") || hasWord(text, dailyWords)) {
			return llm.KindQuota // one code for both limits
		}
		return k
	}
	k := wire.StatusKind(status)
	open := status < 300 || k == llm.KindBadRequest || k == llm.KindRateLimit
	if k == llm.KindRateLimit && (d.daily || strings.Contains(d.limit, "daily")) {
		return llm.KindQuota
	}
	for _, b := range byWords {
		if open && hasWord(text, b.words) {
			return b.kind
		}
	}
	if status >= 300 {
		return k
	}
	for _, b := range byWordsUnsent {
		if hasWord(text, b.words) {
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

// known is the kind where the body's structure decides it.
func known(status int, d detail) (llm.ErrorKind, bool) {
	switch {
	case status == http.StatusRequestEntityTooLarge:
		// Groq calls a request that is larger than the limit of a minute a
		// rate limit: it would never pass.
		return llm.KindContext, true
	case d.limit == "openrouter_in_flight_budget":
		return llm.KindRateLimit, true // calls under way hold the balance
	case status == http.StatusForbidden && d.moderated:
		return llm.KindBlocked, true
	}
	for _, c := range []string{d.inner, d.code, d.kind} {
		if k, ok := byCode[fold(c)]; ok {
			return k, true
		}
	}
	return "", false
}
