package call

import (
	"errors"

	"github.com/goevals/evals/llm"
)

// What scope.go will have. Whoever declares these there deletes this file.

// Errors of a scope.
var (
	// ErrTooLong is wrapped where a provider asked for a longer wait than
	// MaxWait.
	ErrTooLong = errors.New("call: the provider asked for a longer wait than is allowed")
	// ErrStopped is wrapped by what a stopped scope returns.
	ErrStopped = errors.New("call: the scope is stopped")
)

func (s *Scope) estimate(req llm.Request) int64 { return 0 }
