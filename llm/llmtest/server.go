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
// answers "ok". Safe for concurrent use; set the fields before the first call:
// if one cannot be meant, the fronts panic and calls are answered with a 500
// that names it.
//
// Its functions (Reply, Tokens, a Rule's Match and the like) are called by
// several goroutines at once, none of which is the test's: report with t.Error
// there, not with t.Fatal. Time is that of the goroutine that calls, so in
// testing/synctest use one Server a bubble.
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
	// CapOutput cuts answers, at a word, to the most tokens that the caller
	// asked for, and ends them with the finish reason "length".
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
	// Batches is how batch jobs go. Jobs, and files until they are deleted, are
	// kept in memory as long as the server lives.
	Batches Batches

	checked sync.Once
	invalid error // what check said

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
	api := apiOf(p)
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

// apiOf is the API that a path tells of; OpenAI, if it tells of none.
func apiOf(path string) API {
	google := strings.Contains(path, "/v1beta") && !strings.Contains(path, "/openai/") ||
		strings.Contains(path, "/publishers/") || strings.Contains(path, "PredictionJobs") || strings.HasSuffix(path, ":batchGenerateContent")
	if google {
		return Gemini
	}
	return OpenAI
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
	c.Path, c.query, c.Body, c.Header, c.batch = r.URL.Path, r.URL.Query(), body, r.Header.Clone(), inBatch(r.Context())
	return c, true
}

func (s *Server) serveChat(w http.ResponseWriter, r *http.Request, api API) {
	s.checked.Do(func() { s.invalid = s.check() })
	if s.invalid != nil {
		s.reject(w, api, problem{status: http.StatusInternalServerError, message: s.invalid.Error()})
		return
	}
	c, ok := s.read(w, r, api)
	if !ok {
		return
	}
	k, age := s.begin(&c)
	over := false // all went out that was to go out
	defer func() { s.end(k, !over && !here(r)) }()
	if api == OpenAI {
		w.Header().Set("X-Request-Id", "req_"+c.id())
	}
	fault := s.fault(c, age)
	if fault.answers() {
		over = s.answerFault(w, r, c, fault)
		return
	}
	if refused := s.enter(c, k); refused != nil {
		s.limitHeader(w.Header(), api)
		refused.write(w, api)
		return
	}
	reply := s.reply(c)
	if fault == nil && reply.Fault != nil && reply.Fault.fits(c) {
		fault = reply.Fault
	}
	if fault.answers() {
		over = s.answerFault(w, r, c, fault)
		return
	}
	over = s.answer(w, r, c, k, edited(c, reply, fault), fault)
}

// here reports whether the caller has not gone.
func here(r *http.Request) bool { return r.Context().Err() == nil }

// enter lets a call in, if Limits does.
func (s *Server) enter(c Chat, k *ticket) (refused *problem) {
	if !s.Limits.isSet() || c.batch {
		return nil
	}
	input := 0
	for _, m := range c.Messages {
		input += s.count(m.Content)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refused = s.admit(c, k, input)
	if refused != nil {
		s.counts.Limited++
	}
	return refused
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

// answerFault reports whether all went out that was to go out, as far as that is
// known.
func (s *Server) answerFault(w http.ResponseWriter, r *http.Request, c Chat, f *Fault) (over bool) {
	s.countFault(f.Name)
	if f.storm == 0 {
		came := here(r)
		f.Answer(w, r, c)
		return came && f.atOnce
	}
	s.mu.Lock()
	end := s.epoch.Add(f.storm)
	s.mu.Unlock()
	busy(max(time.Until(end), time.Millisecond)).write(w, c.API)
	return false
}

// answer answers a call that nothing stopped, and reports whether all went out
// that was to go out.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, c Chat, k *ticket, reply Reply, fault *Fault) (over bool) {
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
		return false
	}
	s.limitHeader(w.Header(), c.API)
	if reply.Blocked != "" && c.API == OpenAI {
		blocked.write(w, c.API)
		return false
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
	s.charge(k, a.usage)
	a.settle = sync.OnceFunc(func() { s.settle(a) })
	defer a.settle() // an answer may end in a panic: see EndReset
	if c.Stream {
		a.stream(w, r)
	} else {
		a.writeWhole(w, r)
	}
	return a.whole || a.over
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
	sendJSON(w, Gemini, http.StatusOK, map[string]int{"totalTokens": n})
}
