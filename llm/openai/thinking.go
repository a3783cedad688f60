package openai

import (
	"encoding/json"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
)

// A Dialect is how a server has thinking switched. What [llm.Request.Thinking]
// comes to in each is said with the constants; what a dialect does not have is
// refused before anything is sent. Whether a model has it is the server's to
// say.
type Dialect string

// The dialects, as the providers documented them in November 2026.
const (
	// DialectOpenAI, the default, is also that of Azure and Ollama. Level and
	// Off are reasoning_effort: none, minimal, low, medium, high, xhigh, max,
	// of which each model has some (none is GPT-5.1's and later). Ollama knows
	// none, low, medium and high. No Budget.
	DialectOpenAI Dialect = "openai"
	// DialectDeepSeek switches with thinking.type. A Level is reasoning_effort
	// (low, high, max), or [Enabled]. No Budget.
	DialectDeepSeek Dialect = "deepseek"
	// DialectOpenRouter has the object reasoning: effort (none, minimal, low,
	// medium, high, xhigh, max), enabled, and max_tokens for a Budget. To hide
	// thoughts, give Extra the object {"exclude":true}: the two are joined.
	DialectOpenRouter Dialect = "openrouter"
	// DialectGroq is reasoning_effort: none or default for Qwen, low, medium
	// or high for gpt-oss. No Budget.
	DialectGroq Dialect = "groq"
	// DialectTogether switches hybrid models with reasoning.enabled; a Level
	// is reasoning_effort (low, medium, high), or [Enabled]. No Budget.
	DialectTogether Dialect = "together"
	// DialectAnthropic is that of Anthropic's compatible endpoint: thinking
	// with budget_tokens, of which models want at least 1,024, and which Claude
	// 4.7 and later refuse (see [Anthropic]). No Level: the endpoint ignores
	// reasoning_effort.
	DialectAnthropic Dialect = "anthropic"
	// DialectGemini is that of Gemini's compatible endpoint: reasoning_effort
	// (none, minimal, low, medium, high), and for a Budget
	// extra_body.google.thinking_config.thinking_budget.
	DialectGemini Dialect = "gemini"
	// DialectVLLM gives the chat template enable_thinking (for Off, and for
	// the Level [Enabled]); any other Level is reasoning_effort; a Budget is
	// thinking_token_budget, for which the server needs --reasoning-parser.
	// Some templates call the switch thinking: see Extra.
	DialectVLLM Dialect = "vllm"
	// DialectSGLang is as DialectVLLM, but for a Budget, which is
	// custom_params.thinking_budget: the server needs --reasoning-parser and
	// --enable-strict-thinking to keep to it.
	DialectSGLang Dialect = "sglang"
	// DialectLlamaCpp is as DialectVLLM, but for a Budget, which is
	// thinking_budget_tokens.
	DialectLlamaCpp Dialect = "llama.cpp"
)

// Enabled is the Level that switches thinking on without saying how much, for
// the dialects that have a switch.
const Enabled = "enabled"

// dialect is how one server spells the three settings. A nil function is what
// it does not have; instead says what to use then.
type dialect struct {
	off     func() fields
	level   func(string) fields
	enabled func() fields // of the Level Enabled
	budget  func(int64) fields
	instead string
}

// fields are fields of a request's body.
type fields map[string]any

func effort(level string) fields { return fields{"reasoning_effort": level} }

func noEffort() fields { return effort("none") }

func template(on bool) fields {
	return fields{"chat_template_kwargs": fields{"enable_thinking": on}}
}

func templated(budget func(int64) fields) dialect {
	return dialect{
		off: func() fields { return template(false) }, enabled: func() fields { return template(true) },
		level: effort, budget: budget,
	}
}

// object is one field whose value is an object of one field.
func object(name, field string, v any) fields { return fields{name: fields{field: v}} }

var dialects = map[Dialect]dialect{
	DialectOpenAI: {off: noEffort, level: effort, instead: "set Level (minimal, low, medium, …) or Off"},
	DialectGroq:   {off: noEffort, level: effort, instead: "set Level (low, medium, high; default for Qwen) or Off"},
	DialectDeepSeek: {
		off:     func() fields { return object("thinking", "type", "disabled") },
		enabled: func() fields { return object("thinking", "type", "enabled") },
		level: func(l string) fields {
			return fields{"thinking": fields{"type": "enabled"}, "reasoning_effort": l}
		},
		instead: "set Level (enabled, low, high, max) or Off",
	},
	DialectOpenRouter: {
		off:     func() fields { return object("reasoning", "effort", "none") },
		enabled: func() fields { return object("reasoning", "enabled", true) },
		level:   func(l string) fields { return object("reasoning", "effort", l) },
		budget: func(n int64) fields {
			if n == 0 { // max_tokens knows no 0
				return object("reasoning", "effort", "none")
			}
			return object("reasoning", "max_tokens", n)
		},
	},
	DialectTogether: {
		off:     func() fields { return object("reasoning", "enabled", false) },
		enabled: func() fields { return object("reasoning", "enabled", true) },
		level:   effort, instead: "set Level (enabled, low, medium, high) or Off",
	},
	DialectAnthropic: {
		off: func() fields { return object("thinking", "type", "disabled") },
		budget: func(n int64) fields {
			if n == 0 {
				return object("thinking", "type", "disabled")
			}
			return fields{"thinking": fields{"type": "enabled", "budget_tokens": n}}
		},
		instead: "set Budget (at least 1024) or Off",
	},
	DialectGemini: {off: noEffort, level: effort, instead: "set Level (minimal, low, medium, high), Budget or Off", budget: func(n int64) fields {
		return object("extra_body", "google", fields{"thinking_config": fields{"thinking_budget": n}})
	}},
	DialectVLLM:     templated(func(n int64) fields { return fields{"thinking_token_budget": n} }),
	DialectSGLang:   templated(func(n int64) fields { return object("custom_params", "thinking_budget", n) }),
	DialectLlamaCpp: templated(func(n int64) fields { return fields{"thinking_budget_tokens": n} }),
}

// thinking adds what t comes to in the server's dialect.
func (c *Client) thinking(t llm.Thinking, out map[string]json.RawMessage) error {
	switch bad := client.ThinkingFault(t); {
	case bad != "":
		return c.refuse("%s", bad)
	case t.Budget != nil && *t.Budget < 0:
		return c.refuse("Request.Thinking.Budget is %d: want 0 (none) or more; leave Thinking nil for the model's own choice", *t.Budget)
	}
	d := dialects[c.cfg.Dialect]
	var f fields
	switch {
	case t.Off:
		f = d.off()
	case t.Budget != nil && d.budget == nil:
		return c.refuse("Request.Thinking.Budget is %d: %s takes no budget; %s (Config.Dialect is %q)", *t.Budget, c.cfg.Provider, d.instead, c.cfg.Dialect)
	case t.Budget != nil:
		f = d.budget(*t.Budget)
	case d.level == nil:
		return c.refuse("Request.Thinking.Level is %q: %s takes no level; %s (Config.Dialect is %q)", t.Level, c.cfg.Provider, d.instead, c.cfg.Dialect)
	case t.Level == Enabled && d.enabled == nil:
		return c.refuse("Request.Thinking.Level is %q: %s has no such switch; %s (Config.Dialect is %q)", t.Level, c.cfg.Provider, d.instead, c.cfg.Dialect)
	case t.Level == Enabled:
		f = d.enabled()
	default:
		f = d.level(t.Level)
	}
	for name, v := range f {
		b, err := json.Marshal(v)
		if err != nil {
			return c.refuse("Request.Thinking.Level: %v", err)
		}
		out[name] = b
	}
	return nil
}

// join is what is sent for a field that both Thinking and Extra set: two
// objects are joined, and what Extra says wins.
func join(thought, extra json.RawMessage) json.RawMessage {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(thought, &a) != nil || json.Unmarshal(extra, &b) != nil || a == nil || b == nil {
		return extra
	}
	for name, v := range b {
		if inner, ok := a[name]; ok {
			v = join(inner, v)
		}
		a[name] = v
	}
	out, err := json.Marshal(a)
	if err != nil {
		return extra
	}
	return out
}
