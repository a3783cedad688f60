package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// detail is what an error body says, whichever of its shapes it has.
type detail struct {
	message, code, kind, inner, param string
	status                            int    // an HTTP status inside the body
	filtered                          string // the categories of Azure's filter
	daily                             bool   // all quotas that Google names are of a day

	// OpenRouter's metadata: the provider's own words and name, which limit
	// it was, the header that the provider sent, and why a moderator refused.
	raw, provider, limit string
	head                 http.Header
	moderated            bool
}

// words is what is shown of the error.
func (d detail) words() string {
	s := d.message
	if d.raw != "" && !strings.Contains(s, d.raw) {
		s = strings.TrimPrefix(s+": "+d.raw, ": ")
	}
	if d.provider != "" {
		s += " (from " + d.provider + ")"
	}
	if d.filtered != "" {
		s += " (filtered: " + d.filtered + ")"
	}
	return s
}

// dig finds the server's words in an error body: {"error":{…}},
// {"error":"text"}, [{"error":…}], {"object":"error","message":…},
// {"detail":…}, {"message":…}, {"errors":[…]}.
func dig(body []byte) detail {
	var any any
	if json.Unmarshal(body, &any) != nil {
		return detail{}
	}
	var d detail
	d.read(any, 0)
	return d
}

func (d *detail) read(v any, depth int) {
	if depth > 4 {
		return
	}
	switch v := v.(type) {
	case string:
		if d.message == "" {
			d.message = v
		}
	case []any:
		if len(v) > 0 {
			d.read(v[0], depth+1)
		}
	case map[string]any:
		d.object(v, depth)
	}
}

func (d *detail) object(m map[string]any, depth int) {
	if e, ok := m["error"]; ok && e != nil && e != false {
		d.read(e, depth+1)
	}
	for _, name := range []string{"message", "detail", "msg", "errors", "error_description"} {
		if d.message == "" {
			d.read(m[name], depth+1)
			if where := place(m["loc"]); name == "msg" && d.message != "" && where != "" {
				d.message = where + ": " + d.message
			}
		}
	}
	for _, name := range []string{"code", "status"} {
		d.number(m[name])
	}
	if t, ok := m["type"].(string); ok && d.kind == "" && t != "error" {
		d.kind = t
	}
	if p, ok := m["param"].(string); ok && d.param == "" {
		d.param = p
	}
	d.filter(m)
	for _, name := range []string{"innererror", "inner_error"} {
		if in, ok := m[name].(map[string]any); ok {
			d.inner, _ = in["code"].(string)
			d.filter(in)
		}
	}
	if meta, ok := m["metadata"].(map[string]any); ok {
		d.gateway(meta)
	}
	if list, ok := m["details"].([]any); ok {
		d.quotas(list)
	}
}

// number takes a code: an HTTP status, however it is spelled, or a name.
func (d *detail) number(v any) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 400 && n < 600 {
		d.status = n
	} else if d.code == "" {
		d.code = text
	}
}

func (d *detail) filter(m map[string]any) {
	for _, name := range []string{"content_filter_result", "content_filter_results"} {
		if r, ok := m[name]; ok && d.filtered == "" {
			if b, err := json.Marshal(r); err == nil {
				d.filtered = filterHits(b)
			}
		}
	}
}

// gateway reads what OpenRouter says of the provider behind it.
func (d *detail) gateway(meta map[string]any) {
	switch raw := meta["raw"].(type) {
	case string:
		d.raw = raw
		if inner := dig([]byte(raw)); inner.message != "" {
			d.raw = inner.message
		}
	case map[string]any:
		var inner detail
		inner.read(raw, 1)
		d.raw = inner.message
	}
	d.provider, _ = meta["provider_name"].(string)
	d.limit, _ = meta["limit_source"].(string)
	if reasons, ok := meta["reasons"].([]any); ok && len(reasons) > 0 {
		d.moderated = true
	}
	if head, ok := meta["headers"].(map[string]any); ok {
		d.head = http.Header{}
		for name, v := range head {
			switch v := v.(type) {
			case string:
				d.head.Set(name, v)
			case float64:
				d.head.Set(name, strconv.FormatFloat(v, 'f', -1, 64))
			}
		}
	}
}

// quotas reads google.rpc's QuotaFailure. A run waits for a quota of a minute,
// so only if each one named is of a day does waiting not help.
func (d *detail) quotas(details []any) {
	daily, others := 0, 0
	for _, e := range details {
		m, _ := e.(map[string]any)
		violations, _ := m["violations"].([]any)
		for _, v := range violations {
			q, _ := v.(map[string]any)
			id, _ := q["quotaId"].(string)
			switch {
			case strings.Contains(strings.ToLower(id), "perday"):
				daily++
			case id != "":
				others++
			}
		}
	}
	d.daily = daily > 0 && others == 0
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
