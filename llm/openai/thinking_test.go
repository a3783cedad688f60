package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// presets are all configurations, with the path of their calls.
var presets = []struct {
	cfg  openai.Config
	url  string
	key  string // the variable of the key
	head string // the header of the key
}{
	{openai.Config{Model: "m", BaseURL: openai.DefaultBaseURL}, "https://api.openai.com/v1/chat/completions", openai.DefaultKeyEnv, "Authorization"},
	{openai.DeepSeek("m"), "https://api.deepseek.com/chat/completions", "DEEPSEEK_API_KEY", "Authorization"},
	{openai.OpenRouter("m"), "https://openrouter.ai/api/v1/chat/completions", "OPENROUTER_API_KEY", "Authorization"},
	{openai.Groq("m"), "https://api.groq.com/openai/v1/chat/completions", "GROQ_API_KEY", "Authorization"},
	{openai.Together("m"), "https://api.together.ai/v1/chat/completions", "TOGETHER_API_KEY", "Authorization"},
	{openai.Anthropic("m"), "https://api.anthropic.com/v1/chat/completions", "ANTHROPIC_API_KEY", "Authorization"},
	{openai.Gemini("m"), "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "GEMINI_API_KEY", "Authorization"},
	{openai.Azure("https://r.openai.azure.com/", "m"), "https://r.openai.azure.com/openai/v1/chat/completions", "AZURE_OPENAI_API_KEY", "Api-Key"},
	{openai.AzureVersion("https://r.openai.azure.com", "m", "2024-10-21"), "https://r.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21", "AZURE_OPENAI_API_KEY", "Api-Key"},
	{openai.VLLM("", "m"), "http://127.0.0.1:8000/v1/chat/completions", "VLLM_API_KEY", "Authorization"},
	{openai.VLLM("http://gpu:8001/v1", "m"), "http://gpu:8001/v1/chat/completions", "VLLM_API_KEY", "Authorization"},
	{openai.SGLang("", "m"), "http://127.0.0.1:30000/v1/chat/completions", "SGLANG_API_KEY", "Authorization"},
	{openai.LlamaCpp("", "m"), "http://127.0.0.1:8080/v1/chat/completions", "LLAMA_API_KEY", "Authorization"},
	{openai.Ollama("", "m"), "http://127.0.0.1:11434/v1/chat/completions", "OLLAMA_API_KEY", "Authorization"},
}

// sent is the body that cfg sends for req, and the error.
func sent(t *testing.T, cfg openai.Config, req llm.Request) (json.RawMessage, error) {
	t.Helper()
	var got json.RawMessage
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply { got = c.Body; return llmtest.Reply{Text: "x"} }}
	cfg.HTTPClient, cfg.KeyOptional = s.Client(), true
	_, err := cfg.New().Generate(t.Context(), req)
	return got, err
}

// TestThinking has the exact body of each provider's way to switch thinking.
// A want that begins with "!" is refused before anything is sent.
func TestThinking(t *testing.T) {
	off, zero := &llm.Thinking{Off: true}, &llm.Thinking{Budget: new(int64(0))}
	low, on, budget := &llm.Thinking{Level: "low"}, &llm.Thinking{Level: openai.Enabled}, &llm.Thinking{Budget: new(int64(2000))}
	const noBudget, noLevel = `!takes no budget; set Level`, `!takes no level; set Budget`
	const noSwitch = `!has no such switch; set Level`
	rows := []struct {
		name, reason string
		cfg          openai.Config
		off, low, on string
		budget, zero string
	}{
		{"OpenAI", "reasoning_effort only", openai.Config{Model: "m", BaseURL: openai.DefaultBaseURL},
			`"reasoning_effort":"none"`, `"reasoning_effort":"low"`, noSwitch, noBudget, noBudget},
		{"DeepSeek", "a switch, and an effort beside it", openai.DeepSeek("m"),
			`"thinking":{"type":"disabled"}`, `"reasoning_effort":"low","thinking":{"type":"enabled"}`, `"thinking":{"type":"enabled"}`, noBudget, noBudget},
		{"OpenRouter", "one object; max_tokens knows no 0", openai.OpenRouter("m"),
			`"reasoning":{"effort":"none"}`, `"reasoning":{"effort":"low"}`, `"reasoning":{"enabled":true}`, `"reasoning":{"max_tokens":2000}`, `"reasoning":{"effort":"none"}`},
		{"Groq", "default is Qwen's word for on", openai.Groq("m"),
			`"reasoning_effort":"none"`, `"reasoning_effort":"low"`, noSwitch, noBudget, noBudget},
		{"Together", "hybrids have a switch, gpt-oss an effort", openai.Together("m"),
			`"reasoning":{"enabled":false}`, `"reasoning_effort":"low"`, `"reasoning":{"enabled":true}`, noBudget, noBudget},
		{"Anthropic", "the endpoint ignores reasoning_effort", openai.Anthropic("m"),
			`"thinking":{"type":"disabled"}`, noLevel, noLevel, `"thinking":{"budget_tokens":2000,"type":"enabled"}`, `"thinking":{"type":"disabled"}`},
		{"Gemini", "2.5 has budgets, 3 levels", openai.Gemini("m"),
			`"reasoning_effort":"none"`, `"reasoning_effort":"low"`, noSwitch,
			`"extra_body":{"google":{"thinking_config":{"thinking_budget":2000}}}`, `"extra_body":{"google":{"thinking_config":{"thinking_budget":0}}}`},
		{"Azure", "as OpenAI", openai.Azure("https://r.openai.azure.com", "m"),
			`"reasoning_effort":"none"`, `"reasoning_effort":"low"`, noSwitch, noBudget, noBudget},
		{"Azure with a version", "as OpenAI", openai.AzureVersion("https://r.openai.azure.com", "m", "2024-10-21"),
			`"reasoning_effort":"none"`, `"reasoning_effort":"low"`, noSwitch, noBudget, noBudget},
		{"vLLM", "the template's switch, and a budget of the sampler's", openai.VLLM("", "m"),
			`"chat_template_kwargs":{"enable_thinking":false}`, `"reasoning_effort":"low"`, `"chat_template_kwargs":{"enable_thinking":true}`, `"thinking_token_budget":2000`, `"thinking_token_budget":0`},
		{"SGLang", "another place for the budget", openai.SGLang("", "m"),
			`"chat_template_kwargs":{"enable_thinking":false}`, `"reasoning_effort":"low"`, `"chat_template_kwargs":{"enable_thinking":true}`, `"custom_params":{"thinking_budget":2000}`, `"custom_params":{"thinking_budget":0}`},
		{"llama.cpp", "another name for the budget", openai.LlamaCpp("", "m"),
			`"chat_template_kwargs":{"enable_thinking":false}`, `"reasoning_effort":"low"`, `"chat_template_kwargs":{"enable_thinking":true}`, `"thinking_budget_tokens":2000`, `"thinking_budget_tokens":0`},
		{"Ollama", "reasoning_effort only", openai.Ollama("", "m"),
			`"reasoning_effort":"none"`, `"reasoning_effort":"low"`, noSwitch, noBudget, noBudget},
		{"unknown server", "its dialect may be named", openai.Config{Model: "m", BaseURL: "http://127.0.0.1:9/v1", Dialect: openai.DialectVLLM},
			`"chat_template_kwargs":{"enable_thinking":false}`, `"reasoning_effort":"low"`, `"chat_template_kwargs":{"enable_thinking":true}`, `"thinking_token_budget":2000`, `"thinking_token_budget":0`},
	}
	const plain = `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":false`
	for _, r := range rows {
		for _, c := range []struct {
			name     string
			thinking *llm.Thinking
			want     string
		}{{"off", off, r.off}, {"level", low, r.low}, {"enabled", on, r.on}, {"budget", budget, r.budget}, {"budget 0", zero, r.zero}, {"unset", nil, ""}} {
			t.Run(r.name+"/"+c.name, func(t *testing.T) {
				req := llm.Prompt("q")
				req.Thinking = c.thinking
				body, err := sent(t, r.cfg, req)
				if c.want != "" && c.want[0] == '!' {
					require.ErrorContains(t, err, c.want[1:], r.reason)
					assert.Equal(t, llm.KindBadRequest, llm.KindOf(err))
					assert.Nil(t, body, "nothing is sent")
					return
				}
				require.NoError(t, err)
				want := plain + "}"
				if c.want != "" {
					want = plain + "," + c.want + "}"
				}
				assert.Equal(t, want, string(body), r.reason)
			})
		}
	}
}

func TestThinkingJoinsExtra(t *testing.T) {
	rows := []struct {
		name, reason    string
		cfg             openai.Config
		thinking        llm.Thinking
		config, request string // of Extra, {} if empty
		want            string // the field of the same name
		field           string
	}{
		{"exclude", "thoughts are hidden, and still switched", openai.OpenRouter("m"), llm.Thinking{Level: "high"}, `{"reasoning":{"exclude":true}}`, "", `{"effort":"high","exclude":true}`, "reasoning"},
		{"the request's", "as it would replace the client's", openai.OpenRouter("m"), llm.Thinking{Level: "high"}, `{"reasoning":{"exclude":true}}`, `{"reasoning":{"x":1}}`, `{"effort":"high","x":1}`, "reasoning"},
		{"Extra wins", "it is the closer word", openai.OpenRouter("m"), llm.Thinking{Level: "high"}, "", `{"reasoning":{"effort":"low"}}`, `{"effort":"low"}`, "reasoning"},
		{"template", "models whose switch is called thinking", openai.VLLM("", "m"), llm.Thinking{Off: true}, `{"chat_template_kwargs":{"thinking":false}}`, "", `{"enable_thinking":false,"thinking":false}`, "chat_template_kwargs"},
		{"deep", "objects within objects", openai.Gemini("m"), llm.Thinking{Budget: new(int64(5))}, `{"extra_body":{"google":{"thinking_config":{"include_thoughts":true}}}}`, "", `{"google":{"thinking_config":{"include_thoughts":true,"thinking_budget":5}}}`, "extra_body"},
		{"text", "no object to join", openai.Config{Model: "m", BaseURL: "http://localhost/v1"}, llm.Thinking{Level: "high"}, `{"reasoning_effort":"max"}`, "", `"max"`, "reasoning_effort"},
		{"null", "it removes", openai.OpenRouter("m"), llm.Thinking{Level: "high"}, "", `{"reasoning":null}`, "", "reasoning"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			req := llm.Prompt("q")
			req.Thinking = &r.thinking
			if r.config != "" {
				require.NoError(t, json.Unmarshal([]byte(r.config), &r.cfg.Extra))
			}
			if r.request != "" {
				require.NoError(t, json.Unmarshal([]byte(r.request), &req.Extra))
			}
			body, err := sent(t, r.cfg, req)
			require.NoError(t, err)
			got := llmtest.Chat{Body: body}.Field(r.field)
			assert.Equal(t, r.want, string(got), r.reason)
		})
	}
}

func TestRefusedThinking(t *testing.T) {
	rows := []struct {
		name, want string
		thinking   llm.Thinking
	}{
		{"nothing", "sets nothing", llm.Thinking{}},
		{"off and level", `Off and Level "low": set one`, llm.Thinking{Off: true, Level: "low"}},
		{"off and budget", "Off and Budget 0: set one", llm.Thinking{Off: true, Budget: new(int64(0))}},
		{"level and budget", `Level "low" and Budget 7`, llm.Thinking{Level: "low", Budget: new(int64(7))}},
		{"negative", "Budget is -1: want 0", llm.Thinking{Budget: new(int64(-1))}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			for _, p := range presets {
				req := llm.Prompt("q")
				req.Thinking = &r.thinking
				body, err := sent(t, p.cfg, req)
				require.ErrorContains(t, err, r.want)
				assert.Equal(t, llm.KindBadRequest, llm.KindOf(err))
				assert.Nil(t, body)
			}
		})
	}
}
