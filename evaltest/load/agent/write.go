package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

type writtenLine struct {
	Version    int              `json:"schema_version"`
	ID         string           `json:"trajectory_id"`
	StartAfter *int64           `json:"start_after_ms,omitempty"`
	Requests   []writtenRequest `json:"requests"`
}

type writtenRequest struct {
	Prompt    int            `json:"prompt_tokens"`
	Output    int            `json:"output_tokens"`
	Delay     int64          `json:"delay_after_ms,omitempty"`
	Reset     bool           `json:"reset_before,omitempty"`
	Overhead  *int           `json:"overhead_tokens,omitempty"`
	Stream    *bool          `json:"stream,omitempty"`
	MaxTokens int            `json:"max_tokens,omitempty"`
	Blocks    []writtenBlock `json:"blocks,omitempty"`
}

type writtenBlock struct {
	Seed   string `json:"seed"`
	Tokens int    `json:"tokens"`
	Role   Role   `json:"role"`
	Live   bool   `json:"live,omitempty"`
}

// Write writes trajectories as a manifest that [Read] takes. One that Read
// would refuse is an error; so is a time that is not whole milliseconds, which
// is all that the format holds. Those before it have then been written.
func Write(w io.Writer, ts []Trajectory) error {
	out := bufio.NewWriter(w)
	ids := map[string]bool{}
	for i := range ts {
		t := &ts[i]
		err := checkTrajectory(t)
		if err == nil && ids[t.ID] {
			err = problemf(ErrDuplicate, "duplicate trajectory_id %q", t.ID)
		}
		ids[t.ID] = true
		if err != nil {
			out.Flush()
			return fmt.Errorf("trajectory %d (%q): %w", i+1, t.ID, err)
		}
		line := writtenLine{Version: t.Version, ID: t.ID}
		if t.StartAfter != 0 {
			ms := t.StartAfter.Milliseconds()
			line.StartAfter = &ms
		}
		for _, r := range t.Requests {
			q := writtenRequest{
				Prompt: r.PromptTokens, Output: r.OutputTokens, Delay: r.DelayAfter.Milliseconds(), Reset: r.ResetBefore,
				Overhead: r.Overhead, Stream: r.Stream, MaxTokens: r.MaxTokens,
			}
			for _, b := range r.Blocks {
				q.Blocks = append(q.Blocks, writtenBlock(b))
			}
			line.Requests = append(line.Requests, q)
		}
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
