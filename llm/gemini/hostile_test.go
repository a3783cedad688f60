package gemini_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// TestKeyIsNowhere has a server send the key back in each place of an answer,
// and looks for it, and for half of it, in everything that Generate returns.
func TestKeyIsNowhere(t *testing.T) {
	const key = "topsecret/0123456789-0123456789-0123456789"
	answer := func(with string) string {
		return `{"responseId":"` + with + `","modelVersion":"` + with + `","candidates":[{"content":{"parts":[{"text":"my key is ` + with + `!"},{"text":"` + with + `","thought":true},{"functionCall":{"id":"` + with +
			`","name":"` + with + `","args":{"` + with + `":"` + with + `"}}},{"` + with + `":1}]},"finishReason":"` + with + `","finishMessage":"` + with + `"}],"usageMetadata":{"promptTokenCount":"` + with + `"}}`
	}
	rows := []struct {
		name string
		h    http.HandlerFunc
		ok   bool
	}{
		{"message", llmtest.Status(401, failed(401, key, "wrong "+key, reason(key), quota(key))), false},
		{"message cut in the key", llmtest.Status(401, failed(401, "x", strings.Repeat("x", 580)+" "+key)), false},
		{"quota", llmtest.Status(429, failed(429, "RESOURCE_EXHAUSTED", "m", quota(key+"PerDay="+key))), false},
		{"page behind spaces", llmtest.HTML(502, strings.Repeat(" ", 16<<10-20)+key), false},
		{"name cut in the key", llmtest.Status(200, strings.NewReplacer(`"r1"`, `"`+strings.Repeat("x", 240)+key+`"`, `"18"`, `"my key is `+key+`!"`).Replace(ok)), true},
		{"page", llmtest.HTML(502, "<h1>"+key+"</h1>"), false},
		{"page cut in the key", llmtest.HTML(200, "<h1>"+strings.Repeat("x", 180)+" "+key+"</h1>"), false},
		{"answer", llmtest.Status(200, answer(key)), true},
		{"answer in a stream", llmtest.Stream(ev(answer(key))), true},
		{"no answer", llmtest.Status(200, `{"object":"`+key+`"}`), false},
		{"blocked", llmtest.Status(200, `{"promptFeedback":{"blockReason":"`+key+`","blockReasonMessage":"`+key+`"}}`), false},
		{"redirect", llmtest.Status(307, `{}`, "Location", "https://elsewhere/"+key+"?key="+key), false},
		{"content type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/"+key)
			fmt.Fprint(w, "x")
		}, false},
		{"error in a stream", llmtest.Stream(`data: {"error":"` + key + "\"}\n\n"), false},
		{"bare error in a stream", llmtest.Stream("{\"error\":\"" + key + "\"}\n"), false},
		{"junk in a stream", llmtest.Stream("data: " + strings.Repeat("x", 180) + key + "\n\n"), false},
	}
	for _, place := range []string{"variable", "X-Goog-Api-Key", "X-Acme-Token"} {
		for _, r := range rows {
			t.Run(place+"/"+r.name, func(t *testing.T) {
				silent(t)
				s := serve(r.h)
				cfg := s.config()
				if place == "variable" {
					cfg.KeyEnv = "MY_KEY"
					t.Setenv("MY_KEY", key)
				} else {
					cfg.Header = http.Header{place: {key}}
				}
				var log llm.CallLog
				var capture wire.Capture
				req := llm.Prompt("q")
				req.Stream = strings.Contains(r.name, "stream")
				resp, err := cfg.New().Generate(wire.WithCapture(llm.WithCallLog(t.Context(), &log), &capture), req)
				assert.Equal(t, r.ok, err == nil, "%v", err)
				if r.ok {
					assert.Equal(t, "my key is [masked]!", resp.Text)
					assert.Contains(t, joined(resp.Warnings), "held the key")
				}
				got := capture.Get()
				shown := fmt.Sprintf("%+v %+v %v %s %v %v %s %q", resp, err, log.Calls(), got.Body, got.Header, got.Err, got.URL, got.Warnings)
				if i := strings.Index(shown, "topsecret"); i >= 0 {
					t.Errorf("the key stands in …%s…", shown[max(i-60, 0):min(i+80, len(shown))])
				}
			})
		}
	}
}

// TestShortKeyBlanksNothing: local servers are called with keys such as "x",
// which stand in any text.
func TestShortKeyBlanksNothing(t *testing.T) {
	t.Setenv(gemini.DefaultKeyEnv, "x")
	s := serve(llmtest.Status(400, failed(400, "INVALID_ARGUMENT", "max_tokens exceeds the context")))
	_, err := ask(t, s, s.config(), llm.Prompt("q"))
	require.ErrorContains(t, err, "max_tokens exceeds the context")
}

func TestExtraShowsNoKey(t *testing.T) {
	s := serve(body(ok))
	req := llm.Prompt("q")
	req.Extra = map[string]json.RawMessage{"api_key": raw("abcdefgh-12345678")}
	_, err := ask(t, s, s.config(), req)
	require.ErrorContains(t, err, "api_key")
	assert.NotContains(t, err.Error(), "abcdefgh")
}

// TestHostileAnswers: nothing that a server sends may panic, hang or fill the
// records.
func TestHostileAnswers(t *testing.T) {
	long, name := strings.Repeat("x", 8<<20), strings.Repeat("x", 1<<20)
	good := `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":%s}`
	rows := []struct {
		name, reason string
		h            http.HandlerFunc
		kind         llm.ErrorKind
		text         string
		known        bool
	}{
		{"8 MB line", "long, but an answer", events(text(long), end("STOP")), "", long, false},
		{"1 MB of names", "the names are cut", body(`{"responseId":"` + name + `","modelVersion":"` + name + `","candidates":[{"content":{"parts":[{"text":"a"},{"` + name + `":1}]},"finishReason":"` + name + `","finishMessage":"` + name + `"}]}`), "", "a", false},
		{"1 MB of reason", "the reason is cut", body(`{"promptFeedback":{"blockReason":"` + name + `","blockReasonMessage":"` + name + `"}}`), llm.KindBlocked, "", false},
		{"1 MB of code", "the code is cut", llmtest.Status(400, `{"error":{"status":"`+name+`"}}`), llm.KindBadRequest, "", false},
		{"1 MB of quota", "the name is cut", llmtest.Status(429, failed(429, "RESOURCE_EXHAUSTED", "m", quota(name[:60<<10]))), llm.KindRateLimit, "", false},
		{"1 MB of usage", "the warning is cut", body(fmt.Sprintf(good, `"`+name+`"`)), "", "a", false},
		{"invalid UTF-8", "it becomes U+FFFD, as in every JSON decoder of Go", body(strings.Replace(ok, "18", "a\xffb", 1)), "", "a\uFFFDb", true},
		{"invalid UTF-8 in an error", "what is shown must be text", llmtest.Status(500, "{\"error\":\"a\xffb\"}"), llm.KindServer, "", false},
		{"deep", "no stack overflow", body(strings.Repeat("[", 1<<20)), llm.KindBadResponse, "", false},
		{"deep candidates", "no stack overflow", body(`{"candidates":` + strings.Repeat(`[{"content":`, 9000)), llm.KindBadResponse, "", false},
		{"usage negative", "unknown", body(fmt.Sprintf(good, `{"promptTokenCount":-1,"candidatesTokenCount":1}`)), "", "a", false},
		{"usage 1e30", "unknown", body(fmt.Sprintf(good, `{"promptTokenCount":1e30,"candidatesTokenCount":1}`)), "", "a", false},
		{"usage twice", "the last one counts", body(fmt.Sprintf(good, `{"promptTokenCount":-1,"candidatesTokenCount":1,"promptTokenCount":2}`)), "", "a", true},
		{"100,000 events", "comments are passed over quickly", events(strings.Repeat(": x\n\n", 100_000), ev(ok)), "", "18", true},
		{"100,000 lines that look like errors", "the end of a stream is searched within bounds", events(strings.Repeat("{\n", 100_000)), llm.KindIncomplete, "", false},
		{"thousands of kinds", "they are not all told", body(kinds(9_000)), "", "", false},
		{"too many candidates", "they would fill the memory", body(`{"candidates":[` + strings.Repeat("{},", 100_000) + `{}]}`), llm.KindBadResponse, "", false},
		{"too many parts", "they would fill the memory", events(text("a"), ev(`{"candidates":[{"content":{"parts":[`+strings.Repeat("{},", 100_000)+`{}]}}]}`)), llm.KindBadResponse, "a", false},
		{"too many chunks", "they would fill the memory", body("[" + strings.Repeat("{},", 100_000) + "{}]"), llm.KindBadResponse, "", false},
		{"too many details", "they are not read", llmtest.Status(429, `{"error":{"code":429,"details":[`+strings.Repeat("{},", 700_000)+"{}]}}"), llm.KindRateLimit, "", false},
		{"parts of no form", "an answer without them would be graded", body(`{"candidates":[{"content":{"parts":[1,"x",null,[],{"text":7},{"functionCall":3},{"text":"a"}]},"finishReason":"STOP"}]}`), llm.KindBadResponse, "", false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			silent(t)
			s := serve(r.h)
			resp, err := ask(t, s, s.config(), streamed("q"))
			require.Equal(t, r.kind, llm.KindOf(err), "%s: %.300v", r.reason, err)
			assert.True(t, resp.Text == r.text, "%s: got %d bytes, want %d", r.reason, len(resp.Text), len(r.text))
			assert.Equal(t, r.known, resp.Usage.Known)
			resp.Text = ""
			assert.Less(t, len(fmt.Sprintf("%+v %v", resp, err)), 4000)
		})
	}
}

// kinds is an answer of n parts of which each is of another unknown kind.
func kinds(n int) string {
	var b strings.Builder
	b.WriteString(`{"candidates":[{"content":{"parts":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"kind%d":1,"more%d":2}`, i, i)
	}
	b.WriteString(`]},"finishReason":"STOP"}]}`)
	return b.String()
}
