package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
)

// content and its parts are turns as they go past the SDK, which drops empty
// texts and rounds the numbers of arguments.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
	from  llm.Role
}

type part struct {
	Text      *string       `json:"text,omitempty"`
	Call      *functionCall `json:"functionCall,omitempty"`
	Response  *functionDone `json:"functionResponse,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionDone struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// messages turns the conversation into contents. System and developer texts
// become the system instruction, which stands before the conversation: one in
// the middle is refused rather than moved. Turns of one role in a row become
// one, as the API wants them; so do the answers of tools, which are turns of
// the user's.
func (r *request) messages(to target, model string, list []llm.Message) error {
	if len(list) == 0 {
		return refuse(to.provider, "Request.Messages is empty: at least one message is needed")
	}
	var all []content
	var names map[string]string // of the tools called last, by id
	for i, m := range list {
		c := content{from: m.Role}
		var err error
		switch {
		case len(m.ToolCalls) > 0 && m.Role != llm.RoleAssistant:
			return refuse(to.provider, "Request.Messages[%d] is of the role %s and has ToolCalls, which only an assistant's may have", i, m.Role)
		case m.ToolCallID != "" && m.Role != llm.RoleTool:
			return refuse(to.provider, "Request.Messages[%d] is of the role %s and has a ToolCallID, which only a tool's may have", i, m.Role)
		}
		switch m.Role {
		case llm.RoleSystem, llm.RoleDeveloper:
			if len(all) > 0 {
				return refuse(to.provider, "Request.Messages[%d] is of the role %s, behind others: this API has such texts before the conversation only: put it first, or make it the user's", i, m.Role)
			}
			if m.Content == "" {
				continue
			}
			if r.config.SystemInstruction == nil {
				r.config.SystemInstruction = &genai.Content{}
			}
			s := r.config.SystemInstruction
			s.Parts = append(s.Parts, &genai.Part{Text: m.Content})
			continue
		case llm.RoleUser:
			c.Role, c.Parts = "user", []part{{Text: &m.Content}}
		case llm.RoleAssistant:
			c.Role = "model"
			c.Parts, names, err = modelTurn(to, model, i, m)
		case llm.RoleTool:
			c.Role = "user"
			c.Parts, err = toolTurn(to, i, m, names)
		default:
			err = refuse(to.provider, "Request.Messages[%d].Role is %q: want system, developer, user, assistant or tool", i, m.Role)
		}
		if err != nil {
			return err
		}
		if n := len(all); n > 0 && all[n-1].from == c.from {
			all[n-1].Parts = append(all[n-1].Parts, c.Parts...)
			continue
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return refuse(to.provider, "Request.Messages has nothing but system texts: this API needs a user's message")
	}
	return r.give(all)
}

// give hands the turns to the SDK where they are texts that it keeps.
func (r *request) give(all []content) error {
	plain := true
	for _, c := range all {
		out := &genai.Content{Role: c.Role}
		for _, p := range c.Parts {
			if p.Text == nil || *p.Text == "" {
				plain = false
				continue
			}
			out.Parts = append(out.Parts, &genai.Part{Text: *p.Text})
		}
		r.contents = append(r.contents, out)
	}
	if plain {
		return nil
	}
	b, err := json.Marshal(all)
	r.put(b, "contents")
	return err
}

// modelTurn is an assistant's message: its text and the calls it asked for.
func modelTurn(to target, model string, i int, m llm.Message) ([]part, map[string]string, error) {
	var parts []part
	if m.Content != "" || len(m.ToolCalls) == 0 {
		parts = append(parts, part{Text: &m.Content})
	}
	names := map[string]string{}
	for k, tc := range m.ToolCalls {
		args := bytes.TrimSpace([]byte(tc.Arguments))
		if len(args) > 0 && (args[0] != '{' || !json.Valid(args)) {
			return nil, nil, refuse(to.provider, "the arguments of Request.Messages[%d].ToolCalls[%d] (%s) are no JSON object: %.80q; want one such as {}", i, k, tc.Name, tc.Arguments)
		}
		id, signature := splitID(tc)
		if signature == "" && k == 0 && familyOf(model).levels {
			// The API refuses a call without one, and names this one for
			// calls that another model made.
			signature = "skip_thought_signature_validator"
		}
		names[tc.ID] = tc.Name
		parts = append(parts, part{Call: &functionCall{ID: id, Name: tc.Name, Args: args}, Signature: signature})
	}
	return parts, names, nil
}

// toolTurn is what a tool answered. The API wants an object: a text becomes
// {"output": text}.
func toolTurn(to target, i int, m llm.Message, names map[string]string) ([]part, error) {
	name, ok := names[m.ToolCallID]
	if !ok {
		return nil, refuse(to.provider, "Request.Messages[%d].ToolCallID is %.80q, which is no call of the assistant's last turn: give the ID of one of its ToolCalls", i, m.ToolCallID)
	}
	response := json.RawMessage(bytes.TrimSpace([]byte(m.Content)))
	if len(response) == 0 || response[0] != '{' || !json.Valid(response) {
		b, err := json.Marshal(map[string]string{"output": m.Content})
		if err != nil {
			return nil, err
		}
		response = b
	}
	id, _ := splitID(llm.ToolCall{ID: m.ToolCallID, Name: name})
	return []part{{Response: &functionDone{ID: id, Name: name, Response: response}}}, nil
}

// A call's id in this client's answers is the API's, or one of our own where
// the API gave none (older models): a tool's turn names the call that it
// answers by it. Behind it stands the thought signature, which Gemini 3 and
// later want back with the call, and for which llm.ToolCall has no place.
const (
	signatureMark = "!"
	ownMark       = "#"
	maxSignature  = 64 << 10
)

func joinID(id, name string, n int, signature string) string {
	if id == "" {
		id = name + ownMark + strconv.Itoa(n)
	}
	if signature != "" {
		id += signatureMark + signature
	}
	return id
}

// splitID is the id as the API knows it, "" if it is our own, and the
// signature.
func splitID(tc llm.ToolCall) (id, signature string) {
	id = tc.ID
	if i := strings.LastIndex(id, signatureMark); i >= 0 && isSignature(id[i+1:]) {
		id, signature = id[:i], id[i+1:]
	}
	if n, ok := strings.CutPrefix(id, tc.Name+ownMark); ok {
		if _, err := strconv.Atoi(n); err == nil {
			id = ""
		}
	}
	return id, signature
}

// isSignature reports whether s is base64, as bytes are in JSON.
func isSignature(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=") == ""
}

// checkSignature is the signature to keep, and why it is not kept.
func checkSignature(s string) (kept, warning string) {
	switch {
	case s == "":
		return "", ""
	case len(s) > maxSignature || !isSignature(s):
		return "", fmt.Sprintf("a tool call's thought signature of %d bytes was left out: it is too long or no base64", len(s))
	}
	return s, ""
}
