package fake

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Defaults and limits of a [Server].
const (
	DefaultOutput      = 16       // tokens of an answer without a limit
	DefaultMaxBody     = 16 << 20 // bytes of a request's body
	DefaultCacheBlocks = 1 << 20  // blocks that the prefix cache holds
	// MaxOutput is the longest answer, in tokens; a request for more is
	// refused, since a typing error would keep the server writing for hours.
	MaxOutput = 1 << 20
)

// ErrStarted is returned by a server that is started while it runs.
var ErrStarted = errors.New("fake: the server runs already: stop it first, or make another one")

// A Server is a model server that generates nothing. The zero value counts
// words and answers 16 tokens as fast as it can. Set its fields before it is
// started and leave them until it is stopped; it may then be started again, and
// begins anew: numbers, counts, stalls and cache. The functions among the fields
// are called from many goroutines at once, but for Fail.
type Server struct {
	// Count counts the tokens of a text, which is valid UTF-8. It must not
	// return less than 0. nil: words separated by white space, as token.Words
	// makes them.
	Count func(text string) int
	// Encode counts too, and says which tokens a text has. A prefix cache needs
	// it where tokens are not words. At most one of Count and Encode is given.
	Encode func(text string) []int
	// PerMessage and PerRequest are the tokens that a chat template adds to each
	// message, before its text, and to each request, before everything. A
	// prompt without messages has neither. Default 0.
	PerMessage, PerRequest int
	// Names makes the function names of tool calls and the names of messages
	// count as texts. Default: they are the template's, as evaltest/load/agent
	// plans them.
	Names bool
	// Output is how many tokens an answer has if the request gives no limit, or
	// its min_tokens if that is more. Default 16. A limit (max_tokens,
	// max_completion_tokens or max_new_tokens) is always met exactly.
	Output int
	// TTFT is the time from the request's last byte, or from when it had its
	// slot, to the first token; ITL that between tokens. Token k, from 0, is
	// due at TTFT + k·ITL: one that is late delays no other, and no other
	// hurries for it. At most 1,000 h and 1 h. Default 0: as fast as it can.
	TTFT, ITL time.Duration
	// Chunk is how many tokens an event holds; the last one may hold fewer. An
	// event is due when its last token is. Default 1.
	Chunk int
	// Slots is how many requests are served at once; the others wait in the
	// order in which they came, as for a place in a batch. 0: no limit.
	Slots int
	// Stalls are spans in which nothing is written: what falls into one is
	// written at its end.
	Stalls []Stall
	// CacheBlock is the block size, in tokens, of a prefix cache that is simulated:
	// what of a prompt it holds is reported as cached_tokens and takes no less
	// time. 0: no cache.
	CacheBlock int
	// CacheBlocks is how many blocks the cache holds; of those that have not been
	// used for longest, up to half of them are given up at once. Default 1<<20.
	CacheBlocks int
	// MaxBody is the longest body that is read, in bytes; a longer one is 413.
	// Default 16 MiB.
	MaxBody int
	// Fail says how call n fails, from 0 in the order of arrival; the zero
	// Failure is none. It is called for one call after the other, but for those
	// that are refused, and holds up all others. nil: no call fails.
	Fail func(n int) Failure
	// Saw is given each request when it has been answered or given up; the
	// Seen is its own to keep. nil: nobody, which is the cheapest.
	Saw func(*Seen)

	mu      sync.Mutex
	run     *run // the last one; nil before the first
	running bool
}

// A Stall is a span of a server's time.
type Stall struct {
	// At is its begin, since Start, Listen or Serve; at most 1,000 h.
	At time.Duration
	// For is its length; at most 1,000 h.
	For time.Duration
}

// A Failure is how a call fails.
type Failure struct {
	// Status is answered instead of 200, without waiting for a slot. Default,
	// if Body is given: 500.
	Status int
	// Body is the answer's body. Default: an error object as OpenAI's servers
	// have it, with Status as its code.
	Body string
	// Header is added to the answer, such as Retry-After.
	Header http.Header
	// Drop closes the connection without another word. Status, Body and Header
	// are then not used.
	Drop bool
	// After makes the call begin well and fail after so many tokens, at most
	// after the last: an answer in a stream then ends with Body as an event
	// and without [DONE], a whole one is Status at that time.
	After int
}

func (f *Failure) set() bool { return f.Status != 0 || f.Body != "" || f.Drop }

// atOnce reports whether the call fails before it has begun.
func (f *Failure) atOnce() bool { return f.set() && f.After <= 0 }

// Start listens on a free port of the loopback device. The URL has no path:
// http://127.0.0.1:PORT. stop ends all connections, waits until nothing of the
// server runs, and may be called more than once. Errors are those of Listen.
func (s *Server) Start() (url string, stop func(), err error) { return s.Listen("127.0.0.1:0") }

// Listen is Start with an address as net.Listen takes it. The server has no
// time-outs and asks for no key: do not give it an address that strangers reach.
func (s *Server) Listen(addr string) (url string, stop func(), err error) {
	if err := s.fault(); err != nil { // before a port is taken
		return "", nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("fake: listen on %q: %w", addr, err)
	}
	stop, err = s.Serve(l)
	if err != nil {
		return "", nil, errors.Join(err, l.Close())
	}
	return "http://" + l.Addr().String(), stop, nil
}

// Serve answers the connections of a listener, which stop closes: one in memory
// makes the server usable in a bubble of testing/synctest. It returns at once.
// The error says which field is wrong, or is ErrStarted; the listener is then
// left alone.
func (s *Server) Serve(l net.Listener) (stop func(), err error) {
	if err := s.fault(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return nil, ErrStarted
	}
	r := newRun(s, l)
	s.run, s.running = r, true
	r.all.Go(r.accept)
	return sync.OnceFunc(func() {
		r.end()
		s.mu.Lock()
		s.running = false
		s.mu.Unlock()
	}), nil
}

// Counts returns what has happened since the last start; all 0 before the first.
// A client may see the end of an answer before it is counted. After stop
// everything is.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r == nil {
		return Counts{}
	}
	return r.snapshot()
}

// fault says which field is wrong.
func (s *Server) fault() error {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"PerMessage", s.PerMessage}, {"PerRequest", s.PerRequest}, {"Output", s.Output}, {"Chunk", s.Chunk},
		{"Slots", s.Slots}, {"CacheBlock", s.CacheBlock}, {"CacheBlocks", s.CacheBlocks}, {"MaxBody", s.MaxBody},
	} {
		if f.value < 0 {
			return fmt.Errorf("fake: Server.%s is %d: want 0 or more", f.name, f.value)
		}
	}
	switch {
	case s.Output > MaxOutput:
		return fmt.Errorf("fake: Server.Output is %d: want at most %d", s.Output, MaxOutput)
	case s.TTFT < 0 || s.TTFT > longest:
		return fmt.Errorf("fake: Server.TTFT is %v: want 0 to %v", s.TTFT, longest)
	case s.ITL < 0 || s.ITL > time.Hour: // an answer's times must not overflow
		return fmt.Errorf("fake: Server.ITL is %v: want 0 to 1h", s.ITL)
	case s.Count != nil && s.Encode != nil:
		return errors.New("fake: Server has both Count and Encode: give one")
	case s.Count != nil && s.CacheBlock > 0:
		return fmt.Errorf("fake: Server.CacheBlock is %d with Count, which does not say what the tokens are: give Encode instead", s.CacheBlock)
	}
	for i, stall := range s.Stalls {
		if stall.At < 0 || stall.For < 0 || stall.At > longest || stall.For > longest {
			return fmt.Errorf("fake: Server.Stalls[%d] is %v for %v: want 0 to %v", i, stall.At, stall.For, longest)
		}
	}
	return nil
}

// longest is more than any test takes, and so little that sums do not overflow.
const longest = 1000 * time.Hour

// merged are the stalls by time, without overlaps.
func merged(stalls []Stall) []Stall {
	sorted := slices.SortedFunc(slices.Values(stalls), func(a, b Stall) int { return int(min(max(a.At-b.At, -1), 1)) })
	var out []Stall
	for _, s := range sorted {
		if n := len(out); n > 0 && s.At <= out[n-1].At+out[n-1].For {
			out[n-1].For = max(out[n-1].For, s.At+s.For-out[n-1].At)
		} else if s.For > 0 {
			out = append(out, s)
		}
	}
	return out
}
