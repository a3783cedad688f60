package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

const secret = "topsecret/0123456789-0123456789"

func at(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

func TestValue(t *testing.T) {
	rows := []struct {
		name, reason  string
		answer        client.Answer
		value, events string
		err           string
	}{
		{"object", "the rows below are told from this one", client.Answer{Body: []byte(`{"a":1}`)}, `{"a":1}`, "", ""},
		{"bytes behind it", "some servers put them there", client.Answer{Body: []byte(`{"a":1}` + "\n\x00junk")}, `{"a":1}`, "", ""},
		{"byte order mark", "no part of JSON", client.Answer{Body: []byte("\xef\xbb\xbf [1]")}, `[1]`, "", ""},
		{"empty", "white space is no answer", client.Answer{Body: []byte(" \n")}, "", "", "the body is empty"},
		{"half", "the rest did not come", client.Answer{Body: []byte(`{"a":`)}, "", "", io.ErrUnexpectedEOF.Error()},
		{"page", "a page is no JSON", client.Answer{Body: []byte("<h1>")}, "", "", "the body is not JSON"},
		{"events", "sent as something else", client.Answer{Body: []byte("\n: hi\ndata: {}\n\n")}, "", ": hi\ndata: {}", ""},
		{"refused", "whatever the body is", client.Answer{Status: 500, Body: []byte("{}")}, "", "", "the server refused"},
		{"too long", "a part of a value is none", client.Answer{Body: []byte("{}"), Cut: true}, "", "", client.ErrTooLong.Error()},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if r.answer.Status == 0 {
				r.answer.Status = http.StatusOK
			}
			value, events, err := r.answer.Value()
			if r.err != "" {
				require.EqualError(t, err, r.err, r.reason)
				return
			}
			require.NoError(t, err, r.reason)
			assert.Equal(t, r.value, string(value), r.reason)
			assert.Equal(t, r.events, string(events), r.reason)
		})
	}
}

func TestCheckRedirect(t *testing.T) {
	rows := []struct {
		name, reason, method, from, to string
		hops                           int
		follow                         bool
	}{
		{"another path", "the same host may have moved it", "POST", "https://a.example/v1", "https://a.example/v2", 1, true},
		{"another port", "is another server", "POST", "http://a.example:8000/v1", "http://a.example:8001/v1", 1, false},
		{"no port", "is another one too", "POST", "http://a.example:8000/v1", "http://a.example/v1", 1, false},
		{"to https at another port", "its name is proven", "POST", "http://a.example:8000/v1", "https://a.example/v1", 1, true},
		{"to https", "safer", "POST", "http://a.example/v1", "https://a.example/v1", 1, true},
		{"from https", "the key would be readable", "POST", "https://a.example/v1", "http://a.example/v1", 1, false},
		{"another host", "the key is not its", "POST", "https://a.example/v1", "https://b.example/v1", 1, false},
		{"a host below it", "may be another's", "POST", "https://a.example/v1", "https://x.a.example/v1", 1, false},
		{"as a GET", "asks for something else", "GET", "https://a.example/v1", "https://a.example/v2", 1, false},
		{"in circles", "must end", "POST", "https://a.example/v1", "https://a.example/v1", 10, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			via := make([]*http.Request, r.hops)
			for i := range via {
				via[i] = &http.Request{Method: "POST", URL: at(r.from)}
			}
			err := client.CheckRedirect(&http.Request{Method: r.method, URL: at(r.to)}, via)
			assert.Equal(t, r.follow, err == nil, r.reason)
		})
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost:8000": true, "127.0.0.1": true, "127.9.9.9:1": true, "[::1]:8000": true,
		"10.0.0.1": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "": false,
	} {
		assert.Equal(t, want, client.IsLoopback(at("http://"+host+"/v1")), host)
	}
}

// TestMaskShowsNoHalfKey has a key at every place around the end of what is
// masked of a long text.
func TestMaskShowsNoHalfKey(t *testing.T) {
	a := client.Answer{Secrets: []string{secret}}
	for shift := range 100 {
		text := strings.Repeat(" ", 16<<10-50+shift-len(secret)) + secret + strings.Repeat(" ", 100)
		require.NotContains(t, a.Mask(text), secret[:8], "%d", shift)
		require.NotContains(t, a.Excerpt([]byte("<"+strings.ReplaceAll(text[1:], "  ", "<>"))), secret[:8], "%d", shift)
	}
	assert.Equal(t, "a [masked] b", a.Mask("a "+secret+" b"))
}

// TestDescribeShowsNoKey: a content type is masked as it came, since in small
// letters a key would not be found, and so is a body that breaks in a key.
func TestDescribeShowsNoKey(t *testing.T) {
	const key = "TOPSECRET/0123456789"
	a := client.Answer{Secrets: []string{key}, Status: 502, Head: http.Header{"Content-Type": {"text/" + key + "; charset=utf-8"}}, Body: []byte("the key " + key[:12])}
	assert.Equal(t, `why (status 502, content type text/[masked]): "the key [masked]"`, a.Describe("why"))
	r := llm.Response{Text: "it is " + key[:12]}
	a.Complete(&r, wire.Captured{}, false)
	assert.Equal(t, "it is [masked]", r.Text, "a stream that was cut")
}

func TestCut(t *testing.T) {
	rows := []struct{ name, reason, in, want string }{
		{"short", "the bound itself is allowed", "abcd", "abcd"},
		{"long", "a mark says that there was more", "abcde", "abcd…"},
		{"between characters", "no half of one", "abcé", "abc…"},
		{"no text", "what is shown must be text", "a\xff", "a\uFFFD"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { assert.Equal(t, r.want, client.Cut(r.in, 4), r.reason) })
	}
}

func TestComplete(t *testing.T) {
	head := http.Header{"X-Ratelimit-Remaining-Requests": {"0"}}
	a := client.Answer{Secrets: []string{secret}, Head: head}
	r := llm.Response{
		Text: "it is " + secret, Reasoning: secret, Refusal: secret, Model: strings.Repeat("x", 250) + secret, ID: secret, Finish: llm.FinishReason(secret),
		ToolCalls: []llm.ToolCall{{ID: secret, Name: secret, Arguments: secret}}, Warnings: []string{strings.Repeat("x", 590) + secret},
		Chunks: []time.Duration{3, 5},
	}
	a.Complete(&r, wire.Captured{End: 7}, false)
	assert.NotContains(t, fmt.Sprintf("%+v", r), "topsecret")
	assert.Equal(t, "it is [masked]", r.Text)
	assert.Len(t, r.Model, client.MaxName+len("…"))
	assert.Equal(t, llm.Timing{FirstToken: 3, Total: 7}, r.Timing)
	assert.Contains(t, r.Warnings, "the answer held the key of the request, which was removed")
	require.NotNil(t, r.RateLimit)
	assert.True(t, r.RateLimit.Requests.Exhausted())

	r = llm.Response{Text: "a"}
	a.Complete(&r, wire.Captured{Replayed: true}, false)
	assert.Equal(t, llm.Response{Text: "a", Replayed: true}, r, "recorded limits say nothing of now")

	r = llm.Response{Text: "a"}
	a.Complete(&r, wire.Captured{}, true)
	assert.Len(t, r.Warnings, 1, "a key was removed below")
}

func TestFailure(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	called := client.Answer{URL: at("http://a.example"), Secrets: []string{secret}}
	came := called
	came.Status = 200
	rows := []struct {
		name, reason string
		ctx          context.Context
		answer       client.Answer
		err          error
		kind         llm.ErrorKind
		text         string // that stands in the error
	}{
		{"known", "said below", nil, called, fmt.Errorf("Post: %w", &llm.Error{Kind: llm.KindAuth, Message: "no key"}), llm.KindAuth, "no key"},
		{"canceled", "by the caller", over, came, io.ErrUnexpectedEOF, llm.KindCanceled, "context canceled (unexpected EOF)"},
		{"deadline", "of the client's own", nil, called, context.DeadlineExceeded, llm.KindTimeout, "deadline exceeded"},
		{"unsent", "the SDK refused it", nil, client.Answer{}, errors.New("odd"), llm.KindBadRequest, "odd"},
		{"incomplete", "an answer had begun", nil, came, io.ErrUnexpectedEOF, llm.KindIncomplete, "unexpected EOF"},
		{"hung up", "no answer had begun", nil, called, io.ErrUnexpectedEOF, llm.KindConnection, "unexpected EOF"},
		{"too long", "another try would be as long", nil, came, client.ErrTooLong, llm.KindBadResponse, "64 MiB"},
		{"event too long", "another try would be as long", nil, came, wire.ErrEventTooLong, llm.KindBadResponse, ""},
		{"no server", "with a hint", nil, called, &net.OpError{Err: syscall.ECONNREFUSED}, llm.KindConnection, "no server listens there"},
		{"no host", "with a hint", nil, called, &net.DNSError{IsNotFound: true}, llm.KindConnection, "no such host: check BaseURL"},
		{"key", "not in the cause either", nil, called, errors.New("no " + secret), llm.KindConnection, "no [masked]"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			ctx := r.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			e := r.answer.Failure(ctx, llm.Error{Provider: "p"}, r.err)
			assert.Equal(t, r.kind, e.Kind, r.reason)
			assert.ErrorContains(t, e, r.text, r.reason)
			assert.NotContains(t, e.Error(), secret)
		})
	}
}

func TestFaults(t *testing.T) {
	for thinking, want := range map[llm.Thinking]string{
		{}:                       "sets nothing",
		{Off: true}:              "",
		{Level: "low"}:           "",
		{Budget: new(int64(0))}:  "",
		{Off: true, Level: "lo"}: `has Off and Level "lo": set one`,
		{Off: true, Level: "lo", Budget: new(int64(7))}: `has Off and Level "lo" and Budget 7: set one`,
	} {
		got := client.ThinkingFault(thinking)
		assert.Equal(t, want == "", got == "", got)
		assert.Contains(t, got, want)
	}
	assert.Empty(t, client.ExtraFault("a", nil), "null")
	assert.Empty(t, client.ExtraFault("a", json.RawMessage("1")))
	fault := client.ExtraFault("api_key", json.RawMessage(secret))
	assert.Contains(t, fault, `Extra["api_key"] is not JSON`)
	assert.NotContains(t, fault, secret[:2])
	for base, want := range map[string]string{
		"https://a.example/v1": "", "ftp://x:" + secret[:9] + "@a": "want http://", "/v1": "such as https://usual", "http://%zz": "is no URL",
	} {
		_, err := client.ParseBase(base, "https://usual")
		assert.Equal(t, want == "", err == nil, base)
		if err != nil {
			assert.ErrorContains(t, err, want)
			assert.NotContains(t, err.Error(), secret[:9])
		}
	}
}
