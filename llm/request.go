package llm

import "encoding/json"

// A Role says who speaks a [Message].
type Role string

// The roles that providers share. A client maps RoleDeveloper to the
// provider's nearest (system, where there is no developer role).
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`
	// ToolCalls are the calls an assistant's turn asked for.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID names the call that a tool's turn answers.
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// A Request is one question to a model. The zero value of every setting means
// "not sent": the provider's default applies. Pointers tell a zero that is
// meant from one that is not: new(0.0), new(int64(0)).
type Request struct {
	// Messages is the conversation, oldest first. At least one is needed.
	Messages []Message `json:"messages"`
	// Temperature is the sampling temperature, 0 to 2 for most providers.
	// Reasoning models refuse it.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopP is the nucleus sampling mass, 0 to 1.
	TopP *float64 `json:"top_p,omitempty"`
	// Seed asks for repeatable sampling where the provider has it.
	Seed *int64 `json:"seed,omitempty"`
	// MaxOutputTokens caps the answer, reasoning included, in tokens.
	MaxOutputTokens *int64 `json:"max_output_tokens,omitempty"`
	// Stop ends the answer before any of these texts.
	Stop []string `json:"stop,omitempty"`
	// Schema asks for an answer that is JSON of this schema.
	Schema *Schema `json:"schema,omitempty"`
	// Tools may be called by the model; ToolChoice is "", "auto", "none",
	// "required" or a tool's name.
	Tools      []Tool `json:"tools,omitempty"`
	ToolChoice string `json:"tool_choice,omitempty"`
	// Thinking switches reasoning; nil leaves the provider's default.
	Thinking *Thinking `json:"thinking,omitempty"`
	// Stream asks for a streamed answer: slower to handle, but it is how the
	// first token's time is measured. The Response is the same.
	Stream bool `json:"stream,omitempty"`
	// Extra are further fields of the request's body, by name, as the
	// provider documents them (top_k, chat_template_kwargs, …). A JSON null
	// removes a field that the client would have sent.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Prompt is a request of one user message.
func Prompt(text string) Request {
	return Request{Messages: []Message{{Role: RoleUser, Content: text}}}
}

// WithSystem returns a copy of r that begins with a system message.
func (r Request) WithSystem(text string) Request {
	r.Messages = append([]Message{{Role: RoleSystem, Content: text}}, r.Messages...)
	return r
}

// A Schema is a JSON schema that the answer must follow.
type Schema struct {
	// Name is sent where a provider wants one (letters, digits, _ and -).
	Name string `json:"name"`
	// JSON is the schema itself.
	JSON json.RawMessage `json:"json"`
	// Strict asks the provider to enforce the schema while sampling.
	Strict bool `json:"strict,omitempty"`
}

// A Tool is a function that the model may ask to have called.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON schema of the arguments
}

// A ToolCall is one call that a model asked for. Arguments are the bytes as
// the model wrote them; they need not be valid JSON.
type ToolCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Thinking switches a model's reasoning. Set exactly one field; a client
// refuses what its provider does not have.
type Thinking struct {
	// Off disables reasoning.
	Off bool `json:"off,omitempty"`
	// Level is the provider's word: minimal, low, medium, high, …; "" is not set.
	Level string `json:"level,omitempty"`
	// Budget is the most reasoning tokens; 0 means none. llm/gemini takes -1 as
	// well: as many as the model likes.
	Budget *int64 `json:"budget,omitempty"`
}
