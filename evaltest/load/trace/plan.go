package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/goevals/evals/evaltest/load/agent"
)

// PlanOptions say how trajectories are made of a trace. The zero value works.
type PlanOptions struct {
	// Salt becomes a part of all seeds: another salt gives other texts of the
	// same structure, which no cache holds from an earlier run. Default: none.
	Salt string
	// EachBlock makes one block of each hash id. By default a run of hash ids
	// that no prompt of the trace has in part is one block: agent sends each
	// block as a message, and the template of a server adds tokens to each.
	// What prompts share is the same either way.
	EachBlock bool
	// MaxDelay cuts longer delays, and counts them; 0: none is cut.
	MaxDelay time.Duration
	// Stream is what all requests say of streaming; nil: nothing, agent.Body
	// decides.
	Stream *bool
}

// A PlanReport says what was changed on the way from rows to trajectories.
type PlanReport struct {
	Trajectories int `json:"trajectories"`
	Requests     int `json:"requests"`
	// Blocks counts the different blocks; 0 if the prompts have none.
	Blocks int `json:"blocks"`
	// Resets counts turns without hash ids or texts whose prompt is too short
	// to hold the prompt and the reply before it: the conversation starts over.
	Resets int `json:"resets"`
	// CappedDelays counts delays cut to PlanOptions.MaxDelay, Capped is what was
	// cut off in all.
	CappedDelays int           `json:"capped_delays"`
	Capped       time.Duration `json:"capped_ns"`
	// RoundedTimes counts times that were not whole milliseconds, which is all
	// that a manifest holds.
	RoundedTimes int `json:"rounded_times"`
}

// Plan makes trajectories, in order of their first rows: one of each session,
// and one of each row that stands alone. agent.Write writes them as a manifest.
//
// StartAfter is the first row's At, and DelayAfter the next row's Delay: the
// time scale is agent's. Rows with hash ids become blocks whose seeds stand for
// the hash ids, so that what prompts share in the trace they share in the plan,
// in one session or across. Rows with texts become a block for each message,
// whose seed stands for the text; replies are live. Other prompts are lengths
// only, and grow as agent's conversations do.
//
// A trace of texts whose tokens nobody counted is [ErrNoLengths].
func (t *Trace) Plan(o PlanOptions) ([]agent.Trajectory, *PlanReport, error) {
	if o.MaxDelay < 0 {
		return nil, nil, fmt.Errorf("%w: PlanOptions.MaxDelay is %v; it must not be negative", ErrOption, o.MaxDelay)
	}
	if !utf8.ValidString(o.Salt) {
		return nil, nil, fmt.Errorf("%w: PlanOptions.Salt is not UTF-8: %s", ErrOption, quote(o.Salt))
	}
	p := &planner{t: t, o: o, rep: &PlanReport{}, names: map[int32]string{}, seeds: map[string]bool{}}
	sessions := map[string]int{} // index in out
	var out []agent.Trajectory
	for i := range t.rows {
		r := &t.rows[i].Row
		request, err := p.request(r, i)
		if err != nil {
			return nil, nil, &LineError{t.rep.File, r.Line, err}
		}
		at, known := sessions[r.Session]
		if r.Session == "" || !known {
			id := string(t.rep.Kind) + "#" + strconv.Itoa(i+1)
			if r.Session != "" {
				id = string(t.rep.Kind) + ":" + r.Session
				sessions[r.Session] = len(out)
			}
			out = append(out, agent.Trajectory{Version: 2, ID: id, StartAfter: p.millis(r.At), Requests: []agent.Request{request}})
			continue
		}
		turns := out[at].Requests
		turns[len(turns)-1].DelayAfter = p.delay(r.Delay)
		out[at].Requests = append(turns, request)
	}
	for i := range out {
		p.even(&out[i])
	}
	p.rep.Trajectories, p.rep.Requests, p.rep.Blocks = len(out), len(t.rows), len(p.seeds)
	return out, p.rep, nil
}

type planner struct {
	t     *Trace
	o     PlanOptions
	rep   *PlanReport
	names map[int32]string // of the prefix tree's nodes
	seeds map[string]bool
}

func (p *planner) millis(d time.Duration) time.Duration {
	ms := d.Round(time.Millisecond)
	if ms != d {
		p.rep.RoundedTimes++
	}
	return ms
}

func (p *planner) delay(d time.Duration) time.Duration {
	if p.o.MaxDelay > 0 && d > p.o.MaxDelay {
		p.rep.CappedDelays++
		p.rep.Capped += d - p.o.MaxDelay
		d = p.o.MaxDelay
	}
	return p.millis(d)
}

func (p *planner) request(r *Row, i int) (agent.Request, error) {
	q := agent.Request{PromptTokens: r.Input, OutputTokens: r.Output, Stream: p.o.Stream}
	switch {
	case r.Messages != nil:
		if r.Input == 0 || r.Output == 0 {
			return q, fmt.Errorf("%w: it holds texts whose tokens nobody counted; set Options.Count", ErrNoLengths)
		}
		q.Blocks = p.messages(r)
	case r.Hashes != nil:
		q.Blocks = p.hashes(r, i)
	}
	return q, nil
}

func (p *planner) block(name string, tokens int, role agent.Role, live bool) agent.Block {
	seed := string(p.t.rep.Kind) + ":" + name
	if p.o.Salt != "" {
		seed += "@" + p.o.Salt
	}
	p.seeds[seed] = true
	return agent.Block{Seed: seed, Tokens: tokens, Role: role, Live: live}
}

// hashes makes the blocks of a row with hash ids.
func (p *planner) hashes(r *Row, i int) (blocks []agent.Block) {
	if p.o.EachBlock {
		for k, hash := range r.Hashes {
			size := int(blockSize(r, k))
			name := strconv.FormatUint(hash, 10)
			if size != r.BlockTokens { // another text: blocks share nothing but themselves
				name += "/" + strconv.Itoa(size)
			}
			blocks = append(blocks, p.block(name, size, agent.User, false))
		}
	} else {
		for _, s := range p.t.tree.segments(r) {
			name, ok := p.names[s.end]
			if !ok {
				name = p.t.tree.name(s.end)
				p.names[s.end] = name
			}
			blocks = append(blocks, p.block(name, s.tokens, agent.User, false))
		}
	}
	if rest := r.Input - len(r.Hashes)*r.BlockTokens; rest > 0 {
		blocks = append(blocks, p.own(i, rest))
	}
	return blocks
}

// own is a block that no other row has.
func (p *planner) own(i, tokens int) agent.Block {
	return p.block("row-"+strconv.Itoa(i+1), tokens, agent.User, false)
}

// messages makes a block of each message. The same text in the same role is
// the same block. A live block must not be: each takes a reply of its own, so
// that its name has all that was said before it, too.
func (p *planner) messages(r *Row) (blocks []agent.Block) {
	said := sha256.New()
	for _, m := range r.Messages {
		text := sha256.Sum256([]byte(string(m.Role) + "\x00" + m.Text))
		said.Write(text[:])
		name := string(m.Role) + "-" + hex.EncodeToString(text[:12])
		if m.Live {
			name = "reply-" + hex.EncodeToString(said.Sum(nil)[:12])
			if m.Text == "" { // it is known only that the server said something
				name += "-" + strconv.Itoa(m.Tokens) + "-" + r.Session
			}
		}
		blocks = append(blocks, p.block(name, m.Tokens, m.Role, m.Live))
	}
	return blocks
}

// even makes of a session what agent takes: all requests have blocks or none
// has, and without blocks each prompt holds what was said before.
func (p *planner) even(t *agent.Trajectory) {
	blocks := false
	for i := range t.Requests {
		blocks = blocks || len(t.Requests[i].Blocks) > 0
	}
	for i := range t.Requests {
		q := &t.Requests[i]
		switch {
		case blocks && len(q.Blocks) == 0:
			q.Blocks = []agent.Block{p.block("turn-"+strconv.Itoa(i+1)+"-"+t.ID, q.PromptTokens, agent.User, false)}
		case !blocks && i > 0 && q.PromptTokens < t.Requests[i-1].PromptTokens+t.Requests[i-1].OutputTokens:
			q.ResetBefore = true
			p.rep.Resets++
		}
	}
}
