package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/llm/wire"
)

// A Client calls one endpoint of one server. Safe for concurrent use.
type Client struct {
	cfg           Config
	stream, whole *url.URL // read only
	header        http.Header
	host          string // of Config.Header; "" is the URL's
	secrets       []string
	transport     *http.Transport
	proxy         string
	flights       sync.Pool // of *answer
	model         atomic.Pointer[string]

	mu       sync.Mutex
	warnings map[string]int
}

// New returns a client. It returns an error for a field of cfg that cannot be
// meant, naming it, and if this process may not have as many sockets open as
// Config.Concurrency needs. No connection is made.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.prepared()
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, warnings: map[string]int{}}
	if c.stream, c.whole, err = cfg.addresses(); err != nil {
		return nil, err
	}
	if !cfg.HTTP2 {
		if err := wire.CheckDescriptors(cfg.Concurrency); err != nil {
			return nil, fmt.Errorf("client: Concurrency is %d: %w", cfg.Concurrency, err)
		}
	}
	c.header, c.secrets = cfg.header()
	if c.host = c.header.Get("Host"); c.host != "" {
		c.header.Del("Host") // net/http has it in a field of its own
	}
	c.secrets = append(c.secrets, wire.Secrets(&http.Request{URL: c.stream})...)
	if err := c.pool(); err != nil {
		return nil, err
	}
	c.flights.New = func() any { return &answer{buf: make([]byte, cfg.ReadBuffer)} }
	return c, nil
}

// pool makes the transport. It is not wire.NewPool: that one is for
// applications (HTTP/2, a proxy looked up for each call, compression).
func (c *Client) pool() error {
	cfg := c.cfg
	// The proxy is asked for once: a client has one URL.
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: c.stream})
	if err != nil {
		return fmt.Errorf("client: the proxy of the environment is no URL: %s", wire.Mask(err.Error(), c.secrets...))
	}
	c.transport = &http.Transport{
		DialContext:         cfg.dial,
		TLSClientConfig:     cfg.TLS.Clone(),
		TLSHandshakeTimeout: cfg.Timeouts.Connect,
		MaxIdleConnsPerHost: cfg.Concurrency, // the default of 2 would dial anew for most calls
		IdleConnTimeout:     cfg.IdleTimeout,
		DisableCompression:  true, // a compressed stream comes in other pieces than it was sent
		ReadBufferSize:      cfg.ReadBuffer,
		WriteBufferSize:     cfg.ReadBuffer,
		Protocols:           new(http.Protocols),
	}
	if proxy != nil && cfg.Dial == nil {
		c.transport.Proxy, c.proxy = http.ProxyURL(proxy), proxy.Redacted()
	}
	if cfg.HTTP2 {
		c.transport.Protocols.SetHTTP2(true)
		if c.stream.Scheme == "http" {
			c.transport.Protocols.SetUnencryptedHTTP2(true)
		} else {
			c.transport.Protocols.SetHTTP1(true) // for servers that do not offer the other
		}
	} else {
		c.transport.Protocols.SetHTTP1(true)
	}
	return nil
}

// dial opens a connection within the time for that. net/http lets it go on after
// the call that wanted it has given up, so that no other limit ends it.
func (c Config) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeouts.Connect, fmt.Errorf("no connection within %v (Timeouts.Connect)", c.Timeouts.Connect))
	defer cancel()
	conn, err := dial(ctx, network, addr)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if err != nil {
		return nil, &dialError{err}
	}
	return conn, nil
}

// A dialError tells the errors of dialling from those of the TLS handshake after
// it.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// URL is where streamed answers are asked for, without secrets.
func (c *Client) URL() string { return wire.Mask(c.stream.String(), c.secrets...) }

// Close closes the unused connections. Calls in flight go on.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// maxWarnings is how many different warnings are kept. Servers write parts of
// their texts.
const maxWarnings = 64

// warn notes what was odd.
func (c *Client) warn(text string) {
	text = cut(wire.Mask(text, c.secrets...), maxMessage)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.warnings[text]; !ok && len(c.warnings) >= maxWarnings {
		text = "there were further warnings, of other texts"
	}
	c.warnings[text]++
}

// Warnings are what was odd in answers and did not make them failures, such as
// usage that cannot be read, each with how often it was seen.
func (c *Client) Warnings() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]int, len(c.warnings))
	for text, n := range c.warnings {
		out[text] = n
	}
	return out
}

// name is a name that the server gave, as a string without secrets. Models are
// nearly always the same, and then cost no allocation.
func (c *Client) name(b []byte) string {
	if last := c.model.Load(); last != nil && *last == string(b) {
		return *last
	}
	s := cut(wire.MaskSecrets(string(b), c.secrets...), maxName)
	if len(b) <= maxName && s == string(b) {
		c.model.Store(&s)
	}
	return s
}
