package cassette

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goevals/evals/llm/wire"
)

// A Mode says whether a [Cassette] may ask the server.
type Mode string

// The modes. The zero Mode is Replay.
const (
	Replay Mode = "replay" // answer from the file only; what is not in it fails
	Record Mode = "record" // ask everything anew; Close replaces what was recorded before
	Auto   Mode = "auto"   // answer what is known, ask and add the rest
	Off    Mode = "off"    // ask everything and store nothing; the file is not looked at
)

// ParseMode reads a mode's name; "" is Replay.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(strings.ToLower(strings.TrimSpace(s))); m {
	case "":
		return Replay, nil
	case Replay, Record, Auto, Off:
		return m, nil
	}
	return "", fmt.Errorf("cassette: the mode %q is unknown: want replay, record, auto or off", s)
}

// Options say how a cassette is opened. The zero value replays.
type Options struct {
	Mode Mode
	// Secrets are values that must never be stored. A call whose request or
	// answer holds one fails and is not recorded. What stands in the request's
	// key headers and parameters counts as well (from 8 bytes on).
	Secrets []string
	// Ignore names fields of JSON bodies that change from run to run and do
	// not count when requests are compared, as dotted paths: "user",
	// "metadata.request_id", "messages.*.id" for each element of a list.
	Ignore []string
	// Headers are further headers of answers to store. Always stored are
	// Content-Type, Content-Encoding, Retry-After, Retry-After-Ms,
	// X-Request-Id, Request-Id, Openai-Processing-Ms and a redirect's Location
	// (without key parameters), nothing else.
	Headers []string
	// Host makes the host count when requests are compared: for recordings
	// that ask two servers the same thing.
	Host bool
	// Failures also stores failed calls that another try may heal: 408, 409,
	// 429, 5xx, refused keys, errors inside a 200, bodies that are no answer and
	// streams that were cut.
	// By default only answers, redirects and refusals of the request itself
	// (400, 413, 422) are stored.
	Failures bool
	// Rerecord tells the reader of a miss how to record what is missing, as
	// the end of a sentence. Default: a hint at Auto.
	Rerecord string
}

// ErrMiss is in the tree of the error for a request that was not recorded.
var ErrMiss = errors.New("cassette: no such recording")

// ErrSecret is in the tree of the error for a call that may not be recorded
// because it holds a secret.
var ErrSecret = errors.New("cassette: refused to record a secret")

// ErrLocked is in the tree of Open's error while another recorder has the
// file.
var ErrLocked = errors.New("cassette: another recording of this file is running")

// ErrFormat is in the tree of the error for a file that is no cassette, or
// one of another version, or damaged.
var ErrFormat = errors.New("cassette: not a readable cassette")

var errClosed = errors.New("cassette: the cassette is closed")

var lastID atomic.Int64

// A Cassette answers requests from a file, or writes one. It is a
// [wire.Middleware]. Safe for concurrent use.
type Cassette struct {
	path   string
	opts   Options
	ignore [][]string
	id     int64 // tells the occurrences counted for it from other cassettes'

	mu    sync.Mutex
	index map[slot]*entry
	// respelled has the entries whose body is not in the usual spelling.
	respelled map[slot]*entry
	times     map[request]int // how often a request of one sample is recorded
	flights   map[slot]chan struct{}
	old       []*entry // Record: what the file held before
	part      *part    // nil until something is to be recorded
	fresh     bool     // there is something that the file does not hold yet
	closed    bool
	warnings  []error
	stats     Stats
}

var _ wire.Middleware = (*Cassette)(nil)

// request is a request with its sample; slot is one occurrence of it.
type (
	request struct {
		key    [32]byte
		sample int
	}
	slot struct {
		request
		n int
	}
)

// Stats counts what a cassette did.
type Stats struct {
	Entries  int // recordings that it holds
	Replayed int // calls answered from a recording
	Recorded int // calls asked and stored
	Missed   int // calls that failed because they are not recorded
	Skipped  int // calls asked and not stored, because they failed
}

// Open opens the cassette at path: a JSONL file, gzipped if the name ends in
// .gz (either is read under any name). In Replay the file must be there and
// whole. In Auto it may be missing, and a torn end is dropped with a warning.
// In Record nothing is answered from it. Close then replaces it, but for the
// recordings of items of which nothing was recorded now: a run narrowed to some
// items does not lose the others. A file that is no cassette is not
// overwritten. In Off the file need not exist: calls pass through, nothing is
// counted and nothing is unused.
//
// Recording takes a lock on path + ".part" until Close; Open fails with
// [ErrLocked] while another process holds it. A .part file without a lock was
// left by a process that died: its answers are kept and not asked again.
// Remove it to start over.
func Open(path string, opts Options) (*Cassette, error) {
	mode, err := ParseMode(string(opts.Mode))
	if err != nil {
		return nil, err
	}
	opts.Mode = mode
	if opts.Rerecord == "" {
		opts.Rerecord = "open the cassette in mode auto"
	}
	c := &Cassette{
		path: path, opts: opts, id: lastID.Add(1),
		index: map[slot]*entry{}, respelled: map[slot]*entry{}, times: map[request]int{}, flights: map[slot]chan struct{}{},
	}
	for _, p := range opts.Ignore {
		if p == "" || slices.Contains(strings.Split(p, "."), "") {
			return nil, fmt.Errorf("cassette: Options.Ignore has the path %q: want names joined by dots, such as metadata.request_id", p)
		}
		c.ignore = append(c.ignore, strings.Split(p, "."))
	}
	c.ignore = bothNames(c.ignore)
	if mode == Off {
		return c, nil
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	if mode == Replay {
		return c, nil
	}
	if err := c.recover(); err != nil {
		return nil, err
	}
	return c, nil
}

// load reads the file as the mode asks.
func (c *Cassette) load() error {
	if c.opts.Mode == Record {
		return c.loadOld()
	}
	entries, err := readFile(c.path)
	var torn *tornError
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist) && c.opts.Mode == Auto:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cassette: %s does not exist; to record it, %s: %w", c.path, c.opts.Rerecord, err)
	case errors.As(err, &torn) && c.opts.Mode == Auto:
		c.warnings = append(c.warnings, fmt.Errorf("%w; what follows was dropped and will be asked again", err))
		c.fresh = true
	case errors.As(err, &torn):
		return fmt.Errorf("%w; to repair it, %s", err, c.opts.Rerecord)
	default:
		return fmt.Errorf("%w; to record it anew, remove it and %s", err, c.opts.Rerecord)
	}
	for _, e := range entries {
		if err := c.insert(e); err != nil {
			return err
		}
	}
	return nil
}

// loadOld reads what a recording is to replace.
func (c *Cassette) loadOld() error {
	entries, err := readFile(c.path)
	var torn *tornError
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
	case errors.As(err, &torn):
		c.warnings = append(c.warnings, fmt.Errorf("%w; what follows is dropped", err))
	case errors.Is(err, errVersion):
		c.warnings = append(c.warnings, fmt.Errorf("%w; it is replaced", err))
	default:
		return fmt.Errorf("%w; it will not be overwritten: remove it first", err)
	}
	c.old = entries
	return nil
}

// insert puts an entry that was read into the index.
func (c *Cassette) insert(e *entry) error {
	c.place(e)
	old := c.index[e.slot]
	if old == nil {
		c.put(e)
		c.times[e.request]++
		return nil
	}
	if old.sameAnswer(e) {
		c.warnings = append(c.warnings, fmt.Errorf("cassette: %s holds the same recording twice, in lines %d and %d", c.path, old.line, e.line))
		return nil
	}
	err := fmt.Errorf("%w: %s has two different answers to one request, in lines %d and %d", ErrFormat, c.path, old.line, e.line)
	if c.opts.Mode == Replay {
		return fmt.Errorf("%w; remove one, or, to keep the later one, %s", err, c.opts.Rerecord)
	}
	c.fresh = true
	c.warnings = append(c.warnings, fmt.Errorf("%w; the later one is used", err))
	c.put(e)
	return nil
}

// recover takes over what a recorder that died had written.
func (c *Cassette) recover() error {
	p, entries, err := openPart(c.path+partSuffix, c.opts.Mode == Record)
	if err != nil || p == nil {
		return err
	}
	c.part = p
	if p.torn != nil {
		c.warnings = append(c.warnings, fmt.Errorf("%w; what follows was dropped", p.torn))
	}
	if len(entries) == 0 {
		return nil
	}
	c.warnings = append(c.warnings, fmt.Errorf("cassette: %s was left by a recording that did not end: its %d answers are kept and not asked again (remove it to start over)", p.path, len(entries)))
	c.fresh = true
	for _, e := range entries {
		c.place(e)
		if c.index[e.slot] == nil {
			c.times[e.request]++
		}
		c.put(e)
	}
	return nil
}

// Transport returns a transport for any SDK's http.Client that goes through c.
// It is a [wire.Transport]: calls are logged and timed. A nil base means
// wire's own pool of connections.
func (c *Cassette) Transport(base http.RoundTripper) http.RoundTripper {
	return wire.Transport{Base: base, Middleware: c, Secrets: c.opts.Secrets}
}

// Warnings are the troubles met so far that did not stop the cassette.
func (c *Cassette) Warnings() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.warnings)
}

// Stats returns the counts so far.
func (c *Cassette) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries = len(c.index)
	return s
}

// Path is the file's name as it was given to Open.
func (c *Cassette) Path() string { return c.path }

// An Unused is a recording that no call asked for.
type Unused struct {
	Line    int // in the file; 0 if it was recorded by this process
	Item    string
	Sample  int
	N       int // which of the item's equal requests, from 0
	Method  string
	Path    string
	Model   string
	Request string // the beginning of the last message, or of the body
}

// Unused are the recordings that no call has asked for, in the file's order. A
// run that was narrowed to some items leaves others unused.
func (c *Cassette) Unused() []Unused {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Unused
	for _, e := range c.index {
		if !e.used {
			out = append(out, e.describe())
		}
	}
	slices.SortFunc(out, func(a, b Unused) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Item, b.Item), cmp.Compare(a.Sample, b.Sample), cmp.Compare(a.N, b.N))
	})
	return out
}

// Close writes the file if there is anything new for it, and releases the
// lock. Calls made later fail, and so do those in flight when their answer
// ends. Close may be called more than once.
func (c *Cassette) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.part == nil && !c.fresh {
		return nil
	}
	if !c.fresh && len(c.index) == 0 || c.opts.Mode == Auto && !c.fresh {
		return c.part.remove() // nothing was recorded: the file stays as it is
	}
	if err := writeFile(c.path, c.sorted()); err != nil {
		c.part.close()
		return fmt.Errorf("cassette: writing %s: %w (the answers are safe in %s; the next recording continues from there)", c.path, err, c.path+partSuffix)
	}
	return c.part.remove()
}

// sorted are the entries in an order that does not depend on the run's.
func (c *Cassette) sorted() []*entry {
	out := make([]*entry, 0, len(c.index))
	recorded := map[string]bool{"": true} // without an item nothing tells old from new
	for _, e := range c.index {
		out = append(out, e)
		recorded[e.Item] = true
	}
	for _, e := range c.old {
		c.place(e)
		if !recorded[e.Item] && c.index[e.slot] == nil {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Sample, b.Sample),
			slices.Compare(a.key[:], b.key[:]), cmp.Compare(a.N, b.N))
	})
	return out
}
