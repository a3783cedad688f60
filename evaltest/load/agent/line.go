package agent

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A field tells an absent value from a zero, and a null from both: a manifest
// without prompt_tokens is a mistake, not a prompt of no tokens.
type field[T any] struct {
	set, null bool
	v         T
}

// UnmarshalJSONFrom reads the value with the options of the whole line.
func (f *field[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	f.set = true
	if d.PeekKind() == 'n' {
		f.null = true
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, &f.v)
}

type lineSpec struct {
	Version    field[int]           `json:"schema_version"`
	ID         field[string]        `json:"trajectory_id"`
	Requests   field[[]requestSpec] `json:"requests"`
	Metadata   jsontext.Value       `json:"metadata"`
	StartAfter field[int64]         `json:"start_after_ms"`
}

type requestSpec struct {
	Prompt    field[int64]       `json:"prompt_tokens"`
	Output    field[int64]       `json:"output_tokens"`
	Delay     field[int64]       `json:"delay_after_ms"`
	Reset     field[bool]        `json:"reset_before"`
	Overhead  field[int64]       `json:"overhead_tokens"`
	Stream    field[bool]        `json:"stream"`
	MaxTokens field[int64]       `json:"max_tokens"`
	Blocks    field[[]blockSpec] `json:"blocks"`
}

type blockSpec struct {
	Seed   field[string] `json:"seed"`
	Tokens field[int64]  `json:"tokens"`
	Role   field[Role]   `json:"role"`
	Live   field[bool]   `json:"live"`
}

const (
	// maxTokens bounds each length, so that sums cannot overflow.
	maxTokens = 1 << 31
	// maxMillis is about 31 years.
	maxMillis = 1_000_000_000_000
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// parseLine decodes one line strictly: names are case-sensitive, none may be
// unknown or occur twice, and nothing may follow the object.
func parseLine(text []byte) (*Trajectory, error) {
	if bytes.HasPrefix(text, byteOrderMark) {
		return nil, problemf(ErrSyntax, "the line begins with a byte order mark; save the file as UTF-8 without it")
	}
	var s lineSpec
	if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil {
		return nil, problemf(ErrSyntax, "%v", err)
	}
	f := fields{}
	f.need("schema_version", s.Version.set, s.Version.null)
	f.need("trajectory_id", s.ID.set, s.ID.null)
	f.need("requests", s.Requests.set, s.Requests.null)
	if f.err != nil {
		return nil, f.err
	}
	t := &Trajectory{Version: s.Version.v, ID: s.ID.v}
	if err := checkVersion(t.Version); err != nil {
		return nil, err
	}
	if t.Version < 2 && s.StartAfter.set && !s.StartAfter.null {
		return nil, problemf(ErrVersion, "start_after_ms requires schema_version 2")
	}
	t.StartAfter = f.millis("start_after_ms", s.StartAfter.v)
	for i, spec := range s.Requests.v {
		f.at = i + 1
		t.Requests = append(t.Requests, f.request(t.Version, &spec))
	}
	return t, f.err
}

func checkVersion(v int) error {
	if v != 1 && v != 2 {
		return problemf(ErrVersion, "unsupported schema_version %d; expected 1 or 2", v)
	}
	return nil
}

// fields collects the first thing that is wrong while a line is converted.
type fields struct {
	at  int // the request, from 1; 0 outside
	err error
}

func (f *fields) fail(kind error, format string, args ...any) {
	if f.err != nil {
		return
	}
	if f.at > 0 {
		format, args = "request %d "+format, append([]any{f.at}, args...)
	}
	f.err = problemf(kind, format, args...)
}

func (f *fields) need(name string, set, null bool) {
	switch {
	case !set:
		f.fail(ErrSyntax, "missing field %s", name)
	case null:
		f.fail(ErrSyntax, "field %s must not be null", name)
	}
}

func (f *fields) notNull(name string, null bool) {
	if null {
		f.fail(ErrSyntax, "field %s must not be null; leave it out", name)
	}
}

func (f *fields) tokens(name string, n int64) int {
	if n < 0 || n > maxTokens {
		f.fail(ErrValue, "%s is %d; it must be from 0 to %d", name, n, maxTokens)
		return 0
	}
	return int(n)
}

func (f *fields) millis(name string, n int64) time.Duration {
	if n < 0 || n > maxMillis {
		f.fail(ErrValue, "%s is %d; it must be from 0 to %d", name, n, int64(maxMillis))
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

func (f *fields) request(version int, s *requestSpec) Request {
	f.need("prompt_tokens", s.Prompt.set, s.Prompt.null)
	f.need("output_tokens", s.Output.set, s.Output.null)
	f.notNull("delay_after_ms", s.Delay.null)
	f.notNull("reset_before", s.Reset.null)
	if version < 2 {
		f.onlyTwo(s)
	}
	r := Request{
		PromptTokens: f.tokens("prompt_tokens", s.Prompt.v),
		OutputTokens: f.tokens("output_tokens", s.Output.v),
		DelayAfter:   f.millis("delay_after_ms", s.Delay.v),
		ResetBefore:  s.Reset.v,
		MaxTokens:    f.tokens("max_tokens", s.MaxTokens.v),
	}
	if s.Overhead.set && !s.Overhead.null {
		n := f.tokens("overhead_tokens", s.Overhead.v)
		r.Overhead = &n
	}
	if s.Stream.set && !s.Stream.null {
		r.Stream = &s.Stream.v
	}
	if s.MaxTokens.set && !s.MaxTokens.null && s.MaxTokens.v == 0 {
		f.fail(ErrValue, "max_tokens must be greater than zero")
	}
	if s.Blocks.set && !s.Blocks.null {
		r.Blocks = f.blocks(s.Blocks.v)
	}
	return r
}

func (f *fields) onlyTwo(s *requestSpec) {
	for _, x := range []struct {
		name string
		on   bool
	}{
		{"overhead_tokens", s.Overhead.set && !s.Overhead.null},
		{"stream", s.Stream.set && !s.Stream.null},
		{"max_tokens", s.MaxTokens.set && !s.MaxTokens.null},
		{"blocks", s.Blocks.set && !s.Blocks.null},
	} {
		if x.on {
			f.fail(ErrVersion, "field %s requires schema_version 2", x.name)
		}
	}
}

func (f *fields) blocks(specs []blockSpec) []Block {
	if len(specs) == 0 {
		f.fail(ErrBlocks, "blocks are invalid: blocks must contain at least one block")
		return nil
	}
	blocks := make([]Block, 0, len(specs))
	for i, s := range specs {
		switch {
		case !s.Seed.set || s.Seed.null:
			f.fail(ErrSyntax, "blocks are invalid: block %d is missing field seed", i+1)
		case !s.Tokens.set || s.Tokens.null:
			f.fail(ErrSyntax, "blocks are invalid: block %d is missing field tokens", i+1)
		case !s.Role.set || s.Role.null:
			f.fail(ErrSyntax, "blocks are invalid: block %d is missing field role", i+1)
		case s.Live.null:
			f.fail(ErrSyntax, "blocks are invalid: block %d field live must not be null; leave it out", i+1)
		}
		blocks = append(blocks, Block{Seed: s.Seed.v, Tokens: f.tokens("blocks: tokens", s.Tokens.v), Role: s.Role.v, Live: s.Live.v})
	}
	return blocks
}
