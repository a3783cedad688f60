package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// priced is a line of output as somebody else would read it.
type priced struct {
	Input, Cached, Output, Reasoning *int64
	USD                              *string
	Error                            string
}

// pricedRows reads output, which must be whole JSON lines with all their keys.
func pricedRows(t testing.TB, text string) (rows []priced) {
	t.Helper()
	require.True(t, text == "" || strings.HasSuffix(text, "\n"), "a line is cut: %q", text)
	for l := range strings.Lines(text) {
		var keys map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(l), &keys), "%q", l)
		for _, k := range []string{"input", "cached", "output", "reasoning", "usd"} {
			require.Contains(t, keys, k)
		}
		var r priced
		require.NoError(t, json.Unmarshal([]byte(l), &r), "%q", l)
		rows = append(rows, r)
	}
	return rows
}

// text is a priced row in short: "10 5 20 0 $0.1", "?" for null.
func (p priced) String() string {
	word := func(n *int64) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	usd := "?"
	if p.USD != nil {
		usd = *p.USD
	}
	return strings.Join([]string{word(p.Input), word(p.Cached), word(p.Output), word(p.Reasoning), usd}, " ")
}

// costOf prices one row and returns it in short, with what was said of it.
func costOf(t testing.TB, row string, flags ...string) (short string, r ran) {
	t.Helper()
	r = evals(row, noEnv, append([]string{"cost"}, flags...)...)
	rows := pricedRows(t, r.stdout)
	require.Len(t, rows, 1, "%s\n%s", row, r.stderr)
	return rows[0].String(), r
}

func costs(t *testing.T, want, row string) {
	t.Helper()
	got, r := costOf(t, row)
	assert.Equal(t, want, got, "%s\n%s", row, r.stderr)
	assert.Equal(t, 0, r.code)
}

// The cases are what real users hit; their ids are those of the reports that
// were collected.

func TestCaseU01(t *testing.T) {
	costs(t, "2006 1920 300 0 0.005615", `{"provider":"openai","usage":{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920}},"prices_per_million":{"in":2.5,"cached_in":1.25,"out":10}}`)
}

func TestCaseU03(t *testing.T) {
	costs(t, "10 5 20 0 ?", `{"provider":"openai","usage":{"input_tokens":10,"cached_input_tokens":5,"output_tokens":20}}`)
	costs(t, "10 5 20 0 0.0000475", `{"provider":"openai","usage":{"input_tokens":10,"cached_input_tokens":5,"output_tokens":20},"prices_per_million":{"in":1,"cached_in":0.5,"out":2}}`)
}

func TestCaseU05(t *testing.T) {
	costs(t, "14746 0 1944 1360 0.7923", `{"provider":"openai","usage":{"prompt_tokens":14746,"completion_tokens":1944,"completion_tokens_details":{"reasoning_tokens":1360}},"prices_per_million":{"in":30,"out":180}}`)
}

func TestCaseU06(t *testing.T) {
	costs(t, "10 0 50 0 0.00016", `{"provider":"google","usage":{"promptTokenCount":10,"candidatesTokenCount":50,"totalTokenCount":60},"prices_per_million":{"in":1,"out":3}}`)
}

func TestCaseU08(t *testing.T) {
	const row = `{"provider":"google","usage":{"prompt_tokens":%d,"completion_tokens":0},"prices_per_million":{"in":2,"in_above_200k":4}}`
	costs(t, "250000 0 0 0 1", fmt.Sprintf(row, 250000))
	costs(t, "200000 0 0 0 0.4", fmt.Sprintf(row, 200000))
	costs(t, "200001 0 0 0 0.800004", fmt.Sprintf(row, 200001))
}

func TestCaseU10(t *testing.T) {
	got, r := costOf(t, `{"provider":"openai","model":"model-x","usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	assert.Equal(t, "1 0 1 0 ?", got, "a model without a price is not free")
	assert.Equal(t, "evals: standard input:1: no usd: model \"model-x\" has no price on \"openai\"\n"+howToPrice, r.stderr)
	got, r = costOf(t, `{"provider":"openai","model":"gpt-4o","usage":null}`)
	assert.Equal(t, "? ? ? ? ?", got, "an absent usage is not zero")
	assert.Equal(t, "evals: standard input:1: no usd: no usage was reported\n", r.stderr)
}

func TestCaseU11(t *testing.T) {
	r := evals(strings.Repeat(`{"provider":"openrouter","usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.01}}`+"\n", 2), noEnv, "cost")
	assert.Equal(t, strings.Repeat(`{"input":1,"cached":0,"output":1,"reasoning":0,"usd":"0.01"}`+"\n", 2), r.stdout, "each attempt that was billed is a row")
}

func TestCaseU14(t *testing.T) {
	const row = `{"provider":"openai","usage":{"prompt_tokens":27147,"completion_tokens":351,"prompt_tokens_details":{"cached_tokens":27146}},"prices_per_million":{"in":1.4,"cached_in":0.26,"out":4.4}}`
	costs(t, "27147 27146 351 0 0.00860376", row)
	const n = 10_000
	r := evals(strings.Repeat(row+"\n", n), noEnv, "cost")
	require.Equal(t, 0, r.code)
	sum := new(big.Rat)
	for _, p := range pricedRows(t, r.stdout) {
		usd, ok := new(big.Rat).SetString(*p.USD)
		require.True(t, ok)
		sum.Add(sum, usd)
	}
	assert.Equal(t, "86.0376", sum.FloatString(4), "the rows add up exactly")
	assert.True(t, sum.Cmp(big.NewRat(860376, 10000)) == 0)
}

func TestCaseU15(t *testing.T) {
	const row = `{"provider":"openai","usage":{"prompt_tokens":3,"completion_tokens":%s},"prices_per_million":{"in":1,"out":2}}`
	costs(t, "3 0 12 0 0.000027", fmt.Sprintf(row, "12.0"))
	for _, n := range []string{`"12"`, "12.5"} {
		got, r := costOf(t, fmt.Sprintf(row, n))
		assert.Equal(t, "? ? ? ? ?", got)
		assert.Contains(t, r.stderr, "completion_tokens is")
		assert.NotContains(t, r.stderr, "no usage was reported", "it was, and is told once")
		assert.Equal(t, 0, r.code, "it is data, not a mistake")
	}
}

// TestCasesCost prices the real usages of the shared cases as a user would.
func TestCasesCost(t *testing.T) {
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(dir, "cases", "cases.json"))
	if os.IsNotExist(err) {
		t.Skip("cases/cases.json is not here; it lies beside the project, in the folder that EVALTEST_SHARED names (default ../shared)")
	}
	require.NoError(t, err)
	var cases []struct {
		ID, Title string
		Fixtures  []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(text, &cases))
	seen := 0
	for _, c := range cases {
		for _, row := range c.Fixtures {
			var f struct {
				Grader string
				Want   string                                     `json:"expect_usd"`
				Expect struct{ Prompt, Cached, Completion int64 } `json:"expect"`
			}
			if json.Unmarshal(row, &f) != nil || f.Grader != "cost" && f.Grader != "usage" {
				continue // of another area, whose fields may have other types
			}
			seen++
			got, r := costOf(t, oneLine(t, row))
			words := strings.Fields(got)
			if f.Grader == "cost" {
				assert.Equal(t, f.Want, words[4], "%s %s: %s\n%s", c.ID, c.Title, row, r.stderr)
			} else {
				assert.Equal(t, fmt.Sprint(f.Expect.Prompt, " ", f.Expect.Cached, " ", f.Expect.Completion), strings.Join(words[:3], " "), "%s %s: %s", c.ID, c.Title, row)
			}
		}
	}
	assert.GreaterOrEqual(t, seen, 6)
}

func TestCost(t *testing.T) {
	p := func(s string) string { return `,"prices_per_million":{` + s + `}}` }
	abc := p(`"in":1,"cached_in":0.5,"out":2`)
	for _, row := range []struct{ name, reason, row, want, says string }{
		{"OpenAI", "reasoning is in the completion", `{"provider":"openai","usage":{"prompt_tokens":1000,"completion_tokens":500,"completion_tokens_details":{"reasoning_tokens":400}}` + abc, "1000 0 500 400 0.002", ""},
		{"OpenAI responses", "its other API", `{"provider":"openai","usage":{"input_tokens":75,"input_tokens_details":{"cached_tokens":60},"output_tokens":1186,"output_tokens_details":{"reasoning_tokens":1024},"total_tokens":1261}` + abc, "75 60 1186 1024 0.002417", ""},
		{"OpenAI, no details", "null is what servers send for what they do not count", `{"provider":"openai","usage":{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":null,"completion_tokens_details":null}` + abc, "3 0 1 0 0.000005", ""},
		{"DeepSeek", "its cache is a field of its own", `{"provider":"deepseek","usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}` + abc, "100 64 5 0 0.000078", ""},
		{"DeepSeek thinking", "reasoning is in the completion", `{"provider":"deepseek","usage":{"prompt_tokens":10,"completion_tokens":500,"total_tokens":510,"completion_tokens_details":{"reasoning_tokens":450}}` + abc, "10 0 500 450 0.00101", ""},
		{"OpenRouter", "what it says counts, whatever the prices", `{"provider":"openrouter","model":"x","usage":{"prompt_tokens":10,"completion_tokens":5,"cost":0.00014}` + abc, "10 0 5 0 0.00014", ""},
		{"OpenRouter free", "0 is a cost", `{"provider":"openrouter","usage":{"prompt_tokens":10,"completion_tokens":5,"cost":0}}`, "10 0 5 0 0", ""},
		{"OpenRouter tiny", "an exponent is a decimal", `{"provider":"openrouter","usage":{"prompt_tokens":10,"completion_tokens":5,"cost":2.1e-7}}`, "10 0 5 0 0.00000021", ""},
		{"OpenRouter cost null", "then the prices", `{"provider":"openrouter","usage":{"prompt_tokens":10,"completion_tokens":5,"cost":null}` + abc, "10 0 5 0 0.00002", ""},
		{"OpenRouter cost negative", "is no cost", `{"provider":"openrouter","usage":{"prompt_tokens":10,"completion_tokens":5,"cost":-1}` + abc, "10 0 5 0 0.00002", ""},
		{"cost without counts", "the bill is known, the tokens are not", `{"provider":"openrouter","usage":{"cost":0.5}}`, "? ? ? ? 0.5", ""},
		{"Anthropic", "its cache lies beside input_tokens", `{"provider":"anthropic","usage":{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":0,"output_tokens":7}` + abc, "100 90 7 0 0.000069", ""},
		{"Anthropic cache writes", "written tokens are input", `{"provider":"anthropic","usage":{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":100,"output_tokens":7}` + abc, "200 90 7 0 0.000169", ""},
		{"Anthropic cache writes at their rate", "as the row gives it", `{"provider":"anthropic","usage":{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"output_tokens":7}` + p(`"in":4,"cached_in":0.4,"out":20,"cache_write":5,"cache_write_1h":8`), "200 90 7 0 0.000836", ""},
		{"Anthropic cache writes by the table", "5 minutes and an hour", `{"provider":"anthropic","model":"claude-haiku-4-5","usage":{"input_tokens":0,"cache_creation_input_tokens":2000000,"cache_creation":{"ephemeral_5m_input_tokens":1000000,"ephemeral_1h_input_tokens":1000000},"output_tokens":0}}`, "2000000 0 0 0 3.25", ""},
		{"OpenAI cache writes by the table", "part of the prompt", `{"provider":"openai","model":"gpt-6-luna","usage":{"prompt_tokens":200000,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":100000}}}`, "200000 0 0 0 0.0225", ""},
		{"Anthropic, null caches", "null is not counted", `{"provider":"anthropic","usage":{"input_tokens":10,"cache_read_input_tokens":null,"cache_creation_input_tokens":null,"output_tokens":7}` + abc, "10 0 7 0 0.000024", ""},
		{"Anthropic long", "cached tokens count for the tier", `{"provider":"anthropic","usage":{"input_tokens":1,"cache_read_input_tokens":200000,"output_tokens":0}` + p(`"in":3,"in_above_200k":6,"cached_in":0.3,"cached_in_above_200k":0.6`), "200001 200000 0 0 0.120006", ""},
		{"Anthropic by the table", "its rates of that model", `{"provider":"anthropic","model":"claude-haiku-4-5","usage":{"input_tokens":1000000,"cache_read_input_tokens":1000000,"output_tokens":100000}}`, "2000000 1000000 100000 0 1.6", ""},
		{"Gemini", "candidates exclude thoughts", `{"provider":"google","usage":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":50,"thoughtsTokenCount":100,"totalTokenCount":160}` + abc, "10 4 150 100 0.000308", ""},
		{"Gemini tools", "what tools put into the prompt is input, and decides the tier", `{"provider":"google","usage":{"promptTokenCount":150000,"toolUsePromptTokenCount":60000,"candidatesTokenCount":1,"thoughtsTokenCount":2}` + p(`"in":1,"in_above_200k":2,"out":3,"out_above_200k":4`), "210000 0 3 2 0.420012", ""},
		{"Gemini blocked", "the prompt is still counted", `{"provider":"google","usage":{"promptTokenCount":10,"totalTokenCount":10}` + abc, "10 0 0 0 0.00001", ""},
		{"Gemini by its path", "names the model", `{"provider":"vertex","model":"models/gemini-2.5-flash-lite","usage":{"promptTokenCount":1000000,"candidatesTokenCount":1000000}}`, "1000000 0 1000000 0 0.5", ""},
		{"xAI", "reasoning beside the completion, as its own total says", `{"provider":"xai","usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115,"completion_tokens_details":{"reasoning_tokens":100}}` + abc, "10 0 105 100 0.00022", ""},
		{"embedding", "no completion, as the total says", `{"provider":"openai","usage":{"prompt_tokens":8,"total_tokens":8}` + abc, "8 0 0 0 0.000008", ""},
		{"nothing used", "zero is known", `{"provider":"openai","usage":{"prompt_tokens":0,"completion_tokens":0}` + abc, "0 0 0 0 0", ""},
		{"nothing used, no prices", "nothing costs nothing", `{"usage":{"prompt_tokens":0,"completion_tokens":0}` + p(""), "0 0 0 0 0", ""},
		{"huge", "no overflow, no rounding", `{"usage":{"prompt_tokens":9007199254740991,"completion_tokens":0}` + p(`"in":"0.000001","out":0`), "9007199254740991 0 0 0 9007.199254740991", ""},
		{"too huge", "no count", `{"usage":{"prompt_tokens":1e300,"completion_tokens":0}` + abc, "? ? ? ? ?", "prompt_tokens is"},
		{"negative tokens", "no count", `{"usage":{"prompt_tokens":-1,"completion_tokens":0}` + abc, "? ? ? ? ?", "prompt_tokens is"},
		{"cached above input", "a part is no larger than its whole, and this is said", `{"usage":{"prompt_tokens":8,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}` + abc, "8 8 1 0 0.000006", "9 cached of 8"},
		{"usage a string", "no object", `{"usage":"12"` + abc, "? ? ? ? ?", "usage is unknown"},
		{"usage a list", "no object", `{"usage":[]` + abc, "? ? ? ? ?", "usage is unknown"},
		{"usage empty", "unknown is not zero", `{"usage":{}` + abc, "? ? ? ? ?", "no usage was reported"},
		{"no usage", "a call that was reset", `{"model":"gpt-4o"}`, "? ? ? ? ?", "no usage was reported"},
		{"empty row", "nothing known", `{}`, "? ? ? ? ?", "no usage was reported"},
		{"half a usage", "unknown is not zero", `{"usage":{"prompt_tokens":8}` + abc, "? ? ? ? ?", "completion_tokens is missing"},

		{"prices in strings", "read exactly", `{"usage":{"prompt_tokens":3,"completion_tokens":3}` + p(`"in":"0.1","out":"0.2"`), "3 0 3 0 0.0000009", ""},
		{"prices beyond floats", "every digit counts", `{"usage":{"prompt_tokens":1000000,"completion_tokens":0}` + p(`"in":0.1000000000000000055511151231257827,"out":0`), "1000000 0 0 0 0.1000000000000000055511151231257827", ""},
		{"prices in long strings", "every digit counts", `{"usage":{"prompt_tokens":1000000,"completion_tokens":0}` + p(`"in":"0.1000000000000000055511151231257827021181583404541015625","out":"0"`), "1000000 0 0 0 0.1000000000000000055511151231257827021181583404541015625", ""},
		{"scientific", "a decimal like another", `{"usage":{"prompt_tokens":1000000,"completion_tokens":1000000}` + p(`"in":1e-7,"out":2.5E+0`), "1000000 0 1000000 0 2.5000001", ""},
		{"free", "0 is a price", `{"usage":{"prompt_tokens":5,"completion_tokens":5}` + p(`"in":0,"out":0.0`), "5 0 5 0 0", ""},
		{"no cached_in", "cached input costs what other input does", `{"usage":{"prompt_tokens":10,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":10}}` + p(`"in":1,"out":2`), "10 10 0 0 0.00001", ""},
		{"cached_in 0", "0 is a price, not a missing one", `{"usage":{"prompt_tokens":10,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":10}}` + p(`"in":1,"cached_in":0,"out":2`), "10 10 0 0 0", ""},
		{"no out", "unknown, not free", `{"usage":{"prompt_tokens":10,"completion_tokens":1}` + p(`"in":1`), "10 0 1 0 ?", "lacks a price"},
		{"no in", "unknown, not free", `{"usage":{"prompt_tokens":10,"completion_tokens":1}` + p(`"out":1`), "10 0 1 0 ?", "lacks a price"},
		{"no in, all cached", "nothing needs it", `{"usage":{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":10}}` + p(`"cached_in":1,"out":1`), "10 10 1 0 0.000011", ""},
		{"out null", "not given", `{"usage":{"prompt_tokens":10,"completion_tokens":1}` + p(`"in":1,"out":null`), "10 0 1 0 ?", "lacks a price"},
		{"no prices in the object", "those of the row count, and no others", `{"model":"gpt-4o","usage":{"prompt_tokens":10,"completion_tokens":1}` + p(""), "10 0 1 0 ?", "lacks a price"},
		{"prices null", "not given: the table", `{"model":"gpt-4o","usage":{"prompt_tokens":1000000,"completion_tokens":0},"prices_per_million":null}`, "1000000 0 0 0 2.5", ""},
		{"prices over the table", "those of the row count", `{"model":"gpt-4o","usage":{"prompt_tokens":1000000,"completion_tokens":0}` + abc, "1000000 0 0 0 1", ""},
		{"out above only", "input falls back to the base key", `{"usage":{"prompt_tokens":300000,"completion_tokens":1000}` + p(`"in":1,"out":2,"out_above_200k":3`), "300000 0 1000 0 0.303", ""},
		{"cached above only", "input falls back to the base key", `{"usage":{"prompt_tokens":300000,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":100000}}` + p(`"in":1,"cached_in":0.1,"cached_in_above_200k":0.2`), "300000 100000 0 0 0.22", ""},
		{"long output", "decides no tier", `{"usage":{"prompt_tokens":10,"completion_tokens":300000}` + p(`"in":1,"out":2,"out_above_200k":3`), "10 0 300000 0 0.60001", ""},
		{"another threshold", "any number", `{"usage":{"prompt_tokens":128001,"completion_tokens":0}` + p(`"in":1,"in_above_128k":2,"out":0`), "128001 0 0 0 0.256002", ""},

		{"by the table", "provider and model", `{"provider":"openai","model":"gpt-4o-mini","usage":{"prompt_tokens":1000000,"completion_tokens":1000000}}`, "1000000 0 1000000 0 0.75", ""},
		{"gateway's id", "names the provider", `{"model":"openai/gpt-4o-mini","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "1000000 0 0 0 0.15", ""},
		{"Azure", "a deployment's name says nothing", `{"provider":"azure","model":"gpt-4o","usage":{"prompt_tokens":1,"completion_tokens":0}}`, "1 0 0 0 ?", `has no price on "azure"`},
		{"Groq", "its own price", `{"provider":"groq","model":"openai/gpt-oss-120b","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "1000000 0 0 0 0.15", ""},
		{"open weights", "anybody's", `{"model":"openai/gpt-oss-120b","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "1000000 0 0 0 ?", "has no price"},
		{"no model", "no price", `{"provider":"openai","usage":{"prompt_tokens":1,"completion_tokens":1}}`, "1 0 1 0 ?", "no model is named"},
		{"peak hours", "the hour decides", `{"provider":"deepseek","model":"deepseek-flash","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "1000000 0 0 0 ?", "peak hours"},
		{"peak hour", "doubles", `{"provider":"deepseek","model":"deepseek-flash","at":"2026-11-27T09:30:00+08:00","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "1000000 0 0 0 0.3", ""},
		{"off-peak", "does not", `{"provider":"deepseek","model":"deepseek-flash","at":"2026-11-27T12:00:00Z","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "1000000 0 0 0 0.15", ""},
		{"further fields", "left alone", `{"id":7,"grader":"cost","expect_usd":"1","latency":[1],"usage":{"prompt_tokens":1,"completion_tokens":1}` + abc, "1 0 1 0 0.000003", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, r := costOf(t, row.row)
			assert.Equal(t, row.want, got, row.reason)
			assert.Equal(t, 0, r.code, r.stderr)
			if row.says == "" {
				assert.Empty(t, r.stderr)
			} else {
				assert.Contains(t, r.stderr, row.says)
			}
		})
	}
}

// TestCostRefuses shows what becomes of rows that cannot be read: the others
// are priced, each row has its line, and the error names them.
func TestCostRefuses(t *testing.T) {
	const good = `{"usage":{"prompt_tokens":1,"completion_tokens":1},"prices_per_million":{"in":1,"out":1}}`
	for _, row := range []struct{ name, row, says string }{
		{"no JSON", `{"usage": oops}`, "it is not JSON"},
		{"cut", `{"usage":{"prompt_tok`, "ends before its object does"},
		{"list", `[1]`, "it is a list"},
		{"string", `"a"`, "it is a string"},
		{"key twice", `{"model":"a","model":"b"}`, "stands twice"},
		{"key twice inside", `{"usage":{"prompt_tokens":1,"prompt_tokens":2,"completion_tokens":1}}`, "stands twice"},
		{"two objects", `{}{}`, "it is not JSON"},
		{"provider a number", `{"provider":1}`, `field "provider": it is a number`},
		{"model a list", `{"model":[]}`, `field "model": it is a list`},
		{"prices a number", `{"prices_per_million":1}`, `field "prices_per_million": it is a number`},
		{"price a list", `{"prices_per_million":{"in":[1]}}`, `"in" is a list`},
		{"price negative", `{"prices_per_million":{"in":-1}}`, "want 0 or more"},
		{"price negative in a string", `{"prices_per_million":{"out":"-0.5"}}`, "want 0 or more"},
		{"price in words", `{"prices_per_million":{"in":"two"}}`, "want a decimal number"},
		{"price NaN", `{"prices_per_million":{"in":"NaN"}}`, "want a decimal number"},
		{"price empty", `{"prices_per_million":{"in":""}}`, "want a decimal number"},
		{"price of too many digits", `{"prices_per_million":{"in":1e-101}}`, "at most 100 digits"},
		{"price absurd", `{"prices_per_million":{"in":1e10}}`, "at most a billion"},
		{"price of a long exponent", `{"prices_per_million":{"in":1e-999999999}}`, "want"},
		{"price unknown", `{"prices_per_million":{"input":1}}`, "no price has this name"},
		{"time no text", `{"at":12}`, `field "at": it is a number`},
		{"time no time", `{"at":"noon"}`, `"noon" is no time`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := evals(good+"\n\n"+row.row+"\n"+good+"\n", noEnv, "cost")
			assert.Equal(t, 1, r.code)
			rows := pricedRows(t, r.stdout)
			require.Len(t, rows, 3, "one line each")
			assert.Equal(t, "1 0 1 0 0.000002|? ? ? ? ?|1 0 1 0 0.000002", rows[0].String()+"|"+rows[1].String()+"|"+rows[2].String())
			assert.Contains(t, rows[1].Error, row.says)
			assert.Contains(t, r.stderr, "standard input:3: ")
			assert.Contains(t, r.stderr, row.says)
		})
	}
	r := evals(strings.Repeat("{\n", 100), noEnv, "cost")
	assert.Contains(t, r.stderr, "100 rows of 100 cannot be read")
	assert.Contains(t, r.stderr, "standard input:20: ")
	assert.Contains(t, r.stderr, "and 80 more")
	r = evals("\n \n", noEnv, "cost")
	assert.Equal(t, "evals: standard input holds no row; nothing was priced\n", r.stderr)
	assert.Equal(t, 1, r.code)
}

func TestCostNotes(t *testing.T) {
	var in strings.Builder
	for i := range 30 {
		fmt.Fprintf(&in, `{"model":"m%d","usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n", i/2)
	}
	r := evals(in.String(), noEnv, "cost")
	assert.Equal(t, 0, r.code)
	assert.Contains(t, r.stderr, "evals: standard input:1 and 1 further row: no usd: model \"m0\" has no price\n")
	assert.Contains(t, r.stderr, "evals: standard input: and 10 more for other reasons\n")
	assert.Equal(t, 12, strings.Count(r.stderr, "\n"), "and how to give prices")
	r = evals(`{"model":"\u001b[2J\u202e","usage":{"prompt_tokens":1,"completion_tokens":1}}`, noEnv, "cost")
	assert.NotContains(t, r.stderr+r.stdout, "\x1b")
	assert.NotContains(t, r.stderr+r.stdout, "\u202e")
	r = evals(`{"provider":"\u001b[2J","at":"\u001b[2J"}`, noEnv, "cost")
	assert.NotContains(t, r.stderr+r.stdout, "\x1b")
}

func TestCostFlags(t *testing.T) {
	const unnamed = `{"provider":"openai","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`
	got, _ := costOf(t, unnamed, "-model", "gpt-4o")
	assert.Equal(t, "1000000 0 0 0 2.5", got)
	got, _ = costOf(t, `{"model":"gpt-4o-mini","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "-model", "gpt-4o")
	assert.Equal(t, "1000000 0 0 0 0.15", got, "a row's own model goes over the flag's")
	got, _ = costOf(t, `{"model":"our-model","provider":"vllm","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "-prices", "testdata/prices.tsv")
	assert.Equal(t, "1000000 0 0 0 0.4", got, "a price without a provider is everybody's")
}

func TestCostFormats(t *testing.T) {
	text := strings.Repeat(`{"usage":{"prompt_tokens":1,"completion_tokens":1},"prices_per_million":{"in":1,"out":1}}`+"\n", 400)
	for name, data := range map[string]string{"plain": text, "gzip": gz(t, text), "zstd": zst(t, text)} {
		path := filepath.Join(t.TempDir(), "usage.txt") // the name is a lie on purpose
		require.NoError(t, os.WriteFile(path, []byte(data), 0o666))
		for _, r := range []ran{evals("", noEnv, "cost", path), evals(data, noEnv, "cost"), evals(data, noEnv, "cost", "-")} {
			assert.Equal(t, 0, r.code, name)
			assert.Len(t, pricedRows(t, r.stdout), 400, name)
		}
	}
	cut := gz(t, text)
	r := evals("oops\n", noEnv, "cost")
	assert.Equal(t, 1, r.code)
	r = evals(cut[:len(cut)-5], noEnv, "cost")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "the compressed data ends too early")
	assert.Len(t, pricedRows(t, r.stdout), 400, "what could be read is priced")
}

// TestCostStreaming: who pipes a row in and waits gets its price before the
// next.
func TestCostStreaming(t *testing.T) {
	in, feed := io.Pipe()
	read, out := io.Pipe()
	done := make(chan int, 1)
	go func() {
		code := execute(in, out, io.Discard, []string{"cost"}, noEnv)
		out.Close()
		done <- code
	}()
	stuck := time.AfterFunc(20*time.Second, func() { read.CloseWithError(errors.New("no price came for the row")) })
	defer stuck.Stop()
	buf := make([]byte, 4096)
	for i := range 3 {
		_, err := fmt.Fprintf(feed, `{"usage":{"prompt_tokens":%d,"completion_tokens":0},"prices_per_million":{"in":1}}`+"\n", i)
		require.NoError(t, err)
		n, err := read.Read(buf)
		require.NoError(t, err)
		assert.EqualValues(t, i, *pricedRows(t, string(buf[:n]))[0].Input)
	}
	require.NoError(t, feed.Close())
	assert.Equal(t, 0, <-done)
}

// FuzzCost: whatever a line holds, the output is whole JSON lines, as many as
// rows, and every amount is a plain decimal that is not negative.
func FuzzCost(f *testing.F) {
	for _, s := range []string{
		`{"provider":"openai","usage":{"prompt_tokens":2006,"completion_tokens":300,"prompt_tokens_details":{"cached_tokens":1920}},"prices_per_million":{"in":2.5,"cached_in":"1.25","out":1e1}}`,
		`{"usage":{"promptTokenCount":10,"thoughtsTokenCount":1},"model":"models/gemini-2.5-pro"}`, `{"usage":{"cost":1e-9}}`,
		`{"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":9007199254740991},"prices_per_million":{"in":1e9,"out":1e-30}}`,
		`{"prices_per_million":{"in_above_200k":4,"in_above_200000":3}}`, "{}\n[]\n\n{", "\xff", `{"model":"\ud800","usage":{"prompt_tokens":1,"completion_tokens":1}}`, "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		r := evals(in, noEnv, "cost")
		for _, row := range pricedRows(t, r.stdout) {
			if row.USD != nil {
				require.Regexp(t, `^[0-9]+(\.[0-9]*[1-9])?$`, *row.USD)
			}
			if row.Input != nil {
				require.True(t, *row.Cached <= *row.Input && *row.Reasoning <= *row.Output && *row.Cached >= 0 && *row.Reasoning >= 0)
			}
		}
		if r.code == 1 {
			require.Regexp(t, `(?m)^(evals: )?(standard input(:\d+: | holds no row)|cost: )`, r.stderr)
		}
	})
}
