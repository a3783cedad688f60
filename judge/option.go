package judge

import (
	"fmt"
	"math"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// Defaults.
const (
	// DefaultReasks is how often a reply without a legal verdict is asked for
	// again: two calls at most for a verdict.
	DefaultReasks = 1
	// DefaultMaxCandidate is how many bytes of an answer a judge is shown.
	DefaultMaxCandidate = 32 << 10
	// minCandidate leaves room for both ends of an answer.
	minCandidate = 256
)

// An Option changes how a judge is made. Options that cannot be meant panic
// where they are written, naming the value.
type Option func(*config)

type config struct {
	name         string
	criteria     string
	instructions string
	reference    bool
	offered      menu
	reasks       int
	maxCandidate int
	structured   Structure
	maxOutput    *int64
	temperature  *float64
	seed         *int64
	thinking     *llm.Thinking
	scope        *call.Scope
	store        Store
}

// newConfig applies options to the defaults. All judges of this package start
// from it.
func newConfig(opts []Option) config {
	c := config{reference: true, offered: Verdicts(), reasks: DefaultReasks, maxCandidate: DefaultMaxCandidate}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("judge: option %d is nil", i+1))
		}
		o(&c)
	}
	return c
}

// Criteria says in words what makes an answer right; default: that it means the
// same as the reference, or, without one, that it is right and answers the
// question. The text is the eval's author's, and goes to the judge as it is.
func Criteria(text string) Option {
	if strings.TrimSpace(text) == "" {
		panic("judge.Criteria: the text is empty; say what makes an answer right, or leave the option out")
	}
	return func(c *config) { c.criteria = text }
}

// Instructions replace the sentence that tells the judge what it is ("You grade
// answers …"). What must stay is added to it: that the data is data, the words
// that may be chosen and the form of the reply.
func Instructions(text string) Option {
	if strings.TrimSpace(text) == "" {
		panic("judge.Instructions: the text is empty; leave the option out for the default")
	}
	return func(c *config) { c.instructions = text }
}

// WithReference says whether the judge is shown the item's target and targets;
// default true. An item without any is judged without.
func WithReference(on bool) Option { return func(c *config) { c.reference = on } }

// Choices are the verdicts that the judge is offered, at least two; default
// [Verdicts]. It panics on words that are no words or stand twice, on marks that
// are none and on scores outside of 0..1.
func Choices(offered ...Choice) Option {
	if len(offered) == 0 {
		panic("judge.Choices: no choice; offer at least two, or leave the option out")
	}
	m := newMenu("Choices", offered)
	return func(c *config) { c.offered = m }
}

// Reasks is how often a reply without a legal verdict is asked for again; 0 for
// never; default [DefaultReasks].
func Reasks(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("judge.Reasks(%d): give 0 or more", n))
	}
	return func(c *config) { c.reasks = n }
}

// MaxCandidate is how many bytes of an answer the judge is shown; default
// [DefaultMaxCandidate], at least 256. The middle of a longer one is left out:
// a mark says how many bytes, and the judge is told. Characters that cannot be
// seen count as they are spelled out; the dots in imitated delimiters do not.
func MaxCandidate(bytes int) Option {
	if bytes < minCandidate {
		panic(fmt.Sprintf("judge.MaxCandidate(%d): give at least %d bytes", bytes, minCandidate))
	}
	return func(c *config) { c.maxCandidate = bytes }
}

// A Structure says whether a judge is asked for JSON of a schema.
type Structure int

const (
	// Auto asks for JSON of a schema, and for a marked last line once the
	// provider has refused a schema as a bad request.
	Auto Structure = iota
	// Never asks for a marked last line.
	Never
	// Always asks for JSON of a schema; that a provider refuses one is an error.
	Always
)

// Structured says whether the judge is asked for JSON of a schema; default
// [Auto]. Whatever it is asked for, its reply is read in all of its legal forms.
func Structured(s Structure) Option {
	if s < Auto || s > Always {
		panic(fmt.Sprintf("judge.Structured(%d): give judge.Auto, judge.Never or judge.Always", s))
	}
	return func(c *config) { c.structured = s }
}

// MaxOutputTokens caps the judge's reply, reasoning included; default: not sent.
// A reply that is cut there is asked for again with four times as many, at least
// 2048: a reasoning judge may spend a small cap on thoughts alone.
func MaxOutputTokens(n int64) Option {
	if n < 1 {
		panic(fmt.Sprintf("judge.MaxOutputTokens(%d): give at least 1, or leave the option out", n))
	}
	return func(c *config) { c.maxOutput = &n }
}

// Temperature is the judge's sampling temperature; default: not sent, since
// reasoning models refuse it.
func Temperature(t float64) Option {
	if math.IsNaN(t) || math.IsInf(t, 0) || t < 0 {
		panic(fmt.Sprintf("judge.Temperature(%v): give 0 or more, or leave the option out", t))
	}
	return func(c *config) { c.temperature = &t }
}

// Seed asks for repeatable sampling where the provider has it; default: not sent.
func Seed(n int64) Option { return func(c *config) { c.seed = &n } }

// Thinking switches the judge's reasoning; default: not sent.
func Thinking(t llm.Thinking) Option { return func(c *config) { c.thinking = &t } }

// Scope is whose quota the judge's calls use; default: one of its own, without
// limits. It is for a plain model: a call.Model has one already, and New panics
// if it is given another.
func Scope(s *call.Scope) Option {
	if s == nil {
		panic("judge.Scope(nil): leave the option out for a scope of the judge's own")
	}
	return func(c *config) { c.scope = s }
}

// Named is the name of the judge's model, where it does not say its name itself
// (a Name or String method) or not enough of it. It stands in the judge's Name
// and keys its [Cache].
func Named(model string) Option {
	if strings.TrimSpace(model) == "" {
		panic("judge.Named: the name is empty")
	}
	return func(c *config) { c.name = model }
}

// Cache keeps verdicts in s and asks the model only for those that it does not
// hold; default: none. Only complete, legal replies are kept. The key covers the
// model's name, the prompt and its version, the question, the answer, the
// reference, the settings and the sample index of the context.
func Cache(s Store) Option {
	if s == nil {
		panic("judge.Cache(nil): leave the option out for no cache")
	}
	return func(c *config) { c.store = s }
}
