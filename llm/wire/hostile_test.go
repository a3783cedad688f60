package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

const goodAnswer = `{"id":"1","model":"m","choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`

// TestKeyIsNowhere sends a key in each place of a request to servers that send
// it back in each place of an answer, and looks for it in everything that the
// transport shows.
func TestKeyIsNowhere(t *testing.T) {
	const key = `topsecret/key+0123"456`
	asJSON := strings.Trim(fmt.Sprintf("%q", key), `"`)
	places := []struct {
		name string
		put  func(*http.Request)
		conf []string
	}{
		{"Authorization", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }, nil},
		{"basic", func(r *http.Request) { r.SetBasicAuth("me", key) }, nil},
		{"a gateway's header", func(r *http.Request) { r.Header.Set("X-Acme-Api-Key", key) }, nil},
		{"another gateway's header", func(r *http.Request) { r.Header.Set("Ocp-Apim-Subscription-Key", key) }, nil},
		{"query", func(r *http.Request) { r.URL.RawQuery = url.Values{"key": {key}}.Encode() }, nil},
		{"URL", func(r *http.Request) { r.URL.User = url.UserPassword("me", key) }, nil},
		{"configured, in the path", func(r *http.Request) { r.URL.Path = "/" + key + "/v1/chat/completions" }, []string{key}},
	}
	answers := []struct {
		name string
		h    http.HandlerFunc
	}{
		{"error body", llmtest.Status(401, `{"error":{"message":"bad key `+asJSON+`"}}`)},
		{"header", llmtest.Status(200, goodAnswer, "X-Echo", key)},
		{"names", llmtest.Status(200, strings.NewReplacer(`"1"`, `"`+asJSON+`"`, `"m"`, `"`+asJSON+`"`, `"stop"`, `"`+asJSON+`"`).Replace(goodAnswer))},
		{"usage", llmtest.Status(200, strings.Replace(goodAnswer, `:3`, `:"`+asJSON+`"`, 1))},
		{"usage object", llmtest.Status(200, strings.Replace(goodAnswer, `{"prompt_tokens":3,"completion_tokens":1}`, `"`+asJSON+`"`, 1))},
		{"base64", llmtest.Status(400, `{"error":"`+base64.StdEncoding.EncodeToString([]byte(key+" is wrong"))+`"}`)},
		{"escaped", llmtest.Status(400, `{"error":"`+url.QueryEscape(key)+`"}`)},
		{"redirect", llmtest.Status(307, `{}`, "Location", "http://elsewhere/x?key="+url.QueryEscape(key))},
		{"stream", llmtest.Stream("data: {\"id\":\""+asJSON+"\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\""+asJSON+"\"}]}\n\n", llmtest.Done)},
		{"cut stream", llmtest.Stream("data: {\"error\":\"" + asJSON + "\"")},
	}
	for _, p := range places {
		for _, a := range answers {
			t.Run(p.name+"/"+a.name, func(t *testing.T) {
				var log llm.CallLog
				var c wire.Capture
				ctx := wire.WithCapture(llm.WithCallLog(t.Context(), &log), &c)
				req, err := http.NewRequestWithContext(ctx, "POST", chatURL, strings.NewReader("{}"))
				require.NoError(t, err)
				p.put(req)
				if req.URL.User != nil { // what http.Client does
					req.SetBasicAuth("me", key)
				}
				rt := memory(a.h)
				rt.Secrets = p.conf
				resp, err := rt.RoundTrip(req)
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				g := c.Get()
				shown := fmt.Sprintf("%v %+v %s %s %q", err, g, g.Body, g.Request, g.Header)
				for _, call := range log.Calls() {
					shown += fmt.Sprintf("%+v %v", call, call.Err)
				}
				for _, form := range []string{key, asJSON, url.QueryEscape(key), url.PathEscape(key), base64.StdEncoding.EncodeToString([]byte(key))[:20], "topsecret"} {
					if i := strings.Index(shown, form); i >= 0 {
						t.Errorf("the key as %q stands in …%s…", form, shown[max(i-60, 0):min(i+80, len(shown))])
					}
				}
			})
		}
	}
}

func TestKeyInARefusedBody(t *testing.T) {
	rt := memory(llmtest.Status(200, goodAnswer))
	rt.Secrets = []string{"hushhushhush"}
	ctx := wire.WithExtra(t.Context(), map[string]json.RawMessage{"x": json.RawMessage("1")})
	_, _, err := call(ctx, rt, chatURL, "hushhushhush")
	require.ErrorContains(t, err, "JSON object")
	assert.NotContains(t, err.Error(), "hushhush")
}

// TestRedirects: a redirect that the SDK's client follows is one call.
func TestRedirects(t *testing.T) {
	var hits atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if !strings.HasPrefix(r.URL.Path, "/new") {
			http.Redirect(w, r, "/new"+r.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		b, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, `{"a":1}`, string(b), "the body is sent again")
		llmtest.Status(200, goodAnswer)(w, r)
	}))
	defer s.Close()
	var log llm.CallLog
	var c wire.Capture
	ctx := wire.WithCapture(llm.WithCallLog(t.Context(), &log), &c)
	_, text, err := call(ctx, wire.Transport{}, s.URL+"/v1/chat/completions", `{"a":1}`)
	require.NoError(t, err)
	assert.Equal(t, goodAnswer, text)
	assert.EqualValues(t, 2, hits.Load())
	require.Len(t, log.Calls(), 1, "the redirect answered nothing and cost nothing")
	assert.Equal(t, llm.Usage{Input: 3, Output: 1, Known: true}, log.Calls()[0].Response.Usage)
	assert.Equal(t, 2, c.Get().Calls)
	assert.Equal(t, 200, c.Get().Status)
}

// TestUnclosedStreamIsLogged: an SDK that stops at [DONE] and forgets Close
// must not lose what the call cost.
func TestUnclosedStreamIsLogged(t *testing.T) {
	var log llm.CallLog
	ctx := llm.WithCallLog(t.Context(), &log)
	req, err := http.NewRequestWithContext(ctx, "POST", chatURL, nil)
	require.NoError(t, err)
	release := make(chan struct{})
	defer close(release)
	resp, err := memory(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Stream(llmtest.Text("a"), llmtest.Finish("stop"), "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n", llmtest.Done)(w, r)
		<-release
	}).RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	r := wire.NewEventReader(resp.Body)
	for {
		ev, err := r.Next()
		require.NoError(t, err)
		if string(ev.Data) == "[DONE]" {
			break
		}
	}
	require.Len(t, log.Calls(), 1)
	assert.Equal(t, llm.Usage{Input: 3, Output: 1, Known: true}, log.Calls()[0].Response.Usage)
	resp.Body.Close()
	assert.Len(t, log.Calls(), 1, "once")
}

// TestStreamsOfOtherAPIs end without [DONE] and are good nevertheless.
func TestStreamsOfOtherAPIs(t *testing.T) {
	rows := []struct{ name, reason, path, stream string }{
		{"speech", "usage stands in the last event", "/v1/audio/transcriptions", "data: {\"type\":\"transcript.text.delta\",\"delta\":\"a\"}\n\ndata: {\"type\":\"transcript.text.done\",\"text\":\"a\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}\n\n"},
		{"image", "usage stands in the last event", "/v1/images/generations", "event: image_generation.completed\ndata: {\"type\":\"image_generation.completed\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}\n\n"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var log llm.CallLog
			_, _, err := call(llm.WithCallLog(t.Context(), &log), memory(llmtest.Stream(r.stream)), "http://fake"+r.path, `{}`)
			require.NoError(t, err, r.reason)
			require.Len(t, log.Calls(), 1)
			require.NoError(t, log.Calls()[0].Err)
			assert.Equal(t, llm.Usage{Input: 3, Output: 1, Known: true}, log.Calls()[0].Response.Usage)
		})
	}
}

// TestTooLongEvent: what the transport cannot keep it must not call cut.
func TestTooLongEvent(t *testing.T) {
	var log llm.CallLog
	long := strings.Repeat("x", 1<<20)
	n := 0
	rt := memory(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: ")
		for range 66 {
			k, err := io.WriteString(w, long)
			assert.NoError(t, err)
			n += k
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "\n\n", llmtest.Finish("stop"), llmtest.Done)
	})
	req, err := http.NewRequestWithContext(llm.WithCallLog(t.Context(), &log), "POST", chatURL, nil)
	require.NoError(t, err)
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	got, err := io.Copy(io.Discard, resp.Body)
	require.NoError(t, err, "the SDK reads what came")
	resp.Body.Close()
	assert.Greater(t, got, int64(n))
	require.Len(t, log.Calls(), 1)
	assert.Contains(t, fmt.Sprint(log.Calls()[0].Response.Warnings), "too long")
	assert.False(t, log.Calls()[0].Response.Usage.Known)
}

func TestHostileUsage(t *testing.T) {
	rows := []struct {
		name, reason, usage string
		want                llm.Usage
		warn                string
	}{
		{"negative", "no count", `{"prompt_tokens":-3,"completion_tokens":1}`, llm.Usage{}, "prompt_tokens"},
		{"huge", "no count of tokens", `{"prompt_tokens":1e30,"completion_tokens":1}`, llm.Usage{}, "prompt_tokens"},
		{"twice", "the last one counts, as in every JSON decoder that does not refuse", `{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens":3}`, llm.Usage{Input: 3, Output: 1, Known: true}, ""},
		{"a list", "no object", `[1,2]`, llm.Usage{}, "usage"},
		{"deep", "no object", strings.Repeat("[", 9000) + strings.Repeat("]", 9000), llm.Usage{}, "usage"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var log llm.CallLog
			body := strings.Replace(goodAnswer, `{"prompt_tokens":3,"completion_tokens":1}`, r.usage, 1)
			_, text, err := call(llm.WithCallLog(t.Context(), &log), memory(llmtest.Status(200, body)), chatURL, `{}`)
			require.NoError(t, err)
			assert.Equal(t, body, text, "the SDK reads what came")
			require.Len(t, log.Calls(), 1)
			assert.Equal(t, r.want, log.Calls()[0].Response.Usage, r.reason)
			if r.warn != "" {
				assert.Contains(t, fmt.Sprint(log.Calls()[0].Response.Warnings), r.warn)
			}
			assert.Less(t, len(fmt.Sprint(log.Calls()[0].Response.Warnings)), 300)
		})
	}
}

func TestLongNamesAreCut(t *testing.T) {
	var log llm.CallLog
	body := strings.NewReplacer(`"1"`, `"`+strings.Repeat("i", 1<<20)+`"`, `"m"`, `"`+strings.Repeat("é", 1<<20)+`"`).Replace(goodAnswer)
	_, _, err := call(llm.WithCallLog(t.Context(), &log), memory(llmtest.Status(200, body)), chatURL, `{}`)
	require.NoError(t, err)
	r := log.Calls()[0].Response
	assert.Less(t, len(r.ID)+len(r.Model), 600)
	assert.True(t, r.Usage.Known)
}

// TestRawServers answers from bytes over a real socket.
func TestRawServers(t *testing.T) {
	var zip bytes.Buffer
	z := gzip.NewWriter(&zip)
	fmt.Fprint(z, goodAnswer)
	require.NoError(t, z.Close())
	full := "Content-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(goodAnswer)) + "\r\n\r\n" + goodAnswer
	rows := []struct {
		name, reason string
		accept       string // Accept-Encoding of the SDK
		answer       string
		known        bool
		warn         string
		fails        bool
	}{
		{"plain", "the test's own server works", "", "HTTP/1.1 200 OK\r\n" + full, true, "", false},
		{"1xx", "informational answers come before", "", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + full, true, "", false},
		{"trailers", "chunked, with a trailer", "", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\nX-T: 1\r\n\r\n", len(goodAnswer), goodAnswer), true, "", false},
		{"gzip unasked by the SDK", "net/http asks for it and unpacks it", "", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: " + fmt.Sprint(zip.Len()) + "\r\n\r\n" + zip.String(), true, "", false},
		{"gzip asked by the SDK", "said, not silent", "gzip", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: " + fmt.Sprint(zip.Len()) + "\r\n\r\n" + zip.String(), false, "content encoding", false},
		{"endless headers", "net/http stops it", "", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Junk: "+strings.Repeat("j", 1000)+"\r\n", 11000), false, "", true},
		{"no HTTP", "another protocol's greeting is no answer", "", "SSH-2.0-OpenSSH\r\n", false, "", true},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				req := make([]byte, 4096)
				_, _ = conn.Read(req)
				_, _ = io.WriteString(conn, r.answer) // the client may hang up before
			}()
			var log llm.CallLog
			ctx, cancel := context.WithTimeout(llm.WithCallLog(t.Context(), &log), 20*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "POST", "http://"+l.Addr().String()+"/v1/chat/completions", strings.NewReader("{}"))
			require.NoError(t, err)
			if r.accept != "" {
				req.Header.Set("Accept-Encoding", r.accept)
			}
			resp, err := wire.Transport{}.RoundTrip(req)
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			assert.Equal(t, r.fails, err != nil, "%s: %v", r.reason, err)
			require.Len(t, log.Calls(), 1)
			assert.Equal(t, r.fails, log.Calls()[0].Err != nil)
			assert.Equal(t, r.known, log.Calls()[0].Response.Usage.Known)
			assert.Contains(t, fmt.Sprint(log.Calls()[0].Response.Warnings), r.warn)
		})
	}
}

// TestEndlessStream ends with the context, and costs no memory.
func TestEndlessStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var log llm.CallLog
		_, _, err := call(llm.WithCallLog(ctx, &log), memory(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				fmt.Fprint(w, ": ping\n\n", llmtest.Text("a"))
				w.(http.Flusher).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
				}
			}
		}), chatURL, `{}`)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, log.Calls(), 1)
		assert.Equal(t, llm.KindTimeout, llm.KindOf(log.Calls()[0].Err))
		assert.Equal(t, time.Minute, log.Calls()[0].Response.Timing.Total)
	})
}
