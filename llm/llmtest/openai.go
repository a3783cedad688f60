package llmtest

import (
	"encoding/json"
	"fmt"

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
		Index   int      `json:"index"`
		Message *chatMsg `json:"message,omitempty"`
		Delta   *chatMsg `json:"delta,omitempty"`
		Finish  *string  `json:"finish_reason"`
	}
	chatMsg struct {
		Role      string     `json:"role,omitempty"`
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
		Prompt     int64            `json:"prompt_tokens"`
		Completion int64            `json:"completion_tokens"` // with reasoning
		Total      int64            `json:"total_tokens"`
		PromptOf   map[string]int64 `json:"prompt_tokens_details,omitempty"`
		OutputOf   map[string]int64 `json:"completion_tokens_details,omitempty"`
	}
)

// openAIDialect speaks chat completions. Its streams begin with the role, tell
// the usage once, if asked to, and end with [DONE].
type openAIDialect struct{}

func (openAIDialect) frame() (before, after string) { return "data: ", "\n\n" }
func (openAIDialect) done() string                  { return Done }

func (openAIDialect) usage(u llm.Usage) any {
	out := chatUsage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
	if u.CachedInput > 0 {
		out.PromptOf = map[string]int64{"cached_tokens": u.CachedInput}
	}
	if u.Reasoning > 0 {
		out.OutputOf = map[string]int64{"reasoning_tokens": u.Reasoning}
	}
	return out
}

func (openAIDialect) object(a *scripted, kind string, choices ...chatChoice) chatObject {
	if choices == nil || a.reply.Damage.Empty {
		choices = []chatChoice{}
	}
	return chatObject{ID: fmt.Sprintf("chatcmpl-%d", a.chat.N), Object: kind, Created: 1700000000, Model: a.chat.Model, Choices: choices}
}

func (openAIDialect) toolCalls(a *scripted, streamed bool) []chatTool {
	var out []chatTool
	for i, tc := range a.reply.ToolCalls {
		t := chatTool{ID: tc.ID, Type: "function"}
		t.Function.Name, t.Function.Arguments = tc.Name, tc.Arguments
		if streamed {
			t.Index = &i
		}
		out = append(out, t)
	}
	return out
}

func (openAIDialect) finish(a *scripted) *string {
	if a.reply.Damage.NoFinish {
		return nil
	}
	return &a.reply.Finish
}

func (d openAIDialect) whole(a *scripted) any {
	o := d.object(a, "chat.completion", chatChoice{
		Message: &chatMsg{
			Role: "assistant", Content: &a.reply.Text, Reasoning: a.reply.Reasoning,
			Refusal: a.reply.Refusal, ToolCalls: d.toolCalls(a, false),
		},
		Finish: d.finish(a),
	})
	o.Usage = a.tell(a.usage)
	return o
}

func (d openAIDialect) delta(a *scripted, m chatMsg) any {
	return d.object(a, "chat.completion.chunk", chatChoice{Delta: &m})
}

func (d openAIDialect) opening(a *scripted) []any {
	if a.reply.Damage.Empty {
		return nil
	}
	empty := ""
	return []any{d.delta(a, chatMsg{Role: "assistant", Content: &empty})}
}

func (d openAIDialect) piece(a *scripted, i int) any {
	s := a.pieces(i)
	if i < len(a.thoughts) {
		return d.delta(a, chatMsg{Reasoning: s})
	}
	return d.delta(a, chatMsg{Content: &s})
}

func (d openAIDialect) closing(a *scripted) []any {
	var out []any
	if len(a.reply.ToolCalls) > 0 {
		out = append(out, d.delta(a, chatMsg{ToolCalls: d.toolCalls(a, true)}))
	}
	if a.reply.Refusal != "" {
		out = append(out, d.delta(a, chatMsg{Refusal: a.reply.Refusal}))
	}
	if f := d.finish(a); f != nil && !a.reply.Damage.Empty {
		out = append(out, d.object(a, "chat.completion.chunk", chatChoice{Delta: &chatMsg{}, Finish: f}))
	}
	if u := a.tell(a.usage); u != nil && a.chat.usage {
		o := d.object(a, "chat.completion.chunk")
		o.Usage = u
		out = append(out, o)
	}
	if len(out) == 0 && a.reply.Damage.Empty {
		out = append(out, d.object(a, "chat.completion.chunk"))
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
