package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// TestShapes: a field that is not of the API's type is read if it can be meant
// in one way only, and is an error otherwise. It is never an answer without it.
func TestShapes(t *testing.T) {
	rows := []struct {
		name, reason string
		candidates   string
		text         string
		kind         llm.ErrorKind
		says         string // in the error's text, or in a warning
		args         string // of the only call
	}{
		{"candidates as an object", "its text would be lost", `{"content":{"parts":[{"text":"18"}]},"finishReason":"STOP"}`, "", llm.KindBadResponse, "candidates is an object where a list belongs", ""},
		{"candidates as a text", "its text would be lost", `"18"`, "", llm.KindBadResponse, "candidates is a text", ""},
		{"candidate as a text", "its text would be lost", `["18"]`, "", llm.KindBadResponse, "candidates[0] is a text where an object belongs", ""},
		{"content as a text", "an empty answer would be graded", `[{"content":"18","finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content is a text where an object belongs", ""},
		{"content as a list", "an empty answer would be graded", `[{"content":[{"parts":[{"text":"18"}]}],"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content is a list", ""},
		{"content as nothing", "languages whose empty map is a list send it", `[{"content":[],"finishReason":"STOP"}]`, "", "", "", ""},
		{"parts as an object", "an empty answer would be graded", `[{"content":{"parts":{"text":"18"}},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content.parts is an object where a list belongs", ""},
		{"parts as a text", "an empty answer would be graded", `[{"content":{"parts":"18"},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content.parts is a text", ""},
		{"text beside parts", "a server's own form of it", `[{"content":{"role":"model","text":"18"},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content.parts is missing", ""},
		{"part as a text", "half an answer would be graded", `[{"content":{"parts":[{"text":"1"},"8"]},"finishReason":"STOP"}]`, "1", llm.KindBadResponse, "candidates[0].content.parts[1] is a text", ""},
		{"text as a number", "an empty answer would be graded", `[{"content":{"parts":[{"text":18}]},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content.parts[0].text is a number", ""},
		{"text as a list", "an empty answer would be graded", `[{"content":{"parts":[{"text":["18"]}]},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content.parts[0].text is a list", ""},
		{"thought as a text", "a thought would stand in the answer", `[{"content":{"parts":[{"text":"17?","thought":"true"},{"text":"18"}]},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content.parts[0].thought is a text where a boolean belongs", ""},
		{"call as a text", "a call would be lost", `[{"content":{"parts":[{"functionCall":"f"}]},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content.parts[0].functionCall is a text", ""},
		{"call's name as a number", "a call would be lost", `[{"content":{"parts":[{"functionCall":{"name":7}}]},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].content.parts[0].functionCall.name is a number", ""},
		{"arguments as a text", "a gateway's form, as OpenAI has it", `[{"content":{"parts":[{"functionCall":{"name":"f","args":"{\"x\":1}"}}]},"finishReason":"STOP"}]`, "", "", "", `{"x":1}`},
		{"arguments as a list", "they are kept as the model wrote them", `[{"content":{"parts":[{"functionCall":{"name":"f","args":[1]}}]},"finishReason":"STOP"}]`, "", "", "", `[1]`},
		{"reason as a number", "an answer that was cut would pass for whole", `[{"content":{"parts":[{"text":"18"}]},"finishReason":2}]`, "18", llm.KindBadResponse, "candidates[0].finishReason is a number", ""},
		{"index as a text", "the second candidate would join the first", `[{"index":"0","content":{"parts":[{"text":"18"}]},"finishReason":"STOP"},{"index":"1","content":{"parts":[{"text":"19"}]},"finishReason":"STOP"}]`, "18", "", "several candidates", ""},
		{"no indexes", "the second candidate would join the first", `[{"content":{"parts":[{"text":"18"}]},"finishReason":"STOP"},{"content":{"parts":[{"text":"19"}]},"finishReason":"STOP"}]`, "18", "", "several candidates", ""},
		{"index as a list", "it may be another candidate's", `[{"index":[0],"content":{"parts":[{"text":"18"}]},"finishReason":"STOP"}]`, "", llm.KindBadResponse, "candidates[0].index is a list", ""},
		{"no parts at all", "MAX_TOKENS in the thoughts", `[{"content":{"role":"model"},"finishReason":"MAX_TOKENS","index":0}]`, "", "", "", ""},
		{"empty content", "MAX_TOKENS in the thoughts", `[{"content":{},"finishReason":"MAX_TOKENS","index":0}]`, "", "", "", ""},
	}
	for _, r := range rows {
		for _, stream := range []bool{false, true} {
			t.Run(map[bool]string{false: "whole/", true: "stream/"}[stream]+r.name, func(t *testing.T) {
				silent(t)
				h := body(`{"candidates":` + r.candidates + `}`)
				if stream {
					h = events(ev(`{"candidates":`+r.candidates+`}`), llmtest.Done)
				}
				s := serve(h)
				req := llm.Prompt("q")
				req.Stream = stream
				got, err := ask(t, s, s.config(), req)
				require.Equal(t, r.kind, llm.KindOf(err), "%s: %v", r.reason, err)
				assert.Equal(t, r.text, got.Text, r.reason)
				assert.Empty(t, got.Reasoning, r.reason)
				said := joined(got.Warnings)
				if err != nil {
					said = err.Error()
					assert.Contains(t, said, "check Config.BaseURL", "what to do next")
				}
				if r.says == "" {
					assert.Empty(t, said, r.reason)
				} else {
					assert.Contains(t, said, r.says, r.reason)
				}
				if r.args == "" {
					assert.Empty(t, got.ToolCalls, r.reason)
				} else if assert.Len(t, got.ToolCalls, 1, r.reason) {
					assert.Equal(t, r.args, got.ToolCalls[0].Arguments, r.reason)
				}
			})
		}
	}
}
