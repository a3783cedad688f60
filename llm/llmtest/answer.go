package llmtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// A Reply says how a call is answered, whichever API it came by.
type Reply struct {
	// Text is the answer, Reasoning the thoughts that come before it, Refusal
	// the provider's own refusal. Gemini has no field for a refusal: there it is
	// the message of an answer that ended with SAFETY. Thoughts are sent
	// whether or not the caller asked for them.
	Text, Reasoning, Refusal string
	// ToolCalls follow the text. Gemini cannot tell arguments that are no JSON
	// object: such a call ends the answer with MALFORMED_FUNCTION_CALL.
	ToolCalls []llm.ToolCall
	// Finish is why the answer ended, in OpenAI's words (stop, length,
	// tool_calls, content_filter), which are turned into Gemini's; a word of
	// Gemini's own, in capitals, goes out as it is. Default "stop", or
	// "tool_calls" with ToolCalls.
	Finish string
	// Blocked says why the prompt was blocked: Gemini then answers without a
	// candidate, with this blockReason (SAFETY, PROHIBITED_CONTENT, …), and
	// OpenAI's API with Azure's 400 content_filter.
	Blocked string
	// Tokens is what the call took, told as the API tells it. Nil counts: of
	// the messages as input, of reasoning and text as output.
	Tokens *llm.Usage
	// Usage is sent instead of the API's usage object, as it is. NoUsage sends
	// none.
	Usage   json.RawMessage
	NoUsage bool
	// FirstToken is the time until the first token, PerToken the time between
	// tokens; an answer that is not streamed takes as long in all. Both zero
	// means what the server's Latency says.
	FirstToken, PerToken time.Duration
	// Damage is done to the answer on its way.
	Damage Damage
	// Fault answers, or changes this reply, as a rule of the server would.
	Fault *Fault
	// Raw answers instead: a fault of your own.
	Raw http.HandlerFunc
}

// A dialect is how an API says things. Its values are marshalled as JSON.
type dialect interface {
	whole(a *scripted) any                 // an answer that is not streamed
	opening(a *scripted) []any             // what a stream says before the first token
	piece(a *scripted, i int) any          // the i-th token
	closing(a *scripted) []any             // what it says after the last one
	frame() (before, after string)         // around each event
	done() string                          // after the last event
	usage(u llm.Usage) any                 // the usage object
	failure(p problem) (status int, a any) // an error's body
}

func (a API) dialect() dialect {
	if a == Gemini {
		return geminiDialect{}
	}
	return openAIDialect{}
}

// scripted is one answer on its way.
type scripted struct {
	dialect
	chat     Chat
	reply    Reply
	thoughts []string // tokens, spaces kept
	tokens   []string
	count    func(string) int
	custom   bool      // count is the user's
	sums     []int64   // of the first 0, 1, 2, … tokens, if custom
	usage    llm.Usage // of the whole answer
	sent     int       // tokens that have gone out
	over     bool      // the server ended it, if not as it should have
	pace     pace
	prefill  func() // after the first token's time
}

func (s *Server) newAnswer(c Chat, r Reply) *scripted {
	a := &scripted{dialect: c.API.dialect(), chat: c, reply: r, thoughts: words(r.Reasoning), tokens: words(r.Text), count: s.Tokens, custom: s.Tokens != nil}
	if a.count == nil {
		a.count = CountWords
	}
	if s.CapOutput && c.MaxTokens > 0 {
		a.cap(c.MaxTokens)
	}
	if a.reply.Finish == "" {
		a.reply.Finish = "stop"
		if len(r.ToolCalls) > 0 {
			a.reply.Finish = "tool_calls"
		}
	}
	a.prefill = func() {}
	if r.Tokens != nil {
		a.usage = *r.Tokens
		a.usage.Known = true
	} else {
		a.usage = llm.Usage{Known: true}
		for _, m := range c.Messages {
			a.usage.Input += int64(a.count(m.Content))
		}
		a.usage = a.partial(len(a.thoughts) + len(a.tokens))
	}
	return a
}

// cap cuts the answer to this many tokens, thoughts first to come.
func (a *scripted) cap(most int) {
	if len(a.thoughts)+len(a.tokens) <= most {
		return
	}
	a.thoughts = a.thoughts[:min(len(a.thoughts), most)]
	a.tokens = a.tokens[:most-len(a.thoughts)]
	a.reply.Reasoning, a.reply.Text = strings.Join(a.thoughts, ""), strings.Join(a.tokens, "")
	a.reply.Finish, a.reply.ToolCalls = "length", nil
}

// partial is the usage of the prompt and the first n tokens.
func (a *scripted) partial(n int) llm.Usage {
	u := llm.Usage{Input: a.usage.Input, CachedInput: a.usage.CachedInput, Known: true}
	whole := n == len(a.thoughts)+len(a.tokens)
	switch {
	case a.reply.Tokens != nil && whole:
		return a.usage
	case a.reply.Tokens != nil:
		// Said, not counted: in proportion.
		u.Output = a.usage.Output * int64(n) / int64(len(a.thoughts)+len(a.tokens))
		u.Reasoning = min(a.usage.Reasoning, u.Output)
		return u
	case whole:
		u.Reasoning = int64(a.count(a.reply.Reasoning))
		u.Output = u.Reasoning + int64(a.count(a.reply.Text))
		return u
	}
	u.Output, u.Reasoning = a.sum(n), a.sum(min(n, len(a.thoughts)))
	return u
}

// sum is the count of the first n tokens, each counted by itself: to count the
// text anew for each chunk would take too long for long answers.
func (a *scripted) sum(n int) int64 {
	if !a.custom {
		return int64(n)
	}
	for i := len(a.sums); i <= n; i++ {
		if i == 0 {
			a.sums = append(a.sums, 0)
			continue
		}
		a.sums = append(a.sums, a.sums[i-1]+int64(a.count(a.pieces(i-1))))
	}
	return a.sums[n]
}

func (a *scripted) pieces(i int) string {
	if i < len(a.thoughts) {
		return a.thoughts[i]
	}
	return a.tokens[i-len(a.thoughts)]
}

var counts = regexp.MustCompile(`:(\d+)`)

// tell is the usage object as it is sent, nil for none.
func (a *scripted) tell(u llm.Usage) json.RawMessage {
	switch {
	case a.reply.NoUsage || a.reply.Damage.Usage == UsageMissing:
		return nil
	case a.reply.Usage != nil:
		return a.reply.Usage
	}
	b, err := json.Marshal(a.dialect.usage(u))
	if err != nil {
		panic("llmtest: " + err.Error()) // of our own types
	}
	switch a.reply.Damage.Usage {
	case UsageFloats:
		b = counts.ReplaceAll(b, []byte(":$1.0"))
	case UsageStrings:
		b = counts.ReplaceAll(b, []byte(`:"$1"`))
	}
	return b
}

// tells reports whether a whole answer tells its usage in a form that can be
// read.
func (a *scripted) tells() bool {
	return !a.reply.NoUsage && a.reply.Damage.Usage != UsageMissing && a.reply.Damage.Usage != UsageStrings && (!a.chat.Stream || a.chat.usage)
}

// whole answers without a stream. It reports whether the answer went out to its
// end.
func (a *scripted) whole(w http.ResponseWriter, r *http.Request) bool {
	ok := a.pace.first(r)
	a.prefill()
	for range len(a.thoughts) + len(a.tokens) - 1 {
		a.pace.skip()
	}
	if !ok || !a.pace.catchUp(r) {
		return false
	}
	body, err := json.Marshal(a.dialect.whole(a))
	if err != nil {
		panic("llmtest: " + err.Error()) // of our own types
	}
	body = append(a.reply.Damage.pad(body), '\n')
	w.Header().Set("Content-Type", "application/json")
	return a.reply.Damage.send(w, r, a, body)
}

// stream answers with a stream of events. It reports whether it went out to its
// end.
func (a *scripted) stream(w http.ResponseWriter, r *http.Request) bool {
	out := a.events(w, r)
	for _, v := range a.opening(a) {
		if !out.send(v) {
			return false
		}
	}
	dmg, n := &a.reply.Damage, len(a.thoughts)+len(a.tokens)
	if dmg.Empty {
		n = 0
	}
	for i := range n {
		if dmg.Then != "" && i >= dmg.After {
			return a.breakOff(out)
		}
		ok := false
		if i == 0 {
			ok = a.pace.first(r) && out.comments(dmg.Comments)
			a.prefill()
		} else {
			ok = a.pace.between(r) && out.comments(min(dmg.Comments, 1))
		}
		if !ok || !out.send(a.piece(a, i)) {
			return false
		}
		a.sent = i + 1
	}
	if n == 0 && !a.pace.first(r) {
		return false
	}
	if dmg.Then != "" {
		return a.breakOff(out)
	}
	for _, v := range a.closing(a) {
		if !out.send(v) {
			return false
		}
	}
	return out.end()
}

// breakOff ends a stream before its end.
func (a *scripted) breakOff(out *events) bool {
	a.over = a.reply.Damage.Then != EndHang
	if a.reply.Damage.Then == EndError {
		_, v := a.failure(failed)
		out.send(v)
		if a.chat.API == OpenAI {
			out.text(Done) // as gateways do
		}
		return false
	}
	a.reply.Damage.Then.end(out.r)
	return false
}

// events writes the events of a stream.
type events struct {
	w             http.ResponseWriter
	r             *http.Request
	dmg           *Damage
	before, after string
	api           API
	array         bool
	n             int
	buf           bytes.Buffer
}

func (a *scripted) events(w http.ResponseWriter, r *http.Request) *events {
	e := &events{w: w, r: r, dmg: &a.reply.Damage, api: a.chat.API, array: a.chat.array}
	e.before, e.after = a.frame()
	if e.array {
		e.before, e.after = "[", "\n"
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		return e
	}
	w.Header().Set("Content-Type", "text/event-stream")
	return e
}

// send sends one event, and reports whether the caller is still there.
func (e *events) send(v any) bool {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error()) // of our own types
	}
	if e.n == 0 {
		b = e.dmg.pad(b)
	}
	e.buf.Reset()
	e.buf.WriteString(e.before)
	if e.array {
		e.before = ","
	}
	e.buf.Write(b)
	e.buf.WriteString(e.after)
	e.n++
	return e.dmg.drip(e.w, e.r, e.buf.Bytes())
}

func (e *events) text(s string) bool {
	if s == "" {
		return true
	}
	return e.dmg.drip(e.w, e.r, []byte(s))
}

// comments sends keep-alives, where the API has them.
func (e *events) comments(n int) bool {
	if n == 0 || e.api != OpenAI {
		return true
	}
	return e.text(strings.Repeat(": keep-alive\n\n", n))
}

// end ends the stream as the API does. What comes after the last event is no
// part of the answer, so a caller may be gone.
func (e *events) end() bool {
	switch {
	case e.array:
		e.text("]")
	case e.api == OpenAI && !e.dmg.NoDone:
		e.text(Done)
	}
	pause(e.r, e.dmg.Linger)
	return true
}

// words are s cut after each run of spaces.
func words(s string) []string {
	var out []string
	for s != "" {
		i := strings.IndexByte(s, ' ')
		if i < 0 {
			return append(out, s)
		}
		for i < len(s) && s[i] == ' ' {
			i++
		}
		out, s = append(out, s[:i]), s[i:]
	}
	return out
}

// CountWords is how a [Server] counts tokens by default: the words of s, cut
// after each run of spaces.
func CountWords(s string) int {
	n := 0
	for s != "" {
		n++
		i := strings.IndexByte(s, ' ')
		if i < 0 {
			break
		}
		s = strings.TrimLeft(s[i:], " ")
	}
	return n
}

// Words is a text of n tokens as [CountWords] counts them, for load tests.
func Words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("w" + strconv.Itoa(i))
	}
	return b.String()
}

// pause waits, and reports whether the caller is still there.
func pause(r *http.Request, d time.Duration) bool {
	if d > 0 && !inBatch(r.Context()) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
		}
	}
	return r.Context().Err() == nil
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
