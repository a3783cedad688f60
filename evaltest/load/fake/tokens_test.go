package fake_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/token"
)

// An answer is what is looked at of a whole one.
type answer struct {
	Error struct {
		Message, Type string
		Param         *string
	}
	Choices []struct {
		Message      struct{ Content string }
		Text         string
		FinishReason string `json:"finish_reason"`
	}
	Model string
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

// ask sends a body, whose answer is whole, over a real connection.
func ask(t *testing.T, c *rawConn, path, body string) (a answer) {
	t.Helper()
	b, err := c.do(rawRequest(path, body))
	require.NoError(t, err)
	_, b, _ = cutHead(b)
	require.NoError(t, json.Unmarshal(b, &a), "%s", b)
	return a
}

func cutHead(b []byte) (head string, body []byte, ok bool) {
	h, rest, ok := strings.Cut(string(b), "\r\n\r\n")
	return h, []byte(rest), ok
}

// start starts s on a real port until the test ends, and returns a connection.
func start(t *testing.T, s *fake.Server) *rawConn {
	t.Helper()
	url, stop, err := s.Start()
	require.NoError(t, err)
	t.Cleanup(stop)
	return dialRaw(t, url)
}

// TestPrompt: what counts, and what is refused.
func TestPrompt(t *testing.T) {
	const chat, text = "/v1/chat/completions", "/v1/completions"
	user := func(fields string) string { return `{"messages":[{"role":"user",` + fields + `}]}` }
	with := func(fields string) string { return `{"messages":[{"role":"user","content":"a b c"}],` + fields + `}` }
	for _, row := range []struct {
		name, reason, path, body string
		input, output            int
		refused                  string // what the error says
	}{
		{"one message", "words", chat, user(`"content":"a b c"`), 3, 16, ""},
		{"escapes", "they are characters, and a name may have them too", chat, user(`"c\u006fntent":"a\tb\u00a0c \ud83d\ude00 \"d\""`), 5, 16, ""},
		{"white space", "as Unicode has it, at the ends too", chat, user(`"content":"  a\u2003b\n\n c　é\u0085 "`), 4, 16, ""},
		{"empty", "no words", chat, user(`"content":""`), 0, 16, ""},
		{"null", "an assistant's message may have no content", chat, user(`"content":null`), 0, 16, ""},
		{"fields before", "the order does not matter", chat, `{"messages":[{"content":"a b","role":"user"}]}`, 2, 16, ""},
		{"parts", "texts of a list, each alone", chat, user(`"content":[{"type":"text","text":"a b"},{"text":"c","type":"text"},{"type":"refusal","refusal":"d"}]`), 4, 16, ""},
		{"other fields", "reasoning and refusals count, names do not", chat, user(`"content":"a","reasoning_content":"b","reasoning":"c","refusal":"d","name":"x","audio":{"y":["z"]}`), 4, 16, ""},
		{
			"tool calls", "arguments are a text; ids and names are the template's", chat,
			`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"input\": \"a b\"}"}},{"function":{"arguments":"c"}}]},{"role":"tool","tool_call_id":"call_1","content":"d e"}]}`, 6, 16, "",
		},
		{"tools", "each as JSON without space between its parts, before or behind the messages", chat, with(`"tools":[ {"type" : "function", "function":{"name":"f","description":"a b"}}, {} ]`), 3 + 2 + 1, 16, ""},
		{"nulls", "are as if they were not there", chat, with(`"tools":null,"max_tokens":null,"n":null,"stream":null,"stream_options":null,"user":null,"model":null,"prompt":null`), 3, 16, ""},
		{"limit", "met exactly", chat, with(`"max_tokens":5`), 3, 5, ""},
		{"limit of OpenAI", "", chat, with(`"max_completion_tokens":7`), 3, 7, ""},
		{"limit of SGLang", "", chat, with(`"max_new_tokens":9,"min_new_tokens":9,"ignore_eos":true`), 3, 9, ""},
		{"equal limits", "say the same", chat, with(`"max_tokens":5,"max_completion_tokens":5`), 3, 5, ""},
		{"least", "below the default", chat, with(`"min_tokens":2`), 3, 16, ""},
		{"least above the default", "it holds", chat, with(`"min_tokens":40`), 3, 40, ""},
		{"prompt", "a text", text, `{"prompt":"a b c"}`, 3, 16, ""},
		{"list of one prompt", "", text, `{"prompt":["a b c"]}`, 3, 16, ""},
		{"numbers", "each is a token", text, `{"prompt":[5, 6, 0,7]}`, 4, 16, ""},
		{"list of numbers", "", text, `{"prompt":[ [5,6] ],"max_tokens":1}`, 2, 1, ""},
		{"unknown fields", "are ignored, whatever they hold", chat, with(`"seed":"x","logit_bias":{"1":[{}]},"response_format":0`), 3, 16, ""},

		{"no object", "", chat, `[]`, 0, 0, "no JSON object"},
		{"nothing", "", chat, ``, 0, 0, "no JSON"},
		{"cut", "", chat, `{"messages":[`, 0, 0, "no JSON"},
		{"more behind it", "", chat, with(`"n":1`) + `{}`, 0, 0, "more behind"},
		{"twice", "servers differ on which counts", chat, with(`"max_tokens":1,"max_tokens":2`), 0, 0, "max_tokens"},
		{"no UTF-8", "JSON has none", chat, user("\"content\":\"\xff\""), 0, 0, "UTF-8"},
		{"lone surrogate", "no text", chat, user(`"content":"\ud83d"`), 0, 0, "surrogate"},
		{"deep", "no more than a limit", chat, with(`"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), 0, 0, "depth"},
		{"deep inside a message", "", chat, user(`"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), 0, 0, "depth"},
		{"no messages", "", chat, `{}`, 0, 0, "messages are needed"},
		{"no message", "", chat, `{"messages":[]}`, 0, 0, "empty"},
		{"messages of no list", "", chat, `{"messages":"a"}`, 0, 0, `messages is "a"`},
		{"message of no object", "", chat, `{"messages":["a"]}`, 0, 0, "message is no JSON object"},
		{"no role", "", chat, `{"messages":[{"content":"a"}]}`, 0, 0, "no role"},
		{"content of no text", "", chat, user(`"content":5`), 0, 0, "content is 5"},
		{"image", "it cannot be counted", chat, user(`"content":[{"type":"image_url","image_url":{"url":"x"}}]`), 0, 0, `"image_url"`},
		{"arguments of no text", "", chat, user(`"tool_calls":[{"function":{"arguments":{}}}]`), 0, 0, "arguments is {}"},
		{"tool of no object", "", chat, with(`"tools":["f"]`), 0, 0, "tools"},
		{"two answers", "", chat, with(`"n":2`), 0, 0, "n is 2"},
		{"limit of 0", "", chat, with(`"max_tokens":0`), 0, 0, "max_tokens is 0"},
		{"negative limit", "", chat, with(`"max_tokens":-4`), 0, 0, "max_tokens is -4"},
		{"limit of no whole number", "", chat, with(`"max_tokens":4.5`), 0, 0, "max_tokens is 4.5"},
		{"limit as text", "", chat, with(`"max_tokens":"4"`), 0, 0, `max_tokens is "4"`},
		{"limit too large", "a typing error, or hostile", chat, with(`"max_tokens":99999999`), 0, 0, "at most 1048576"},
		{"limit that overflows", "", chat, with(`"max_tokens":99999999999999999999`), 0, 0, "whole number"},
		{"limits that differ", "", chat, with(`"max_tokens":5,"max_new_tokens":6`), 0, 0, "max_new_tokens is 6"},
		{"least above most", "", chat, with(`"max_tokens":5,"min_tokens":6`), 0, 0, "min_tokens is 6, more than max_tokens, 5"},
		{"stream of no bool", "", chat, with(`"stream":1`), 0, 0, "stream is 1"},
		{"options of no object", "", chat, with(`"stream_options":1`), 0, 0, "stream_options"},
		{"model of no text", "", chat, with(`"model":1`), 0, 0, "model is 1"},
		{"both", "", chat, with(`"prompt":"a"`), 0, 0, "no prompt"},
		{"no prompt", "", text, `{}`, 0, 0, "needs a prompt"},
		{"messages for a completion", "", text, `{"prompt":"a","messages":[]}`, 0, 0, "no messages"},
		{"two prompts", "", text, `{"prompt":["a","b"]}`, 0, 0, "more than one"},
		{"two lists", "", text, `{"prompt":[[1],[2]]}`, 0, 0, "more than one"},
		{"text and number", "", text, `{"prompt":["a",1]}`, 0, 0, "more than one"},
		{"number and text", "", text, `{"prompt":[1,"a"]}`, 0, 0, "more than one"},
		{"no prompts", "", text, `{"prompt":[]}`, 0, 0, "empty list"},
		{"negative token", "", text, `{"prompt":[-1]}`, 0, 0, "prompt is -1"},
		{"prompt of no text", "", text, `{"prompt":{}}`, 0, 0, "prompt is {}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var s fake.Server
			c := start(t, &s)
			a := ask(t, c, row.path, row.body)
			if row.refused != "" {
				assert.Contains(t, a.Error.Message, row.refused, row.reason)
				assert.Equal(t, "invalid_request_error", a.Error.Type)
				assert.Equal(t, 1, s.Counts().Requests)
				a = ask(t, c, row.path, row.body) // the connection is good
				assert.Contains(t, a.Error.Message, row.refused, row.reason)
				return
			}
			require.Empty(t, a.Error.Message)
			assert.Equal(t, []int{row.input, row.output, row.input + row.output}, []int{a.Usage.Prompt, a.Usage.Completion, a.Usage.Total}, row.reason)
			text := a.Choices[0].Message.Content + a.Choices[0].Text
			assert.Len(t, strings.Fields(text), row.output)
			limited := strings.Contains(row.body, "max_") && !strings.Contains(row.body, `"max_tokens":null`)
			assert.Equal(t, map[bool]string{true: "length", false: "stop"}[limited], a.Choices[0].FinishReason)
		})
	}
}

// TestTemplate: what a chat template adds, and names.
func TestTemplate(t *testing.T) {
	c := start(t, &fake.Server{PerMessage: 4, PerRequest: 3, Names: true, Output: 5})
	a := ask(t, c, "/v1/chat/completions", `{"model":"a\u0062","messages":[{"role":"user","content":"a b","name":"x"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"c"}}]}]}`)
	assert.Equal(t, 3+(4+3)+(4+2), a.Usage.Prompt)
	assert.Equal(t, 5, a.Usage.Completion)
	assert.Equal(t, "ab", a.Model)
	a = ask(t, c, "/v1/completions", `{"prompt":"a b"}`)
	assert.Equal(t, 2, a.Usage.Prompt, "a prompt has no template")
	assert.Equal(t, "fake", a.Model)
}

// TestTokenizers: lengths are exact by real tokenizers, whether they count or
// say what the tokens are, and the answers' words are one token each.
func TestTokenizers(t *testing.T) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		encoding, err := token.Encoding(name)
		require.NoError(t, err)
		for how, s := range map[string]*fake.Server{
			"count":  {Count: func(text string) int { return token.Count(encoding, text) }},
			"encode": {Encode: encoding.Encode},
			"cache":  {Encode: encoding.Encode, CacheBlock: 16},
			"words":  {},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				c := start(t, s)
				r := rand.New(rand.NewPCG(1, 2))
				for _, n := range []int{1, 2, 15, 16, 17, 999, 30_000} {
					text, err := token.Words{}.Make(r, n)
					require.NoError(t, err)
					a := ask(t, c, "/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"max_tokens":%d}`, text, n))
					assert.Equal(t, []int{n, n}, []int{a.Usage.Prompt, a.Usage.Completion})
					assert.Equal(t, n, token.Count(encoding, a.Choices[0].Message.Content), "a chat's answer")
					a = ask(t, c, "/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":%d}`, text, n))
					assert.Equal(t, n, a.Usage.Prompt)
					assert.Equal(t, 2*n, token.Count(encoding, text+a.Choices[0].Text), "a completion goes on with the prompt")
				}
				if how != "words" { // a text that is no words
					text := "def f(x):\n\treturn x**2  # été 😀"
					quoted, err := json.Marshal(text)
					require.NoError(t, err)
					a := ask(t, c, "/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":%s}]}`, quoted))
					assert.Equal(t, len(encoding.Encode(text)), a.Usage.Prompt)
				}
			})
		}
	}
}
