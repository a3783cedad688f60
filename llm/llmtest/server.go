package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// A Server is a fake provider: OpenAI's chat completions and Gemini's
// generateContent, whole and streamed, each as its provider speaks. It is an
// http.Handler; Client and the Start methods are its fronts. The zero value
// answers "ok". Safe for concurrent use; set the fields before the first call.
type Server struct {
	// Reply answers a call. Nil answers "ok".
	Reply func(Chat) Reply
	// Key is what to ask for, as a bearer token, as api-key or x-goog-api-key,
	// or as ?key=; "" accepts every call.
	Key string
	// Latency is how long answers take where a Reply does not say.
	Latency Latency
	// Tokens counts a text's tokens; default [CountWords]. Streams cut answers
	// into words all the same.
	Tokens func(string) int
	// CapOutput cuts answers at the most tokens that the caller asked for, and
	// ends them with the finish reason "length".
	CapOutput bool
	// Cache tells cached tokens; nil tells none.
	Cache *PrefixCache
	// Limits refuses calls that come too fast.
	Limits Limits
	// Rules are when faults happen. The first that holds is followed. What
	// Limits or Reply would say to a call that a fault answers is not asked.
	Rules []Rule
	// Seed is where what is drawn comes from: latencies and faults.
	Seed uint64
	// Models are the ids that the list of models has; default one, "llmtest".
	// Calls may name any model all the same.
	Models []string
	// Batches is how batch jobs go.
	Batches Batches

	mu                 sync.Mutex
	counts             Counts
	memory             Memory
	store              store
	changed            chan struct{}  // closed at the next change, if somebody waits
	epoch              time.Time      // of the first call
	tries              map[uint64]int // what was asked → how often, kept for good
	spent              map[int]int    // rule → how often it has held, if it has a limit
	received, admitted window
	running            int // admitted calls in flight
}

// check says what of the server's fields cannot be meant.
func (s *Server) check() error {
	l := s.Limits
	if l.RPM < 0 || l.TPM < 0 || l.Concurrency < 0 {
		return fmt.Errorf("llmtest: Server.Limits is %+v: want none below 0 (0 is no limit)", l)
	}
	if err := s.Batches.check(); err != nil {
		return err
	}
	for i, r := range s.Rules {
		if err := r.check(); err != nil {
			return fmt.Errorf("llmtest: Server.Rules[%d]: %w", i, err)
		}
	}
	return nil
}

// ServeHTTP answers one call. Other paths than those of a model's answers are
// files, batches and the list of models.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api, serve := s.route(r)
	switch {
	case serve == nil:
		s.reject(w, api, problem{status: http.StatusNotFound, typ: "invalid_request_error", code: "not_found",
			message: fmt.Sprintf("no such path: %s %s", r.Method, r.URL.Path)})
	case s.Key != "" && !s.keyed(r):
		p := Named(FaultBadKey)[0]
		s.rejected()
		p.Answer(w, r, Chat{API: api})
	default:
		serve(w, r)
	}
}

// route says who serves a request; nil if nobody does. The API is told by the
// path, as far as it tells.
func (s *Server) route(r *http.Request) (API, http.HandlerFunc) {
	p, post := strings.TrimSuffix(r.URL.Path, "/"), r.Method == http.MethodPost
	api := OpenAI
	if strings.Contains(p, "/v1beta") && !strings.Contains(p, "/openai/") || strings.Contains(p, "/publishers/") || strings.Contains(p, "PredictionJobs") {
		api = Gemini
	}
	_, verb := geminiModel(r.URL)
	switch {
	case post && strings.HasSuffix(p, "/chat/completions"):
		return OpenAI, func(w http.ResponseWriter, r *http.Request) { s.serveChat(w, r, OpenAI) }
	case post && (verb == "generateContent" || verb == "streamGenerateContent"):
		return Gemini, func(w http.ResponseWriter, r *http.Request) { s.serveChat(w, r, Gemini) }
	case post && verb == "countTokens":
		return Gemini, s.serveCount
	case verb == "batchGenerateContent" || has(p, "batches") || has(p, "batchPredictionJobs"):
		return api, s.serveBatches
	case has(p, "files"):
		return api, s.serveFiles
	case has(p, "models") && verb == "":
		return api, s.serveModels
	}
	return api, nil
}

// has reports whether a path has this element.
func has(path, element string) bool {
	return strings.HasSuffix(path, "/"+element) || strings.Contains(path, "/"+element+"/") || strings.Contains(path, "/"+element+":")
}

func (s *Server) keyed(r *http.Request) bool {
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for _, k := range []string{
		bearer, r.Header.Get("Api-Key"), r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key"),
	} {
		if k == s.Key {
			return true
		}
	}
	return false
}

func (s *Server) reject(w http.ResponseWriter, api API, p problem) {
	s.rejected()
	p.write(w, api)
}

func (s *Server) rejected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Rejected++
}

// maxBody is the longest request that is read, in bytes.
const maxBody = 64 << 20

// read reads a call's body, and answers it if it is none.
func (s *Server) read(w http.ResponseWriter, r *http.Request, api API) (Chat, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		s.reject(w, api, problem{status: http.StatusBadRequest, typ: "invalid_request_error", message: "the body cannot be read: " + err.Error()})
		return Chat{}, false
	}
	parse := readOpenAI
	if api == Gemini {
		parse = readGemini
	}
	c, err := parse(body, r)
	if err != nil {
		s.reject(w, api, problem{status: http.StatusBadRequest, typ: "invalid_request_error", message: err.Error()})
		return Chat{}, false
	}
	c.Path, c.Body, c.Header, c.batch = r.URL.Path, body, r.Header.Clone(), inBatch(r.Context())
	return c, true
}

func (s *Server) serveChat(w http.ResponseWriter, r *http.Request, api API) {
	if err := s.check(); err != nil {
		s.reject(w, api, problem{status: http.StatusInternalServerError, message: err.Error()})
		return
	}
	c, ok := s.read(w, r, api)
	if !ok {
		return
	}
	came := time.Now()
	age := s.begin(&c, came)
	admitted, over := false, false
	defer func() { s.end(admitted, !over && r.Context().Err() != nil) }()
	fault := s.fault(c, age)
	if fault != nil && (fault.Answer != nil || fault.storm > 0) {
		s.answerFault(w, r, c, fault)
		return
	}
	var refused *problem
	if refused, admitted = s.enter(c, came); refused != nil {
		s.limitHeader(w.Header(), api, came)
		refused.write(w, api)
		return
	}
	reply := s.reply(c)
	if fault == nil {
		fault = reply.Fault
	}
	if fault != nil && fault.Answer != nil {
		s.answerFault(w, r, c, fault)
		return
	}
	over = s.answer(w, r, c, edited(c, reply, fault), fault, came)
}

// enter lets a call in, if Limits does.
func (s *Server) enter(c Chat, came time.Time) (refused *problem, admitted bool) {
	if !s.Limits.isSet() || c.batch {
		return nil, false
	}
	input := 0
	for _, m := range c.Messages {
		input += s.count(m.Content)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refused = s.admit(c, input, came)
	if refused != nil {
		s.counts.Limited++
	}
	return refused, refused == nil
}

func (s *Server) count(text string) int {
	if s.Tokens != nil {
		return s.Tokens(text)
	}
	return CountWords(text)
}

// reply asks Reply. A panic in it is told to the caller, whose test it is.
func (s *Server) reply(c Chat) (reply Reply) {
	if s.Reply == nil {
		return Reply{Text: "ok"}
	}
	defer func() {
		if v := recover(); v != nil {
			message := fmt.Sprintf("llmtest: Reply panicked: %v\n%s", v, debug.Stack())
			reply = Reply{Raw: func(w http.ResponseWriter, _ *http.Request) {
				problem{status: http.StatusInternalServerError, message: message}.write(w, c.API)
			}}
		}
	}()
	return s.Reply(c)
}

// edited is the reply with what a fault makes of it.
func edited(c Chat, reply Reply, fault *Fault) Reply {
	if fault == nil {
		return reply
	}
	if fault.Edit != nil {
		reply = fault.Edit(c, reply)
	}
	if fault.Damage.isSet() {
		reply.Damage = fault.Damage
	}
	return reply
}

func (s *Server) answerFault(w http.ResponseWriter, r *http.Request, c Chat, f *Fault) {
	s.countFault(f.Name)
	if f.storm == 0 {
		f.Answer(w, r, c)
		return
	}
	s.mu.Lock()
	over := s.epoch.Add(f.storm)
	s.mu.Unlock()
	busy(max(time.Until(over), time.Millisecond)).write(w, c.API)
}

// answer answers a call that nothing stopped, and reports whether all went out
// that was to go out.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, c Chat, reply Reply, fault *Fault, came time.Time) (over bool) {
	switch {
	case fault != nil:
		s.countFault(fault.Name)
	case reply.Raw != nil || reply.Damage.isSet():
		s.countFault("")
	}
	if reply.Raw != nil {
		reply.Raw(w, r)
		return false
	}
	if reply.Usage != nil && !json.Valid(reply.Usage) {
		problem{status: http.StatusInternalServerError, message: fmt.Sprintf("llmtest: Reply.Usage is no JSON: %.80q", reply.Usage)}.write(w, c.API)
		return true
	}
	s.limitHeader(w.Header(), c.API, came)
	if reply.Blocked != "" && c.API == OpenAI {
		blocked.write(w, c.API)
		return true
	}
	if reply.Blocked != "" {
		reply.Text, reply.Reasoning, reply.ToolCalls = "", "", nil
	}
	a := s.newAnswer(c, reply)
	if reply.Tokens == nil {
		cached, keep := s.Cache.look(c, s.count)
		a.usage.CachedInput, a.prefill = min(int64(cached), a.usage.Input), keep
	}
	a.pace = s.newPace(a)
	s.charge(came, a.usage.Input, a.usage.Output)
	whole := false
	defer func() { s.settle(a, whole) }() // an answer may end in a panic: see EndReset
	if c.Stream {
		whole = a.stream(w, r)
	} else {
		whole = a.whole(w, r)
	}
	return whole || a.over
}

// serveCount counts the tokens of a Gemini request.
func (s *Server) serveCount(w http.ResponseWriter, r *http.Request) {
	c, ok := s.read(w, r, Gemini)
	if !ok {
		return
	}
	n := 0
	for _, m := range c.Messages {
		n += s.count(m.Content)
	}
	sendJSON(w, http.StatusOK, map[string]int{"totalTokens": n})
}
