package llm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

func TestErrorDetail(t *testing.T) {
	cause := errors.New("the cause")
	rows := []struct {
		name, reason string
		err          llm.Error
		text, detail string
	}{
		{"all", "each part has its place", llm.Error{Kind: llm.KindAuth, Provider: "openai", Status: 401, Code: "bad_key", Message: "Wrong key", Err: cause},
			"openai: auth (HTTP 401) [bad_key]: Wrong key: the cause", "openai: HTTP 401 [bad_key]: Wrong key: the cause"},
		{"no provider", "a recording answers for none", llm.Error{Kind: llm.KindMiss, Err: cause}, "miss: the cause", "the cause"},
		{"no words", "the status stands for them", llm.Error{Kind: llm.KindServer, Provider: "openai", Status: 500}, "openai: server (HTTP 500)", "openai: HTTP 500"},
		{"code only", "the code stands for them", llm.Error{Kind: llm.KindServer, Code: "c"}, "server [c]", "[c]"},
		{"provider only", "nothing else is known", llm.Error{Kind: llm.KindServer, Provider: "openai"}, "openai: server", "openai"},
		{"status and words", "a proxy's, whose provider is not known", llm.Error{Kind: llm.KindServer, Status: 503, Message: "busy"}, "server (HTTP 503): busy", "HTTP 503: busy"},
		{"kind only", "no text is worse than the kind twice", llm.Error{Kind: llm.KindTimeout}, "timeout", "timeout"},
		{"zero", "an empty error is readable too", llm.Error{}, "unknown", "unknown"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.text, r.err.Error(), r.reason)
			assert.Equal(t, r.detail, r.err.Detail(), r.reason)
			if r.name != "kind only" && r.name != "zero" {
				assert.Equal(t, 1, strings.Count(fmt.Sprintf("%s: %s", r.err.Kind, r.err.Detail()), string(r.err.Kind)))
			}
		})
	}
}
