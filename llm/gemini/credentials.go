package gemini

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

const keyHeader = "X-Goog-Api-Key"

// guard refuses a call without a key, and gives a call to Vertex AI its access
// token, just before it would leave the process: a recording that answers
// instead needs neither.
type guard struct{ base http.RoundTripper }

func (g guard) below() wire.Transport { return wire.Transport{Base: g.base} }

func (g guard) CloseIdleConnections() { g.below().CloseIdleConnections() }

func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	cr, ok := req.Context().Value(credentialsKey{}).(*credentials)
	if ok {
		if err := client.HeaderFault(req, cr.ex.to.provider); err != nil {
			if req.Body != nil {
				req.Body.Close()
			}
			return nil, err
		}
	}
	has := req.Header.Get(keyHeader) != "" || req.Header.Get("Authorization") != ""
	if !ok || has || !cr.ex.to.guarded {
		return g.below().RoundTrip(req)
	}
	token, quota, err := cr.token(req.Context())
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	out := req.Clone(req.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	if quota != "" && out.Header.Get("X-Goog-User-Project") == "" {
		out.Header.Set("X-Goog-User-Project", quota)
	}
	resp, err := g.below().RoundTrip(out)
	if err != nil {
		return nil, wire.MaskError(err, token)
	}
	// Those above know of the token only what comes back of it: nothing.
	forms := wire.Spellings(token)
	resp.Header = resp.Header.Clone()
	for _, vs := range resp.Header {
		for i := range vs {
			for _, f := range forms {
				vs[i] = strings.ReplaceAll(vs[i], f, wire.Masked)
			}
		}
	}
	resp.Body = &scrubber{rc: resp.Body, forms: forms, found: func() { cr.ex.scrubbed.Store(true) }}
	return resp, nil
}

type credentialsKey struct{}

// credentials is how one call gets its access token.
type credentials struct {
	cfg Config
	adc *adc
	ex  *exchange
}

// token returns an access token, and the project that pays, "" if the
// credentials name none.
func (c *credentials) token(ctx context.Context) (token, quota string, err error) {
	to := c.ex.to
	switch {
	case !to.token:
		return "", "", &llm.Error{
			Kind: llm.KindAuth, Provider: to.provider,
			Message: "no key: set the environment variable " + to.keyEnvs + " (a server on this machine and a replayed cassette need none)",
		}
	case c.cfg.Credentials != nil:
		token, err = c.cfg.Credentials(ctx)
	default:
		token, quota, err = c.adc.get(ctx)
	}
	if err == nil && token == "" {
		err = errors.New("the access token is empty")
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		err = errors.New("the access token holds a character that no header may have, such as the line end of a file")
	}
	if err == nil {
		return token, quota, nil
	}
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	return "", "", tokenFailure(to, err, c.cfg.Credentials == nil)
}

// tokenFailure tells trouble on the way to the token's server, which may pass,
// from credentials that are missing or refused.
func tokenFailure(to target, err error, isADC bool) error {
	out := &llm.Error{Kind: llm.KindAuth, Provider: to.provider, Err: fmt.Errorf("no access token: %w", wire.MaskError(err))}
	var temporary interface{ Temporary() bool }
	var network *url.Error // not net.Error, which a missing file's error is as well
	switch {
	case errors.As(err, &network):
		out.Kind = llm.KindConnection
	case errors.As(err, &temporary) && temporary.Temporary():
		out.Kind = llm.KindServer
	case isADC:
		out.Hint = "run gcloud auth application-default login, or name a credentials file in GOOGLE_APPLICATION_CREDENTIALS; a replayed cassette needs none"
	}
	return out
}

// adc are the Application Default Credentials of one client, and the token in
// force. They are looked for anew where the environment names another file.
type adc struct {
	mu     sync.Mutex
	file   string
	source tokenSource
	value  string
	quota  string
	until  time.Time
}

// tokenSource makes a token; until is zero if it does not expire.
type tokenSource func(context.Context) (value, quota string, until time.Time, err error)

// How long before its end a token is not used any more, and how long the
// token's server may take.
const (
	expireEarly  = 4 * time.Minute
	tokenTimeout = 30 * time.Second
)

// get returns a token. It is fetched apart from ctx, since all that wait for
// one share it; ctx only ends the waiting.
func (a *adc) get(ctx context.Context) (value, quota string, err error) {
	type result struct {
		value, quota string
		err          error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.value, r.quota, r.err = a.fetch()
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.quota, r.err
	case <-ctx.Done():
		return "", "", ctx.Err()
	}
}

func (a *adc) fetch() (value, quota string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if file := os.Getenv("GOOGLE_APPLICATION_CREDENTIALS"); a.source == nil || file != a.file {
		source, err := defaultCredentials()
		if err != nil {
			return "", "", err
		}
		a.file, a.source, a.value = file, source, ""
	}
	if a.value != "" && (a.until.IsZero() || time.Until(a.until) > expireEarly) {
		return a.value, a.quota, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), tokenTimeout)
	// Not at the end of this function: the library renews a token that is soon
	// over behind the caller's back, under the caller's context.
	time.AfterFunc(tokenTimeout, cancel)
	if a.value, a.quota, a.until, err = a.source(ctx); err != nil {
		a.value = ""
	}
	return a.value, a.quota, err
}

// defaultCredentials finds the credentials through the SDK.
func defaultCredentials() (tokenSource, error) {
	var cc genai.ClientConfig
	if err := cc.UseDefaultCredentials(); err != nil {
		return nil, err
	}
	creds := cc.Credentials
	return func(ctx context.Context) (string, string, time.Time, error) {
		t, err := creds.Token(ctx)
		if err != nil {
			return "", "", time.Time{}, err
		}
		quota, err := creds.QuotaProjectID(ctx)
		return t.Value, quota, t.Expiry, err
	}, nil
}
