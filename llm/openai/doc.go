// Package openai is a [llm.Model] for OpenAI and for everything that speaks
// its chat completions: DeepSeek, OpenRouter, Groq, Together, Azure, Anthropic
// and Gemini by their compatible endpoints, vLLM, SGLang, llama.cpp, Ollama and
// others. Each is a base URL, the name of the variable that holds the key,
// further fields of the body, and a way to switch thinking.
//
// It makes one call for one Generate and never tries again: llm/call and the
// attempts of a run do that. It sits on github.com/sashabaranov/go-openai for
// the shape of requests, and on llm/wire for everything that library hides.
//
// To use it:
//
//  1. Put the key into the provider's variable: OPENAI_API_KEY,
//     DEEPSEEK_API_KEY, … A loopback server and a replay need none.
//  2. Make a client: New for OpenAI, a provider's [Config] and its New for
//     another, a Config of your own for a server that is not here.
//  3. Call Generate, or give the client to a strategy. Failures are
//     *[llm.Error], whose Hint says what to do where that is known.
//
// Where the calls go:
//
//	openai.New("gpt-5-nano")                     // OpenAI, or the server that OPENAI_BASE_URL names
//	openai.DeepSeek("deepseek-v4-flash").New()   // DEEPSEEK_API_KEY
//	openai.Azure("https://NAME.openai.azure.com", "my-deployment").New()
//	openai.VLLM("http://gpu:8000/v1", "Qwen/Qwen3-8B").New()
//	openai.Ollama("", "gemma3:270m").New()       // on this machine
//
//	c := openai.OpenRouter("z-ai/glm-5.3-flash") // a Config: any field may be changed
//	c.Extra = map[string]json.RawMessage{"provider": json.RawMessage(`{"only":["z-ai"]}`)}
//	c.New()
//
//	openai.Config{ // a server that is not here
//		Model:   "m",
//		BaseURL: "https://llm.example.com/v1",
//		KeyEnv:  "EXAMPLE_API_KEY",
//		Dialect: openai.DialectVLLM,
//	}.New()
//
// A key of OpenAI's goes to OpenAI, and to the server that OPENAI_BASE_URL
// names; to the BaseURL of a Config only if KeyEnv says so. A redirect is
// followed only to the same host and as the same POST: keys go nowhere else.
//
// # Thinking
//
// [llm.Request.Thinking] is Off, a Level or a Budget; [Dialect] says what each
// comes to, and what a server does not have is refused before it is sent.
// Thoughts that a server tells from the answer are Response.Reasoning. Thoughts
// between <think> tags in the text are left there, with a warning: the server
// can be told to split them off, a client can only guess.
//
// # What servers do differently
//
// What a server has beyond the API goes into Config.Extra or Request.Extra.
// llama-cpp-python, for one, refuses the json_schema form of Request.Schema and
// wants response_format to be {"type":"json_object","schema":{…}}; its streams
// report no usage, which is then unknown (its pull request 1552 is open).
//
// The library refuses some requests by the model's name before they are sent.
// This client does not tell it the name, so the server decides.
package openai
