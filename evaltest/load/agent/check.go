package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

var roles = []Role{ToolDefinition, System, User, Assistant, Tool, ToolCall}

// checkTrajectory checks what a schema cannot: ranges, and how the requests
// follow one another. Read and Compile both call it, because a Trajectory may
// come from a program as well.
func checkTrajectory(t *Trajectory) error {
	if err := checkVersion(t.Version); err != nil {
		return err
	}
	if t.Version < 2 && t.StartAfter != 0 {
		return problemf(ErrVersion, "start_after_ms requires schema_version 2")
	}
	if err := checkMillis("start_after_ms", t.StartAfter); err != nil {
		return err
	}
	if !utf8.ValidString(t.ID) {
		return problemf(ErrValue, "trajectory_id %q is not UTF-8", t.ID)
	}
	if strings.TrimSpace(t.ID) == "" {
		return problemf(ErrValue, "trajectory_id must not be empty")
	}
	if len(t.Requests) == 0 {
		return problemf(ErrValue, "requests must contain at least one request")
	}
	for i := range t.Requests {
		if err := checkRequest(t, i); err != nil {
			return err
		}
	}
	if len(t.Requests[0].Blocks) > 0 {
		return checkSeeds(t)
	}
	return checkGrowth(t)
}

func checkRequest(t *Trajectory, i int) error {
	r, n := &t.Requests[i], i+1
	if t.Version < 2 {
		for _, x := range []struct {
			name string
			on   bool
		}{{"overhead_tokens", r.Overhead != nil}, {"stream", r.Stream != nil}, {"max_tokens", r.MaxTokens != 0}, {"blocks", r.Blocks != nil}} {
			if x.on {
				return problemf(ErrVersion, "request %d field %s requires schema_version 2", n, x.name)
			}
		}
	}
	switch {
	case r.PromptTokens <= 0:
		return problemf(ErrValue, "request %d prompt_tokens must be greater than zero", n)
	case r.OutputTokens <= 0:
		return problemf(ErrValue, "request %d output_tokens must be greater than zero", n)
	case r.MaxTokens < 0:
		return problemf(ErrValue, "request %d max_tokens must be greater than zero", n)
	case r.Overhead != nil && *r.Overhead < 0:
		return problemf(ErrValue, "request %d overhead_tokens must not be negative", n)
	case i == 0 && r.ResetBefore && t.Version < 2:
		return problemf(ErrValue, "the first request cannot set reset_before")
	}
	if err := checkMillis(fmt.Sprintf("request %d delay_after_ms", n), r.DelayAfter); err != nil {
		return err
	}
	lengths := []int{r.PromptTokens, r.OutputTokens, r.MaxTokens}
	if r.Overhead != nil {
		lengths = append(lengths, *r.Overhead)
	}
	for _, v := range lengths {
		if v > maxTokens {
			return problemf(ErrValue, "request %d has a length of %d tokens; at most %d", n, v, maxTokens)
		}
	}
	first := len(t.Requests[0].Blocks) > 0
	if (len(r.Blocks) > 0) != first {
		if first {
			return problemf(ErrBlocks, "request %d must define blocks because the trajectory's first request does", n)
		}
		return problemf(ErrBlocks, "request %d must omit blocks because the trajectory's first request does not", n)
	}
	return checkBlocks(r.Blocks, n)
}

func checkMillis(name string, d time.Duration) error {
	if d < 0 || d > maxMillis*time.Millisecond || d%time.Millisecond != 0 {
		return problemf(ErrValue, "%s is %v; it must be whole milliseconds from 0 to %d", name, d, int64(maxMillis))
	}
	return nil
}

func checkBlocks(blocks []Block, n int) error {
	for i, b := range blocks {
		switch {
		case !utf8.ValidString(b.Seed):
			return problemf(ErrBlocks, "request %d blocks are invalid: block %d seed %q is not UTF-8", n, i+1, b.Seed)
		case b.Seed == "":
			return problemf(ErrBlocks, "request %d blocks are invalid: block %d seed must not be empty", n, i+1)
		case b.Tokens < 0 || b.Tokens > maxTokens:
			return problemf(ErrBlocks, "request %d blocks are invalid: block %d has %d tokens; it must be from 0 to %d", n, i+1, b.Tokens, maxTokens)
		case !slices.Contains(roles, b.Role):
			return problemf(ErrBlocks, "request %d blocks are invalid: block %d has the unknown role %q; expected one of %v", n, i+1, b.Role, roles)
		case b.Live && b.Role != Assistant:
			return problemf(ErrBlocks, "request %d blocks are invalid: block %d is live but has role %s; only assistant blocks can be live", n, i+1, b.Role)
		}
	}
	return nil
}

// checkSeeds refuses one seed with two meanings. BatchBench takes it and
// sends whichever came first.
func checkSeeds(t *Trajectory) error {
	type meaning struct {
		role    Role
		tokens  int
		request int
	}
	seen := map[string]meaning{}
	for i := range t.Requests {
		for j, b := range t.Requests[i].Blocks {
			m, ok := seen[b.Seed]
			if !ok {
				seen[b.Seed] = meaning{b.Role, b.Tokens, i + 1}
				continue
			}
			if m.role != b.Role || m.tokens != b.Tokens {
				return problemf(ErrBlocks, "request %d blocks are invalid: block %d redefines seed %q as %s of %d tokens; in request %d it is %s of %d tokens",
					i+1, j+1, b.Seed, b.Role, b.Tokens, m.request, m.role, m.tokens)
			}
		}
	}
	return nil
}

// checkGrowth checks, without anybody's overheads but the manifest's own,
// that every prompt has room for what was said before it.
func checkGrowth(t *Trajectory) error {
	over := overheads(t.Requests, Replay{})
	for i := 1; i < len(t.Requests); i++ {
		r, before := &t.Requests[i], &t.Requests[i-1]
		if r.ResetBefore {
			continue
		}
		content, context := max(0, r.PromptTokens-over[i]), max(0, before.PromptTokens-over[i-1])+before.OutputTokens
		if content < context {
			return problemf(ErrGrowth, "request %d prompt_tokens (%d) cannot follow the preceding prompt and output; set reset_before=true to model compaction or reset (its content of %d tokens is smaller than the %d before it)",
				i+1, r.PromptTokens, content, context)
		}
	}
	return nil
}
