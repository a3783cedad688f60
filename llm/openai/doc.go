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
//  2. m := openai.New("gpt-5-nano"), or a [Config] for another server:
//     openai.Config{Model: "qwen3", BaseURL: "http://127.0.0.1:8000/v1"}.New()
//  3. Call m.Generate, or give m to a strategy. Failures are *[llm.Error].
//
// The library checks some model names before it sends: names that begin with
// o1, o3, o4 or gpt-5 may not be given max_tokens or a temperature. This
// client sends those fields past the check, so the server decides.
package openai
