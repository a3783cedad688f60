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
	// Nearest is the recording that differs least, nil if there is none.
	Nearest *Unused
	// Differences are the first few ways in which the request differs from
	// Nearest; More counts the others.
	Differences []string
	More        int
	// Rerecord says how to record again.
	Rerecord string
}

// Is reports whether target is [ErrMiss].
func (e *MissError) Is(target error) bool { return target == ErrMiss }

// How much of a miss is told, in bytes: of the differences, and of an item's
// id. Summaries show the beginning and the end of a text.
const (
	shownDifferences = 140
	shownItem        = 60
)

// Error names the nearest recording, how the request differs from it and what
// to do. The request itself is in the fields.
func (e *MissError) Error() string {
	var b strings.Builder
	b.WriteString("no recording of this request: ")
	if n := e.Nearest; n == nil {
		b.WriteString("the cassette is empty")
	} else {
		fmt.Fprintf(&b, "nearest is line %d", n.Line)
		if n.Item != "" {
			fmt.Fprintf(&b, " (item %q)", start(n.Item, shownItem))
		}
		b.WriteString(": " + e.difference())
	}
	fmt.Fprintf(&b, "; to add it to %s, %s", e.File, e.Rerecord)
	return b.String()
}

// difference is as many of the differences as make a short text, at least one.
func (e *MissError) difference() string {
	text, more := "", e.More
	for _, d := range e.Differences {
		switch {
		case text == "":
			text = d
		case len(text)+len(d) <= shownDifferences:
			text += "; " + d
		default:
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// start is the beginning of a text.
func start(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
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
		if more := len(m.Differences) - maxDifferences; more > 0 {
			m.Differences, m.More = m.Differences[:maxDifferences], more
		}
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
		score := common(o.plain, e.plain)
		if len(o.plain) == len(e.plain) && score == 2*len(e.plain) {
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
		out = append(out, fmt.Sprintf("the method is %s there and %s here", recorded.Method, asked.Method))
	}
	if recorded.Path != asked.Path {
		out = append(out, diffText("the path", recorded.Path, asked.Path))
	}
	if recorded.Host != asked.Host {
		out = append(out, fmt.Sprintf("the host is %q there and %q here", recorded.Host, asked.Host))
	}
	a, okA := decode(usual(recorded.canon))
	b, okB := decode(usual(asked.canon))
	if okA && okB {
		for _, path := range c.ignore {
			drop(a, path)
			drop(b, path)
		}
		diffValues("", a, b, &out)
	} else if string(recorded.canon) != string(asked.canon) {
		out = append(out, diffText("the body", string(recorded.canon), string(asked.canon)))
	}
	if len(out) == 0 {
		return []string{c.sameText(recorded, asked)}
	}
	return out
}

// sameText says why a recording that looks like the request is none of it.
func (c *Cassette) sameText(recorded, asked *entry) string {
	if recorded.usual.key != asked.usual.key {
		return "it differs only in what is hidden here because it looks like a key"
	}
	if recorded.key != asked.key && recorded.Status >= 300 {
		return fmt.Sprintf("it is the same request in another spelling (%s or %s, developer or system), refused with status %d there", maxTokens, maxCompletionTokens, recorded.Status)
	}
	if times := c.times[request{recorded.key, asked.Sample}]; times > 0 {
		return fmt.Sprintf("it is the same request, recorded %s for sample %d; the item asked it once more", timesText(times), asked.Sample)
	}
	return fmt.Sprintf("it is the same request, but recorded for sample %d, not %d", recorded.Sample, asked.Sample)
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
