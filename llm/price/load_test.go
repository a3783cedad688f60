package price_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/price"
)

// load writes a file and loads it.
func load(t testing.TB, text string) (*price.Table, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return price.Load(path)
}

func TestLoad(t *testing.T) {
	for _, row := range []struct {
		name, reason, text string
		id                 string
		input              int64
		want               string // for input tokens, half of them cached, and a million of output; "" is unknown
	}{
		{"TSV", "as the table that comes along", "model\tin\tcached_in\tout\ngpt-4o\t2\t1\t10\n", "gpt-4o-2024-08-06", 1000000, "11.5"},
		{"columns in any order", "the first line names them", "out\tmodel\tin\n10\tm\t2\n", "m", 1000000, "12"},
		{"comments and blank lines", "as in the table that comes along", "# ours\n\nmodel\tin\tout\n# more\nm\t2\t10\n", "m", 1000000, "12"},
		{"Windows", "BOM and CRLF", "\xef\xbb\xbfmodel\tin\tout\r\nm\t2\t10\r\n", "m", 1000000, "12"},
		{"empty cell", "not given", "model\tin\tcached_in\tout\nm\t2\t\t\n", "m", 1000000, ""},
		{"tier by row", "above", "model\tabove\tin\tout\nm\t\t1\t1\nm\t200000\t2\t\n", "m", 200002, "1.400004"},
		{"tier by column", "the same", "model\tin\tin_above_200k\tout\nm\t1\t2\t1\n", "m", 200002, "1.400004"},
		{"provider", "its rows count for it", "provider\tmodel\tin\tout\nazure\tours\t2\t10\n", "azure/ours", 1000000, "12"},
		{"aliases", "all of them", "model\taliases\tin\tout\nm\tn o\t2\t10\n", "o", 1000000, "12"},
		{"JSON list", "numbers keep their digits", `[{"model":"m","in":2.00000000000000000001,"out":"10"}]`, "m", 1000000, "12.00000000000000000001"},
		{"JSON lines", "one a line", `{"model":"x","in":1,"out":1}` + "\n" + `{"model":"m","in":2,"cached_in":null,"out":10}`, "m", 1000000, "12"},
		{"JSON tier", "by key", `{"model":"m","in":1,"in_above_200k":2,"out":1}`, "m", 200002, "1.400004"},
		{"JSON aliases", "a list", `[{"model":"m","aliases":["n","o"],"in":2,"out":10}]`, "o", 1000000, "12"},
		{"JSON empty list", "overrides nothing", `[]`, "gpt-4o", 1000000, "11.875"},
		{"empty file", "overrides nothing", "", "gpt-4o", 1000000, "11.875"},
		{"others stay", "an override is no replacement of the table", "model\tin\tout\nm\t2\t10\n", "gpt-4o", 1000000, "11.875"},
	} {
		t.Run(row.name, func(t *testing.T) {
			table, err := load(t, row.text)
			require.NoError(t, err)
			usd, err := table.Cost(row.id, known(row.input, row.input/2, 1000000, 0), time.Time{})
			if row.want == "" {
				assert.ErrorIs(t, err, price.ErrNoPrice, row.reason)
				return
			}
			require.NoError(t, err, row.reason)
			assert.Equal(t, row.want, usd.String(), row.reason)
		})
	}
}

func TestLoadMeta(t *testing.T) {
	table, err := load(t, "provider\tmodel\tfrom\tin\tout\tpeak\tas_of\tsource\tvia\n"+
		"Acme\tm\t\t1\t1\t\t2026-01-01\thttps://acme.example/prices\t\n"+
		"acme\tm\t2026-02-01T12:00:00+01:00\t2\t2\tx3 mon-fri 08:00-24:00 except 2026-02-03\t2026-02-02\thttps://acme.example/prices\tsomebody\n")
	require.NoError(t, err)
	before, ok := table.FindAt("m", time.Date(2026, 2, 1, 10, 59, 59, 0, time.UTC))
	require.True(t, ok)
	assert.Equal(t, "1", before.Input.String())
	after, ok := table.FindAt("acme/m", time.Date(2026, 2, 2, 23, 59, 0, 0, time.UTC))
	require.True(t, ok)
	assert.Equal(t, "6", after.Input.String())
	assert.Equal(t, day("2026-02-02"), after.AsOf)
	assert.Equal(t, "https://acme.example/prices by somebody", after.Source+" by "+after.Via)
	after, _ = table.FindAt("m", time.Date(2026, 2, 3, 23, 59, 0, 0, time.UTC))
	assert.Equal(t, "2", after.Input.String(), "a holiday")
}

func TestLoadRefuses(t *testing.T) {
	const head = "model\tin\tout\n"
	for _, row := range []struct {
		name, text string
		line       int
		field      string
		value      string
		want       string
	}{
		{"unknown column", "model\tinput\n", 1, "column", "input", "they are provider, model"},
		{"column twice", "model\tin\tin\n", 1, "column", "in", "stands twice"},
		{"spaces for tabs", head + "m 2 10\n", 2, "", "", "1 cells, the first line 3"},
		{"too many cells", head + "m\t2\t10\t\n", 2, "", "", "4 cells, the first line 3"},
		{"no model", head + "\t2\t10\n", 2, "model", "", "it is missing"},
		{"no model column", "in\tout\n2\t10\n", 2, "model", "", "it is missing"},
		{"negative", head + "m\t2\t10\nn\t-2\t10\n", 3, "in", "-2", "want 0 or more"},
		{"money", head + "m\t$2\t10\n", 2, "in", "$2", "want a decimal number"},
		{"comma", head + "m\t2,5\t10\n", 2, "in", "2,5", "want a decimal number"},
		{"twice", head + "m\t2\t10\nm\t3\t10\n", 3, "model", "m", "in line 2 already"},
		{"tier first", "model\tabove\tin\nm\t200000\t2\n", 2, "above", "200000", "must stand before it"},
		{"tier twice", "model\tabove\tin\nm\t\t2\nm\t5\t2\nm\t5\t3\n", 4, "in", "3", "stands twice"},
		{"tier in a tier", "model\tabove\tin\tin_above_200k\nm\t\t2\t\nm\t5\t2\t3\n", 3, "in_above_200k", "3", "threshold in above already"},
		{"tier's aliases", "model\tabove\tin\taliases\nm\t\t2\t\nm\t5\t2\tn\n", 3, "aliases", "n", "the model's row"},
		{"above no number", "model\tabove\tin\nm\t200k\t2\n", 2, "above", "200k", "whole number"},
		{"above 0", "model\tabove\tin\nm\t0\t2\n", 2, "above", "0", "1 or more"},
		{"half a batch", "model\tin\tout\tbatch_in\nm\t2\t10\t1\n", 2, "model", "m", "need batch_in and batch_out"},
		{"no day", "model\tfrom\nm\tyesterday\n", 2, "from", "yesterday", "want a day"},
		{"no such day", "model\tas_of\nm\t2026-02-30\n", 2, "as_of", "2026-02-30", "want a day"},
		{"peak without hours", "model\tpeak\nm\tx2\n", 2, "peak", "x2", "no hours"},
		{"peak without factor", "model\tpeak\nm\t01:00-02:00\n", 2, "peak", "01:00-02:00", "want such as"},
		{"peak's factor", "model\tpeak\nm\tx-2 01:00-02:00\n", 2, "peak", "x-2 01:00-02:00", "want 0 or more"},
		{"peak backwards", "model\tpeak\nm\tx2 02:00-01:00\n", 2, "peak", "x2 02:00-01:00", "no part of a day"},
		{"peak's hour", "model\tpeak\nm\tx2 25:00-26:00\n", 2, "peak", "x2 25:00-26:00", "no part of a day"},
		{"peak's holiday", "model\tpeak\nm\tx2 01:00-02:00 except xmas\n", 2, "peak", "x2 01:00-02:00 except xmas", "no day"},

		{"JSON syntax", "[\n{\"model\":\"m\",\n\"in\":}]", 3, "", "", "it is not JSON"},
		{"JSON cut", "[\n{\"model\":\"m\"", 2, "", "", "it is not JSON"},
		{"JSON unknown key", "[\n{\"model\":\"m\",\n\"input\":1}]", 3, "input", "1", "they are provider, model"},
		{"JSON key twice", "{\"model\":\"m\",\"in\":1,\"in\":2}", 1, "", "", "it is not JSON"},
		{"JSON negative", "[\n{\"model\":\"m\",\"in\":1},\n{\"model\":\"n\",\"in\":-1}]", 3, "in", "-1", "want 0 or more"},
		{"JSON boolean", "{\"model\":true}", 1, "model", "true", "want a string"},
		{"JSON object", "{\"model\":\"m\",\"in\":{\"usd\":1}}", 1, "in", `{"usd":1}`, "want a string"},
		{"JSON list of numbers", "{\"model\":\"m\",\"aliases\":[1]}", 1, "aliases", "[1]", "want a string"},
		{"JSON no model", "{\"in\":1}", 1, "model", "", "it is missing"},
		{"JSON text in the list", "[\"gpt-4o\"]", 1, "", "", "is no row"},
		{"JSON list in the list", "[[{\"model\":\"m\"}]]", 1, "", "", "a list in a list"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := load(t, row.text)
			require.ErrorIs(t, err, price.ErrRate)
			var fe *price.FieldError
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, row.line, fe.Line, "%v", err)
			assert.Equal(t, row.field, fe.Field, "%v", err)
			assert.Equal(t, row.value, fe.Value, "%v", err)
			assert.ErrorContains(t, err, row.want)
			assert.Regexp(t, `prices:\d+: `, err.Error(), "file and line")
		})
	}
	_, err := price.Load(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = load(t, strings.Repeat("#\n", 9<<20))
	assert.ErrorContains(t, err, "larger than 16 MiB")
}

func FuzzLoad(f *testing.F) {
	text, err := os.ReadFile("table.tsv")
	require.NoError(f, err)
	f.Add(text)
	for _, s := range []string{
		"model\tabove\tin\nm\t\t2\nm\t5\t2\n", `[{"model":"m","in":1,"in_above_200k":2,"out":1,"aliases":["n"]}]`, `{"model":"m","in":1e9}{"model":"n"}`,
		"model\tpeak\nm\tx2 mon-fri 01:00-24:00 except 2026-02-03\n", "model\tbatch_in\tbatch_out\nm\t1\t2\n", "[", "{", "\xef\xbb\xbf", `[{"model":"\ud800"}]`,
	} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "prices")
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(path, text, 0o666))
		table, err := price.Load(path)
		if err != nil {
			require.ErrorIs(t, err, price.ErrRate)
			return
		}
		for _, e := range table.Entries() {
			if e.Source != "" {
				continue // the default's
			}
			usd, ok := e.At(time.Date(2026, 11, 27, 2, 0, 0, 0, time.UTC)).Cost(known(300_000, 5, 7, 1))
			if ok && (usd.IsNegative() || len(usd.String()) > 200) {
				t.Errorf("%q costs %v", e.Model, usd)
			}
		}
	})
}

func FuzzParseEntry(f *testing.F) {
	f.Add("in", "1", "out_above_200k", "2e-3")
	f.Add("batch_in", "1", "batch_out", "2")
	f.Add("cached_in_above_1", "0", "cache_write_1h", "00.1")
	f.Add("in_above_999999999k", "1e9", "in_above_0", "")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		e, err := price.ParseEntry(prices{k1: v1, k2: v2})
		if err != nil {
			require.ErrorIs(t, err, price.ErrRate)
			return
		}
		for _, n := range []int64{0, 1, 200_001, 1 << 50} {
			if usd, ok := e.Cost(known(n, n/2, n, 0)); ok && (usd.IsNegative() || len(usd.String()) > 200) {
				t.Errorf("%d tokens cost %v", n, usd)
			}
		}
	})
}
