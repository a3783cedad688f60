package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/goevals/evals/llm/wire"
)

// API is how a server is spoken to.
type API string

// APIs.
const (
	Chat        API = "chat"        // OpenAI's chat completions, the default
	Completions API = "completions" // OpenAI's older completions: a prompt without roles
	Gemini      API = "gemini"      // generateContent and streamGenerateContent as the Gemini API has them
)

// Lengths is how a server is told how long an answer must be.
type Lengths string

// The names of the fields.
const (
	// VLLM is max_tokens and min_tokens, which most servers of one's own know;
	// the default.
	VLLM Lengths = "vllm"
	// SGLang is max_new_tokens and min_new_tokens.
	SGLang Lengths = "sglang"
	// OpenAI is max_completion_tokens; there is no minimum.
	OpenAI Lengths = "openai"
)

// The defaults of [Config].
const (
	DefaultConnect     = 10 * time.Second
	DefaultIdleTimeout = 4 * time.Second
	DefaultReadBuffer  = 32 << 10
	DefaultMaxEvent    = 16 << 20
)

// Config says which server to call and how. Host (or a whole URL as Endpoint)
// and Concurrency are needed.
type Config struct {
	// Host is the server: a host with or without a port, a scheme and a path
	// before Endpoint's. Without a scheme it is https. Slashes at its end do
	// not matter.
	Host string
	// Endpoint is the path of the calls. Default: /v1/chat/completions,
	// /v1/completions, or Gemini's path, which holds the model and the method.
	// One that begins with http:// or https:// replaces Host too. It may have a
	// query. With the Gemini API it is the path before /models, default /v1beta.
	Endpoint string
	// API is how the server is spoken to. Default [Chat].
	API API
	// Model is the model's name, sent in each body (or path, with [Gemini]).
	Model string
	// Key is sent as "Authorization: Bearer", or as it is in the header that
	// KeyHeader names (default x-goog-api-key with [Gemini]); "" sends none. It
	// never stands in an error, a record or a warning, unless it is shorter than
	// 8 bytes, as the keys of local servers are ("x", "EMPTY").
	Key, KeyHeader string
	// Header is sent with each call. It is copied.
	Header http.Header
	// Concurrency is how many calls will be in flight at most; so many idle
	// connections are kept. It limits nothing. At least 1.
	Concurrency int
	// Timeouts end a try.
	Timeouts Timeouts
	// Retry says when a failed try is followed by another. Default: never.
	Retry Retry
	// Lengths names the fields of an answer's length. Default [VLLM].
	Lengths Lengths
	// NoStreamOptions leaves stream_options.include_usage out of streamed calls,
	// for servers that refuse it: there is then no usage, as a rule.
	NoStreamOptions bool
	// RequireUsage makes an answer without usage a failure (record.NoUsage).
	RequireUsage bool
	// HTTP2 speaks HTTP/2: where the server offers it under https, and without
	// asking under http. Default HTTP/1.1 with a connection for each call in
	// flight: over one connection streams wait for each other's packets.
	HTTP2 bool
	// IdleTimeout is how long an unused connection is kept. Default 4 s: many
	// servers close theirs after 5 s, and a call that meets a connection which
	// is just being closed fails.
	IdleTimeout time.Duration
	// ReadBuffer is the size of each connection's read and write buffer and of
	// each call's read, in bytes. Default 32 KiB; 4 KiB to 16 MiB.
	ReadBuffer int
	// MaxEvent is the longest event of a stream, or whole answer, that is read,
	// in bytes; a longer one is a failure (record.Malformed). Default 16 MiB.
	MaxEvent int
	// TLS is for https; nil is Go's default.
	TLS *tls.Config
	// Dial opens connections, within Timeouts.Connect; nil is the network. Give
	// one for unix sockets and for tests. No proxy is used then.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Seed is what the jitter of retries is drawn from, together with
	// record.Request.Seq and the number of the try.
	Seed uint64
}

// Timeouts end a try. 0 is no limit, except for Connect.
type Timeouts struct {
	// Connect is for the name's lookup and the TCP connection, and once more
	// for the TLS handshake. Default 10 s.
	Connect time.Duration
	// First is from sending to the first fragment; for streamed calls only.
	First time.Duration
	// Idle is from a fragment to the next one, and from the last to the end;
	// for streamed calls only.
	Idle time.Duration
	// Total is from sending to the end of the answer.
	Total time.Duration
}

// prepared fills in defaults and returns what is wrong, with the value.
func (c Config) prepared() (Config, error) {
	if c.API == "" {
		c.API = Chat
	}
	if c.Lengths == "" {
		c.Lengths = VLLM
	}
	if c.Timeouts.Connect == 0 {
		c.Timeouts.Connect = DefaultConnect
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = DefaultIdleTimeout
	}
	if c.ReadBuffer == 0 {
		c.ReadBuffer = DefaultReadBuffer
	}
	if c.MaxEvent == 0 {
		c.MaxEvent = DefaultMaxEvent
	}
	c.Header = c.Header.Clone()
	if err := c.faults(); err != nil {
		return c, err
	}
	return c, c.Retry.fault()
}

func (c Config) faults() error {
	switch c.API {
	case Chat, Completions, Gemini:
	default:
		return fmt.Errorf("client: API is %q: want %q, %q or %q", c.API, Chat, Completions, Gemini)
	}
	switch c.Lengths {
	case VLLM, SGLang, OpenAI:
	default:
		return fmt.Errorf("client: Lengths is %q: want %q, %q or %q", c.Lengths, VLLM, SGLang, OpenAI)
	}
	if c.API == Gemini && c.Model == "" {
		return fmt.Errorf("client: Model is empty: the Gemini API has it in the path")
	}
	if c.Concurrency < 1 {
		return fmt.Errorf("client: Concurrency is %d: give how many calls will be in flight, at least 1", c.Concurrency)
	}
	if c.ReadBuffer < 4<<10 || c.ReadBuffer > 16<<20 {
		return fmt.Errorf("client: ReadBuffer is %d bytes: want %d to %d", c.ReadBuffer, 4<<10, 16<<20)
	}
	if c.MaxEvent < 1<<10 {
		return fmt.Errorf("client: MaxEvent is %d bytes: want at least %d", c.MaxEvent, 1<<10)
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{
		{"Timeouts.Connect", c.Timeouts.Connect}, {"Timeouts.First", c.Timeouts.First}, {"Timeouts.Idle", c.Timeouts.Idle},
		{"Timeouts.Total", c.Timeouts.Total}, {"IdleTimeout", c.IdleTimeout},
	} {
		if d.d < 0 {
			return fmt.Errorf("client: %s is %v: want 0 or more", d.name, d.d)
		}
	}
	if err := c.keyFault(); err != nil {
		return err
	}
	return headerFault("Config.Header", c.Header)
}

// keyFault says what is wrong with the key without showing it.
func (c Config) keyFault() error {
	if strings.TrimSpace(c.Key) != c.Key {
		return fmt.Errorf("client: Key has white space around it (%d bytes in all): trim it", len(c.Key))
	}
	if !validValue(c.Key) {
		return fmt.Errorf("client: Key holds a control character, which no header may have (it has %d bytes)", len(c.Key))
	}
	if c.KeyHeader != "" && !validName(c.KeyHeader) {
		return fmt.Errorf("client: KeyHeader is %q, which is no name of a header", c.KeyHeader)
	}
	return nil
}

// headerFault names the first header that cannot be sent. Values are not shown:
// they may be keys.
func headerFault(where string, h http.Header) error {
	for name, values := range h {
		if !validName(name) {
			return fmt.Errorf("client: %s has %q, which is no name of a header", where, name)
		}
		for _, v := range values {
			if !validValue(v) {
				return fmt.Errorf("client: %s[%q] holds a control character, which no header may have", where, name)
			}
		}
	}
	return nil
}

func validName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func validValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// header is what each call carries, and secrets what of it must not be shown.
func (c Config) header() (http.Header, []string) {
	h := c.Header
	if h == nil {
		h = http.Header{}
	}
	set := func(name, value string) {
		if h.Get(name) == "" {
			h.Set(name, value)
		}
	}
	set("Content-Type", "application/json")
	set("User-Agent", "goevals-load")
	switch name := c.KeyHeader; {
	case c.Key == "":
	case name != "":
		h.Set(name, c.Key)
	case c.API == Gemini:
		h.Set("X-Goog-Api-Key", c.Key)
	default:
		h.Set("Authorization", "Bearer "+c.Key)
	}
	secrets := wire.Secrets(&http.Request{Header: h})
	// KeyHeader may be one that llm/wire does not know. What is shorter stands in
	// any text ("x", "none", "EMPTY"), and is no secret there either.
	if len(c.Key) >= 8 {
		secrets = append(secrets, c.Key)
	}
	return h, secrets
}
