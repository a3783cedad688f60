package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// The API's shapes, written out here on their own so that a client is not
// tested against its own mistakes.
type (
	chatObject struct {
		ID      string       `json:"id"`
		Object  string       `json:"object"`
		Created int64        `json:"created"`
		Model   string       `json:"model"`
		Choices []chatChoice `json:"choices"`
		Usage   any          `json:"usage,omitempty"`
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
)

// scripted is one answer on its way.
type scripted struct {
	chat     Chat
	reply    Reply
	thoughts []string // tokens, spaces kept
	tokens   []string
	prompt   int
}

func newAnswer(c Chat, r Reply) *scripted {
	a := &scripted{chat: c, reply: r, thoughts: words(r.Reasoning), tokens: words(r.Text)}
	for _, m := range c.Messages {
		a.prompt += len(words(m.Content))
	}
	if a.reply.Finish == "" {
		a.reply.Finish = "stop"
		if len(r.ToolCalls) > 0 {
			a.reply.Finish = "tool_calls"
		}
	}
	return a
}

// words are s cut after each run of spaces.
func words(s string) []string {
	var out []string
	for s != "" {
		i := strings.IndexByte(s, ' ')
		if i < 0 {
			return append(out, s)
		}
		for i < len(s) && s[i] == ' ' {
			i++
		}
		out, s = append(out, s[:i]), s[i:]
	}
	return out
}

func (a *scripted) usage() any {
	switch {
	case a.reply.NoUsage:
		return nil
	case a.reply.Usage != nil:
		return a.reply.Usage
	}
	out := len(a.thoughts) + len(a.tokens)
	u := map[string]any{"prompt_tokens": a.prompt, "completion_tokens": out, "total_tokens": a.prompt + out}
	if len(a.thoughts) > 0 {
		u["completion_tokens_details"] = map[string]int{"reasoning_tokens": len(a.thoughts)}
	}
	return u
}

func (a *scripted) billed() llm.Usage {
	return llm.Usage{
		Input: int64(a.prompt), Output: int64(len(a.thoughts) + len(a.tokens)),
		Reasoning: int64(len(a.thoughts)), Known: true,
	}
}

func (a *scripted) object(kind string) chatObject {
	return chatObject{ID: fmt.Sprintf("chatcmpl-%d", a.chat.N), Object: kind, Created: 1700000000, Model: a.chat.Model}
}

func (a *scripted) toolCalls(streamed bool) []chatTool {
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

// pause waits, and reports whether the caller is still there.
func pause(r *http.Request, d time.Duration) bool {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
		}
	}
	return r.Context().Err() == nil
}

func (a *scripted) whole(w http.ResponseWriter, r *http.Request) bool {
	n := max(len(a.thoughts)+len(a.tokens)-1, 0)
	if !pause(r, a.reply.FirstToken+time.Duration(n)*a.reply.PerToken) {
		return false
	}
	o := a.object("chat.completion")
	o.Choices = []chatChoice{{
		Message: &chatMsg{Role: "assistant", Content: &a.reply.Text, Reasoning: a.reply.Reasoning, Refusal: a.reply.Refusal, ToolCalls: a.toolCalls(false)},
		Finish:  &a.reply.Finish,
	}}
	o.Usage = a.usage()
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(o) == nil
}

func (a *scripted) stream(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choices []chatChoice, usage any) bool {
		o := a.object("chat.completion.chunk")
		o.Choices, o.Usage = choices, usage
		b, err := json.Marshal(o)
		if err != nil {
			return false
		}
		_, err = fmt.Fprintf(w, "data: %s\n\n", b)
		flush(w)
		return err == nil && r.Context().Err() == nil
	}
	delta := func(m chatMsg) bool { return send([]chatChoice{{Delta: &m}}, nil) }
	empty := ""
	if !delta(chatMsg{Role: "assistant", Content: &empty}) {
		return false
	}
	wait := a.reply.FirstToken
	for i, t := range append(a.thoughts[:len(a.thoughts):len(a.thoughts)], a.tokens...) {
		if !pause(r, wait) {
			return false
		}
		wait = a.reply.PerToken
		m := chatMsg{Reasoning: t}
		if i >= len(a.thoughts) {
			m = chatMsg{Content: &t}
		}
		if !delta(m) {
			return false
		}
	}
	if len(a.reply.ToolCalls) > 0 && !delta(chatMsg{ToolCalls: a.toolCalls(true)}) {
		return false
	}
	if a.reply.Refusal != "" && !delta(chatMsg{Refusal: a.reply.Refusal}) {
		return false
	}
	if !send([]chatChoice{{Delta: &chatMsg{}, Finish: &a.reply.Finish}}, nil) {
		return false
	}
	if u := a.usage(); u != nil && wantsUsage(a.chat) && !send([]chatChoice{}, u) {
		return false
	}
	_, err := fmt.Fprint(w, "data: [DONE]\n\n")
	flush(w)
	return err == nil
}

// wantsUsage reports whether the caller asked for usage in the stream.
func wantsUsage(c Chat) bool {
	var o struct {
		IncludeUsage bool `json:"include_usage"`
	}
	return json.Unmarshal(c.Field("stream_options"), &o) == nil && o.IncludeUsage
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
