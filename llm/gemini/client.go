package gemini

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
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
	ex := &exchange{http: c.http, header: c.cfg.Header, to: to, request: r, stream: req.Stream}
	callCtx := wire.WithOwnLog(wire.WithCapture(ctx, capture))
	callCtx = context.WithValue(callCtx, credentialsKey{}, &credentials{cfg: c.cfg, adc: c.adc, ex: ex})
	resp, err := c.call(callCtx, r, ex, capture)
	got := capture.Get()
	ex.Complete(&resp, got, ex.scrubbed.Load())
	err = c.failure(ctx, ex, &resp, err)
	if got.Calls > 0 {
		llm.LogCall(ctx, llm.Call{Response: resp, Err: err})
	}
	return resp, err
}

// call sends the request through the SDK and reads the answer ourselves.
func (c *Client) call(ctx context.Context, r *request, ex *exchange, capture *wire.Capture) (llm.Response, error) {
	sdkErr := send(ctx, r, ex)
	if ex.Status == 0 || ex.Err != nil && !errors.Is(ex.Err, wire.ErrIncomplete) {
		return llm.Response{}, client.FirstError(ex.Err, sdkErr)
	}
	var a answer
	if ex.events == nil {
		return a.body(ctx, ex)
	}
	defer ex.events.rc.Close()
	for {
		ev, err := ex.events.Next()
		if err == nil {
			// Megabytes of events may have come before the context was over.
			err = cmp.Or(a.event(ev, capture.LastRead()), ctx.Err())
		}
		if err == nil {
			continue
		}
		bare := ex.events.bareError()
		cleanly := err == io.EOF || errors.Is(err, wire.ErrIncomplete)
		if cleanly || client.Broke(ctx, err) && (a.done() || bare != nil) {
			err = a.end(bare)
		}
		return a.response(), err
	}
}
