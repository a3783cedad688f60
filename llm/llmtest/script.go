package llmtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A Rule says which calls meet a fault. All that is set must hold; a rule that
// sets nothing but Faults holds for every call. A call that a fault does not
// fit (keep-alives in an answer that is not streamed) is not touched.
type Rule struct {
	// Faults are what may happen; one is drawn for each call.
	Faults []Fault
	// Calls are the calls by number, from 1, in the order of their arrival.
	Calls []int
	// Tries are how many of the calls that ask the same: 1 for the first try
	// of everything. 0 for all.
	Tries int
	// Model is the model's name, Text a part of any message's text. Match
	// decides by whatever it likes.
	Model, Text string
	Match       func(Chat) bool
	// From and For are when: from so long after the server's first call, for
	// so long. A For of 0 never ends.
	From, For time.Duration
	// Probability is how likely a call meets the fault, from 0 to 1; 0 means
	// that it surely does. It is drawn from the server's Seed, what was asked
	// and which try of it this is: the same calls meet the same faults in each
	// run, in whatever order they come, and by whichever API (tools' answers
	// aside, which the APIs tell in forms of their own).
	Probability float64
	// Limit is how often the rule holds, in the order of arrival; 0 for no
	// limit.
	Limit int
}

// Storm is a rule by which every call that comes from so long after the first
// one, for so long, is told to come back when it is over.
func Storm(from, length time.Duration) Rule {
	return Rule{From: from, For: length, Faults: []Fault{{
		Name: "storm", Kind: "rate_limit", Reason: "every call is refused for a while",
		storm: from + length,
	}}}
}

// check says what of a rule cannot be meant.
func (r Rule) check() error {
	switch {
	case len(r.Faults) == 0:
		return errors.New("field Faults is empty: name at least one, as in Named(FaultHang)")
	case !(r.Probability >= 0 && r.Probability <= 1):
		return fmt.Errorf("field Probability is %v: want 0 to 1", r.Probability)
	case r.From < 0 || r.For < 0:
		return fmt.Errorf("field From is %v and For is %v: want neither below 0", r.From, r.For)
	case r.Tries < 0 || r.Limit < 0:
		return fmt.Errorf("field Tries is %d and Limit is %d: want neither below 0", r.Tries, r.Limit)
	}
	for _, n := range r.Calls {
		if n < 1 {
			return fmt.Errorf("field Calls has %d: calls are counted from 1", n)
		}
	}
	for _, f := range r.Faults {
		if f.Answer == nil && f.Edit == nil && !f.Damage.isSet() && f.storm == 0 {
			return fmt.Errorf("the fault %q does nothing: set Answer, Edit or Damage, or take one of Faults()", f.Name)
		}
	}
	return nil
}

// holds reports whether the rule is about this call, the draw left aside. age
// is the time since the server's first call.
func (r *Rule) holds(c Chat, age time.Duration) bool {
	switch {
	case r.Calls != nil && !slices.Contains(r.Calls, c.N),
		r.Tries > 0 && c.Try > r.Tries,
		r.Model != "" && r.Model != c.Model,
		r.Text != "" && !slices.ContainsFunc(c.Messages, func(m ChatMessage) bool { return strings.Contains(m.Content, r.Text) }),
		age < r.From, r.For > 0 && age >= r.From+r.For:
		return false
	}
	return r.Match == nil || r.Match(c)
}

// salts keep what is drawn for one purpose apart from what is drawn for
// another.
const (
	saltLatency = iota
	saltRule
)

// draw is where a call's luck comes from: the server's seed, what was asked
// and which try of it this is.
func (s *Server) draw(salt int, c Chat) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed^uint64(salt)*0x9e3779b97f4a7c15, c.key+uint64(c.Try)*0xbf58476d1ce4e5b9))
}

// fault is what a rule has for this call, nil for nothing.
func (s *Server) fault(c Chat, age time.Duration) *Fault {
	for i := range s.Rules {
		r := &s.Rules[i]
		if !r.holds(c, age) {
			continue
		}
		first := 0
		if r.Probability > 0 || len(r.Faults) > 1 {
			luck := s.draw(saltRule+i, c)
			if r.Probability > 0 && luck.Float64() >= r.Probability {
				continue
			}
			first = luck.IntN(len(r.Faults))
		}
		for n := range r.Faults { // from the drawn one on, so that one that does not fit moves no other
			f := &r.Faults[(first+n)%len(r.Faults)]
			if f.fits(c) && s.spend(i, r.Limit) {
				return f
			}
		}
	}
	return nil
}

// spend takes one of the times that the i-th rule may hold.
func (s *Server) spend(i, limit int) bool {
	if limit == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent == nil {
		s.spent = map[int]int{}
	}
	if s.spent[i] >= limit {
		return false
	}
	s.spent[i]++
	return true
}
