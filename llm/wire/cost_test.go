package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

func TestReadCost(t *testing.T) {
	for _, r := range []struct{ name, reason, usage, want string }{
		{"decimal", "exact, as it came", `{"cost":0.000123}`, "0.000123"},
		{"exponent", "a decimal without one", `{"cost":1.5e-5}`, "0.000015"},
		{"many digits", "no float is in between", `{"cost":0.00014250000000000001}`, "0.00014250000000000001"},
		{"zero", "a free model's cost is known", `{"cost":0}`, "0"},
		{"text", "some servers quote it", `{"cost":"0.5"}`, "0.5"},
		{"absent", "unknown is not zero", `{"prompt_tokens":1}`, ""},
		{"null", "not reported is not free", `{"cost":null}`, ""},
		{"negative", "nobody is paid for asking", `{"cost":-1}`, ""},
		{"absurd", "its digits would fill the memory", `{"cost":1e999999999}`, ""},
		{"endless", "a megabyte of digits is no cost", `{"cost":0.` + strings.Repeat("1", 1<<20) + `}`, ""},
		{"object", "details, not a number", `{"cost":{"usd":1}}`, ""},
		{"no number", "a word is no cost", `{"cost":"free"}`, ""},
		{"no object", "usage of another form has none", `[1]`, ""},
		{"nothing", "not reported is not free", ``, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, wire.ReadCost(json.RawMessage(r.usage)), r.reason)
		})
	}
}

// TestLoggedCost: a call of the user's own SDK is priced by what the provider
// says that it cost.
func TestLoggedCost(t *testing.T) {
	chunk := func(cost string) string {
		return "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1" + cost + "}}\n\n"
	}
	stream := func(costs ...string) []string {
		out := []string{llmtest.Text("a"), llmtest.Finish("stop")}
		for _, c := range costs {
			out = append(out, chunk(c))
		}
		return append(out, llmtest.Done)
	}
	for _, r := range []struct {
		name, reason string
		pieces       []string // none: one JSON body
		want         string
	}{
		{"body", "an answer that did not come as a stream", nil, "0.00014"},
		{"stream", "it stands in the last chunk", stream(`,"cost":0.00014`), "0.00014"},
		{"cumulative", "counted once: the last one is the call's", stream(`,"cost":0.0001`, `,"cost":0.00014`), "0.00014"},
		{"last lacks it", "an earlier one then stays, as with tokens", stream(`,"cost":0.00014`, ``), "0.00014"},
		{"none", "unknown is not zero", stream(``), ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			h := llmtest.Stream(r.pieces...)
			if r.pieces == nil {
				h = llmtest.Status(200, strings.Replace(goodAnswer, `"completion_tokens":1`, `"completion_tokens":1,"cost":0.00014`, 1))
			}
			var log llm.CallLog
			var c wire.Capture
			_, _, err := call(llm.WithCallLog(wire.WithCapture(t.Context(), &c), &log), memory(h), chatURL, `{}`)
			require.NoError(t, err)
			require.Len(t, log.Calls(), 1)
			assert.Equal(t, r.want, log.Calls()[0].Response.CostUSD, r.reason)
			assert.Equal(t, r.want, c.Get().CostUSD)
			assert.True(t, log.Calls()[0].Response.Usage.Known)
		})
	}
}

func FuzzReadCost(f *testing.F) {
	for _, s := range []string{`{"cost":0.000123}`, `{"cost":"1e-5"}`, `{"cost":1e20}`, `{"cost":-0}`, `{"cost":[]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := wire.ReadCost(json.RawMessage(s))
		if got != "" && (!json.Valid([]byte(got)) || strings.ContainsAny(got, "eE-") || len(got) > 150) {
			t.Errorf("%s: %q is no plain decimal", s, got)
		}
	})
}
