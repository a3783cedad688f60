package openai

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// The variables that are read where [Config] says nothing else.
const (
	DefaultKeyEnv     = "OPENAI_API_KEY"
	DefaultBaseURLEnv = "OPENAI_BASE_URL"
	DefaultBaseURL    = "https://api.openai.com/v1"
)

// The two names of the field that caps an answer's length.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens"
)

// A Config says which model of which server to call. Only Model is needed.
type Config struct {
	// Model is the model's id as the server knows it.
	Model string
	// BaseURL is what "/chat/completions" is appended to, version included.
	// Empty means the variable OPENAI_BASE_URL, then OpenAI itself.
	BaseURL string
	// KeyEnv names the environment variable that holds the key; it is read at
	// each call. Default OPENAI_API_KEY. A server other than OpenAI's should
	// get a key of its own here.
	KeyEnv string
	// Provider stands in errors. Default "openai".
	Provider string
	// HTTPClient makes the calls; its Transport goes below llm/wire. Default:
	// a pool shared by all clients, without a timeout of its own, since the
	// call's context has one. A Timeout here would also cut streams.
	HTTPClient *http.Client
	// Header is sent with each call (OpenAI-Organization, HTTP-Referer, …).
	Header http.Header
	// Extra are further fields of each request's body. They replace what the
	// client would send; a request's own Extra replaces them.
	Extra map[string]json.RawMessage
	// MaxTokensField is MaxTokens or MaxCompletionTokens. Default: the latter
	// for OpenAI and Azure, whose reasoning models refuse the former, and the
	// former for all others, of which some ignore the latter.
	MaxTokensField string
}

// New returns a client of this model at the server of the environment:
// OPENAI_BASE_URL or OpenAI itself, with the key in OPENAI_API_KEY. It panics
// if model is empty.
func New(model string) *Client { return Config{Model: model}.New() }

// New returns a client. It panics if Model is empty or another field cannot
// be meant, naming it: these are mistakes of the program. What the environment
// holds is checked at the first call and returned as an error.
func (c Config) New() *Client {
	if strings.TrimSpace(c.Model) == "" {
		panic("openai: Config.Model is empty: give the model's id")
	}
	if c.BaseURL != "" {
		if _, err := parseBase(c.BaseURL); err != nil {
			panic(fmt.Sprintf("openai: Config.BaseURL %v", err))
		}
	}
	for name, v := range c.Extra {
		if v != nil && !json.Valid(v) {
			panic(fmt.Sprintf("openai: Config.Extra[%q] is not JSON: its %d bytes begin with %.1q; a text needs quotes, as json.Marshal gives it", name, len(v), v))
		}
	}
	switch c.MaxTokensField {
	case "", MaxTokens, MaxCompletionTokens:
	default:
		panic(fmt.Sprintf("openai: Config.MaxTokensField is %q: want %q or %q", c.MaxTokensField, MaxTokens, MaxCompletionTokens))
	}
	if c.KeyEnv == "" {
		c.KeyEnv = DefaultKeyEnv
	}
	if c.Provider == "" {
		c.Provider = "openai"
	}
	return &Client{cfg: c, http: httpClient(c)}
}

func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is no URL: %q", wire.Mask(s))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("is %q: want http:// or https:// and a host, such as %s", wire.Mask(s), DefaultBaseURL)
	}
	return u, nil
}

// base is the server to call. The environment is asked at each call, so that
// a test may set it and so that go test's cache knows of it.
func (c Config) base() (*url.URL, error) {
	if c.BaseURL != "" {
		return parseBase(c.BaseURL)
	}
	if v := os.Getenv(DefaultBaseURLEnv); v != "" {
		u, err := parseBase(v)
		if err != nil {
			return nil, &llm.Error{Kind: llm.KindBadRequest, Provider: c.Provider, Message: "the variable " + DefaultBaseURLEnv + " " + err.Error()}
		}
		return u, nil
	}
	return parseBase(DefaultBaseURL)
}

// isOpenAI reports whether u is OpenAI's own API, at home or on Azure.
func isOpenAI(u *url.URL) bool {
	h := strings.ToLower(u.Hostname())
	return h == "api.openai.com" || strings.HasSuffix(h, ".openai.com") || strings.HasSuffix(h, ".openai.azure.com")
}

func isLoopback(u *url.URL) bool {
	h := u.Hostname()
	ip := net.ParseIP(h)
	return strings.EqualFold(h, "localhost") || ip != nil && ip.IsLoopback()
}

func (c Config) maxTokensField(base *url.URL) string {
	switch {
	case c.MaxTokensField != "":
		return c.MaxTokensField
	case isOpenAI(base):
		return MaxCompletionTokens
	}
	return MaxTokens
}
