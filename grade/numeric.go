package grade

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A NumericOption changes what [Numeric] accepts.
type NumericOption func(*numeric)

// Locale says how the responses write numbers: "en" (the default: 1,234.5),
// "de" (1.234,5), "fr" or "ru" (1 234,5), "ch" (1'234.5), "in" (12,34,567.8),
// or another language, with or without a region ("pt-BR"). Targets are read in
// plain notation (1,234.5) first and in the locale only if that fails. It
// panics on a locale that it does not know.
func Locale(name string) NumericOption {
	l, err := findLocale(name)
	if err != nil {
		panic("grade.Locale: " + err.Error())
	}
	return func(n *numeric) { n.locale = l }
}

// Marker names a text that announces the answer in these responses, such as
// "RESULT:". Where a response has one, the last one wins over the built-in
// markers. Case and blanks count. May be given several times. It panics on a
// text without a visible character.
func Marker(text string) NumericOption {
	if isBlank(text) {
		panic(fmt.Sprintf("grade.Marker: %q has no visible character", text))
	}
	return func(n *numeric) { n.markers = append(n.markers, text) }
}

// RequireMarker makes a response without an answer marker Unparsed, instead of
// taking its last number. With [Marker], only those markers count.
func RequireMarker() NumericOption { return func(n *numeric) { n.strict = true } }

// Tolerance accepts answers that differ from the target by no more than
// within, an exact decimal such as "0.005". Default "0". It panics if within
// is not a number or is negative.
func Tolerance(within string) NumericOption {
	v := mustAmount("Tolerance", within)
	return func(n *numeric) { n.absolute = v }
}

// RelativeTolerance accepts answers that differ from the target by no more
// than the given share of the target: "0.01" is one per cent. Default "0". It
// panics if share is not a number or is negative.
func RelativeTolerance(share string) NumericOption {
	v := mustAmount("RelativeTolerance", share)
	return func(n *numeric) { n.relative = v }
}

func mustAmount(option, s string) *big.Rat {
	v, err := parseNumber(s, localeDot)
	if err != nil || v.Sign() < 0 {
		panic(fmt.Sprintf("grade.%s: %q is not a number from 0 on", option, s))
	}
	return v
}

// Numeric compares numbers: it finds the number that a response gives as its
// answer and compares it with the target, exactly, as decimals and fractions.
// It is for GSM8K and for every task whose answer is one number.
//
// Which number is the answer:
//
//  1. Reasoning blocks (<think>…</think> and the like) do not count. One that
//     never closes makes the response Unparsed, reason incomplete.
//  2. What follows the model's own turn (a further "Question:") does not count.
//  3. The last answer marker decides: "#### 18", \boxed{18}, "Answer: 18" in
//     some twenty-five languages, "The answer is 18", "A: 18" at the start of
//     a line, <answer>18</answer>, {"answer": 18}. A marker without a number
//     behind it makes the response Unparsed: no unmarked number takes its place.
//  4. Behind the marker the first statement counts: 18 of "18 eggs for 2
//     people", 90 of "3*30=90". A marker that introduces a worked solution
//     counts as none. A correction behind it ("Wait, …") counts instead of it.
//  5. Without a marker the last number is the answer, with its unit. Notes,
//     checks, sources and leave-taking at the end do not count, nor do the
//     circumstances of the last sentence: 18 of "she makes $18 from 9 eggs in
//     2 days". A first line that is nothing but a number, before prose that
//     computes no other, is the answer. A text that breaks off in the middle
//     of a sentence or of a calculation is Unparsed, reason incomplete.
//
// What a number is: 1,234.5 with thousands in groups of three (by comma,
// blank, apostrophe or underscore), -5, −5, $5, 5 €, 20% (the value is 20, not
// 0.2), 1e3, 3 × 10^4, 1/2, 3 1/2, ½, \frac{1}{2}, digits of any script, 2
// million, "eighteen" and "three quarters" behind a marker or in a short text
// without digits. It is not part of a word (v42, 42abc), a date, a time, a
// ratio, a list's label or "Step 2". Numbers have at most 1,000 digits and
// exponents of at most ±1,000; others equal nothing.
//
// What is not decided is Unparsed with reason ambiguous, so that another
// attempt or a judge may decide: "4,2" where commas group thousands, "18 or
// 20", "5 hours and 30 minutes", an expression that is not worked out, and a
// bound or an approximation (<18, at least 18, ~18, about 18) of just the
// target. A bound or approximation of another number is Incorrect.
//
// A dozen is a unit and a number: "2 dozen" is 2 as well as 24, "half a dozen"
// is 6.
//
// Where the item's Input asks for a number of thousands, millions and so on
// ("how many billions …"), "2 billion" is 2 as well as 2,000,000,000.
//
// The item's Target and Targets must be numbers; otherwise Grade returns a
// [*TargetError].
func Numeric(opts ...NumericOption) Grader {
	n := &numeric{locale: localeDot}
	for _, opt := range opts {
		opt(n)
	}
	return n
}

type numeric struct {
	locale   locale
	markers  []string
	strict   bool
	absolute *big.Rat // nil: exact
	relative *big.Rat
}

var (
	_ Grader = (*numeric)(nil)
	_ Named  = (*numeric)(nil)
)

// Name returns "numeric", with the options that change verdicts.
func (n *numeric) Name() string {
	var opts []string
	if n.locale.name != localeDot.name {
		opts = append(opts, "locale="+n.locale.name)
	}
	for _, m := range n.markers {
		opts = append(opts, "marker="+quote(m))
	}
	if n.strict {
		opts = append(opts, "marker required")
	}
	if n.absolute != nil {
		opts = append(opts, "tolerance="+n.absolute.RatString())
	}
	if n.relative != nil {
		opts = append(opts, "relative tolerance="+n.relative.RatString())
	}
	if len(opts) == 0 {
		return "numeric"
	}
	return "numeric(" + strings.Join(opts, ", ") + ")"
}

// Grade implements [Grader].
func (n *numeric) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	targets, err := n.targets(item)
	if err != nil {
		return Verdict{}, err
	}
	text, verdict, ok := finalText("numeric", item, resp)
	if !ok {
		return verdict, nil
	}
	f := n.find(cleanNumbers(text))
	if f.value == nil {
		v := unparsed("numeric", f.reason, f.why)
		if f.rule != "" {
			v.How = "numeric: " + f.rule
		}
		return v, nil
	}
	right := n.equals(f.value, targets) || f.dozens != nil && n.equals(f.dozens, targets) || f.scale > 0 && asksFor(item.Input, f.scale) && n.equals(new(big.Rat).Quo(f.value, powerOfTen(f.scale)), targets)
	if right && f.hedge != "" || !right && f.about != nil && n.equals(f.about, targets) {
		v := unparsed("numeric", ReasonAmbiguous, fmt.Sprintf("%s is a bound or an approximation, the target is a value", quote(f.answer)))
		v.How = "numeric: " + f.rule
		return v, nil
	}
	how := "numeric: " + f.rule
	if right && f.hedge == "" {
		return graded(true, f.answer, how, ""), nil
	}
	return graded(false, f.answer, how, fmt.Sprintf("got %s, want %s", quote(f.answer), wantedNumbers(item))), nil
}

// targets reads the item's targets.
func (n *numeric) targets(item dataset.Item) ([]*big.Rat, error) {
	all := item.Targets
	if item.Target != "" || len(all) == 0 {
		all = append([]string{item.Target}, all...)
	}
	values := make([]*big.Rat, 0, len(all))
	for _, t := range all {
		v, err := parseNumber(t, localeDot)
		if err != nil {
			v, err = parseNumber(t, n.locale)
		}
		if err != nil {
			return nil, &TargetError{n.Name(), item.ID, t, err.Error() + ": give a number such as 1234.5, or choose another grader"}
		}
		values = append(values, v)
	}
	return values, nil
}

// wantedNumbers lists the item's targets for a person.
func wantedNumbers(item dataset.Item) string {
	var all []string
	if item.Target != "" {
		all = append(all, quote(item.Target))
	}
	for _, t := range item.Targets {
		all = append(all, quote(t))
	}
	return strings.Join(all, " or ")
}

// equals compares v with each target.
func (n *numeric) equals(v *big.Rat, targets []*big.Rat) bool {
	for _, t := range targets {
		if sameNumber(v, t) {
			return true
		}
		if n.absolute == nil && n.relative == nil {
			continue
		}
		diff := new(big.Rat).Sub(v, t)
		diff.Abs(diff)
		if n.absolute != nil && diff.Cmp(n.absolute) <= 0 {
			return true
		}
		if n.relative != nil {
			limit := new(big.Rat).Abs(t)
			if diff.Cmp(limit.Mul(limit, n.relative)) <= 0 {
				return true
			}
		}
	}
	return false
}

// sameNumber is a.Cmp(b) == 0. A Rat's terms are its lowest, so there is no need
// to multiply.
func sameNumber(a, b *big.Rat) bool {
	return a.Num().Cmp(b.Num()) == 0 && (a.IsInt() && b.IsInt() || a.Denom().Cmp(b.Denom()) == 0)
}

// parseNumber reads a text that is one number and nothing else but currency,
// percent sign, scale word and wrapping.
func parseNumber(text string, loc locale) (*big.Rat, error) {
	if n, ok := shortInt(text); ok { // as most targets are
		return new(big.Rat).SetInt64(n), nil
	}
	return parseAnyNumber(text, loc)
}

func parseAnyNumber(text string, loc locale) (*big.Rat, error) {
	c := cleanNumbers(text)
	tokens := scanNumbers(c.text, loc, true)
	if len(tokens) == 0 {
		if v, dozens, end := numberWords(c.text); v != nil && dozens == nil && isBlank(c.text[end:]) {
			return v, nil
		}
		return nil, errors.New("it has no number in it")
	}
	t := tokens[0]
	switch rest := c.text[:t.start] + c.text[t.end:]; {
	case len(tokens) > 1:
		return nil, errors.New("it has several numbers in it")
	case t.core.bad != "":
		return nil, errors.New("it is no single number: " + t.core.bad)
	case t.hedge != "":
		return nil, errors.New("it is a bound or an approximation")
	case hasWord(rest) || strings.ContainsAny(rest, "+-=×·÷^<>≤≥≠"):
		return nil, errors.New("it has more than a number in it")
	}
	v, ok := t.value()
	if !ok {
		return nil, fmt.Errorf("it divides by zero or exceeds %d digits or an exponent of %d", maxNumberDigits, maxNumberExponent)
	}
	return v, nil
}
