package llmtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/openai"
)

// good is a client that is right.
func good(s *Server) llm.Model {
	return openai.Config{Model: "m", BaseURL: "https://fake.example/v1", KeyEnv: "LLMTEST_KEY", HTTPClient: s.Client()}.New()
}

// on is a client whose results are spoiled by f; e is empty beside an answer.
func on(f func(r *llm.Response, e *llm.Error)) func(*testing.T, *Server) llm.Model {
	return func(_ *testing.T, s *Server) llm.Model {
		return spoiled{good(s), func(_ context.Context, _ llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			var e *llm.Error
			if !errors.As(err, &e) {
				e = new(llm.Error)
			}
			f(&r, e)
			return r, err
		}}
	}
}

func resp(f func(r *llm.Response)) func(*testing.T, *Server) llm.Model {
	return on(func(r *llm.Response, _ *llm.Error) { f(r) })
}

func fail(f func(e *llm.Error)) func(*testing.T, *Server) llm.Model {
	return on(func(_ *llm.Response, e *llm.Error) { f(e) })
}

// around is a client that does something else before or behind its call.
func around(f func(ctx context.Context, s *Server, next func() (llm.Response, error)) (llm.Response, error)) func(*testing.T, *Server) llm.Model {
	return func(_ *testing.T, s *Server) llm.Model {
		return spoiled{good(s), func(ctx context.Context, _ llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			return f(ctx, s, next)
		}}
	}
}

// asking is a client that asks something else.
func asking(f func(req *llm.Request)) func(*testing.T, *Server) llm.Model {
	return func(_ *testing.T, s *Server) llm.Model {
		return llm.ModelFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			f(&req)
			return good(s).Generate(ctx, req)
		})
	}
}

// wrongClients make something else of one fault each.
var wrongClients = []struct {
	name, check, want string
	model             func(*testing.T, *Server) llm.Model
}{
	{"the system message is lost", "asks", `want [{"system" "Be brief."} {"user"`, asking(func(req *llm.Request) { req.Messages = req.Messages[1:] })},
	{"the most tokens are lost", "asks", "at most 0 tokens, want 64", asking(func(req *llm.Request) { req.MaxOutputTokens = nil })},
	{"does not stream", "times", "want a stream: the Suite says that the Model streams", asking(func(req *llm.Request) { req.Stream = false })},
	{"waits by itself", FaultRateLimitSeconds, "it returned after 2s, want at once", around(func(ctx context.Context, _ *Server, next func() (llm.Response, error)) (llm.Response, error) {
		defer sleep(ctx, 2*time.Second)
		return next()
	})},
	{"zero for what it cannot read", FaultUsageFloats, "want what the server said, or nothing that is Known", resp(func(r *llm.Response) { r.Usage = llm.Usage{Known: r.Usage.Known} })},
	{"a guess for what nobody told", FaultNoUsage, "of which it did not tell {Input:3", resp(func(r *llm.Response) { r.Usage = llm.Usage{Input: 3, Output: 5, Known: true} })},
	{"shows the key where there is no answer", FaultReset, "the key is in what was returned", fail(func(e *llm.Error) { e.Err = fmt.Errorf("sk-llmtest-0123456789abcdef: %w", e.Err) })},
	{"one tool call for two", "tool-calls", `ToolCalls = [{ID:call_1 Name:look_up Arguments:{"id":7}{"text":"é"}}]`, resp(func(r *llm.Response) {
		r.ToolCalls[0].Arguments += r.ToolCalls[1].Arguments
		r.ToolCalls = r.ToolCalls[:1]
	})},
	{"a sum for a usage", "usage", "want {Input:100 CachedInput:80", resp(func(r *llm.Response) { r.Usage = r.Usage.Add(r.Usage) })},
	{"half a character", "characters", `Text = "Gr\xc3`, resp(func(r *llm.Response) { r.Text = r.Text[:3] })},
	{"the wait is lost", FaultRateLimitSeconds, "RetryAfter = nil, want 2s", fail(func(e *llm.Error) { e.RetryAfter = nil })},
	{"0 is lost", FaultRateLimitZero, "RetryAfter = nil, want 0s", fail(func(e *llm.Error) { e.RetryAfter = nil })},
	{"a shorter wait", FaultRateLimitMillis, "RetryAfter = 499ms, want 500ms", fail(func(e *llm.Error) { *e.RetryAfter -= time.Millisecond })},
	{"a wait nobody said", FaultRateLimit, "want nil: the server did not say", fail(func(e *llm.Error) { e.RetryAfter = new(time.Duration) })},
	{"another kind", FaultInsufficientQuota, `of kind "rate_limit", want kind "balance"`, fail(func(e *llm.Error) { e.Kind = llm.KindRateLimit })},
	{"no status", FaultBadGateway, "Error.Status = 0, want 502", fail(func(e *llm.Error) { e.Status = 0 })},
	{"no provider", FaultBadKey, `Error.Provider = ""`, fail(func(e *llm.Error) { e.Provider = "" })},
	{"a page in the error", FaultBadGateway, "want no HTML in it", fail(func(e *llm.Error) { e.Message = page })},
	{"another error type", FaultUnavailable, "want an *llm.Error around it", around(func(_ context.Context, _ *Server, next func() (llm.Response, error)) (llm.Response, error) {
		r, err := next()
		return r, errors.New(err.Error())
	})},
	{"an error for an answer", FaultErrorIn200, "want an error of kind", around(func(_ context.Context, _ *Server, next func() (llm.Response, error)) (llm.Response, error) {
		r, _ := next()
		return r, nil
	})},
	{"an answer for an error", FaultNoDone, `want the answer "Half an answer is none"`, around(func(_ context.Context, _ *Server, next func() (llm.Response, error)) (llm.Response, error) {
		r, _ := next()
		return r, &llm.Error{Kind: llm.KindIncomplete, Provider: "p"}
	})},
	{"the text is lost", FaultTruncated, `Text = "", want "Half an "`, resp(func(r *llm.Response) { r.Text = "" })},
	{"a filter's answer as good", FaultContentFilter, "want an error of kind", resp(func(r *llm.Response) { r.Finish = llm.FinishStop })},
	{"a cut answer as good", FaultLength, `Finish = "stop", want "length"`, resp(func(r *llm.Response) { r.Finish = llm.FinishStop })},
	{"no refusal", FaultRefusal, `Refusal = ""`, resp(func(r *llm.Response) { r.Refusal = "" })},
	{"unknown is zero", FaultNoUsage, "Known:true CacheWrite:0 CacheWriteHour:0}, want {Input:0", resp(func(r *llm.Response) { r.Usage.Known = true })},
	{"cached beside input", "usage", "want {Input:100 CachedInput:80", resp(func(r *llm.Response) { r.Usage.Input -= r.Usage.CachedInput; r.Usage.CachedInput = 0 })},
	{"thoughts in the answer", "thoughts", `Reasoning = "", want "Maybe 17?"`, resp(func(r *llm.Response) { r.Text = r.Reasoning + r.Text; r.Reasoning = "" })},
	{"no arguments", "tool-calls", "ToolCalls = [{ID:call_1 Name:look_up Arguments:} {", resp(func(r *llm.Response) { r.ToolCalls[0].Arguments = "" })},
	{"no call", FaultServerError, "the server got no call", func(*testing.T, *Server) llm.Model {
		return llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, &llm.Error{Kind: llm.KindServer, Status: 500, Provider: "p"}
		})
	}},
	{"tries again", FaultUnavailable, "got 2 calls, want at most 1", around(func(_ context.Context, _ *Server, next func() (llm.Response, error)) (llm.Response, error) {
		_, _ = next()
		return next()
	})},
	{"leaves a body open", FaultServerError, "1 bodies left open", around(func(ctx context.Context, s *Server, next func() (llm.Response, error)) (llm.Response, error) {
		if req, err := http.NewRequestWithContext(ctx, "GET", "http://fake/v1/models", nil); err == nil {
			_, _ = s.Client().Do(req)
		}
		return next()
	})},
	{"leaves a stream open for good", FaultServerError, "1 bodies left open", around(func(ctx context.Context, s *Server, next func() (llm.Response, error)) (llm.Response, error) {
		if req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), "GET", "http://fake/v1/models", nil); err == nil {
			_, _ = s.Client().Do(req)
		}
		return next()
	})},
	{"panics", FaultNoChoices, "Generate panicked: index", around(func(context.Context, *Server, func() (llm.Response, error)) (llm.Response, error) {
		panic("index")
	})},
	{"lingers", "canceled-waiting", "it returned 1s later, want at once", around(func(ctx context.Context, _ *Server, next func() (llm.Response, error)) (llm.Response, error) {
		r, err := next()
		sleep(context.WithoutCancel(ctx), time.Second)
		return r, err
	})},
	{"answers past the deadline", "deadline-waiting", "nobody waits for it", around(func(context.Context, *Server, func() (llm.Response, error)) (llm.Response, error) {
		return plain("late"), nil
	})},
	{"the text so far is lost", "canceled-mid-stream", `Text = "", want "Half an "`, resp(func(r *llm.Response) { r.Text = "" })},
	{"another first token", "times", "Timing.FirstToken = 0s, want 1s", resp(func(r *llm.Response) { r.Timing.FirstToken, r.Chunks = 0, nil })},
	{"another total", "times", "Timing.Total = 2s, want 3s", resp(func(r *llm.Response) { r.Timing.Total, r.Chunks = 2*time.Second, nil })},
	{"other chunks", "times", "want [1s 2s 3s]", resp(func(r *llm.Response) { r.Chunks = r.Chunks[:min(1, len(r.Chunks))] })},
	{"shows the key", "key-echoed", "the key is in what was returned", fail(func(e *llm.Error) { e.Message += " sk-llmtest-0123456789abcdef" })},
}
