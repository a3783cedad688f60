package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/trace"
)

func nan() float64 { return math.NaN() }
func inf() float64 { return math.Inf(1) }

// randomTrace makes prompts that share prefixes as agents' do: trees, with
// partial last blocks, blocks without an id, and prompts that end inside
// others.
func randomTrace(r *rand.Rand, n, block int) string {
	var b strings.Builder
	var prompts [][]int
	next := 0
	for i := range n {
		var ids []int
		if len(prompts) > 0 && r.IntN(4) > 0 {
			p := prompts[r.IntN(len(prompts))]
			ids = append(ids, p[:r.IntN(len(p)+1)]...)
		}
		for range r.IntN(6) {
			ids = append(ids, next)
			next++
		}
		if len(ids) == 0 {
			ids = append(ids, next)
			next++
		}
		input := len(ids) * block
		switch r.IntN(3) {
		case 0:
			ids[len(ids)-1] = next // the last block of a prompt is its own
			next++
			input -= r.IntN(block)
		case 1:
			input += r.IntN(block)
		}
		prompts = append(prompts, ids)
		session := ""
		if r.IntN(2) == 0 {
			session = fmt.Sprintf(`"session_id":"s%d",`, r.IntN(5))
		}
		list := strings.ReplaceAll(fmt.Sprint(ids), " ", ",")
		fmt.Fprintf(&b, `{"timestamp":%d,%s"input_length":%d,"output_length":1,"hash_ids":%s}`+"\n", i, session, input, list)
	}
	return b.String()
}

// sharedByHash counts the tokens that two rows of the trace have in common from
// their beginning.
func sharedByHash(a, b *trace.Row) (n int) {
	size := func(r *trace.Row, i int) int { return min(r.BlockTokens, r.Input-i*r.BlockTokens) }
	for i := range min(len(a.Hashes), len(b.Hashes)) {
		if a.Hashes[i] != b.Hashes[i] || size(a, i) != size(b, i) {
			break
		}
		n += size(a, i)
	}
	return n
}

func sharedByBlock(a, b []agent.Block) (n int) {
	for i := range min(len(a), len(b)) {
		if a[i].Seed != b[i].Seed {
			break
		}
		n += a[i].Tokens
	}
	return n
}

// TestPrefixRoundTrip: what any two prompts share in the trace they share in
// the manifest, and what agent sends has what the report said could be cached.
func TestPrefixRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		for _, each := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed=%d/each=%v", seed, each), func(t *testing.T) {
				tr := read(t, randomTrace(rand.New(rand.NewPCG(seed, 1)), 60, 16), trace.Options{BlockTokens: 16})
				plan, _, err := tr.Plan(trace.PlanOptions{EachBlock: each})
				require.NoError(t, err)
				var b bytes.Buffer
				require.NoError(t, agent.Write(&b, plan))
				m, err := agent.Read(&b, "manifest")
				require.NoError(t, err)

				type prompt struct {
					row    trace.Row
					blocks []agent.Block
				}
				at := map[string]int{}
				for i, tr := range m.Trajectories {
					at[tr.ID] = i
				}
				var all []prompt
				n := 0
				for r := range tr.Rows() {
					n++
					id := fmt.Sprintf("mooncake#%d", n)
					if r.Session != "" {
						id = "mooncake:" + r.Session
					}
					q := m.Trajectories[at[id]].Requests[r.Turn]
					sum := 0
					for _, block := range q.Blocks {
						sum += block.Tokens
					}
					require.Equal(t, r.Input, q.PromptTokens)
					require.Equal(t, r.Input, sum)
					all = append(all, prompt{r, q.Blocks})
				}
				for i := range all {
					for j := range i {
						require.Equal(t, sharedByHash(&all[i].row, &all[j].row), sharedByBlock(all[i].blocks, all[j].blocks), "rows %d and %d", i, j)
					}
				}

				plans, err := agent.Compile(m, agent.Replay{})
				require.NoError(t, err)
				assert.Equal(t, tr.Report().Cacheable, sentCached(t, plans))
			})
		}
	}
}

// letters makes texts of one-letter words.
type letters struct{}

func (letters) Make(r *rand.Rand, n int) (string, error) {
	words := make([]string, n)
	for i := range words {
		words[i] = string(rune('a' + r.IntN(26)))
	}
	return strings.Join(words, " "), nil
}

// sentCached replays the plans and returns how much of what was sent a perfect
// prefix cache could have held, as agent sees it.
func sentCached(t *testing.T, plans *agent.Plans) (sum int64) {
	for i := range plans.List {
		for k := range plans.List[i].Turns {
			plans.List[i].Turns[k].Delay = 0
		}
	}
	caller := agent.CallerFunc(func(_ context.Context, _ *agent.Call, rec *record.Request) []byte {
		sum += int64(rec.PossibleCached)
		return []byte(`{"role":"assistant","content":"a"}`)
	})
	cfg := agent.Config{Text: letters{}, Body: agent.Body{Model: "m"}, MaxActive: 1}
	_, err := agent.Run(context.Background(), plans, cfg, caller)
	require.NoError(t, err)
	return sum
}

// TestSharedPrefixSurvives is a report of a prefix of 14,336 tokens (28 blocks)
// that another converter turned into no cache hit at all.
func TestSharedPrefixSurvives(t *testing.T) {
	var b strings.Builder
	for i := range 8 {
		ids := make([]string, 29)
		for k := range ids {
			ids[k] = fmt.Sprint(k)
		}
		ids[28] = fmt.Sprint(100 + i)
		fmt.Fprintf(&b, `{"timestamp":%d,"input_length":14536,"output_length":1,"hash_ids":[%s]}`+"\n", i, strings.Join(ids, ","))
	}
	tr := read(t, b.String(), trace.Options{})
	assert.Equal(t, int64(7*14336), tr.Report().Cacheable)
	plan, rep, err := tr.Plan(trace.PlanOptions{})
	require.NoError(t, err)
	assert.Equal(t, 9, rep.Blocks)
	require.Len(t, plan[0].Requests[0].Blocks, 2, "a prefix that nobody has in part is one message")
	plans, err := agent.Compile(&agent.Manifest{File: "m", Trajectories: plan}, agent.Replay{})
	require.NoError(t, err)
	assert.Equal(t, int64(7*14336), sentCached(t, plans))

	each, _, err := tr.Plan(trace.PlanOptions{EachBlock: true})
	require.NoError(t, err)
	blocks := each[0].Requests[0].Blocks
	require.Len(t, blocks, 29)
	assert.Equal(t, agent.Block{Seed: "mooncake:27", Tokens: 512, Role: agent.User}, blocks[27])
	assert.Equal(t, agent.Block{Seed: "mooncake:100/200", Tokens: 200, Role: agent.User}, blocks[28])
}

// Another part of the same file names what it shares alike, where its prompts
// part at the same places.
func TestNamesHangOnContent(t *testing.T) {
	in := `{"timestamp":0,"input_length":1024,"output_length":1,"hash_ids":[1,2]}
{"timestamp":1,"input_length":1024,"output_length":1,"hash_ids":[1,3]}
{"timestamp":2,"input_length":1024,"output_length":1,"hash_ids":[1,2]}
`
	whole, _, err := read(t, in, trace.Options{}).Plan(trace.PlanOptions{})
	require.NoError(t, err)
	lines := strings.SplitAfter(in, "\n")
	part, _, err := read(t, lines[1]+lines[2], trace.Options{}).Plan(trace.PlanOptions{})
	require.NoError(t, err)
	assert.Equal(t, whole[1].Requests, part[0].Requests)
	assert.Equal(t, whole[2].Requests, part[1].Requests)
}
