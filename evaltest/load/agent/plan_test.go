package agent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// G4's manifest: seven requests in three trajectories.
var golden4 = []string{
	`{"schema_version":1,"trajectory_id":"short-agent","requests":[{"prompt_tokens":256,"output_tokens":64},{"prompt_tokens":448,"output_tokens":96}]}`,
	`{"schema_version":1,"trajectory_id":"long-agent","requests":[{"prompt_tokens":512,"output_tokens":128},{"prompt_tokens":896,"output_tokens":128,"delay_after_ms":25},{"prompt_tokens":1280,"output_tokens":64}]}`,
	`{"schema_version":1,"trajectory_id":"compacting-agent","requests":[{"prompt_tokens":768,"output_tokens":128},{"prompt_tokens":384,"output_tokens":64,"reset_before":true}]}`,
}

func TestCompile(t *testing.T) {
	five := Replay{InitialOverhead: 5, TurnOverhead: 10}
	for _, row := range []struct {
		name, reason string
		replay       Replay
		line         string
		env          []int
		content      []int
		over         []int
	}{
		{"G3 150", "150 - 100 - 20", Replay{}, v1(`{"prompt_tokens":100,"output_tokens":20},{"prompt_tokens":150,"output_tokens":1}`), []int{30, 0}, []int{100, 150}, []int{0, 0}},
		{"G3 140", "140 - 100 - 20", Replay{}, v1(`{"prompt_tokens":100,"output_tokens":20},{"prompt_tokens":140,"output_tokens":1}`), []int{20, 0}, []int{100, 140}, []int{0, 0}},
		{"G3 120", "no growth is allowed", Replay{}, v1(`{"prompt_tokens":100,"output_tokens":20},{"prompt_tokens":120,"output_tokens":1}`), []int{0, 0}, []int{100, 120}, []int{0, 0}},
		{"G4 short", "the example manifest", Replay{}, golden4[0], []int{128, 0}, []int{256, 448}, []int{0, 0}},
		{"G4 long", "the example manifest", Replay{}, golden4[1], []int{256, 256, 0}, []int{512, 896, 1280}, []int{0, 0, 0}},
		{"G4 compacting", "a reset needs no answer before it", Replay{}, golden4[2], []int{0, 0}, []int{768, 384}, []int{0, 0}},
		{"G4 README", "the README's line", Replay{}, v1(`{"prompt_tokens":13381,"output_tokens":288},{"prompt_tokens":14800,"output_tokens":512,"delay_after_ms":25},{"prompt_tokens":7000,"output_tokens":128,"reset_before":true}`),
			[]int{1131, 0, 0}, []int{13381, 14800, 7000}, []int{0, 0, 0}},
		{"G5", "overheads of 5 and 10", five, v1(`{"prompt_tokens":100,"output_tokens":20},{"prompt_tokens":150,"output_tokens":10,"delay_after_ms":25},{"prompt_tokens":60,"output_tokens":5,"reset_before":true}`),
			[]int{20, 0, 0}, []int{95, 135, 55}, []int{5, 15, 5}},
		{"G6", "a request's own overhead is where the next go on", five,
			v2(`{"prompt_tokens":100,"output_tokens":1},{"prompt_tokens":200,"output_tokens":1},{"prompt_tokens":300,"output_tokens":1,"overhead_tokens":7},{"prompt_tokens":400,"output_tokens":1},{"prompt_tokens":100,"output_tokens":1,"reset_before":true}`),
			[]int{89, 107, 89, 0, 0}, []int{95, 185, 293, 383, 95}, []int{5, 15, 7, 17, 5}},
		{"G6 without flags", "only its own overhead is left", Replay{},
			v2(`{"prompt_tokens":100,"output_tokens":1},{"prompt_tokens":200,"output_tokens":1},{"prompt_tokens":300,"output_tokens":1,"overhead_tokens":7},{"prompt_tokens":400,"output_tokens":1},{"prompt_tokens":100,"output_tokens":1,"reset_before":true}`),
			[]int{99, 92, 99, 0, 0}, []int{100, 200, 293, 393, 100}, []int{0, 0, 7, 7, 0}},
		{"G7", "content and answers with an overhead of its own", five,
			v2(`{"prompt_tokens":100,"output_tokens":20},{"prompt_tokens":150,"output_tokens":10,"overhead_tokens":30},{"prompt_tokens":200,"output_tokens":5}`),
			[]int{5, 30, 0}, []int{95, 120, 160}, []int{5, 30, 40}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := plans(t, row.replay, row.line).List[0]
			var env, content, over []int
			for _, turn := range p.Turns {
				env, content, over = append(env, turn.Environment), append(content, turn.Content), append(over, turn.Overhead)
				assert.Equal(t, turn.Prompt, turn.Content+turn.Overhead)
			}
			assert.Equal(t, row.env, env, row.reason)
			assert.Equal(t, row.content, content, row.reason)
			assert.Equal(t, row.over, over, row.reason)
		})
	}
}

func TestCompileTurn(t *testing.T) {
	p := plans(t, Replay{TimeScale: 2},
		`{"schema_version":2,"trajectory_id":"a","start_after_ms":400,"requests":[{"prompt_tokens":100,"output_tokens":8,"max_tokens":32,"delay_after_ms":200,"stream":true},{"prompt_tokens":180,"output_tokens":8,"max_tokens":4},{"prompt_tokens":50,"output_tokens":8,"reset_before":true}]}`)
	a := p.List[0]
	assert.Equal(t, 200*time.Millisecond, a.StartAfter, "G8")
	assert.Equal(t, 100*time.Millisecond, a.Turns[0].Delay, "G8")
	assert.Equal(t, [2]int{8, 32}, [2]int{a.Turns[0].Min, a.Turns[0].Max}, "G11: a cap above the planned length")
	assert.Equal(t, [2]int{4, 4}, [2]int{a.Turns[1].Min, a.Turns[1].Max}, "G11: a cap below it")
	assert.True(t, *a.Turns[0].Stream)
	assert.Equal(t, []int{0, 108, 0}, []int{a.Turns[0].Cacheable, a.Turns[1].Cacheable, a.Turns[2].Cacheable})
	assert.Equal(t, 3, p.Turns())
	assert.Equal(t, 2, p.SchemaVersion)
	assert.Len(t, p.SHA256, 64)

	same := plans(t, Replay{TimeScale: 1}, v1(`{"prompt_tokens":1,"output_tokens":1,"delay_after_ms":999999999999}`)).List[0]
	assert.Equal(t, 999999999999*time.Millisecond, same.Turns[0].Delay, "a scale of 1 is exact")
}

func TestCompileRefuses(t *testing.T) {
	two := v1(`{"prompt_tokens":100,"output_tokens":20},{"prompt_tokens":125,"output_tokens":1}`)
	for _, row := range []struct {
		name, reason string
		replay       Replay
		line         string
		kind         error
		says         string
	}{
		{"no content", "the overhead is the whole prompt", Replay{InitialOverhead: 100}, two, ErrOverhead, `trajectory "a" request 1 prompt (100) must exceed its replay overhead (100)`},
		{"no room", "the answer would be negative", Replay{TurnOverhead: 6}, two, ErrOverhead, `trajectory "a" request 2 cannot satisfy its replay overhead (6 tokens); lower the overhead or set reset_before=true`},
		{"negative initial", "a flag's value", Replay{InitialOverhead: -1}, two, ErrConfig, "-1"},
		{"negative turn", "a flag's value", Replay{TurnOverhead: -2}, two, ErrConfig, "-2"},
		{"negative scale", "a flag's value", Replay{TimeScale: -1}, two, ErrConfig, "-1"},
		{"NaN scale", "a flag's value", Replay{TimeScale: math.NaN()}, two, ErrConfig, "NaN"},
		{"Inf scale", "a flag's value", Replay{TimeScale: math.Inf(1)}, two, ErrConfig, "+Inf"},
		{"slow motion", "a wait must not wrap around", Replay{TimeScale: 1e-9}, v1(`{"prompt_tokens":1,"output_tokens":1,"delay_after_ms":1000000000000}`), ErrConfig, "century"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Compile(read(t, row.line), row.replay)
			require.ErrorIs(t, err, row.kind, row.reason)
			assert.Contains(t, err.Error(), row.says)
		})
	}
	_, err := Compile(&Manifest{File: "made", Trajectories: []Trajectory{{Version: 1, ID: "a"}}}, Replay{})
	require.ErrorIs(t, err, ErrValue, "a Manifest that no file gave is checked too")
	one := Trajectory{Version: 1, ID: "a", Requests: []Request{{PromptTokens: 1, OutputTokens: 1}}}
	_, err = Compile(&Manifest{Trajectories: []Trajectory{one, one}}, Replay{})
	require.ErrorIs(t, err, ErrDuplicate)
	_, err = Compile(&Manifest{}, Replay{})
	require.ErrorIs(t, err, ErrEmpty)
}

func TestBlockSums(t *testing.T) { // G12
	line := func(first, second int) string {
		return v2(fmt.Sprintf(`{"prompt_tokens":%d,"output_tokens":1,"overhead_tokens":41,"blocks":[{"seed":"s","tokens":1299,"role":"system"}]},{"prompt_tokens":%d,"output_tokens":1,"overhead_tokens":52,"blocks":[{"seed":"s","tokens":1299,"role":"system"},{"seed":"u","tokens":231,"role":"user"}]}`, first, second))
	}
	assert.Empty(t, plans(t, Replay{}, line(1340, 1582)).Warnings)
	p := plans(t, Replay{}, line(1340, 1612))
	require.Len(t, p.Warnings, 1)
	assert.EqualError(t, p.Warnings[0], `trajectory "a" request 2: prompt_tokens (1612) is not the sum of its blocks (1530) and its overhead (52); the blocks are replayed as written`)
	assert.Equal(t, 1530, p.List[0].Turns[1].Content)
	assert.Len(t, plans(t, Replay{}, line(1, 2)).Warnings, 1, "one of each trajectory")
}

func TestEstimateCached(t *testing.T) { // G2
	sum, before := int64(0), int64(0)
	for _, prompt := range []int64{100, 180, 250, 400} {
		sum, before = sum+EstimateCached(before, prompt), prompt
	}
	assert.EqualValues(t, 530, sum)
	assert.EqualValues(t, 450, EstimateCached(500, 450))
}

func TestBlockSeed(t *testing.T) { // G16; the seeds of streams, G15, are workload's
	assert.Equal(t, uint64(6853444348469021521), blockSeed("sys"))
}

func TestSynthesize(t *testing.T) {
	upTo := func(n int) Lengths { return LengthsFunc(func(r *rand.Rand) int { return 1 + r.IntN(n) }) }
	shape := Shape{Input: upTo(500), Turns: upTo(6), Output: upTo(90), Environment: upTo(40), Latency: upTo(1000)}
	p, err := Synthesize(7, 20, shape)
	require.NoError(t, err)
	again, err := Synthesize(7, 5, shape)
	require.NoError(t, err)
	assert.Equal(t, p.List[:5], again.List, "a plan does not depend on how many there are")
	other, err := Synthesize(8, 5, shape)
	require.NoError(t, err)
	assert.NotEqual(t, other.List, again.List)
	shape.Latency = nil
	silent, err := Synthesize(7, 5, shape)
	require.NoError(t, err)
	for i, plan := range silent.List {
		for k, turn := range plan.Turns {
			want := again.List[i].Turns[k]
			want.Delay = 0
			assert.Equal(t, want, turn, "a field does not depend on the draws of another")
		}
	}
	twins, err := Synthesize(7, 1, Shape{Input: Fixed(1), Turns: Fixed(20), Output: upTo(1000), Environment: upTo(1000), Latency: upTo(1000)})
	require.NoError(t, err)
	var draws [3][]int
	for _, turn := range twins.List[0].Turns {
		for i, v := range []int{turn.Output, turn.Environment, int(turn.Delay.Milliseconds())} {
			draws[i] = append(draws[i], v)
		}
	}
	assert.NotEqual(t, draws[0], draws[1], "each field has a stream of its own")
	assert.NotEqual(t, draws[1], draws[2])
	assert.NotEqual(t, draws[0], draws[2])
	for i, plan := range p.List {
		assert.Equal(t, fmt.Sprintf("sampled-%d", i), plan.ID)
		for k := 1; k < len(plan.Turns); k++ {
			a, b := plan.Turns[k-1], plan.Turns[k]
			assert.Equal(t, a.Prompt+a.Output+a.Environment, b.Prompt)
			assert.Equal(t, a.Prompt+a.Output, b.Cacheable)
		}
	}
	for _, row := range []struct {
		name, reason string
		n            int
		change       func(*Shape)
		kind         error
		says         string
	}{
		{"no agents", "nothing would run", 0, func(*Shape) {}, ErrConfig, "0 agents"},
		{"no input", "it is needed", 1, func(s *Shape) { s.Input = nil }, ErrConfig, "Shape.Input"},
		{"zero output", "a length is at least 1", 1, func(s *Shape) { s.Output = LengthsFunc(func(*rand.Rand) int { return 0 }) }, ErrValue, "drew 0 for Output"},
		{"no turns drawn", "a trajectory has a turn", 1, func(s *Shape) { s.Turns = LengthsFunc(func(*rand.Rand) int { return -3 }) }, ErrValue, "drew -3 for Turns"},
		{"too many turns", "a unit was mistaken", 1, func(s *Shape) { s.Turns = Fixed(maxTurns + 1) }, ErrValue, "for Turns"},
		{"too long", "the prompt overflows", 1, func(s *Shape) { s.Output, s.Turns = Fixed(maxTokens), Fixed(3) }, ErrValue, "has a prompt of"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := Shape{Input: Fixed(3), Turns: Fixed(2), Output: Fixed(4), Environment: Fixed(5)}
			row.change(&s)
			_, err := Synthesize(1, row.n, s)
			require.ErrorIs(t, err, row.kind, row.reason)
			assert.Contains(t, err.Error(), row.says)
		})
	}
	assert.PanicsWithValue(t, "agent.Fixed: the length is 0; it must be at least 1", func() { Fixed(0) })
}

func TestDryRun(t *testing.T) {
	p := plans(t, Replay{InitialOverhead: 1, TurnOverhead: 2}, append(golden4,
		strings.Replace(blocksOf(`{"seed":"x","tokens":4,"role":"system"},{"seed":"y","tokens":5,"role":"assistant","live":true}`), `"a"`, `"blocks \u001b[31m"`, 1),
		`{"schema_version":2,"trajectory_id":"capped","start_after_ms":100,"requests":[{"prompt_tokens":20,"output_tokens":8,"max_tokens":4,"stream":false,"delay_after_ms":5}]}`)...)
	cfg := config()
	cfg.MaxActive = 2
	var out strings.Builder
	require.NoError(t, DryRun(t.Context(), &out, p, cfg))
	out.WriteString("open loop:\n")
	cfg.Admission, cfg.MaxActive = OpenLoop, 0
	require.NoError(t, DryRun(t.Context(), &out, p, cfg))
	out.WriteString("a text that cannot be built:\n")
	cfg.Text = makeFunc(func(r *rand.Rand, n int) (string, error) {
		if n == 1280-896-128-2 { // the answers of long-agent
			return "", fmt.Errorf("no such \x1b text")
		}
		return words{}.Make(r, n)
	})
	err := DryRun(t.Context(), &out, p, cfg)
	require.ErrorIs(t, err, ErrText)
	assert.Contains(t, err.Error(), `trajectory "long-agent"`)
	golden(t, "testdata/dryrun.golden", []byte(out.String()))
	assert.NotContains(t, out.String(), "\x1b")
}
