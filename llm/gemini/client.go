package gemini

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// A Client is a [llm.Model] of one model. Safe for concurrent use. Make one
// with [New] or [Config.New].
type Client struct {
	cfg  Config
	http *http.Client
	adc  *adc
}

var _ llm.Model = (*Client)(nil)

// httpClient puts wire, and below it the guard, under the user's client.
func httpClient(c Config) *http.Client {
	hc := http.Client{}
	if c.HTTPClient != nil {
		hc = *c.HTTPClient
	}
	if hc.CheckRedirect == nil {
		hc.CheckRedirect = checkRedirect
	}
	hc.Transport = wire.Transport{Base: guard{base: hc.Transport}, Provider: c.Provider}
	return &hc
}

// checkRedirect follows a redirect only where it stays the same request to the
// same host. net/http would turn a POST into a GET, and would carry the key's
// header to wherever the server points.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	same := req.Method == first.Method && req.URL.Hostname() == first.URL.Hostname() &&
		(req.URL.Scheme == first.URL.Scheme || req.URL.Scheme == "https")
	if !same || len(via) >= 10 {
		return http.ErrUseLastResponse
	}
	return nil
}

// Generate makes one call. Beside an error it returns what had arrived: the
// text so far, usage, timing. The call is logged to the context's
// [llm.CallLog].
func (c *Client) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	to, err := c.cfg.target()
	if err != nil {
		return llm.Response{}, err
	}
	r, err := c.build(to, req)
	if err != nil {
		return llm.Response{}, err
	}
	capture := &wire.Capture{MaxBody: -1}
	ex := &exchange{client: c.http, header: c.cfg.Header, to: to, request: r, stream: req.Stream}
	callCtx := wire.WithOwnLog(wire.WithCapture(ctx, capture))
	callCtx = context.WithValue(callCtx, credentialsKey{}, &credentials{cfg: c.cfg, adc: c.adc, ex: ex})
	resp, err := c.call(callCtx, r, ex, capture)
	got := capture.Get()
	resp.Timing = llm.Timing{Start: got.Start, Total: got.End}
	if len(resp.Chunks) > 0 {
		resp.Timing.FirstToken = resp.Chunks[0]
	}
	resp.Replayed = got.Replayed
	resp.RateLimit = wire.RateLimits(ex.head, time.Now())
	ex.hide(&resp)
	err = c.failure(ctx, ex, &resp, err)
	if got.Calls > 0 {
		llm.LogCall(ctx, llm.Call{Response: resp, Err: err})
	}
	return resp, err
}

// call sends the request through the SDK and reads the answer ourselves.
func (c *Client) call(ctx context.Context, r *request, ex *exchange, capture *wire.Capture) (llm.Response, error) {
	sdkErr := send(ctx, r, ex)
	if ex.status == 0 || ex.err != nil && !errors.Is(ex.err, wire.ErrIncomplete) {
		return llm.Response{}, firstError(ex.err, sdkErr)
	}
	var a answer
	if ex.events == nil {
		return a.body(ex)
	}
	defer ex.events.rc.Close()
	for {
		ev, err := ex.events.Next()
		if err == nil {
			err = a.event(ev, capture.LastRead())
		}
		if err == nil {
			continue
		}
		bare := ex.events.bareError()
		cleanly := err == io.EOF || errors.Is(err, wire.ErrIncomplete)
		if cleanly || errors.Is(err, io.ErrUnexpectedEOF) && (a.done() || bare != nil) {
			err = a.end(bare)
		}
		return a.response(), err
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return errors.New("no answer and no error came")
}
