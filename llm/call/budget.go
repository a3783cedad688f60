package call

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// ErrBudget is wrapped by what a [Budget] returns that is used up, or that can
// no longer be kept.
var ErrBudget = errors.New("call: the budget allows no further call")

// Caps are what may be spent. The zero value caps nothing.
type Caps struct {
	// MaxUSD is the most money, in US dollars, as a decimal such as "2.50"; ""
	// for no cap.
	MaxUSD string
	// MaxTokens is the most tokens, input and output together; 0 for no cap.
	MaxTokens int64
	// Price returns the exact cost of one call in US dollars as a decimal;
	// false if it is not known. It is asked where the provider did not report
	// the cost itself. It must be safe for concurrent use. One that does not
	// return holds nobody up but its caller, whose call is not counted until
	// it does.
	Price func(llm.Response) (usd string, ok bool)
}

// Check reports caps that cannot be meant, naming the field and the value.
func (c Caps) Check() error {
	if c.MaxTokens < 0 {
		return fmt.Errorf("call: Caps.MaxTokens is %d; it must not be negative (0 for no cap)", c.MaxTokens)
	}
	if c.MaxUSD == "" {
		return nil
	}
	usd, err := readUSD(c.MaxUSD)
	switch {
	case err != nil:
		return fmt.Errorf("call: Caps.MaxUSD is %.40q: %w", c.MaxUSD, err)
	case usd.IsZero():
		return fmt.Errorf(`call: Caps.MaxUSD is %q; it must be more than 0 ("" for no cap)`, c.MaxUSD)
	}
	return nil
}

// readUSD reads an amount of money. The bounds keep an exponent such as
// 1e999999999, which a server may send, from filling the memory.
func readUSD(s string) (decimal.Decimal, error) {
	const longest, mostDigits, mostZeros = 60, 40, 12
	d, err := decimal.NewFromString(s)
	switch {
	case err != nil || len(s) > longest || d.Exponent() < -mostDigits || d.Exponent() > mostZeros:
		return decimal.Decimal{}, errors.New("want US dollars as a decimal, such as 2.50")
	case d.IsNegative():
		return decimal.Decimal{}, errors.New("want 0 or more US dollars")
	}
	return d, nil
}

// A Budget adds up what calls have spent and says when no further one may
// start. Calls in flight are not stopped: it is overrun by at most what they
// cost, so at most the concurrency's number of calls. Safe for concurrent use.
// Make one with [NewBudget].
//
// It never takes what it does not know for free:
//
//   - A call whose usage is unknown (a timeout, a connection that broke) counts
//     as the dearest call so far, later ones included. Where nothing is known
//     to compare with, 5 such answers stop it: that server reports no usage.
//   - A known usage without a price, while MaxUSD is set, stops it: it can keep
//     no promise about money any more. So does a Price that panics or returns
//     what is no amount.
//   - A call that was refused before anything was read (a rate limit, a bad
//     key, a refused connection) costs nothing, and nor does a replayed one.
type Budget struct {
	caps   Caps
	maxUSD decimal.Decimal

	mu       sync.Mutex
	calls    int
	free     int // refused or replayed
	tokens   sum[int64]
	usd      sum[decimal.Decimal]
	unpriced int   // known usage, no price; without MaxUSD
	err      error // why nothing more may start; it stays
}

// A sum is what known amounts came to. Each unknown one counts as the largest.
type sum[T any] struct {
	known, largest T
	n, unknown     int
	blind          int // those among unknown that were answered
}

// blindMost is how many answers of unknown usage are borne while none is known.
const blindMost = 5

func (s *sum[T]) miss(answered bool) {
	s.unknown++
	if answered {
		s.blind++
	}
}

// blindly reports that nothing will become known.
func (s *sum[T]) blindly() bool { return s.n == 0 && s.blind >= blindMost }

// NewBudget returns a Budget with nothing spent. The error names the field and
// the value of a cap that cannot be meant: it may come from a flag, so it is no
// panic.
func NewBudget(c Caps) (*Budget, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	b := &Budget{caps: c}
	if c.MaxUSD != "" {
		b.maxUSD, _ = readUSD(c.MaxUSD) // checked
	}
	return b, nil
}

// Admit returns nil if another call may start, else an error that wraps
// [ErrBudget] and says what is spent and what the cap is.
func (b *Budget) Admit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Spend adds finished calls, failed ones included. Each call must be added
// once. It returns what [Budget.Admit] returns from now on.
func (b *Budget) Spend(calls ...llm.Call) (err error) {
	var few [4]bill
	bills := few[:0]
	for i := range calls {
		bills = append(bills, b.read(&calls[i]))
	}
	defer func() { // also where Price ends the goroutine
		b.mu.Lock()
		defer b.mu.Unlock()
		for i := range bills {
			b.add(&bills[i])
		}
		if b.err == nil {
			b.err = b.reached()
		}
		err = b.err
	}()
	for i := range bills {
		if bills[i].ask {
			b.ask(&bills[i])
		}
	}
	return nil
}

// A bill is what is known of one call.
type bill struct {
	resp     llm.Response
	free     bool
	sane     bool // its usage can be added up
	answered bool
	usd      decimal.Decimal
	priced   bool
	ask      bool   // the price function is to be asked
	why      string // it is not priced
}

// read makes a call's bill, as far as that takes nobody else's code.
func (b *Budget) read(c *llm.Call) bill {
	l := bill{resp: c.Response, answered: c.Err == nil, why: "it has no price"}
	l.resp.Usage = c.Usage()
	u := l.resp.Usage
	l.sane = saneUsage(u)
	nothingRead := !l.sane || u.Input+u.Output == 0
	if l.free = l.resp.Replayed || nothingRead && l.resp.CostUSD == "" && CostsNothing(c.Err); l.free {
		return l
	}
	if l.resp.CostUSD != "" {
		usd, err := readUSD(l.resp.CostUSD)
		if l.usd, l.priced = usd, err == nil; l.priced {
			return l
		}
		l.why = "the provider's cost is no amount"
	}
	if l.ask = l.sane && b.caps.Price != nil; l.ask && l.resp.CostUSD == "" {
		l.why = "the price function ended its goroutine" // until it returns
	}
	return l
}

// ask calls the user's function. Nobody may hold mu.
func (b *Budget) ask(l *bill) {
	defer func() {
		if v := recover(); v != nil {
			l.why = cut(wire.Mask(fmt.Sprintf("the price function panicked: %v", v)), maxTryMessage)
		}
	}()
	said, ok := b.caps.Price(l.resp)
	if !ok {
		if l.resp.CostUSD == "" {
			l.why = "it has no price"
		}
		return
	}
	usd, err := readUSD(said)
	if err != nil {
		l.why = fmt.Sprintf("the price function returned %.40q", said)
		return
	}
	l.usd, l.priced = usd, true
}

// add adds one call. The caller holds mu.
func (b *Budget) add(l *bill) {
	b.calls++
	if l.free {
		b.free++
		return
	}
	if l.sane {
		n := saturated(l.resp.Usage.Input, l.resp.Usage.Output)
		b.tokens.known, b.tokens.largest = saturated(b.tokens.known, n), max(b.tokens.largest, n)
		b.tokens.n++
	} else {
		b.tokens.miss(l.answered)
	}
	switch {
	case l.priced:
		b.usd.known = b.usd.known.Add(l.usd)
		b.usd.n++
		if l.usd.GreaterThan(b.usd.largest) {
			b.usd.largest = l.usd
		}
	case !l.sane:
		b.usd.miss(l.answered)
	default:
		b.noPrice(l.resp.Model, l.why)
	}
}

// noPrice counts a call whose usage is known and whose cost is not. The caller
// holds mu.
func (b *Budget) noPrice(model, why string) {
	b.unpriced++
	if b.caps.MaxUSD != "" && b.err == nil {
		b.err = fmt.Errorf("%w: MaxUSD is %s, and what %s costs is not known (%s): name its price, or cap tokens instead; so far %s",
			ErrBudget, b.caps.MaxUSD, modelName(model), why, b.snapshot())
	}
}

func modelName(model string) string {
	if model == "" {
		return "a model that the provider did not name"
	}
	return "model " + fmt.Sprintf("%q", cut(wire.Mask(model), maxCode))
}

// saneUsage reports a usage that can be added up.
func saneUsage(u llm.Usage) bool { return u.Known && u.Input >= 0 && u.Output >= 0 }

func saturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// CostsNothing reports whether a call that failed with err and reported no
// usage was billed nothing: it was refused before anything was read (a rate
// limit, a bad key, a refused connection), or never made. Every other failed
// call without a usage counts as unknown: one that timed out may well be
// billed. false for nil.
func CostsNothing(err error) bool {
	switch llm.KindOf(err) {
	case "":
		return false
	case llm.KindAuth, llm.KindBalance, llm.KindRateLimit, llm.KindQuota, llm.KindBadRequest,
		llm.KindNotFound, llm.KindContext, llm.KindMiss:
		return true
	}
	var unsent *unsentError
	return errors.As(err, &unsent) || final(err) || errors.Is(err, ErrBudget) || nothingSent(err)
}

// spentTokens is the tokens that count. The caller holds mu.
func (b *Budget) spentTokens() int64 {
	t := b.tokens
	if t.largest > 0 && int64(t.unknown) > (math.MaxInt64-t.known)/t.largest {
		return math.MaxInt64
	}
	return t.known + int64(t.unknown)*t.largest
}

func (b *Budget) spentUSD() decimal.Decimal {
	if b.usd.unknown == 0 {
		return b.usd.known
	}
	return b.usd.known.Add(b.usd.largest.Mul(decimal.NewFromInt(int64(b.usd.unknown))))
}

// reached returns an error if a cap is. The caller holds mu.
func (b *Budget) reached() error {
	switch {
	case b.caps.MaxUSD != "" && b.spentUSD().GreaterThanOrEqual(b.maxUSD),
		b.caps.MaxTokens > 0 && b.spentTokens() >= b.caps.MaxTokens:
		return fmt.Errorf("%w: %s", ErrBudget, b.snapshot())
	case b.caps.MaxUSD != "" && b.usd.blindly(), b.caps.MaxTokens > 0 && b.tokens.blindly():
		return fmt.Errorf("%w: no answer so far said what it used, so that no cap can be kept: %s", ErrBudget, b.snapshot())
	}
	return nil
}

// Spent is what a [Budget] has counted.
type Spent struct {
	// Calls is how many calls were added, and Free how many of them cost
	// nothing: refused or replayed.
	Calls, Free int
	// Tokens and USD are the sums of what is known; USD is an exact decimal.
	Tokens int64
	USD    string
	// UnknownTokens and UnknownUSD are how many calls are not in these sums
	// because their usage is unknown, and Unpriced how many are not in USD
	// because their model has no price. If one is not 0, the sum is "at
	// least".
	UnknownTokens, UnknownUSD, Unpriced int
	// ChargedTokens and ChargedUSD are what counts against the caps: the sums,
	// and for each unknown call the dearest one.
	ChargedTokens int64
	ChargedUSD    string
	// MaxTokens and MaxUSD are the caps; 0 and "" for none.
	MaxTokens int64
	MaxUSD    string
}

// Spent returns what has been counted so far.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshot()
}

func (b *Budget) snapshot() Spent {
	return Spent{
		Calls: b.calls, Free: b.free,
		Tokens: b.tokens.known, USD: b.usd.known.String(),
		UnknownTokens: b.tokens.unknown, UnknownUSD: b.usd.unknown, Unpriced: b.unpriced,
		ChargedTokens: b.spentTokens(), ChargedUSD: b.spentUSD().String(),
		MaxTokens: b.caps.MaxTokens, MaxUSD: b.caps.MaxUSD,
	}
}

// String says it for people: "at least" where something is unknown. Money is
// left out where it is neither capped nor known.
func (s Spent) String() string {
	var parts []string
	money := s.MaxUSD != "" || s.MaxTokens == 0 || s.USD != "0"
	if money {
		usd := amount("$"+s.USD, "$"+s.ChargedUSD, s.UnknownUSD+s.Unpriced > 0)
		if s.MaxUSD != "" {
			usd += " of $" + s.MaxUSD
		}
		parts = append(parts, usd)
	}
	tokens := amount(fmt.Sprint(s.Tokens), fmt.Sprint(s.ChargedTokens), s.UnknownTokens > 0)
	if s.MaxTokens > 0 {
		tokens += fmt.Sprintf(" of %d", s.MaxTokens)
	}
	parts = append(parts, tokens+" tokens in "+plural(s.Calls, "call"))
	if n := max(s.UnknownTokens, s.UnknownUSD); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of unknown usage", n))
	}
	if money && s.Unpriced > 0 {
		parts = append(parts, fmt.Sprintf("%d without a price", s.Unpriced))
	}
	return strings.Join(parts, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func amount(known, charged string, atLeast bool) string {
	switch {
	case !atLeast:
		return known
	case known == charged:
		return "at least " + known
	}
	return fmt.Sprintf("at least %s (counted as %s)", known, charged)
}

// allows returns why no further try may be made, with the rate limit that the
// last one met, if any; nil if one may. A nil Budget allows all.
func (b *Budget) allows(busy error) error {
	if b == nil {
		return nil
	}
	err := b.Admit()
	switch {
	case err == nil:
		return nil
	case busy != nil:
		err = fmt.Errorf("%w: %w", err, busy)
	}
	return &llm.Error{Kind: llm.KindBudget, Err: err}
}

// tried adds a try.
func (b *Budget) tried(resp llm.Response, err error) {
	if b != nil {
		_ = b.Spend(llm.Call{Response: resp, Err: err}) // the next to ask is told
	}
}
