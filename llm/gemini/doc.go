// Package gemini is a [llm.Model] for Google's Gemini, through the Gemini API
// or Vertex AI.
//
// It makes one call for one Generate and never tries again: llm/call and the
// attempts of a run do that. It sits on google.golang.org/genai for the shape
// of requests and for credentials, and on llm/wire for everything that library
// hides. That library is heavy (some 12 MB of a binary): import this package
// only where Gemini is called. It is not for Gemini's OpenAI-compatible
// endpoint, which llm/openai calls.
//
// To use the Gemini API:
//
//  1. Put the key into GOOGLE_API_KEY or GEMINI_API_KEY (or another variable:
//     Config.KeyEnv). A loopback server and a replay need none.
//  2. m := gemini.New("gemini-2.5-flash"), or a [Config].
//  3. Call m.Generate, or give m to a strategy. Failures are *[llm.Error].
//
// To use Vertex AI:
//
//  1. Set GOOGLE_GENAI_USE_VERTEXAI=true, GOOGLE_CLOUD_PROJECT and, for a
//     location other than "global", GOOGLE_CLOUD_LOCATION; or Vertex, Project
//     and Location in a [Config].
//
//  2. Have Application Default Credentials: gcloud auth application-default
//     login, a file in GOOGLE_APPLICATION_CREDENTIALS, or a machine of Google's.
//     A replay needs none. With a key and no project the express mode is used,
//     which needs no credentials.
//
//  3. As above.
//
// A Config says which is meant, where that is not left to the environment:
//
//	gemini.Config{Model: "gemini-2.5-flash", Vertex: true, Project: "acme"}.New()          // with credentials
//	gemini.Config{Model: "gemini-2.5-flash", Vertex: true, KeyEnv: "VERTEX_API_KEY"}.New() // express mode
//	gemini.Config{Model: "gemini-2.5-flash", GeminiAPI: true}.New()                        // the Gemini API, whatever the environment says
//
// A redirect is followed only to the same host and as the same POST: keys go
// nowhere else.
//
// # Requests
//
// System and developer texts become the system instruction. A schema becomes
// responseJsonSchema, byte for byte, since models write an answer's fields in
// the schema's order. A tool call's ID carries the call's thought signature,
// which Gemini 3 and later want back: give the ToolCall back as it came. What
// the API has beyond that goes into Extra, merged into what is sent:
//
//	req.Extra = map[string]json.RawMessage{"generationConfig": json.RawMessage(`{"topK":5}`)}
//
// # Thinking
//
// Gemini 2.5 takes a Budget (-1 lets the model choose) and, but for 2.5 Pro,
// Off; Gemini 3 and later take a Level and cannot be switched off: "minimal",
// where a model has it, is the least, and not promised to be nothing. What a
// model does not have is refused, never replaced. With a Level or a Budget the
// summaries of thoughts are asked for, and are Response.Reasoning; without
// Thinking none come, unless Extra asks with
// generationConfig.thinkingConfig.includeThoughts.
package gemini
