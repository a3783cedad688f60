package client

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm/wire"
)

// FuzzStream: however a body is cut into reads, the record is the same but for
// the times, and the times hold together.
func FuzzStream(f *testing.F) {
	for _, v := range vectors {
		if len(v.body) < 4096 {
			f.Add(v.body, byte(3), byte(11), v.api == Gemini)
		}
	}
	f.Fuzz(func(t *testing.T, body string, one, two byte, gemini bool) {
		if len(body) > 1<<14 {
			return
		}
		v := vector{body: body, maxEvent: 4 << 10}
		if gemini {
			v.api = Gemini
		}
		whole := feed(t, v, []int{0})
		checkTimes(t, whole)
		for _, sizes := range [][]int{{1}, {int(one)%50 + 1, int(two)%9 + 1}} {
			cut := feed(t, v, sizes)
			checkTimes(t, cut)
			for _, r := range []*record.Request{&whole, &cut} {
				r.Done = 0
				for i := range r.Fragments {
					r.Fragments[i].At = 0
				}
			}
			require.Equal(t, whole, cut)
		}
	})
}

// FuzzEvents: the splitter gives the events that wire.EventReader does, which is
// written in another way.
func FuzzEvents(f *testing.F) {
	for _, v := range vectors {
		if len(v.body) < 4096 {
			f.Add([]byte(v.body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var want []string
		for r := wire.NewEventReader(bytes.NewReader(body)); ; {
			e, err := r.Next()
			if err != nil {
				break
			}
			if len(bytes.TrimSpace(e.Data)) > 0 {
				want = append(want, string(e.Data))
			}
		}
		var got []string
		s := splitter{limit: 1 << 20}
		emit := func(data []byte, _ bool) bool {
			if len(bytes.TrimSpace(data)) > 0 {
				got = append(got, string(data))
			}
			return true
		}
		for i := range body {
			s.write(body[i:i+1], emit)
		}
		s.flush(emit)
		require.Equal(t, want, got)
	})
}

// FuzzChunk: the cursor finds what encoding/json decodes, and refuses what it
// refuses.
func FuzzChunk(f *testing.F) {
	for _, v := range vectors {
		s := splitter{limit: 1 << 20}
		s.write([]byte(v.body), func(data []byte, _ bool) bool {
			if len(data) < 4096 {
				f.Add(data, v.api == Gemini)
			}
			return true
		})
	}
	for _, seed := range []string{`{"a":-0.0e+1,"b":[01]}`, `{"a":"\u12"}`, "{\"a\":\"\x01\"}", `{"a":1}x`, `{"choices":[{"delta":{"content":"` + "\xff" + `\ud800"}}]}`, `{"choices":[,]}`, `{"a" 1}`, `{,}`, `{"a":tru}`, `{"a":-}`, `{"a":1.}`} {
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, gemini bool) {
		api := Chat
		if gemini {
			api = Gemini
		}
		var c chunk
		ok := c.scan(api, data)
		var m map[string]any
		want := json.Unmarshal(data, &m) == nil && m != nil
		require.Equal(t, want, ok, "is it a JSON object?")
		if !ok || twice(data) {
			return
		}
		o := oracle{}
		if gemini {
			o.gemini(m)
		} else {
			o.openAI(m)
		}
		if o.skip {
			return
		}
		if o.odd || c.odd != "" {
			require.Equal(t, o.odd, c.odd != "", "odd: %s", c.odd)
			return
		}
		assert.Equal(t, o.text, c.text, "text")
		assert.Equal(t, o.reasoning, c.reasoning, "reasoning")
		assert.Equal(t, o.tool, c.tool, "tool")
		assert.Equal(t, o.choices, c.choices, "choices")
		assert.Equal(t, o.failed, c.failed, "failed")
		str := func(raw []byte) string {
			if raw == nil {
				return ""
			}
			return string(bytes.ToValidUTF8(unquoted(raw), []byte("\uFFFD")))
		}
		if !bytes.Contains(data, []byte{0xff}) && json.Valid(data) && validText(data) {
			assert.Equal(t, o.finish, str(c.finish), "finish")
			assert.Equal(t, o.model, str(c.model), "model")
		}
		assert.Equal(t, o.usage, c.usage != nil, "usage")
	})
}

func validText(b []byte) bool { return bytes.Equal(bytes.ToValidUTF8(b, nil), b) }

// twice reports whether an object has two equal fields: rows of TestVectors are
// for those.
func twice(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var walk func() bool
	walk = func() bool {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		switch tok {
		case json.Delim('{'):
			seen, found := map[any]bool{}, false
			for d.More() {
				key, _ := d.Token()
				found = found || seen[key]
				seen[key] = true
				found = walk() || found
			}
			_, _ = d.Token()
			return found
		case json.Delim('['):
			found := false
			for d.More() {
				found = walk() || found
			}
			_, _ = d.Token()
			return found
		}
		return false
	}
	return walk()
}

// An oracle reads what encoding/json has decoded.
type oracle struct {
	text, reasoning, tool, choices int
	finish, model                  string
	usage, failed, odd, skip       bool
}

func (o *oracle) openAI(m map[string]any) {
	_, o.usage = m["usage"].(map[string]any)
	o.model, _ = m["model"].(string)
	o.failed = full(m["error"]) || m["object"] == "error"
	list := o.list(m["choices"])
	o.choices = len(list)
	if len(list) == 0 {
		return
	}
	ch := o.object(list[0])
	o.finish, _ = ch["finish_reason"].(string)
	o.failed = o.failed || full(ch["error"])
	o.text = o.str(ch["text"])
	for _, name := range []string{"delta", "message"} {
		d := o.object(ch[name])
		thinking := 0
		if parts, ok := d["content"].([]any); ok {
			for _, p := range parts {
				if pm, _ := p.(map[string]any); pm["type"] == "thinking" {
					thinking += deepOracle(p, false)
				} else {
					o.text += deepOracle(p, false)
				}
			}
		} else {
			o.text += o.str(d["content"])
		}
		o.text += o.str(d["refusal"])
		o.reasoning += max(o.reasoningOf(d["reasoning"]), o.reasoningOf(d["reasoning_content"]), deepOracle(d["reasoning_details"], false)) + thinking
		o.tool += deepOracle(d["tool_calls"], true) + deepOracle(d["function_call"], true)
	}
}

func (o *oracle) gemini(m map[string]any) {
	_, o.usage = m["usageMetadata"].(map[string]any)
	o.model, _ = m["modelVersion"].(string)
	o.failed = full(m["error"])
	list := o.list(m["candidates"])
	o.choices = len(list)
	finish := ""
	if len(list) > 0 {
		ca := o.object(list[0])
		if finish, _ = ca["finishReason"].(string); finish == "FINISH_REASON_UNSPECIFIED" {
			finish = ""
		}
		for _, p := range o.list(o.object(ca["content"])["parts"]) {
			pm := o.object(p)
			n := o.str(pm["text"])
			if pm["thought"] == true {
				o.reasoning += n
			} else {
				o.text += n
			}
			if _, ok := pm["functionCall"].(map[string]any); ok {
				o.skip = true // lengths as they stand cannot be had from what is decoded
			}
		}
	}
	if fb, ok := m["promptFeedback"].(map[string]any); ok {
		if s, _ := fb["blockReason"].(string); s != "" || finish != "" {
			o.skip = true // the last one of the two in the text counts
		}
	}
	o.finish = finish
}

func (o *oracle) list(v any) []any {
	l, ok := v.([]any)
	o.odd = o.odd || !ok && v != nil
	return l
}

func (o *oracle) object(v any) map[string]any {
	m, ok := v.(map[string]any)
	o.odd = o.odd || !ok && v != nil
	return m
}

func (o *oracle) str(v any) int {
	s, ok := v.(string)
	o.odd = o.odd || !ok && v != nil
	return len(s)
}

func (o *oracle) reasoningOf(v any) int {
	switch v.(type) {
	case map[string]any, []any:
		return deepOracle(v, false)
	}
	return o.str(v)
}

func deepOracle(v any, call bool) (n int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += deepOracle(e, call)
		}
	case map[string]any:
		for k, e := range v {
			generated := !call && (k == "text" || k == "thinking" || k == "summary") || call && (k == "name" || k == "arguments" || k == "input")
			s, isText := e.(string)
			switch {
			case generated && isText:
				n += len(s)
			default:
				n += deepOracle(e, call)
			}
		}
	}
	return n
}

func full(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// FuzzUsage: what is read here is what wire.ReadUsage would read.
func FuzzUsage(f *testing.F) {
	for _, s := range []string{
		`{"prompt_tokens":12,"completion_tokens":2,"total_tokens":14}`,
		`{"prompt_tokens":12,"completion_tokens":2,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}`,
		`{"prompt_tokens":12,"completion_tokens":2,"total_tokens":20,"prompt_tokens_details":null}`,
		`{"prompt_tokens":12,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":null,"audio_tokens":0}}`,
		`{"prompt_tokens":2,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}`, `{"prompt_tokens":2,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":4}}`,
		`{"prompt_tokens":"12","completion_tokens":2}`, `{"prompt_tokens":012}`, `{"prompt_tokens":1e1,"completion_tokens":-0}`,
		`{"prompt_tokens":1,"prompt_tokens":2,"completion_tokens":1}`, `{"prompt_tokens":1,"completion_tokens":1,"prompt_cache_hit_tokens":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		u, ok := plainUsage(raw)
		if !ok {
			return
		}
		want, warns := wire.ReadUsage(raw)
		require.Empty(t, warns)
		require.Equal(t, want, u)
	})
}

// FuzzMould: an event that is read by the mould of the one before comes to what
// reading it whole comes to.
func FuzzMould(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"model":"m","choices":[{"delta":{"content":"ab"}}]}`, `{"model":"m","choices":[{"delta":{"content":"c\u00e9"}}]}`},
		{`{"choices":[{"delta":{"content":"ab","content":[{"text":"xy"}]}}]}`, `{"choices":[{"delta":{"content":"abc","content":[{"text":"xy"}]}}]}`},
		{`{"choices":[{"delta":{"content":"xy"},"text":"ab","text":null}]}`, `{"choices":[{"delta":{"content":"xy"},"text":"abc","text":null}]}`},
		{`{"choices":[{"message":{"content":"xy"},"delta":{"content":"ab"},"delta":{}}]}`, `{"choices":[{"message":{"content":"xy"},"delta":{"content":"abc"},"delta":{}}]}`},
		{`{"choices":[{"delta":{"content":"","refusal":"no"}}]}`, `{"choices":[{"delta":{"content":"","refusal":"never"}}]}`},
		{`{"choices":[{"text":"a"}],"choices":[{"delta":{"content":"b"}}]}`, `{"choices":[{"text":"aa"}],"choices":[{"delta":{"content":"b"}}]}`},
		{`{"choices":[{"delta":{"reasoning":"","content":"b"}}]}`, `{"choices":[{"delta":{"reasoning":"","content":"b"c"}}]}`},
		{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a\"}}]}`},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var c, want, got chunk
		if !c.scan(Chat, []byte(first)) {
			return
		}
		var m mould
		if m.take(&c, []byte(first)); !m.fill(&got, []byte(second)) {
			return
		}
		require.True(t, want.scan(Chat, []byte(second)), "%q", second)
		type sums struct {
			text, reasoning, tool, choices int
			finish, usage, odd             string
			failed                         bool
		}
		of := func(c chunk) sums {
			return sums{c.text, c.reasoning, c.tool, c.choices, string(c.finish), string(c.usage), c.odd, c.failed}
		}
		require.Equal(t, of(want), of(got), "%q after %q", second, first)
	})
}
