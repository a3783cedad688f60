package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/internal/jsonraw"
)

// object is an object of these names. The value of each is its own name, or
// what instead has for it.
func object(t *testing.T, names jsonraw.Names, instead map[string]string) string {
	var fields []string
	used := 0
	for _, n := range names {
		v, ok := instead[n]
		if ok {
			used++
		} else {
			v = quoted(n)
		}
		fields = append(fields, quoted(n)+":"+v)
	}
	require.Len(t, instead, used, "each is one of %q", names)
	return "{" + strings.Join(fields, ",") + "}"
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

func rawText(s string) json.RawMessage { return json.RawMessage(quoted(s)) }

// TestChunkNames: the value of each name lands in its own field. Names and places
// are lists of their own.
func TestChunkNames(t *testing.T) {
	choice := object(t, choiceNames, map[string]string{"index": "3"})
	candidate := object(t, candidateNames, map[string]string{"index": "2", "content": object(t, contentNames, map[string]string{"parts": `["parts"]`})})
	data := object(t, chunkNames, map[string]string{
		"choices": "[" + choice + "]", "candidates": "[" + candidate + "]",
		"promptFeedback": object(t, feedbackNames, nil), "incomplete_details": object(t, incompleteNames, nil),
		"x_groq": object(t, groqNames, map[string]string{"usage": `"groq usage"`, "error": `"groq error"`}),
	})
	want := chunk{
		ID: "id", ResponseID: "responseId", Model: "model", ModelVersion: "modelVersion", Type: "type", Object: "object",
		Choices: []chunkChoice{{
			Index: 3, FinishReason: rawText("finish_reason"), Delta: rawText("delta"), Message: rawText("message"), Text: "text", Error: rawText("error"),
		}},
		Candidates:  []geminiCandidate{{Index: 2, FinishReason: "finishReason", Parts: []json.RawMessage{rawText("parts")}}},
		BlockReason: "blockReason",
		Usage:       rawText("usage"), UsageMetadata: rawText("usageMetadata"), GroqUsage: rawText("groq usage"), GroqError: rawText("groq error"),
		Response: rawText("response"), Message: rawText("message"), Delta: rawText("delta"),
		StopReason: rawText("stop_reason"), Status: rawText("status"), IncompleteReason: "reason", Error: rawText("error"),
	}
	var c chunk
	odd, err := c.read([]byte(data))
	require.NoError(t, err)
	assert.False(t, odd)
	assert.Equal(t, want, c)
}

// TestAnyFull: any one field, the last of the longest list too, is what the model
// wrote.
func TestAnyFull(t *testing.T) {
	for _, names := range []jsonraw.Names{textFields, partFields, deltaFields} {
		assert.False(t, anyFull(names, json.RawMessage(`{"role":"x"}`)))
		for _, n := range names {
			assert.True(t, anyFull(names, json.RawMessage(object(t, jsonraw.Names{n}, nil))), n)
			assert.False(t, anyFull(names, json.RawMessage(object(t, jsonraw.Names{n}, map[string]string{n: `""`}))), n)
		}
	}
}

// TestUsageNames: the value of each name is kept under it.
func TestUsageNames(t *testing.T) {
	want, instead := map[string]int64{}, map[string]string{"cost": "0.5"}
	number := func(name string) string {
		want[name] = int64(len(want) + 1)
		return fmt.Sprint(want[name])
	}
	for _, n := range usageFields {
		instead[n] = number(n)
	}
	for _, o := range usageObjects {
		inner := map[string]string{}
		for _, f := range o.fields {
			inner[f] = number(o.name + "." + f)
		}
		instead[o.name] = object(t, o.fields, inner)
	}
	var c usageCounts
	c.merge(json.RawMessage(object(t, usageNames, instead)))
	assert.Equal(t, want, c.n)
	assert.Equal(t, "0.5", c.cost)
	assert.Empty(t, c.bad)
}
