package openai_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
)

// shaped is an answer some field of which has another type than the API's.
type shaped struct {
	name, reason string
	choices      string // of a body, whose message is called delta in a stream
	text         string
	kind         llm.ErrorKind
	says         string // in the error's text, or in a warning
	calls        []llm.ToolCall
}

var shapes = []shaped{
	{"choices as an object", "its text would be lost", `{"message":{"content":"18"},"finish_reason":"stop"}`, "", llm.KindBadResponse, "choices is an object where a list belongs", nil},
	{"choices as a text", "its text would be lost", `"18"`, "", llm.KindBadResponse, "choices is a text", nil},
	{"choice as a text", "its text would be lost", `["18"]`, "", llm.KindBadResponse, "choices[0] is a text where an object belongs", nil},
	{"second choice as a text", "what came before is kept", `[{"message":{"content":"18"}},"19"]`, "18", llm.KindBadResponse, "choices[1] is a text", nil},
	{"message as a text", "an empty answer would be graded", `[{"message":"18","finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].message is a text", nil},
	{"message as a list", "an empty answer would be graded", `[{"message":[{"content":"18"}],"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].message is a list", nil},
	{"content as a number", "an empty answer would be graded", `[{"message":{"content":18},"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].message.content is a number where a text or a list of parts belongs", nil},
	{"content as a boolean", "an empty answer would be graded", `[{"message":{"content":false},"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].message.content is a boolean", nil},
	{"content as texts", "nothing else can be meant", `[{"message":{"content":["1","8"]},"finish_reason":"stop"}]`, "18", "", "", nil},
	{"part as a number", "half an answer would be graded", `[{"message":{"content":[{"type":"text","text":"18"},9]},"finish_reason":"stop"}]`, "18", llm.KindBadResponse, "choices[0].message.content[1] is a number", nil},
	{"part's text as a number", "an empty answer would be graded", `[{"message":{"content":[{"type":"text","text":18}]},"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].message.content[0].text is a number", nil},
	{"part without text", "nothing is left out in silence", `[{"message":{"content":[{"type":"text","content":"18"}]},"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].message.content[0].text is missing", nil},
	{"text as a list", "an empty answer would be graded", `[{"text":["18"],"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].text is a list", nil},
	{"reasoning as a number", "the answer is whole without it, but it is told", `[{"message":{"content":"18","reasoning_content":7},"finish_reason":"stop"}]`, "18", "", "reasoning_content is a number", nil},
	{"reasoning as parts", "read as content's are", `[{"message":{"content":"18","reasoning":[{"type":"text","text":"hm"}]},"finish_reason":"stop"}]`, "18", "", "", nil},
	{"refusal as an object", "an empty answer would be graded", `[{"message":{"content":null,"refusal":{"reason":"no"}},"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].message.refusal is an object", nil},
	{"refusal as false", "it says that there is none", `[{"message":{"content":"18","refusal":false},"finish_reason":"stop"}]`, "18", "", "", nil},
	{"reason as a number", "an answer that was cut would pass for whole", `[{"message":{"content":"18"},"finish_reason":2}]`, "18", llm.KindBadResponse, "choices[0].finish_reason is a number", nil},
	{"reason as an object", "SGLang's own form", `[{"message":{"content":"18"},"finish_reason":{"type":"stop","matched":"x"}}]`, "18", "", "", nil},
	{"reason as another object", "an answer that was cut would pass for whole", `[{"message":{"content":"18"},"finish_reason":{"why":"length"}}]`, "18", llm.KindBadResponse, "choices[0].finish_reason is an object", nil},
	{"pictures", "nothing is left out in silence", `[{"message":{"content":"18","images":[{"type":"image_url"}]},"finish_reason":"stop"}]`, "18", "", "the answer has images, which were left out", nil},
	{"speech", "an empty answer would be graded", `[{"message":{"content":null,"audio":{"id":"a","data":"","transcript":"18"}},"finish_reason":"stop"}]`, "18", "", "the answer is speech, of which the transcript was taken", nil},
	{"tool_calls as a text", "a call would be lost", `[{"message":{"tool_calls":"f"},"finish_reason":"tool_calls"}]`, "", llm.KindBadResponse, "choices[0].message.tool_calls is a text", nil},
	{"tool_calls as an object", "a call would be lost", `[{"message":{"tool_calls":{"0":{"function":{"name":"f","arguments":"{}"}}}},"finish_reason":"tool_calls"}]`, "", llm.KindBadResponse, "choices[0].message.tool_calls is an object", nil},
	{"tool_calls as nothing", "languages whose empty map is a list send it", `[{"message":{"content":"18","tool_calls":{},"function_call":[]},"finish_reason":"stop"}]`, "18", "", "", nil},
	{"function as a text", "the call's name would be lost", `[{"message":{"tool_calls":[{"id":"c1","function":"f"}]},"finish_reason":"tool_calls"}]`, "", llm.KindBadResponse, "choices[0].message.tool_calls[0].function is a text", nil},
	{"name as a list", "the call's name would be lost", `[{"message":{"tool_calls":[{"id":"c1","function":{"name":["f"]}}]},"finish_reason":"tool_calls"}]`, "", llm.KindBadResponse, "choices[0].message.tool_calls[0].function.name is a list", nil},
	{"function_call as a text", "a call would be lost", `[{"message":{"function_call":"f"},"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].message.function_call is a text", nil},
	{"call without a function", "the Responses API's form", `[{"message":{"tool_calls":[{"id":"c1","type":"function","name":"f","arguments":"{}"}]},"finish_reason":"tool_calls"}]`, "", "", "", []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}}},
	{"custom call", "OpenAI's tools of free text", `[{"message":{"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"f","input":"x = 1"}}]},"finish_reason":"tool_calls"}]`, "", "", "", []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "x = 1"}}},
	{"call without a name", "nothing is left out in silence", `[{"message":{"tool_calls":[{"id":"c1","type":"other","other":{}}]},"finish_reason":"tool_calls"}]`, "", "", "a tool call has no name", []llm.ToolCall{{ID: "c1"}}},
	{"call's id as a number", "it is sent back as it came", `[{"message":{"tool_calls":[{"id":7,"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]`, "", "", "", []llm.ToolCall{{ID: "7", Name: "f", Arguments: "{}"}}},
	{"calls' index as a text", "two calls would become one", `[{"message":{"tool_calls":[{"index":"0","id":"c1","function":{"name":"f","arguments":"{}"}},{"index":"1","id":"c2","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]`, "", "", "", []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "g", Arguments: "{}"}}},
	{"call's index as an object", "a piece would join another call", `[{"message":{"tool_calls":[{"index":{},"id":"c1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]`, "", llm.KindBadResponse, "choices[0].message.tool_calls[0].index is an object", nil},
	{"index as a text", "the second choice would join the first", `[{"index":"0","message":{"content":"18"},"finish_reason":"stop"},{"index":"1","message":{"content":"19"},"finish_reason":"stop"}]`, "18", "", "several choices", nil},
	{"no indexes", "the second choice would join the first", `[{"message":{"content":"18"},"finish_reason":"stop"},{"message":{"content":"19"},"finish_reason":"stop"}]`, "18", "", "several choices", nil},
	{"index as a list", "it may be another choice's", `[{"index":[0],"message":{"content":"18"},"finish_reason":"stop"}]`, "", llm.KindBadResponse, "choices[0].index is a list", nil},
}

// TestShapes: a field that is not of the API's type is read if it can be meant
// in one way only, and is an error otherwise. It is never an answer without it.
func TestShapes(t *testing.T) {
	for _, r := range shapes {
		for _, stream := range []bool{false, true} {
			t.Run(map[bool]string{false: "whole/", true: "stream/"}[stream]+r.name, func(t *testing.T) {
				h := body(`{"choices":` + r.choices + `}`)
				if stream {
					h = events(`data: {"choices":`+r.choices+"}\n\n", "data: [DONE]\n\n")
				}
				m, _ := fake(raw(h))
				req := llm.Prompt("q")
				req.Stream = stream
				got, err := m.Generate(t.Context(), req)
				require.Equal(t, r.kind, llm.KindOf(err), "%s: %v", r.reason, err)
				if err != nil {
					assert.ErrorContains(t, err, "check Config.BaseURL", "what to do next")
				}
				assert.Equal(t, r.text, got.Text, r.reason)
				assert.Equal(t, r.calls, got.ToolCalls, r.reason)
				switch said := joinedOr(err, got.Warnings); {
				case r.says == "":
					assert.Empty(t, said, r.reason)
				default:
					assert.Contains(t, said, r.says, r.reason)
				}
			})
		}
	}
}

func joinedOr(err error, warnings []string) string {
	if err != nil {
		return err.Error()
	}
	s := ""
	for _, w := range warnings {
		s += w + "\n"
	}
	return s
}
