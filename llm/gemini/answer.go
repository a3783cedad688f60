package gemini

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/internal/jsonlist"
	"github.com/goevals/evals/llm/internal/jsonraw"
	"github.com/goevals/evals/llm/wire"
)

// reply is a whole answer or a chunk of one. A text of another type is none.
type reply struct {
	Candidates, Feedback, Usage json.RawMessage

	Model, ID string
}

var replyNames = jsonraw.Names{"candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId"}

// read reads valid JSON; of what is no object nothing. The raw fields are parts
// of data.
func (r *reply) read(data []byte) {
	var model, id json.RawMessage
	replyNames.Read(data, &r.Candidates, &r.Feedback, &r.Usage, &model, &id)
	r.Model, _ = jsonraw.Text(model)
	r.ID, _ = jsonraw.Text(id)
}

// answer collects an answer from a body or from chunks.
type answer struct {
	text, reasoning strings.Builder
	calls           []llm.ToolCall
	finish, message string
	id, model       string
	usage           counts
	warnings        []string
	chunks          []time.Duration
	candidates      int
	feedback        bool   // the server spoke of the prompt
	blocked         string // why it refused the prompt
	blockedMessage  string
	over            bool   // the stream said [DONE]
	stray           []byte // the first event that is no chunk
	callBytes       int    // of all calls, and what keeping them takes
}

// blockedPrompt is an answer without any candidate, since the prompt was
// refused.
type blockedPrompt struct{ reason, message string }

func (e *blockedPrompt) Error() string { return "the prompt was blocked: " + e.reason }

// body is the answer of a body that did not come as a stream of events. One
// that is a stream all the same, in an array, may have ended too early.
func (a *answer) body(ctx context.Context, ex *exchange) (llm.Response, error) {
	err := a.whole(ctx, ex)
	if err == nil {
		err = ex.Err
	}
	return a.response(), err
}

// whole reads a body that did not come as a stream of events.
func (a *answer) whole(ctx context.Context, ex *exchange) error {
	value, events, err := ex.Value()
	switch {
	case err != nil:
		return err
	case events != nil:
		return a.eventsIn(ctx, events)
	}
	list := jsonlist.List[json.RawMessage]{value}
	if value[0] == '[' { // what a stream is where no events were asked for
		list = nil
		if err := json.Unmarshal(value, &list); err != nil {
			return &client.NoAnswer{Why: "the answer is " + err.Error()}
		}
	}
	for _, chunk := range list {
		if err := a.add(chunk, 0, true); err != nil {
			return err
		}
	}
	if ex.stream {
		a.warn("a stream was asked for, but the answer came whole: there is no time of the first token")
	}
	a.chunks = nil
	return a.check(ex.Body)
}

// check refuses a body that was read to its end and holds no answer.
func (a *answer) check(body []byte) error {
	switch {
	case a.candidates > 0:
		return nil
	case a.blocked != "" || a.feedback:
		reason := a.blocked
		if reason == "" || reason == "BLOCKED_REASON_UNSPECIFIED" {
			reason = "unknown"
		}
		return &blockedPrompt{reason, a.blockedMessage}
	}
	return &client.NoAnswer{Body: body, Why: "the answer has no candidates"}
}

// eventsIn reads a stream that came without saying so in its content type.
func (a *answer) eventsIn(ctx context.Context, b []byte) error {
	s := newEventStream(io.NopCloser(bytes.NewReader(b)))
	for {
		ev, err := s.Next()
		if err == nil {
			err = cmp.Or(a.event(ev, 0), ctx.Err())
		}
		if err == io.EOF {
			a.chunks = nil
			return a.end(s.bareError())
		}
		if err != nil {
			return err
		}
	}
}

// event adds one event that came at this time after the start. It is io.EOF if
// nothing comes after it.
func (a *answer) event(ev wire.Event, at time.Duration) error {
	data := bytes.TrimSpace(ev.Data)
	if string(data) == "[DONE]" { // of gateways: the API itself has none
		a.over = true
		return io.EOF
	}
	if ev.Name == "error" && !isErrorBody(data) {
		return &client.NoAnswer{Body: data, IsError: true, Why: "the stream has an error event"}
	}
	err := a.add(data, at, false)
	if err == nil && a.text.Len()+a.reasoning.Len()+a.callBytes+8*len(a.chunks) > client.MaxAnswer {
		return client.ErrTooLong
	}
	return err
}

func (a *answer) add(data []byte, at time.Duration, whole bool) error {
	if !json.Valid(data) {
		return client.NotJSON(data, whole)
	}
	var r reply
	r.read(data)
	if isErrorBody(data) {
		return &client.NoAnswer{Body: data, IsError: true, Why: "the answer is an error object"}
	}
	if r.ID != "" && a.id == "" {
		a.id = r.ID
	}
	if r.Model != "" {
		a.model = r.Model
	}
	if !whole && a.stray == nil && r.Candidates == nil && r.Usage == nil && r.Feedback == nil {
		a.stray = bytes.Clone(data[:min(len(data), maxStray)])
	}
	if !isNull(r.Usage) && !a.usage.add(r.Usage) {
		a.warn("usage is unknown: usageMetadata is no object")
	}
	a.prompt(r.Feedback)
	generated, err := a.addCandidates(r.Candidates, whole)
	if generated {
		a.chunks = append(a.chunks, max(at, 1))
	}
	return client.Unread(err)
}

// isErrorBody reports whether data is an error object, or an array that begins
// with one.
func isErrorBody(data []byte) bool {
	// Most chunks are not: a search is cheaper than a second decoding.
	if !bytes.Contains(data, []byte(`"error"`)) {
		return false
	}
	var list jsonlist.List[json.RawMessage]
	if len(data) > 0 && data[0] == '[' && json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var o struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &o) != nil {
		return false
	}
	return !client.Nothing(o.Error)
}

// prompt reads what the server says of the prompt.
func (a *answer) prompt(raw json.RawMessage) {
	if isNull(raw) {
		return
	}
	a.feedback = true
	var f struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	}
	_ = json.Unmarshal(raw, &f) // an odd type is a reason that is not known
	if f.Reason != "" {
		a.blocked, a.blockedMessage = f.Reason, f.Message
	}
}

// arguments are a call's arguments as the model wrote them, without the
// server's indentation.
func arguments(raw json.RawMessage) string {
	if text, err := client.Text("", raw); err == nil && text != "" {
		return text // a gateway's form, as OpenAI has it
	}
	var b bytes.Buffer
	if isNull(raw) || string(raw) == `""` || json.Compact(&b, raw) != nil {
		return "{}"
	}
	return b.String()
}

// other says which parts of an answer are no text: pictures, code that was run.
func (a *answer) other(raw json.RawMessage) {
	list, _ := members(raw)
	for _, m := range list {
		switch m.name {
		case "text", "thought", "thoughtSignature", "partMetadata", "videoMetadata":
		default:
			a.warn(fmt.Sprintf("the answer has a part %q, which is no text and was left out", m.name))
			return
		}
	}
}

// maxWarnings keeps a server from filling records with oddities.
const maxWarnings = 16

func (a *answer) warn(text string) {
	switch {
	case slices.Contains(a.warnings, text) || len(a.warnings) > maxWarnings:
	case len(a.warnings) == maxWarnings:
		a.warnings = append(a.warnings, "there were further warnings")
	default:
		a.warnings = append(a.warnings, text)
	}
}

// done reports whether the answer said why it ended.
func (a *answer) done() bool { return a.finish != "" || a.blocked != "" }

// maxStray is how much of an event that is no chunk is kept, in bytes: as much
// as is read of an error body.
const maxStray = 64 << 10

// failed reports whether a body without candidates is an error: gateways leave
// out the object around theirs. Others put notes there.
func failed(e wire.ErrorBody) bool {
	return e.HTTP >= 400 || e.Message != "" && e.Kind(http.StatusOK) != llm.KindBadResponse
}

// end checks a stream that has ended without an error of the connection. bare
// is an error that stood at its end outside of any event.
func (a *answer) end(bare []byte) error {
	switch {
	case bare != nil && !a.done():
		return &client.NoAnswer{Body: bare, IsError: true, Why: "the stream ended with an error object"}
	case !a.done() && failed(wire.ReadError(a.stray)):
		return &client.NoAnswer{Body: a.stray, IsError: true, Why: "the stream ended with an error"}
	case a.candidates == 0 && (a.feedback || a.over):
		return a.check(nil)
	case !a.done() && a.over:
		a.warn("the stream ended with [DONE] but without a finish reason")
	case !a.done():
		return wire.ErrIncomplete
	}
	return a.check(nil)
}

func (a *answer) response() llm.Response {
	r := llm.Response{
		Text: a.text.String(), Reasoning: a.reasoning.String(), ToolCalls: a.calls,
		Model: a.model, ID: a.id, Chunks: a.chunks, Warnings: a.warnings,
	}
	r.Finish = a.finishReason()
	if raw := a.usage.object(); raw != nil {
		var warns []string
		r.Usage, warns = wire.ReadUsage(raw)
		r.Warnings = append(r.Warnings, warns...)
	}
	// A count of 0 is left out, which is none of an answer.
	if r.Usage.Known && !a.usage.has("candidatesTokenCount") && (r.Text != "" || len(r.ToolCalls) > 0) {
		r.Usage = llm.Usage{}
		r.Warnings = append(r.Warnings, "usage is unknown: candidatesTokenCount is missing")
	}
	if why := a.finishWarning(); why != "" {
		r.Warnings = append(r.Warnings, why)
	}
	client.CheckUsage(&r)
	return r
}
