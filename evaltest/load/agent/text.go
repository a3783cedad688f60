package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/evaltest/load/workload"
)

// A Text makes texts of an exact number of tokens. It must give the same text
// for the same numbers, and be safe for concurrent use.
type Text interface {
	// Make returns valid UTF-8 of exactly n tokens; n is at least 1.
	Make(r *rand.Rand, n int) (string, error)
}

// A Counter is a [Text] that can also count. Blocks that are tool definitions
// or tool calls need it: their size is that of their JSON.
type Counter interface {
	// Count returns how many tokens a text is, without special ones.
	Count(text string) int
}

// sizeTries is how many texts are tried for a block whose JSON must have an
// exact size. With words the second is right; with a byte-level vocabulary
// that draws quotation marks and control characters it takes more.
const sizeTries = 64

// A maker makes the texts of one run.
type maker struct {
	text Text
	root uint64
}

func (m maker) field(agent int, id workload.Stream, n int) (string, error) {
	return m.make(stream(m.root, agent, id), n)
}

func (m maker) make(r *rand.Rand, n int) (text string, err error) {
	if n == 0 {
		return "", nil
	}
	defer func() { // a Text is the user's: its panic is one trajectory's failure
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: panic: %v\n%s", ErrText, p, debug.Stack())
		}
	}()
	text, err = m.text.Make(r, n)
	if err != nil && !errors.Is(err, ErrText) {
		err = fmt.Errorf("%w: %d tokens: %w", ErrText, n, err)
	}
	return text, err
}

// block makes the text of a block: of its content, of a tool's description or
// of a call's input.
func (m maker) block(b Block) (string, error) {
	var wrap func(string) ([]byte, error)
	switch b.Role {
	case ToolDefinition:
		wrap = func(text string) ([]byte, error) { return appendDefinition(nil, b.Seed, text) }
	case ToolCall:
		wrap = appendArguments
	default:
		return m.make(blockSource(b.Seed, 0), b.Tokens)
	}
	return m.wrapped(b, wrap)
}

// wrapped makes a text whose wrapped form has exactly b.Tokens tokens.
// BatchBench takes the closest of 8 tries and says nothing.
func (m maker) wrapped(b Block, wrap func(string) ([]byte, error)) (string, error) {
	counter, ok := m.text.(Counter)
	if !ok {
		return "", &SizeError{Seed: b.Seed, Role: b.Role, Want: b.Tokens, NoCounter: true}
	}
	frame, err := wrap("")
	if err != nil {
		return "", err
	}
	least := counter.Count(string(frame))
	if least == b.Tokens {
		return "", nil
	}
	if least > b.Tokens {
		return "", &SizeError{Seed: b.Seed, Role: b.Role, Want: b.Tokens, Least: least}
	}
	n, last := b.Tokens-least, 0
	for try := range uint64(sizeTries) {
		text, err := m.make(blockSource(b.Seed, try), n)
		if err != nil {
			return "", err
		}
		whole, err := wrap(text)
		if err != nil {
			return "", err
		}
		if last = counter.Count(string(whole)); last == b.Tokens {
			return text, nil
		}
		n = max(1, n+b.Tokens-last)
	}
	return "", &SizeError{Seed: b.Seed, Role: b.Role, Want: b.Tokens, Last: last}
}

// quote appends a text as a JSON string. A Text that made bytes which are not
// UTF-8 did not make n tokens either.
func quote(dst []byte, text string) ([]byte, error) {
	dst, err := jsontext.AppendQuote(dst, text)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrText, err)
	}
	return dst, nil
}
