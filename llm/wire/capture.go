package wire

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/goevals/evals/llm"
)

// DefaultMaxBody is how many bytes of a body a [Capture] keeps by default.
const DefaultMaxBody = 1 << 20

// A Capture sees one call: put it into a context with [WithCapture], make the
// call, then read it with Get. The zero value works. If the SDK makes several
// requests under one context, the last one is seen and Captured.Calls counts
// them. Safe for concurrent use.
type Capture struct {
	// MaxBody is how many bytes of the answer's body to keep: 0 means
	// DefaultMaxBody, a negative number none.
	MaxBody int

	mu      sync.Mutex
	got     Captured
	last    time.Duration
	secrets []string
}

// Captured is what a [Capture] saw. Times are counted from Start and are 0 if
// the event has not happened; those of a replayed call are the recorded ones.
type Captured struct {
	// Calls is how many requests were made under the context.
	Calls int
	// Method, URL (without its query) and Request are the request as it was
	// sent, further fields included.
	Method, URL string
	Request     []byte
	// Status and Header are the answer's; Status is 0 if none came. Header
	// has no Set-Cookie.
	Status int
	Header http.Header
	// Body is the answer's body as far as it was read and MaxBody allows;
	// BodyCut says that there was more of it than MaxBody.
	Body    []byte
	BodyCut bool

	Start      time.Time     // the request was handed to the transport
	Connected  time.Duration // a connection was there: looked up, dialled and secured if it is new
	Written    time.Duration // the request was written to the connection
	FirstByte  time.Duration // the first byte of the answer's body
	FirstToken time.Duration // the first generated token of a streamed answer, reasoning included
	End        time.Duration // the body ended, broke or was closed
	// Chunks are the times of the events of a streamed answer that held
	// generated tokens, reasoning included; keep-alives, roles and empty texts
	// are none. Chunks[0] is FirstToken.
	Chunks []time.Duration
	// Reused says that the connection had served another call before; Dials
	// is how many of the Calls got a new one. Both stay zero where Base is no
	// [http.Transport].
	Reused bool
	Dials  int
	// Replayed says that a recording answered.
	Replayed bool
	// Usage, CostUSD, Whole, Finish, Model and ID are what the transport read
	// from the answer. CostUSD is an exact decimal, "" if the provider says
	// nothing. Whole says that it ended as an answer should: see [Watch].
	Usage     llm.Usage
	CostUSD   string
	Whole     bool
	Finish    string
	Model, ID string
	Warnings  []string
	// Err is the transport's error or the one that broke the body.
	Err error
}

// Get returns what was seen so far. Secrets are masked in it.
func (c *Capture) Get() Captured {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.got
	g.Header, g.Chunks = g.Header.Clone(), slices.Clone(g.Chunks)
	g.Body = maskBytes(g.Body, c.secrets)
	g.Request = maskBytes(g.Request, c.secrets)
	g.URL = MaskSecrets(g.URL, c.secrets...)
	for _, s := range []*string{&g.Model, &g.ID, &g.Finish} {
		*s = shown(*s, c.secrets)
	}
	g.Warnings = maskAll(g.Warnings, c.secrets)
	for _, vs := range g.Header {
		for i, v := range vs {
			vs[i] = Mask(v, c.secrets...)
		}
	}
	return g
}

// LastRead returns when the bytes that the SDK read last came, counted from
// Start: the arrival time of a streamed event that was just decoded.
func (c *Capture) LastRead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *Capture) begin(req *http.Request, body []byte, start time.Time, secrets []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := *req.URL
	u.RawQuery, u.User = "", nil
	c.got = Captured{Calls: c.got.Calls + 1, Dials: c.got.Dials, Method: req.Method, URL: u.String(), Request: body, Start: start}
	c.last, c.secrets = 0, secrets
}

func (c *Capture) update(f func(*Captured)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.got)
}

func (c *Capture) add(p []byte, at time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = at
	if c.got.FirstByte == 0 {
		c.got.FirstByte = max(at, 1)
	}
	limit := c.MaxBody
	if limit == 0 {
		limit = DefaultMaxBody
	}
	room := max(limit-len(c.got.Body), 0)
	if len(p) > room {
		p, c.got.BodyCut = p[:room], true
	}
	c.got.Body = append(c.got.Body, p...)
}
