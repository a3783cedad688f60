package client_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
)

func TestNothing(t *testing.T) {
	rows := []struct {
		name, reason string
		raw          string
		want         bool
	}{
		{"absent", "the field is not there", ``, true},
		{"null", "the usual word for it", `null`, true},
		{"blank object", "indented, it is empty all the same", "{\n }", true},
		{"blank list", "indented, it is empty all the same", "[ ]", true},
		{"one digit", "a number is something", `7`, false},
		{"zero", "servers send it for no error", `0`, true},
		{"object", "it has a field", `{"a":null}`, false},
		{"text of brackets", "a text is something", `"{}"`, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, client.Nothing(json.RawMessage(r.raw)), r.reason)
		})
	}
}

func TestIndex(t *testing.T) {
	rows := []struct {
		name, reason string
		raw          string
		want         int // -1 is an error
	}{
		{"absent", "its place counts", ``, 5},
		{"null", "its place counts", `null`, 5},
		{"zero", "zero is an index", `0`, 0},
		{"float", "Python writes it so", `1.0`, 1},
		{"text", "nothing else can be meant", `"1"`, 1},
		{"half", "no index", `1.5`, -1},
		{"word", "no index", `"first"`, -1},
		{"list", "no index", `[1]`, -1},
		{"huge", "it must not overflow", `1e300`, -1},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, err := client.Index("index", json.RawMessage(r.raw), 5)
			if r.want < 0 {
				assert.ErrorContains(t, err, "index is", r.reason)
				return
			}
			assert.NoError(t, err, r.reason)
			assert.Equal(t, r.want, got, r.reason)
		})
	}
}

// TestOddShowsNoValue: what stands in a field may be a key.
func TestOddShowsNoValue(t *testing.T) {
	odd := client.OddField("name", json.RawMessage(`["topsecret"]`), "a text").Under("function").Under("tool_calls[0]")
	assert.Equal(t, "the answer is malformed: tool_calls[0].function.name is a list where a text belongs", odd.Error())
	assert.Equal(t, "content", client.OddField("", nil, "x").Under("content").Path)
}

func TestCheckUsage(t *testing.T) {
	known := func(in, out int64) llm.Usage { return llm.Usage{Input: in, Output: out, Known: true} }
	rows := []struct {
		name, reason string
		r            llm.Response
		known        bool
		warn         string
	}{
		{"counted", "the usual case", llm.Response{Text: "a", Usage: known(1, 1)}, true, ""},
		{"zeros", "a server that does not count", llm.Response{Text: "a", Usage: known(0, 0)}, false, "unknown"},
		{"zeros of a call", "calls are written by the model too", llm.Response{ToolCalls: []llm.ToolCall{{Name: "f"}}, Usage: known(0, 0)}, false, "unknown"},
		{"no output", "the prompt's count may be right", llm.Response{Text: "a", Usage: known(7, 0)}, true, "doubtful"},
		{"nothing written", "a blocked prompt is counted", llm.Response{Usage: known(7, 0)}, true, ""},
		{"refusal", "it may be a filter's, which is free", llm.Response{Refusal: "no", Usage: known(7, 0)}, true, ""},
		{"unknown", "there is nothing to check", llm.Response{Text: "a"}, false, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			client.CheckUsage(&r.r)
			assert.Equal(t, r.known, r.r.Usage.Known, r.reason)
			if r.warn == "" {
				assert.Empty(t, r.r.Warnings, r.reason)
			} else if assert.Len(t, r.r.Warnings, 1, r.reason) {
				assert.Contains(t, r.r.Warnings[0], r.warn, r.reason)
			}
		})
	}
}
