package workload

import "fmt"

// Salt changes the first tokens of each prompt from run to run, and nothing
// else. A server's prefix cache holds the prompts of the run before; without a
// salt it would answer the same seed from there, and the second of ten repeats
// would measure something else than the first.
//
// The tokens count in the prompt's length. A prompt that is shorter than the
// salt is all salt.
type Salt struct {
	// Off leaves the salt out, to measure a warm cache, or to have the same
	// bytes in each run.
	Off bool `json:"off,omitempty"`
	// Value is the salt. Default: drawn by [NewSeed]. Repeats of a run that are
	// to be compared must differ in it.
	Value uint64 `json:"value,omitempty"`
	// Tokens is how many tokens change. Default: 4. One word of a list of
	// thousands would be the same again in one of thousands of pairs of
	// prompts; and token.Words always begins with the same word.
	Tokens int `json:"tokens,omitempty"`
}

const defaultSaltTokens = 4

// resolve returns s with its defaults filled in.
func (s Salt) resolve() (Salt, error) {
	switch {
	case s.Tokens < 0 || s.Tokens > MaxLength:
		return s, badOption("Salt.Tokens", s.Tokens, fmt.Sprintf("want from 1 to %d, or 0 for the default; Off leaves the salt out", MaxLength))
	case s.Off:
		return Salt{Off: true}, nil
	}
	if s.Value == 0 {
		s.Value = NewSeed()
	}
	if s.Tokens == 0 {
		s.Tokens = defaultSaltTokens
	}
	return s, nil
}

// left is how many salt tokens there still are to come at a position.
func (s Salt) left(pos int) int { return max(0, s.Tokens-pos) }
