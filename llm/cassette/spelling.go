package cassette

import (
	"bytes"
	"slices"
)

// A client may spell one request in two ways, by the server that it is made
// for: OpenAI's own takes max_completion_tokens and the role developer, others
// max_tokens and system. A replay asks nobody, and a base URL may be set or
// not; so a request without a recording of its own is answered by an answer to
// the other spelling.
//
// The two are not simply one key: an application may ask both in turn, since a
// server refuses one of them. A refusal answers its own spelling only.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// usual is a canonical body in the spelling of most servers. It is b itself
// where that says nothing else. A body that has both fields keeps both.
func usual(b []byte) []byte {
	if !bytes.Contains(b, []byte(`"`+maxCompletionTokens+`":`)) && !bytes.Contains(b, []byte(`"role":"developer"`)) {
		return b // nearly all
	}
	v, _ := decode(b)
	m, ok := v.(map[string]any)
	if !ok {
		return b
	}
	_, has := m[maxTokens]
	if most, ok := m[maxCompletionTokens]; ok && !has {
		delete(m, maxCompletionTokens)
		m[maxTokens] = most
	}
	messages, _ := m["messages"].([]any)
	for _, e := range messages {
		if msg, ok := e.(map[string]any); ok && msg["role"] == "developer" {
			msg["role"] = "system"
		}
	}
	out := appendValue(nil, m)
	if bytes.Equal(out, b) {
		return b
	}
	return out
}

// bothNames adds a field's other name to the paths to ignore.
func bothNames(ignore [][]string) [][]string {
	for _, name := range []string{maxTokens, maxCompletionTokens} {
		if slices.ContainsFunc(ignore, func(p []string) bool { return len(p) == 1 && (p[0] == maxTokens || p[0] == maxCompletionTokens) }) {
			ignore = append(ignore, []string{name})
		}
	}
	return ignore
}

// place computes where an entry belongs. The keys are computed anew when an
// entry is read, so that a changed Options.Ignore needs no new recording.
func (c *Cassette) place(e *entry) {
	host := ""
	if c.opts.Host {
		host = e.Host
	}
	canon := e.canon
	if e.Request != nil && len(c.ignore) > 0 {
		canon, _ = canonical(e.Request, c.ignore)
	}
	e.slot = slot{request{requestKey(e.Method, e.Path, host, canon), e.Sample}, e.N}
	e.usual, e.plain = e.slot, canon
	if e.Request == nil {
		return
	}
	if e.plain = usual(canon); &e.plain[0] != &canon[0] {
		e.usual.key = requestKey(e.Method, e.Path, host, e.plain)
	}
}

// put makes an entry known. c.mu is held, or c is not yet shared.
func (c *Cassette) put(e *entry) {
	c.index[e.slot] = e
	if e.usual == e.slot {
		return
	}
	if old := c.respelled[e.usual]; old == nil || old.slot == e.slot {
		c.respelled[e.usual] = e
	}
}

// find is the recording that answers a request, nil if there is none.
func (c *Cassette) find(a *asked) *entry {
	if e := c.index[a.slot]; e != nil || c.opts.Mode == Record {
		return e
	}
	for _, e := range []*entry{c.index[a.entry.usual], c.respelled[a.entry.usual]} {
		// What this process recorded itself, it asked for the same server.
		if e != nil && e.Status < 300 && e.line > 0 {
			return e
		}
	}
	return nil
}
