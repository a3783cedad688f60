package fake_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/workload"
)

// TestCache: what of prompts is held.
func TestCache(t *testing.T) {
	const chat, text = "/v1/chat/completions", "/v1/completions"
	say := func(messages ...string) string {
		for i, m := range messages {
			role, content, _ := strings.Cut(m, ":")
			messages[i] = fmt.Sprintf(`{"role":%q,"content":%q}`, role, content)
		}
		return `{"messages":[` + strings.Join(messages, ",") + `],"max_tokens":3}`
	}
	type turn struct {
		path, body string
		cached     int
	}
	for _, row := range []struct {
		name, reason string
		server       *fake.Server
		turns        []turn
	}{
		{"equal", "a prompt is held to its last token", &fake.Server{CacheBlock: 1}, []turn{{chat, say("user:a b c"), 0}, {chat, say("user:a b c"), 3}}},
		{"whole blocks", "what is over is not held", &fake.Server{CacheBlock: 2}, []turn{{chat, say("user:a b c d e"), 0}, {chat, say("user:a b c d e"), 4}, {chat, say("user:a b c x y"), 2}}},
		{"the beginning", "equal blocks behind one that differs are of no use", &fake.Server{CacheBlock: 1}, []turn{{chat, say("user:a b c"), 0}, {chat, say("user:x b c"), 0}}},
		{"roles", "the same text of another role is another", &fake.Server{CacheBlock: 1}, []turn{{chat, say("user:a b"), 0}, {chat, say("system:a b"), 0}}},
		{"where messages end", "is part of the prompt", &fake.Server{CacheBlock: 1}, []turn{{chat, say("user:a b"), 0}, {chat, say("user:a", "user:b"), 1}}},
		{"conversation", "the answer is held too", &fake.Server{CacheBlock: 1}, []turn{{chat, say("user:a b"), 0}, {chat, say("user:a b", "assistant:the water house", "user:c"), 5}}},
		{"another answer", "as far as it is the same", &fake.Server{CacheBlock: 1}, []turn{{chat, say("user:a b"), 0}, {chat, say("user:a b", "assistant:the water x", "user:c"), 4}}},
		{"template", "its tokens are held, but for those of a message that is new", &fake.Server{CacheBlock: 1, PerRequest: 3, PerMessage: 2}, []turn{{chat, say("user:a b"), 0}, {chat, say("user:a b", "assistant:the water house", "user:c"), 3 + 4 + 5}}},
		{"prompt", "a completion goes on with its text", &fake.Server{CacheBlock: 1}, []turn{{text, `{"prompt":"a b","max_tokens":2}`, 0}, {text, `{"prompt":"a b the water d"}`, 4}}},
		{"numbers", "tokens of a prompt", &fake.Server{CacheBlock: 2}, []turn{{text, `{"prompt":[1,2,3,4,5]}`, 0}, {text, `{"prompt":[1,2,3,4,6]}`, 4}}},
		{"tools", "come before messages, wherever they stand", &fake.Server{CacheBlock: 1}, []turn{
			{chat, `{"messages":[{"role":"user","content":"a b"}],"tools":[{"a":1}]}`, 0}, {chat, `{"tools":[ {"a": 1} ],"messages":[{"role":"user","content":"a c"}]}`, 2}, {chat, say("user:a b"), 0},
		}},
		{"forgotten", "the first in, if it was not used again", &fake.Server{CacheBlock: 1, CacheBlocks: 8, Output: 1}, []turn{
			{text, `{"prompt":"a b","max_tokens":1}`, 0}, {text, `{"prompt":"c d","max_tokens":1}`, 0}, {text, `{"prompt":"a b","max_tokens":1}`, 2},
			{text, `{"prompt":"e f","max_tokens":1}`, 0}, {text, `{"prompt":"a b","max_tokens":1}`, 2}, {text, `{"prompt":"c d","max_tokens":1}`, 0},
		}},
		{"off", "nothing is held by default", &fake.Server{}, []turn{{chat, say("user:a b c"), 0}, {chat, say("user:a b c"), 0}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, sum := start(t, row.server), 0
			for i, turn := range row.turns {
				a := ask(t, c, turn.path, turn.body)
				require.Empty(t, a.Error.Message)
				assert.Equal(t, turn.cached, a.Usage.Details.Cached, "turn %d: %s", i, row.reason)
				sum += turn.cached
			}
			assert.Equal(t, int64(sum), row.server.Counts().Cached)
		})
	}
}

// TestCacheOfWorkload: the cache holds what a workload says a perfect one can.
func TestCacheOfWorkload(t *testing.T) {
	encoding, err := token.Encoding("o200k_base")
	require.NoError(t, err)
	input, err := workload.Uniform(40, 400)
	require.NoError(t, err)
	for name, opt := range map[string]workload.Options{
		"overlap": {Overlap: workload.Overlap{Share: 0.6}},
		"groups":  {Groups: workload.Groups{Count: 5, Tokens: 70, System: true}},
	} {
		for how, s := range map[string]*fake.Server{"words": {CacheBlock: 16}, "o200k_base": {CacheBlock: 16, Encode: encoding.Encode}} {
			t.Run(name+"/"+how, func(t *testing.T) {
				opt.Text, opt.Input, opt.CacheBlock, opt.Count, opt.Seed, opt.Salt.Value = token.Words{}, input, 16, 60, 7, 8
				w, err := workload.New(opt)
				require.NoError(t, err)
				c, some := start(t, s), 0
				for seq := range 60 {
					r, err := w.Request(seq)
					require.NoError(t, err)
					var messages []string
					for _, m := range r.Chat() {
						messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%q}`, m.Role, m.Content))
					}
					a := ask(t, c, "/v1/chat/completions", `{"messages":[`+strings.Join(messages, ",")+`]}`)
					assert.Equal(t, []int{r.AskedInput, r.PossibleCached}, []int{a.Usage.Prompt, a.Usage.Details.Cached}, "%d", seq)
					some += a.Usage.Details.Cached
				}
				assert.Positive(t, some)
			})
		}
	}
}

// words is a text of agents.
type words struct{ token.Words }

func (words) Count(text string) int { return len(strings.Fields(text)) }

// TestAgents: prompts that agents build have the lengths of their plan, and what
// agents say a cache can hold is held.
func TestAgents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for i := range 20 {
		var requests []string
		prompt := 0
		for k := range 1 + r.IntN(6) {
			prompt += 60 + r.IntN(60)
			reset := k > 0 && r.IntN(4) == 0
			if reset {
				prompt = 30 + r.IntN(50)
			}
			output := 1 + r.IntN(30)
			requests = append(requests, fmt.Sprintf(`{"prompt_tokens":%d,"output_tokens":%d,"reset_before":%t,"delay_after_ms":%d}`, prompt, output, reset, r.IntN(50)))
			prompt += output + 10
		}
		lines = append(lines, fmt.Sprintf(`{"schema_version":1,"trajectory_id":"t%d","requests":[%s]}`, i, strings.Join(requests, ",")))
	}
	// A turn adds two messages, and a call whose arguments are one word.
	agents(t, strings.Join(lines, "\n"), agent.Replay{InitialOverhead: 3 + 4, TurnOverhead: 2*4 + 1}, &fake.Server{PerRequest: 3, PerMessage: 4})
}

// TestAgentBlocks: the same with tools, and calls of them.
func TestAgentBlocks(t *testing.T) {
	const definition, system, user = `{"seed":"t","role":"tool_definition","tokens":60}`, `{"seed":"s","role":"system","tokens":4}`, `{"seed":"u","role":"user","tokens":3}`
	const reply, call, result = `{"seed":"r","role":"assistant","tokens":2,"live":true}`, `{"seed":"c","role":"tool_call","tokens":9}`, `{"seed":"x","role":"tool","tokens":2}`
	request := func(prompt int, blocks ...string) string {
		return fmt.Sprintf(`{"prompt_tokens":%d,"output_tokens":2,"blocks":[%s]}`, prompt, strings.Join(blocks, ","))
	}
	agents(t, `{"schema_version":2,"trajectory_id":"blocks","requests":[`+strings.Join([]string{
		request(67, definition, system, user),
		request(80, definition, system, user, reply, call, result),
		request(80, definition, system, user, reply, call, result),
		request(78, definition, system, user, reply, call),
	}, ",")+`]}`, agent.Replay{}, &fake.Server{})
}

// agents runs a manifest against s and compares what it says with the plan.
func agents(t *testing.T, manifest string, replay agent.Replay, s *fake.Server) {
	m, err := agent.Read(strings.NewReader(manifest), "plans.jsonl")
	require.NoError(t, err)
	plans, err := agent.Compile(m, replay)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		s.CacheBlock, s.TTFT, s.ITL = 1, 3*ms, ms
		b := serve(t, s)
		sink := &sums{}
		res, err := agent.Run(t.Context(), plans, agent.Config{Text: words{}, Seed: 3, MaxActive: 4, Sink: sink, Body: agent.Body{Model: "m", Stream: true}},
			agent.CallerFunc(func(ctx context.Context, c *agent.Call, rec *record.Request) []byte {
				var reply client.Reply
				b.client.Do(ctx, &client.Call{Start: c.Start, Body: c.Body, Reply: &reply}, rec)
				message, err := reply.Message()
				if assert.NoError(t, err) {
					return message.Raw
				}
				return nil
			}))
		require.NoError(t, err)
		b.stop()
		require.Equal(t, plans.Turns(), res.Succeeded)
		require.Len(t, sink.requests, plans.Turns())
		assert.LessOrEqual(t, s.Counts().MostInFlight, 4)
		for _, rec := range sink.requests {
			name := fmt.Sprintf("%s turn %d", rec.Trajectory, rec.Turn)
			assert.Equal(t, [2]int{rec.AskedInput, rec.AskedOutput}, [2]int{int(rec.Usage.Input), int(rec.Usage.Output)}, name)
			// The reply's template is held, which the plan does not count; and
			// all texts begin with "the", so that a conversation that starts over
			// may have a word in common with another.
			more := int(rec.Usage.CachedInput) - rec.PossibleCached
			if rec.PossibleCached == 0 {
				assert.LessOrEqual(t, more, s.PerRequest+s.PerMessage+1, name)
			} else if rec.PossibleCached < rec.AskedInput {
				assert.Equal(t, s.PerMessage, more, name)
			}
		}
	})
}

// sums keeps all requests.
type sums struct{ requests []*record.Request }

func (s *sums) Request(r *record.Request) error { s.requests = append(s.requests, r); return nil }
func (s *sums) Trajectory(e *agent.Event) error { return nil }
