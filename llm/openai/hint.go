package openai

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// billing is where an account is topped up, by the host of the API. Who is paid
// behind a proxy is not known, whatever Config.Provider calls it.
var billing = map[string]string{
	"openai.com":       "https://platform.openai.com/settings/organization/billing",
	"api.deepseek.com": "https://platform.deepseek.com/top_up",
	"openrouter.ai":    "https://openrouter.ai/settings/credits",
	"api.groq.com":     "https://console.groq.com/settings/billing",
}

func balanceHint(u *url.URL) string {
	const hint = "top up the account's balance or raise its spending limit"
	h := strings.ToLower(u.Hostname())
	for host, link := range billing {
		if h == host || strings.HasSuffix(h, "."+host) {
			return hint + " " + link
		}
	}
	return hint
}

// hint says what a person can do about a refused call.
func (c *Client) hint(e *llm.Error, ex *exchange, d detail) string {
	switch e.Kind {
	case llm.KindAuth:
		return c.authHint(ex)
	case llm.KindBalance:
		return balanceHint(ex.URL)
	case llm.KindRateLimit:
		return "fewer calls at once, or RPM and TPM in call.Limits, keep below it" + exhausted(e.RateLimit)
	case llm.KindQuota:
		return "a limit of a day, which comes back after the run: resume then, or have it raised" + exhausted(e.RateLimit)
	case llm.KindNotFound:
		return c.notFoundHint(ex, d)
	case llm.KindContext:
		return c.contextHint(e)
	case llm.KindBlocked:
		return "the same request will be blocked again: change it, or the filter's settings at the provider"
	case llm.KindBadRequest, llm.KindServer:
		if s := parameterHint(d, c.cfg.Provider); s != "" {
			return s
		}
	}
	if misplaced(ex, d) {
		return called(ex)
	}
	return ""
}

// authHint says which key it was. No key is looked at.
func (c *Client) authHint(ex *exchange) string {
	switch {
	case c.cfg.KeyEnv == "":
		return "no key was sent, since Config.KeyEnv is empty: name the variable that holds this server's key"
	case ex.key == "":
		return "no key was sent, since the environment variable " + c.cfg.KeyEnv + " is not set"
	case ex.Status == http.StatusForbidden:
		return fmt.Sprintf("the key in %s may not do this: see its rights, and whether the account may use %q", c.cfg.KeyEnv, c.cfg.Model)
	}
	return "check the key in the environment variable " + c.cfg.KeyEnv
}

func (c *Client) notFoundHint(ex *exchange, d detail) string {
	text := strings.ToLower(d.Message)
	switch {
	case c.cfg.Provider == "ollama" || strings.Contains(text, "try pulling it"):
		return "ollama pull " + c.cfg.Model
	case strings.EqualFold(d.Code, "DeploymentNotFound"):
		return fmt.Sprintf("check the deployment's name, %q, and its resource; a new one is there after some minutes", c.cfg.Model)
	case strings.Contains(text, "no allowed providers"):
		return "allow one of the model's providers in the account's settings, or in Extra's field provider"
	case misplaced(ex, d):
		return called(ex)
	}
	return fmt.Sprintf("check Config.Model, %q, and that the key's account may use it", c.cfg.Model)
}

func (c *Client) contextHint(e *llm.Error) string {
	s := "shorten the prompt, lower MaxOutputTokens or take a model of a larger context"
	switch {
	case c.cfg.Provider == "groq" && e.Status == http.StatusRequestEntityTooLarge:
		return "the request is larger than the account's limit of a minute: shorten it, or have the limit raised"
	case c.cfg.Provider == "llama.cpp":
		s += "; the server's own is set with --ctx-size"
	case c.cfg.Provider == "vllm":
		s += "; the server's own is set with --max-model-len"
	case c.cfg.Provider == "sglang":
		s += "; the server's own is set with --context-length"
	}
	return s
}

// parameterHint is for a setting that the model or server does not take.
func parameterHint(d detail, provider string) string {
	text := strings.ToLower(d.Message + "\n" + d.raw)
	refused := hasAny(text, "unsupported", "not supported", "does not support", "unrecognized", "unknown", "extra inputs are not permitted", "not permitted", "unavailable") ||
		strings.HasPrefix(strings.ToLower(d.Code), "unsupported")
	is := func(name string) bool { return d.param == name || d.param == "" && refused && hasField(text, name) }
	switch {
	case is(MaxTokens) && (refused || strings.Contains(text, MaxCompletionTokens)):
		return "set Config.MaxTokensField to openai.MaxCompletionTokens"
	case is(MaxCompletionTokens) && refused:
		return "set Config.MaxTokensField to openai.MaxTokens"
	case is("temperature") && refused:
		return "leave Request.Temperature nil: this model takes its own only"
	case is("top_p") && refused:
		return "leave Request.TopP nil: this model takes its own only"
	case is("seed") && refused:
		return "leave Request.Seed nil"
	case hasField(text, "reasoning_content") && strings.Contains(text, "passed back"):
		return "set Request.Thinking to Off for conversations with tool calls: the server wants the thoughts of such turns back, for which llm.Message has no place"
	case (is("reasoning_effort") || is("chat_template_kwargs") || is("thinking") || is("reasoning")) && refused:
		return "this model does not take that setting of Request.Thinking; if the server spells it otherwise, set Config.Dialect"
	case is("stream_options") && refused:
		return `give Extra["stream_options"] as null: usage of streams is then unknown`
	case (is("response_format") || is("json_schema")) && (refused || provider == "deepseek"):
		return "the server does not take Request.Schema as it is sent: leave it nil, and give Extra the response_format that it knows"
	}
	return ""
}

func hasAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// hasField reports whether text names this field of the request: as a word,
// not within a longer name.
func hasField(text, name string) bool {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(name):]
		if !endsInName(before) && (after == "" || !isName(after[0])) {
			return true
		}
		rest = after
	}
}

func endsInName(s string) bool { return s != "" && isName(s[len(s)-1]) }

func isName(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
}

// exhausted names the limits that are used up.
func exhausted(l *llm.RateLimit) string {
	if l == nil {
		return ""
	}
	var used []string
	for _, w := range []struct {
		name string
		llm.Window
	}{{"requests", l.Requests}, {"tokens", l.Tokens}} {
		if !w.Exhausted() {
			continue
		}
		s := w.name
		if w.Limit != nil {
			s += fmt.Sprintf(" (%d)", *w.Limit)
		}
		if w.Reset != nil {
			s += fmt.Sprintf(", back in %v", w.Reset.Round(time.Millisecond))
		}
		used = append(used, s)
	}
	if len(used) == 0 {
		return ""
	}
	return "; used up: " + strings.Join(used, "; ")
}
