package grade_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

const (
	invalid   = grade.ReasonInvalid
	ambiguous = grade.ReasonAmbiguous
	duplicate = grade.ReasonDuplicateKey
)

func TestJSONFinds(t *testing.T) {
	const ok = `{"status":"ok"}`
	testRows(t, grade.JSON(), []textRow{
		{name: "whole", why: "the reply is JSON", reply: " {\"status\": \"ok\"}\n", target: ok, mark: right},
		{name: "bom", why: "a byte order mark is no text", reply: "\ufeff{\"status\":\"ok\"}", target: ok, mark: right},
		{name: "link", why: "a bracket in the prose behind it", reply: "Result: {\"status\":\"ok\"}\n\nSee [the docs](https://x.example).", target: ok, mark: right},
		{name: "citation", why: "a bracket in the prose behind it", reply: "{\"status\":\"ok\"} Note [1].", target: ok, mark: right},
		{name: "citation before", why: "a bracket in the prose before it", reply: "As in [2], {\"status\":\"ok\"}", target: ok, mark: right},
		{name: "fenced citation", why: "a bracket behind the fence", reply: "```json\n{\"a\": 1}\n```\nNote [1].", target: `{"a":1}`, mark: right},
		{name: "fence without label", why: "a fence", reply: "Here:\n```\n{\"a\": 1}\n```", target: `{"a":1}`, mark: right},
		{name: "fence with tildes", why: "a fence", reply: "~~~json\n{\"a\": 1}\n~~~", target: `{"a":1}`, mark: right},
		{name: "fence on one line", why: "a fence", reply: "Here: ```json {\"a\": 1}```", target: `{"a":1}`, mark: right},
		{name: "fence on a line of its own", why: "opened and closed on one line", reply: "```json {\"a\": 1}```", target: `{"a":1}`, mark: right},
		{name: "fence glued to its label", why: "no space behind the label", reply: "Sure:\n```json{\"a\": 1}```\nBye.", target: `{"a":1}`, mark: right},
		{name: "fence in a quotation", why: "each line begins with >", reply: "> ```json\n> {\"a\":\n> 1}\n> ```", target: `{"a":1}`, mark: right},
		{name: "code, then the answer", why: "what a program holds is not the answer", reply: "```python\nprint({\"a\": 2})\n```\n{\"a\": 1}", target: `{"a":1}`, mark: right},
		{name: "code alone", why: "nothing else is there", reply: "```js\n{\"a\": 1}\n```", target: `{"a":1}`, mark: right},
		{name: "fence never closed", why: "a fence", reply: "```json\n{\"a\": 1}", target: `{"a":1}`, mark: right},
		{name: "fence indented", why: "a fence in a list", reply: "- so:\n  ```json\n  {\"a\": 1}\n  ```", target: `{"a":1}`, mark: right},
		{name: "other fence", why: "code is no answer", reply: "```python\nx = {\"a\": 2}\n```\n```json\n{\"a\": 1}\n```", target: `{"a":1}`, mark: right},
		{name: "last fence", why: "the last of several counts", reply: "```json\n{\"a\": 2}\n```\nBetter:\n```json\n{\"a\": 1}\n```", target: `{"a":1}`, mark: right},
		{name: "draft before the fence", why: "the fence is the answer", reply: "Draft {\"a\":2}.\n```json\n{\"a\":1}\n```", target: `{"a":1}`, mark: right},
		{name: "withdrawn behind the fence", why: "two values", reply: "```json\n{\"a\":1}\n```\nNo, it is {\"a\":2}.", target: `{"a":1}`, mark: unparsed, reason: ambiguous},
		{name: "last fence malformed", why: "an earlier draft is not the answer", reply: "```json\n{\"a\":1}\n```\n```json\n{\"a\":\n```", target: `{"a":1}`, mark: unparsed, reason: invalid},
		{name: "fences in a string", why: "valid JSON is not touched", reply: "{\"ok\":true,\"reason\":\"wrote ```go``` and ```sh``` blocks\"}", target: "{\"reason\":\"wrote ```go``` and ```sh``` blocks\",\"ok\":true}", mark: right},
		{name: "fence and prose in a string", why: "brackets in strings do not count", reply: "So: {\"s\":\"} ] ``` {\",\"n\":1} done", target: "{\"n\":1,\"s\":\"} ] ``` {\"}", mark: right},
		{name: "escaped quote", why: "strings end where they end", reply: `So: {"s":"\"}"} done`, target: `{"s":"\"}"}`, mark: right},
		{name: "think in a string", why: "valid JSON is not touched", reply: `{"s":"<think>"}`, target: `{"s":"<think>"}`, mark: right},
		{name: "think before", why: "reasoning is no answer", reply: `<think>{"a":2}</think>{"a":1}`, target: `{"a":1}`, mark: right},
		{name: "think open", why: "the answer never came", reply: `<think>{"a":1}`, target: `{"a":1}`, mark: unparsed, reason: grade.ReasonIncomplete},
		{name: "boxed", why: "LaTeX braces are not JSON's", reply: `\boxed{{"a":1}}`, target: `{"a":1}`, mark: right},
		{name: "two objects", why: "neither is final", reply: `{"a":1} or {"a":2}`, target: `{"a":1}`, mark: unparsed, reason: ambiguous},
		{name: "json lines", why: "neither is final", reply: "{\"a\":1}\n{\"a\":2}", target: `{"a":1}`, mark: unparsed, reason: ambiguous},
		{name: "same twice", why: "no contradiction", reply: `{"a":1}, that is {"a": 1.0}`, target: `{"a":1}`, mark: right},
		{name: "inner object", why: "a part is no answer", reply: `[{"a":1}]`, target: `{"a":1}`, mark: wrong},
		{name: "inner of single quotes", why: "a part of something malformed", reply: `{'r': {"a":1}}`, target: `{"a":1}`, mark: unparsed, reason: invalid},
		{name: "inner of a bare key", why: "a part of something malformed", reply: `{r: {"a":1}}`, target: `{"a":1}`, mark: unparsed, reason: invalid},
		{name: "inner of a cut one", why: "a part of something cut", reply: `{"r": {"a":1}, "s": "x`, target: `{"a":1}`, mark: unparsed, reason: invalid},
		{name: "cut", why: "malformed", reply: `{"a": 0.9, "b": "The brief nam`, target: `{"a":0.9}`, mark: unparsed, reason: invalid},
		{name: "trailing comma", why: "malformed", reply: `{"a":1,}`, target: `{"a":1}`, mark: unparsed, reason: invalid},
		{name: "python", why: "malformed", reply: `{"a":True}`, target: `{"a":true}`, mark: unparsed, reason: invalid},
		{name: "interval in prose", why: "an open bracket in the prose", reply: `On [0, 1) it is {"a":1}`, target: `{"a":1}`, mark: right},
		{name: "array citation", why: "a footnote is no second answer", reply: "[\"a\", \"b\"]\n\nSee [3].", target: `["a","b"]`, mark: right},
		{name: "array corrected", why: "it says that the first was wrong", reply: "[1, 2, \"x\"] — actually, [3]", target: `[1,2,"x"]`, mark: unparsed, reason: ambiguous},
		{name: "prose", why: "nothing to compare", reply: "I cannot do that.", target: ok, mark: unparsed, reason: grade.ReasonNoAnswer},
		{name: "scalar", why: "the reply is JSON", reply: "42", target: "42.0", mark: right},
		{name: "scalar fence", why: "a fence", reply: "```json\ntrue\n```", target: "true", mark: right},
		{name: "scalar in prose", why: "numbers in prose are not JSON", reply: "It is 42.", target: "42", mark: unparsed, reason: grade.ReasonNoAnswer},
		{name: "nothing", why: "no response", reply: "", target: ok, mark: unparsed, reason: grade.ReasonNoResponse},
		{name: "bad utf-8", why: "malformed", reply: "{\"status\":\"\xff\"}", target: ok, mark: unparsed, reason: invalid},
		{name: "bad escape", why: "half of a surrogate pair", reply: `{"status":"\ud800"}`, target: ok, mark: unparsed, reason: invalid},
	})
}

func TestJSONCompares(t *testing.T) {
	testRows(t, grade.JSON(), []textRow{
		{name: "decimal", why: "one number", reply: `{"u":"m","amount":42.0}`, target: `{"amount":42,"u":"m"}`, mark: right},
		{name: "exponent", why: "one number", reply: `4.2e1`, target: `42`, mark: right},
		{name: "capital exponent", why: "one number", reply: `420E-1`, target: `42`, mark: right},
		{name: "minus zero", why: "one number", reply: `-0.0`, target: `0`, mark: right},
		{name: "string", why: "a string is no number", reply: `{"amount":"42","u":"m"}`, target: `{"amount":42,"u":"m"}`, mark: wrong},
		{name: "number for string", why: "a number is no string", reply: `42`, target: `"42"`, mark: wrong},
		{name: "sign", why: "another number", reply: `-42`, target: `42`, mark: wrong},
		{name: "ten times", why: "another number", reply: `420`, target: `42`, mark: wrong},
		{name: "big integer", why: "floats would round", reply: `9007199254740993`, target: `9007199254740992`, mark: wrong},
		{name: "big integer same", why: "floats would round", reply: `90071992547409930e-1`, target: `9007199254740993`, mark: right},
		{name: "beyond float", why: "no overflow", reply: `1e400`, target: `10e399`, mark: right},
		{name: "beyond float differs", why: "no overflow to the same infinity", reply: `1e400`, target: `1e401`, mark: wrong},
		{name: "tiny", why: "no underflow to zero", reply: `1e-400`, target: `0`, mark: wrong},
		{name: "absurd exponent", why: "no overflow of the exponent", reply: `1e99999999999999999999`, target: `1e99999999999999999998`, mark: wrong},
		{name: "tenths", why: "no binary fractions", reply: `0.30000000000000004`, target: `0.3`, mark: wrong},
		{name: "array order", why: "it counts", reply: `[2,1]`, target: `[1,2]`, mark: wrong},
		{name: "array longer", why: "one too many", reply: `[1,2,3]`, target: `[1,2]`, mark: wrong},
		{name: "further key", why: "not a subset", reply: `{"a":1,"b":2}`, target: `{"a":1}`, mark: wrong},
		{name: "missing key", why: "not there", reply: `{}`, target: `{"a":1}`, mark: wrong},
		{name: "null for missing", why: "null is a value", reply: `{"a":null}`, target: `{}`, mark: wrong},
		{name: "key case", why: "keys are compared exactly", reply: `{"A":1}`, target: `{"a":1}`, mark: wrong},
		{name: "string case", why: "strings are compared exactly", reply: `"A"`, target: `"a"`, mark: wrong},
		{name: "escapes", why: "the same string", reply: `"\u00e9\/"`, target: `"é/"`, mark: right},
		{name: "kinds", why: "false is not null", reply: `false`, target: `null`, mark: wrong},
		{name: "empty kinds", why: "an array is no object", reply: `[]`, target: `{}`, mark: wrong},
		{name: "duplicate", why: "which one counts depends on the reader", reply: `{"answer":"B","answer":"C"}`, target: `{"answer":"C"}`, mark: unparsed, reason: duplicate},
		{name: "duplicate same", why: "even if both say the same", reply: `{"a":1,"a":1}`, target: `{"a":1}`, mark: unparsed, reason: duplicate},
		{name: "duplicate folded", why: "a reader that ignores case overwrites", reply: `{"pass":false,"PASS":true}`, target: `{"pass":true}`, mark: unparsed, reason: duplicate},
		{name: "duplicate deep", why: "at any depth", reply: `{"a":[{"x":1,"X":1}]}`, target: `{"a":[{"x":1}]}`, mark: unparsed, reason: duplicate},
		{name: "duplicate escaped", why: "the same key in two spellings", reply: `{"a":1,"\u0061":2}`, target: `{"a":2}`, mark: unparsed, reason: duplicate},
		{name: "duplicate in a fence", why: "wherever it is found", reply: "```json\n{\"a\":1,\"a\":2}\n```", target: `{"a":2}`, mark: unparsed, reason: duplicate},
		{name: "duplicate in prose", why: "wherever it is found", reply: `So {"a":1,"a":2}.`, target: `{"a":2}`, mark: unparsed, reason: duplicate},
		{name: "case in the target", why: "the target has both keys", reply: `{"M":2,"m":1}`, target: `{"m":1,"M":2}`, mark: right},
		{name: "sharp s", why: "full case folding", reply: `{"straße":1,"STRASSE":2}`, target: `{"straße":1}`, mark: unparsed, reason: duplicate},
		{name: "further target", why: "another accepted value", reply: `{"a":2}`, target: `{"a":1}`, others: []string{`{"a":2}`}, mark: right},
	})
	t.Run("subset", func(t *testing.T) {
		testRows(t, grade.JSON(grade.JSONSubset()), []textRow{
			{name: "further key", why: "allowed", reply: "{\"ok\":true,\"reason\":\"wrote ```go``` and ```sh``` blocks\"}", target: `{"ok":true}`, mark: right},
			{name: "deep", why: "allowed at any depth", reply: `{"a":{"b":1,"c":2},"l":[{"x":1,"y":2}]}`, target: `{"a":{"b":1},"l":[{"x":1}]}`, mark: right},
			{name: "missing", why: "the target's keys must be there", reply: `{"b":1}`, target: `{"a":null}`, mark: wrong},
			{name: "differs", why: "and match", reply: `{"a":2,"b":1}`, target: `{"a":1}`, mark: wrong},
			{name: "longer array", why: "arrays keep their length", reply: `[1,2]`, target: `[1]`, mark: wrong},
			{name: "shorter array", why: "arrays keep their length", reply: `[1]`, target: `[1,2]`, mark: wrong},
			{name: "duplicate among further keys", why: "still malformed", reply: `{"a":1,"b":1,"b":2}`, target: `{"a":1}`, mark: unparsed, reason: duplicate},
		})
	})
}

// TestJSONWhy: the explanation reads the same every time.
func TestJSONWhy(t *testing.T) {
	for _, r := range []struct{ name, target, reply, why string }{
		{"scalar", `1`, `2`, `the value: want 1, got 2`},
		{"kind", `{"a":1}`, `[1]`, `the value: want {"a":1}, got [1]`},
		{"paths", `{"b":{"c/d":[1,2]},"a":"x","e":null}`, `{"f":true,"b":{"c/d":[1,3]},"a":"y"}`,
			"/a: want \"x\", got \"y\"\n/b/c~1d/1: want 2, got 3\n/e: missing, want null\n/f: not wanted, got true"},
		{"many", `[1,1,1,1,1,1,1,1,1,1]`, `[2,2,2,2,2,2,2,2,2,2]`,
			"/0: want 1, got 2\n/1: want 1, got 2\n/2: want 1, got 2\n/3: want 1, got 2\n/4: want 1, got 2\n/5: want 1, got 2\n/6: want 1, got 2\n/7: want 1, got 2\nand 2 more"},
		{"long value", `{"a":1}`, `{"a":"` + strings.Repeat("x", 100) + `"}`,
			`/a: want 1, got "` + strings.Repeat("x", 59) + `…`},
		{"control", `{"a":1}`, `{"a":"\u0016"}`, `/a: want 1, got "\x16"`},
		{"number as written", `{"a":10}`, `{"a":1.50e1}`, `/a: want 10, got 1.50e1`},
	} {
		t.Run(r.name, func(t *testing.T) {
			for range 3 {
				v, err := grade.JSON().Grade(context.Background(), dataset.Item{Target: r.target}, llm.Response{Text: r.reply})
				require.NoError(t, err)
				require.Equal(t, wrong, v.Mark)
				assert.Equal(t, r.why, v.Why)
			}
		})
	}
}

func TestJSONTarget(t *testing.T) {
	for _, target := range []string{"", "abc", `{"a":1,"a":2}`, `{"a":1} {"b":2}`, "{\"a\":\"\xff\"}", "{"} {
		_, err := grade.JSON().Grade(context.Background(), dataset.Item{ID: "q", Target: target}, llm.Response{Text: "{}"})
		require.ErrorIs(t, err, grade.ErrTarget, target)
		var te *grade.TargetError
		require.ErrorAs(t, err, &te)
		assert.Equal(t, "q", te.Item)
	}
}

// TestJSONBombs: nesting costs what its length costs.
func TestJSONBombs(t *testing.T) {
	deep := func(n int, inner string) string { return strings.Repeat("[", n) + inner + strings.Repeat("]", n) }
	for name, r := range map[string]struct {
		reply, target string
		mark          grade.Mark
	}{
		"open brackets": {strings.Repeat("[", 1_000_000), `[]`, unparsed},
		"open objects":  {strings.Repeat(`{"a":`, 200_000), `{}`, unparsed},
		"too deep":      {deep(500_000, ""), `[]`, unparsed},
		"deep, same":    {deep(5000, "1"), deep(5000, "1"), right},
		"deep, differs": {deep(5000, "1"), deep(5000, "2"), wrong},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := grade.JSON().Grade(context.Background(), dataset.Item{Target: r.target}, llm.Response{Text: r.reply})
			require.NoError(t, err)
			assert.Equal(t, r.mark, v.Mark)
			assert.Less(t, len(v.Why), 2000)
		})
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n[1]\n```", `{"a":1,"A":2}`, `[1e400,-0]`, `{'a':{"b":1}}`, "\\boxed{[1]}", "[[[", "\xff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, reply, target string) {
		item := dataset.Item{Target: target}
		full, err := grade.JSON().Grade(context.Background(), item, llm.Response{Text: reply})
		if err != nil {
			require.ErrorIs(t, err, grade.ErrTarget)
			return
		}
		require.NoError(t, full.Check())
		subset, err := grade.JSON(grade.JSONSubset()).Grade(context.Background(), item, llm.Response{Text: reply})
		require.NoError(t, err)
		if full.Mark == right {
			require.Equal(t, right, subset.Mark, "what is equal is also a subset")
		}
		if self, err := grade.JSON().Grade(context.Background(), item, llm.Response{Text: target}); err == nil && self.Reason != grade.ReasonNoResponse {
			require.Equal(t, right, self.Mark, "a target equals itself: %+v", self)
		}
	})
}
