package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/price"
	"github.com/goevals/evals/llm/wire"
)

// A costRow is one call to price, as it stands in the input.
type costRow struct {
	Provider jsontext.Value `json:"provider"`
	Model    jsontext.Value `json:"model"`
	Usage    jsontext.Value `json:"usage"`
	Prices   jsontext.Value `json:"prices_per_million"`
	At       jsontext.Value `json:"at"`

	provider, model string
	usage           llm.Usage
	warnings        []string
	prices          *price.Entry // nil if the row gives none
	at              time.Time    // zero if the row gives none
	usd             string       // empty if unknown
}

// parseCostRow reads a line. With an error the row is empty.
func parseCostRow(line []byte) (*costRow, error) {
	r := &costRow{}
	if err := json.Unmarshal(line, r, jsontext.AllowInvalidUTF8(true)); err != nil {
		return &costRow{}, syntax(err, line)
	}
	for _, field := range []struct {
		name string
		read func() error
	}{
		{"provider", func() (err error) { r.provider, err = word(r.Provider); return }},
		{"model", func() (err error) { r.model, err = word(r.Model); return }},
		{"usage", r.readUsage},
		{"prices_per_million", r.readPrices},
		{"at", r.readTime},
	} {
		if err := field.read(); err != nil {
			return &costRow{}, fmt.Errorf("field %q: %w", field.name, err)
		}
	}
	return r, nil
}

func (r *costRow) readUsage() error {
	raw := []byte(r.Usage)
	r.usage, r.warnings = wire.ReadUsage(raw)
	if !absent(r.Usage) {
		r.usd = wire.ReadCost(raw) // who sends the bill knows best
	}
	return nil
}

// readPrices takes numbers by their digits, never through a float.
func (r *costRow) readPrices() error {
	if absent(r.Prices) {
		return nil
	}
	if r.Prices.Kind() != '{' {
		return fmt.Errorf(`it is %s; write an object such as {"in":2.5,"cached_in":1.25,"out":10}`, kind(r.Prices))
	}
	var given map[string]jsontext.Value
	if err := json.Unmarshal(r.Prices, &given, jsontext.AllowInvalidUTF8(true)); err != nil {
		return plain(err)
	}
	prices := map[string]string{}
	for name, v := range given {
		switch v.Kind() {
		case 'n': // not given
		case '0', '"':
			s, err := text(v)
			if err != nil {
				return err
			}
			prices[name] = s
		default:
			return fmt.Errorf("%q is %s; write a number of USD per million tokens, or a decimal in a string", name, kind(v))
		}
	}
	e, err := price.ParseEntry(prices)
	r.prices = &e
	return err
}

func (r *costRow) readTime() error {
	s, err := word(r.At)
	if err != nil || s == "" {
		return err
	}
	if r.at, err = time.Parse(time.RFC3339, s); err != nil {
		return fmt.Errorf("%q is no time; write such as 2026-08-27T12:00:00Z", s)
	}
	return nil
}

// price is what the call cost, by the row's prices, else by the table; model is
// that of rows that name none. An error says why it is unknown.
func (r *costRow) price(table *price.Table, model string) (decimal.Decimal, error) {
	if r.prices != nil && r.usage.Known {
		usd, ok := r.prices.Cost(r.usage)
		if !ok {
			return usd, errors.New("prices_per_million lacks a price that the usage needs")
		}
		return usd, nil
	}
	if r.model != "" {
		model = r.model
	}
	return table.On(r.provider).Cost(model, r.usage, r.at)
}

// costLine is one line of output.
type costLine struct {
	Input     *int64  `json:"input"`
	Cached    *int64  `json:"cached"`
	Output    *int64  `json:"output"`
	Reasoning *int64  `json:"reasoning"`
	USD       *string `json:"usd"`
	Error     string  `json:"error,omitempty"`
}

// line encodes a priced row, with its newline, or what kept it from being one.
func (r *costRow) line(why error) []byte {
	var out costLine
	if why != nil {
		out.Error = why.Error()
	}
	if u := r.usage; u.Known {
		out.Input, out.Cached, out.Output, out.Reasoning = &u.Input, &u.CachedInput, &u.Output, &u.Reasoning
	}
	if r.usd != "" {
		out.USD = &r.usd
	}
	b, err := json.Marshal(out, jsontext.AllowInvalidUTF8(true))
	if err != nil { // numbers and valid text: cannot be
		b = []byte(`{"input":null,"cached":null,"output":null,"reasoning":null,"usd":null,"error":` + strconv.QuoteToASCII(err.Error()) + `}`)
	}
	return append(printable(b), '\n')
}
