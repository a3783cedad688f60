package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
)

func fuzzed(stream bool, status int, contentType string, b []byte) (llm.Response, error) {
	ex := &exchange{
		Answer: client.Answer{Status: status, Head: http.Header{"Content-Type": {contentType}}, URL: &url.URL{Scheme: "http", Host: "h"}},
		stream: stream, to: target{provider: "gemini"},
	}
	var a answer
	if !stream {
		ex.Body = b
		r, err := a.body(context.Background(), ex)
		return r, (&Client{}).failure(context.Background(), ex, &r, err)
	}
	ex.events = newEventStream(io.NopCloser(bytes.NewReader(b)))
	for {
		ev, err := ex.events.Next()
		if err == nil {
			err = a.event(ev, 1)
		}
		if err == nil {
			continue
		}
		if err == io.EOF {
			err = a.end(ex.events.bareError())
		}
		r := a.response()
		return r, (&Client{}).failure(context.Background(), ex, &r, err)
	}
}

// FuzzBody: no body panics, and one that is an error gives no answer.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"candidates":[{"content":{"parts":[{"text":"18"},{"text":"t","thought":true},{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`,
		`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"google.rpc.QuotaFailure","violations":[{"quotaId":"PerDay"}]}]}}`,
		`[{"error":{}},{"candidates":[]}]`, `{"promptFeedback":{}}`, `{"promptFeedback":{"blockReason":"SAFETY"}}`, `data: {"candidates":[]}`, `<html>`, ``, `[`,
	} {
		f.Add(200, s)
		f.Add(429, s)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		r, err := fuzzed(false, status, "application/json", []byte(body))
		checkFuzzed(t, r, err)
		if status != 200 && err == nil {
			t.Errorf("status %d is an answer", status)
		}
		var o struct {
			Error map[string]any `json:"error"`
		}
		if json.Unmarshal([]byte(body), &o) == nil && len(o.Error) > 0 && err == nil {
			t.Errorf("an error is the answer %q", r.Text)
		}
	})
}

// FuzzStream: no stream panics, and only one that said so is whole.
func FuzzStream(f *testing.F) {
	const chunk = `data: {"candidates":[{"content":{"parts":[{"text":"18"}]},"finishReason":"STOP"}]}` + "\r\n\r\n"
	for _, s := range []string{
		chunk, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"18\"}]}}]}\n\n", ": x\n\n" + chunk, "event: error\ndata: {}\n\n",
		"data: {\"error\":{\"code\":503}}\n\n", "{\"error\":{\"code\":503}}\n", "data: [DONE]\n\n", "data: {\"promptFeedback\":{}}\n\n", "data: x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r, err := fuzzed(true, 200, "text/event-stream", []byte(body))
		checkFuzzed(t, r, err)
		if err == nil && r.Finish == "" && !strings.Contains(body, "[DONE]") {
			t.Errorf("a stream without an end is the answer %q", r.Text)
		}
	})
}

func checkFuzzed(t *testing.T, r llm.Response, err error) {
	if err != nil && llm.KindOf(err) == llm.KindUnknown {
		t.Errorf("%v has no kind", err)
	}
	u := r.Usage
	if !u.Known && u != (llm.Usage{}) || min(u.Input, u.Output, u.CachedInput, u.Reasoning) < 0 || u.CachedInput > u.Input || u.Reasoning > u.Output {
		t.Errorf("usage %+v", u)
	}
}

// FuzzMerge: what is merged is JSON, and merging twice changes nothing more.
func FuzzMerge(f *testing.F) {
	f.Add(`{"a":1,"g":{"t":0}}`, `{"g":{"t":null,"k":[null]},"b":{"c":null}}`)
	f.Add(`{}`, `null`)
	f.Fuzz(func(t *testing.T, into, patch string) {
		if !json.Valid([]byte(into)) || !json.Valid([]byte(patch)) {
			t.Skip()
		}
		once, err := merge([]byte(into), []byte(patch))
		require.NoError(t, err)
		require.True(t, json.Valid(once), "%s", once)
		twice, err := merge(once, []byte(patch))
		require.NoError(t, err)
		var a, b any
		require.NoError(t, json.Unmarshal(once, &a))
		require.NoError(t, json.Unmarshal(twice, &b))
		require.Equal(t, a, b)
	})
}
