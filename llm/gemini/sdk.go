package gemini

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"

	"google.golang.org/genai"

	"github.com/goevals/evals/llm/wire"
)

// The SDK writes the requests: the path, its headers, and the API's form of
// what both APIs spell differently. It is never shown a key, since it prints
// its configuration into errors; and never an answer, since it loses whole ones
// over a count spelled 12.0, takes a cut stream for a whole one and prints to
// stderr what breaks. One client for each API serves the whole process: a call
// brings its own exchange in its context.
var sdkClients = map[bool]func() (*genai.Client, error){
	false: sync.OnceValues(func() (*genai.Client, error) { return newSDK(genai.BackendGeminiAPI) }),
	true:  sync.OnceValues(func() (*genai.Client, error) { return newSDK(genai.BackendVertexAI) }),
}

// noKey stands where the SDK wants a key. It never leaves the process.
const noKey = "unused"

func newSDK(backend genai.Backend) (*genai.Client, error) {
	cc := genai.ClientConfig{
		Backend: backend, APIKey: noKey,
		HTTPClient:  &http.Client{Transport: sdkTransport{}},
		HTTPOptions: genai.HTTPOptions{BaseURL: DefaultBaseURL},
	}
	if backend == genai.BackendVertexAI {
		// A location without a project keeps the SDK from weighing the key
		// against the environment, aloud. The path is ours: with this scope
		// the SDK puts no project of the environment before it.
		cc.Location = DefaultLocation
		cc.HTTPOptions.BaseURLResourceScope = genai.ResourceScopeCollection
	}
	defer quiet()()
	client, err := genai.NewClient(context.Background(), &cc)
	return client, wire.MaskError(err, os.Getenv(DefaultKeyEnv), os.Getenv(SecondKeyEnv))
}

// quiet keeps the SDK from logging that both variables with keys are set,
// which it does whatever it is configured to. All other lines go through. It
// lasts for as long as one client is made, at most twice in a process.
func quiet() (restore func()) {
	if os.Getenv(DefaultKeyEnv) == "" || os.Getenv(SecondKeyEnv) == "" {
		return func() {}
	}
	f := &lineFilter{w: log.Writer()}
	log.SetOutput(f)
	return func() {
		if log.Writer() == io.Writer(f) { // nobody has set another meanwhile
			log.SetOutput(f.w)
		}
	}
}

type lineFilter struct{ w io.Writer }

func (f *lineFilter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("Both GOOGLE_API_KEY and GEMINI_API_KEY are set")) {
		return len(p), nil
	}
	return f.w.Write(p)
}

// send has the SDK make the call of ex, which keeps what comes of it. The
// SDK's own error is of use only where ex has none.
func send(ctx context.Context, r *request, ex *exchange) error {
	client, err := sdkClients[ex.to.vertex]()
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, exchangeKey{}, ex)
	cfg := r.config
	cfg.HTTPOptions = &genai.HTTPOptions{BaseURL: ex.to.base.String(), APIVersion: ex.to.version}
	// Both would make calls of which nobody knows.
	cfg.AutomaticContinuation = new(false)
	cfg.HTTPOptions.RetryOptions = nil
	if !ex.stream {
		_, err = client.Models.GenerateContent(ctx, ex.to.model, r.contents, &cfg)
		return err
	}
	for _, err = range client.Models.GenerateContentStream(ctx, ex.to.model, r.contents, &cfg) {
		if err != nil {
			return err
		}
	}
	return nil
}

type exchangeKey struct{}

// sdkTransport is what the SDK believes to be the network.
type sdkTransport struct{}

func (sdkTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ex, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, errNoExchange
	}
	if err := ex.do(req); err != nil {
		return nil, err
	}
	// A clean end of nothing: an empty object, or a stream without events.
	empty := "{}"
	if ex.stream {
		empty = ""
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(empty)),
		Body: io.NopCloser(strings.NewReader(empty)), Request: req,
	}, nil
}
