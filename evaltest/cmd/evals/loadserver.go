package main

import (
	"cmp"
	"flag"
	"net/http"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/client"
)

// serverFlags say which server a load goes to. Their names, meaning and defaults
// are batchbench's; the help says where ours differ.
type serverFlags struct {
	model, host, endpoint string
	key, keyEnv           string
	sglang                bool
	timeout               int
	retries, delay        int
	api, lengths          string
	headers               headerFlag
	http2                 bool
	ttftTimeout, idle     time.Duration
}

// headerFlag are headers given as "Name: value", once each.
type headerFlag struct {
	header http.Header
	bad    bool // one was no "Name: value"
}

func (h *headerFlag) String() string { return "" }

func (h *headerFlag) Set(s string) error {
	name, value, ok := strings.Cut(s, ":")
	if !ok || strings.TrimSpace(name) == "" {
		h.bad = true // package flag would quote the text, which may be a key
		return nil
	}
	if h.header == nil {
		h.header = http.Header{}
	}
	h.header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	return nil
}

func (s *serverFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&s.model, "model", "Qwen/Qwen3-VL-235B-A22B-Instruct-FP8", "the `MODEL`'s name, sent with each request")
	fs.StringVar(&s.host, "host", "https://api.openai.com", "the server's `URL`; https:// is put before a host without a scheme")
	fs.StringVar(&s.endpoint, "endpoint", "", "the `PATH` of the calls, or a whole URL that replaces -host (default: the API's, /v1/chat/completions)")
	fs.StringVar(&s.key, "api-key", "", "the `KEY`; other users of this machine can read it in the list of processes: use -api-key-env")
	fs.StringVar(&s.keyEnv, "api-key-env", "OPENAI_API_KEY", "the environment `VARIABLE` that holds the key; none is sent if it is empty")
	fs.BoolVar(&s.sglang, "sglang", false, "say max_new_tokens and min_new_tokens in place of max_tokens and min_tokens")
	fs.IntVar(&s.timeout, "request-timeout-secs", 60, "give a try up after so many `SECONDS`; 0 for never")
	fs.IntVar(&s.retries, "max-retries", 2, "`TRIES` after the first one, where it may help: after a failed connection, 429 and 5xx, not after another 4xx")
	fs.IntVar(&s.delay, "retry-delay-ms", 250, "wait so many `MS` before the second try, then twice that, and so on; a server's Retry-After goes before")
	fs.StringVar(&s.api, "api", "chat", "how the server is spoken `TO`: chat, completions or gemini")
	fs.StringVar(&s.lengths, "lengths", "", "the `NAMES` of an answer's length: vllm, sglang or openai, which has no minimum (default vllm)")
	fs.Var(&s.headers, "header", "send this `\"Name: value\"` with each request; may be given several times")
	fs.BoolVar(&s.http2, "http2", false, "speak HTTP/2")
	fs.DurationVar(&s.ttftTimeout, "first-token-timeout", 0, "give a streamed try up if its first token takes longer than this `TIME`")
	fs.DurationVar(&s.idle, "idle-timeout", 0, "give a streamed try up if the next token takes longer than this `TIME`")
}

// config is the client's configuration, without Concurrency.
func (s *serverFlags) config(env func(string) string) (client.Config, error) {
	cfg := client.Config{
		Host: s.host, Endpoint: s.endpoint, API: client.API(s.api), Model: s.model, Key: cmp.Or(s.key, env(s.keyEnv)), Header: s.headers.header,
		Timeouts: client.Timeouts{Total: time.Duration(s.timeout) * time.Second, First: s.ttftTimeout, Idle: s.idle},
		Retry:    client.Retry{Max: s.retries, Delay: time.Duration(s.delay) * time.Millisecond}, Lengths: client.Lengths(s.lengths), HTTP2: s.http2,
	}
	switch cfg.API {
	case client.Chat, client.Completions, client.Gemini:
	default:
		return cfg, usagef("-api is %q: want chat, completions or gemini", s.api)
	}
	switch cfg.Lengths {
	case "", client.VLLM, client.SGLang, client.OpenAI:
	default:
		return cfg, usagef("-lengths is %q: want vllm, sglang or openai", s.lengths)
	}
	switch {
	case s.headers.bad:
		return cfg, usagef("-header is not as it must be, and not shown for it may be a key: want %q", "Name: value")
	case s.ttftTimeout < 0:
		return cfg, usagef("-first-token-timeout is %v: want 0 or more", s.ttftTimeout)
	case s.idle < 0:
		return cfg, usagef("-idle-timeout is %v: want 0 or more", s.idle)
	case s.timeout < 0:
		return cfg, usagef("-request-timeout-secs is %d: want 0 or more", s.timeout)
	case s.retries < 0:
		return cfg, usagef("-max-retries is %d: want 0 or more", s.retries)
	case s.delay < 0:
		return cfg, usagef("-retry-delay-ms is %d: want 0 or more", s.delay)
	case s.sglang && s.lengths != "" && s.lengths != string(client.SGLang):
		return cfg, usagef("-sglang and -lengths %s contradict each other", s.lengths)
	case s.sglang:
		cfg.Lengths = client.SGLang
	}
	return cfg, nil
}
