package agent

import (
	"fmt"
	"math"
	"time"
)

// Plans are the trajectories of a run, in order of their agent ids.
type Plans struct {
	List []*Plan
	// File, SHA256 and SchemaVersion say which manifest they came from; ""
	// and 0 for synthetic ones.
	File          string
	SHA256        string
	SchemaVersion int
	// Warnings are what is odd and was taken as it is: at most one of each
	// trajectory.
	Warnings []error
}

// Turns returns how many requests all plans have together.
func (p *Plans) Turns() int {
	n := 0
	for _, plan := range p.List {
		n += len(plan.Turns)
	}
	return n
}

// A Plan is one trajectory in numbers.
type Plan struct {
	// Agent is its number, from 0, in manifest order.
	Agent int
	// ID is the trajectory's id.
	ID string
	// StartAfter is when an open loop admits it, from the run's start, with
	// the time scale applied.
	StartAfter time.Duration
	Turns      []Turn
}

// Blocks reports whether the plan's prompts are made of blocks.
func (p *Plan) Blocks() bool { return len(p.Turns) > 0 && len(p.Turns[0].Blocks) > 0 }

// A Turn is one request of a plan. All lengths are in tokens.
type Turn struct {
	// Prompt is what the server is to report as the prompt's length.
	Prompt int
	// Overhead is the part of Prompt that the server's template adds.
	Overhead int
	// Content is the length of the texts in the prompt.
	Content int
	// Output is the length of the reply; Max caps it and Min is its floor, as
	// they are sent.
	Output, Min, Max int
	// Reset says that the conversation starts over with this turn. It is
	// false in the first.
	Reset bool
	// Environment is the length of the tool's answer after this turn. With
	// blocks it is 0.
	Environment int
	// Delay is how long the tool takes after this turn.
	Delay time.Duration
	// Stream overrides [Body.Stream], unless it is nil.
	Stream *bool
	// Blocks are the prompt, if the plan has blocks.
	Blocks []Block
	// Cacheable is how much of the prompt a perfect prefix cache holds from
	// the turn before: its prompt and its reply. With blocks, see
	// [record.Request.PossibleCached], which also counts what other sessions
	// sent.
	Cacheable int
}

// Replay says how a manifest is read. The zero value takes it as it is.
type Replay struct {
	// InitialOverhead is how many tokens the server's template adds to the
	// prompt of a first or reset request, TurnOverhead how many more each
	// appended turn adds; at least 0. A request's own overhead_tokens win.
	InitialOverhead int
	TurnOverhead    int
	// TimeScale divides all offsets and delays: 2 is twice as fast. 0 is 1;
	// else it must be finite and positive.
	TimeScale float64
}

// Compile makes plans of a manifest. Its errors are *[PlanError] with
// [ErrOverhead], or [ErrConfig] for a bad Replay; a Manifest that was not read
// by [Read] is checked as Read would.
//
// A request whose blocks and overhead do not add up to its prompt_tokens is
// replayed as written, with a warning.
func Compile(m *Manifest, r Replay) (*Plans, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	p := &Plans{File: m.File, SHA256: m.SHA256, SchemaVersion: m.SchemaVersion}
	ids := map[string]bool{}
	for i := range m.Trajectories {
		t := &m.Trajectories[i]
		err := checkTrajectory(t)
		if err == nil && ids[t.ID] {
			err = problemf(ErrDuplicate, "duplicate trajectory_id %q", t.ID)
		}
		if err != nil {
			return nil, &LineError{m.File, t.Line, err}
		}
		ids[t.ID] = true
		plan, warning, err := compile(i, t, r)
		if err != nil {
			return nil, err
		}
		p.List = append(p.List, plan)
		if warning != nil {
			p.Warnings = append(p.Warnings, warning)
		}
	}
	if len(p.List) == 0 {
		return nil, problemf(ErrEmpty, "trajectory plan file %s contains no trajectory plans", m.File)
	}
	return p, nil
}

func (r Replay) check() error {
	switch {
	case r.InitialOverhead < 0:
		return problemf(ErrConfig, "the initial overhead is %d tokens; it must not be negative", r.InitialOverhead)
	case r.TurnOverhead < 0:
		return problemf(ErrConfig, "the turn overhead is %d tokens; it must not be negative", r.TurnOverhead)
	case r.InitialOverhead > maxTokens || r.TurnOverhead > maxTokens:
		return problemf(ErrConfig, "an overhead is more than %d tokens", maxTokens)
	case math.IsNaN(r.TimeScale) || math.IsInf(r.TimeScale, 0) || r.TimeScale < 0:
		return problemf(ErrConfig, "the time scale is %v; it must be finite and positive", r.TimeScale)
	}
	return nil
}

// scale divides d by the time scale. A scale of 1 is exact, and a result too
// long for a clock is refused, not wrapped.
func (r Replay) scale(d time.Duration) (time.Duration, error) {
	if r.TimeScale == 0 || r.TimeScale == 1 {
		return d, nil
	}
	x := math.Round(float64(d) / r.TimeScale)
	if x >= math.MaxInt64/2 {
		return 0, problemf(ErrConfig, "waits longer than a century: %v at a time scale of %v", d, r.TimeScale)
	}
	return time.Duration(x), nil
}

// overheads returns how many tokens the server's template adds to each
// request. It starts anew with a reset, and goes on from a request that
// states its own.
func overheads(requests []Request, r Replay) []int {
	over := make([]int, len(requests))
	for i, q := range requests {
		switch {
		case q.Overhead != nil:
			over[i] = *q.Overhead
		case i == 0 || q.ResetBefore:
			over[i] = r.InitialOverhead
		default:
			over[i] = over[i-1] + r.TurnOverhead
		}
	}
	return over
}

func compile(agent int, t *Trajectory, r Replay) (plan *Plan, warning, err error) {
	over := overheads(t.Requests, r)
	plan = &Plan{Agent: agent, ID: t.ID, Turns: make([]Turn, len(t.Requests))}
	if plan.StartAfter, err = r.scale(t.StartAfter); err != nil {
		return nil, nil, &PlanError{t.ID, 1, err}
	}
	for i, q := range t.Requests {
		turn := &plan.Turns[i]
		*turn = Turn{
			Prompt: q.PromptTokens, Overhead: over[i], Output: q.OutputTokens, Max: q.OutputTokens,
			Reset: q.ResetBefore && i > 0, Stream: q.Stream, Blocks: q.Blocks,
		}
		if q.MaxTokens > 0 {
			turn.Max = q.MaxTokens
		}
		turn.Min = min(turn.Output, turn.Max)
		if turn.Delay, err = r.scale(q.DelayAfter); err != nil {
			return nil, nil, &PlanError{t.ID, i + 1, err}
		}
	}
	if plan.Blocks() {
		warning = sizeBlocks(plan)
	} else if err := sizeGrowth(plan); err != nil {
		return nil, nil, err
	}
	cacheable(plan)
	return plan, warning, nil
}

// sizeGrowth infers each tool's answer from the prompts before and after it.
func sizeGrowth(p *Plan) error {
	for i := range p.Turns {
		t := &p.Turns[i]
		t.Content = t.Prompt - t.Overhead
		if t.Content <= 0 {
			return &PlanError{p.ID, i + 1, problemf(ErrOverhead, "prompt (%d) must exceed its replay overhead (%d)", t.Prompt, t.Overhead)}
		}
		if i == 0 || t.Reset {
			continue
		}
		before := &p.Turns[i-1]
		before.Environment = t.Content - before.Content - before.Output
		if before.Environment < 0 {
			return &PlanError{p.ID, i + 1, problemf(ErrOverhead,
				"cannot satisfy its replay overhead (%d tokens); lower the overhead or set reset_before=true (its content of %d is smaller than the %d before it)",
				t.Overhead, t.Content, before.Content+before.Output)}
		}
	}
	return nil
}

func sizeBlocks(p *Plan) (warning error) {
	for i := range p.Turns {
		t := &p.Turns[i]
		for _, b := range t.Blocks {
			t.Content += b.Tokens
		}
		if t.Content+t.Overhead != t.Prompt && warning == nil {
			warning = fmt.Errorf("trajectory %q request %d: prompt_tokens (%d) is not the sum of its blocks (%d) and its overhead (%d); the blocks are replayed as written",
				p.ID, i+1, t.Prompt, t.Content, t.Overhead)
		}
	}
	return warning
}
