package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goevals/evals/llm"
)

// A Server is a fake of an OpenAI-compatible provider: chat completions, whole
// and streamed. It is an http.Handler; Client and Start are its two fronts. The
// zero value answers "ok". Safe for concurrent use; set the fields before the
// first call.
type Server struct {
	// Reply answers a call. Nil answers "ok".
	Reply func(Chat) Reply
	// Key is the bearer token to ask for; "" accepts every call.
	Key string

	mu     sync.Mutex
	counts Counts
	flight int
	memory Memory
}

// Chat is a call as the server received it.
type Chat struct {
	N        int // which call this is, from 1
	Model    string
	Messages []ChatMessage
	Stream   bool
	Body     json.RawMessage // as it came
	Header   http.Header
}

// ChatMessage is one message of a call; a content that is no text is "".
type ChatMessage struct {
	Role    string
	Content string
}

// Last is the text of the last message.
func (c Chat) Last() string {
	if len(c.Messages) == 0 {
		return ""
	}
	return c.Messages[len(c.Messages)-1].Content
}

// Field is a field of the body, nil if it was not sent.
func (c Chat) Field(name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(c.Body, &m) != nil {
		return nil
	}
	return m[name]
}

// A Reply says how a call is answered.
type Reply struct {
	Text, Reasoning, Refusal string
	ToolCalls                []llm.ToolCall
	Finish                   string // default "stop", or "tool_calls" with ToolCalls
	// Usage is the usage object. Nil counts words: of the messages as prompt,
	// of reasoning and text as completion. NoUsage sends none.
	Usage   json.RawMessage
	NoUsage bool
	// FirstToken is the time until the first token, or until a whole answer
	// less its Tokens; PerToken is the time between words.
	FirstToken, PerToken time.Duration
	// Raw answers instead: a fault.
	Raw http.HandlerFunc
}

// Counts is what a server saw.
type Counts struct {
	Calls    int // received
	Streamed int // of them asked for a stream
	Answered int // answered to the end, faults not counted
	Faults   int // answered by Reply.Raw
	Peak     int // most in flight at once
	// Billed is the usage of all answers that were answered to the end, as
	// the server counts words.
	Billed llm.Usage
}

// Counts returns the counts so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Start serves on a loopback port until the test ends and returns the base
// URL, version included, without a slash at its end.
func (s *Server) Start(tb testing.TB) string {
	srv := httptest.NewServer(s)
	tb.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// Client returns a client whose calls, to whatever host, come to s without a
// socket. See [Memory].
func (s *Server) Client() *http.Client { return &http.Client{Transport: s.Memory()} }

// Memory is the transport of Client.
func (s *Server) Memory() *Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory.Handler = s
	return &s.memory
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		Status(http.StatusNotFound, `{"error":{"message":"no such path","code":"not_found"}}`)(w, r)
		return
	}
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		Status(http.StatusUnauthorized, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`)(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has gone
	}
	chat, err := readChat(body, r.Header)
	if err != nil {
		Status(http.StatusBadRequest, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, err.Error()))(w, r)
		return
	}
	chat.N = s.begin(chat.Stream)
	defer s.end()
	reply := Reply{Text: "ok"}
	if s.Reply != nil {
		reply = s.Reply(chat)
	}
	if reply.Raw != nil {
		s.mu.Lock()
		s.counts.Faults++
		s.mu.Unlock()
		reply.Raw(w, r)
		return
	}
	a := newAnswer(chat, reply)
	ok := false
	if chat.Stream {
		ok = a.stream(w, r)
	} else {
		ok = a.whole(w, r)
	}
	if ok {
		s.mu.Lock()
		s.counts.Answered++
		s.counts.Billed = s.counts.Billed.Add(a.billed())
		s.mu.Unlock()
	}
}

func (s *Server) begin(streamed bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Calls++
	if streamed {
		s.counts.Streamed++
	}
	s.flight++
	s.counts.Peak = max(s.counts.Peak, s.flight)
	return s.counts.Calls
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flight--
}

func readChat(body []byte, h http.Header) (Chat, error) {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Chat{}, fmt.Errorf("the body is no chat completion: %v", err)
	}
	c := Chat{Model: in.Model, Stream: in.Stream, Body: body, Header: h.Clone()}
	for i, m := range in.Messages {
		if m.Content == nil {
			var raw struct {
				Messages []map[string]json.RawMessage `json:"messages"`
			}
			if json.Unmarshal(body, &raw) == nil && raw.Messages[i]["tool_calls"] == nil {
				return Chat{}, fmt.Errorf("messages[%d] has no content", i)
			}
		}
		var text string
		_ = json.Unmarshal(m.Content, &text) // parts are not read: see ChatMessage
		c.Messages = append(c.Messages, ChatMessage{Role: m.Role, Content: text})
	}
	if len(c.Messages) == 0 {
		return Chat{}, fmt.Errorf("messages is empty")
	}
	return c, nil
}
