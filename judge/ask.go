package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// An asker puts questions to a judge's model: in the form that the provider
// takes, and again where the reply cannot be used. Every judge of this package
// asks through one. Safe for concurrent use.
type asker struct {
	model llm.Model
	name  string // of the model
	config
	// plain is set once the provider has refused a schema.
	plain atomic.Bool
}

// newAsker panics if m is nil, naming who was called.
func newAsker(who string, m llm.Model, c config) *asker {
	if m == nil {
		panic("judge." + who + ": the model is nil")
	}
	name, known := modelName(m)
	if c.name != "" {
		name, known = c.name, true
	}
	if c.store != nil && !known {
		panic(fmt.Sprintf("judge.%s: a Cache cannot tell the model %s from others: it has no Name or String method; add judge.Named", who, name))
	}
	_, limited := m.(*call.Model)
	switch {
	case limited && c.scope != nil:
		panic("judge." + who + ": Scope is set, and the model is a call.Model, which has a scope: leave one out")
	case !limited:
		m = call.New(m, call.Config{Scope: c.scope})
	}
	return &asker{model: m, name: name, config: c}
}

var goType = regexp.MustCompile(`^[a-z0-9_]+\.\w+$`)

// modelName returns a model's name, and whether it told it itself.
func modelName(m llm.Model) (string, bool) {
	switch n := m.(type) {
	case *call.Model: // which says the Go type of a model without a name
		return n.String(), !goType.MatchString(n.String())
	case interface{ Name() string }:
		return n.Name(), true
	case fmt.Stringer:
		return n.String(), true
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*"), false
}

// A question is what a judge is asked, before the form of its reply.
type question struct {
	system string // what the judge is and does
	user   string // the delimited data
	// schema and json ask for a structured reply, line for a marked last line:
	// sentences for the end of the system text.
	schema     *llm.Schema
	json, line string
}

// request is the question in one of the two forms.
func (a *asker) request(q question, structured bool) llm.Request {
	form := q.line
	if structured {
		form = q.json
	}
	req := llm.Prompt(q.user).WithSystem(q.system + "\n\n" + form)
	req.MaxOutputTokens, req.Temperature, req.Seed, req.Thinking = a.maxOutput, a.temperature, a.seed, a.thinking
	if structured {
		req.Schema = q.schema
	}
	return req
}

// structuredFirst reports whether the next question is asked with its schema.
func (a *asker) structuredFirst(q question) bool {
	switch {
	case q.schema == nil || a.structured == Never:
		return false
	case a.structured == Always:
		return true
	}
	return !a.plain.Load()
}

// ask asks q and reads the reply, and asks again, up to reasks times, while
// read finds a fault in it. It returns what was read last, its fault, if any,
// and the responses of all calls, also beside an error. A failed call is an
// error, except one that a provider's filter stopped: that is a fault.
func ask[T any](ctx context.Context, a *asker, q question, read func(llm.Response) (T, *fault)) (got T, no *fault, calls []llm.Response, err error) {
	structured := a.structuredFirst(q)
	req := a.request(q, structured)
	for n := 0; ; n++ {
		var resp llm.Response
		resp, structured, err = a.call(ctx, q, req, structured && n == 0, structured)
		var failed *llm.Error
		if errors.As(err, &failed) && failed.Kind == llm.KindBlocked {
			if !resp.Usage.Known {
				resp.Usage = failed.Usage
			}
			calls = append(calls, resp)
			var none T
			return none, faultf(ReasonBlocked, "the provider's filter stopped the judge: "+quote(failed.Message)), calls, nil
		}
		if err != nil {
			return got, nil, calls, err
		}
		calls = append(calls, resp)
		if got, no = read(resp); no == nil || n >= a.reasks {
			return got, no, calls, nil
		}
		req = a.again(a.request(q, structured), q, structured, resp, no, req.MaxOutputTokens)
	}
}

// call makes one call. Where the provider refuses the schema of a first call,
// or a recording has none with it, it asks without; form is how it was asked.
func (a *asker) call(ctx context.Context, q question, req llm.Request, first, form bool) (llm.Response, bool, error) {
	resp, err := a.model.Generate(ctx, req)
	if !first || a.structured != Auto {
		return resp, form, err
	}
	kind := llm.KindOf(err)
	if kind != llm.KindBadRequest && kind != llm.KindMiss {
		return resp, form, err
	}
	// Any bad request may be about the schema: providers do not agree on the
	// words. If the plain request is refused too it was not. A strict replay of
	// a run in which the provider refused it holds the plain request only.
	second, err2 := a.model.Generate(ctx, a.request(q, false))
	if err2 != nil {
		if kind2 := llm.KindOf(err2); kind2 == kind || kind2 == llm.KindMiss {
			return resp, form, err // the first one says more
		}
		return second, false, err2
	}
	if kind == llm.KindBadRequest {
		a.plain.Store(true)
	}
	return second, false, nil
}

// echoLimit is how much of an unusable reply the judge is shown again.
const echoLimit = 2 << 10

// again is the request after a reply that could not be used: the conversation
// goes on, unless nothing was said. What was cut at a cap gets a larger one.
func (a *asker) again(req llm.Request, q question, structured bool, resp llm.Response, no *fault, limit *int64) llm.Request {
	req.MaxOutputTokens = limit
	switch no.reason {
	case ReasonTruncated:
		if limit != nil {
			req.MaxOutputTokens = new(max(4**limit, 2048))
		}
		return req
	case ReasonEmpty, ReasonBlocked, ReasonRefused, ReasonIncomplete:
		return req
	}
	if strings.TrimSpace(resp.Text) == "" {
		return req
	}
	form := q.line
	if structured {
		form = q.json
	}
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleAssistant, Content: cut(strings.ToValidUTF8(resp.Text, "\uFFFD"), echoLimit)},
		llm.Message{Role: llm.RoleUser, Content: "That reply cannot be used: " + cut(no.why, echoLimit) + ". Decide again. " + form})
	return req
}

// fingerprint is a stable text of everything that the settings send or decide.
func (c config) fingerprint() string {
	b, err := json.Marshal(struct {
		Instructions, Criteria string
		Reference              bool
		Offered                menu
		Most                   int
		Structure              Structure
		MaxOutput              *int64
		Temperature            *float64
		Seed                   *int64
		Thinking               *llm.Thinking
	}{c.instructions, c.criteria, c.reference, c.offered, c.maxCandidate, c.structured, c.maxOutput, c.temperature, c.seed, c.thinking})
	if err != nil {
		panic("judge: " + err.Error()) // no option can make it fail
	}
	return string(b)
}
