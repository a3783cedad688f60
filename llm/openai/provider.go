package openai

import (
	"net/url"
	"strings"
)

// The configurations below say where a provider's calls go, in which variable
// its key is looked for, and how it has thinking switched. Servers of one's own
// have a variable of their own too, so that no key of OpenAI's is sent to
// them. The addresses are those of the providers' documentation in November
// 2026.

// DeepSeek is the configuration for DeepSeek. Key: DEEPSEEK_API_KEY. Thinking
// is on by default, and a temperature has no effect while it is. A conversation
// with tool calls needs it off: the API wants the thoughts of such turns back,
// for which [llm.Message] has no place.
//
// Facts: api-docs.deepseek.com, "Your First API Call" and "Thinking Mode".
func DeepSeek(model string) Config {
	return Config{
		Model: model, BaseURL: "https://api.deepseek.com", KeyEnv: "DEEPSEEK_API_KEY",
		Provider: "deepseek", Dialect: DialectDeepSeek,
	}
}

// OpenRouter is the configuration for OpenRouter; a model is named with its
// maker: "deepseek/deepseek-v4-flash". Key: OPENROUTER_API_KEY. Which provider
// answers is chosen with Extra's field provider; without it the same model may
// answer differently from call to call.
//
// Facts: openrouter.ai/docs, "Reasoning Tokens" and "Errors and Debugging".
func OpenRouter(model string) Config {
	return Config{
		Model: model, BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY",
		Provider: "openrouter", Dialect: DialectOpenRouter,
	}
}

// Groq is the configuration for Groq. Key: GROQ_API_KEY. Qwen's thoughts stand
// in the text, between <think> tags, unless Extra has reasoning_format
// "parsed", which models that do not think refuse.
//
// Facts: console.groq.com/docs, "Reasoning".
func Groq(model string) Config {
	return Config{
		Model: model, BaseURL: "https://api.groq.com/openai/v1", KeyEnv: "GROQ_API_KEY",
		Provider: "groq", Dialect: DialectGroq,
	}
}

// Together is the configuration for Together AI. Key: TOGETHER_API_KEY.
//
// Facts: docs.together.ai, "OpenAI compatibility" and "Reasoning".
func Together(model string) Config {
	return Config{
		Model: model, BaseURL: "https://api.together.ai/v1", KeyEnv: "TOGETHER_API_KEY",
		Provider: "together", Dialect: DialectTogether,
	}
}

// Anthropic is the configuration for Anthropic's endpoint that is compatible
// with OpenAI's. Key: ANTHROPIC_API_KEY. It is made for comparing models: its
// documentation says that it ignores seed, response_format (Request.Schema)
// and the strictness of tools, returns no thoughts, and caps a temperature at
// 1. Claude 4.7 and later refuse a Budget: they think adaptively, which
// Extra's field thinking switches, if the endpoint passes it on (that is not
// documented): {"type":"adaptive"}.
//
// Facts: platform.claude.com/docs, "OpenAI SDK compatibility" and "Extended
// thinking".
func Anthropic(model string) Config {
	return Config{
		Model: model, BaseURL: "https://api.anthropic.com/v1", KeyEnv: "ANTHROPIC_API_KEY",
		Provider: "anthropic", Dialect: DialectAnthropic,
	}
}

// Gemini is the configuration for the endpoint of the Gemini API that is
// compatible with OpenAI's. Key: GEMINI_API_KEY. Package llm/gemini speaks the
// API itself.
//
// Facts: ai.google.dev/gemini-api/docs/openai.
func Gemini(model string) Config {
	return Config{
		Model: model, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY",
		Provider: "gemini", Dialect: DialectGemini,
	}
}

// Azure is the configuration for a deployment on Azure OpenAI by its v1 API,
// which needs no api-version. endpoint is the resource's:
// https://NAME.openai.azure.com. Key: AZURE_OPENAI_API_KEY, sent as Api-Key; to
// use a token of Entra ID, put it into a variable, name that in KeyEnv and
// empty KeyHeader.
//
// Facts: learn.microsoft.com/azure, "Azure OpenAI v1 API".
func Azure(endpoint, deployment string) Config {
	return Config{
		Model: deployment, BaseURL: strings.TrimRight(endpoint, "/") + "/openai/v1",
		KeyEnv: "AZURE_OPENAI_API_KEY", KeyHeader: "Api-Key",
		Provider: "azure", Dialect: DialectOpenAI, MaxTokensField: MaxCompletionTokens,
	}
}

// AzureVersion is [Azure] by the older API, which has the deployment in its
// path and a version (2024-10-21) in its query. Versions before 2024-09 know
// only max_tokens: set MaxTokensField.
func AzureVersion(endpoint, deployment, version string) Config {
	c := Azure(endpoint, deployment)
	c.BaseURL = strings.TrimRight(endpoint, "/") + "/openai/deployments/" + url.PathEscape(deployment) +
		"?" + url.Values{"api-version": {version}}.Encode()
	return c
}

// VLLM is the configuration for a vLLM server. An empty baseURL is
// http://127.0.0.1:8000/v1. Key: VLLM_API_KEY, none if that is not set.
//
// Facts: docs.vllm.ai, "Reasoning Outputs".
func VLLM(baseURL, model string) Config {
	return local(baseURL, "http://127.0.0.1:8000/v1", model, "VLLM_API_KEY", "vllm", DialectVLLM)
}

// SGLang is the configuration for an SGLang server. An empty baseURL is
// http://127.0.0.1:30000/v1. Key: SGLANG_API_KEY, none if that is not set.
//
// Facts: docs.sglang.io, "Thinking Budget".
func SGLang(baseURL, model string) Config {
	return local(baseURL, "http://127.0.0.1:30000/v1", model, "SGLANG_API_KEY", "sglang", DialectSGLang)
}

// LlamaCpp is the configuration for llama.cpp's server. An empty baseURL is
// http://127.0.0.1:8080/v1. Key: LLAMA_API_KEY, none if that is not set. A
// server of one model answers whatever the model's name.
//
// Facts: github.com/ggml-org/llama.cpp, tools/server/README.md and issue 28182
// (thinking_budget_tokens).
func LlamaCpp(baseURL, model string) Config {
	return local(baseURL, "http://127.0.0.1:8080/v1", model, "LLAMA_API_KEY", "llama.cpp", DialectLlamaCpp)
}

// Ollama is the configuration for Ollama. An empty baseURL is
// http://127.0.0.1:11434/v1. Key: OLLAMA_API_KEY, none if that is not set. A
// prompt longer than the model's num_ctx is cut there without an error, and an
// unset temperature or top_p is 1, not what the model's file says.
//
// Facts: github.com/ollama/ollama, openai/openai.go.
func Ollama(baseURL, model string) Config {
	return local(baseURL, "http://127.0.0.1:11434/v1", model, "OLLAMA_API_KEY", "ollama", DialectOpenAI)
}

func local(baseURL, usual, model, keyEnv, provider string, d Dialect) Config {
	if baseURL == "" {
		baseURL = usual // never the environment's: that may be OpenAI
	}
	return Config{Model: model, BaseURL: baseURL, KeyEnv: keyEnv, KeyOptional: true, Provider: provider, Dialect: d}
}
