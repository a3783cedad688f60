package price_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/price"
)

func known(in, cached, out, reasoning int64) llm.Usage {
	return llm.Usage{Input: in, CachedInput: cached, Output: out, Reasoning: reasoning, Known: true}
}

func TestCost(t *testing.T) {
	rows := []struct {
		name, reason string
		rates        price.Rates
		usage        llm.Usage
		want         string // "" is unknown
	}{
		{"U01", "cached input is priced once", price.PerMillion("2.5", "1.25", "10"), known(2006, 1920, 300, 0), "0.005615"},
		{"U05", "reasoning is in the output already", price.PerMillion("30", "", "180"), known(14746, 0, 1944, 1360), "0.7923"},
		{"U14", "tiny prices keep all digits", price.PerMillion("1.4", "0.26", "4.4"), known(27147, 27146, 351, 0), "0.00860376"},
		{"U10 unknown usage", "unknown is not free", price.PerMillion("1", "1", "1"), llm.Usage{}, ""},
		{"nothing used", "zero is known", price.PerMillion("1", "1", "1"), known(0, 0, 0, 0), "0"},
		{"no cached rate", "cached input then costs the same", price.PerMillion("2", "", "0"), known(1000000, 500000, 0, 0), "2"},
		{"own server", "the zero value is free", price.Rates{}, known(5, 0, 5, 0), "0"},
		{"cached above input", "a contradiction has no price", price.PerMillion("1", "1", "1"), known(5, 6, 0, 0), ""},
		{"reasoning above output", "a contradiction has no price", price.PerMillion("1", "1", "1"), known(5, 0, 1, 2), ""},
		{"negative", "a contradiction has no price", price.PerMillion("1", "1", "1"), known(-5, -6, 0, 0), ""},
		{"negative reasoning", "a contradiction has no price", price.PerMillion("1", "1", "1"), known(5, 0, 1, -1), ""},
		{"one token", "a millionth of the rate", price.PerMillion("0.000001", "", "0"), known(1, 0, 0, 0), "0.000000000001"},
		{"huge", "no overflow", price.PerMillion("1000000000", "", "0"), known(1<<52, 0, 0, 0), "4503599627370496000"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			usd, ok := r.rates.Cost(r.usage)
			assert.Equal(t, r.want != "", ok, r.reason)
			if ok {
				assert.Equal(t, r.want, usd.String(), r.reason)
			}
		})
	}
}

func TestCostOfCacheWrites(t *testing.T) {
	write, hour := usd("3.75"), usd("6")
	rates := price.PerMillion("3", "0.3", "15")
	both := rates
	both.CacheWrite, both.CacheWriteHour = &write, &hour
	one := rates
	one.CacheWrite = &write
	million := func(cached, writes, hours int64) llm.Usage {
		return llm.Usage{Known: true, Input: 1000000, CachedInput: cached, CacheWrite: writes, CacheWriteHour: hours}
	}
	for _, row := range []struct {
		name, reason string
		rates        price.Rates
		usage        llm.Usage
		want         string
	}{
		{"none written", "the other rates", both, million(500000, 0, 0), "1.65"},
		{"written", "each token is priced once", both, million(500000, 500000, 0), "2.025"},
		{"for an hour", "at its own rate", both, million(0, 1000000, 400000), "4.65"},
		{"no hour rate", "costs what other writes do", one, million(0, 1000000, 400000), "3.75"},
		{"no write rate", "costs what other input does", rates, million(0, 1000000, 400000), "3"},
		{"more than is left", "a contradiction has no price", both, million(500000, 500001, 0), ""},
		{"more for an hour than written", "a contradiction has no price", both, million(0, 1, 2), ""},
		{"negative", "a contradiction has no price", both, million(0, -1, -1), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, ok := row.rates.Cost(row.usage)
			require.Equal(t, row.want != "", ok, row.reason)
			if ok {
				assert.Equal(t, row.want, got.String(), row.reason)
			}
		})
	}
	e := entry(t, prices{"cache_write": "2", "out": "1"})
	_, ok := e.Cost(llm.Usage{Known: true, Input: 5, CacheWrite: 5})
	assert.True(t, ok, "no price of other input is needed")
	e = entry(t, prices{"cached_in": "2", "out": "1"})
	_, ok = e.Cost(llm.Usage{Known: true, Input: 5, CacheWrite: 5})
	assert.False(t, ok, "neither of writes nor of input there is a price")
	_, ok = entry(t, prices{"cache_write_1h": "2"}).Cost(llm.Usage{Known: true, Input: 5, CacheWrite: 5, CacheWriteHour: 4})
	assert.False(t, ok, "one token is not kept for an hour")
}

func TestNewRefuses(t *testing.T) {
	for name, in := range map[string][3]string{
		"empty input": {"", "", "1"}, "empty output": {"1", "", ""}, "text": {"cheap", "", "1"}, "negative": {"1", "-1", "1"},
		"NaN": {"NaN", "", "1"}, "infinite": {"1", "", "Inf"}, "huge exponent": {"1e999999999", "", "1"}, "tiny exponent": {"1", "1e-999999999", "1"},
		"absurd": {"1", "", "1000000001"}, "endless": {"0." + strings.Repeat("1", 200), "", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := price.New(in[0], in[1], in[2])
			require.ErrorIs(t, err, price.ErrRate)
			assert.Panics(t, func() { price.PerMillion(in[0], in[1], in[2]) })
		})
	}
}

func FuzzNew(f *testing.F) {
	for _, s := range []string{"1", "0.075", "1e-7", "1e999999999", "-1", "", "０.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := price.New(s, "", s)
		if err != nil {
			return
		}
		usd, ok := r.Cost(known(3, 1, 2, 0))
		if !ok || usd.IsNegative() || len(usd.String()) > 200 {
			t.Errorf("rate %q gives %v, %v", s, usd, ok)
		}
	})
}
