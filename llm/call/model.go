package call

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// DefaultTimeout bounds one try of a [Policy] or [Model]: long enough for a slow
// reasoning model.
const DefaultTimeout = 2 * time.Minute

// A Config says how a [Model] makes its calls. The zero value works.
type Config struct {
	// Scope is whose quota the calls use. Models of one account and key share
	// one. nil: one of its own, without limits.
	Scope *Scope
	// Tries is the most physical calls for one Generate while the provider is
	// busy; default [DefaultTries].
	Tries int
	// Timeout bounds one physical call, waiting excluded; default
	// [DefaultTimeout], negative for none.
	Timeout time.Duration
	// Budget is asked before each physical call, and told afterwards what it
	// spent; several Models may share one. nil: no limit. A run of package
	// evaltest keeps one of its own (evaltest.MaxCost): do not give it the same
	// one, or what is spent counts twice.
	Budget *Budget
}

// Check reports a Config that cannot be used, naming the field and the value.
func (c Config) Check() error {
	if c.Tries < 0 {
		return fmt.Errorf("call: Config.Tries is %d; it must be at least 1, or 0 for the default of %d", c.Tries, DefaultTries)
	}
	return nil
}

// A Model is a model whose calls wait for their turn. It owns everything below
// an attempt: admission by its [Scope], the physical call's time, tries after a
// rate limit. A failure of any other kind is returned at once: whether there is
// another attempt is for the loop of [Attempts] to decide. Safe for concurrent
// use. Make one with [New].
type Model struct {
	model  llm.Model
	engine engine
}

var _ llm.Model = (*Model)(nil)

// New wraps m. Its client must not try again by itself (SDKs do unless told
// otherwise): that would hide calls, and what they cost. It panics if m is nil
// or c cannot be meant, naming the field and the value.
func New(m llm.Model, c Config) *Model {
	if m == nil {
		panic("call.New: the model is nil")
	}
	if err := c.Check(); err != nil {
		panic(err)
	}
	if c.Scope == nil {
		c.Scope = NewScope(Limits{})
	}
	return &Model{model: m, engine: engine{
		scope: c.Scope, tries: triesOr(c.Tries), timeout: timeoutOr(c.Timeout), maxWait: maxWaitOr(c.Scope.limits.MaxWait),
		budget: c.Budget,
	}}
}

// Scope returns whose quota the calls use.
func (m *Model) Scope() *Scope { return m.engine.scope }

// String returns the name of the model inside, for people.
func (m *Model) String() string {
	switch n := m.model.(type) {
	case interface{ Name() string }:
		return n.Name()
	case fmt.Stringer:
		return n.String()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m.model), "*")
}

// Generate waits for its turn and makes the call; after a rate limit again, up
// to Tries times, and at once, at most twice, after [wire.ErrStale]. The time that
// it waits does not count for the attempts that it is part of. Every physical call
// is logged to the context's [Tries]. A failure is an *llm.Error where its cause is
// known ([Classify]); a timeout says whose time was up ([ErrAttemptTimeout]).
func (m *Model) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		err = over(ctx, err, nil)
		logTry(tryOf(ctx), triesOf(ctx), Try{Start: time.Now(), Unsent: true}, &llm.Response{}, err)
		return llm.Response{}, err
	}
	e := m.engine
	e.tokens = e.scope.estimate(req)
	return e.do(ctx, func(ctx context.Context) (llm.Response, error) { return m.model.Generate(ctx, req) })
}
