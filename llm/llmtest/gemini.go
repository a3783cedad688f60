package llmtest

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/goevals/evals/llm"
)

// Gemini's shapes, written out here on their own so that a client is not
// tested against its SDK's mistakes.
type (
	geminiAnswer struct {
		Candidates []geminiCandidate `json:"candidates,omitempty"`
		Feedback   *geminiFeedback   `json:"promptFeedback,omitempty"`
		Usage      json.RawMessage   `json:"usageMetadata,omitempty"`
		Model      string            `json:"modelVersion"`
		ID         string            `json:"responseId"`
	}
	geminiCandidate struct {
		Content *geminiContent `json:"content,omitempty"`
		Finish  string         `json:"finishReason,omitempty"`
		Message string         `json:"finishMessage,omitempty"`
		Index   int            `json:"index"`
	}
	geminiContent struct {
		Parts []geminiPart `json:"parts"`
		Role  string       `json:"role,omitempty"`
	}
	geminiPart struct {
		Text     *string         `json:"text,omitempty"`
		Thought  bool            `json:"thought,omitempty"`
		Call     *geminiCall     `json:"functionCall,omitempty"`
		Response *geminiResponse `json:"functionResponse,omitempty"`
	}
	geminiCall struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	geminiResponse struct {
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	}
	geminiFeedback struct {
		Reason string `json:"blockReason,omitempty"`
	}
	geminiUsage struct {
		Prompt   int64            `json:"promptTokenCount"`
		Answer   int64            `json:"candidatesTokenCount,omitempty"` // without thoughts
		Total    int64            `json:"totalTokenCount"`
		Thoughts int64            `json:"thoughtsTokenCount,omitempty"`
		Cached   int64            `json:"cachedContentTokenCount,omitempty"`
		PromptOf []geminiModality `json:"promptTokensDetails,omitempty"`
		CachedOf []geminiModality `json:"cacheTokensDetails,omitempty"`
	}
	geminiModality struct {
		Modality string `json:"modality"`
		Tokens   int64  `json:"tokenCount"`
	}
)

// geminiDialect speaks generateContent. Its streams end without a word, tell
// their usage so far in each chunk, and separate events by CR LF CR LF.
type geminiDialect struct{}

func (geminiDialect) frame() (before, after string) { return "data: ", "\r\n\r\n" }

func (geminiDialect) usage(u llm.Usage) any {
	out := geminiUsage{Prompt: u.Input, Answer: u.Output - u.Reasoning, Thoughts: u.Reasoning, Cached: u.CachedInput, Total: u.Input + u.Output}
	if u.Input > 0 {
		out.PromptOf = []geminiModality{{"TEXT", u.Input}}
	}
	if u.CachedInput > 0 {
		out.CachedOf = []geminiModality{{"TEXT", u.CachedInput}}
	}
	return out
}

func (geminiDialect) object(a *scripted, usage json.RawMessage, parts []geminiPart) geminiAnswer {
	o := geminiAnswer{Usage: usage, Model: a.chat.Model, ID: "resp-" + a.chat.id()}
	if a.reply.Blocked == "" && !a.reply.Damage.Empty {
		o.Candidates = []geminiCandidate{{Content: &geminiContent{Parts: parts, Role: "model"}}}
	}
	if a.reply.Blocked != "" {
		o.Feedback = &geminiFeedback{Reason: a.reply.Blocked}
	}
	return o
}

func (d geminiDialect) answer(a *scripted) any {
	var parts []geminiPart
	if a.reply.Reasoning != "" {
		parts = append(parts, geminiPart{Text: &a.reply.Reasoning, Thought: true})
	}
	if a.reply.Text != "" {
		parts = append(parts, geminiPart{Text: &a.reply.Text})
	}
	calls, finish := d.calls(a)
	o := d.object(a, a.tell(a.usage), append(parts, calls...))
	d.finish(a, &o, finish)
	return o
}

func (geminiDialect) opening(*scripted) []any { return nil }

func (d geminiDialect) piece(a *scripted, i int) any {
	s := a.pieces(i)
	p := geminiPart{Text: &s, Thought: i < len(a.thoughts)}
	return d.object(a, a.tell(a.partial(i+1)), []geminiPart{p})
}

func (d geminiDialect) closing(a *scripted) []any {
	calls, finish := d.calls(a)
	if len(calls) == 0 {
		calls = []geminiPart{{Text: new("")}}
	}
	o := d.object(a, a.tell(a.usage), calls)
	d.finish(a, &o, finish)
	return []any{o}
}

// finish says why the answer ended.
func (geminiDialect) finish(a *scripted, o *geminiAnswer, word string) {
	if len(o.Candidates) == 0 || a.reply.Damage.NoFinish {
		return
	}
	c := &o.Candidates[0]
	c.Finish = word
	if a.reply.Refusal != "" {
		// The API has no field for a refusal: a model's own is text, and the
		// provider's is this.
		c.Finish, c.Message = "SAFETY", a.reply.Refusal
	}
	if c.Content != nil && len(c.Content.Parts) == 0 {
		c.Content = nil
	}
}

// calls are the tool calls as parts, and the finish reason: a call whose
// arguments are no object cannot be told.
func (geminiDialect) calls(a *scripted) (parts []geminiPart, finish string) {
	finish = geminiFinish(a.reply.Finish)
	for _, tc := range a.reply.ToolCalls {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(tc.Arguments), &object) != nil || object == nil {
			return nil, "MALFORMED_FUNCTION_CALL"
		}
		parts = append(parts, geminiPart{Call: &geminiCall{ID: tc.ID, Name: tc.Name, Args: json.RawMessage(tc.Arguments)}})
	}
	return parts, finish
}

// geminiFinish is a finish reason in Gemini's words; one that is in capitals
// is so already.
func geminiFinish(s string) string {
	switch s {
	case "stop", "tool_calls":
		return "STOP"
	case "length":
		return "MAX_TOKENS"
	case "content_filter":
		return "SAFETY"
	}
	if strings.ContainsFunc(s, unicode.IsUpper) {
		return s
	}
	return "OTHER"
}

func (geminiDialect) failure(p problem) (int, any) {
	status := p.status
	if p.geminiStatus != 0 {
		status = p.geminiStatus
	}
	type inner struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
		Details []any  `json:"details,omitempty"`
	}
	e := inner{Code: status, Message: p.message, Status: p.word, Details: p.details}
	if p.geminiMessage != "" {
		e.Message = p.geminiMessage
	}
	if e.Status == "" {
		e.Status = geminiWord(status)
	}
	return status, map[string]inner{"error": e}
}

// geminiWord is the status's name that Google's APIs use.
func geminiWord(status int) string {
	switch status {
	case 400:
		return "INVALID_ARGUMENT"
	case 401:
		return "UNAUTHENTICATED"
	case 403:
		return "PERMISSION_DENIED"
	case 404:
		return "NOT_FOUND"
	case 409:
		return "ABORTED"
	case 429:
		return "RESOURCE_EXHAUSTED"
	case 499:
		return "CANCELLED"
	case 500:
		return "INTERNAL"
	case 503:
		return "UNAVAILABLE"
	case 504:
		return "DEADLINE_EXCEEDED"
	}
	return "UNKNOWN"
}
