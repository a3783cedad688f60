package llmtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/openai"
)

// spoiled is a Model that does all right but for what spoil makes of it.
type spoiled struct {
	inner llm.Model
	spoil func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error)
}

func (s spoiled) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	return s.spoil(ctx, req, func() (llm.Response, error) { return s.inner.Generate(ctx, req) })
}

// echoing answers with the prompt, so that answers can be told apart.
func echoing() *Model {
	return &Model{Log: true, Usage: WordUsage, Reply: func(_ int, req llm.Request) (llm.Response, error) {
		r := plain("You said: " + lastText(req))
		r.Reasoning = "Hm."
		return r, nil
	}}
}

// edit spoils answers of one sort.
func edit(stream bool, f func(r *llm.Response)) func(context.Context, llm.Request, func() (llm.Response, error)) (llm.Response, error) {
	return func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
		r, err := next()
		if err == nil && req.Stream == stream {
			f(&r)
		}
		return r, err
	}
}

// TestSuiteCatches breaks one promise at a time: the check that is named must
// see it, and no other may but those in also.
func TestSuiteCatches(t *testing.T) {
	type spoil = func(context.Context, llm.Request, func() (llm.Response, error)) (llm.Response, error)
	release := make(chan struct{})
	defer close(release)
	var inFlight, sum atomic.Int32
	for _, c := range []struct {
		name, check, want string
		also              []string // checks that look at the same
		spoil             spoil
	}{
		{"no text", "answers", "no text, no refusal and no tool call", []string{"stream-equals-whole"},
			edit(false, func(r *llm.Response) { r.Text = "" })},
		{"a provider's word", "answers", `Finish = "STOP", want "stop"`, []string{"stream-equals-whole"},
			edit(false, func(r *llm.Response) { r.Finish = "STOP" })},
		{"usage not known", "answers", "want Known: it has counts", []string{"stream-equals-whole", "logged-at-most-once"},
			edit(false, func(r *llm.Response) { r.Usage.Known = false })},
		{"cached beside input", "answers", "want CachedInput and CacheWrite within Input", []string{"stream-equals-whole", "logged-at-most-once"},
			edit(false, func(r *llm.Response) { r.Usage.CachedInput = r.Usage.Input + 1 })},
		{"an hour's cache beside the rest", "answers", "CacheWriteHour within CacheWrite", []string{"stream-equals-whole", "logged-at-most-once"},
			edit(false, func(r *llm.Response) { r.Usage.CacheWriteHour = 1 })},
		{"first token after the end", "answers", "want 0 <= FirstToken <= Total", nil,
			edit(false, func(r *llm.Response) { r.Timing.FirstToken = r.Timing.Total + time.Second })},
		{"time that did not pass", "answers", "Timing.Total = 1h0m0s, want at most", nil,
			edit(false, func(r *llm.Response) { r.Timing.Total = time.Hour })},
		{"started before", "answers", "before the call, want it during the call", nil,
			edit(false, func(r *llm.Response) { r.Timing.Start = r.Timing.Start.Add(-time.Hour) })},
		{"no chunks", "streams", "the Suite says that the Model streams", nil,
			edit(true, func(r *llm.Response) { r.Chunks = nil })},
		{"gaps for times", "streams", "they are times from the start, not gaps", nil,
			edit(true, func(r *llm.Response) {
				r.Chunks = append(r.Chunks, 0)
				r.Chunks[0]++
				r.Timing.FirstToken = r.Chunks[0]
				r.Timing.Total++
			})},
		{"the first chunk is another", "streams", "want Timing.FirstToken", nil,
			edit(true, func(r *llm.Response) { r.Chunks[0] = r.Timing.FirstToken + 1 })},
		{"a chunk after the end", "streams", "want at most Timing.Total", nil,
			edit(true, func(r *llm.Response) { r.Chunks = append(r.Chunks, time.Hour) })},
		{"streams fail", "streams", "want an answer", []string{"concurrent", "canceled-meanwhile"},
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				if req.Stream && err == nil && ctx.Err() == nil {
					return llm.Response{}, &llm.Error{Kind: llm.KindBadRequest, Provider: "p"}
				}
				return r, err
			}},
		{"writes to Extra", "request-unchanged", "want it left as it was", nil,
			func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				if req.Extra != nil {
					req.Extra["stream"] = nil
				}
				return next()
			}},
		{"appends to Messages", "request-unchanged", "with what lies behind the end of its slices", nil,
			func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				if req.Tools != nil { // elsewhere it would be a race as well
					req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Content: "Please."})
				}
				return next()
			}},
		{"one at a time", "concurrent", "Generate must be safe for concurrent use", nil,
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				defer inFlight.Add(-1)
				if inFlight.Add(1) > 1 {
					return llm.Response{}, &llm.Error{Kind: llm.KindServer, Provider: "p"}
				}
				if strings.Contains(lastText(req), "number") {
					sleep(ctx, 2*time.Millisecond)
				}
				return next()
			}},
		{"another's answer", "concurrent", "an answer of another call?", []string{"stream-equals-whole"},
			func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				r.Text += fmt.Sprint(sum.Add(1))
				return r, err
			}},
		{"answers the canceled", "canceled", "nobody waits for it", []string{"logged-at-most-once"},
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				if ctx.Err() == context.Canceled {
					return plain("late"), nil
				}
				return next()
			}},
		{"no llm.Error", "canceled", "want an *llm.Error around it", []string{"canceled-meanwhile"},
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				if errors.Is(err, context.Canceled) {
					err = context.Canceled
				}
				return r, err
			}},
		{"hides the cause", "deadline", "want errors.Is(err, context deadline exceeded)", nil,
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				if errors.Is(err, context.DeadlineExceeded) {
					err = &llm.Error{Kind: llm.KindTimeout, Provider: "p"}
				}
				return r, err
			}},
		{"another kind", "deadline", `of kind "connection", want kind "timeout"`, nil,
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				if errors.Is(err, context.DeadlineExceeded) {
					err = &llm.Error{Kind: llm.KindConnection, Provider: "p", Err: err}
				}
				return r, err
			}},
		{"another kind in the middle", "canceled-meanwhile", `of kind "server", want kind "canceled"`, []string{"no-goroutine-left"},
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				if ctx.Err() == nil {
					if sleep(ctx, 3*time.Millisecond); ctx.Err() != nil {
						return llm.Response{}, &llm.Error{Kind: llm.KindServer, Provider: "p", Err: ctx.Err()}
					}
				}
				return next()
			}},
		{"logs twice", "logged-at-most-once", "want at most 1, or usage is counted more than once", nil,
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				llm.LogCall(ctx, llm.Call{Response: r, Err: err})
				return r, err
			}},
		{"logs another usage", "logged-at-most-once", "want that of its Response", nil,
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				if err == nil {
					r.Usage.Input++
				}
				return r, err
			}},
		{"leaves a goroutine", "no-goroutine-left", "want each call to end what it started", nil,
			func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				go func() { <-release }()
				return next()
			}},
		{"nothing for an answer", "answers", "no text, no refusal and no tool call", []string{"stream-equals-whole", "logged-at-most-once"},
			edit(false, func(r *llm.Response) { *r = llm.Response{} })},
		{"more thoughts than output", "answers", "Reasoning within Output", []string{"stream-equals-whole", "logged-at-most-once"},
			edit(false, func(r *llm.Response) { r.Usage.Reasoning = r.Usage.Output + 1 })},
		{"writes to the schema", "request-unchanged", "want it left as it was", nil,
			func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				if req.Schema != nil {
					req.Schema.JSON[0] = '['
				}
				return next()
			}},
		{"writes through a pointer", "request-unchanged", "want it left as it was", nil,
			func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				if req.Tools != nil { // elsewhere it would be a race as well
					*req.Temperature = 1
				}
				return next()
			}},
		{"a deadline as a cancel", "deadline", `of kind "canceled", want kind "timeout"`, nil,
			func(ctx context.Context, _ llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				if errors.Is(err, context.DeadlineExceeded) {
					err = &llm.Error{Kind: llm.KindCanceled, Provider: "p", Err: err}
				}
				return r, err
			}},
		{"a part for an answer", "canceled-meanwhile", `= answer "You said" and no error, want an error`, nil,
			func(ctx context.Context, _ llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				if ctx.Err() != nil {
					return next()
				}
				if sleep(ctx, 3*time.Millisecond); ctx.Err() != nil {
					return plain("You said"), nil
				}
				return next()
			}},
		{"streams another text", "stream-equals-whole", `want "You said: Say one word." as without Stream`, nil,
			edit(true, func(r *llm.Response) { r.Text = r.Text[1:] })},
		{"streams no thoughts", "stream-equals-whole", `Reasoning = "", want "Hm."`, nil,
			edit(true, func(r *llm.Response) { r.Reasoning = "" })},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Suite{Deterministic: true, Streams: true, Grace: 50 * time.Millisecond}
			for _, ck := range s.checks() {
				err := ck.check(s.prober(t.Context()), spoiled{echoing(), c.spoil})
				switch {
				case ck.name == c.check:
					require.ErrorContains(t, err, c.want)
				case !slices.Contains(c.also, ck.name):
					assert.NoError(t, err, "the check %q is not meant to see it", ck.name)
				}
			}
		})
	}
}

// TestSuiteCatchesWhatNeverReturns: all checks meet these.
func TestSuiteCatchesWhatNeverReturns(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, c := range map[string]struct {
		want  string
		model llm.ModelFunc
	}{
		"panics": {"Generate panicked: oh; want an error", func(context.Context, llm.Request) (llm.Response, error) { panic("oh") }},
		"goexit": {"runtime.Goexit", func(context.Context, llm.Request) (llm.Response, error) {
			runtime.Goexit()
			return llm.Response{}, nil
		}},
		"hangs": {"still runs 1ms after its context's end", func(context.Context, llm.Request) (llm.Response, error) {
			<-release
			return llm.Response{}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Suite{Deterministic: true, Grace: time.Millisecond}
			for _, ck := range s.checks() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // instead of suiteTimeout
				defer cancel()
				require.ErrorContains(t, ck.check(s.prober(ctx), c.model), c.want, ck.name)
			}
		})
	}
}

func TestSuiteTakesTheScriptedModel(t *testing.T) {
	Suite{New: func(*testing.T) llm.Model { return echoing() }, Deterministic: true, Streams: true}.Run(t)
}

// TestFaultSuiteCatches breaks what a client makes of one fault, and looks for
// the words in which the suite tells it.
func TestFaultSuiteCatches(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	on := func(f func(r *llm.Response, e *llm.Error)) func(*testing.T, *Server) llm.Model {
		return func(t *testing.T, s *Server) llm.Model {
			return spoiled{good(s), func(_ context.Context, _ llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				r, err := next()
				var e *llm.Error
				if errors.As(err, &e) {
					f(&r, e)
				} else {
					f(&r, &llm.Error{})
				}
				return r, err
			}}
		}
	}
	resp := func(f func(r *llm.Response)) func(*testing.T, *Server) llm.Model {
		return on(func(r *llm.Response, _ *llm.Error) { f(r) })
	}
	fail := func(f func(e *llm.Error)) func(*testing.T, *Server) llm.Model {
		return on(func(_ *llm.Response, e *llm.Error) { f(e) })
	}
	around := func(f func(ctx context.Context, s *Server, next func() (llm.Response, error)) (llm.Response, error)) func(*testing.T, *Server) llm.Model {
		return func(t *testing.T, s *Server) llm.Model {
			return spoiled{good(s), func(ctx context.Context, _ llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
				return f(ctx, s, next)
			}}
		}
	}
	// asking is a client that asks something else.
	asking := func(f func(req *llm.Request)) func(*testing.T, *Server) llm.Model {
		return func(_ *testing.T, s *Server) llm.Model {
			return llm.ModelFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				f(&req)
				return good(s).Generate(ctx, req)
			})
		}
	}
	for _, c := range []struct {
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
	} {
		t.Run(c.name, func(t *testing.T) {
			runs := faultRuns()
			i := slices.IndexFunc(runs, func(r faultRun) bool { return r.name == c.check })
			require.GreaterOrEqual(t, i, 0, "no check is called %q", c.check)
			synctest.Test(t, func(t *testing.T) {
				assert.NoError(t, runs[i].run(Suite{NewOn: func(_ *testing.T, s *Server) llm.Model { return good(s) }}, t), "of a client that is right")
				assert.ErrorContains(t, runs[i].run(Suite{NewOn: c.model, Streams: true}, t), c.want)
			})
		})
	}
}

// TestSuiteTakesUnusualModels: what is right in an unusual way passes.
func TestSuiteTakesUnusualModels(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	for _, c := range []struct {
		name  string
		spoil func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error)
		fake  bool // it has no usage, so it is no whole client
	}{
		{"no usage", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
			r, err := m.Generate(ctx, req)
			r.Usage = llm.Usage{}
			return r, err
		}, true},
		{"no times", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
			r, err := m.Generate(ctx, req)
			r.Timing, r.Chunks = llm.Timing{}, nil
			return r, err
		}, true},
		{"no streams", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
			req.Stream = false
			return m.Generate(ctx, req)
		}, false},
		{"nothing but streams", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
			req.Stream = true
			return m.Generate(ctx, req)
		}, false},
		{"slow", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
			sleep(ctx, 20*time.Millisecond)
			return m.Generate(ctx, req)
		}, true},
		{"wraps errors", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
			r, err := m.Generate(ctx, req)
			if err != nil {
				err = errors.Join(errors.New("my model"), fmt.Errorf("my transport: %w", err))
			}
			return r, err
		}, false},
		{"a response beside errors", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
			r, err := m.Generate(ctx, req)
			if err != nil {
				r.Model, r.ID, r.Warnings = "m", "call-1", []string{"the answer is none"}
			}
			return r, err
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := func(m llm.Model) llm.Model {
				return llm.ModelFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) { return c.spoil(ctx, req, m) })
			}
			s := Suite{New: func(*testing.T) llm.Model { m := echoing(); m.Log = false; return on(m) }, Deterministic: true}
			if !c.fake {
				s.NewOn = func(_ *testing.T, s *Server) llm.Model { return on(good(s)) }
			}
			s.Run(t)
		})
	}
}

func good(s *Server) llm.Model {
	return openai.Config{Model: "m", BaseURL: "https://fake.example/v1", KeyEnv: "LLMTEST_KEY", HTTPClient: s.Client()}.New()
}

// TestRunFails runs the suite on a broken Model in a process of its own.
func TestRunFails(t *testing.T) {
	const env = "LLMTEST_BROKEN"
	if os.Getenv(env) != "" {
		Run(t, func(*testing.T) llm.Model {
			return spoiled{echoing(), edit(false, func(r *llm.Response) { r.Finish = "STOP"; r.Text = "" })}
		})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunFails$", "-test.v")
	cmd.Env = append(os.Environ(), env+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	assert.Contains(t, string(out), "--- FAIL: TestRunFails/answers")
	assert.Contains(t, string(out), "--- PASS: TestRunFails/streams")
	assert.Equal(t, 2, strings.Count(string(out), "suite_catch_test.go:"), "each finding on its own, at the user's line:\n%s", out)
}

func TestSuiteRefuses(t *testing.T) {
	one := func(*testing.T) llm.Model { return new(Model) }
	assert.PanicsWithValue(t, "llmtest: a Suite needs New or NewOn: a function that returns the Model", func() { Suite{}.Run(t) })
	assert.PanicsWithValue(t, "llmtest: Suite.Tries is -1; it must be at least 1, or 0 for the default of 1", func() { Suite{New: one, Tries: -1}.Run(t) })
	assert.PanicsWithValue(t, "llmtest: Suite.Grace is -1s; it must be positive, or 0 for the default of 5 s", func() { Suite{New: one, Grace: -time.Second}.Run(t) })
}
