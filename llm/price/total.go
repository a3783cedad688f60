package price

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/llm"
)

// A Total is what several calls cost: exact where it is known, and "at least"
// where it is not. The zero value is no calls. Not safe for concurrent use.
type Total struct {
	// USD is the sum of the calls whose cost is known.
	USD decimal.Decimal
	// Calls is how many calls there were, Unknown how many of them have no cost.
	Calls, Unknown int

	models map[string]bool // those without a price; some of them
}

// maxModels is how many models without a price a total remembers.
const maxModels = 3

// Add counts a call that cost usd.
func (t *Total) Add(usd decimal.Decimal) {
	t.Calls++
	t.USD = t.USD.Add(usd)
}

// AddUnknown counts a call whose cost is not known. model is the one that has
// no price; empty if the usage is what is missing.
func (t *Total) AddUnknown(model string) {
	t.Calls++
	t.Unknown++
	t.name(model)
}

// AddResponse counts the call that resp answers, priced as [Table.Response]
// does.
func (t *Total) AddResponse(table *Table, resp llm.Response) {
	if usd, ok := table.Response(resp); ok {
		if d, err := decimal.NewFromString(usd); err == nil {
			t.Add(d)
			return
		}
	}
	if sound(resp.Usage) {
		t.AddUnknown(resp.Model)
	} else {
		t.AddUnknown("")
	}
}

func (t *Total) name(model string) {
	if model == "" || len(t.models) > maxModels {
		return
	}
	if t.models == nil {
		t.models = map[string]bool{}
	}
	t.models[model] = true
}

// Merge adds another total.
func (t *Total) Merge(other Total) {
	t.USD = t.USD.Add(other.USD)
	t.Calls += other.Calls
	t.Unknown += other.Unknown
	for m := range other.models {
		t.name(m)
	}
}

// String is the total as a person reads it: "$0.12" if all is known, "≥ $0.12 (3
// calls unpriced)" if some is not, "unknown (model X has no price)" if nothing
// is. The amount is exact.
func (t Total) String() string {
	switch {
	case t.Unknown == 0:
		return "$" + t.USD.String()
	case t.Unknown < t.Calls:
		if t.Unknown == 1 {
			return "≥ $" + t.USD.String() + " (1 call unpriced)"
		}
		return fmt.Sprintf("≥ $%s (%d calls unpriced)", t.USD, t.Unknown)
	case len(t.models) == 0:
		return "unknown (no usage was reported)"
	}
	var names []string
	for m := range t.models {
		if strings.IndexFunc(m, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			m = strconv.QuoteToASCII(m)
		}
		names = append(names, clip(m))
	}
	slices.Sort(names)
	if len(names) == 1 {
		return "unknown (model " + names[0] + " has no price)"
	}
	if len(names) > maxModels {
		names = append(names[:maxModels], "…")
	}
	return "unknown (models " + strings.Join(names, ", ") + " have no price)"
}
