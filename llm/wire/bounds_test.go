package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// allocated is how many bytes f allocates: what it does over and over shows in
// it on any machine.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestShortAnswersTakeLittle: an answer is read within bounds of its own
// length, whatever it is made of. None of these could be given up on the way:
// the context is asked between two reads of the network.
func TestShortAnswersTakeLittle(t *testing.T) {
	list := func(n int, e string) string { return "[" + strings.Repeat(e+",", n) + e + "]" }
	watch := func(contentType, body string) func() {
		return func() {
			w := wire.NewWatch("POST", "/v1/chat/completions", http.Header{"Content-Type": {contentType}})
			w.Write([]byte(body), 1)
			w.End(2)
		}
	}
	limits := http.Header{"Ratelimit": {list(300, `"a";r=1;t=1`)}, "Ratelimit-Policy": {list(300, `"b";q=1;w=1`)}}
	many := http.Header{"Ratelimit": limits["Ratelimit"]}
	for range 8 {
		many["Ratelimit"] = append(many["Ratelimit"], many["Ratelimit"]...)
	}
	nested := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	rows := []struct {
		name, reason string
		f            func()
		most         uint64 // bytes
	}{
		{"choices", "of nothing", watch("application/json", `{"choices":`+list(300_000, "{}")+"}"), 16 << 20},
		{"candidates", "of nothing", watch("application/json", `{"candidates":`+list(300_000, "{}")+"}"), 16 << 20},
		{"parts", "of nothing", watch("application/json", `{"candidates":[{"content":{"parts":`+list(300_000, "{}")+"}}]}"), 16 << 20},
		{"chunks", "of nothing", watch("application/json", list(300_000, "{}")), 16 << 20},
		{"events as one", "single line ends between them", watch("text/event-stream", strings.Repeat("data: {}\n", 100_000)+"\n"), 16 << 20},
		{"nested arrays", "each level is read once", func() { wire.RetryInfo([]byte(nested)) }, 2 << 20},
		{"policies", "not once for each limit", func() { wire.RateLimits(limits, time.Now()) }, 2 << 20},
		{"lines of limits", "a header may be megabytes long", func() { wire.RateLimits(many, time.Now()) }, 8 << 20},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { assert.LessOrEqual(t, allocated(r.f), r.most, r.reason) })
	}
}

// TestChoicesAreCounted: no event costs more than the one before it.
func TestChoicesAreCounted(t *testing.T) {
	w := wire.NewWatch("POST", "/v1/chat/completions", http.Header{"Content-Type": {"text/event-stream"}})
	start := time.Now()
	for i := range 60_000 {
		w.Write(fmt.Appendf(nil, "data: {\"choices\":[{\"index\":%d,\"finish_reason\":\"stop\"}]}\n\n", i), 1)
	}
	assert.Less(t, time.Since(start), 5*time.Second, "it took minutes")
	assert.True(t, w.State().Done)
	w = wire.NewWatch("POST", "/v1/chat/completions", http.Header{"Content-Type": {"text/event-stream"}})
	choice := func(i int, reason string) {
		w.Write(fmt.Appendf(nil, "data: {\"choices\":[{\"index\":%d,\"finish_reason\":%s}]}\n\n", i, reason), 1)
	}
	choice(0, "null")
	choice(1, "null")
	choice(0, `"stop"`)
	choice(0, `"stop"`)
	assert.False(t, w.State().Done, "one is finished twice, the other is not")
	choice(1, `"stop"`)
	assert.True(t, w.State().Done)
}

// TestNamesAreCutAfterMasking has a key stand where a name is cut.
func TestNamesAreCutAfterMasking(t *testing.T) {
	const key = "topsecret-0123456789-0123456789"
	name := strings.Repeat("x", 240) + key
	body := fmt.Sprintf(`{"id":%q,"model":%[1]q,"choices":[{"finish_reason":%[1]q}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, name)
	rows := []struct {
		name, contentType, encoding, body string
	}{
		{"answer", "application/json", "", body},
		{"stream", "text/event-stream", "", "data: " + body + "\n\n"},
		{"blocked", "application/json", "", fmt.Sprintf(`{"promptFeedback":{"blockReason":%q}}`, name)},
		{"content type", "image/" + strings.Repeat("x", 40) + key, "", "x"},
		{"content encoding", "application/json", "xxxxxxxxxx" + key, "x"},
		{"a name without end", "application/json", "", strings.ReplaceAll(body, "xxxx", strings.Repeat("x", 2000))},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			rt := memory(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", r.contentType)
				if r.encoding != "" {
					w.Header().Set("Content-Encoding", r.encoding)
				}
				fmt.Fprint(w, r.body)
			})
			rt.Secrets = []string{key}
			var log llm.CallLog
			var c wire.Capture
			_, _, err := call(wire.WithCapture(llm.WithCallLog(t.Context(), &log), &c), rt, chatURL, `{}`)
			require.NoError(t, err)
			got := c.Get()
			require.Len(t, log.Calls(), 1)
			shown := fmt.Sprintf("%q %q %q %q %+v", got.Model, got.ID, got.Finish, got.Warnings, log.Calls())
			assert.NotContains(t, shown, "topsecret")
			assert.Less(t, len(shown), 4000)
			if r.name == "answer" {
				assert.Equal(t, strings.Repeat("x", 240)+"[masked]", got.Model)
				assert.Equal(t, got.Model, log.Calls()[0].Response.ID)
			}
		})
	}
}

// TestNoTokenAfterTheEnd: a token's time is never 0, so that it tells a streamed
// answer; the end cannot be before it.
func TestNoTokenAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log llm.CallLog
		var c wire.Capture
		_, _, err := call(wire.WithCapture(llm.WithCallLog(t.Context(), &log), &c), memory(llmtest.Stream(llmtest.Text("a"), llmtest.Finish("stop"))), chatURL, `{}`)
		require.NoError(t, err)
		assert.Equal(t, llm.Timing{Start: c.Get().Start, FirstToken: 1, Total: 1}, log.Calls()[0].Response.Timing)
		assert.Equal(t, time.Duration(1), c.Get().End)
	})
}

// TestCauseOfTheCaller: who gives a call up may give a reason of his own.
func TestCauseOfTheCaller(t *testing.T) {
	rows := []struct {
		name   string
		derive func(context.Context) context.Context
		kind   llm.ErrorKind
	}{
		{"canceled", func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(errors.New("the budget is spent")) })
			return ctx
		}, llm.KindCanceled},
		{"deadline", func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeoutCause(ctx, time.Second, errors.New("the item's time is up"))
			t.Cleanup(cancel)
			return ctx
		}, llm.KindTimeout},
	}
	for _, r := range rows {
		for _, h := range []http.HandlerFunc{llmtest.Hang, llmtest.SlowStream(0, llmtest.Text("a"), strings.Repeat("x", 1000))} {
			t.Run(r.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log llm.CallLog
					stall := func(w http.ResponseWriter, req *http.Request) {
						h(w, req)
						llmtest.Hang(w, req)
					}
					_, _, err := call(r.derive(llm.WithCallLog(t.Context(), &log)), memory(stall), chatURL, `{}`)
					require.Error(t, err)
					require.Len(t, log.Calls(), 1)
					assert.Equal(t, r.kind, llm.KindOf(log.Calls()[0].Err), "%v", log.Calls()[0].Err)
				})
			})
		}
	}
}

// TestExtraShowsNoKey: what is no JSON may be a key that was taken for a header.
func TestExtraShowsNoKey(t *testing.T) {
	const key = "topsecret-0123456789"
	for _, r := range []struct{ body, extra string }{{key, "1"}, {`{}`, key}} {
		ctx := wire.WithExtra(t.Context(), map[string]json.RawMessage{"f": json.RawMessage(r.extra)})
		_, _, err := call(ctx, memory(llmtest.Status(200, `{}`)), chatURL, r.body)
		require.ErrorContains(t, err, "20 bytes")
		assert.NotContains(t, err.Error(), "top")
	}
}

// TestBodyIsCutAfterMasking has a capture's limit stand within a key.
func TestBodyIsCutAfterMasking(t *testing.T) {
	const key = "topsecret-0123456789"
	rt := memory(llmtest.Status(200, `{"k":"`+key+`"}`))
	rt.Secrets = []string{key}
	for limit := 6 + 8; limit < 6+len(key); limit++ {
		c := wire.Capture{MaxBody: limit}
		_, _, err := call(wire.WithCapture(t.Context(), &c), rt, chatURL, `{}`)
		require.NoError(t, err)
		got := c.Get()
		assert.True(t, got.BodyCut)
		assert.Equal(t, `{"k":"[masked]`, string(got.Body), "%d bytes", limit)
	}
}

// TestContentTypeAsItCame: in small letters a key would not be found.
func TestContentTypeAsItCame(t *testing.T) {
	const key = "TOPSECRET-0123456789"
	rt := memory(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/"+key+"; a=b")
		fmt.Fprint(w, "x")
	})
	rt.Secrets = []string{key}
	var log llm.CallLog
	_, _, err := call(llm.WithCallLog(t.Context(), &log), rt, chatURL, `{}`)
	require.NoError(t, err)
	require.Len(t, log.Calls(), 1)
	assert.Equal(t, []string{`usage is unknown: the content type "image/[masked]" is not read along`}, log.Calls()[0].Response.Warnings)
}

// TestNoErrorInOtherWords: the clients and the transport take the same for an
// error.
func TestNoErrorInOtherWords(t *testing.T) {
	for said, failed := range map[string]bool{"null": false, "[]": false, "{}": false, "0": false, `""`: false, "false": false, `"x"`: true, "429": true, `{"message":"m"}`: true} {
		w := wire.NewWatch("POST", "/v1/chat/completions", http.Header{"Content-Type": {"application/json"}})
		w.Write([]byte(`{"error":`+said+`,"choices":[{"finish_reason":"stop"}]}`), 1)
		w.End(2)
		assert.Equal(t, failed, w.State().Failed, said)
	}
}

// TestMessageInAStream: a token is one wherever a server puts it.
func TestMessageInAStream(t *testing.T) {
	w := wire.NewWatch("POST", "/v1/chat/completions", http.Header{"Content-Type": {"text/event-stream"}})
	w.Write([]byte("data: {\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"), 5)
	assert.Zero(t, w.State().FirstToken, "a role is none")
	w.Write([]byte("data: {\"choices\":[{\"index\":0,\"message\":{\"content\":\"x\"}}]}\n\n"), 7)
	assert.Equal(t, time.Duration(7), w.State().FirstToken)
}

// TestNoAnswer: what a model's path answers may be no answer at all.
func TestNoAnswer(t *testing.T) {
	const gemini = "http://fake/v1beta/models/m:streamGenerateContent?alt=sse"
	rows := []struct {
		name, reason     string
		url, contentType string
		body             string
		kind             llm.ErrorKind
	}{
		{"empty", "an SDK may take it for an empty answer", chatURL, "application/json", " \n", llm.KindBadResponse},
		{"no JSON", "a proxy's words are no answer", chatURL, "application/json", "upstream said no", llm.KindBadResponse},
		{"page", "a gateway's", chatURL, "text/html", "<h1>no</h1>", llm.KindBadResponse},
		{"JSON", "other APIs have other fields", chatURL, "application/json", `{"embeddings":[]}`, ""},
		{"another service", "it may answer what it likes", "http://fake/search", "application/json", "", "none"},
		{"events as a text", "a proxy renames a stream", chatURL, "text/plain", llmtest.Text("a") + llmtest.Finish("stop"), ""},
		{"events as a text, cut", "its end counts all the same", chatURL, "text/plain", llmtest.Text("a"), llm.KindIncomplete},
		{"events behind white space", "its beginning is looked for behind it", chatURL, "text/plain", "\n" + llmtest.Text("a") + llmtest.Finish("stop"), ""},
		{"events behind white space, cut", "its end counts all the same", chatURL, "text/plain", "\n" + llmtest.Text("a"), llm.KindIncomplete},
		{"Gemini's events as a text", "a proxy renames a stream", gemini, "text/plain", llmtest.GeminiText("a") + llmtest.GeminiFinish("STOP"), ""},
		{"Gemini's events as a text, cut", "its end counts all the same", gemini, "text/plain", llmtest.GeminiText("a"), llm.KindIncomplete},
	}
	for _, r := range rows {
		for _, piece := range []int{max(len(r.body), 1), 1} {
			t.Run(fmt.Sprintf("%s/%d", r.name, piece), func(t *testing.T) {
				var log llm.CallLog
				var c wire.Capture
				_, _, err := call(wire.WithCapture(llm.WithCallLog(t.Context(), &log), &c), memory(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", r.contentType)
					for b := range slices.Chunk([]byte(r.body), piece) {
						_, _ = w.Write(b)
						w.(http.Flusher).Flush()
					}
				}), r.url, `{}`)
				if r.kind == "none" {
					require.Empty(t, log.Calls(), r.reason)
					assert.True(t, c.Get().Whole)
					return
				}
				require.Len(t, log.Calls(), 1)
				assert.Equal(t, r.kind, llm.KindOf(log.Calls()[0].Err), "%s: %v (the SDK sees %v)", r.reason, log.Calls()[0].Err, err)
				assert.Equal(t, r.kind == "", c.Get().Whole)
			})
		}
	}
}
