package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/goevals/evals/llm/wire"
)

// detail is what an error body says, whichever of its shapes it has.
type detail struct {
	wire.ErrorBody
	param    string // of the request, that is at fault
	filtered string // the categories of Azure's filter

	// OpenRouter's metadata: the provider's own words and name, which limit
	// it was, the header that the provider sent, and why a moderator refused.
	raw, provider, limit string
	head                 http.Header
	moderated            bool
}

// words is what is shown of the error.
func (d detail) words() string {
	s := d.Message
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

// code is the code to show: the most particular one.
func (d detail) code() string { return cmp.Or(d.Code, d.Status, d.Type) }

// dig reads an error body. What llm/wire does not read of it stands in the
// error object, or in the body where that is the object.
func dig(body []byte) detail {
	d := detail{ErrorBody: wire.ReadError(body)}
	var v any
	if len(body) <= maxDug && json.Unmarshal(body, &v) == nil {
		d.read(v, 0)
	}
	return d
}

// maxDug is the longest body that is dug, in bytes: it takes many times that
// once it is decoded.
const maxDug = 1 << 20

func (d *detail) read(v any, depth int) {
	if depth > 4 {
		return
	}
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			d.read(v[0], depth+1)
		}
	case map[string]any:
		d.read(v["error"], depth+1)
		d.object(v)
	}
}

func (d *detail) object(m map[string]any) {
	if p, ok := m["param"].(string); ok && d.param == "" {
		d.param = p
	}
	d.filter(m)
	for _, name := range []string{"innererror", "inner_error"} {
		if in, ok := m[name].(map[string]any); ok {
			d.filter(in)
		}
	}
	if meta, ok := m["metadata"].(map[string]any); ok {
		d.gateway(meta)
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
		if inner := wire.ReadError([]byte(raw)); inner.Message != "" {
			d.raw = inner.Message
		}
	case map[string]any:
		if b, err := json.Marshal(raw); err == nil {
			d.raw = wire.ReadError(b).Message
		}
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
