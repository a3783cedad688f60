package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"strconv"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
)

// noModel stands where the SDK wants a model. By real names it refuses what it
// believes that models do not take; the server may know better.
const noModel = "-"

// build is the request as the SDK sends it, and the fields that go past the
// SDK: the model, and settings whose zero it would drop.
func (c *Client) build(base *url.URL, req llm.Request) (sdk.ChatCompletionRequest, map[string]json.RawMessage, error) {
	out := sdk.ChatCompletionRequest{Model: noModel, Stop: req.Stop}
	model, err := json.Marshal(c.cfg.Model)
	if err != nil {
		return out, nil, err
	}
	fields := map[string]json.RawMessage{"model": model}
	if err := c.settings(base, req, fields); err != nil {
		return out, nil, err
	}
	if err := c.messages(base, req, &out, fields); err != nil {
		return out, nil, err
	}
	if s := req.Schema; s != nil {
		name := s.Name
		if name == "" {
			name = "answer"
		}
		if !json.Valid(s.JSON) {
			return out, nil, c.refuse("Request.Schema.JSON is not JSON: %.80q; want a JSON schema, such as {\"type\":\"object\"}", s.JSON)
		}
		out.ResponseFormat = &sdk.ChatCompletionResponseFormat{
			Type:       sdk.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &sdk.ChatCompletionResponseFormatJSONSchema{Name: name, Schema: s.JSON, Strict: s.Strict},
		}
	}
	if err := c.tools(req, &out); err != nil {
		return out, nil, err
	}
	if req.Stream {
		out.Stream, out.StreamOptions = true, &sdk.StreamOptions{IncludeUsage: true}
	}
	return out, fields, c.further(req, fields)
}

// further adds what thinking comes to, and the fields of Extra.
func (c *Client) further(req llm.Request, fields map[string]json.RawMessage) error {
	thought := map[string]json.RawMessage{}
	if req.Thinking != nil {
		if err := c.thinking(*req.Thinking, thought); err != nil {
			return err
		}
	}
	maps.Copy(fields, thought)
	maps.Copy(fields, c.cfg.Extra)
	for name, v := range req.Extra {
		if bad := client.ExtraFault(name, v); bad != "" {
			return c.refuse("Request.%s", bad)
		}
		fields[name] = v
	}
	for name, v := range thought {
		fields[name] = join(v, fields[name])
	}
	return nil
}

// refuse is the error for a request that cannot be sent as it is meant.
func (c *Client) refuse(format string, args ...any) error {
	return &llm.Error{Kind: llm.KindBadRequest, Provider: c.cfg.Provider, Message: fmt.Sprintf(format, args...)}
}

func (c *Client) settings(base *url.URL, req llm.Request, fields map[string]json.RawMessage) error {
	for name, v := range map[string]*float64{"Temperature": req.Temperature, "TopP": req.TopP} {
		if v == nil {
			continue
		}
		if math.IsNaN(*v) || math.IsInf(*v, 0) {
			return c.refuse("Request.%s is %v: want a finite number, or nil for the model's own", name, *v)
		}
		fields[map[string]string{"Temperature": "temperature", "TopP": "top_p"}[name]] = strconv.AppendFloat(nil, *v, 'g', -1, 64)
	}
	if req.Seed != nil {
		fields["seed"] = strconv.AppendInt(nil, *req.Seed, 10)
	}
	if req.MaxOutputTokens != nil {
		fields[c.cfg.maxTokensField(base)] = strconv.AppendInt(nil, *req.MaxOutputTokens, 10)
	}
	return nil
}

func (c *Client) messages(base *url.URL, req llm.Request, out *sdk.ChatCompletionRequest, fields map[string]json.RawMessage) error {
	if len(req.Messages) == 0 {
		return c.refuse("Request.Messages is empty: at least one message is needed")
	}
	empty := false
	for _, m := range req.Messages {
		role := string(m.Role)
		if m.Role == llm.RoleDeveloper && !isOpenAI(base) {
			role = string(llm.RoleSystem) // only OpenAI has the other
		}
		msg := sdk.ChatCompletionMessage{Role: role, Content: m.Content, ToolCallID: m.ToolCallID}
		for _, tc := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, sdk.ToolCall{
				ID: tc.ID, Type: sdk.ToolTypeFunction, Function: sdk.FunctionCall{Name: tc.Name, Arguments: tc.Arguments},
			})
		}
		empty = empty || m.Content == "" && len(m.ToolCalls) == 0
		out.Messages = append(out.Messages, msg)
	}
	if !empty {
		return nil
	}
	// The SDK leaves out an empty content, which servers refuse.
	all := make([]map[string]any, len(out.Messages))
	for i, m := range out.Messages {
		all[i] = map[string]any{"role": m.Role, "content": m.Content}
		if m.ToolCallID != "" {
			all[i]["tool_call_id"] = m.ToolCallID
		}
		if len(m.ToolCalls) > 0 {
			all[i]["tool_calls"] = m.ToolCalls
		}
	}
	b, err := json.Marshal(all)
	fields["messages"] = b
	return err
}

func (c *Client) tools(req llm.Request, out *sdk.ChatCompletionRequest) error {
	known := map[string]bool{}
	for i, t := range req.Tools {
		f := &sdk.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
		if t.Parameters != nil {
			if !json.Valid(t.Parameters) {
				return c.refuse("Request.Tools[%d].Parameters, of tool %q, are not JSON: %.80q; want a JSON schema, or nil for none", i, t.Name, t.Parameters)
			}
			f.Parameters = t.Parameters
		}
		known[t.Name] = true
		out.Tools = append(out.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: f})
	}
	switch req.ToolChoice {
	case "":
	case "auto", "none", "required":
		out.ToolChoice = req.ToolChoice
	default:
		if !known[req.ToolChoice] {
			return c.refuse("Request.ToolChoice is %q: want auto, none, required or the name of one of Request.Tools", req.ToolChoice)
		}
		out.ToolChoice = sdk.ToolChoice{Type: sdk.ToolTypeFunction, Function: sdk.ToolFunction{Name: req.ToolChoice}}
	}
	return nil
}
