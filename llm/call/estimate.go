package call

import (
	"errors"
	"fmt"

	"github.com/goevals/evals/llm"
)

// ErrTooLarge is wrapped where a request needs more tokens than [Limits.TPM]
// allows in a minute. Waiting does not help.
var ErrTooLarge = errors.New("call: larger than the limit")

// EstimateTokens is the default of [Limits.Estimate]: a token for each 4 bytes
// of the request's texts, schema and tools, at least 1, plus MaxOutputTokens
// or, without one, expect.
func EstimateTokens(req llm.Request, expect int64) int64 {
	bytes := 0
	for _, m := range req.Messages {
		bytes += len(m.Content)
		for _, c := range m.ToolCalls {
			bytes += len(c.Name) + len(c.Arguments)
		}
	}
	if req.Schema != nil {
		bytes += len(req.Schema.Name) + len(req.Schema.JSON)
	}
	for _, t := range req.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	if req.MaxOutputTokens != nil {
		expect = *req.MaxOutputTokens
	}
	return max((int64(bytes)+3)/4, 1) + max(expect, 0)
}

// An expectation is how long answers are, learned from those that came: a
// running mean that begins at 256 tokens and in which the last hundred or so
// count.
type expectation struct {
	mean float64
	n    float64
}

const (
	expectFirst = 256
	expectMost  = 100
)

func (e *expectation) tokens() int64 {
	if e.n == 0 {
		return expectFirst
	}
	return int64(e.mean + 0.5)
}

func (e *expectation) learn(output int64) {
	if e.n == 0 {
		e.mean, e.n = expectFirst, 1
	}
	e.n = min(e.n+1, expectMost)
	e.mean += (float64(max(output, 0)) - e.mean) / e.n
}

// estimate is what a request will take; 0 where tokens are not limited. It
// panics if [Limits.Estimate] returns what cannot be meant.
func (s *Scope) estimate(req llm.Request) int64 {
	if s.limits.TPM == 0 && s.limits.Adaptive != AdaptAuto {
		return 0 // without the lock, which all calls want
	}
	s.mu.Lock()
	s.begin()
	limited, expect := s.quotas.tokens.perMin > 0, s.expect.tokens()
	s.mu.Unlock()
	switch {
	case !limited:
		return 0
	case s.limits.Estimate == nil:
		return EstimateTokens(req, expect)
	}
	n := s.limits.Estimate(req)
	if n < 0 {
		panic(fmt.Errorf("call: Limits.Estimate returned %d tokens for a request; it must not be negative", n))
	}
	return n
}
