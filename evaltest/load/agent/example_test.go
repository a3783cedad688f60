package agent_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/record"
)

// letters makes texts of one-letter words; evaltest/load/token has real ones.
type letters struct{}

func (letters) Make(r *rand.Rand, n int) (string, error) {
	words := make([]string, n)
	for i := range words {
		words[i] = string(rune('a' + r.IntN(26)))
	}
	return strings.Join(words, " "), nil
}

const manifest = `
{"schema_version":1,"trajectory_id":"fix-bug","requests":[{"prompt_tokens":6,"output_tokens":2,"delay_after_ms":3},{"prompt_tokens":12,"output_tokens":1}]}
{"schema_version":1,"trajectory_id":"compact","requests":[{"prompt_tokens":9,"output_tokens":2},{"prompt_tokens":5,"output_tokens":2,"reset_before":true}]}
`

func Example() {
	m, err := agent.Read(strings.NewReader(manifest), "plans.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	plans, err := agent.Compile(m, agent.Replay{})
	if err != nil {
		fmt.Println(err)
		return
	}

	// A real Caller posts c.Body; evaltest/load/client has one.
	caller := agent.CallerFunc(func(_ context.Context, c *agent.Call, rec *record.Request) []byte {
		rec.Sent = time.Since(c.Start)
		rec.FirstSent, rec.Done = rec.Sent, time.Since(c.Start)
		return []byte(`{"role":"assistant","content":"yes yes"}`)
	})
	cfg := agent.Config{Text: letters{}, Seed: 1, Body: agent.Body{Model: "some-model"}, MaxActive: 1}
	if err := agent.DryRun(context.Background(), os.Stdout, plans, cfg); err != nil {
		fmt.Println(err)
	}
	res, err := agent.Run(context.Background(), plans, cfg, caller)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%d of %d trajectories, %d of %d requests\n", res.Completed, len(plans.List), res.Succeeded, res.Planned)
	// Output:
	// [DRY-RUN] agent=0 invocation=1 input_content_tokens=6 output_tokens=2 environment_tokens=4 tool_call_latency_ms=3 trajectory_id=fix-bug routing_slot=0 admitted_at_ms=0 target_prompt_tokens=6 reset_before=false
	// [DRY-RUN] agent=0 invocation=2 input_content_tokens=12 output_tokens=1 environment_tokens=0 tool_call_latency_ms=0 trajectory_id=fix-bug routing_slot=0 admitted_at_ms=0 target_prompt_tokens=12 reset_before=false
	// [DRY-RUN] agent=1 invocation=1 input_content_tokens=9 output_tokens=2 environment_tokens=0 tool_call_latency_ms=0 trajectory_id=compact routing_slot=0 admitted_at_ms=3 target_prompt_tokens=9 reset_before=false
	// [DRY-RUN] agent=1 invocation=2 input_content_tokens=5 output_tokens=2 environment_tokens=0 tool_call_latency_ms=0 trajectory_id=compact routing_slot=0 admitted_at_ms=3 target_prompt_tokens=5 reset_before=true
	// 2 of 2 trajectories, 4 of 4 requests
}
