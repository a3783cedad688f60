package run

import (
	"sync"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A State is what a strategy keeps of one item from one attempt to the next: a
// conversation so far, a draft to be improved. Every sample of every item has
// one of its own, so that nothing of one item comes into another, as it would
// in a field of the strategy, which all items share. The zero value works. Safe
// for concurrent use; what is put into it may not be.
type State struct {
	mu     sync.Mutex
	values map[any]any
}

// Get returns the value of key; nil if there is none.
func (s *State) Get(key any) any {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key]
}

// Set sets the value of key, which should be of a type of the strategy's own,
// as a key of a context is.
func (s *State) Set(key, value any) {
	if s == nil {
		panic("evaltest/run: State.Set on a nil State: an Attempt made by hand needs State: new(run.State)")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[any]any{}
	}
	s.values[key] = value
}

// A Last is what the attempt before this one came to.
type Last struct {
	// Response is the answer, or what had arrived of it.
	Response llm.Response
	// Verdict is the grader's; nil if there was nothing to grade.
	Verdict *grade.Verdict
	// Err is why the call failed; nil if it did not.
	Err error
}
