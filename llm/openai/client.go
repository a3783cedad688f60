package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

// A Client is a [llm.Model] of one model at one server. Safe for concurrent
// use. Make one with [New] or [Config.New].
type Client struct {
	cfg  Config
	http *http.Client
}

var _ llm.Model = (*Client)(nil)

// guard refuses a call without a key just before it would leave the process:
// a recording that answers instead needs none.
type guard struct {
	base http.RoundTripper
	cfg  Config
}

func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	err := client.HeaderFault(req, g.cfg.Provider)
	if err == nil && !g.cfg.KeyOptional && !client.IsLoopback(req.URL) && !hasKey(req.Header) {
		err = g.cfg.noKey(req.URL)
	}
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	return wire.Transport{Base: g.base}.RoundTrip(req)
}

// hasKey reports whether a key is sent in any header that may hold one, be it
// one of the user's own.
func hasKey(h http.Header) bool {
	for name, vs := range h {
		if len(vs) > 0 && vs[0] != "" && !strings.EqualFold(name, "Cookie") && masksHeader(name) {
			return true
		}
	}
	return false
}

// noKey is the error of a call that would go out without a key.
func (c Config) noKey(u *url.URL) error {
	e := &llm.Error{Kind: llm.KindAuth, Provider: c.Provider}
	if c.KeyEnv == "" {
		e.Message = fmt.Sprintf("no key for %q: Config.KeyEnv is empty, and the one in %s is not sent to any server but OpenAI's", u.Host, DefaultKeyEnv)
		e.Hint = "name the variable that holds this server's key in Config.KeyEnv, or set KeyOptional if it wants none"
		return e
	}
	e.Message = "no key: the environment variable " + c.KeyEnv + " is not set"
	e.Hint = "set it; a server on this machine and a replayed cassette need none"
	return e
}

func (g guard) CloseIdleConnections() { wire.Transport{Base: g.base}.CloseIdleConnections() }

// Generate makes one call. Beside an error it returns what had arrived: the
// text so far, usage, timing. The call is logged to the context's
// [llm.CallLog].
func (c *Client) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	base, err := c.cfg.base()
	if err != nil {
		return llm.Response{}, err
	}
	body, fields, err := c.build(base, req)
	if err != nil {
		return llm.Response{}, err
	}
	capture := &wire.Capture{MaxBody: -1}
	callCtx := wire.WithOwnLog(wire.WithCapture(wire.WithExtra(ctx, fields), capture))
	ex := &exchange{
		http: c.http, header: c.cfg.Header, stream: req.Stream, key: c.cfg.key(), keyHeader: c.cfg.KeyHeader,
		query: base.RawQuery, lastRead: capture.LastRead,
	}
	resp, err := c.call(callCtx, base, body, ex)
	got := capture.Get()
	ex.Complete(&resp, got, false)
	err = c.failure(ctx, ex, &resp, err)
	if got.Calls > 0 {
		llm.LogCall(ctx, llm.Call{Response: resp, Err: err})
	}
	return resp, err
}

// call sends the request through the SDK and reads the answer ourselves: the
// SDK loses whole answers over a count spelled 12.0, and knows no reasoning
// field but one.
func (c *Client) call(ctx context.Context, base *url.URL, body sdk.ChatCompletionRequest, ex *exchange) (llm.Response, error) {
	bearer := ex.key
	if ex.keyHeader != "" {
		bearer = "" // the exchange sends it
	}
	cfg := sdk.DefaultConfig(bearer)
	plain := *base
	plain.RawQuery = "" // the SDK would put the path behind it
	cfg.BaseURL, cfg.HTTPClient = plain.String(), ex
	api := sdk.NewClientWithConfig(cfg)
	var a answer
	if !body.Stream {
		_, err := api.CreateChatCompletion(ctx, body)
		if ex.Err != nil || ex.Status == 0 {
			return llm.Response{}, client.FirstError(ex.Err, err)
		}
		err = a.whole(ctx, ex)
		return a.response(), err
	}
	stream, err := api.CreateChatCompletionStream(ctx, body)
	switch {
	case ex.Err != nil || ex.Status == 0:
		return llm.Response{}, client.FirstError(ex.Err, err)
	case ex.events == nil: // no stream came
		if err == nil {
			stream.Close()
		}
		err = a.whole(ctx, ex)
		return a.response(), err
	case err != nil:
		return llm.Response{}, err
	}
	for {
		var data []byte
		if data, err = ex.events.next(); err != nil {
			break
		}
		if err = a.event(data, ex.lastRead()); err == nil {
			err = ctx.Err() // megabytes of events may have come before it was over
		}
		if err != nil {
			break
		}
	}
	stream.Close()
	a.over = ex.events.over
	if err == io.EOF || a.done() && client.Broke(ctx, err) {
		err = a.end()
	}
	return a.response(), err
}
