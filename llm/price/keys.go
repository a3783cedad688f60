package price

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// A FieldError is a value in a table or a set of prices that cannot be meant.
// [ErrRate] is in its tree.
type FieldError struct {
	File  string // empty if the value came from no file
	Line  int    // from 1; 0 if the value came from no file
	Field string // empty if the row as a whole is wrong
	Value string
	Err   error
}

func (e *FieldError) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, "%q: %q: ", clip(e.Field), clip(e.Value))
	}
	return b.String() + e.Err.Error()
}

// Unwrap makes the error an [ErrRate].
func (e *FieldError) Unwrap() []error { return []error{ErrRate, e.Err} }

// A part are the prices that were given for prompts of one length; nil is not
// given.
type part struct{ in, cached, out, write, hour *decimal.Decimal }

// keys are the names of prices; each may have the prefix "batch_" and a suffix
// such as "_above_200k".
var keys = []string{"in", "cached_in", "out", "cache_write", "cache_write_1h"}

func (p *part) at(key string) **decimal.Decimal {
	return []**decimal.Decimal{&p.in, &p.cached, &p.out, &p.write, &p.hour}[slices.Index(keys, key)]
}

// over is p with the prices of base where p has none.
func (p part) over(base part) part {
	for _, k := range keys {
		if to := p.at(k); *to == nil {
			*to = *base.at(k)
		}
	}
	return p
}

// rates makes prices of what was given. Cached input without a price of its
// own costs what other input does.
func (p part) rates() Rates {
	r := Rates{CacheWrite: p.write, CacheWriteHour: p.hour}
	take := func(to *decimal.Decimal, lack lacking, from ...*decimal.Decimal) {
		for _, d := range from {
			if d != nil {
				*to = *d
				return
			}
		}
		r.lacks |= lack
	}
	take(&r.Input, lacksInput, p.in)
	take(&r.CachedInput, lacksCached, p.cached, p.in)
	take(&r.Output, lacksOutput, p.out)
	return r
}

// A priceSet is what was given for a model, by the threshold in tokens above
// which it counts; 0 is the base.
type priceSet struct{ standard, batch map[int64]part }

var suffixed = regexp.MustCompile(`^(.+)_above_([0-9]{1,9})(k?)$`)

// split is a name without its suffix, and the threshold in it; 0 if it has none.
func split(name string) (key string, above int64) {
	if !strings.Contains(name, "_above_") {
		return name, 0
	}
	m := suffixed.FindStringSubmatch(name)
	if m == nil {
		return name, 0
	}
	n, _ := strconv.ParseInt(m[2], 10, 64) // at most nine digits
	if m[3] == "k" {
		n *= 1000
	}
	return m[1], n
}

// isPrice reports a name that set takes.
func isPrice(name string) bool {
	key, _ := split(name)
	return slices.Contains(keys, strings.TrimPrefix(key, "batch_"))
}

// set reads one price, for prompts above so many tokens; the name may raise the
// threshold.
func (s *priceSet) set(name, text string, above int64) error {
	key, n := split(name)
	if key != name {
		if above != 0 {
			return errors.New("the row has a threshold in above already")
		}
		if n == 0 {
			return errors.New("want a threshold of more than 0 tokens")
		}
		above = n
	}
	to := &s.standard
	if k, ok := strings.CutPrefix(key, "batch_"); ok {
		key, to = k, &s.batch
	}
	d, err := rate(text)
	if err != nil {
		return err
	}
	if *to == nil {
		*to = map[int64]part{}
	}
	p := (*to)[above]
	if *p.at(key) != nil {
		return fmt.Errorf("the price for prompts above %d tokens stands twice", above)
	}
	*p.at(key) = &d
	(*to)[above] = p
	return nil
}

// fill puts the prices into e. A price that is not given for long prompts is
// the base's; one that is not given for batches is the ordinary one.
func (s *priceSet) fill(e *Entry) error {
	base := s.standard[0]
	e.Rates = base.rates()
	thresholds := slices.Sorted(maps.Keys(s.standard))
	for n := range s.batch {
		if !slices.Contains(thresholds, n) {
			thresholds = append(thresholds, n)
		}
	}
	slices.Sort(thresholds)
	batch := s.batch[0]
	if len(s.batch) > 0 {
		if batch.in == nil || batch.out == nil {
			return errors.New("batch prices need batch_in and batch_out")
		}
		e.Batch = &Batch{Rates: batch.over(base).rates()}
	}
	for _, n := range thresholds {
		if n == 0 {
			continue
		}
		long := s.standard[n].over(base)
		e.Tiers = append(e.Tiers, Tier{n, long.rates()})
		if e.Batch != nil {
			e.Batch.Tiers = append(e.Batch.Tiers, Tier{n, s.batch[n].over(batch).over(long).rates()})
		}
	}
	return nil
}

// ParseEntry reads prices by name, in decimals of USD per million tokens:
//
//	in, cached_in, out           the three rates
//	cache_write, cache_write_1h  of input written to a cache, and to one that keeps it for an hour
//	batch_in, batch_out, …       the same through the provider's batch API
//
// each also with a suffix such as _above_200k, for requests whose prompt is
// longer than 200,000 tokens. What is not given falls back: long prompts to the
// base key, cached input to in, cache_write_1h to cache_write to in, batches to
// the ordinary price. Without in or out, what needs them has no price; it is not
// free. The error is a [*FieldError].
func ParseEntry(prices map[string]string) (Entry, error) {
	var s priceSet
	for _, name := range slices.Sorted(maps.Keys(prices)) {
		err := errNoPriceKey
		if isPrice(name) {
			err = s.set(name, prices[name], 0)
		}
		if err != nil {
			return Entry{}, &FieldError{Field: name, Value: prices[name], Err: err}
		}
	}
	var e Entry
	if err := s.fill(&e); err != nil {
		return Entry{}, &FieldError{Err: err}
	}
	return e, nil
}

var errNoPriceKey = fmt.Errorf("no price has this name; they are %s, each also with the prefix batch_ and a suffix such as _above_200k", strings.Join(keys, ", "))
