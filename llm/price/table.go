package price

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/llm"
)

//go:embed table.tsv
var tableTSV []byte

var embedded = sync.OnceValue(func() *Table {
	entries, err := parse("table.tsv", tableTSV)
	if err != nil {
		panic(err) // TestTable reads it
	}
	return (&Table{}).With(entries...)
})

// A Table is what many models cost. It never changes: With, On and InBatch
// return another. Safe for concurrent use.
type Table struct {
	entries  []Entry
	ids      map[reading][]int // an id, and the entries that have it, ascending by From
	provider string            // that bare ids are of; empty for whoever made the model
	batch    bool
}

var (
	// ErrNoPrice is in the tree of the error for a call whose model has no
	// price, or not all prices that the call needs.
	ErrNoPrice = errors.New("no price")
	// ErrNoUsage is in the tree of the error for a call whose usage is unknown
	// or contradicts itself.
	ErrNoUsage = errors.New("no usage")
)

// Default is the table that comes with this version: list prices of OpenAI,
// Google, Anthropic, DeepSeek, Mistral, Groq, Together and others, each with
// the page that states it and a day. See [Table.Entries] for all of it. Prices
// change, and your contract may say otherwise: [Load] and [Table.With] override
// them.
func Default() *Table { return embedded() }

// With is the table with the given entries in it. An entry replaces the one
// with its provider and model, whenever that began, and keeps its aliases
// unless it has its own; an entry without a provider replaces the bare id's.
// Entries of one model in the same call that differ in From are a history. With
// panics if an entry has no model.
func (t *Table) With(entries ...Entry) *Table {
	type key struct{ provider, model string }
	given := map[key]bool{}
	entries = slices.Clone(entries)
	var aliases []reading // that a replacing entry takes over from others
	for i := range entries {
		e := &entries[i]
		if e.Model == "" {
			panic("price: Table.With: an entry has no model")
		}
		if e.Provider = canonical(e.Provider); e.Provider == "" {
			if at := t.ids[reading{"", e.Model}]; len(at) > 0 {
				e.Provider = t.entries[at[0]].Provider
			}
		}
		for _, old := range t.entries {
			if old.Provider == e.Provider && old.Model == e.Model && len(e.Aliases) == 0 {
				e.Aliases = old.Aliases
			}
		}
		given[key{e.Provider, e.Model}] = true
		for _, n := range append([]string{e.Model}, e.Aliases...) {
			aliases = append(aliases, reading{e.Provider, n})
		}
	}
	out := &Table{provider: t.provider, batch: t.batch, ids: map[reading][]int{}}
	for _, e := range t.entries {
		if given[key{e.Provider, e.Model}] {
			continue
		}
		e.Aliases = slices.DeleteFunc(slices.Clone(e.Aliases), func(n string) bool { return slices.Contains(aliases, reading{e.Provider, n}) })
		out.entries = append(out.entries, e)
	}
	out.entries = append(out.entries, entries...)
	slices.SortStableFunc(out.entries, func(a, b Entry) int { return a.From.Compare(b.From) })
	for i, e := range out.entries {
		for _, n := range append([]string{e.Model}, e.Aliases...) {
			out.add(reading{cmp.Or(e.Provider, nobody), n}, i)
			if !hosts[e.Provider] {
				out.add(reading{"", n}, i)
			}
		}
	}
	return out
}

func (t *Table) add(id reading, entry int) {
	if !slices.Contains(t.ids[id], entry) {
		t.ids[id] = append(t.ids[id], entry)
	}
}

// On is the table of one provider's prices: ids are looked up under it and
// under no other, so that "llama-3.3-70b-versatile" is found on "groq" and
// "gpt-4o" on "azure" only if you gave its price; an entry without a provider
// is on all of them. Without On, ids of providers that serve others' models
// must name the provider: "groq/openai/gpt-oss-20b". An empty name undoes it.
func (t *Table) On(provider string) *Table {
	out := *t
	out.provider = canonical(provider)
	return &out
}

// InBatch is the table with the prices of the providers' batch APIs. A model
// without them then has no price.
func (t *Table) InBatch() *Table {
	out := *t
	out.batch = true
	return &out
}

// Entries are all of the table, ascending by From; a copy.
func (t *Table) Entries() []Entry { return slices.Clone(t.entries) }

// Find is the price of a model as it was when the table was made. See
// [Table.FindAt].
func (t *Table) Find(model string) (Entry, bool) { return t.FindAt(model, time.Time{}) }

// FindAt is the price of a model at a time; the zero time is the day on which
// its prices were read. An id must be exactly one of an entry, letter for
// letter: "gpt-4o-mini" is never the price of "gpt-4o", and a dated snapshot has
// a price only if it is an alias. The longest reading of the id is tried first,
// then the id without what gateways put before it: "openai/gpt-4o" and the like
// name the provider, "models/gemini-2.5-flash" and
// "publishers/google/models/gemini-2.5-flash", also behind "projects/…", are
// Google's. A deployment or a tuned model has a price only if you give it one.
func (t *Table) FindAt(model string, at time.Time) (Entry, bool) {
	for r := range readings(model) {
		ids := []reading{r}
		if t.provider != "" {
			if r.provider != "" && r.provider != t.provider {
				continue
			}
			ids = []reading{{t.provider, r.model}, {nobody, r.model}}
		}
		for _, id := range ids {
			if e, ok := t.lookup(id, at); ok {
				return t.as(e)
			}
		}
	}
	return Entry{}, false
}

// nobody is the provider of entries that were given without one, in the index.
const nobody = "\x00"

// lookup is the entry that id had at a time.
func (t *Table) lookup(id reading, at time.Time) (Entry, bool) {
	for _, i := range slices.Backward(t.ids[id]) {
		e := t.entries[i]
		when := at
		if when.IsZero() {
			when = e.AsOf
		}
		if when.IsZero() || !e.From.After(when) {
			return e.At(at), true
		}
	}
	return Entry{}, false
}

func (t *Table) as(e Entry) (Entry, bool) {
	if t.batch {
		return e.InBatch()
	}
	return e, true
}

// Cost is what a call to a model at a time costs in USD, exactly. An error says
// why it is not known: [ErrNoPrice] or [ErrNoUsage] is in its tree.
func (t *Table) Cost(model string, u llm.Usage, at time.Time) (decimal.Decimal, error) {
	if !sound(u) {
		if u.Known {
			return decimal.Decimal{}, fmt.Errorf("%w: it contradicts itself: %d input, %d of it cached, %d output, %d of it reasoning", ErrNoUsage, u.Input, u.CachedInput, u.Output, u.Reasoning)
		}
		return decimal.Decimal{}, fmt.Errorf("%w was reported", ErrNoUsage)
	}
	e, ok := t.FindAt(model, at)
	switch {
	case model == "":
		return decimal.Decimal{}, fmt.Errorf("%w: no model is named", ErrNoPrice)
	case !ok && t.batch:
		return decimal.Decimal{}, fmt.Errorf("model %q has %w for batches%s", clip(model), ErrNoPrice, t.where())
	case !ok:
		return decimal.Decimal{}, fmt.Errorf("model %q has %w%s", clip(model), ErrNoPrice, t.where())
	case e.Peak != nil:
		return decimal.Decimal{}, fmt.Errorf("model %q has %w without a time: it has peak hours", clip(model), ErrNoPrice)
	}
	usd, ok := e.Cost(u)
	if !ok {
		return decimal.Decimal{}, fmt.Errorf("model %q has %w for part of what was used", clip(model), ErrNoPrice)
	}
	return usd, nil
}

func (t *Table) where() string {
	if t.provider == "" {
		return ""
	}
	return fmt.Sprintf(" on %q", clip(t.provider))
}

// Response is the cost of the call that resp answers, in USD, as an exact
// decimal: what the provider itself said, else what the table makes of the
// model, the usage and the time of the call. It has the shape that
// evaltest.Price wants. ok is false if the cost is not known; it is then not 0.
func (t *Table) Response(resp llm.Response) (usd string, ok bool) {
	if resp.CostUSD != "" {
		return resp.CostUSD, true
	}
	d, err := t.Cost(resp.Model, resp.Usage, resp.Timing.Start)
	if err != nil {
		return "", false
	}
	return d.String(), true
}
