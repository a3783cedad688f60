package llmtest

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/goevals/evals/llm"
)

// Counts is what a server saw. Calls are calls of a model: what other paths were
// asked is not in them. A caller may be done with a stream before the server
// is: call [Server.Quiet] first where that matters.
type Counts struct {
	Calls    int         // received
	ByAPI    map[API]int // the same by API
	Streamed int         // of them asked for a stream
	// Answered were answered to the end, odd answers included.
	Answered int
	// Faults were answered by a fault, or by Reply.Raw or Reply.Damage; ByFault
	// has those with a name.
	Faults  int
	ByFault map[string]int
	// Limited were refused by Limits, Rejected for their key, path or body: the
	// latter are not in Calls.
	Limited, Rejected int
	// Canceled were given up by the caller before the server had said all that
	// it had to say, or before Reply.Raw had returned.
	Canceled int
	// InFlight are being answered now; Peak is the most there were at once.
	InFlight, Peak int
	// MinuteCalls and MinuteTokens are the most calls received, and tokens
	// taken by those that were admitted, in any rolling minute.
	MinuteCalls, MinuteTokens int
	// Billed is the usage of all answers that were answered to the end, and of
	// what went out of the others if their Damage bills or their caller was
	// told: Gemini's streams tell it as they go. Unreported is the part of it
	// that callers were not told. Told is what went out; over a socket a caller
	// that gives up may not have read it.
	Billed, Unreported llm.Usage
	// Dialed are the connections made to Start's listeners, Connections those
	// that are still open. OpenBodies are the answers of the Memory front whose
	// bodies have not been closed.
	Dialed, Connections, OpenBodies int
}

// Counts returns the counts so far.
func (s *Server) Counts() Counts {
	open := s.memory.OpenBodies()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.ByAPI, c.ByFault, c.OpenBodies = maps.Clone(c.ByAPI), maps.Clone(c.ByFault), open
	return c
}

// Quiet waits until no call is in flight and no body of the Memory front is
// open. If ctx ends first its error says what is left: a call that nobody
// cancelled, or a body that nobody closed.
func (s *Server) Quiet(ctx context.Context) error {
	for {
		changed := s.watch()
		c := s.Counts()
		if c.InFlight == 0 && c.OpenBodies == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("llmtest: %d calls are still in flight and %d bodies are open: %w", c.InFlight, c.OpenBodies, ctx.Err())
		}
	}
}

// watch returns a channel that is closed when a call has ended or a body was
// closed.
func (s *Server) watch() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

func (s *Server) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changeLocked()
}

func (s *Server) changeLocked() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// begin counts a call and says which one it is. It returns the call's ticket
// and the time since the first call.
func (s *Server) begin(c *Chat) (k *ticket, age time.Duration) {
	c.identify()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now() // here, so that calls are in the order of their times
	if s.tries == nil {
		s.epoch, s.tries = now, map[uint64]int{}
		s.counts.ByAPI = map[API]int{}
	}
	s.tries[c.key]++
	n := &s.counts
	n.Calls++
	n.ByAPI[c.API]++
	if c.Stream {
		n.Streamed++
	}
	n.InFlight++
	n.Peak = max(n.Peak, n.InFlight)
	s.received.roll(now)
	k = &ticket{received: s.received.add(now, 0)}
	n.MinuteCalls = max(n.MinuteCalls, s.received.count())
	c.N, c.Try = n.Calls, s.tries[c.key]
	return k, now.Sub(s.epoch)
}

// charge counts the tokens of a call against the minute in which it came.
func (s *Server) charge(k *ticket, u llm.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tokens := int(u.Input + u.Output)
	s.received.charge(k.received, tokens)
	s.counts.MinuteTokens = max(s.counts.MinuteTokens, s.received.sum)
	if k.held {
		s.admitted.charge(k.admitted, tokens-k.input)
	}
}

// end counts a call that has ended; gone says that its caller had given it up.
func (s *Server) end(k *ticket, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.InFlight--
	if k.held {
		s.running--
	}
	if gone {
		s.counts.Canceled++
	}
	s.changeLocked()
}

func (s *Server) countFault(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Faults++
	if name == "" {
		return
	}
	if s.counts.ByFault == nil {
		s.counts.ByFault = map[string]int{}
	}
	s.counts.ByFault[name]++
}

// settle counts an answer that has ended, whole or not.
func (s *Server) settle(a *scripted) {
	bill, told := a.usage, a.tells()
	if !a.whole {
		// What is cut is billed if the damage says so, or the caller was told.
		bill = a.partial(a.sent)
		if told = told && a.toldSoFar(); !told && !a.reply.Damage.Bills {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.whole {
		s.counts.Answered++
	}
	s.counts.Billed = s.counts.Billed.Add(bill)
	if !told {
		s.counts.Unreported = s.counts.Unreported.Add(bill)
	}
}
