package agent

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

// words counts letters in a row, and every other visible character, as one
// token each. Its texts are words only.
type words struct{}

var list = strings.Fields("ant bee cat dog elk fox gnu hen ibis jay kite lark mole newt owl pig quail ram seal toad")

func (words) Make(r *rand.Rand, n int) (string, error) {
	out := make([]string, n)
	for i := range out {
		out[i] = list[r.IntN(len(list))]
	}
	return strings.Join(out, " "), nil
}

func (words) Count(text string) (n int) {
	in := false
	for _, c := range text {
		letter := unicode.IsLetter(c) || unicode.IsDigit(c)
		if letter && !in || !letter && !unicode.IsSpace(c) {
			n++
		}
		in = letter
	}
	return n
}

// makeFunc is a Text that cannot count.
type makeFunc func(r *rand.Rand, n int) (string, error)

func (f makeFunc) Make(r *rand.Rand, n int) (string, error) { return f(r, n) }

// asked is what a server saw of a request.
type asked struct {
	call *Call
	body struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Max      int               `json:"max_tokens"`
		Min      int               `json:"min_tokens"`
		User     string            `json:"user"`
	}
	at time.Duration
}

func (a *asked) content(t *testing.T) (n int) {
	for _, m := range a.body.Messages {
		var msg struct {
			Content string `json:"content"`
		}
		require.NoError(t, json.Unmarshal(m, &msg))
		n += words{}.Count(msg.Content)
	}
	return n
}

// server is a Caller that takes latency for each request, answers with as
// many words as it is told to, and remembers all.
type server struct {
	latency func(c *Call) time.Duration
	fault   func(c *Call) *record.Failure

	mu     sync.Mutex
	asked  []*asked
	active int
	peak   int
}

func (s *server) Call(ctx context.Context, c *Call, rec *record.Request) []byte {
	a := &asked{call: c, at: time.Since(c.Start)}
	if err := json.Unmarshal(c.Body, &a.body); err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.asked = append(s.asked, a)
	s.active++
	s.peak = max(s.peak, s.active)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.active--
		s.mu.Unlock()
	}()
	rec.FirstSent, rec.Sent = a.at, a.at
	err := arrival.Sleep{}.Wait(ctx, c.Start.Add(a.at+s.latency(c)))
	rec.Done = time.Since(c.Start)
	if err != nil {
		rec.Failure = &record.Failure{Class: record.Canceled, Message: err.Error()}
		return nil
	}
	if s.fault != nil {
		if rec.Failure = s.fault(c); rec.Failure != nil {
			return nil
		}
	}
	text, _ := words{}.Make(rand.New(rand.NewPCG(uint64(c.Agent), uint64(c.Turn))), c.Max)
	rec.Usage = llm.Usage{Input: int64(rec.AskedInput), Output: int64(c.Max), Known: true}
	return fmt.Appendf(nil, `{"role":"assistant","content":%q}`, text)
}

// of returns what the server saw of each agent, in order.
func (s *server) of() map[int][]*asked {
	by := map[int][]*asked{}
	for _, a := range s.asked {
		by[a.call.Agent] = append(by[a.call.Agent], a)
	}
	return by
}

// memory is a Sink that keeps everything.
type memory struct {
	requests     []*record.Request
	trajectories []*Event
}

func (m *memory) Request(r *record.Request) error {
	m.requests = append(m.requests, r)
	return nil
}

func (m *memory) Trajectory(e *Event) error {
	m.trajectories = append(m.trajectories, e)
	return nil
}

func config() Config { return Config{Text: words{}, Seed: 42, Body: Body{Model: "m"}} }

func read(t *testing.T, lines ...string) *Manifest {
	t.Helper()
	m, err := Read(strings.NewReader(strings.Join(lines, "\n")), "plans.jsonl")
	require.NoError(t, err)
	return m
}

func plans(t *testing.T, r Replay, lines ...string) *Plans {
	t.Helper()
	p, err := Compile(read(t, lines...), r)
	require.NoError(t, err)
	return p
}

// balanced checks that every planned request is counted once.
func balanced(t *testing.T, r *Result) {
	t.Helper()
	assert.Equal(t, r.Planned, r.Succeeded+r.FailedRequests+r.Canceled+r.Unbuilt+r.NotAttempted, "each planned request has one end")
	for _, e := range r.Trajectories {
		assert.Equal(t, e.Planned, e.Succeeded+e.Failed+e.Canceled+e.Unbuilt+e.NotAttempted, e.Trajectory)
		assert.GreaterOrEqual(t, e.NotAttempted, 0)
	}
}
