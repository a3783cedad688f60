package cassette

import (
	"fmt"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// A MissError says which request was not recorded and what comes nearest. It
// is in the tree of an [llm.Error] of [llm.KindMiss].
type MissError struct {
	File         string
	Method, Path string
	Item         string
	Sample       int
	// N is which of the item's equal requests this was, from 0.
	N int
	// Nearest is the recording that differs least, nil if there is none; and
	// Differences is how the request differs from it.
	Nearest     *Unused
	Differences []string
	// Rerecord says how to record again.
	Rerecord string
}

// Is reports whether target is [ErrMiss].
func (e *MissError) Is(target error) bool { return target == ErrMiss }

// Error names the request, the nearest recording and what to do.
func (e *MissError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cassette: %s holds no answer to %s %q (", e.File, e.Method, e.Path)
	if e.Item != "" {
		fmt.Fprintf(&b, "item %q, ", e.Item)
	}
	fmt.Fprintf(&b, "sample %d", e.Sample)
	if e.N > 0 {
		fmt.Fprintf(&b, ", time %d that the item asks it", e.N+1)
	}
	b.WriteString(")")
	if e.Nearest == nil {
		b.WriteString("; it holds no recording at all")
	} else {
		b.WriteString("; the nearest recording")
		if e.Nearest.Line > 0 {
			fmt.Fprintf(&b, " is line %d", e.Nearest.Line)
		}
		if e.Nearest.Item != "" {
			fmt.Fprintf(&b, " (item %q)", e.Nearest.Item)
		}
		fmt.Fprintf(&b, ": %s", strings.Join(e.Differences, "; "))
	}
	fmt.Fprintf(&b, ". To record it, %s", e.Rerecord)
	return b.String()
}

// miss is the error for a request without a recording. c.mu is held.
func (c *Cassette) miss(a *asked) error {
	// The request may hold a key: it was refused when it was to be recorded.
	secrets := c.secrets(a.req)
	shown := *a.entry
	shown.Path = wire.Mask(shown.Path, secrets...)
	m := &MissError{
		File: c.path, Method: shown.Method, Path: shown.Path, Item: shown.Item,
		Sample: a.sample, N: a.n, Rerecord: c.opts.Rerecord,
	}
	if near := c.nearest(a.entry); near != nil {
		recorded := *near
		shown.canon = []byte(wire.Mask(string(shown.canon), secrets...))
		// Both alike, or what looks like a key would look like a difference.
		recorded.canon = []byte(wire.Mask(string(near.canon), secrets...))
		recorded.Path = wire.Mask(near.Path, secrets...)
		u := recorded.describe()
		m.Nearest, m.Differences = &u, c.differences(&recorded, &shown)
	}
	return &llm.Error{Kind: llm.KindMiss, Err: m}
}

// nearest is the entry that shares most with e: where it goes to, then the
// longest common beginning and end of the bodies. The fields are sorted, so
// that a changed setting leaves most of both alike.
func (c *Cassette) nearest(e *entry) *entry {
	var best *entry
	bestScore := -1
	for _, o := range c.index {
		score := common(o.canon, e.canon)
		if len(o.canon) == len(e.canon) && score == 2*len(e.canon) {
			score += 1 << 20
		}
		if o.Path == e.Path && o.Method == e.Method {
			score += 1 << 24
		}
		if o.Sample == e.Sample {
			score += 2
		}
		if o.Item == e.Item && e.Item != "" {
			score++
		}
		// The smaller line wins, so that the message does not depend on the
		// order of a map.
		if score > bestScore || score == bestScore && o.line < best.line {
			best, bestScore = o, score
		}
	}
	return best
}

// common is the length of the common beginning plus that of the common end.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	j := 0
	for j < n && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	return i + j
}

// maxDifferences is how many differences a miss names.
const maxDifferences = 3

func (c *Cassette) differences(recorded, asked *entry) []string {
	var out []string
	if recorded.Method != asked.Method {
		out = append(out, fmt.Sprintf("the method is %s there", recorded.Method))
	}
	if recorded.Path != asked.Path {
		out = append(out, fmt.Sprintf("the path is %q there", recorded.Path))
	}
	if recorded.Host != asked.Host {
		out = append(out, fmt.Sprintf("the host is %q there", recorded.Host))
	}
	a, okA := decode(recorded.canon)
	b, okB := decode(asked.canon)
	if okA && okB {
		for _, path := range c.ignore {
			drop(a, path)
			drop(b, path)
		}
		diffValues("", a, b, &out)
	} else if string(recorded.canon) != string(asked.canon) {
		out = append(out, diffText("the body", string(recorded.canon), string(asked.canon)))
	}
	if len(out) == 0 && recorded.key != asked.key {
		return []string{"it differs only in what is hidden here because it looks like a key"}
	}
	if len(out) == 0 {
		if times := c.times[request{recorded.key, asked.Sample}]; times > 0 {
			return []string{fmt.Sprintf("it is the same request, recorded %s for sample %d; the item asked it once more", timesText(times), asked.Sample)}
		}
		return []string{fmt.Sprintf("it is the same request, but recorded for sample %d", recorded.Sample)}
	}
	if more := len(out) - maxDifferences; more > 0 {
		out = append(out[:maxDifferences], fmt.Sprintf("and %d more", more))
	}
	return out
}

func timesText(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
