package run

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// Defaults of a [Config].
const (
	DefaultAttempts = 3
	// DefaultAttemptTimeout is long enough for a slow reasoning model.
	DefaultAttemptTimeout = 2 * time.Minute
	// DefaultItemTimeout leaves room for two slow attempts, or for three
	// ordinary ones and a provider's pause of a minute, and is half of go
	// test's own default timeout of 10 minutes.
	DefaultItemTimeout = 5 * time.Minute
	DefaultGrace       = 10 * time.Second
)

// A Config says how items are run. Strategy and Grader are needed; the zero
// value of everything else is a default. Do not copy it, and do not change it
// after the first call of Item.
type Config struct {
	// Strategy answers.
	Strategy Strategy
	// Grader is the deterministic grader. What it promises is audited as it
	// runs: the 1st, 2nd, 4th, 7th, 11th, … graded answer is graded twice, and
	// a grader that contradicts itself makes that item errored. A grader that
	// calls a model (it returns Verdict.Calls, or its calls are logged) is not
	// asked twice.
	Grader grade.Grader
	// Judge is asked when the grader found nothing to compare after the last
	// attempt; nil for no judge.
	Judge grade.Grader
	// JudgeIncorrect also asks the judge about answers graded incorrect.
	JudgeIncorrect bool
	// Attempts is the most attempts an item gets; default [DefaultAttempts].
	Attempts int
	// AttemptTimeout bounds one try of the strategy, or of the judge, waiting
	// for a busy provider excluded; default [DefaultAttemptTimeout], negative
	// for none.
	AttemptTimeout time.Duration
	// ItemTimeout bounds the whole item, all attempts, waits and the judge
	// included; default [DefaultItemTimeout], negative for none: then a
	// strategy that hangs hangs the run.
	ItemTimeout time.Duration
	// Grace is how long after the end of the item's time, or of its context, a
	// strategy that ignores its context is waited for before it is abandoned;
	// default [DefaultGrace], negative for none.
	Grace time.Duration
	// Tries is the most tries of one attempt while the provider is busy;
	// default [call.DefaultTries].
	Tries int
	// Scope is whose quota the strategy's calls use: it says how many may go a
	// minute and at once, and pauses all items together when the provider says
	// that it is too much. nil: one of this Config's own, without limits. A
	// call.Model inside the strategy may use the same one, or its own.
	Scope *call.Scope
	// Budget says when no further attempt and no further judge may be asked:
	// the item is then not run. It counts what the items of this Config spend,
	// and may be shared with others. nil: no limit.
	Budget *call.Budget
	// Backoff spaces attempts after failed calls.
	Backoff call.Backoff
	// Price returns the exact cost of one call in US dollars as a decimal,
	// such as "0.000123"; false if unknown. It is asked where the provider
	// did not report the cost itself. nil: no price is known. Safe for
	// concurrent use. It must return at once; if it panics, the cost is
	// unknown and the record says so.
	Price func(llm.Response) (usd string, ok bool)

	graded          atomic.Int64 // answers graded, for the audit
	own, ownOfJudge call.Scope
}

// ErrConfig is wrapped by what [Config.Check] returns.
var ErrConfig = errors.New("evaltest/run: invalid Config")

// Check reports a Config that cannot be used, naming the field and the value.
func (c *Config) Check() error {
	switch {
	case c.Strategy == nil:
		return fmt.Errorf("%w: Strategy is nil: who answers?", ErrConfig)
	case c.Grader == nil:
		return fmt.Errorf("%w: Grader is nil: use one of package grade, such as grade.Numeric()", ErrConfig)
	case c.JudgeIncorrect && c.Judge == nil:
		return fmt.Errorf("%w: JudgeIncorrect is set and Judge is nil: set a Judge, or leave JudgeIncorrect out", ErrConfig)
	case c.Attempts < 0:
		return fmt.Errorf("%w: Attempts is %d; it must be at least 1, or 0 for the default of %d", ErrConfig, c.Attempts, DefaultAttempts)
	}
	if err := (call.Policy{Tries: c.Tries, Backoff: c.Backoff}).Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	attempt, item := c.attemptTimeout(), c.itemTimeout()
	if c.AttemptTimeout > 0 && item > 0 && attempt > item {
		return fmt.Errorf("%w: AttemptTimeout %v is longer than ItemTimeout %v, which bounds all attempts together", ErrConfig, attempt, item)
	}
	return nil
}

func (c *Config) attempts() int {
	if c.Attempts == 0 {
		return DefaultAttempts
	}
	return c.Attempts
}

// The timeouts as they apply; 0 for none.
func (c *Config) attemptTimeout() time.Duration {
	return choose(c.AttemptTimeout, DefaultAttemptTimeout)
}
func (c *Config) itemTimeout() time.Duration { return choose(c.ItemTimeout, DefaultItemTimeout) }
func (c *Config) grace() time.Duration       { return choose(c.Grace, DefaultGrace) }

func choose(d, standard time.Duration) time.Duration {
	if d == 0 {
		return standard
	}
	return max(d, 0)
}

// policy is how one attempt is tried.
func (c *Config) policy(s *call.Scope) call.Policy {
	return call.Policy{Tries: c.Tries, Timeout: cmp.Or(c.AttemptTimeout, DefaultAttemptTimeout), Scope: s}
}

// loop is how often there is another attempt, for the strategy and the judge.
func (c *Config) loop() call.Attempts {
	return call.Attempts{Max: c.attempts(), Backoff: c.Backoff}
}

// scope is whose quota the strategy's calls use.
func (c *Config) scope() *call.Scope {
	if c.Scope != nil {
		return c.Scope
	}
	return &c.own
}

// judgeScope is whose quota the judge's calls use: mostly another model's, and
// a candidate's pause is none of its business.
func (c *Config) judgeScope() *call.Scope { return &c.ownOfJudge }
