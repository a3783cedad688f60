package cassette_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/openai"
)

func TestMissNamesTheNearest(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	base := llm.Prompt("Natalia sold clips to 48 of her friends in April.").WithSystem("Be brief.")
	base.Temperature = new(0.0)
	for i, text := range []string{base.Messages[1].Content, "Weng earns 12 an hour.", "Betty saves."} {
		req := base
		req.Messages = slices.Clone(base.Messages)
		req.Messages[1].Content = text
		_, err := r.client.Generate(under(t.Context(), c, fmt.Sprintf("gsm8k-%04d", i+1)), req)
		require.NoError(t, err)
	}
	r.close(c)
	rows := []struct {
		name   string
		change func(*llm.Request)
		model  string
		want   string
	}{
		{"message", func(r *llm.Request) { r.Messages[1].Content = "Natalia sold clips to 49 of her friends in April." }, "m",
			`miss: no recording of this request: nearest is line 2 (item "gsm8k-0001"): messages[1].content differs from character 24 on: "…ips to 48 of her friends…" there, "…ips to 49 of her friends…" here; to add it to `},
		{"temperature", func(r *llm.Request) { r.Temperature = new(0.7) }, "m", "temperature is 0 there and 0.7 here"},
		{"no temperature", func(r *llm.Request) { r.Temperature = nil }, "m", "temperature is 0 there and absent here"},
		{"more messages", func(r *llm.Request) { r.Messages = append(r.Messages, llm.Message{Role: "assistant", Content: "x"}) }, "m", "messages has 2 elements there and 3 here"},
		{"model", func(r *llm.Request) {}, "n", "model differs from character 1 on"},
		{"new field", func(r *llm.Request) { r.Seed = new(int64(1)) }, "m", "seed is absent there and 1 here"},
		{"everything", func(r *llm.Request) {
			r.Messages = llm.Prompt("x").Messages
			r.Seed, r.TopP, r.Temperature, r.MaxOutputTokens = new(int64(1)), new(0.5), nil, new(int64(3))
		}, "k", "; and 6 more"},
	}
	c = r.open(cassette.Options{Rerecord: "set EVALTEST_CASSETTE=auto"})
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			req := base
			req.Messages = slices.Clone(base.Messages)
			row.change(&req)
			m := openai.Config{Model: row.model, BaseURL: "http://127.0.0.1/v1"}.New()
			_, err := m.Generate(under(t.Context(), c, "gsm8k-0001"), req)
			var le *llm.Error
			require.ErrorAs(t, err, &le)
			assert.Equal(t, llm.KindMiss, le.Kind)
			var miss *cassette.MissError
			require.ErrorAs(t, err, &miss)
			require.NotNil(t, miss.Nearest)
			assert.Equal(t, "gsm8k-0001", miss.Item)
			assert.Contains(t, err.Error(), row.want)
			assert.True(t, strings.HasSuffix(err.Error(), "; to add it to "+r.path+", set EVALTEST_CASSETTE=auto"), "%v", err)
			assert.Equal(t, 1, strings.Count(err.Error(), r.path))
			assert.LessOrEqual(t, len(err.Error())-len(r.path), 270, "short enough for a summary: %v", err)
		})
	}
	assert.Equal(t, len(rows), c.Stats().Missed)
	assert.Len(t, c.Unused(), 3)
	assert.Equal(t, "Be brief.", base.Messages[0].Content)

	require.NoError(t, os.WriteFile(r.path, []byte("{\"evals_cassette\":1}\n"), 0o600))
	c = r.open(cassette.Options{})
	_, err := r.ask(under(t.Context(), c, "a"), "q")
	assert.EqualError(t, err, `miss: no recording of this request: the cassette is empty; to add it to `+r.path+`, open the cassette in mode auto`)
}

func TestUnused(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	for _, q := range []string{"one", "two"} {
		r.mustAsk(under(t.Context(), c, "item-"+q), q)
	}
	assert.Empty(t, c.Unused(), "what was just recorded was asked for")
	r.close(c)
	c = r.open(cassette.Options{})
	r.mustAsk(under(t.Context(), c, "x"), "one")
	want := []cassette.Unused{{Line: 3, Item: "item-two", Method: "POST", Path: "/v1/chat/completions", Model: "m", Request: "two"}}
	assert.Equal(t, want, c.Unused())
}

func TestMissBeneathRetryingHTTP(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	r.close(r.open(cassette.Options{Mode: cassette.Record}))
	require.NoError(t, os.WriteFile(r.path, []byte("{\"evals_cassette\":1}\n"), 0o600))
	c := r.open(cassette.Options{})
	_, err := (&http.Client{Transport: c.Transport(nil)}).Get("http://h/x")
	var miss *cassette.MissError
	require.True(t, errors.As(err, &miss), "through net/http's own error: %v", err)
}
