package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"
)

// Batches says how a [Server] runs batch jobs, of both APIs. The zero value is
// a provider that needs no time: a job has ended when it is first looked at.
// Lines are answered by the server's Reply, as live calls are, but without
// their latency and limits.
//
// Nothing runs between two calls: a job moves when it is looked at, to where it
// should be by then. So a job costs no goroutine, and works in testing/synctest.
type Batches struct {
	// Validating, Running and Finalizing are how long a job stays in each
	// state. Its lines are answered evenly over Running, in an order that
	// Seed shuffles; OpenAI's output has that order, Gemini's the input's.
	// Gemini has no Finalizing.
	Validating, Running, Finalizing time.Duration
	// Cancelling is how long a job takes to stop once it is cancelled.
	Cancelling time.Duration
	// Window is how long a job may take before it expires with what it has;
	// default 24 h for OpenAI and 48 h for Gemini.
	Window time.Duration
	// MaxLines and MaxBytes are the most requests and bytes of one job;
	// default 50,000 and 200 MB for OpenAI; Gemini takes 20 MB inline.
	MaxLines int
	MaxBytes int64
	// Seed shuffles.
	Seed uint64
	// DropMetadata leaves the metadata of Gemini's requests out of its
	// responses, as has been seen: then only their order tells them apart.
	DropMetadata bool
}

func (b Batches) maxBytes() int64 {
	if b.MaxBytes > 0 {
		return b.MaxBytes
	}
	return maxBatchBytes
}

func (b Batches) maxLines() int {
	if b.MaxLines > 0 {
		return b.MaxLines
	}
	return maxBatchLines
}

// check says what of the fields cannot be meant.
func (b Batches) check() error {
	for name, d := range map[string]time.Duration{
		"Validating": b.Validating, "Running": b.Running, "Finalizing": b.Finalizing, "Cancelling": b.Cancelling, "Window": b.Window,
	} {
		if d < 0 {
			return fmt.Errorf("llmtest: Server.Batches.%s is %v: want none below 0", name, d)
		}
	}
	if b.MaxLines < 0 || b.MaxBytes < 0 {
		return fmt.Errorf("llmtest: Server.Batches has MaxLines %d and MaxBytes %d: want neither below 0 (0 is the default)", b.MaxLines, b.MaxBytes)
	}
	return nil
}

// A phase is where a job is.
type phase int

const (
	validating phase = iota
	running
	finalizing
	completed
	expired
	cancelling
	cancelled
)

func (p phase) over() bool { return p == completed || p == expired || p == cancelled }

// work is a batch job of either API: requests that are answered over time.
type work struct {
	cfg      Batches
	created  time.Time
	expires  time.Time
	requests []workRequest
	order    []int // the places of the requests, in the order of their answers
	// turn is held while the job moves. It is no mutex: a Reply may sleep, and
	// time stands still in a bubble while a goroutine waits for a mutex.
	turn chan struct{}

	// Under turn.
	answers   []workAnswer // in that order
	cancelAt  time.Time
	completed int
	failed    int
}

// A workRequest is one request of a job: where it would have been sent, and
// its body.
type workRequest struct {
	url    *url.URL
	header http.Header
	body   json.RawMessage
}

// A workAnswer is what one request came to; a status of 0 is none in time.
type workAnswer struct {
	status int
	body   json.RawMessage // JSON
}

func newWork(cfg Batches, window time.Duration, id string, requests []workRequest) *work {
	if cfg.Window > 0 {
		window = cfg.Window
	}
	now := time.Now()
	var seed [32]byte
	copy(seed[:], fmt.Sprintf("%d %s", cfg.Seed, id))
	return &work{
		cfg: cfg, created: now, expires: now.Add(window), requests: requests,
		order: rand.New(rand.NewChaCha8(seed)).Perm(len(requests)), turn: make(chan struct{}, 1),
	}
}

func (w *work) validated() time.Time { return w.created.Add(w.cfg.Validating) }
func (w *work) answered() time.Time  { return w.validated().Add(w.cfg.Running) }
func (w *work) finished() time.Time  { return w.answered().Add(w.cfg.Finalizing) }

// due is when the k-th answer comes.
func (w *work) due(k int) time.Time {
	hi, lo := bits.Mul64(uint64(w.cfg.Running), uint64(k+1)) // 128 bits: days of 50,000 requests are more than 64
	part, _ := bits.Div64(hi, lo, uint64(len(w.requests)))
	return w.validated().Add(time.Duration(part))
}

// phase is where the job is at now.
func (w *work) phase(now time.Time) phase {
	late := w.answered().After(w.expires)
	switch {
	case !w.cancelAt.IsZero() && now.Before(w.cancelAt.Add(w.cfg.Cancelling)):
		return cancelling
	case !w.cancelAt.IsZero():
		return cancelled
	case late && !now.Before(w.expires):
		return expired
	case now.Before(w.validated()):
		return validating
	case now.Before(w.answered()):
		return running
	case now.Before(w.finished()):
		return finalizing
	}
	return completed
}

// lock waits for the job's turn, or reports that the caller has gone.
func (w *work) lock(r *http.Request) bool {
	select {
	case w.turn <- struct{}{}:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (w *work) unlock() { <-w.turn }

// cancel stops the job, and reports whether it could be stopped.
func (w *work) cancel(now time.Time) bool {
	switch w.phase(now) {
	case validating, running:
		w.cancelAt = now
		return true
	case cancelling, cancelled:
		return true
	}
	return false
}

// advance answers the requests that are due by now.
func (w *work) advance(s *Server, now time.Time) {
	end := now
	for _, t := range []time.Time{w.cancelAt, w.expires} {
		if !t.IsZero() && t.Before(end) {
			end = t
		}
	}
	for k := len(w.answers); k < len(w.requests) && !w.due(k).After(end); k++ {
		a := s.answerOne(w.requests[w.order[k]])
		w.answers = append(w.answers, a)
		if a.status >= 200 && a.status < 300 {
			w.completed++
		} else {
			w.failed++
		}
	}
}

// lineTimeout is how long one request of a job may hang.
const lineTimeout = time.Second

// batchKey marks the context of a request that comes from a batch job.
type batchKey struct{}

// inBatch reports whether a call is a line of a batch job: it waits for
// nothing and counts against no limit.
func inBatch(ctx context.Context) bool { return ctx.Value(batchKey{}) != nil }

// answerOne answers one request as a live call.
func (s *Server) answerOne(q workRequest) workAnswer {
	var ask struct {
		Stream bool `json:"stream"`
	}
	if json.Unmarshal(q.body, &ask) == nil && ask.Stream {
		return workAnswer{http.StatusBadRequest, errorBody("Streaming is not supported in batches.")}
	}
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), batchKey{}, true), lineTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url.String(), bytes.NewReader(q.body))
	if err != nil {
		return workAnswer{http.StatusBadRequest, errorBody(err.Error())}
	}
	r.Header = q.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "batch"
	rec := &recorder{header: http.Header{}}
	whole := rec.serve(s, r)
	body := bytes.TrimSpace(rec.body.Bytes())
	switch {
	case ctx.Err() != nil || whole && rec.status == 0:
		return workAnswer{}
	case !whole || rec.status < 300 && !json.Valid(body):
		return workAnswer{http.StatusInternalServerError, errorBody("The server had an error while processing your request.")}
	case !json.Valid(body):
		return workAnswer{rec.status, errorBody(http.StatusText(rec.status))}
	}
	return workAnswer{rec.status, body}
}

func errorBody(message string) json.RawMessage {
	_, v := OpenAI.dialect().failure(problem{typ: "server_error", message: message})
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error()) // of our own types
	}
	return b
}

// recorder keeps a whole answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) Flush()              {}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// serve reports whether the handler ended the answer: one that panics breaks
// its connection, as in net/http, and answers with what it panicked with.
func (r *recorder) serve(h http.Handler, req *http.Request) (whole bool) {
	defer func() {
		switch v := recover(); {
		case v == nil:
		case v == http.ErrAbortHandler:
			whole = false
		default:
			*r = recorder{header: http.Header{}, status: http.StatusInternalServerError}
			r.body.Write(errorBody(fmt.Sprintf("llmtest: the handler panicked: %v\n%s", v, debug.Stack())))
			whole = true
		}
	}()
	h.ServeHTTP(r, req)
	return true
}
