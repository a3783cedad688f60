package dataset

import (
	"encoding/json"
	"fmt"
	"slices"
)

// DefaultMaxLine is the longest line that is read unless MaxLine says
// otherwise, in bytes: 64 MiB.
const DefaultMaxLine = 64 << 20

// An Option says how a dataset is read or which part of it is used. A nil
// Option does nothing.
type Option func(*config)

// Options groups options into one.
func Options(opts ...Option) Option {
	return func(c *config) {
		for _, o := range opts {
			if o != nil {
				o(c)
			}
		}
	}
}

// A config is what the options of one call come to.
type config struct {
	maxLine       int
	mapping       Mapping
	decode        func(json.RawMessage) (Item, error)
	autoID        func(int) string
	overrides     []Override
	overrideFiles []string
	sel           selection

	given []string // the options that may be given once, in order
	err   error
}

func newConfig(opts []Option) (*config, error) {
	c := &config{maxLine: DefaultMaxLine}
	Options(opts...)(c)
	if c.err == nil && c.has("Fields") && c.has("Decode") {
		c.err = fmt.Errorf("%w: Fields and Decode are both given; a row is decoded one way", ErrOption)
	}
	return c, c.err
}

// once notes an option that makes no sense twice. The second one is an error,
// not an override: which of them was meant would be a guess.
func (c *config) once(name, value string) {
	if c.has(name) && c.err == nil {
		c.err = fmt.Errorf("%w: %s is given twice, the second time as %s(%s); to narrow a loaded dataset further, call Select", ErrOption, name, name, value)
	}
	c.given = append(c.given, name)
}

func (c *config) has(name string) bool { return slices.Contains(c.given, name) }

// MaxLine sets the longest line that is accepted, in bytes without its line
// end; the default is [DefaultMaxLine]. It is also what bounds memory when a
// small compressed file unpacks to something huge. It panics if bytes < 1.
func MaxLine(bytes int) Option {
	if bytes < 1 {
		panic(fmt.Sprintf("dataset: MaxLine(%d): must be at least 1 byte", bytes))
	}
	return func(c *config) {
		c.once("MaxLine", fmt.Sprint(bytes))
		c.maxLine = bytes
	}
}

// Decode makes items of rows by a function of yours. Each row is one JSON
// object, already checked for syntax, repeated keys and UTF-8; do not modify
// or keep it. The item's Raw is set by the loader; an empty ID is replaced by
// the row's number (see [AutoID]). An error refuses the row and fails the load
// with its line.
//
// f is called in file order, never from two goroutines at once; by [Open] once
// in each pass. It panics if f is nil.
func Decode(f func(row json.RawMessage) (Item, error)) Option {
	if f == nil {
		panic("dataset: Decode(nil)")
	}
	return func(c *config) {
		c.once("Decode", "…")
		c.decode = f
	}
}

// AutoID names the items whose row has no id; n counts rows from 1. The
// default is the number itself: "1", "2", …. It panics if f is nil.
func AutoID(f func(n int) string) Option {
	if f == nil {
		panic("dataset: AutoID(nil)")
	}
	return func(c *config) {
		c.once("AutoID", "…")
		c.autoID = f
	}
}
