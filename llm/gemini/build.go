package gemini

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"

	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
)

// request is what the SDK is given, and what goes past it: settings whose zero
// it would drop, numbers that it would round, and JSON whose order it would
// change.
type request struct {
	contents []*genai.Content
	config   genai.GenerateContentConfig
	fields   []field
	extra    []json.RawMessage // merged last, in turn
}

// field is a value at a path of the request's body.
type field struct {
	path  []string
	value json.RawMessage
}

func (r *request) put(value json.RawMessage, path ...string) {
	r.fields = append(r.fields, field{path, value})
}

// body is the SDK's body with what goes past the SDK.
func (r *request) body(sdk json.RawMessage) (json.RawMessage, error) {
	var err error
	for _, f := range r.fields {
		if sdk, err = set(sdk, f.value, f.path...); err != nil {
			return nil, err
		}
	}
	for _, e := range r.extra {
		if sdk, err = merge(sdk, e); err != nil {
			return nil, err
		}
	}
	return sdk, nil
}

const generationConfig = "generationConfig"

func (c *Client) build(to target, req llm.Request) (*request, error) {
	r := &request{}
	if err := r.settings(to, req); err != nil {
		return nil, err
	}
	if err := r.thinking(to, c.cfg.Model, req.Thinking); err != nil {
		return nil, err
	}
	if err := r.messages(to, c.cfg.Model, req.Messages); err != nil {
		return nil, err
	}
	if s := req.Schema; s != nil {
		if !json.Valid(s.JSON) {
			return nil, refuse(to.provider, "Request.Schema.JSON is not JSON: %.80q; want a JSON schema, such as {\"type\":\"object\"}", s.JSON)
		}
		r.config.ResponseMIMEType = "application/json"
		r.put(s.JSON, generationConfig, "responseJsonSchema")
	}
	if err := r.tools(to, req); err != nil {
		return nil, err
	}
	for _, extra := range []map[string]json.RawMessage{c.cfg.Extra, req.Extra} {
		var list []member
		for _, name := range slices.Sorted(maps.Keys(extra)) {
			v := extra[name]
			if v == nil {
				v = json.RawMessage("null")
			}
			if bad := client.ExtraFault(name, v); bad != "" {
				return nil, refuse(to.provider, "Request.%s", bad)
			}
			list = append(list, member{name, v})
		}
		if len(list) > 0 {
			o, err := object(list)
			if err != nil {
				return nil, err
			}
			r.extra = append(r.extra, o)
		}
	}
	return r, nil
}

func (r *request) settings(to target, req llm.Request) error {
	for _, s := range []struct {
		name, field string
		v           *float64
	}{{"Temperature", "temperature", req.Temperature}, {"TopP", "topP", req.TopP}} {
		if s.v == nil {
			continue
		}
		if math.IsNaN(*s.v) || math.IsInf(*s.v, 0) {
			return refuse(to.provider, "Request.%s is %v: want a finite number, or nil for the model's own", s.name, *s.v)
		}
		r.put(strconv.AppendFloat(nil, *s.v, 'g', -1, 64), generationConfig, s.field)
	}
	if req.Seed != nil {
		if *req.Seed != int64(int32(*req.Seed)) {
			return refuse(to.provider, "Request.Seed is %d: this API takes one from %d to %d, or nil for none", *req.Seed, math.MinInt32, math.MaxInt32)
		}
		r.config.Seed = new(int32(*req.Seed))
	}
	if req.MaxOutputTokens != nil {
		r.put(strconv.AppendInt(nil, *req.MaxOutputTokens, 10), generationConfig, "maxOutputTokens")
	}
	r.config.StopSequences = req.Stop
	return nil
}

// declaration is a function of the request. Its schema is sent as it is.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

func (r *request) tools(to target, req llm.Request) error {
	known := map[string]bool{}
	var list []declaration
	for i, t := range req.Tools {
		if t.Parameters != nil && !json.Valid(t.Parameters) {
			return refuse(to.provider, "Request.Tools[%d].Parameters, of tool %q, are not JSON: %.80q; want a JSON schema, or nil for none", i, t.Name, t.Parameters)
		}
		known[t.Name] = true
		list = append(list, declaration(t))
	}
	if len(list) > 0 {
		b, err := json.Marshal([]map[string]any{{"functionDeclarations": list}})
		if err != nil {
			return err
		}
		r.put(b, "tools")
	}
	mode := genai.FunctionCallingConfig{}
	switch req.ToolChoice {
	case "":
		return nil
	case "auto":
		mode.Mode = genai.FunctionCallingConfigModeAuto
	case "none":
		mode.Mode = genai.FunctionCallingConfigModeNone
	case "required":
		mode.Mode = genai.FunctionCallingConfigModeAny
	default:
		if !known[req.ToolChoice] {
			return refuse(to.provider, "Request.ToolChoice is %q: want auto, none, required or the name of one of Request.Tools", req.ToolChoice)
		}
		mode.Mode, mode.AllowedFunctionNames = genai.FunctionCallingConfigModeAny, []string{req.ToolChoice}
	}
	r.config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &mode}
	return nil
}
