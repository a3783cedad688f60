package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxErrorBody is how much of a failed answer's body is read for what it says,
// in bytes.
const maxErrorBody = 64 << 10

// How much of a server's own words is kept, in bytes.
const (
	maxErrorText = 600
	maxErrorCode = 128
)

// An ErrorBody is what the body of a failed answer says, whichever shape it
// has: {"error":{…}}, {"error":"text"}, [{"error":…}],
// {"object":"error","message":…}, {"detail":…}, {"message":…}, {"errors":[…]},
// {"type":"error","error":…}, {"choices":[{"error":…}]}, and a whole body inside
// of a message. The zero value says nothing. The texts are the
// server's: mask and cut them before they are shown.
type ErrorBody struct {
	Message string
	// Code is the server's code where it has one, as a text; Type and Inner
	// are what OpenAI-compatible servers call type and innererror.code, Status
	// is Google's word (RESOURCE_EXHAUSTED), Reason that of its ErrorInfo.
	Code, Type, Inner, Status, Reason string
	// HTTP is a status that the body itself states, 0 if none: errors inside
	// a 200 have one at times.
	HTTP int
	// Daily says that every quota which the body names is one of a day.
	Daily bool

	named bool // it names quotas
}

// ReadError reads a failed answer's body. One that is no JSON, or longer than
// 64 KiB, says nothing.
func ReadError(body []byte) ErrorBody {
	var e ErrorBody
	var v any
	if len(body) == 0 || len(body) > maxErrorBody || json.Unmarshal(body, &v) != nil {
		return e
	}
	e.read(v, 0)
	return e
}

func (e *ErrorBody) read(v any, depth int) {
	if depth > 5 {
		return
	}
	switch v := v.(type) {
	case string:
		if e.Message == "" {
			e.text(v, depth)
		}
	case []any:
		if len(v) > 0 {
			e.read(v[0], depth+1)
		}
	case map[string]any:
		e.object(v, depth)
	}
}

// text takes a message. Gateways put the provider's whole body into theirs.
func (e *ErrorBody) text(s string, depth int) {
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		var v any
		if json.Unmarshal([]byte(t), &v) == nil {
			e.read(v, depth+1)
		}
	}
	if e.Message == "" {
		e.Message = s
	}
}

func (e *ErrorBody) object(m map[string]any, depth int) {
	for _, name := range []string{"error", "response"} { // response: of response.failed
		if inner, ok := m[name]; ok && inner != nil && inner != false {
			e.read(inner, depth+1)
		}
	}
	if list, ok := m["choices"].([]any); ok { // OpenRouter's place for an upstream's failure
		for _, ch := range list {
			if ch, ok := ch.(map[string]any); ok && ch["error"] != nil {
				e.read(ch["error"], depth+1)
				break
			}
		}
	}
	for _, name := range []string{"message", "Message", "detail", "msg", "errors", "error_description"} {
		if e.Message == "" {
			e.read(m[name], depth+1)
			if where := place(m["loc"]); name == "msg" && e.Message != "" && where != "" {
				e.Message = where + ": " + e.Message
			}
		}
	}
	for _, name := range []string{"code", "status"} {
		e.code(name, m[name])
	}
	if t, ok := m["type"].(string); ok && e.Type == "" && t != "error" && !strings.HasPrefix(t, "response.") {
		e.Type = t
	}
	for _, name := range []string{"innererror", "inner_error"} {
		if in, ok := m[name].(map[string]any); ok && e.Inner == "" {
			e.Inner, _ = in["code"].(string)
		}
	}
	if details, ok := m["details"].([]any); ok {
		e.google(details)
	}
}

// place is where in the request a validator found a fault: body.tools.0.type.
func place(loc any) string {
	list, _ := loc.([]any)
	var names []string
	for _, e := range list {
		names = append(names, fmt.Sprint(e))
	}
	return strings.Join(names, ".")
}

// code takes what stands in code or status: a number below 600 is an HTTP
// status, whatever its spelling.
func (e *ErrorBody) code(name string, v any) {
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	n, err := strconv.Atoi(text)
	switch {
	case text == "":
	case err == nil && n >= 400 && n < 600:
		if e.HTTP == 0 {
			e.HTTP = n
		}
	case name == "status":
		if e.Status == "" {
			e.Status = text
		}
	case e.Code == "":
		e.Code = text
	}
}

// google reads google.rpc's details: why, and which quotas are used up.
func (e *ErrorBody) google(details []any) {
	daily, others := 0, 0
	quota := func(id any) {
		s, _ := id.(string)
		switch s = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)); {
		case strings.Contains(s, "perday") || strings.Contains(s, "daily"):
			daily++
		case s != "":
			others++
		}
	}
	for _, d := range details {
		m, _ := d.(map[string]any)
		kind, _ := m["@type"].(string)
		switch {
		case strings.HasSuffix(kind, "google.rpc.ErrorInfo"):
			if r, ok := m["reason"].(string); ok && e.Reason == "" {
				e.Reason = r
			}
			if meta, ok := m["metadata"].(map[string]any); ok {
				quota(meta["quota_limit"])
			}
		case strings.HasSuffix(kind, "google.rpc.QuotaFailure"):
			violations, _ := m["violations"].([]any)
			for _, v := range violations {
				if v, ok := v.(map[string]any); ok {
					quota(v["quotaId"])
				}
			}
		}
	}
	e.named = e.named || daily+others > 0
	e.Daily = e.Daily || daily > 0 && others == 0
}

// shown is the code to show: the most particular one.
func (e ErrorBody) shown() string {
	for _, c := range []string{e.Code, e.Type, e.Status, e.Reason} {
		if c != "" {
			return c
		}
	}
	return ""
}

// errorText is what a failed answer's body says to people: its message, or a
// plain text as it is. A page of HTML says nothing.
func errorText(body []byte) string {
	if msg := ReadError(body).Message; msg != "" {
		return msg
	}
	text := bytes.TrimSpace(body[:min(len(body), 4<<10)])
	if len(text) == 0 || text[0] == '<' || text[0] == '{' || text[0] == '[' {
		return ""
	}
	return string(text)
}

func isTypeError(err error) bool {
	var t *json.UnmarshalTypeError
	return errors.As(err, &t)
}

// cutText cuts a text between characters.
func cutText(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > most {
		s = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
	}
	return s
}
