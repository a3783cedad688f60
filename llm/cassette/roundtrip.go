package cassette

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// asked is a request as the cassette sees it.
type asked struct {
	slot
	req     *http.Request
	entry   *entry // what will be stored of it
	release func() // gives the occurrence back
}

// RoundTrip answers req from the recording, or asks next and records, as the
// mode says.
func (c *Cassette) RoundTrip(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	if c.opts.Mode == Off {
		return next.RoundTrip(req)
	}
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	a := c.ask(req, body)
	for {
		e, wait, err := c.lookup(a)
		switch {
		case err != nil:
			a.release()
			return nil, err
		case e != nil:
			return e.response(req), nil
		case wait == nil:
			return c.record(a, body, next)
		}
		select {
		case <-wait: // then look again: it may have failed
		case <-req.Context().Done():
			a.release()
			return nil, req.Context().Err()
		}
	}
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(req.Body)
	return b, errors.Join(err, req.Body.Close())
}

// ask computes which recording a request is answered by.
func (c *Cassette) ask(req *http.Request, body []byte) *asked {
	ctx := req.Context()
	e := &entry{
		Item: llm.ItemID(ctx), Sample: llm.SampleIndex(ctx),
		Method: req.Method, Path: target(req.URL),
	}
	if c.opts.Host {
		e.Host = req.URL.Host
	}
	if canon, ok := canonical(body, nil); ok {
		e.Request, e.canon = canon, canon
	} else if len(body) > 0 {
		e.Plain = plainBody(req.Header, body)
		e.canon = e.Plain
	}
	c.place(e)
	n, release, _ := llm.TakeOccurrence(ctx, fmt.Sprintf("cassette %d %x %d", c.id, e.key, e.sample))
	e.N, e.n, e.usual.n = n, n, n
	return &asked{slot: e.slot, req: req, entry: e, release: release}
}

// lookup finds the recording. It returns a channel to wait on if an equal
// call is in flight, and neither if the caller is to ask: it then owns the
// slot's flight.
func (c *Cassette) lookup(a *asked) (*entry, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, own(llm.KindUnknown, errClosed)
	}
	if e := c.find(a); e != nil {
		e.used = true
		c.stats.Replayed++
		return e, nil, nil
	}
	if c.opts.Mode == Replay {
		c.stats.Missed++
		return nil, nil, c.miss(a)
	}
	if f := c.flights[a.slot]; f != nil {
		return nil, f, nil
	}
	if c.part == nil {
		// Before the call: an answer that was paid for must not be lost.
		p, entries, err := openPart(c.path+partSuffix, true)
		if err != nil {
			return nil, nil, own(llm.KindUnknown, err)
		}
		if len(entries) > 0 { // another process came and died since Open
			c.warnings = append(c.warnings, fmt.Errorf("cassette: %s was left by another recording: its %d answers are dropped", p.path, len(entries)))
		}
		c.part = p
	}
	c.flights[a.slot] = make(chan struct{})
	return nil, nil, nil
}

// land ends the flight of a's slot.
func (c *Cassette) land(a *asked, stored bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flights[a.slot]; f != nil {
		delete(c.flights, a.slot)
		close(f)
	}
	if !stored {
		c.stats.Skipped++
		a.release()
	}
}

// record asks next and listens to its answer.
func (c *Cassette) record(a *asked, body []byte, next http.RoundTripper) (*http.Response, error) {
	secrets := c.secrets(a.req)
	if why := refusedRequest(a, body, secrets); why != "" {
		c.land(a, false)
		return nil, own(llm.KindBadRequest, fmt.Errorf("%w: the request to %s %s %s, so it was not sent", ErrSecret, a.entry.Method, wire.Mask(a.entry.Path, secrets...), why))
	}
	out := a.req.WithContext(a.req.Context())
	if out.Header.Get("Accept-Encoding") != "" {
		// A packed answer can be searched for secrets by nobody, reviewers
		// included. net/http packs and unpacks by itself without this header.
		out.Header = out.Header.Clone()
		out.Header.Del("Accept-Encoding")
	}
	if body != nil {
		out.Body = io.NopCloser(bytes.NewReader(body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		out.ContentLength = int64(len(body))
	}
	start := time.Now()
	resp, err := next.RoundTrip(out)
	if err != nil {
		c.land(a, false)
		return nil, err
	}
	a.entry.Status = resp.StatusCode
	a.entry.Header = c.keep(resp)
	t := &tape{
		rc: resp.Body, c: c, a: a, start: start, secrets: secrets, length: resp.ContentLength,
		watch: wire.NewWatch(a.req.Method, a.req.URL.Path, resp.Header),
	}
	// An SDK that never closes a body must not keep equal requests waiting.
	t.mu.Lock()
	t.stop = context.AfterFunc(a.req.Context(), t.abandon)
	t.mu.Unlock()
	resp.Body = t
	return resp, nil
}

// own marks a failure of the recording itself: asking again would cost again
// and fail again, so its kind is none that is tried again.
func own(kind llm.ErrorKind, err error) error { return &llm.Error{Kind: kind, Err: err} }

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

var keptHeaders = []string{"Content-Type", "Content-Encoding", "Retry-After", "Retry-After-Ms", "X-Request-Id", "Request-Id", "Openai-Processing-Ms"}

// keep is what is stored of an answer's header. Where a redirect points to is
// stored without key parameters, which do not count in requests either.
func (c *Cassette) keep(resp *http.Response) http.Header {
	h, out := resp.Header, http.Header{}
	if to := h.Get("Location"); to != "" && isRedirect(resp.StatusCode) {
		if u, err := url.Parse(to); err == nil {
			u.User, u.RawQuery = nil, withoutKeys(u.Query())
			out.Set("Location", u.String())
		}
	}
	for _, name := range slices.Concat(keptHeaders, c.opts.Headers) {
		name = http.CanonicalHeaderKey(name)
		if vs := h.Values(name); len(vs) > 0 {
			out[name] = slices.Clone(vs)
		}
	}
	return out
}

// store writes an entry down and makes it known.
func (c *Cassette) store(e *entry, secrets []string) error {
	line, err := e.encode()
	if err != nil {
		return own(llm.KindUnknown, fmt.Errorf("cassette: %w", err))
	}
	if why := refusedAnswer(e, line, secrets); why != "" {
		return own(llm.KindBadRequest, fmt.Errorf("%w: the answer to %s %s %s; nothing was recorded", ErrSecret, e.Method, e.Path, why))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return own(llm.KindUnknown, errClosed)
	}
	if err := c.part.write(line); err != nil {
		return own(llm.KindUnknown, err)
	}
	// Keep what a replay would read, not what was measured: both show the
	// same times then.
	for i, m := range e.marks {
		e.marks[i].At = fromMS(toMS(m.At))
	}
	c.put(e)
	c.times[e.slot.request]++
	c.fresh, e.used = true, true
	c.stats.Recorded++
	return nil
}
