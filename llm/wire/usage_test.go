package wire_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

func TestReadUsage(t *testing.T) {
	known := func(in, cached, out, reasoning int64) llm.Usage {
		return llm.Usage{Input: in, CachedInput: cached, Output: out, Reasoning: reasoning, Known: true}
	}
	wrote := func(u llm.Usage, write, hour int64) llm.Usage {
		u.CacheWrite, u.CacheWriteHour = write, hour
		return u
	}
	rows := []struct {
		name, reason string
		raw          string
		want         llm.Usage
		warn         string // part of the only warning
	}{
		{"U01 cached", "cached tokens are part of the prompt", `{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920}}`, known(2006, 1920, 300, 0), ""},
		{"U03 cached input", "cached is a subset, never added", `{"input_tokens":10,"cached_input_tokens":5,"output_tokens":20}`, known(10, 5, 20, 0), ""},
		{"U05 reasoning", "reasoning is part of an OpenAI completion", `{"prompt_tokens":14746,"completion_tokens":1944,"completion_tokens_details":{"reasoning_tokens":1360}}`, known(14746, 0, 1944, 1360), ""},
		{"U14", "all but one token cached", `{"prompt_tokens":27147,"completion_tokens":351,"prompt_tokens_details":{"cached_tokens":27146}}`, known(27147, 27146, 351, 0), ""},
		{"U15 float", "12.0 is 12", `{"prompt_tokens":3.0,"completion_tokens":12.0}`, known(3, 0, 12, 0), ""},
		{"U15 exponent", "1.2e1 is 12", `{"prompt_tokens":3,"completion_tokens":1.2e1}`, known(3, 0, 12, 0), ""},
		{"U15 text", "a text is no count", `{"prompt_tokens":3,"completion_tokens":"12"}`, llm.Usage{}, `completion_tokens is "\"12\""`},
		{"U15 half", "half a token is no count", `{"prompt_tokens":3,"completion_tokens":12.5}`, llm.Usage{}, `completion_tokens is "12.5"`},
		{"U15 detail", "a bad detail spoils the whole: the parts would not add up", `{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":"1"}}`, llm.Usage{}, "prompt_tokens_details.cached_tokens"},
		{"negative", "less than no tokens", `{"prompt_tokens":-1,"completion_tokens":1}`, llm.Usage{}, "prompt_tokens"},
		{"huge", "beyond what a float holds exactly", `{"prompt_tokens":1e300,"completion_tokens":1}`, llm.Usage{}, "prompt_tokens"},
		{"null details", "servers send null for what they do not count", `{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":null}}`, known(3, 0, 1, 0), ""},
		{"DeepSeek", "its cache is a field of its own", `{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, known(100, 64, 5, 0), ""},
		{"Moonshot", "cached_tokens at the top", `{"prompt_tokens":100,"completion_tokens":5,"cached_tokens":64}`, known(100, 64, 5, 0), ""},
		{"responses", "OpenAI's other API", `{"input_tokens":75,"input_tokens_details":{"cached_tokens":60},"output_tokens":1186,"output_tokens_details":{"reasoning_tokens":1024},"total_tokens":1261}`, known(75, 60, 1186, 1024), ""},
		{"xAI", "reasoning beside the completion, as its own total says", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115,"completion_tokens_details":{"reasoning_tokens":100}}`, known(10, 0, 105, 100), ""},
		{"thoughts in the total only", "Gemini's compatible endpoint counts them nowhere else, and bills them as output", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115}`, known(10, 0, 105, 0), "100 tokens more"},
		{"total below", "it counts less than its parts, which are kept", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":5}`, known(10, 0, 5, 0), ""},
		{"cache in the total only", "what lies beside prompt_tokens is no output", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":105,"cache_read_input_tokens":90}`, known(10, 0, 5, 0), ""},
		{"thoughts in part", "what is reported is not counted twice", `{"prompt_tokens":10,"completion_tokens":105,"total_tokens":115,"completion_tokens_details":{"reasoning_tokens":100}}`, known(10, 0, 105, 100), ""},
		{"Anthropic", "its cache lies beside input_tokens", `{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":100,"output_tokens":7}`, wrote(known(200, 90, 7, 0), 100, 0), ""},
		{"Anthropic for an hour", "what is kept longer costs more", `{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":40,"ephemeral_1h_input_tokens":60},"output_tokens":7}`, wrote(known(200, 90, 7, 0), 100, 60), ""},
		{"OpenAI cache write", "part of the prompt", `{"prompt_tokens":2000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":100,"cache_write_tokens":1900}}`, wrote(known(2000, 100, 5, 0), 1900, 0), ""},
		{"responses cache write", "OpenAI's other API", `{"input_tokens":2000,"output_tokens":5,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":1024}}`, wrote(known(2000, 0, 5, 0), 1024, 0), ""},
		{"Bedrock cache write", "beside inputTokens", `{"inputTokens":10,"cacheReadInputTokens":90,"cacheWriteInputTokens":100,"outputTokens":7}`, wrote(known(200, 90, 7, 0), 100, 0), ""},
		{"written above the rest", "a part is no larger than its whole", `{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":9}}`, wrote(known(10, 4, 5, 0), 6, 0), "9 tokens written to a cache of 6"},
		{"an hour above the written", "a part is no larger than its whole", `{"input_tokens":10,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":6},"output_tokens":7}`, wrote(known(15, 0, 7, 0), 5, 5), "6 tokens cached for an hour of 5"},
		{"Anthropic through a gateway", "prompt_tokens already has the cache in it", `{"prompt_tokens":200,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":90},"cache_read_input_tokens":90}`, known(200, 90, 7, 0), ""},
		{"Gemini", "candidates exclude thoughts", `{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":50,"thoughtsTokenCount":100,"totalTokenCount":160}`, known(10, 4, 150, 100), ""},
		{"Gemini tools", "what tools put into the prompt is input", `{"promptTokenCount":10,"toolUsePromptTokenCount":5,"candidatesTokenCount":1}`, known(15, 0, 1, 0), ""},
		{"Gemini blocked", "C09: the prompt is still counted", `{"promptTokenCount":10,"totalTokenCount":10}`, known(10, 0, 0, 0), ""},
		{"embedding", "no completion, as the total says", `{"prompt_tokens":8,"total_tokens":8}`, known(8, 0, 0, 0), ""},
		{"no completion", "unknown is not zero", `{"prompt_tokens":8}`, llm.Usage{}, "completion_tokens is missing"},
		{"no prompt", "unknown is not zero", `{"completion_tokens":8}`, llm.Usage{}, "prompt_tokens is missing"},
		{"cached above input", "a part is no larger than its whole", `{"prompt_tokens":8,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}`, known(8, 8, 1, 0), "9 cached of 8"},
		{"zero", "zero is known", `{"prompt_tokens":0,"completion_tokens":0}`, known(0, 0, 0, 0), ""},
		{"null", "U10: absent is unknown", `null`, llm.Usage{}, ""},
		{"empty", "absent is unknown", ``, llm.Usage{}, ""},
		{"empty object", "absent is unknown", `{}`, llm.Usage{}, ""},
		{"a text", "no object", `"12"`, llm.Usage{}, "usage is"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			u, warns := wire.ReadUsage(json.RawMessage(r.raw))
			assert.Equal(t, r.want, u, r.reason)
			if r.warn == "" {
				assert.Empty(t, warns, r.reason)
			} else if assert.Len(t, warns, 1, r.reason) {
				assert.Contains(t, warns[0], r.warn, r.reason)
			}
		})
	}
}

// TestCases runs the fixtures of the shared cases where they are at hand.
func TestCasesUsage(t *testing.T) {
	for _, f := range caseFixtures(t, "usage-cost") {
		if len(f.Usage) == 0 {
			continue
		}
		t.Run(f.ID, func(t *testing.T) {
			u, warns := wire.ReadUsage(f.Usage)
			assert.True(t, u.Known, "%s", f.Usage)
			assert.Empty(t, warns)
			if want := f.Expect; want != nil {
				assert.Equal(t, [3]int64{want["prompt"], want["cached"], want["completion"]}, [3]int64{u.Input, u.CachedInput, u.Output})
				assert.Equal(t, want["total"], u.Input+u.Output, "the total counts cached tokens once")
			}
		})
	}
}

func FuzzReadUsage(f *testing.F) {
	for _, s := range []string{
		`{"prompt_tokens":3,"completion_tokens":12.0}`, `{"promptTokenCount":10,"thoughtsTokenCount":1}`,
		`{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":9223372036854775807,"cache_creation_input_tokens":9223372036854775807}`,
		`{"prompt_tokens":"x"}`, `[]`, `null`, `{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807,"total_tokens":1,"completion_tokens_details":{"reasoning_tokens":9}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, warns := wire.ReadUsage(json.RawMessage(s))
		if !u.Known && u != (llm.Usage{}) {
			t.Errorf("%s: %+v has counts but is unknown", s, u)
		}
		if min(u.Input, u.Output, u.CachedInput, u.Reasoning, u.CacheWrite, u.CacheWriteHour) < 0 || u.CachedInput+u.CacheWrite > u.Input || u.CacheWriteHour > u.CacheWrite || u.Reasoning > u.Output {
			t.Errorf("%s: %+v: a part is larger than its whole, or negative", s, u)
		}
		again, warnsAgain := wire.ReadUsage(json.RawMessage(s))
		if again != u || fmt.Sprint(warns) != fmt.Sprint(warnsAgain) {
			t.Errorf("%s: two readings differ", s)
		}
	})
}
