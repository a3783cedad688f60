package gemini_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func extra(s string) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		panic(err)
	}
	return m
}

// path names a field of generationConfig.
func setting(name string) []string { return []string{"generationConfig", name} }

func TestRequestBody(t *testing.T) {
	rows := []struct {
		name, reason string
		model        string
		extra        string // of the Config
		req          func(*llm.Request)
		path         []string
		want         string // byte for byte; "" is not sent
	}{
		{"nothing set", "what is not set is not sent", "", "", func(*llm.Request) {}, []string{"generationConfig"}, "{}"},
		{"user", "the least that a request needs", "", "", func(*llm.Request) {}, []string{"contents"}, `[{"parts":[{"text":"q"}],"role":"user"}]`},
		{"temperature 0", "zero is a setting", "", "", func(r *llm.Request) { r.Temperature = new(0.0) }, setting("temperature"), "0"},
		{"temperature", "the SDK rounds to a float32", "", "", func(r *llm.Request) { r.Temperature = new(0.123456789012) }, setting("temperature"), "0.123456789012"},
		{"top_p", "as it was written: the SDK's float32 would change it", "", "", func(r *llm.Request) { r.TopP = new(0.95) }, setting("topP"), "0.95"},
		{"seed 0", "zero is a setting", "", "", func(r *llm.Request) { r.Seed = new(int64(0)) }, setting("seed"), "0"},
		{"seed", "a negative one is one", "", "", func(r *llm.Request) { r.Seed = new(int64(-7)) }, setting("seed"), "-7"},
		{"most tokens 0", "the SDK drops it", "", "", func(r *llm.Request) { r.MaxOutputTokens = new(int64(0)) }, setting("maxOutputTokens"), "0"},
		{"most tokens", "more than an int32 holds is not cut", "", "", func(r *llm.Request) { r.MaxOutputTokens = new(int64(5000000000)) }, setting("maxOutputTokens"), "5000000000"},
		{"stop", "a text of white space is one", "", "", func(r *llm.Request) { r.Stop = []string{"\n\n"} }, setting("stopSequences"), `["\n\n"]`},
		{"schema's type", "a schema without it is ignored", "", "", func(r *llm.Request) { r.Schema = &llm.Schema{JSON: raw(`{}`)} }, setting("responseMimeType"), `"application/json"`},
		{"schema", "the model answers in its order, and a null in it stays", "", "", func(r *llm.Request) {
			r.Schema = &llm.Schema{JSON: raw(`{"type":"object","properties":{"why":{"type":"string"},"answer":{"type":"number","minimum":1.0,"default":null}}}`)}
		}, setting("responseJsonSchema"), `{"type":"object","properties":{"why":{"type":"string"},"answer":{"type":"number","minimum":1.0,"default":null}}}`},

		{"tools", "the schema as it is", "", "", func(r *llm.Request) {
			r.Tools = []llm.Tool{{Name: "f", Description: "d", Parameters: raw(`{"type":"object","properties":{"b":{},"a":{}}}`)}, {Name: "g"}}
		}, []string{"tools"}, `[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object","properties":{"b":{},"a":{}}}},{"name":"g"}]}]`},
		{"choice auto", "the API's own word", "", "", func(r *llm.Request) { r.ToolChoice = "auto" }, []string{"toolConfig"}, `{"functionCallingConfig":{"mode":"AUTO"}}`},
		{"choice none", "the API's own word", "", "", func(r *llm.Request) { r.ToolChoice = "none" }, []string{"toolConfig"}, `{"functionCallingConfig":{"mode":"NONE"}}`},
		{"choice required", "the API calls it ANY", "", "", func(r *llm.Request) { r.ToolChoice = "required" }, []string{"toolConfig"}, `{"functionCallingConfig":{"mode":"ANY"}}`},
		{"choice by name", "ANY of one", "", "", func(r *llm.Request) { r.Tools, r.ToolChoice = []llm.Tool{{Name: "f"}}, "f" }, []string{"toolConfig"}, `{"functionCallingConfig":{"allowedFunctionNames":["f"],"mode":"ANY"}}`},

		{"off", "2.5 Flash can", "gemini-2.5-flash", "", func(r *llm.Request) { r.Thinking = &llm.Thinking{Off: true} }, setting("thinkingConfig"), `{"thinkingBudget":0}`},
		{"off lite", "a budget of none switches it off", "gemini-2.5-flash-lite", "", func(r *llm.Request) { r.Thinking = &llm.Thinking{Off: true} }, setting("thinkingConfig"), `{"thinkingBudget":0}`},
		{"budget 0", "is off", "gemini-2.5-flash", "", func(r *llm.Request) { r.Thinking = &llm.Thinking{Budget: new(int64(0))} }, setting("thinkingConfig"), `{"thinkingBudget":0}`},
		{"budget", "with the thoughts", "gemini-2.5-pro", "", func(r *llm.Request) { r.Thinking = &llm.Thinking{Budget: new(int64(2048))} }, setting("thinkingConfig"), `{"includeThoughts":true,"thinkingBudget":2048}`},
		{"dynamic budget", "-1 is a setting", "gemini-2.5-pro", "", func(r *llm.Request) { r.Thinking = &llm.Thinking{Budget: new(int64(-1))} }, setting("thinkingConfig"), `{"includeThoughts":true,"thinkingBudget":-1}`},
		{"level", "models of levels know no budget", "gemini-3.1-flash-lite", "", func(r *llm.Request) { r.Thinking = &llm.Thinking{Level: "minimal"} }, setting("thinkingConfig"), `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{"level of a later one", "3 and later", "publishers/google/models/gemini-4-argon", "", func(r *llm.Request) { r.Thinking = &llm.Thinking{Level: "HIGH"} }, setting("thinkingConfig"), `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"unknown name", "the server decides", "gemini-flash-latest", "", func(r *llm.Request) { r.Thinking = &llm.Thinking{Off: true} }, setting("thinkingConfig"), `{"thinkingBudget":0}`},
		{"thoughts off", "by hand", "gemini-3-flash", "", func(r *llm.Request) {
			r.Thinking = &llm.Thinking{Level: "low"}
			r.Extra = extra(`{"generationConfig":{"thinkingConfig":{"includeThoughts":null}}}`)
		}, setting("thinkingConfig"), `{"thinkingLevel":"LOW"}`},

		{"extra joins", "an object is not replaced", "", "", func(r *llm.Request) {
			r.Temperature, r.Extra = new(0.5), extra(`{"generationConfig":{"topK":5}}`)
		}, []string{"generationConfig"}, `{"temperature":0.5,"topK":5}`},
		{"extra of the client", "fields that llm.Request does not have", "", `{"generationConfig":{"topK":5}}`, func(*llm.Request) {}, setting("topK"), "5"},
		{"extra of the request", "it wins", "", `{"generationConfig":{"topK":5,"candidateCount":1}}`, func(r *llm.Request) { r.Extra = extra(`{"generationConfig":{"topK":1}}`) }, []string{"generationConfig"}, `{"topK":1,"candidateCount":1}`},
		{"null removes", "a request can take back what the client sets", "", `{"generationConfig":{"topK":5}}`, func(r *llm.Request) {
			r.Temperature, r.Extra = new(0.5), extra(`{"generationConfig":{"temperature":null,"topK":null}}`)
		}, []string{"generationConfig"}, `{}`},
		{"null removes all", "whole objects too", "", "", func(r *llm.Request) {
			r.Temperature, r.Extra = new(0.5), map[string]json.RawMessage{"generationConfig": nil}
		}, []string{"generationConfig"}, ""},
		{"extra at the top", "digit by digit", "", "", func(r *llm.Request) {
			r.Extra = extra(`{"safetySettings":[{"category":"X","threshold":null}],"n":1.0}`)
		}, []string{"safetySettings"}, `[{"category":"X","threshold":null}]`},

		{"system", "it is no turn of the conversation", "", "", func(r *llm.Request) { *r = r.WithSystem("Be brief.") }, []string{"systemInstruction"}, `{"parts":[{"text":"Be brief."}],"role":"user"}`},
		{"two instructions", "developer is the nearest to system", "", "", func(r *llm.Request) {
			*r = r.WithSystem("Be brief.")
			r.Messages[0].Role = llm.RoleDeveloper
			*r = r.WithSystem("Be kind.")
		}, []string{"systemInstruction"}, `{"parts":[{"text":"Be kind."},{"text":"Be brief."}],"role":"user"}`},
		{"empty text", "the SDK drops it", "", "", func(r *llm.Request) { r.Messages[0].Content = "" }, []string{"contents"}, `[{"role":"user","parts":[{"text":""}]}]`},
		{"one role in a row", "becomes one turn", "", "", func(r *llm.Request) {
			r.Messages = []llm.Message{{Role: "user", Content: "a"}, {Role: "user", Content: "b"}, {Role: "assistant", Content: "c"}, {Role: "assistant", Content: "d"}, {Role: "user", Content: "e"}}
		}, []string{"contents"}, `[{"parts":[{"text":"a"},{"text":"b"}],"role":"user"},{"parts":[{"text":"c"},{"text":"d"}],"role":"model"},{"parts":[{"text":"e"}],"role":"user"}]`},
		{"calls and answers", "ids of our own are not sent; answers of one round are one turn", "", "", func(r *llm.Request) {
			r.Messages = append(r.Messages,
				llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "c1!QUJD", Name: "f", Arguments: `{"n":9007199254740993}`}, {ID: "g#1", Name: "g"}}},
				llm.Message{Role: "tool", ToolCallID: "c1!QUJD", Content: `{"x": 1.0}`}, llm.Message{Role: "tool", ToolCallID: "g#1", Content: "18"},
				llm.Message{Role: "user", Content: "go on"})
		}, []string{"contents"}, `[{"role":"user","parts":[{"text":"q"}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"c1","name":"f","args":{"n":9007199254740993}},"thoughtSignature":"QUJD"},{"functionCall":{"name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"f","response":{"x":1.0}}},{"functionResponse":{"name":"g","response":{"output":"18"}}}]},` +
			`{"role":"user","parts":[{"text":"go on"}]}]`},
		{"a call without a signature", "Gemini 3 refuses it; this word is the documented one", "gemini-3-flash", "", func(r *llm.Request) {
			r.Messages = append(r.Messages, llm.Message{Role: "assistant", Content: "t", ToolCalls: []llm.ToolCall{{ID: "a", Name: "f"}, {ID: "b", Name: "f"}}},
				llm.Message{Role: "tool", ToolCallID: "b", Content: ""})
		}, []string{"contents"}, `[{"role":"user","parts":[{"text":"q"}]},` +
			`{"role":"model","parts":[{"text":"t"},{"functionCall":{"id":"a","name":"f"},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"b","name":"f"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"b","name":"f","response":{"output":""}}}]}]`},
	}
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(t, seen[r.name], "two rows are called %q", r.name)
		seen[r.name] = true
		for _, vertex := range []bool{false, true} {
			name := r.name
			if vertex {
				name += " on Vertex AI"
			}
			t.Run(name, func(t *testing.T) {
				silent(t)
				s := serve(body(ok))
				cfg := s.config()
				cfg.Vertex = vertex
				if r.model != "" {
					cfg.Model = r.model
				}
				if r.extra != "" {
					cfg.Extra = extra(r.extra)
				}
				req := llm.Prompt("q")
				r.req(&req)
				_, err := ask(t, s, cfg, req)
				require.NoError(t, err, r.reason)
				assert.Equal(t, r.want, s.last(t).field(t, r.path...), r.reason)
			})
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	q := llm.Prompt("q").Messages
	think := func(t llm.Thinking) llm.Request { return llm.Request{Messages: q, Thinking: &t} }
	rows := []struct {
		name  string
		model string
		req   llm.Request
		want  string
	}{
		{"no messages", "", llm.Request{}, "Request.Messages is empty"},
		{"system only", "", llm.Request{Messages: []llm.Message{{Role: "system", Content: "x"}}}, "nothing but system texts"},
		{"late system", "", llm.Request{Messages: append(llm.Prompt("q").Messages, llm.Message{Role: "system", Content: "x"})}, "Messages[1] is of the role system"},
		{"role", "", llm.Request{Messages: []llm.Message{{Role: "function"}}}, `Messages[0].Role is "function"`},
		{"NaN", "", llm.Request{Messages: q, Temperature: new(math.NaN())}, "Request.Temperature is NaN"},
		{"infinite", "", llm.Request{Messages: q, TopP: new(math.Inf(1))}, "Request.TopP is +Inf"},
		{"seed", "", llm.Request{Messages: q, Seed: new(int64(1) << 40)}, "Request.Seed is 1099511627776"},
		{"schema", "", llm.Request{Messages: q, Schema: &llm.Schema{JSON: raw("{")}}, "Schema.JSON is not JSON"},
		{"extra", "", llm.Request{Messages: q, Extra: map[string]json.RawMessage{"x": raw("{")}}, `Extra["x"] is not JSON`},
		{"tool", "", llm.Request{Messages: q, Tools: []llm.Tool{{Name: "f", Parameters: raw("{")}}}, `tool "f"`},
		{"choice", "", llm.Request{Messages: q, ToolChoice: "g"}, `"g": want auto, none, required`},
		{"arguments", "", llm.Request{Messages: []llm.Message{q[0], {Role: "assistant", ToolCalls: []llm.ToolCall{{Name: "f", Arguments: "[1]"}}}}}, "no JSON object"},
		{"no such call", "", llm.Request{Messages: []llm.Message{q[0], {Role: "tool", ToolCallID: "c"}}}, `"c", which is no call`},

		{"calls of a user", "", llm.Request{Messages: []llm.Message{{Role: "user", Content: "q", ToolCalls: []llm.ToolCall{{ID: "c", Name: "f"}}}}}, "Messages[0] is of the role user and has ToolCalls"},
		{"calls of a tool", "", llm.Request{Messages: []llm.Message{q[0], {Role: "tool", Content: "1", ToolCalls: []llm.ToolCall{{Name: "f"}}}}}, "Messages[1] is of the role tool and has ToolCalls"},
		{"id of a system text", "", llm.Request{Messages: []llm.Message{{Role: "system", Content: "x", ToolCallID: "c"}, q[0]}}, "Messages[0] is of the role system and has a ToolCallID"},

		{"no thinking", "", think(llm.Thinking{}), "sets nothing"},
		{"two", "", think(llm.Thinking{Off: true, Level: "low"}), `has Off and Level "low": set one`},
		{"pro off", "gemini-2.5-pro", think(llm.Thinking{Off: true}), "Budget to 128 or more"},
		{"pro budget 0", "gemini-2.5-pro-preview-06-05", think(llm.Thinking{Budget: new(int64(0))}), "cannot be switched off"},
		{"3 off", "gemini-3-pro-preview", think(llm.Thinking{Off: true}), `Level to "minimal"`},
		{"3 lite off", "gemini-3.5-flash-lite", think(llm.Thinking{Off: true}), "cannot be switched off"},
		{"3 budget 0", "gemini-3-flash", think(llm.Thinking{Budget: new(int64(0))}), "cannot be switched off"},
		{"3 budget", "gemini-3-flash", think(llm.Thinking{Budget: new(int64(64))}), "takes no budget"},
		{"2.5 level", "gemini-2.5-flash", think(llm.Thinking{Level: "low"}), "takes no level"},
		{"budget -2", "gemini-2.5-flash", think(llm.Thinking{Budget: new(int64(-2))}), "Budget is -2"},
		{"budget of an unknown one", "tuned", think(llm.Thinking{Budget: new(int64(1) << 40)}), "Budget is 1099511627776"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := serve(body(ok))
			cfg := s.config()
			if r.model != "" {
				cfg.Model = r.model
			}
			_, err := ask(t, s, cfg, r.req)
			failing(t, err, llm.KindBadRequest, r.want)
			assert.Zero(t, s.Calls(), "nothing was sent")
		})
	}
}

func TestRequestIsNotChanged(t *testing.T) {
	s := serve(body(ok))
	cfg := s.config()
	cfg.Extra = extra(`{"generationConfig":{"topK":5}}`)
	req := llm.Prompt("q").WithSystem("s")
	req.Extra = extra(`{"generationConfig":{"topK":null}}`)
	req.Tools = []llm.Tool{{Name: "f", Parameters: raw(`{"a": 1}`)}}
	before, err := json.Marshal([]any{req, cfg.Extra})
	require.NoError(t, err)
	_, err = ask(t, s, cfg, req)
	require.NoError(t, err)
	after, err := json.Marshal([]any{req, cfg.Extra})
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

func TestMisuse(t *testing.T) {
	for name, c := range map[string]gemini.Config{
		"Model is empty":                                        {Model: " "},
		`Model is "a?b"`:                                        {Model: "a?b"},
		`BaseURL is "generativelanguage"`:                       {Model: "m", BaseURL: "generativelanguage"},
		`BaseURL is no URL: "http://[::1"`:                      {Model: "m", BaseURL: "http://[::1"},
		"Vertex and Config.GeminiAPI are both set":              {Model: "m", Vertex: true, GeminiAPI: true},
		`Project is "a/b"`:                                      {Model: "m", Project: "a/b"},
		`Location is "evil.example/"`:                           {Model: "m", Location: "evil.example/"},
		`Extra["x"] is not JSON`:                                {Model: "m", Extra: map[string]json.RawMessage{"x": raw("{")}},
		`BaseURL is "ftp://me:[masked]@host"`:                   {Model: "m", BaseURL: "ftp://me:abcdefgh-12345678@host"},
		`BaseURL is "http://host?key=[masked]": it has a query`: {Model: "m", BaseURL: "http://host?key=abcdefgh-12345678"},
		`Extra["api_key"] is not JSON: its 17 by`:               {Model: "m", Extra: map[string]json.RawMessage{"api_key": raw("abcdefgh-12345678")}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				assert.Contains(t, recover(), "gemini: Config."+name)
			}()
			c.New()
		})
	}
	assert.Panics(t, func() { gemini.New("") })
}
