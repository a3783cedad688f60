package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// A Prompt is what a body asks for. One of Text, Messages and Tokens is needed.
type Prompt struct {
	// Text is one message of the user, or a completion's prompt.
	Text string
	// Messages is a JSON list of messages, sent as it is; with [Gemini], of
	// contents. It does not go with [Completions].
	Messages json.RawMessage
	// Tokens is a completion's prompt as the numbers of its tokens.
	Tokens []int
	// Tools is a JSON list, sent as it is.
	Tools json.RawMessage
	// MaxTokens and MinTokens bound the length of the answer; 0 sends nothing.
	// For an exact length give both. The fields' names are Config.Lengths'.
	MaxTokens, MinTokens int
	// IgnoreEOS asks a server of one's own to go on until MaxTokens.
	IgnoreEOS bool
	// Whole asks for the answer in one piece. Default: streamed, with usage.
	Whole bool
	// User is sent as user.
	User string
	// Extra are further fields at the top level; they replace what would be sent
	// under the same name. With [Gemini], generationConfig is joined with
	// maxOutputTokens. "n" other than 1 is refused: the answers would be
	// measured as one. "stream" is refused: set Whole.
	Extra map[string]json.RawMessage
}

// A field is one of a body, in the order in which it is sent.
type field struct {
	name  string
	value any
}

// Body makes the bytes of a call, before the clock runs. Equal prompts give
// equal bytes. It returns an error, which is for the one request (record.Build),
// if the prompt cannot be sent so.
func (c *Client) Body(p Prompt) ([]byte, error) {
	if err := c.promptFault(p); err != nil {
		return nil, err
	}
	var fields []field
	var err error
	switch c.cfg.API {
	case Gemini:
		fields, err = c.geminiFields(p)
	default:
		fields = c.openAIFields(p)
	}
	if err != nil {
		return nil, err
	}
	return joinFields(fields, p.Extra)
}

func (c *Client) promptFault(p Prompt) error {
	given := 0
	for _, has := range []bool{p.Text != "", len(p.Messages) > 0, len(p.Tokens) > 0} {
		if has {
			given++
		}
	}
	switch {
	case given != 1:
		return fmt.Errorf("client: want one of Prompt's Text, Messages and Tokens, and %d are set", given)
	case len(p.Messages) > 0 && c.cfg.API == Completions:
		return fmt.Errorf("client: a completion has no Messages: give Text or Tokens, or take the API %q", Chat)
	case len(p.Tokens) > 0 && c.cfg.API != Completions:
		return fmt.Errorf("client: only the API %q takes Tokens, and this is %q", Completions, c.cfg.API)
	case p.MaxTokens < 0 || p.MinTokens < 0:
		return fmt.Errorf("client: MaxTokens is %d and MinTokens %d: want 0 or more", p.MaxTokens, p.MinTokens)
	case p.MaxTokens > 0 && p.MinTokens > p.MaxTokens:
		return fmt.Errorf("client: MinTokens is %d, more than MaxTokens, %d", p.MinTokens, p.MaxTokens)
	case p.MinTokens > 0 && (c.cfg.API == Gemini || c.cfg.Lengths == OpenAI):
		return fmt.Errorf("client: this API has no least length: MinTokens is %d, want 0", p.MinTokens)
	case c.cfg.API == Gemini && (p.IgnoreEOS || p.User != ""):
		return fmt.Errorf("client: the Gemini API knows neither ignore_eos (%v) nor user (%q)", p.IgnoreEOS, p.User)
	case !utf8.ValidString(p.Text):
		return fmt.Errorf("client: the text is no UTF-8: JSON would change it")
	case !utf8.ValidString(p.User):
		return fmt.Errorf("client: the user %q is no UTF-8", p.User)
	}
	for name, raw := range map[string]json.RawMessage{"Messages": p.Messages, "Tools": p.Tools} {
		if len(raw) > 0 && (!bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'['}) || !json.Valid(raw)) {
			return fmt.Errorf("client: %s is no JSON list (%d bytes)", name, len(raw))
		}
	}
	return extraFault(p.Extra)
}

func extraFault(extra map[string]json.RawMessage) error {
	for name, raw := range extra {
		if !json.Valid(raw) {
			return fmt.Errorf("client: Extra[%q] is no JSON: %q", name, cut(string(raw), 100))
		}
	}
	if n, ok := extra["n"]; ok && string(bytes.TrimSpace(n)) != "1" {
		return fmt.Errorf("client: Extra[\"n\"] is %s: several answers would be measured as one", cut(string(n), 100))
	}
	if _, ok := extra["stream"]; ok {
		return fmt.Errorf("client: Extra has stream: set Prompt.Whole and Call.Whole")
	}
	return nil
}

type userMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (c *Client) openAIFields(p Prompt) []field {
	var f []field
	add := func(name string, value any, want bool) {
		if want {
			f = append(f, field{name, value})
		}
	}
	add("model", c.cfg.Model, c.cfg.Model != "")
	switch {
	case len(p.Tokens) > 0:
		add("prompt", p.Tokens, true)
	case len(p.Messages) > 0:
		add("messages", p.Messages, true)
	case c.cfg.API == Completions:
		add("prompt", p.Text, true)
	default:
		add("messages", []userMessage{{"user", p.Text}}, true)
	}
	add("tools", p.Tools, len(p.Tools) > 0)
	most, least := "max_tokens", "min_tokens"
	switch c.cfg.Lengths {
	case SGLang:
		most, least = "max_new_tokens", "min_new_tokens"
	case OpenAI:
		most = "max_completion_tokens"
	}
	add(most, p.MaxTokens, p.MaxTokens > 0)
	add(least, p.MinTokens, p.MinTokens > 0)
	add("ignore_eos", true, p.IgnoreEOS)
	add("stream", true, !p.Whole)
	add("stream_options", json.RawMessage(`{"include_usage":true}`), !p.Whole && !c.cfg.NoStreamOptions)
	add("user", p.User, p.User != "")
	return f
}

type geminiPart struct {
	Text string `json:"text"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

func (c *Client) geminiFields(p Prompt) ([]field, error) {
	f := []field{{"contents", p.Messages}}
	if len(p.Messages) == 0 {
		f[0].value = []geminiContent{{"user", []geminiPart{{p.Text}}}}
	}
	if len(p.Tools) > 0 {
		f = append(f, field{"tools", p.Tools})
	}
	if p.MaxTokens == 0 {
		return f, nil
	}
	config := map[string]json.RawMessage{}
	if raw, ok := p.Extra["generationConfig"]; ok {
		if err := json.Unmarshal(raw, &config); err != nil {
			return nil, fmt.Errorf("client: Extra[\"generationConfig\"] is no JSON object: %q", cut(string(raw), 100))
		}
		if v, ok := config["maxOutputTokens"]; ok {
			return nil, fmt.Errorf("client: MaxTokens is %d and Extra[\"generationConfig\"] has maxOutputTokens %s: give one", p.MaxTokens, cut(string(v), 100))
		}
	}
	if config == nil { // of a null
		config = map[string]json.RawMessage{}
	}
	config["maxOutputTokens"] = json.RawMessage(fmt.Sprint(p.MaxTokens))
	return append(f, field{"generationConfig", config}), nil
}

// joinFields writes the object: fields in their order, then the extra ones in
// that of their names.
func joinFields(fields []field, extra map[string]json.RawMessage) ([]byte, error) {
	joined := map[string]bool{"generationConfig": len(fields) > 0 && fields[len(fields)-1].name == "generationConfig"}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case at >= 0 && joined[name]:
		case at >= 0:
			fields[at].value = extra[name]
		default:
			fields = append(fields, field{name, extra[name]})
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(f.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("client: the field %q: %w", f.name, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is JSON as people write it: <, > and & as they are, which are one byte
// then and not six.
func marshal(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil // byte for byte
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
