package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/agent"
	loadrecord "github.com/goevals/evals/evaltest/load/record"
)

// An agentSink writes what has happened, when it happens.
type agentSink struct {
	requests func(*loadrecord.Request) error // nil: nobody wants them
	events   agent.Sink                      // of trajectories; likewise
}

// Request writes a finished request.
func (s *agentSink) Request(r *loadrecord.Request) error {
	if s.requests == nil {
		return nil
	}
	return s.requests(r)
}

// Trajectory writes a trajectory that has ended.
func (s *agentSink) Trajectory(e *agent.Event) error {
	if s.events == nil {
		return nil
	}
	return s.events.Trajectory(e)
}

var _ agent.Sink = (*agentSink)(nil)

// tellAgents prints what only agents have, behind the summary.
func (f *agentFlags) tellAgents(rep *load.Report) error {
	a := rep.Agents
	var b strings.Builder
	if f.admission == "open-loop" {
		fmt.Fprintf(&b, "Open-loop admission: late=%d max lag=%.2f ms, at most %d active\n", a.Late, float64(a.MaxAdmissionLag)/1e6, a.MaxActive)
	}
	if a.Fallbacks > 0 {
		fmt.Fprintf(&b, "Live blocks without a reply to take: %d\n", a.Fallbacks)
	}
	if n := a.Failed + a.Interrupted + a.NotStarted; n > 0 {
		fmt.Fprintf(&b, "Agents not completed: %d failed, %d interrupted, %d not started\n", a.Failed, a.Interrupted, a.NotStarted)
	}
	if n := a.Canceled + a.Unbuilt + a.NotAttempted; n > 0 {
		fmt.Fprintf(&b, "Requests of the plan without an answer or a failure of the server: %d canceled in flight, %d could not be built, %d not attempted after those\n", a.Canceled, a.Unbuilt, a.NotAttempted)
	}
	if a.PreparationWait > 0 {
		fmt.Fprintf(&b, "Requests later than due because their texts were being made: %.2f ms in all, %.2f ms at most\n", float64(a.PreparationWait)/1e6, float64(a.MaxPreparationWait)/1e6)
	}
	_, err := io.WriteString(f.p.stdout, b.String())
	return err
}

// An agentTalk prints requests and answers. Safe for concurrent use.
type agentTalk struct {
	mu sync.Mutex
	w  io.Writer
}

func newAgentTalk(w io.Writer) *agentTalk { return &agentTalk{w: w} }

// tell prints one line for a request that has ended.
func (t *agentTalk) tell(c *agent.Call, r *loadrecord.Request, message []byte) {
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	last := ""
	if err := json.Unmarshal(c.Body, &body); err == nil && len(body.Messages) > 0 {
		last = contentOf(body.Messages[len(body.Messages)-1])
	}
	line := fmt.Sprintf("agent=%d invocation=%d messages=%d request=%s", c.Agent, c.Turn+1, len(body.Messages), shorten(last))
	if r.Failure != nil {
		line += " failure=" + shorten(r.Failure.Error())
	} else {
		line += " reply=" + shorten(contentOf(message))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.w, line) //nolint:errcheck // nowhere to tell it
}

// contentOf is a message's text, or the message itself if it has none.
func contentOf(message []byte) string {
	var m struct {
		Content *string `json:"content"`
	}
	if err := json.Unmarshal(message, &m); err != nil || m.Content == nil {
		return string(message)
	}
	return *m.Content
}
