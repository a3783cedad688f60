package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
	evalsgemini "github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// A tape is a streamed answer that was rendered before anything is measured. It
// answers every call, and each read of the body yields one event, as a socket
// does where tokens come one by one.
type tape struct {
	mime   string
	events [][]byte
}

func (t *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header: http.Header{"Content-Type": {t.mime}}, Request: r, Body: &tapeBody{events: t.events},
	}, nil
}

type tapeBody struct {
	events [][]byte
	rest   []byte
}

func (b *tapeBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if len(b.events) == 0 {
			return 0, io.EOF
		}
		b.rest, b.events = b.events[0], b.events[1:]
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *tapeBody) Close() error { return nil }

// record has the fake server answer one call of ask and keeps what it sent.
func record(tb testing.TB, reply llmtest.Reply, ask func(*http.Client) error) *tape {
	s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return reply }}
	var t tape
	var all []byte
	err := ask(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := s.Client().Transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		t.mime = resp.Header.Get("Content-Type")
		if all, err = io.ReadAll(resp.Body); err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(bytes.NewReader(all))
		return resp, nil
	})})
	require.NoError(tb, err)
	end := []byte("\n\n")
	if bytes.Contains(all, []byte("\r\n\r\n")) {
		end = []byte("\r\n\r\n")
	}
	for ev := range bytes.SplitAfterSeq(all, end) {
		if len(ev) > 0 {
			t.events = append(t.events, ev)
		}
	}
	return &t
}

// A streamReader reads a whole streamed answer through an http.Client and
// returns how many bytes of text it made of it; -1 if it makes none.
type streamReader struct {
	name string
	read func(context.Context, *http.Client) (int, error)
}

// bare is the least that a reader of a stream does: it splits lines.
func bare(url string) streamReader {
	return streamReader{"bare", func(ctx context.Context, client *http.Client) (int, error) {
		req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader("{}"))
		if err != nil {
			return 0, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			_ = lines.Bytes()
		}
		return -1, lines.Err()
	}}
}

// wired is the bare reader above the transport, with the capture that the
// clients have.
func wired(url string) streamReader {
	return streamReader{"wire", func(ctx context.Context, client *http.Client) (int, error) {
		ctx = wire.WithCapture(ctx, &wire.Capture{MaxBody: -1})
		return bare(url).read(ctx, &http.Client{Transport: wire.Transport{Base: client.Transport}})
	}}
}

// model is a client of ours.
func model(newModel func(*http.Client) llm.Model) streamReader {
	return streamReader{"client", func(ctx context.Context, client *http.Client) (int, error) {
		req := llm.Prompt("q")
		req.Stream = true
		r, err := newModel(client).Generate(ctx, req)
		n := len(r.Text) + len(r.Reasoning)
		for _, tc := range r.ToolCalls {
			n += len(tc.Arguments)
		}
		return n, err
	}}
}

func openAIReaders() []streamReader {
	return []streamReader{
		bare("http://127.0.0.1/v1/chat/completions"), wired("http://127.0.0.1/v1/chat/completions"),
		{"sdk", func(ctx context.Context, client *http.Client) (n int, err error) {
			req := chat("q")
			stream, err := openAI(client).CreateChatCompletionStream(ctx, req)
			if err != nil {
				return 0, err
			}
			defer stream.Close()
			for {
				ev, err := stream.Recv()
				if err == io.EOF {
					return n, nil
				}
				if err != nil {
					return 0, err
				}
				for _, c := range ev.Choices {
					n += len(c.Delta.Content) + len(c.Delta.ReasoningContent)
					for _, tc := range c.Delta.ToolCalls {
						n += len(tc.Function.Arguments)
					}
				}
			}
		}},
		model(func(client *http.Client) llm.Model {
			return openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: client}.New()
		}),
	}
}

func geminiReaders() []streamReader {
	return []streamReader{
		bare("http://127.0.0.1/v1beta/models/m:streamGenerateContent?alt=sse"), wired("http://127.0.0.1/v1beta/models/m:streamGenerateContent?alt=sse"),
		{"sdk", func(ctx context.Context, client *http.Client) (n int, err error) {
			c, err := gemini(ctx, client, genai.HTTPOptions{})
			if err != nil {
				return 0, err
			}
			for ev, err := range c.Models.GenerateContentStream(ctx, "m", genai.Text("q"), nil) {
				if err != nil {
					return 0, err
				}
				for _, c := range ev.Candidates {
					for _, p := range c.Content.Parts {
						n += len(p.Text)
						if p.FunctionCall != nil {
							n += len(callArguments)
						}
					}
				}
			}
			return n, nil
		}},
		model(func(client *http.Client) llm.Model {
			return evalsgemini.Config{Model: "m", BaseURL: "http://127.0.0.1", HTTPClient: client}.New()
		}),
	}
}

type streamedAnswer struct {
	name  string
	reply llmtest.Reply
}

// streamedAnswers are what is streamed: an answer by the token, one in larger
// pieces as a server under load sends it, and thoughts before an answer with a
// call.
func streamedAnswers() []streamedAnswer {
	piece := strings.Repeat("token-", 40) + " "
	call := llm.ToolCall{ID: "call_1", Name: "f", Arguments: callArguments}
	return []streamedAnswer{
		{"text-2000x1", llmtest.Reply{Text: llmtest.Words(2000)}},
		{"text-50x40", llmtest.Reply{Text: strings.Repeat(piece, 50)}},
		{"thoughts-2000x1", llmtest.Reply{Reasoning: llmtest.Words(1000), Text: llmtest.Words(1000), ToolCalls: []llm.ToolCall{call}}},
	}
}

const callArguments = `{"a":1}`

// BenchmarkStream is what a streamed answer costs its reader, for each event:
// the clients, the SDKs below them, the transport alone, and a bare reader, over
// bytes that were rendered before. The bare reader and the SDK take turns with
// each: x-bare and x-sdk are the ratios of the times in the same run.
func BenchmarkStream(b *testing.B) {
	for _, api := range []struct {
		name    string
		readers []streamReader
	}{{"openai", openAIReaders()}, {"gemini", geminiReaders()}} {
		for _, a := range streamedAnswers() {
			name := "api=" + api.name + "/answer=" + a.name
			client := api.readers[len(api.readers)-1]
			t := record(b, a.reply, func(c *http.Client) error { _, err := client.read(b.Context(), c); return err })
			for _, r := range api.readers {
				b.Run(name+"/reader="+r.name, func(b *testing.B) {
					t.benchmark(b, []streamReader{r, api.readers[0], api.readers[2]}, len(a.reply.Text)+len(a.reply.Reasoning))
				})
			}
		}
	}
}

// benchmark measures the first reader in turns with a bare one and the SDK. want
// is the least number of bytes that they find, which tells one that stopped
// early.
func (t *tape) benchmark(b *testing.B, readers []streamReader, want int) {
	client := &http.Client{Transport: t}
	read := func(r streamReader) time.Duration {
		at := time.Now()
		n, err := r.read(b.Context(), client)
		took := time.Since(at)
		require.NoError(b, err)
		assert.False(b, n >= 0 && n < want, "%s read %d bytes of %d", r.name, n, want)
		return took
	}
	var took [3]time.Duration
	passes := 0
	for b.Loop() {
		for i := range readers {
			i = (i + passes) % len(readers)
			took[i] += read(readers[i])
		}
		passes++
	}
	chunks := float64(len(t.events))
	bytes, objects := perPass(func() { read(readers[0]) })
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[0].Nanoseconds())/float64(passes)/chunks, "ns/chunk")
	b.ReportMetric(float64(took[0])/float64(took[1]), "x-bare")
	b.ReportMetric(float64(took[0])/float64(took[2]), "x-sdk")
	b.ReportMetric(bytes/chunks, "B/chunk")
	b.ReportMetric(objects/chunks, "allocs/chunk")
}

// TestEventsTakeLittle: a client allocates for an event what it keeps, and not
// again at each level of its JSON (54 objects with OpenAI's form and 168 with
// Gemini's, once).
func TestEventsTakeLittle(t *testing.T) {
	reply := llmtest.Reply{Text: llmtest.Words(2000)}
	for name, readers := range map[string][]streamReader{"openai": openAIReaders(), "gemini": geminiReaders()} {
		t.Run(name, func(t *testing.T) {
			client := readers[len(readers)-1]
			tp := record(t, reply, func(c *http.Client) error { _, err := client.read(t.Context(), c); return err })
			_, objects := perPass(func() {
				n, err := client.read(t.Context(), &http.Client{Transport: tp})
				require.NoError(t, err)
				assert.Equal(t, len(reply.Text), n)
			})
			assert.Less(t, objects/float64(len(tp.events)), 20.0)
		})
	}
}

// perPass is what f allocates, in bytes and in objects: the least of three
// passes, since a garbage collection empties pools.
func perPass(f func()) (bytes, objects float64) {
	for i := range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		n, m := float64(after.TotalAlloc-before.TotalAlloc), float64(after.Mallocs-before.Mallocs)
		if i == 0 || m < objects {
			bytes, objects = n, m
		}
	}
	return bytes, objects
}
