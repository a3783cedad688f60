package llmtest_test

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// TestPrefixCacheOfAModelOfItsOwn: what is cached is what a plain list of the
// beginnings that were read not long ago says.
func TestPrefixCacheOfAModelOfItsOwn(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { againstBeginnings(t, seed) })
	}
}

func againstBeginnings(t *testing.T, seed uint64) {
	draw := rand.New(rand.NewPCG(seed, 1))
	least, block, ttl := 1+draw.IntN(6), 1+draw.IntN(4), time.Duration(1+draw.IntN(60))*time.Second
	s := &llmtest.Server{Cache: &llmtest.PrefixCache{Min: least, Block: block, TTL: ttl}}
	read := map[string]time.Time{} // a beginning → when it was last read
	for range 200 {
		time.Sleep(time.Duration(draw.ExpFloat64() * 5e9)) // virtual
		var words []string
		for range 1 + draw.IntN(20) {
			words = append(words, string('a'+rune(draw.IntN(2))))
		}
		want := 0
		var beginnings []string
		for n := least; n <= len(words); n += block {
			b := strings.Join(words[:n], " ")
			beginnings = append(beginnings, b)
			if at, ok := read[b]; ok && time.Since(at) < ttl {
				want = n
			}
		}
		for _, b := range beginnings {
			read[b] = time.Now()
		}
		before := s.Counts().Billed.CachedInput
		assert.Equal(t, []int{200}, statuses(t, s, strings.Join(words, " ")))
		require.EqualValues(t, want, s.Counts().Billed.CachedInput-before, "%q, from %d by %d, for %v", words, least, block, ttl)
	}
}

// TestWhoFillsThePrefixCache: a prompt is known once it has been read, whatever
// is answered to it, and not if its caller went before.
func TestWhoFillsThePrefixCache(t *testing.T) {
	for _, r := range []struct {
		name  string
		reply llmtest.Reply
		stays time.Duration // 0: to the end
		want  int64
	}{
		{"an answer", llmtest.Reply{Text: "one two"}, 0, 3},
		{"a tool call", llmtest.Reply{ToolCalls: []llm.ToolCall{{Name: "f"}}}, 0, 3},
		{"nothing", llmtest.Reply{}, 0, 3},
		{"gone before the first token", llmtest.Reply{Text: "one two"}, 500 * time.Millisecond, 0},
		{"gone after it", llmtest.Reply{Text: "one two"}, 1500 * time.Millisecond, 3},
	} {
		for mode, stream := range map[string]bool{"whole": false, "stream": true} {
			t.Run(r.name+"/"+mode, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &llmtest.Server{
						Cache: &llmtest.PrefixCache{Min: 1, Block: 1}, Reply: func(llmtest.Chat) llmtest.Reply { return r.reply },
						Latency: llmtest.Latency{First: llmtest.Constant(time.Second), Between: llmtest.Constant(time.Second)},
					}
					ctx := t.Context()
					for i := range 2 {
						if resp, err := ask(ctx, s.Client(), llmtest.OpenAI, stream, "a b c"); err == nil {
							if r.stays > 0 && i == 0 {
								time.AfterFunc(r.stays, func() { resp.Body.Close() })
							}
							_, _ = io.Copy(io.Discard, resp.Body) // however it ends
							resp.Body.Close()
						}
					}
					require.NoError(t, s.Quiet(t.Context()))
					want := r.want
					if !stream && r.stays > 0 {
						want = 3 // a whole answer has no body to close before it is there
					}
					assert.Equal(t, want, s.Counts().Billed.CachedInput)
				})
			})
		}
	}
}
