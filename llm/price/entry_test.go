package price_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/price"
)

type prices = map[string]string

// entry reads "in=2 in_above_200k=4".
func entry(t *testing.T, p prices) price.Entry {
	t.Helper()
	e, err := price.ParseEntry(p)
	require.NoError(t, err)
	return e
}

func TestEntryCost(t *testing.T) {
	pro := prices{"in": "1.25", "in_above_200k": "2.5", "cached_in": "0.125", "cached_in_above_200k": "0.25", "out": "10", "out_above_200k": "15"}
	for _, row := range []struct {
		name, reason string
		prices       prices
		usage        llm.Usage
		want         string // "" is unknown
	}{
		{"low tier", "200,000 is not above 200,000", pro, known(200000, 0, 1000, 0), "0.26"},
		{"high tier", "the whole request costs the tier's rates, output too", pro, known(200001, 0, 1000, 0), "0.5150025"},
		{"cached in the high tier", "the prompt's size counts, cached tokens included", pro, known(250000, 200000, 1000, 0), "0.19"},
		{"long output", "output decides no tier", pro, known(1000, 0, 300000, 0), "3.00125"},
		{"only in above", "other keys fall back to the base", prices{"in": "2", "in_above_200k": "4", "cached_in": "1", "out": "3"}, known(300000, 100000, 1000000, 0), "3.9"},
		{"only out above", "other keys fall back to the base", prices{"in": "2", "out": "3", "out_above_200k": "6"}, known(300000, 0, 1000000, 0), "6.6"},
		{"only cached above", "other keys fall back to the base", prices{"in": "2", "cached_in": "0.5", "cached_in_above_200k": "1", "out": "0"}, known(300000, 300000, 0, 0), "0.3"},
		{"no cached rate in a tier", "cached input costs what other input does there", prices{"in": "2", "in_above_200k": "4", "out": "0"}, known(300000, 300000, 0, 0), "1.2"},
		{"two tiers", "the highest that the prompt exceeds", prices{"in": "1", "in_above_100k": "2", "in_above_200k": "3", "out": "0"}, known(200001, 0, 0, 0), "0.600003"},
		{"between two tiers", "the lower of them", prices{"in": "1", "in_above_100k": "2", "in_above_200k": "3", "out": "0"}, known(200000, 0, 0, 0), "0.4"},
		{"threshold without k", "the same in tokens", prices{"in": "1", "in_above_199999": "2", "out": "0"}, known(200000, 0, 0, 0), "0.4"},
		{"no out, no output", "nothing needs the price", prices{"in": "2"}, known(1000000, 0, 0, 0), "2"},
		{"no out, but output", "unknown, not free", prices{"in": "2"}, known(10, 0, 1, 0), ""},
		{"no in, no input", "nothing needs the price", prices{"out": "2"}, known(0, 0, 1000000, 0), "2"},
		{"no in, but input", "unknown, not free", prices{"out": "2"}, known(1, 0, 1, 0), ""},
		{"no in, all cached", "cached input has a price of its own", prices{"cached_in": "1", "out": "2"}, known(1000000, 1000000, 0, 0), "1"},
		{"out above only", "short prompts have no price for output", prices{"in": "1", "out_above_200k": "2"}, known(10, 0, 10, 0), ""},
		{"nothing given", "nothing known", prices{}, known(1, 0, 0, 0), ""},
		{"nothing given, nothing used", "nothing costs nothing", prices{}, known(0, 0, 0, 0), "0"},
		{"free", "0 is a price", prices{"in": "0", "out": "0"}, known(1000, 0, 1000, 0), "0"},
		{"scientific", "read exactly", prices{"in": "2.5e0", "out": "1E1"}, known(1000000, 0, 1000000, 0), "12.5"},
		{"many digits", "no float holds them", prices{"in": "0.123456789012345678901234567", "out": "0"}, known(1000000, 0, 0, 0), "0.123456789012345678901234567"},
		{"unknown usage", "unknown is not free", pro, llm.Usage{}, ""},
		{"contradiction", "a part larger than its whole", pro, known(1, 2, 0, 0), ""},
		{"huge", "no overflow", prices{"in": "1000000000", "out": "0"}, known(1<<52, 0, 0, 0), "4503599627370496000"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, ok := entry(t, row.prices).Cost(row.usage)
			require.Equal(t, row.want != "", ok, row.reason)
			if ok {
				assert.Equal(t, row.want, got.String(), row.reason)
			}
		})
	}
}

func TestEntryMarginal(t *testing.T) {
	e := entry(t, prices{"in": "2", "in_above_200k": "4", "cached_in": "1", "cached_in_above_200k": "3", "out": "10", "out_above_200k": "20",
		"cache_write": "3", "cache_write_above_200k": "5", "cache_write_1h": "6", "cache_write_1h_above_200k": "10"})
	e.Marginal = true
	for _, row := range []struct {
		name, reason string
		usage        llm.Usage
		want         string
	}{
		{"case U08", "the tokens beyond the threshold alone cost more", known(250000, 0, 0, 0), "0.6"},
		{"boundary", "none lies beyond", known(200000, 0, 0, 0), "0.4"},
		{"one beyond", "one costs more", known(200001, 0, 0, 0), "0.400004"},
		{"cached first", "what is cached is the prompt's beginning", known(250000, 100000, 0, 0), "0.5"},
		{"cached beyond", "the end of it lies beyond", known(250000, 250000, 0, 0), "0.35"},
		{"output", "priced by where the prompt ends", known(200001, 0, 1000000, 0), "20.400004"},
		{"nothing", "nothing costs nothing", known(0, 0, 0, 0), "0"},
		{"written", "follows what is cached", llm.Usage{Known: true, Input: 250000, CachedInput: 190000, CacheWrite: 20000, CacheWriteHour: 15000}, "0.495"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, ok := e.Cost(row.usage)
			require.True(t, ok)
			assert.Equal(t, row.want, got.String(), row.reason)
		})
	}
	_, ok := price.Entry{Marginal: true}.Cost(known(1, 2, 0, 0))
	assert.False(t, ok, "a contradiction has no price in any mode")
	_, ok = func() (decimal.Decimal, bool) {
		e := entry(t, prices{"in": "2", "in_above_200k": "4"})
		e.Marginal = true
		return e.Cost(known(250000, 0, 1, 0))
	}()
	assert.False(t, ok, "no price for output")
}

func TestEntryInBatch(t *testing.T) {
	_, ok := entry(t, prices{"in": "2", "out": "4"}).InBatch()
	assert.False(t, ok, "no batch price is known: half is a guess")
	for _, row := range []struct {
		name, reason string
		prices       prices
		usage        llm.Usage
		want         string
	}{
		{"half", "batch rates as given", prices{"in": "2", "out": "4", "batch_in": "1", "batch_out": "2"}, known(1000000, 0, 1000000, 0), "3"},
		{"cached not given", "the ordinary price of cached input", prices{"in": "2", "cached_in": "0.2", "out": "4", "batch_in": "1", "batch_out": "2"}, known(1000000, 1000000, 0, 0), "0.2"},
		{"cached given", "rounded by the provider, not half", prices{"in": "2.5", "cached_in": "0.25", "out": "4", "batch_in": "1.25", "batch_cached_in": "0.13", "batch_out": "2"}, known(1000000, 1000000, 0, 0), "0.13"},
		{"tier", "long prompts have batch rates of their own", prices{"in": "2", "out": "4", "in_above_200k": "4", "cached_in": "0.2", "cached_in_above_200k": "0.4", "batch_in": "1", "batch_out": "2", "batch_in_above_200k": "2"}, known(1000000, 500000, 1000000, 0), "3.2"},
		{"thresholds of batches alone", "each counts, in any order of the keys", prices{"in": "9", "out": "9", "in_above_300k": "10", "batch_in": "1", "batch_out": "1", "batch_in_above_100k": "2", "batch_in_above_200k": "3", "batch_in_above_250k": "4", "batch_in_above_400k": "5", "batch_in_above_500k": "6", "batch_in_above_600k": "7"}, known(1000000, 0, 0, 0), "7"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, ok := entry(t, row.prices).InBatch()
			require.True(t, ok)
			got, ok := b.Cost(row.usage)
			require.True(t, ok)
			assert.Equal(t, row.want, got.String(), row.reason)
			_, ok = b.InBatch()
			assert.False(t, ok, "a batch within a batch is none")
		})
	}
}

func TestParseEntryRefuses(t *testing.T) {
	for _, row := range []struct {
		name   string
		prices prices
		field  string
		want   string
	}{
		{"unknown key", prices{"input": "1"}, "input", "they are in, cached_in, out"},
		{"misspelled suffix", prices{"in_over_200k": "1"}, "in_over_200k", "no price has this name"},
		{"negative", prices{"in": "1", "out": "-1"}, "out", "want 0 or more"},
		{"no number", prices{"in": "cheap"}, "in", "want a decimal number"},
		{"NaN", prices{"in": "NaN"}, "in", "want a decimal number"},
		{"empty", prices{"in": ""}, "in", "want a decimal number"},
		{"huge", prices{"in": "1e12"}, "in", "at most a billion"},
		{"huge exponent", prices{"in": "1e999999999"}, "in", "want a decimal number"},
		{"threshold 0", prices{"in_above_0k": "1"}, "in_above_0k", "more than 0 tokens"},
		{"the same twice", prices{"in_above_200k": "1", "in_above_200000": "2"}, "in_above_200k", "stands twice"},
		{"half a batch", prices{"in": "1", "out": "1", "batch_in": "1"}, "", "need batch_in and batch_out"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := price.ParseEntry(row.prices)
			require.ErrorIs(t, err, price.ErrRate)
			var fe *price.FieldError
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, row.field, fe.Field)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestPeak(t *testing.T) {
	at := func(s string) time.Time {
		tm, err := time.Parse("2006-01-02 15:04:05 -0700", s)
		require.NoError(t, err)
		return tm
	}
	e, ok := price.Default().Find("deepseek-flash")
	require.True(t, ok)
	require.NotNil(t, e.Peak)
	_, ok = e.Cost(known(1, 0, 1, 0))
	assert.False(t, ok, "without a time the price is not known")
	_, ok = e.At(time.Time{}).Cost(known(1, 0, 1, 0))
	assert.False(t, ok, "the zero time is no time")
	for _, row := range []struct{ reason, at, want string }{
		{"before the window", "2026-11-27 00:59:59 +0000", "0.15"},
		{"its first second", "2026-11-27 01:00:00 +0000", "0.3"},
		{"its last", "2026-11-27 03:59:59 +0000", "0.3"},
		{"its end is not in it", "2026-11-27 04:00:00 +0000", "0.15"},
		{"the second window", "2026-11-27 09:59:59 +0000", "0.3"},
		{"Saturday", "2026-11-28 08:00:00 +0000", "0.15"},
		{"Sunday", "2026-11-29 08:00:00 +0000", "0.15"},
		{"a holiday in China", "2026-10-05 08:00:00 +0000", "0.15"},
		{"the hour is UTC's", "2026-11-27 09:00:00 +0800", "0.3"},
		{"the day is UTC's", "2026-11-28 00:30:00 +0800", "0.15"},
	} {
		usd, ok := e.At(at(row.at)).Cost(known(1000000, 0, 0, 0))
		require.True(t, ok)
		assert.Equal(t, row.want, usd.String(), row.reason)
	}
	e = price.Entry{Rates: price.PerMillion("1", "", "1"), Peak: &price.Peak{Factor: usd("2"), Weekdays: true, Windows: []price.Window{{From: 0, To: 24 * time.Hour}}}}
	friday, ok := e.At(at("2026-11-28 03:00:00 +0800")).Cost(known(1000000, 0, 0, 0))
	require.True(t, ok)
	assert.Equal(t, "2", friday.String(), "where it is Saturday already, it is Friday in UTC")

	e = entry(t, prices{"in": "1", "in_above_200k": "2", "out": "3", "batch_in": "0.5", "batch_out": "1.5", "batch_in_above_200k": "1", "cache_write": "4"})
	e.Peak = &price.Peak{Factor: usd("3"), Windows: []price.Window{{From: 0, To: 24 * time.Hour}}}
	now := e.At(at("2026-11-27 09:00:00 +0800"))
	assert.Equal(t, "3 6 9 12", fmt.Sprint(now.Input, now.Tiers[0].Input, now.Output, now.CacheWrite), "all rates and tiers")
	assert.Equal(t, "1.5 3", fmt.Sprint(now.Batch.Input, now.Batch.Tiers[0].Input), "the batch's too")
	assert.Equal(t, "1 2 0.5 4", fmt.Sprint(e.Input, e.Tiers[0].Input, e.Batch.Input, e.CacheWrite), "the entry itself is unchanged")
}
