package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
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
// [DeepSeek], [OpenRouter], [VLLM] and others return one that is filled in for
// their server; any field of it may be changed before New.
type Config struct {
	// Model is the model's id as the server knows it.
	Model string
	// BaseURL is what "/chat/completions" is appended to, version included; a
	// query is kept and sent with each call. Empty means the variable
	// OPENAI_BASE_URL, then OpenAI itself.
	BaseURL string
	// KeyEnv names the environment variable that holds the key; it is read at
	// each call. Default OPENAI_API_KEY where BaseURL is empty or OpenAI's
	// own, and none for any other BaseURL: a key of OpenAI's goes to another
	// server only if it is named here, or if OPENAI_BASE_URL names the server.
	KeyEnv string
	// KeyHeader is the header that carries the key as it is (Api-Key for
	// Azure). Default: "Authorization: Bearer" and the key.
	KeyHeader string
	// KeyOptional lets calls be made without a key, for servers that ask for
	// none. Default: a call without a key fails before it is sent, but for
	// one to this machine.
	KeyOptional bool
	// Provider stands in errors. Default "openai".
	Provider string
	// Dialect is how the server has thinking switched. Default
	// [DialectOpenAI]. It is never guessed from the URL: a replay must send
	// what was recorded, whatever OPENAI_BASE_URL is then.
	Dialect Dialect
	// HTTPClient makes the calls; its Transport goes below llm/wire. Default:
	// a pool shared by all clients, without a timeout of its own, since the
	// call's context has one. A Timeout here would also cut streams.
	HTTPClient *http.Client
	// Header is sent with each call (OpenAI-Organization, HTTP-Referer, …).
	Header http.Header
	// Extra are further fields of each request's body. They replace what the
	// client would send; a request's own Extra replaces them. Only the
	// objects that Request.Thinking comes to (reasoning, thinking,
	// chat_template_kwargs, …) are joined with those of the same name here,
	// field by field; a field here wins.
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
	if bad := c.fault(); bad != "" {
		panic("openai: Config." + bad)
	}
	if c.KeyEnv == "" && c.ownKey() {
		c.KeyEnv = DefaultKeyEnv
	}
	if c.Provider == "" {
		c.Provider = "openai"
	}
	if c.Dialect == "" {
		c.Dialect = DialectOpenAI
	}
	return &Client{cfg: c, http: client.HTTP(c.HTTPClient, c.Provider, func(base http.RoundTripper) http.RoundTripper { return guard{base, c} })}
}

// fault says which field cannot be meant, "" if all can.
func (c Config) fault() string {
	if strings.TrimSpace(c.Model) == "" {
		return "Model is empty: give the model's id"
	}
	if c.BaseURL != "" {
		if _, err := parseBase(c.BaseURL); err != nil {
			return "BaseURL " + err.Error()
		}
	}
	if c.KeyHeader != "" && !masksHeader(c.KeyHeader) {
		return fmt.Sprintf("KeyHeader is %q: keys are masked only in headers whose name ends in Api-Key, -Token or the like, and in Authorization; leave it empty for \"Authorization: Bearer\"", c.KeyHeader)
	}
	if _, ok := dialects[c.Dialect]; !ok && c.Dialect != "" {
		return fmt.Sprintf("Dialect is %q: want one of the constants Dialect…", c.Dialect)
	}
	for name, v := range c.Extra {
		if bad := client.ExtraFault(name, v); bad != "" {
			return bad
		}
	}
	switch c.MaxTokensField {
	case "", MaxTokens, MaxCompletionTokens:
	default:
		return fmt.Sprintf("MaxTokensField is %q: want %q or %q", c.MaxTokensField, MaxTokens, MaxCompletionTokens)
	}
	return ""
}

// masksHeader reports whether llm/wire knows that a header holds a key.
func masksHeader(name string) bool {
	const key = "0123456789abcdef"
	return slices.Contains(wire.Secrets(&http.Request{Header: http.Header{http.CanonicalHeaderKey(name): {key}}}), key)
}

// ownKey reports whether OPENAI_API_KEY is a key for this server: OpenAI's, or
// the one that OPENAI_BASE_URL names beside it.
func (c Config) ownKey() bool {
	if c.BaseURL == "" {
		return true
	}
	u, err := parseBase(c.BaseURL)
	return err == nil && isOpenAIHost(u)
}

func parseBase(s string) (*url.URL, error) { return client.ParseBase(s, DefaultBaseURL) }

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

// key is the key to send, "" for none.
func (c Config) key() string {
	if c.KeyEnv == "" {
		return ""
	}
	return os.Getenv(c.KeyEnv)
}

// isOpenAI reports whether u is OpenAI's own API, at home or on Azure.
func isOpenAI(u *url.URL) bool {
	h := strings.ToLower(u.Hostname())
	for _, end := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(h, end) {
			return true
		}
	}
	return isOpenAIHost(u)
}

func isOpenAIHost(u *url.URL) bool {
	h := strings.ToLower(u.Hostname())
	return h == "api.openai.com" || strings.HasSuffix(h, ".openai.com")
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
