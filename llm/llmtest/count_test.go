package llmtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// told is the usage that the whole events of a stream, or a whole answer, have
// told: the last one.
func told(t *testing.T, api llmtest.API, stream bool, b []byte) (u llm.Usage) {
	events := [][]byte{b}
	if stream {
		events = bytes.SplitAfter(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	}
	for _, e := range events {
		data := bytes.TrimPrefix(e, []byte("data: "))
		if stream && !bytes.HasSuffix(e, []byte("\n\n")) || bytes.HasPrefix(data, []byte("[DONE]")) || bytes.HasPrefix(data, []byte(":")) {
			continue
		}
		var in struct {
			OpenAI *struct {
				Prompt     int64 `json:"prompt_tokens"`
				Completion int64 `json:"completion_tokens"`
				PromptOf   struct {
					Cached int64 `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
				OutputOf struct {
					Reasoning int64 `json:"reasoning_tokens"`
				} `json:"completion_tokens_details"`
			} `json:"usage"`
			Gemini *struct {
				Prompt   int64 `json:"promptTokenCount"`
				Answer   int64 `json:"candidatesTokenCount"`
				Thoughts int64 `json:"thoughtsTokenCount"`
				Cached   int64 `json:"cachedContentTokenCount"`
			} `json:"usageMetadata"`
		}
		if err := json.Unmarshal(data, &in); err != nil {
			require.False(t, stream, "%s: %s", api, data)
			return llm.Usage{} // cut
		}
		switch {
		case in.OpenAI != nil:
			u = llm.Usage{Input: in.OpenAI.Prompt, CachedInput: in.OpenAI.PromptOf.Cached, Output: in.OpenAI.Completion, Reasoning: in.OpenAI.OutputOf.Reasoning, Known: true}
		case in.Gemini != nil:
			u = llm.Usage{Input: in.Gemini.Prompt, CachedInput: in.Gemini.Cached, Output: in.Gemini.Answer + in.Gemini.Thoughts, Reasoning: in.Gemini.Thoughts, Known: true}
		}
	}
	return u
}

// TestToldIsBilled: what callers read of usage is what the server billed and
// says that it reported, wherever they give up and whatever breaks.
func TestToldIsBilled(t *testing.T) {
	for _, fault := range []string{"", llmtest.FaultResetMidway, llmtest.FaultErrorMidway, llmtest.FaultTruncated, llmtest.FaultHangMidway, llmtest.FaultNoUsage, llmtest.FaultNoFinish, llmtest.FaultSlowDrip} {
		for _, api := range []llmtest.API{llmtest.OpenAI, llmtest.Gemini} {
			t.Run(fault+"/"+string(api), func(t *testing.T) {
				for seed := range uint64(4) {
					synctest.Test(t, func(t *testing.T) { giveUpAnywhere(t, fault, api, seed) })
				}
			})
		}
	}
}

func giveUpAnywhere(t *testing.T, fault string, api llmtest.API, seed uint64) {
	s := &llmtest.Server{
		Seed: seed, Latency: llmtest.Latency{First: llmtest.Exponential(time.Second), Between: llmtest.Exponential(20 * time.Millisecond)},
		Cache: &llmtest.PrefixCache{Min: 2, Block: 1},
		Reply: func(c llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{Reasoning: "let me see", Text: llmtest.Words(c.N % 7)}
		},
	}
	if fault != "" {
		s.Rules = []llmtest.Rule{{Probability: 0.5, Faults: llmtest.Named(fault)}}
	}
	var mu sync.Mutex
	var sum llm.Usage
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			draw := rand.New(rand.NewPCG(seed, uint64(i)))
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(draw.ExpFloat64()*2e9))
			defer cancel()
			// A whole answer is read whole: it went out, whether it is read or not.
			stream, most := draw.IntN(3) > 0, int64(1<<20)
			if stream {
				most = int64(draw.ExpFloat64() * 2000)
			}
			resp, err := ask(ctx, s.Client(), api, stream, fmt.Sprint("item ", i%9, " of many"))
			if err != nil {
				return
			}
			b, _ := io.ReadAll(io.LimitReader(resp.Body, most)) // however it ends
			resp.Body.Close()
			mu.Lock()
			defer mu.Unlock()
			sum = sum.Add(told(t, api, stream, b))
		})
	}
	wg.Wait()
	require.NoError(t, s.Quiet(t.Context()))
	s.Memory().Wait()
	c := s.Counts()
	sum = sum.Add(c.Unreported)
	assert.Equal(t, c.Billed, sum, "told and not told, %+v", c)
}

// TestNobodyWhoSawTheEndGaveUp: a caller that stops at an error in a stream has
// not given the call up.
func TestNobodyWhoSawTheEndGaveUp(t *testing.T) {
	for _, fault := range []string{llmtest.FaultErrorIn200, llmtest.FaultBusyIn200, llmtest.FaultErrorMidway, llmtest.FaultNoDone} {
		t.Run(fault, func(t *testing.T) {
			s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: llmtest.Named(fault)}}, Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "one two three"} }}
			for range 100 {
				resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, true, "q")
				require.NoError(t, err)
				var b bytes.Buffer
				for !strings.HasSuffix(b.String(), "\n\n") || !strings.Contains(b.String(), `"error":`) && !strings.Contains(b.String(), `"usage":{`) {
					_, err := io.CopyN(&b, resp.Body, 1)
					require.NoError(t, err)
				}
				resp.Body.Close()
			}
			require.NoError(t, s.Quiet(t.Context()))
			assert.Zero(t, s.Counts().Canceled)
		})
	}
}

// TestEachCallComesToOneThing: over each front, whatever is met and whenever a
// caller goes, every call ends, once, and nothing is left open.
func TestEachCallComesToOneThing(t *testing.T) {
	moments := map[string]func(resp *http.Response, cancel func()){
		"closed at once":     func(*http.Response, func()) {},
		"canceled at once":   func(_ *http.Response, cancel func()) { cancel() },
		"canceled in it":     func(resp *http.Response, cancel func()) { _, _ = io.CopyN(io.Discard, resp.Body, 150); cancel() },
		"closed in it":       func(resp *http.Response, cancel func()) { _, _ = io.CopyN(io.Discard, resp.Body, 150) },
		"read until it ends": func(resp *http.Response, cancel func()) { _, _ = io.Copy(io.Discard, resp.Body) },
	}
	for _, front := range []string{"memory", "loopback", "TLS"} {
		t.Run(front, func(t *testing.T) {
			s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "one two three four five"} }}
			for _, f := range llmtest.Faults() {
				s.Rules = append(s.Rules, llmtest.Rule{Text: "<" + f.Name + ">", Faults: []llmtest.Fault{f}})
			}
			root, client := "http://fake", s.Client()
			switch front {
			case "loopback":
				root, client = s.StartRoot(t), &http.Client{Transport: new(http.Transport)}
			case "TLS":
				root, client = s.StartTLS(t)
			}
			calls, hangs := 0, 0
			for _, f := range append(llmtest.Faults(), llmtest.Fault{Name: "none"}) {
				for moment, do := range moments {
					for _, api := range []llmtest.API{llmtest.OpenAI, llmtest.Gemini} {
						calls++
						if strings.HasPrefix(f.Name, "hang") {
							hangs++
						}
						oneOf(t, client, root, api, calls%2 == 0, f.Name, do)
						later, cancel := context.WithTimeout(t.Context(), 30*time.Second)
						require.NoError(t, s.Quiet(later), "%s, %s, %s", f.Name, moment, api)
						cancel()
					}
				}
			}
			client.CloseIdleConnections()
			c := s.Counts()
			// One that hangs is given up after 5 ms: perhaps before it was received.
			assert.LessOrEqual(t, c.Calls, calls)
			assert.GreaterOrEqual(t, c.Calls, calls-hangs)
			assert.Zero(t, c.InFlight+c.OpenBodies)
		})
	}
}

// oneOf makes a call that meets a fault, and goes when do says so; one that
// hangs is given up.
func oneOf(t *testing.T, client *http.Client, root string, api llmtest.API, stream bool, fault string, do func(*http.Response, func())) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if strings.HasPrefix(fault, "hang") {
		defer time.AfterFunc(5*time.Millisecond, cancel).Stop()
	}
	inner := client.Transport
	resp, err := ask(ctx, &http.Client{Transport: at{inner, root}}, api, stream, "<"+fault+">")
	if err != nil {
		return
	}
	do(resp, cancel)
	resp.Body.Close()
}

// at sends what ask asks to another host.
type at struct {
	http.RoundTripper
	root string
}

func (a at) RoundTrip(req *http.Request) (*http.Response, error) {
	u, err := req.URL.Parse(a.root)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = u.Scheme, u.Host
	return a.RoundTripper.RoundTrip(req)
}
