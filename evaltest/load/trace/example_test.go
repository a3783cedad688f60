package trace_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/trace"
)

const recorded = `
{"timestamp": 1000, "input_length": 1100, "output_length": 50, "hash_ids": [0, 1, 2]}
{"timestamp": 1500, "input_length": 1124, "output_length": 20, "hash_ids": [0, 1, 3]}
{"timestamp": 3000, "input_length": 300, "output_length": 0, "hash_ids": [4]}
`

func Example() {
	tr, err := trace.Read(strings.NewReader(recorded), "recorded.jsonl", trace.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(tr.Report())

	// An open loop at twice the speed.
	offsets, err := tr.Offsets(2)
	fmt.Println(offsets, err)

	// A manifest for agents; what the prompts share is one block.
	plan, _, err := tr.Plan(trace.PlanOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := agent.Write(os.Stdout, plan); err != nil {
		fmt.Println(err)
	}
	// Output:
	// trace: "recorded.jsonl" (mooncake, timestamps: milliseconds)
	// rows: 2 of 3, 0 sessions and 2 alone, longest session 1
	// dropped: 1 no output
	// span: 500ms
	// tokens: 2224 input, 70 output
	// cacheable at best: 1024 input tokens (46.0%)
	// [0s 250ms] <nil>
	// {"schema_version":2,"trajectory_id":"mooncake#1","requests":[{"prompt_tokens":1100,"output_tokens":50,"blocks":[{"seed":"mooncake:1e2cefb73d2500f8a7a35ff7","tokens":1024,"role":"user"},{"seed":"mooncake:88d48d3ff6d850db5eaed249","tokens":76,"role":"user"}]}]}
	// {"schema_version":2,"trajectory_id":"mooncake#2","start_after_ms":500,"requests":[{"prompt_tokens":1124,"output_tokens":20,"blocks":[{"seed":"mooncake:1e2cefb73d2500f8a7a35ff7","tokens":1024,"role":"user"},{"seed":"mooncake:43f0bff0f953a03c961f9aee","tokens":100,"role":"user"}]}]}
}
