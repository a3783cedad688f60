package client

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// ParseBase reads a base URL; usual is one to show. The error is the end of a
// sentence that begins with whose it is: "is no URL: …". It shows no key.
func ParseBase(s, usual string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is no URL: %q", wire.Mask(s))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("is %q: want http:// or https:// and a host, such as %s", wire.Mask(s), usual)
	}
	return u, nil
}

// ExtraFault says what is wrong with a further field of a body, "" if it is
// JSON or nil. It shows no more of the value than its first byte, which may be
// a key that was taken for a header.
func ExtraFault(name string, v json.RawMessage) string {
	if v == nil || json.Valid(v) {
		return ""
	}
	return fmt.Sprintf("Extra[%q] is not JSON: its %d bytes begin with %.1q; a text needs quotes, as json.Marshal gives it", name, len(v), v)
}

// ThinkingFault says why t is not exactly one setting, "" if it is.
func ThinkingFault(t llm.Thinking) string {
	var set []string
	if t.Off {
		set = append(set, "Off")
	}
	if t.Level != "" {
		set = append(set, fmt.Sprintf("Level %q", t.Level))
	}
	if t.Budget != nil {
		set = append(set, fmt.Sprintf("Budget %d", *t.Budget))
	}
	switch len(set) {
	case 0:
		return "Request.Thinking sets nothing: set Off, Level or Budget, or leave it nil"
	case 1:
		return ""
	}
	return fmt.Sprintf("Request.Thinking has %s: set one", strings.Join(set, " and "))
}
