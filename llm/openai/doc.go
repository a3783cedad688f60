// Package openai is a [llm.Model] for OpenAI and for everything that speaks
// its chat completions: DeepSeek, OpenRouter, Groq, Together, vLLM, SGLang,
// llama.cpp, Ollama and others, told apart by a base URL and the name of the
// variable that holds the key.
//
// It makes one call for one Generate and never tries again: llm/call and the
// attempts of a run do that. It sits on github.com/sashabaranov/go-openai for
// the shape of requests, and on llm/wire for everything that library hides.
//
// To use it:
//
//  1. Put the key into OPENAI_API_KEY (or another variable: Config.KeyEnv).
//     A loopback server and a replay need none.
//  2. m := openai.New("gpt-5-nano"), or a [Config] for another server, as
//     below.
//  3. Call m.Generate, or give m to a strategy. Failures are *[llm.Error].
//
// Where the calls go:
//
//	// OpenAI, or the server that OPENAI_BASE_URL names. Key: OPENAI_API_KEY.
//	openai.New("gpt-5-nano")
//
//	// A server on this machine. Give KeyEnv a name of its own, so that a key
//	// of OpenAI's is not sent to it; an unset variable sends none.
//	openai.Config{Model: "Qwen/Qwen3-8B", BaseURL: "http://127.0.0.1:8000/v1", KeyEnv: "VLLM_API_KEY"}.New()    // vLLM
//	openai.Config{Model: "any", BaseURL: "http://127.0.0.1:8080/v1", KeyEnv: "LLAMA_API_KEY"}.New()            // llama.cpp
//	openai.Config{Model: "gemma3:270m", BaseURL: "http://127.0.0.1:11434/v1", KeyEnv: "OLLAMA_API_KEY"}.New()  // Ollama
//
//	// A gateway. Provider stands in errors.
//	openai.Config{
//		Model:    "deepseek/deepseek-chat",
//		BaseURL:  "https://openrouter.ai/api/v1",
//		KeyEnv:   "OPENROUTER_API_KEY",
//		Provider: "openrouter",
//	}.New()
//
// What a server has beyond the API goes into Config.Extra or Request.Extra.
// llama-cpp-python, for one, refuses the API's json_schema form of Request.Schema
// and wants response_format to be {"type":"json_object","schema":{…}}. It also
// reports no usage in streams: such an answer's usage is unknown.
//
// A redirect is followed only to the same host and as the same POST: keys go
// nowhere else.
//
// The library checks some model names before it sends: names that begin with
// o1, o3, o4 or gpt-5 may not be given max_tokens or a temperature. This
// client sends those fields past the check, so the server decides.
package openai
