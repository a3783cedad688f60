package grade_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func call(name, arguments string) llm.ToolCall { return llm.ToolCall{Name: name, Arguments: arguments} }

func TestToolCalls(t *testing.T) {
	const (
		paris = `[{"name":"weather","arguments":{"city":"Paris"}}]`
		both  = `[{"name":"weather","arguments":{"city":"Paris"}},{"name":"time","arguments":{}}]`
	)
	var (
		weather = call("weather", `{"city":"Paris"}`)
		more    = call("weather", `{"city":"Paris","unit":"C"}`)
		clock   = call("time", "")
		london  = call("weather", `{"city":"London"}`)
	)
	anyOrder, further := grade.AnyOrder(), grade.FurtherCalls()
	subset, inText := grade.FurtherArguments(), grade.CallsInText()
	opts := func(o ...grade.ToolCallOption) []grade.ToolCallOption { return o }
	for _, r := range []struct {
		name, why string
		opts      []grade.ToolCallOption
		calls     []llm.ToolCall
		text      string
		target    string
		others    []string
		mark      grade.Mark
		reason    grade.Reason
	}{
		{name: "same", why: "name and arguments", calls: []llm.ToolCall{weather}, target: paris, mark: right},
		{name: "spacing", why: "arguments are JSON", calls: []llm.ToolCall{call("weather", "{ \"city\" : \"Paris\" }")}, target: paris, mark: right},
		{name: "one call", why: "a target without an array", calls: []llm.ToolCall{weather}, target: `{"name":"weather","arguments":{"city":"Paris"}}`, mark: right},
		{name: "arguments as string", why: "OpenAI's way", calls: []llm.ToolCall{weather}, target: `[{"name":"weather","arguments":"{\"city\":\"Paris\"}"}]`, mark: right},
		{name: "function shape", why: "OpenAI's way", calls: []llm.ToolCall{weather}, target: `[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Paris\"}"}}]`, mark: right},
		{name: "numbers", why: "by value", calls: []llm.ToolCall{call("f", `{"n":42.0}`)}, target: `[{"name":"f","arguments":{"n":42}}]`, mark: right},
		{name: "no arguments", why: "empty, null, {} and none are the same", calls: []llm.ToolCall{clock, call("time", "null"), call("time", "{}")}, target: `[{"name":"time"},{"name":"time","arguments":{}},{"name":"time","arguments":""}]`, mark: right},
		{name: "other name", why: "names are exact", calls: []llm.ToolCall{call("Weather", `{"city":"Paris"}`)}, target: paris, mark: wrong},
		{name: "other argument", why: "another value", calls: []llm.ToolCall{london}, target: paris, mark: wrong},
		{name: "argument type", why: "a string is no number", calls: []llm.ToolCall{call("f", `{"n":"42"}`)}, target: `[{"name":"f","arguments":{"n":42}}]`, mark: wrong},
		{name: "further argument", why: "not wanted", calls: []llm.ToolCall{more}, target: paris, mark: wrong},
		{name: "further argument allowed", why: "asked for", opts: opts(subset), calls: []llm.ToolCall{more}, target: paris, mark: right},
		{name: "missing argument", why: "even with a subset", opts: opts(subset), calls: []llm.ToolCall{clock}, target: `[{"name":"time","arguments":{"zone":"UTC"}}]`, mark: wrong},
		{name: "further call", why: "not wanted", calls: []llm.ToolCall{weather, clock}, target: paris, mark: wrong},
		{name: "same call twice", why: "not wanted", calls: []llm.ToolCall{weather, weather}, target: paris, mark: wrong},
		{name: "further call allowed", why: "asked for", opts: opts(further), calls: []llm.ToolCall{clock, weather}, target: paris, mark: right},
		{name: "further call, order", why: "the wanted ones keep their order", opts: opts(further), calls: []llm.ToolCall{clock, london, weather}, target: both, mark: wrong},
		{name: "missing call", why: "one is not there", calls: []llm.ToolCall{weather}, target: both, mark: wrong},
		{name: "order", why: "it counts", calls: []llm.ToolCall{clock, weather}, target: both, mark: wrong},
		{name: "any order", why: "asked for", opts: opts(anyOrder), calls: []llm.ToolCall{clock, weather}, target: both, mark: right},
		{name: "any order, twice one", why: "each wanted call needs its own", opts: opts(anyOrder), calls: []llm.ToolCall{weather, weather}, target: both, mark: wrong},
		{name: "any order and further", why: "asked for", opts: opts(anyOrder, further), calls: []llm.ToolCall{london, clock, weather}, target: both, mark: right},
		{name: "any order, greedy fails", why: "the first that fits must be moved", opts: opts(anyOrder, subset),
			calls: []llm.ToolCall{call("f", `{"a":1,"b":1}`), call("f", `{"a":1}`)}, target: `[{"name":"f","arguments":{"a":1}},{"name":"f","arguments":{"b":1}}]`, mark: right},
		{name: "malformed", why: "cut arguments", calls: []llm.ToolCall{call("weather", `{"city":"Par`)}, target: paris, mark: unparsed, reason: invalid},
		{name: "malformed beside", why: "one cut call spoils all", calls: []llm.ToolCall{weather, call("time", `{`)}, target: paris, mark: unparsed, reason: invalid},
		{name: "array arguments", why: "arguments are an object", calls: []llm.ToolCall{call("weather", `["Paris"]`)}, target: paris, mark: unparsed, reason: invalid},
		{name: "duplicate", why: "a key is there twice", calls: []llm.ToolCall{call("weather", `{"city":"London","city":"Paris"}`)}, target: paris, mark: unparsed, reason: duplicate},
		{name: "duplicate folded", why: "a key is there twice", calls: []llm.ToolCall{call("weather", `{"city":"Paris","City":"London"}`)}, target: paris, mark: unparsed, reason: duplicate},
		{name: "no call wanted", why: "the model answered instead", text: "It is sunny.", target: `[]`, mark: right},
		{name: "call not wanted", why: "none was wanted", calls: []llm.ToolCall{weather}, target: `[]`, mark: wrong},
		{name: "text instead", why: "a call was wanted", text: "It is sunny.", target: paris, mark: wrong},
		{name: "nothing at all", why: "a dead endpoint makes no call, and never passes", target: `[]`, mark: unparsed, reason: grade.ReasonNoResponse},
		{name: "further list", why: "another accepted list", calls: []llm.ToolCall{london}, target: paris, others: []string{`[{"name":"weather","arguments":{"city":"London"}}]`}, mark: right},
		{name: "text ignored", why: "calls are read from the response only", text: paris, target: paris, mark: wrong},
		{name: "in text", why: "asked for", opts: opts(inText), text: "```json\n" + paris + "\n```", target: paris, mark: right},
		{name: "in text, one", why: "asked for", opts: opts(inText), text: `{"name":"weather","arguments":{"city":"Paris"}}`, target: paris, mark: right},
		{name: "in text, no call", why: "the object is no call", opts: opts(inText), text: `{"city":"Paris"}`, target: paris, mark: unparsed, reason: invalid},
	} {
		t.Run(r.name, func(t *testing.T) {
			item := dataset.Item{ID: r.name, Target: r.target, Targets: r.others}
			v, err := grade.ToolCalls(r.opts...).Grade(context.Background(), item, llm.Response{Text: r.text, ToolCalls: r.calls})
			require.NoError(t, err)
			require.NoError(t, v.Check())
			require.Equal(t, r.mark, v.Mark, "%s: %+v", r.why, v)
			if r.mark == unparsed {
				assert.Equal(t, r.reason, v.Reason)
			}
		})
	}
}

func TestToolCallsTarget(t *testing.T) {
	for _, target := range []string{"", "weather", `["weather"]`, `[{"arguments":{}}]`, `[{"name":""}]`, `[{"name":"f","args":{}}]`,
		`[{"name":"f","arguments":"{"}]`, `[{"name":"f","arguments":[1]}]`, `[{"name":"f","name":"g"}]`} {
		_, err := grade.ToolCalls().Grade(context.Background(), dataset.Item{ID: "q", Target: target},
			llm.Response{ToolCalls: []llm.ToolCall{call("f", "{}")}})
		require.ErrorIs(t, err, grade.ErrTarget, target)
	}
}

func FuzzToolCalls(f *testing.F) {
	f.Add("f", `{"a":1}`, `[{"name":"f","arguments":{"a":1}}]`)
	f.Add("f", "", `[]`)
	f.Add("f", `{"a":1,"a":2}`, `{"function":{"name":"f","arguments":"{}"}}`)
	f.Fuzz(func(t *testing.T, name, arguments, target string) {
		item := dataset.Item{Target: target}
		for _, resp := range []llm.Response{{ToolCalls: []llm.ToolCall{call(name, arguments)}}, {Text: arguments}} {
			strict, err := grade.ToolCalls(grade.CallsInText()).Grade(context.Background(), item, resp)
			if err != nil {
				require.ErrorIs(t, err, grade.ErrTarget)
				continue
			}
			require.NoError(t, strict.Check())
			loose, err := grade.ToolCalls(grade.CallsInText(), grade.AnyOrder(), grade.FurtherCalls(), grade.FurtherArguments()).Grade(context.Background(), item, resp)
			require.NoError(t, err)
			if strict.Mark == right {
				require.Equal(t, right, loose.Mark)
			}
		}
	})
}
