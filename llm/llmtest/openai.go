package llmtest

import (
	"encoding/json"

	"github.com/goevals/evals/llm"
)

// OpenAI's shapes, written out here on their own so that a client is not
// tested against its SDK's mistakes.
type (
	chatObject struct {
		ID      string          `json:"id"`
		Object  string          `json:"object"`
		Created int64           `json:"created"`
		Model   string          `json:"model"`
		Choices []chatChoice    `json:"choices"`
		Usage   json.RawMessage `json:"usage,omitempty"`
	}
	chatChoice struct {
		Index    int       `json:"index"`
		Message  *chatMsg  `json:"message,omitempty"`
		Delta    any       `json:"delta,omitempty"` // chatFirst or chatDelta
		Logprobs *struct{} `json:"logprobs"`        // none are ever told
		Finish   *string   `json:"finish_reason"`
	}
	// chatMsg says null where it has nothing to say.
	chatMsg struct {
		Role      string     `json:"role"`
		Content   *string    `json:"content"`
		Reasoning string     `json:"reasoning_content,omitempty"`
		Refusal   *string    `json:"refusal"`
		ToolCalls []chatTool `json:"tool_calls,omitempty"`
	}
	// chatFirst is the first delta of a stream.
	chatFirst struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
		Refusal *string `json:"refusal"`
	}
	chatDelta struct {
		Content   *string    `json:"content,omitempty"`
		Reasoning string     `json:"reasoning_content,omitempty"`
		Refusal   string     `json:"refusal,omitempty"`
		ToolCalls []chatTool `json:"tool_calls,omitempty"`
	}
	chatTool struct {
		Index    *int   `json:"index,omitempty"`
		ID       string `json:"id,omitempty"`
		Type     string `json:"type,omitempty"`
		Function struct {
			Name      string `json:"name,omitempty"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	chatUsage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"` // with reasoning
		Total      int64 `json:"total_tokens"`
		PromptOf   struct {
			Cached int64 `json:"cached_tokens"`
			Audio  int64 `json:"audio_tokens"`
			Write  int64 `json:"cache_write_tokens,omitempty"` // of OpenRouter
		} `json:"prompt_tokens_details"`
		OutputOf struct {
			Reasoning int64 `json:"reasoning_tokens"`
			Audio     int64 `json:"audio_tokens"`
			Accepted  int64 `json:"accepted_prediction_tokens"`
			Rejected  int64 `json:"rejected_prediction_tokens"`
		} `json:"completion_tokens_details"`
	}
)

// openAIDialect speaks chat completions. Its streams begin with the role, tell
// the usage once, if asked to, and end with [DONE]. Not told, because nobody
// reads it: service_tier, system_fingerprint, annotations.
type openAIDialect struct{}

func (openAIDialect) frame() (before, after string) { return "data: ", "\n\n" }

func (openAIDialect) usage(u llm.Usage) any {
	out := chatUsage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
	out.PromptOf.Cached, out.PromptOf.Write = u.CachedInput, u.CacheWrite
	out.OutputOf.Reasoning = u.Reasoning
	return out
}

func (openAIDialect) object(a *scripted, kind string, choices ...chatChoice) chatObject {
	if choices == nil || a.reply.Damage.Empty {
		choices = []chatChoice{}
	}
	return chatObject{ID: "chatcmpl-" + a.chat.id(), Object: kind, Created: 1700000000, Model: a.chat.Model, Choices: choices}
}

// chunk is an event of a stream. Who asked for usage gets a null in each but
// the one that tells it.
func (d openAIDialect) chunk(a *scripted, choices ...chatChoice) chatObject {
	o := d.object(a, "chat.completion.chunk", choices...)
	if a.chat.usage && a.tells() {
		o.Usage = json.RawMessage("null")
	}
	return o
}

func (openAIDialect) tool(tc llm.ToolCall) chatTool {
	t := chatTool{ID: tc.ID, Type: "function"}
	t.Function.Name, t.Function.Arguments = tc.Name, tc.Arguments
	return t
}

func (openAIDialect) finish(a *scripted) *string {
	if a.reply.Damage.NoFinish {
		return nil
	}
	return &a.reply.Finish
}

func (d openAIDialect) answer(a *scripted) any {
	m := &chatMsg{Role: "assistant", Content: d.content(a), Reasoning: a.reply.Reasoning}
	if a.reply.Refusal != "" {
		m.Refusal = &a.reply.Refusal
	}
	for _, tc := range a.reply.ToolCalls {
		m.ToolCalls = append(m.ToolCalls, d.tool(tc))
	}
	o := d.object(a, "chat.completion", chatChoice{Message: m, Finish: d.finish(a)})
	o.Usage = a.tell(a.usage)
	return o
}

// content is the text, nil if something else is said instead.
func (openAIDialect) content(a *scripted) *string {
	if a.reply.Text == "" && (a.reply.Refusal != "" || len(a.reply.ToolCalls) > 0) {
		return nil
	}
	return &a.reply.Text
}

func (d openAIDialect) delta(a *scripted, delta any) any {
	return d.chunk(a, chatChoice{Delta: delta})
}

func (d openAIDialect) opening(a *scripted) []any {
	if a.reply.Damage.Empty {
		return nil
	}
	first := chatFirst{Role: "assistant", Content: d.content(a)}
	if first.Content != nil {
		first.Content = new("")
	}
	return []any{d.delta(a, first)}
}

func (d openAIDialect) piece(a *scripted, i int) any {
	s := a.pieces(i)
	if i < len(a.thoughts) {
		return d.delta(a, chatDelta{Reasoning: s})
	}
	return d.delta(a, chatDelta{Content: &s})
}

func (d openAIDialect) closing(a *scripted) []any {
	var out []any
	for i, tc := range a.reply.ToolCalls {
		for _, t := range d.fragments(i, tc) {
			out = append(out, d.delta(a, chatDelta{ToolCalls: []chatTool{t}}))
		}
	}
	if a.reply.Refusal != "" {
		out = append(out, d.delta(a, chatDelta{Refusal: a.reply.Refusal}))
	}
	if f := d.finish(a); f != nil && !a.reply.Damage.Empty {
		out = append(out, d.chunk(a, chatChoice{Delta: chatDelta{}, Finish: f}))
	}
	if u := a.tell(a.usage); u != nil && a.chat.usage {
		o := d.chunk(a)
		o.Usage = u
		out = append(out, o)
	}
	if len(out) == 0 && a.reply.Damage.Empty {
		out = append(out, d.chunk(a))
	}
	return out
}

// fragments are the i-th tool call as it is streamed: its name, then its
// arguments in pieces that belong to it by the index only.
func (d openAIDialect) fragments(i int, tc llm.ToolCall) []chatTool {
	first := d.tool(tc)
	first.Index, first.Function.Arguments = &i, ""
	out := []chatTool{first}
	runes := []rune(tc.Arguments)
	for half := (len(runes) + 1) / 2; len(runes) > 0; runes = runes[min(half, len(runes)):] {
		t := chatTool{Index: &i}
		t.Function.Arguments = string(runes[:min(half, len(runes))])
		out = append(out, t)
	}
	return out
}

func (openAIDialect) failure(p problem) (int, any) {
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    any     `json:"code"`
		Inner   any     `json:"innererror,omitempty"`
	}
	e := inner{Message: p.message, Type: p.typ, Inner: p.inner}
	if p.param != "" {
		e.Param = &p.param
	}
	if p.code != "" {
		e.Code = p.code
	}
	return p.status, map[string]inner{"error": e}
}
