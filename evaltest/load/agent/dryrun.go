package agent

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// DryRun makes every text of the plans, sends nothing, and prints one line for
// each request, in order of agents and turns, as BatchBench does. An id that
// could be taken for something else is quoted.
//
// Slots and times of admission are those of a server that answers at once: in
// a closed loop a trajectory then takes as long as its tools. A trajectory
// whose texts cannot be built has a line that says so in the place of its
// requests from there on, and is in the returned error.
func DryRun(ctx context.Context, w io.Writer, plans *Plans, cfg Config) error {
	e, err := newEngine(plans, cfg)
	if err != nil {
		return err
	}
	seats := e.rehearse()
	out := bufio.NewWriter(w)
	var bad []error
	for i, p := range plans.List {
		if err := ctx.Err(); err != nil {
			out.Flush()
			return errors.Join(append(bad, context.Cause(ctx))...)
		}
		built, err := e.tryTexts(p)
		for t := range built {
			fmt.Fprintln(out, dryLine(p, t, seats[i]))
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("trajectory %q: %w", p.ID, err))
			fmt.Fprintf(out, "[DRY-RUN] agent=%d invocation=%d trajectory_id=%s error=%q\n", p.Agent, built+1, plainID(p.ID), err)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return errors.Join(bad...)
}

// tryTexts makes the texts of a plan and returns how many of its requests
// could be built. What replies would hold is not needed for that.
func (e *engine) tryTexts(p *Plan) (built int, err error) {
	conv := newConversation(p, e.maker, e.cfg.Replies, newSent())
	for t := range p.Turns {
		if err := conv.stage(t); err != nil {
			return t, err
		}
		if err := conv.advance(t, []byte(`{}`)); err != nil {
			return t, err
		}
	}
	return len(p.Turns), nil
}

// A drySeat is where and when a trajectory would begin.
type drySeat struct {
	slot int
	at   time.Duration
}

// rehearse says where every plan, by its place in the list, would be admitted.
func (e *engine) rehearse() []drySeat {
	seats := make([]drySeat, len(e.order))
	order := make([]int, len(e.order))
	for i := range order {
		order[i] = i
	}
	if e.cfg.Admission == OpenLoop {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(e.order[a].StartAfter, e.order[b].StartAfter) })
	}
	var busy []drySeat // when each taken slot becomes free, soonest first
	var pool slotPool
	now := time.Duration(0)
	for _, i := range order {
		p := e.order[i]
		if e.cfg.Admission == OpenLoop {
			now = max(now, p.StartAfter)
		}
		for len(busy) > 0 && (busy[0].at <= now && e.cfg.Admission == OpenLoop || e.cfg.MaxActive > 0 && len(busy) >= e.cfg.MaxActive) {
			now = max(now, busy[0].at)
			pool.release(busy[0].slot)
			busy = busy[1:]
		}
		seats[i] = drySeat{pool.acquire(), now}
		end := drySeat{seats[i].slot, now}
		for _, t := range p.Turns {
			end.at += t.Delay
		}
		at, _ := slices.BinarySearchFunc(busy, end, func(a, b drySeat) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.slot, b.slot))
		})
		busy = slices.Insert(busy, at, end)
	}
	return seats
}

func dryLine(p *Plan, t int, s drySeat) string {
	turn := &p.Turns[t]
	var b strings.Builder
	fmt.Fprintf(&b, "[DRY-RUN] agent=%d invocation=%d input_content_tokens=%d output_tokens=%d environment_tokens=%d tool_call_latency_ms=%d trajectory_id=%s routing_slot=%d admitted_at_ms=%d target_prompt_tokens=%d reset_before=%t",
		p.Agent, t+1, turn.Content, turn.Output, turn.Environment, turn.Delay.Milliseconds(), plainID(p.ID), s.slot, s.at.Milliseconds(), turn.Prompt, turn.Reset)
	if len(turn.Blocks) > 0 {
		live := 0
		for _, block := range turn.Blocks {
			if block.Live {
				live++
			}
		}
		fmt.Fprintf(&b, " blocks=%d live_blocks=%d", len(turn.Blocks), live)
	}
	if turn.Stream != nil {
		fmt.Fprintf(&b, " stream=%t", *turn.Stream)
	}
	if turn.Max != turn.Output {
		fmt.Fprintf(&b, " max_tokens=%d", turn.Max)
	}
	return b.String()
}

// plainID quotes an id that holds anything but visible ASCII, or a quotation
// mark: ids come from files, and a terminal obeys escapes.
func plainID(id string) string {
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '"' {
			return fmt.Sprintf("%q", id)
		}
	}
	return id
}
