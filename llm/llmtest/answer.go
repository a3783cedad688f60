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
	answer(a *scripted) any                // one that is not streamed
	opening(a *scripted) []any             // what a stream says before the first token
	piece(a *scripted, i int) any          // the i-th token
	closing(a *scripted) []any             // what it says after the last one
	frame() (before, after string)         // around each event
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
	whole    bool      // all has gone out
	over     bool      // the server ended it, if not as it should have
	pace     pace
	prefill  func() // after the first token's time
	settle   func() // counts it, once
}

func (s *Server) newAnswer(c Chat, r Reply) *scripted {
	a := &scripted{dialect: c.API.dialect(), chat: c, reply: r, thoughts: words(r.Reasoning), tokens: words(r.Text), count: s.Tokens, custom: s.Tokens != nil}
	if a.count == nil {
		a.count = CountWords
	}
	if s.CapOutput && c.MaxTokens > 0 {
		a.cap(int64(c.MaxTokens))
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
func (a *scripted) cap(most int64) {
	n := len(a.thoughts) + len(a.tokens)
	if a.sum(n) <= most {
		return
	}
	for n > 0 && a.sum(n) > most {
		n--
	}
	a.thoughts = a.thoughts[:min(len(a.thoughts), n)]
	a.tokens = a.tokens[:n-len(a.thoughts)]
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

// toldSoFar reports whether an answer that was cut told the usage of what had
// gone out.
func (a *scripted) toldSoFar() bool {
	return a.chat.API == Gemini && a.chat.Stream && a.sent > 0
}

// writeWhole answers without a stream.
func (a *scripted) writeWhole(w http.ResponseWriter, r *http.Request) {
	if !a.pace.first(r) {
		return
	}
	a.prefill()
	for range len(a.thoughts) + len(a.tokens) - 1 {
		a.pace.skip()
	}
	if !a.pace.catchUp(r) {
		return
	}
	body, err := json.Marshal(a.answer(a))
	if err != nil {
		panic("llmtest: " + err.Error()) // of our own types
	}
	body = append(a.reply.Damage.pad(body), '\n')
	w.Header().Set("Content-Type", a.chat.API.jsonType())
	a.whole = a.reply.Damage.send(w, r, a, body)
}

// stream answers with a stream of events.
func (a *scripted) stream(w http.ResponseWriter, r *http.Request) {
	out := a.events(w, r)
	for _, v := range a.opening(a) {
		if !out.send(v) {
			return
		}
	}
	dmg, n := &a.reply.Damage, len(a.thoughts)+len(a.tokens)
	if dmg.Empty {
		n = 0
	}
	for i := range n {
		if dmg.Then != "" && i >= dmg.After {
			a.breakOff(out)
			return
		}
		if !a.wait(i, r) || !out.comments(i) || !out.send(a.piece(a, i)) {
			return
		}
		a.sent = i + 1
	}
	if n == 0 && !a.wait(0, r) {
		return
	}
	if dmg.Then != "" {
		a.breakOff(out)
		return
	}
	for _, v := range a.closing(a) {
		if !out.send(v) {
			return
		}
	}
	a.whole = true
	a.settle() // here: a caller that has seen the end may look at the counts
	out.end()
}

// wait waits until the i-th token is due, and reports whether the caller is
// still there.
func (a *scripted) wait(i int, r *http.Request) bool {
	if i > 0 {
		return a.pace.between(r)
	}
	if !a.pace.first(r) {
		return false
	}
	a.prefill()
	return true
}

// breakOff ends a stream before its end.
func (a *scripted) breakOff(out *events) {
	then := a.reply.Damage.Then
	a.over = then != EndHang
	if then != EndError {
		then.end(out.r)
		return
	}
	_, v := a.failure(failed)
	out.send(v)
	if a.chat.API == OpenAI {
		out.text(Done) // as gateways do
	}
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
		w.Header().Set("Content-Type", Gemini.jsonType())
		return e
	}
	w.Header().Set("Content-Type", a.chat.API.streamType())
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

// comments sends the keep-alives that come before the i-th token, where the API
// has them.
func (e *events) comments(i int) bool {
	n := e.dmg.Comments
	if i > 0 {
		n = min(n, 1)
	}
	if n <= 0 || e.api != OpenAI {
		return true
	}
	return e.text(strings.Repeat(": keep-alive\n\n", n))
}

// end ends the stream as the API does.
func (e *events) end() {
	switch {
	case e.array:
		e.text("]")
	case e.api == OpenAI && !e.dmg.NoDone:
		e.text(Done)
	}
	pause(e.r, e.dmg.Linger)
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
	return here(r)
}

// put sends b at once, and reports whether all of it has gone out.
func put(w http.ResponseWriter, b []byte) bool {
	if _, err := w.Write(b); err != nil {
		return false
	}
	switch f := w.(type) {
	case interface{ FlushError() error }:
		return f.FlushError() == nil
	case http.Flusher:
		f.Flush()
	}
	return true
}
