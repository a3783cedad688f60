package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strings"
)

// An API is a provider's way to speak.
type API string

// The APIs that a [Server] speaks.
const (
	OpenAI API = "openai" // chat completions, of OpenAI and all that imitate it
	Gemini API = "gemini" // generateContent, of the Gemini API and of Vertex AI
)

// Chat is a call as the server received it, in the same words for every API.
type Chat struct {
	N int // which call this is, from 1
	// Try is which of the calls that ask the same this is, from 1: with the same
	// model and messages, by whichever API. The server remembers each different
	// one as long as it lives, in about 40 bytes.
	Try   int
	API   API
	Path  string // of the URL
	Model string
	// Messages are the conversation, oldest first. Gemini's system instruction
	// comes first, and its roles are told as OpenAI's: user, assistant, tool.
	Messages  []ChatMessage
	Stream    bool
	MaxTokens int             // the most tokens of an answer; 0 if it was not sent
	Body      json.RawMessage // as it came
	Header    http.Header

	query url.Values
	key   uint64 // of what was asked, equal for both APIs
	usage bool   // the caller wants usage in a stream
	array bool   // a Gemini stream without alt=sse: a JSON array
	batch bool   // a line of a batch job: see Batches
}

// ChatMessage is one message of a call. Texts of several parts are joined; what
// is no text is left out.
type ChatMessage struct {
	Role    string
	Content string
}

// Last is the text of the last message.
func (c Chat) Last() string {
	if len(c.Messages) == 0 {
		return ""
	}
	return c.Messages[len(c.Messages)-1].Content
}

// Field is a field of the body, nil if it was not sent.
func (c Chat) Field(name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(c.Body, &m) != nil {
		return nil
	}
	return m[name]
}

// badBody is why a body is refused, in the provider's spelling.
type badBody string

func (e badBody) Error() string { return string(e) }

// identify sets the key: what was asked, by whatever API, and not how. Messages
// of one role in a row are one text, and a developer's is a system's: Gemini has
// one system instruction.
func (c *Chat) identify() {
	h := fnv.New64a()
	put := func(s string) { _, _ = h.Write([]byte(s)) } // a hash never fails
	const end = "\xff"                                  // in no text: they are UTF-8
	put(c.Model + end)
	last := ""
	for i, m := range c.Messages {
		role := m.Role
		if role == "developer" {
			role = "system"
		}
		if i > 0 && role != last {
			put(end)
		}
		if i == 0 || role != last {
			put(role + end)
		}
		put(m.Content)
		last = role
	}
	put(end)
	c.key = h.Sum64()
}

// id names the call in its answer. As all that is drawn, it depends on what was
// asked and which try of it this is, not on the order in which calls came.
func (c Chat) id() string { return fmt.Sprintf("%016x-%d", c.key, c.Try) }

// readOpenAI reads a body of chat completions.
func readOpenAI(body []byte, r *http.Request) (Chat, error) {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role      string          `json:"role"`
			Content   json.RawMessage `json:"content"`
			ToolCalls json.RawMessage `json:"tool_calls"`
			Function  json.RawMessage `json:"function_call"`
		} `json:"messages"`
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
		StreamOptions       struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Chat{}, fmt.Errorf("the body is no chat completion: %v", err)
	}
	c := Chat{
		API: OpenAI, Model: in.Model, Stream: in.Stream, MaxTokens: max(in.MaxTokens, in.MaxCompletionTokens, 0),
		usage: in.StreamOptions.IncludeUsage,
	}
	if c.Model == "" {
		c.Model = deployment(r.URL.Path)
	}
	for i, m := range in.Messages {
		if m.Content == nil && m.ToolCalls == nil && m.Function == nil {
			return Chat{}, fmt.Errorf("messages[%d] has no content", i)
		}
		c.Messages = append(c.Messages, ChatMessage{Role: m.Role, Content: contentText(m.Content)})
	}
	if len(c.Messages) == 0 {
		return Chat{}, errors.New("messages is empty")
	}
	return c, nil
}

// contentText is a content's text: a string, or the texts of its parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // parts of another form have no text: see ChatMessage
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// deployment is the model's name in Azure's form of the path.
func deployment(path string) string {
	_, rest, ok := strings.Cut(path, "/deployments/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// readGemini reads a body of generateContent. Field names come in both of
// protobuf's spellings.
func readGemini(body []byte, r *http.Request) (Chat, error) {
	var in struct {
		Contents []geminiContent `json:"contents"`
		System   *geminiContent  `json:"systemInstruction"`
		System2  *geminiContent  `json:"system_instruction"`
		Config   geminiConfig    `json:"generationConfig"`
		Config2  geminiConfig    `json:"generation_config"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Chat{}, badBody("Invalid JSON payload received. " + err.Error())
	}
	model, verb := geminiModel(r.URL)
	c := Chat{API: Gemini, Model: model, Stream: verb == "streamGenerateContent", usage: true}
	c.array = c.Stream && r.URL.Query().Get("alt") != "sse"
	c.MaxTokens = max(in.Config.MaxOutputTokens, in.Config.MaxOutputTokens2, in.Config2.MaxOutputTokens, in.Config2.MaxOutputTokens2, 0)
	for _, s := range []*geminiContent{in.System, in.System2} {
		if s != nil {
			c.Messages = append(c.Messages, ChatMessage{Role: "system", Content: s.text()})
		}
	}
	if len(in.Contents) == 0 {
		return Chat{}, badBody("* GenerateContentRequest.contents: contents is not specified")
	}
	for i, m := range in.Contents {
		role, ok := geminiRoles[m.Role]
		if !ok {
			return Chat{}, badBody(fmt.Sprintf("Please use a valid role: user, model. (contents[%d].role is %q)", i, m.Role))
		}
		if len(m.Parts) == 0 {
			return Chat{}, badBody(fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i))
		}
		if m.answersTool() {
			role = "tool"
		}
		c.Messages = append(c.Messages, ChatMessage{Role: role, Content: m.text()})
	}
	return c, nil
}

// geminiRoles are the roles of the API, in OpenAI's words.
var geminiRoles = map[string]string{"": "user", "user": "user", "model": "assistant", "function": "tool", "tool": "tool"}

// geminiModel cuts models/M:verb out of a URL, whichever of the API's hosts it
// was made for.
func geminiModel(u *url.URL) (model, verb string) {
	_, last, ok := strings.Cut(u.Path, "/models/")
	if !ok {
		return "", ""
	}
	model, verb, _ = strings.Cut(last, ":")
	return model, verb
}

type geminiConfig struct {
	MaxOutputTokens  int `json:"maxOutputTokens"`
	MaxOutputTokens2 int `json:"max_output_tokens"`
}

func (c geminiContent) text() string {
	var b strings.Builder
	for _, p := range c.Parts {
		if p.Text != nil {
			b.WriteString(*p.Text)
		}
		if p.Response != nil {
			b.Write(p.Response.Response)
		}
	}
	return b.String()
}

func (c geminiContent) answersTool() bool {
	for _, p := range c.Parts {
		if p.Response == nil {
			return false
		}
	}
	return true
}

// jsonType is the content type of the API's answers.
func (a API) jsonType() string {
	if a == Gemini {
		return "application/json; charset=UTF-8"
	}
	return "application/json"
}

// streamType is that of its streams.
func (a API) streamType() string {
	if a == Gemini {
		return "text/event-stream"
	}
	return "text/event-stream; charset=utf-8"
}
