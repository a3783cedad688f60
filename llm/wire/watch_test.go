package wire_test

import (
	"io"
	"net/http"
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

func TestWholeStreams(t *testing.T) {
	second := "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\n"
	second2 := strings.Replace(llmtest.Finish("stop"), `"index":0`, `"index":1`, 1)
	rows := []struct {
		name, reason string
		url          string
		pieces       []string
		whole        bool
	}{
		{"DONE", "the usual end", chatURL, []string{llmtest.Text("a"), llmtest.Finish("stop"), llmtest.Done}, true},
		{"C03", "a clean end without a reason", chatURL, []string{llmtest.Text("a")}, false},
		{"C04", "a reason without [DONE]", chatURL, []string{llmtest.Text("a"), llmtest.Finish("stop")}, true},
		{"C04 Gemini", "there is never a [DONE]", "http://fake/v1/models/m:streamGenerateContent", []string{"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"finishReason\":\"STOP\"}]}\n\n"}, true},
		{"C09 Gemini blocked", "a blocked prompt is an end", "http://fake/v1/models/m:streamGenerateContent", []string{"data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n"}, true},
		{"Gemini cut", "no finish reason", "http://fake/v1/models/m:streamGenerateContent", []string{"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n\n"}, false},
		{"DONE only", "it says that it is over", chatURL, []string{llmtest.Text("a"), llmtest.Done}, true},
		{"empty", "a model's stream with nothing in it", chatURL, nil, false},
		{"cut in a line", "no line end after half an event", chatURL, []string{llmtest.Text("a"), "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_re"}, false},
		{"last line without end", "the whole event came", chatURL, []string{llmtest.Text("a"), strings.TrimSpace(llmtest.Finish("stop"))}, true},
		{"error", "the SDK has its error already", chatURL, []string{"data: {\"error\":\"STREAM_EXPLODED\"}\n\n"}, true},
		{"two choices", "both have to finish", chatURL, []string{llmtest.Text("a"), second, llmtest.Finish("stop")}, false},
		{"two choices done", "both did", chatURL, []string{llmtest.Text("a"), second, llmtest.Finish("stop"), second2}, true},
		{"reason in the text", "an answer may speak of finish reasons", chatURL, []string{llmtest.Text(`"finish_reason":"stop"`)}, false},
		{"another service", "its events are not ours to judge", "http://fake/events", []string{"data: {\"price\":1}\n\n"}, true},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			_, text, err := call(t.Context(), memory(llmtest.Stream(r.pieces...)), r.url, `{}`)
			assert.Equal(t, strings.Join(r.pieces, ""), text, "the bytes are passed on as they came")
			if r.whole {
				assert.NoError(t, err, r.reason)
				return
			}
			require.ErrorIs(t, err, wire.ErrIncomplete, r.reason)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		})
	}
}

func TestFirstToken(t *testing.T) {
	delta := func(s string) string { return "data: {\"choices\":[{\"index\":0,\"delta\":" + s + "}]}\n\n" }
	rows := []struct {
		name, reason string
		piece        string
		counts       bool
	}{
		{"content", "text", delta(`{"content":"a"}`), true},
		{"reasoning_content", "reasoning is generated too", delta(`{"reasoning_content":"a"}`), true},
		{"reasoning", "the newer name", delta(`{"reasoning":"a"}`), true},
		{"tool call", "so is a call", delta(`{"tool_calls":[{"index":0,"function":{"name":"f"}}]}`), true},
		{"refusal", "so is a refusal", delta(`{"refusal":"no"}`), true},
		{"role", "nobody generated it", delta(`{"role":"assistant","content":""}`), false},
		{"null", "nothing", delta(`{"content":null}`), false},
		{"no tools", "nothing", delta(`{"tool_calls":[]}`), false},
		{"C06 comment", "a keep-alive", ": OPENROUTER PROCESSING\n\n", false},
		{"C06 empty data", "a keep-alive", "data:\n\n", false},
		{"C06 ping", "a keep-alive", "event: ping\n\n", false},
		{"C06 retry", "a setting", "retry: 3000\n\n", false},
		{"usage", "no token", "data: {\"choices\":[],\"usage\":null}\n\n", false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c wire.Capture
				_, _, err := call(wire.WithCapture(t.Context(), &c), memory(llmtest.SlowStream(time.Second, r.piece, llmtest.Text("z"), llmtest.Finish("stop"))), chatURL, `{}`)
				require.NoError(t, err)
				want := 2 * time.Second
				if r.counts {
					want = time.Second
				}
				assert.Equal(t, want, c.Get().FirstToken, r.reason)
				assert.Equal(t, time.Second, c.Get().FirstByte)
				assert.Equal(t, 3*time.Second, c.Get().End)
			})
		})
	}
}

// TestOddFieldsInside: a field of another type spoils itself only, but where it
// stands in the response inside an event, that is left alone.
func TestOddFieldsInside(t *testing.T) {
	read := func(data string) wire.WatchState {
		w := wire.NewWatch("POST", "/v1/responses", http.Header{"Content-Type": {"text/event-stream"}})
		w.Write([]byte("data: "+data+"\n\n"), 1)
		return w.State()
	}
	s := read(`{"type":"response.completed","id":5,"model":"m","response":{"usage":{"input_tokens":3,"output_tokens":2}}}`)
	assert.Equal(t, "m", s.Model)
	assert.Equal(t, llm.Usage{Input: 3, Output: 2, Known: true}, s.Usage)
	s = read(`{"type":"response.completed","response":{"id":5,"model":"m","usage":{"input_tokens":3,"output_tokens":2}}}`)
	assert.True(t, s.Done)
	assert.Empty(t, s.Model)
	assert.False(t, s.Usage.Known)
}
