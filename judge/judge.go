package judge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A Judge is a [grade.Grader] that asks a model whether an answer is right. Make
// one with [New] and use it from any number of goroutines.
type Judge struct {
	ask        *asker
	name       string
	schema     *llm.Schema
	json, line string

	mu       sync.Mutex
	warnings []error
}

var (
	_ grade.Grader = (*Judge)(nil)
	_ grade.Named  = (*Judge)(nil)
)

// New makes a judge of a model. Its calls wait for their turn and are tried
// again while the provider is busy (package llm/call), whether or not m is a
// call.Model already. It panics if m is nil or options contradict each other.
func New(m llm.Model, opts ...Option) *Judge {
	c := newConfig(opts)
	j := &Judge{ask: newAsker("New", m, c), schema: c.offered.schemaFor(), json: c.offered.jsonForm(), line: c.offered.lineForm()}
	j.name = nameOf("judge", j.ask.name, c.fingerprint())
	return j
}

// nameOf names a judge: what it is, its version, its model, and what tells its
// settings from others.
func nameOf(kind, model, settings string) string {
	sum := sha256.Sum256([]byte(settings))
	return fmt.Sprintf("%s-v%d %s %s", kind, PromptVersion, model, hex.EncodeToString(sum[:4]))
}

// Name is "judge", the version of the prompt, the model's name and eight digits
// that change with the settings.
func (j *Judge) Name() string { return j.name }

// Grade asks the model about one answer. The verdict is [grade.Ungraded] if no
// legal verdict came after all re-asks, with the last reply in Why; its Calls
// are the calls that were made, with their raw replies, usage and times. An
// answer without text or tool calls, a refusal, and one that never left its
// reasoning are [grade.Unparsed] and cost nothing.
//
// An error is a call that failed ([llm.Error]), or the context's; the calls that
// were made before it are in the verdict's Calls.
func (j *Judge) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (grade.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return grade.Verdict{}, fmt.Errorf("judge: not asked: %w", err)
	}
	answer, v, ok := answerOf(resp)
	if !ok {
		return v, nil
	}
	q := j.prompt(item, answer, resp.ToolCalls)
	key := ""
	if j.ask.store != nil {
		key = j.ask.key(ctx, q, append([]string{item.Input, answer}, references(item)...)...)
		if r, ok := j.cached(key, answer); ok {
			v = r.verdict()
			v.Answer, v.How = "", v.How+", from the cache"
			return v, nil
		}
	}
	read := func(r llm.Response) (Reading, *fault) { return j.ask.offered.readFor(r, answer) }
	got, no, calls, err := ask(ctx, j.ask, q, read)
	if err != nil {
		return grade.Verdict{Calls: calls}, fmt.Errorf("judge: %w", err)
	}
	if no != nil && got.Reason == "" { // nothing was read
		got = Reading{Reason: no.reason, Why: no.why}
	}
	if key != "" && no == nil {
		j.keep(key, got, calls[len(calls)-1])
	}
	v = got.verdict()
	v.Answer, v.Calls = "", calls
	if n := len(calls); n > 1 {
		v.How += fmt.Sprintf(", after %d calls", n)
	}
	return v, nil
}

// readFor is read for ask.
func (m menu) readFor(resp llm.Response, candidate string) (Reading, *fault) {
	r := m.read(resp, candidate)
	if !r.Legal {
		return r, faultf(r.Reason, r.Why)
	}
	return r, nil
}

// answerOf returns the text of a response that a judge reads, without reasoning.
// ok is false if there is nothing to judge; then v says why.
func answerOf(resp llm.Response) (text string, v grade.Verdict, ok bool) {
	unparsed := func(reason grade.Reason, why string) grade.Verdict {
		return grade.Verdict{Mark: grade.Unparsed, How: "judge: not asked", Reason: reason, Why: why}
	}
	if resp.Refusal != "" {
		return "", unparsed(grade.ReasonRefusal, "the model refused: "+quote(resp.Refusal)), false
	}
	if strings.TrimSpace(resp.Text) == "" {
		if len(resp.ToolCalls) > 0 {
			return "", v, true
		}
		return "", unparsed(grade.ReasonNoResponse, "the response has no text"), false
	}
	rest, whole := grade.WithoutReasoning(resp.Text)
	if !whole {
		return "", unparsed(grade.ReasonIncomplete, "the answer never left its reasoning"), false
	}
	return rest, v, true
}

// Warnings are what went wrong without a verdict being wrong for it, such as a
// cache that could not be read or written: the first 20.
func (j *Judge) Warnings() []error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]error(nil), j.warnings...)
}
