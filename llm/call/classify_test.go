package call_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// Errors of SDKs, by shape.
type (
	methodError struct{ status int }
	awsError    struct{ status int }
	fieldError  struct {
		StatusCode int
		Code       string
		Response   *http.Response
	}
	rawError struct {
		StatusCode int
		raw        string
	}
	intStatus   struct{ Status int }
	inside      struct{ *fieldError }
	typed       struct{ text string }
	badMethod   struct{}
	noPointer   *fieldError
	headerError struct {
		Code    int
		Header  http.Header
		Message string
	}
)

func (e methodError) Error() string   { return "method" }
func (e methodError) StatusCode() int { return e.status }
func (e awsError) Error() string      { return "aws" }
func (e awsError) HTTPStatusCode() int {
	return e.status
}
func (e *fieldError) Error() string   { return "field" }
func (e *rawError) Error() string     { return "raw" }
func (e *rawError) RawJSON() string   { return e.raw }
func (e intStatus) Error() string     { return "status" }
func (e inside) Error() string        { return "inside" }
func (e typed) Error() string         { return e.text }
func (e badMethod) Error() string     { return "bad" }
func (e badMethod) StatusCode() int   { panic("nil client") }
func (e *headerError) Error() string  { return "header" }
func header(kv ...string) http.Header { return http.Header{kv[0]: {kv[1]}} }
func ms(n int) *time.Duration         { return new(time.Duration(n) * time.Millisecond) }
func wrap(err error) error            { return fmt.Errorf("asking: %w", err) }
func dialled(err error) error         { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
func posted(err error) error {
	return &url.Error{Op: "Post", URL: "https://h/v1?key=abcdefgh", Err: err}
}
func response(h http.Header) *http.Response { return &http.Response{Header: h} }

func TestClassify(t *testing.T) {
	quota := map[string]any{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{map[string]any{"quotaId": "GenerateRequestsPerDayPerProject"}}}
	retry := map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38s"}
	var nilField *fieldError
	for _, tc := range []struct {
		name, reason string
		err          error
		kind         llm.ErrorKind
		status       int
		after        *time.Duration
	}{
		// The context.
		{"canceled", "", wrap(context.Canceled), llm.KindCanceled, 0, nil},
		{"deadline", "", posted(context.DeadlineExceeded), llm.KindTimeout, 0, nil},
		{"deadline with a status", "whatever broke first, the context's end is why", errors.Join(methodError{500}, context.DeadlineExceeded), llm.KindTimeout, 0, nil},
		// The network.
		{"refused", "", posted(dialled(os.NewSyscallError("connect", syscall.ECONNREFUSED))), llm.KindConnection, 0, nil},
		{"bare refused", "", wrap(syscall.ECONNREFUSED), llm.KindConnection, 0, nil},
		{"reset", "", posted(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), llm.KindConnection, 0, nil},
		{"no such host", "", posted(dialled(&net.DNSError{Err: "no such host", IsNotFound: true})), llm.KindConnection, 0, nil},
		{"network timeout", "", posted(dialled(os.ErrDeadlineExceeded)), llm.KindTimeout, 0, nil},
		{"certificate", "", posted(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), llm.KindConnection, 0, nil},
		{"no TLS", "", posted(tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}), llm.KindConnection, 0, nil},
		{"ended early", "", wrap(io.ErrUnexpectedEOF), llm.KindIncomplete, 0, nil},
		{"plain EOF", "may be anything", wrap(io.EOF), llm.KindUnknown, 0, nil},
		// A status, wherever it is.
		{"method", "", wrap(methodError{429}), llm.KindRateLimit, 429, nil},
		{"AWS's method", "", wrap(awsError{503}), llm.KindServer, 503, nil},
		{"field", "", wrap(&fieldError{StatusCode: 401}), llm.KindAuth, 401, nil},
		{"int Status", "", intStatus{408}, llm.KindServer, 408, nil},
		{"embedded", "", inside{&fieldError{StatusCode: 425}}, llm.KindServer, 425, nil},
		{"embedded nil", "", inside{}, llm.KindUnknown, 0, nil},
		{"nil pointer", "", wrap(nilField), llm.KindUnknown, 0, nil},
		{"nil pointer of a named type", "", errors.Join(errors.New("a"), (*fieldError)(noPointer(nil))), llm.KindUnknown, 0, nil},
		{"no failure", "a 200 says nothing", &fieldError{StatusCode: 200}, llm.KindUnknown, 0, nil},
		{"own code", "is no status", &headerError{Code: 1002}, llm.KindUnknown, 0, nil},
		{"panics", "a method of somebody else's", badMethod{}, llm.KindUnknown, 0, nil},
		{"joined", "", errors.Join(errors.New("a"), wrap(methodError{502})), llm.KindServer, 502, nil},
		{"409", "", methodError{409}, llm.KindServer, 409, nil},
		{"504", "", methodError{504}, llm.KindServer, 504, nil},
		{"422", "", methodError{422}, llm.KindBadRequest, 422, nil},
		{"402", "", methodError{402}, llm.KindBalance, 402, nil},
		{"404", "", methodError{404}, llm.KindNotFound, 404, nil},
		// What the server asks for.
		{"Retry-After", "", &fieldError{StatusCode: 429, Response: response(header("Retry-After", "1.5"))}, llm.KindRateLimit, 429, ms(1500)},
		{"Retry-After 0", "is not missing", &headerError{Code: 503, Header: header("Retry-After", "0")}, llm.KindServer, 503, ms(0)},
		{"in milliseconds", "", &headerError{Code: 429, Header: header("Retry-After-Ms", "250")}, llm.KindRateLimit, 429, ms(250)},
		// What the server says.
		{"no money, by code", "answers 429 too (L01)", &fieldError{StatusCode: 429, Code: "insufficient_quota"}, llm.KindBalance, 429, nil},
		{"no money, by body", "", &rawError{429, `{"message":"You exceeded your current quota","code":"insufficient_quota"}`}, llm.KindBalance, 429, nil},
		{"too long a prompt", "", &fieldError{StatusCode: 400, Code: "context_length_exceeded"}, llm.KindContext, 400, nil},
		// Known SDKs, as they are.
		{"go-openai", "", &sdk.APIError{HTTPStatusCode: 429, Code: "rate_limit_exceeded", Message: "slow down"}, llm.KindRateLimit, 429, nil},
		{"go-openai, no money", "", &sdk.APIError{HTTPStatusCode: 429, Code: "insufficient_quota"}, llm.KindBalance, 429, nil},
		{"go-openai, HTML", "", &sdk.RequestError{HTTPStatusCode: 502, Body: []byte("<html>"), Err: errors.New("x")}, llm.KindServer, 502, nil},
		{"go-openai, odd body", "it may wrap an empty one", &sdk.RequestError{HTTPStatusCode: 429, Body: []byte(`{"error":"busy"}`), Err: &sdk.APIError{}}, llm.KindRateLimit, 429, nil},
		{"genai", "", genai.APIError{Code: 503, Status: "UNAVAILABLE", Message: "overloaded"}, llm.KindServer, 503, nil},
		{"genai, wait in the body", "L07", genai.APIError{Code: 429, Status: "RESOURCE_EXHAUSTED", Details: []map[string]any{retry}}, llm.KindRateLimit, 429, ms(38_000)},
		{"genai, daily", "L08", genai.APIError{Code: 429, Status: "RESOURCE_EXHAUSTED", Details: []map[string]any{quota, retry}}, llm.KindQuota, 429, ms(38_000)},
		// Anything else.
		{"unknown", "", errors.New("boom"), llm.KindUnknown, 0, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := call.Classify(tc.err)
			require.NotNil(t, got)
			assert.Equal(t, tc.kind, got.Kind, tc.reason)
			assert.Equal(t, tc.status, got.Status)
			assert.Equal(t, tc.after, got.RetryAfter)
			if reflect.TypeOf(tc.err).Comparable() {
				assert.ErrorIs(t, got, tc.err, "the cause stays")
			}
		})
	}
}

// TestClassifyText: words are believed last, of errors without a type and a
// status only, and never if they may be a model's.
func TestClassifyText(t *testing.T) {
	for _, tc := range []struct {
		text string
		kind llm.ErrorKind
	}{
		{"HTTP 429", llm.KindRateLimit},
		{`POST "https://api.example.com/v1": 429 Too Many Requests`, llm.KindRateLimit},
		{"error, rate limit reached for requests", llm.KindRateLimit},
		{"Rate-Limited by upstream", llm.KindRateLimit},
		{"Quota exceeded for quota metric", llm.KindRateLimit},
		{`server said {"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, llm.KindRateLimit},
		{`server said {"error":{"message":"bad key","code":"invalid_api_key"}}`, llm.KindUnknown},
		{"the prompt has 4290 tokens", llm.KindUnknown},
		{"error 14291", llm.KindUnknown},
		{"id req_429a", llm.KindUnknown},
		{"the quota of this test", llm.KindUnknown},
		{"connection to the answer is missing", llm.KindUnknown},
		{"separate limits apply", llm.KindUnknown},
		{"corporate limit", llm.KindUnknown},
		{`no number in the answer "You hit the rate limit: 429"`, llm.KindUnknown},
		{"no number in the answer `429 too many requests`", llm.KindUnknown},
		{fmt.Sprintf("no JSON in %q", `he said "rate limit" twice`), llm.KindUnknown},
	} {
		t.Run(tc.text, func(t *testing.T) {
			assert.Equal(t, tc.kind, call.Classify(errors.New(tc.text)).Kind)
			assert.Equal(t, tc.kind, call.Classify(fmt.Errorf("a: %w", fmt.Errorf("b: %w", errors.New(tc.text)))).Kind)
			assert.Equal(t, llm.KindUnknown, call.Classify(typed{tc.text}).Kind, "it has a type of its own")
			assert.Equal(t, llm.KindUnknown, call.Classify(wrap(typed{tc.text})).Kind)
			assert.Equal(t, llm.KindServer, call.Classify(errors.Join(errors.New(tc.text), methodError{500})).Kind, "the status says more")
		})
	}
}

func TestClassifyKnown(t *testing.T) {
	assert.Nil(t, call.Classify(nil))
	e := &llm.Error{Kind: llm.KindBlocked}
	assert.Same(t, e, call.Classify(e))
	assert.Same(t, e, call.Classify(wrap(e)))
}

func TestClassifyMasks(t *testing.T) {
	err := posted(io.ErrUnexpectedEOF)
	require.Contains(t, err.Error(), "abcdefgh")
	got := call.Classify(err)
	assert.NotContains(t, got.Error(), "abcdefgh")
	assert.ErrorIs(t, got, io.ErrUnexpectedEOF)
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"", "429", "rate limit", `{"error":{"code":"rate_limit_exceeded"}}`, `"unclosed`, "{", "`", `x {"error":1}`, "4290 tokens"} {
		f.Add(s, 429)
	}
	f.Fuzz(func(t *testing.T, text string, status int) {
		for _, err := range []error{errors.New(text), typed{text}, &rawError{status, text}, &headerError{Code: status, Message: text, Header: header("Retry-After", text)}} {
			got := call.Classify(err)
			if got == nil || got.Kind == "" {
				t.Fatalf("no kind for %q", text)
			}
			if got.RetryAfter != nil && *got.RetryAfter < 0 {
				t.Fatalf("a wait of %v", *got.RetryAfter)
			}
		}
		if quoted := fmt.Sprintf("no answer in %q", text); call.Classify(errors.New(quoted)).Kind != llm.KindUnknown && !strings.Contains(text, `{`) {
			t.Fatalf("a quoted text is believed: %s", quoted)
		}
	})
}
