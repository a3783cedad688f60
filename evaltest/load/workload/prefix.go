package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
)

// Overlap makes all prompts begin with the same text.
type Overlap struct {
	// Share is how much of a prompt is common text, from 0 to 1.
	Share float64 `json:"share"`
	// Of says of what: of each prompt by default.
	Of Rule `json:"of,omitempty"`
	// Step makes common text in steps of so many tokens, so that the common
	// part of a prompt is rounded down to a multiple of it. Default: 1, which
	// suits token.Words. A Text that counts anew all that comes before, as
	// token.Random does, takes time that grows with the square of the length,
	// divided by Step: give it 64 or more. Only for OfEach: otherwise there is
	// but one length.
	Step int `json:"step,omitempty"`
}

// Rule says what an overlap is a share of.
type Rule string

// Rules.
const (
	// OfEach: of the prompt itself, rounded down. A prompt of 1,000 tokens with
	// a share of 0.5 has 500 common ones, whatever the others are.
	OfEach Rule = ""
	// OfShortest: of the shortest prompt of the run, rounded down but at least
	// 1, as BatchBench has it. With lengths that differ much it is a small part
	// of most prompts. The number of requests must be known.
	OfShortest Rule = "shortest"
)

// Groups are prompts that begin with one of several texts, such as the system
// prompts of several applications. The length of the beginning is added to the
// length that is drawn: what is drawn is the part that each prompt has for
// itself.
type Groups struct {
	// Count is how many texts there are, at least 1 and at most 1,048,576; 0
	// for no groups. Each is made when it is first needed, and kept.
	Count int `json:"count"`
	// Tokens is the length of each, at least 1.
	Tokens int `json:"tokens"`
	// Weights say how often each is drawn, relative to the others: one finite
	// number above 0 for each. Default: all are equally likely.
	Weights []float64 `json:"weights,omitempty"`
	// System sends the text as a system message, and the rest as the user's.
	// Each is of its exact length then; a template may add tokens to both.
	System bool `json:"system,omitempty"`
}

const maxGroups = 1 << 20

func (g Groups) check() error {
	switch {
	case g.Count < 0 || g.Count > maxGroups:
		return badOption("Groups.Count", g.Count, fmt.Sprintf("want from 1 to %d, or 0 for no groups", maxGroups))
	case g.Count == 0 && (g.Tokens != 0 || g.Weights != nil || g.System):
		return &OptionError{Option: "Groups.Count", Reason: "is missing: the other options of Groups need it"}
	case g.Count > 0 && (g.Tokens < 1 || g.Tokens > MaxLength):
		return badOption("Groups.Tokens", g.Tokens, fmt.Sprintf("want from 1 to %d", MaxLength))
	case g.Weights != nil && len(g.Weights) != g.Count:
		return badOption("Groups.Weights", fmt.Sprintf("a list of %d", len(g.Weights)), fmt.Sprintf("want one for each of the %d groups", g.Count))
	}
	sum := 0.0
	for i, w := range g.Weights {
		if sum += w; !(w > 0) || math.IsInf(sum, 0) {
			return badOption(fmt.Sprintf("Groups.Weights[%d]", i), w, "want finite numbers above 0 with a finite sum")
		}
	}
	return nil
}

// cumulate returns the sums of the first weights; nil if there are none.
func cumulate(weights []float64) []float64 {
	sums, sum := make([]float64, len(weights)), 0.0
	for i, w := range weights {
		sum += w
		sums[i] = sum
	}
	return sums
}

// pick draws a group.
func pick(r *rand.Rand, count int, sums []float64) int {
	if len(sums) == 0 {
		return r.IntN(count)
	}
	x := r.Float64() * sums[count-1]
	// The least i with x < sums[i]; rounding may make x the sum itself.
	return min(count-1, sort.Search(count, func(i int) bool { return x < sums[i] }))
}

// A beginning is a text that prompts share the first tokens of. It is made in
// steps, as far as it is needed, always in the same order.
type beginning struct {
	text Text
	step int
	salt Salt

	mu           sync.Mutex
	own, salting *rand.Rand // made with the first step
	seeds        [2]uint64  // of own and salting
	key          uint64     // which beginning it is
	done         strings.Builder
	ends         []int // of the steps in done, in bytes
	err          error // of the step after the last one
}

// head returns the first n tokens; n is a multiple of b.step. What it returns
// for one n is the beginning of what it returns for a larger one.
func (b *beginning) head(n int) (string, error) {
	if n == 0 {
		return "", nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.ends) < n/b.step && b.err == nil {
		b.err = b.grow()
	}
	if len(b.ends) < n/b.step {
		return "", fmt.Errorf("the shared beginning, after %d tokens of it: %w", len(b.ends)*b.step, b.err)
	}
	return b.done.String()[:b.ends[n/b.step-1]], nil
}

// grow makes one step; with b.mu held. After an error it is not called again:
// the random numbers are at another place then.
func (b *beginning) grow() error {
	if b.own == nil {
		b.own, b.salting = Rand(b.seeds[0], b.key, SharedText), Rand(b.seeds[1], b.key, SharedSalt)
	}
	pos := len(b.ends) * b.step
	salt := min(b.step, b.salt.left(pos))
	// Continue gets all text so far without a copy, and only what is new is
	// written: a long text in small steps takes linear time by that.
	for _, part := range []struct {
		r *rand.Rand
		n int
	}{{b.salting, salt}, {b.own, b.step - salt}} {
		if part.n == 0 {
			continue
		}
		make := b.text.Make
		if b.done.Len() > 0 {
			make = func(r *rand.Rand, n int) (string, error) { return b.text.Continue(r, b.done.String(), n) }
		}
		more, err := make(part.r, part.n)
		if err != nil {
			return err
		}
		b.done.WriteString(more)
	}
	b.ends = append(b.ends, b.done.Len())
	return nil
}
