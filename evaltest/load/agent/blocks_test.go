package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// block writes blocks from words like "s:system:4" and "r:assistant:3!", where
// ! is live.
func blockRequest(extra, list string) string {
	var blocks []string
	for _, word := range strings.Fields(list) {
		live := strings.HasSuffix(word, "!")
		p := strings.Split(strings.TrimSuffix(word, "!"), ":")
		blocks = append(blocks, fmt.Sprintf(`{"seed":%q,"role":%q,"tokens":%s,"live":%t}`, p[0], p[1], p[2], live))
	}
	return fmt.Sprintf(`{"prompt_tokens":1,"output_tokens":2,%s"blocks":[%s]}`, extra, strings.Join(blocks, ","))
}

// replies runs a plan against a server that says "reply <turn>" and returns the
// bodies it saw.
func replies(t *testing.T, p *Plans, change func(*Config)) (bodies []string, res *Result, recs []*record.Request) {
	synctest.Test(t, func(t *testing.T) {
		var sink memory
		cfg := config()
		cfg.Tags.Disabled, cfg.MaxActive, cfg.Sink = true, 1, &sink
		if change != nil {
			change(&cfg)
		}
		var err error
		res, err = Run(t.Context(), p, cfg, CallerFunc(func(_ context.Context, c *Call, rec *record.Request) []byte {
			bodies = append(bodies, string(c.Body))
			return fmt.Appendf(nil, `{"role":"assistant","reasoning":"why %d","content":"reply %d","tool_calls":[{"id":"theirs"}]}`, c.Turn, c.Turn)
		}))
		require.NoError(t, err)
		recs = sink.requests
	})
	return bodies, res, recs
}

func TestBlocks(t *testing.T) {
	p := plans(t, Replay{}, v2(strings.Join([]string{
		blockRequest("", "t:tool_definition:60 sys:system:4 u1:user:3"),
		blockRequest("", "t:tool_definition:60 sys:system:4 u1:user:3 r1:assistant:2! c:tool_call:9 c2:tool_call:9 x1:tool:2 x2:tool:1 x3:tool:1"),
		blockRequest("", "t:tool_definition:60 sys:system:4 u1:user:3 r1:assistant:2! c:tool_call:9 x1:tool:2 r2:assistant:2!"),
		blockRequest(`"reset_before":true,`, "sys:system:4 r1:assistant:2! c:tool_call:9"),
		blockRequest("", "sys:system:4 r1:assistant:2! c:tool_call:9 r2:assistant:2! z:user:0"),
	}, ",")))
	bodies, res, recs := replies(t, p, nil)
	golden(t, "testdata/blocks.golden", []byte(strings.Join(bodies, "\n")+"\n"))
	assert.Equal(t, 1, res.Fallbacks, "after the reset there is no reply for r1")
	var known []int
	for _, r := range recs {
		known = append(known, r.PossibleCached)
	}
	// Turn 2 holds all of turn 1 and its reply; turn 3 the prompt of turn 2 up
	// to its second call; the reset the system message at the front only, which
	// was behind the tools before; turn 5 all of the reset's and its reply.
	assert.Equal(t, []int{0, 67 + 2, 67 + 2 + 9, 0, 4 + 2 + 9 + 2}, known)

	var call struct {
		Tools []struct {
			Function struct{ Name, Description string }
		}
		Messages []struct {
			Role       string
			Content    *string
			Reasoning  string
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(bodies[1]), &call))
	assert.Equal(t, "fn_e3b98a4da31a", call.Tools[0].Function.Name, "G16")
	reply := call.Messages[2]
	assert.Equal(t, "reply 0", *reply.Content)
	assert.Equal(t, "why 0", reply.Reasoning, "BatchBench drops it")
	require.Len(t, reply.ToolCalls, 2, "calls join the assistant's message; the model's own are dropped")
	assert.Equal(t, "call_2e7d2c03a9507ae265ecf5b5", reply.ToolCalls[0].ID, "G16")
	assert.Equal(t, "call_9c0abe51c6e6655d81de2d04", reply.ToolCalls[1].ID, "G16")
	assert.Equal(t, 9, words{}.Count(reply.ToolCalls[0].Function.Arguments), "the size is that of the arguments")
	assert.Equal(t, reply.ToolCalls[0].ID, call.Messages[3].ToolCallID, "answers take the oldest call")
	assert.Equal(t, reply.ToolCalls[1].ID, call.Messages[4].ToolCallID)
	assert.Equal(t, callID("x3"), call.Messages[5].ToolCallID, "without a call it has an id of its own")

	again, _, _ := replies(t, p, func(c *Config) { c.Seed = 99 })
	assert.Equal(t, bodies, again, "a block depends on its own seed alone")
}

func TestToolName(t *testing.T) { // G16
	assert.Equal(t, "fn_3464b4834422", toolName("tool-a"))
}

func TestBlockSizesAreExact(t *testing.T) {
	m := maker{text: words{}}
	for n := 55; n < 200; n++ {
		b := Block{Seed: fmt.Sprint("s", n), Tokens: n, Role: ToolDefinition}
		text, err := m.block(b)
		require.NoError(t, err)
		whole, err := appendDefinition(nil, b.Seed, text)
		require.NoError(t, err)
		assert.True(t, json.Valid(whole))
		assert.Equal(t, n, words{}.Count(string(whole)))
		b.Role = ToolCall
		text, err = m.block(b)
		require.NoError(t, err)
		whole, err = appendArguments(text)
		require.NoError(t, err)
		assert.Equal(t, n, words{}.Count(string(whole)))
	}

	for n := 60; n < 100; n++ { // escapes make the JSON longer than the text
		b := Block{Seed: fmt.Sprint("q", n), Tokens: n, Role: ToolCall}
		text, err := maker{text: quotes{}}.block(b)
		require.NoError(t, err)
		whole, err := appendArguments(text)
		require.NoError(t, err)
		assert.Equal(t, n, words{}.Count(string(whole)))
	}

	for _, row := range []struct {
		name, reason string
		text         Text
		block        Block
		says         string
	}{
		{"too small", "the frame alone is larger", words{}, Block{Seed: "a", Tokens: 3, Role: ToolCall}, `tool_call block with seed "a" cannot have exactly 3 tokens: its JSON has 8 without any text`},
		{"nothing", "a definition of no tokens is none", words{}, Block{Seed: "a", Role: ToolDefinition}, "cannot have exactly 0 tokens"},
		{"no counter", "a Text that cannot count", makeFunc(words{}.Make), Block{Seed: "a", Tokens: 9, Role: ToolCall}, "which this Text cannot count"},
		{"never right", "BatchBench takes the closest", pairs{}, Block{Seed: "a", Tokens: 11, Role: ToolCall}, "the last of 64 tries had"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := maker{text: row.text}.block(row.block)
			require.ErrorIs(t, err, ErrText, row.reason)
			assert.Contains(t, err.Error(), row.says)
			var size *SizeError
			assert.ErrorAs(t, err, &size)
		})
	}
	text, err := m.block(Block{Seed: "a", Tokens: 8, Role: ToolCall})
	require.NoError(t, err)
	assert.Empty(t, text, "the frame alone is enough")
}

// quotes makes texts with quotation marks among the words.
type quotes struct{ words }

func (quotes) Make(r *rand.Rand, n int) (string, error) {
	out := make([]string, n)
	for i := range out {
		out[i] = "word"
		if r.IntN(4) == 0 {
			out[i] = `"`
		}
	}
	return strings.Join(out, " "), nil
}

// pairs makes two words for each token, so that JSON of 8 and an odd number
// more is out of reach.
type pairs struct{ words }

func (pairs) Make(r *rand.Rand, n int) (string, error) { return words{}.Make(r, 2*n) }

func TestBlockThatCannotBeSized(t *testing.T) {
	p := plans(t, Replay{}, v2(blockRequest("", "u:user:3")+","+blockRequest("", "u:user:3 c:tool_call:2")),
		strings.Replace(v2(blockRequest("", "u:user:3")), `"a"`, `"b"`, 1))
	_, res, recs := replies(t, p, nil)
	balanced(t, res)
	assert.Equal(t, [2]int{1, 1}, [2]int{res.Completed, res.Failed}, "only its own trajectory fails")
	assert.Equal(t, record.Build, recs[1].Failure.Class)
	assert.Contains(t, recs[1].Failure.Message, `seed "c" of request 2`)
	assert.Equal(t, 3, recs[2].PossibleCached, "what another session sent is in a cache too")
}

func TestLiveBlocks(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		requests     []string
		mode         Replies
		fallbacks    int
		content      string // of the last request's assistants
	}{
		{"first request", "there is no reply yet", []string{blockRequest("", "r:assistant:2!")}, Live, 1, "text"},
		{"second new one", "one reply fills one block", []string{blockRequest("", "u:user:1"), blockRequest("", "u:user:1 r:assistant:2! q:assistant:2!")}, Live, 1, "reply 0|text"},
		{"kept", "a seed that took a reply keeps it", []string{blockRequest("", "u:user:1"), blockRequest("", "r:assistant:2!"), blockRequest("", "r:assistant:2! q:assistant:2!")}, Live, 0, "reply 0|reply 1"},
		{"unused reply", "only the last one counts", []string{blockRequest("", "u:user:1"), blockRequest("", "u:user:1"), blockRequest("", "r:assistant:2!")}, Live, 0, "reply 1"},
		{"twice in one prompt", "one seed is one text", []string{blockRequest("", "u:user:1"), blockRequest("", "r:assistant:2! r:assistant:2!")}, Live, 0, "reply 0|reply 0"},
		{"fallback again", "a seed that fell back keeps its text", []string{blockRequest("", "r:assistant:2!"), blockRequest("", "r:assistant:2! q:assistant:2!")}, Live, 1, "text|reply 0"},
		{"after a reset", "a seed that fell back is new again", []string{blockRequest("", "r:assistant:2!"), blockRequest(`"reset_before":true,`, "u:user:1"), blockRequest("", "r:assistant:2!")}, Live, 1, "reply 1"},
		{"in the reset", "likewise, and again there is no reply", []string{blockRequest("", "r:assistant:2!"), blockRequest(`"reset_before":true,`, "r:assistant:2!")}, Live, 2, "text"},
		{"recorded", "no reply is used, and that is no fallback", []string{blockRequest("", "u:user:1"), blockRequest("", "r:assistant:2! q:assistant:2!")}, Recorded, 0, "text|text"},
	} {
		t.Run(row.name, func(t *testing.T) {
			bodies, res, _ := replies(t, plans(t, Replay{}, v2(strings.Join(row.requests, ","))), func(c *Config) { c.Replies = row.mode })
			assert.Equal(t, row.fallbacks, res.Fallbacks, row.reason)
			var body struct {
				Messages []struct{ Role, Content string }
			}
			require.NoError(t, json.Unmarshal([]byte(bodies[len(bodies)-1]), &body))
			var got []string
			for _, m := range body.Messages {
				switch {
				case m.Role != "assistant":
				case strings.HasPrefix(m.Content, "reply"):
					got = append(got, m.Content)
				default:
					assert.Equal(t, 2, words{}.Count(m.Content))
					got = append(got, "text")
				}
			}
			assert.Equal(t, row.content, strings.Join(got, "|"), row.reason)
		})
	}
}

func TestParseReply(t *testing.T) {
	for _, row := range []struct{ name, reason, message, want string }{
		{"all", "in an order of our own", `{"refusal":"no","name":"n","reasoning":"b","reasoning_content":"a","content":"c","role":"assistant","audio":1}`,
			`{"role":"assistant","content":"c","reasoning_content":"a","reasoning":"b","name":"n","refusal":"no"`},
		{"no content", "it is null then", `{}`, `{"role":"assistant","content":null`},
		{"nulls", "only content's null is sent", `{"content":null,"refusal":null,"reasoning_content":null}`, `{"role":"assistant","content":null`},
		{"parts", "content may be a list", ` {"content": [ {"type": "text"} ] } `, `{"role":"assistant","content":[{"type":"text"}]`},
		{"other case", "names are exact", `{"Content":"x"}`, `{"role":"assistant","content":null`},
		{"twice", "the last one counts, as elsewhere", `{"content":"a","content":"b"}`, `{"role":"assistant","content":"b"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := parseReply([]byte(row.message))
			require.NoError(t, err)
			assert.Equal(t, row.want, string(r), row.reason)
		})
	}
}

func TestAppend(t *testing.T) { // G13
	g := &growth{plan: &Plan{Agent: 2, Turns: make([]Turn, 5)}, answer: "go on"}
	require.NoError(t, g.msgs.say(User, "hi"))
	require.NoError(t, g.advance(4, []byte(`{"content":null,"tool_calls":["unexpected"],"reasoning_content":"x"}`)))
	messages, tools := g.prompt()
	assert.Equal(t, `{"role":"user","content":"hi"},`+
		`{"role":"assistant","content":null,"reasoning_content":"x","tool_calls":[{"id":"call_batchbench_2_4","type":"function","function":{"name":"environment","arguments":"{\"request\":\"continue\"}"}}]},`+
		`{"role":"tool","tool_call_id":"call_batchbench_2_4","content":"go on"}`, string(messages))
	assert.Empty(t, tools)
	assert.Equal(t, "call_batchbench_0_1", turnCallID(0, 0))
	assert.Equal(t, "call_batchbench_2_3", turnCallID(2, 2))
}

func TestBody(t *testing.T) { // G11
	yes, no := true, false
	for _, row := range []struct {
		name, reason string
		body         Body
		turn         Turn
		user         string
		want         string
	}{
		{"plain", "max is min; no tools, no tool_choice", Body{Model: "m"}, Turn{Min: 17, Max: 17}, "", `{"model":"m","messages":[M],"max_tokens":17,"min_tokens":17}`},
		{"capped above", "output 8, max 32", Body{Model: "m"}, Turn{Min: 8, Max: 32}, "", `{"model":"m","messages":[M],"max_tokens":32,"min_tokens":8}`},
		{"sglang", "output 8, max 4: other names", Body{Model: "m", SGLang: true}, Turn{Min: 4, Max: 4}, "", `{"model":"m","messages":[M],"max_new_tokens":4,"min_new_tokens":4}`},
		{"turn streams", "a turn overrides", Body{Model: "m"}, Turn{Stream: &yes}, "", `{"model":"m","messages":[M],"max_tokens":0,"min_tokens":0,"stream":true,"stream_options":{"include_usage":true}}`},
		{"turn does not stream", "a turn overrides", Body{Model: "m", Stream: true}, Turn{Stream: &no}, "", `{"model":"m","messages":[M],"max_tokens":0,"min_tokens":0}`},
		{"user", "the tag", Body{Model: `a"b`, IgnoreEOS: true}, Turn{}, "u-1", `{"model":"a\"b","messages":[M],"max_tokens":0,"min_tokens":0,"user":"u-1","ignore_eos":true}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, err := newBodyMaker(row.body)
			require.NoError(t, err)
			assert.Equal(t, row.want, string(m.body(&row.turn, []byte("M"), nil, row.user)), row.reason)
		})
	}
}

// FuzzParseReply: whatever a server says is either refused or gives a message
// that is JSON when it is closed.
func FuzzParseReply(f *testing.F) {
	f.Add([]byte(`{"content":"x","reasoning":null}`))
	f.Add([]byte(`{"content":"\ud800","name":[1,{"a":"b"}]}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, message []byte) {
		r, err := parseReply(message)
		if err != nil {
			require.ErrorIs(t, err, ErrReply)
			return
		}
		var m messages
		m.assistant(r)
		m.call("id", "name", "{}")
		require.NoError(t, m.answer("id", "text"))
		require.True(t, json.Valid([]byte("["+string(m.buf)+"]")), "%s", m.buf)
	})
}
