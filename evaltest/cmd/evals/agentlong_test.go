package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/fake"
)

// A longTurn is a request as the manifest has it, and as the server saw it.
type longTurn struct {
	Prompt int  `json:"prompt_tokens"`
	Output int  `json:"output_tokens"`
	Reset  bool `json:"reset_before,omitempty"`
}

// longManifest is one of 200 trajectories, some of which start over, and the
// turns of each by its tag.
func longManifest(t *testing.T) (text string, plan map[string][]longTurn) {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	plan = map[string][]longTurn{}
	for i := range 200 {
		var turns []longTurn
		prompt := 20 + r.IntN(60)
		for k := range 1 + r.IntN(6) {
			reset := k > 0 && r.IntN(4) == 0
			if reset {
				prompt = 20 + r.IntN(60)
			}
			turns = append(turns, longTurn{prompt, 1 + r.IntN(9), reset})
			prompt += turns[k].Output + 10 + r.IntN(20) // 10 of it are the template's
		}
		line, err := json.Marshal(map[string]any{"schema_version": 1, "trajectory_id": fmt.Sprintf("t%d", i), "requests": turns})
		require.NoError(t, err)
		b.Write(append(line, '\n'))
		plan[fmt.Sprintf("u-%d", i)] = turns
	}
	return b.String(), plan
}

// TestAgentLongReplay replays 200 trajectories in 16 slots: what the server saw
// is the plan.
func TestAgentLongReplay(t *testing.T) {
	manifest, plan := longManifest(t)
	w := serveFake(t, &fake.Server{PerRequest: 2, PerMessage: 3, Count: func(text string) int {
		if text == `{"request":"continue"}` {
			return 4
		}
		return len(strings.Fields(text))
	}})
	dir := t.TempDir()
	requests, events := filepath.Join(dir, "q.jsonl"), filepath.Join(dir, "e.jsonl")
	ran := w.agents(t, "-agent-plans-jsonl", fileOf(t, "plans.jsonl", manifest), "-user-prefix", "u", "-max-active-agents", "16",
		"-replay-initial-overhead-tokens", "5", "-replay-turn-overhead-tokens", "10", "-dp-rank-perfect-routing", "-dp-rank-perfect-routing-num", "8",
		"-requests-jsonl", requests, "-agent-events-jsonl", events)
	require.Equal(t, 0, ran.code, ran.stderr)

	got, workers, total := map[string][]longTurn{}, map[string]string{}, 0
	for _, s := range w.seen() {
		a := new(askedBody).from(t, s)
		got[s.User] = append(got[s.User], longTurn{s.Input, a.Max, len(got[s.User]) > 0 && len(a.Messages) == 1})
		worker := s.Header.Get(agent.HeaderTargetWorker)
		if before, ok := workers[s.User]; ok {
			assert.Equal(t, before, worker, "%s stays in its slot", s.User)
		}
		workers[s.User] = worker
		total++
	}
	assert.Equal(t, plan, got)
	assert.LessOrEqual(t, atOnce(t, requests), 16)
	assert.Len(t, linesOf(t, requests), total)

	slotsKept(t, events, workers)
}

// slotsKept checks that no slot had two trajectories at once, and that the
// server saw the worker of each.
func slotsKept(t *testing.T, events string, workers map[string]string) {
	t.Helper()
	busy := map[int]float64{} // until when each slot was taken
	rows := linesOf(t, events)
	require.Len(t, rows, 200)
	type row struct {
		Agent    int     `json:"agent_id"`
		Slot     int     `json:"routing_slot"`
		Admitted float64 `json:"admitted_at_seconds"`
		Finished float64 `json:"finished_at_seconds"`
	}
	var list []row
	for _, line := range rows {
		var e row
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		assert.Equal(t, workers[fmt.Sprintf("u-%d", e.Agent)], strconv.Itoa(e.Slot%8))
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b row) int { return a.Agent - b.Agent })
	for i, e := range list {
		assert.Less(t, e.Slot, 16)
		assert.GreaterOrEqual(t, e.Admitted, busy[e.Slot], "agent %d takes a slot that has been left", i)
		busy[e.Slot] = e.Finished
	}
}
