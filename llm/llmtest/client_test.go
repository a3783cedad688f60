package llmtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// client is this project's client of an API, at s; with a key in LLMTEST_KEY.
func client(api llmtest.API, s *llmtest.Server) llm.Model {
	if api == llmtest.Gemini {
		return gemini.Config{Model: "m", BaseURL: "https://fake.example", KeyEnv: "LLMTEST_KEY", HTTPClient: s.Client()}.New()
	}
	return openai.Config{Model: "m", BaseURL: "https://fake.example/v1", KeyEnv: "LLMTEST_KEY", HTTPClient: s.Client()}.New()
}

// TestFaultsByClient: each client takes each fault for what it is, names the
// status, and leaves nothing open.
func TestFaultsByClient(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	for _, api := range []llmtest.API{llmtest.OpenAI, llmtest.Gemini} {
		for _, f := range llmtest.Faults() {
			for mode, stream := range map[string]bool{"whole": false, "stream": true} {
				t.Run(string(api)+"/"+f.Name+"/"+mode, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { byClient(t, f, api, stream) })
				})
			}
		}
	}
}

// alsoSane are other kinds that say what happened as well.
var alsoSane = map[string][]llm.ErrorKind{
	// A stream without a choice never said that it was over.
	llmtest.FaultNoChoices: {llm.KindIncomplete},
	// Gemini has no code of its own for it.
	llmtest.FaultInsufficientQuota: {llm.KindRateLimit},
}

func byClient(t *testing.T, f llmtest.Fault, api llmtest.API, stream bool) {
	s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: []llmtest.Fault{f}}}, Reply: func(llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: "one two three four"}
	}}
	m := client(api, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req := llm.Prompt("say words")
	req.Stream = stream
	resp, err := m.Generate(ctx, req)
	met := s.Counts().ByFault[f.Name] == 1
	switch {
	case !met || f.Kind == "":
		require.NoError(t, err, "%s: %s", f.Name, f.Reason)
	case f.Kind == llm.KindBlocked && err == nil:
		assert.Equal(t, llm.FinishContentFilter, resp.Finish, "Gemini answers 200 to a blocked prompt")
	default:
		require.Error(t, err, "%s: %s", f.Name, f.Reason)
		assert.Contains(t, append(alsoSane[f.Name], f.Kind), llm.KindOf(err), "%s: %s: %v", f.Name, f.Reason, err)
	}
	if err == nil && f.Edit == nil {
		assert.Equal(t, "one two three four", resp.Text)
	}
	counts := s.Counts()
	if err == nil && counts.Unreported == (llm.Usage{}) {
		assert.Equal(t, counts.Billed, resp.Usage, "usage is what the server billed")
	} else if err == nil {
		assert.False(t, resp.Usage.Known, "usage that was not reported is unknown")
	}
	later, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, s.Quiet(later), "nothing is left open")
}

// TestWaitsByClient: how long a rate limit asks to wait, as both clients read
// it; -1 where it does not say.
func TestWaitsByClient(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	const none = -1
	for _, r := range []struct {
		fault          string
		openai, gemini time.Duration
	}{
		{llmtest.FaultRateLimit, none, none},
		{llmtest.FaultRateLimitZero, 0, 0},
		{llmtest.FaultRateLimitSeconds, 2 * time.Second, 2 * time.Second},
		{llmtest.FaultRateLimitFraction, 1500 * time.Millisecond, 1500 * time.Millisecond},
		{llmtest.FaultRateLimitMillis, 500 * time.Millisecond, 500 * time.Millisecond},
		{llmtest.FaultRateLimitDate, 3 * time.Second, 3 * time.Second},
		{llmtest.FaultRateLimitRFC850, 3 * time.Second, 3 * time.Second},
		{llmtest.FaultRateLimitPast, 0, 0},
		{llmtest.FaultRateLimitGarbage, none, none},
		{llmtest.FaultRateLimitReset, 2 * time.Second, none},
		{llmtest.FaultRateLimitHour, time.Hour, time.Hour},
		{llmtest.FaultMinuteQuota, 2 * time.Second, 2 * time.Second},
	} {
		for api, want := range map[llmtest.API]time.Duration{llmtest.OpenAI: r.openai, llmtest.Gemini: r.gemini} {
			t.Run(r.fault+"/"+string(api), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: llmtest.Named(r.fault)}}}
					_, err := client(api, s).Generate(t.Context(), llm.Prompt("q"))
					var e *llm.Error
					require.ErrorAs(t, err, &e)
					got := time.Duration(none)
					if e.RetryAfter != nil {
						got = *e.RetryAfter
					}
					assert.Equal(t, want, got)
				})
			})
		}
	}
}
