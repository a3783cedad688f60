package workload

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		line         string
		want         Request // Prompt, Body, AskedInput
	}{
		{"text", "one message of the user", `{"text":"Grüße\n\u0041"}`, Request{Prompt: "Grüße\nA"}},
		{"text with length", "what the file says", `{"text":"a b","input_tokens":7}`, Request{Prompt: "a b", AskedInput: 7}},
		{"length null", "not known", `{"text":"a b","input_tokens":null}`, Request{Prompt: "a b"}},
		{"length 0", "BatchBench writes 0 for unknown", `{"text":"a b","input_tokens":0}`, Request{Prompt: "a b"}},
		{"body", "byte for byte, spaces, order and input_tokens of its own included", `{"body": {"z":1, "a":[1.50,"\u0041"],"input_tokens":3} ,"input_tokens":9}`,
			Request{Body: []byte(`{"z":1, "a":[1.50,"\u0041"],"input_tokens":3}`), AskedInput: 9}},
		{"bare", "as it stands in the file", ` {"messages": [], "z" : 1.0} `, Request{Body: []byte(`{"messages": [], "z" : 1.0}`)}},
		{"bare with lengths", "two keys are not sent; the others keep order and spelling", `{"line_idx":4, "m\u006fdel":"x" ,"messages":[ {} ],"input_tokens":12,"z":1e5}`,
			Request{Body: []byte(`{"m\u006fdel":"x","messages":[ {} ],"z":1e5}`), AskedInput: 12}},
		{"bare with lengths only", "a key may be the last", `{"input_tokens":12,"prompt":"x"}`, Request{Body: []byte(`{"prompt":"x"}`), AskedInput: 12}},
		{"completions", "known by its prompt", `{"prompt":"x"}`, Request{Body: []byte(`{"prompt":"x"}`)}},
		{"responses", "known by its input", `{"input":"x"}`, Request{Body: []byte(`{"input":"x"}`)}},
		{"gemini", "known by its contents", `{"contents":[]}`, Request{Body: []byte(`{"contents":[]}`)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			rows, err := Read(strings.NewReader("\n  \n"+row.line+"\r\n\n"), "in", RowsOptions{})
			require.NoError(t, err, row.reason)
			got, err := rows.Request(0)
			require.NoError(t, err)
			row.want.Group = -1
			assert.Equal(t, row.want, got, row.reason)
			assert.Empty(t, rows.Warnings())
			assert.Equal(t, 1, rows.Rows())
		})
	}
}

func TestBadLines(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		line         string
		want         string
	}{
		{"neither", "", `{"question":"x"}`, `it has none of "text", "body", ["messages" "prompt" "input" "contents"]: what is to be sent?`},
		{"text and body", "", `{"text":"x","body":{}}`, `it has both "text" and "body": give one of them`},
		{"text and messages", "which is it?", `{"text":"x","messages":[]}`, `it has "messages" beside "text": give a text, a body, or a request on its own`},
		{"body and prompt", "", `{"body":{},"prompt":"x"}`, `it has "prompt" beside "body": give a text, a body, or a request on its own`},
		{"text of a number", "", `{"text":5}`, `"text" is "5": want a string`},
		{"empty text", "a server refuses it", `{"text":" \n"}`, `"text" is empty`},
		{"body of a list", "", `{"body":[1]}`, `"body" is "[1]": want an object`},
		{"negative length", "", `{"text":"x","input_tokens":-1}`, `"input_tokens" is "-1": want a whole number from 0 to 2147483647`},
		{"length with a fraction", "", `{"text":"x","input_tokens":1.5}`, `"input_tokens" is "1.5": want a whole number`},
		{"length as text", "", `{"text":"x","input_tokens":"5"}`, `"input_tokens" is "\"5\"": want a whole number`},
		{"huge length", "", `{"text":"x","input_tokens":3000000000}`, `"input_tokens" is "3000000000": want a whole number`},
		{"list", "", `[1]`, "in:4"},
		{"no JSON", "", `hello`, "invalid JSON"},
		{"twice", "one of them would be lost", `{"text":"x","text":"y"}`, "duplicate key"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(`{"text":"a"}`+"\n\n{\"text\":\"b\"}\n"+row.line+"\n"), "in", RowsOptions{})
			var in *dataset.Error
			require.ErrorAs(t, err, &in, row.reason)
			assert.Equal(t, 4, in.Line, "blank lines count")
			assert.ErrorContains(t, err, "in:4: ")
			assert.ErrorContains(t, err, row.want)
		})
	}
	_, err := Read(strings.NewReader(`{}`), "in", RowsOptions{})
	assert.ErrorIs(t, err, ErrRow)
	_, err = Read(strings.NewReader("\n"), "in", RowsOptions{})
	assert.ErrorIs(t, err, dataset.ErrEmpty)
	_, err = Load(file(t, "none", "")+"x", RowsOptions{})
	assert.Error(t, err)
}

func TestUnusedKeysAreAWarning(t *testing.T) {
	rows, err := Read(strings.NewReader(`{"text":"a","id":1}`+"\n"+`{"body":{},"id":2,"source":"x"}`+"\n"+`{"prompt":"x","id":3}`), "in", RowsOptions{})
	require.NoError(t, err)
	require.Len(t, rows.Warnings(), 2, "the keys of a request on its own are all sent")
	assert.EqualError(t, rows.Warnings()[0], `workload: the key "id" of 2 rows is not used: beside "text" and "body" only "input_tokens" has a meaning`)
	assert.Equal(t, &UnusedKeyError{Key: "source", Rows: 1}, rows.Warnings()[1])
	var many strings.Builder
	for i := range 50 {
		many.WriteString(`{"text":"a","k` + strings.Repeat("x", i) + `":1}` + "\n")
	}
	rows, err = Read(strings.NewReader(many.String()), "in", RowsOptions{})
	require.NoError(t, err)
	assert.Len(t, rows.Warnings(), maxUnused)
}

func TestCompressed(t *testing.T) {
	const content = `{"text":"a"}` + "\n" + `{"text":"b"}` + "\n"
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, _ = g.Write([]byte(content))
	require.NoError(t, g.Close())
	z, err := zstd.NewWriter(&zst)
	require.NoError(t, err)
	_, _ = z.Write([]byte(content))
	require.NoError(t, z.Close())
	for name, data := range map[string]string{"plain.jsonl": content, "in.jsonl.gz": gz.String(), "in.jsonl.zst": zst.String(), "misnamed.txt": zst.String()} {
		t.Run(name, func(t *testing.T) {
			rows, err := Load(file(t, name, data), RowsOptions{})
			require.NoError(t, err)
			assert.Equal(t, 2, rows.Len())
			assert.NotEmpty(t, rows.Name())
			assert.Len(t, rows.SHA256(), 64)
			second, err := rows.Request(1)
			require.NoError(t, err)
			assert.Equal(t, "b", second.Prompt)
		})
	}
}

func TestRowsEnd(t *testing.T) {
	const content = `{"text":"a a","input_tokens":2}` + "\n" + `{"text":"b","input_tokens":1}`
	once, err := Read(strings.NewReader(content), "in", RowsOptions{})
	require.NoError(t, err)
	_, err = once.Request(2)
	require.ErrorIs(t, err, ErrEnd)
	assert.EqualError(t, err, "workload: request 2: no more requests: in has 2 rows; Repeat begins anew")
	assert.Panics(t, func() { _, _ = once.Request(-1) })

	again, err := Read(strings.NewReader(content), "in", RowsOptions{Repeat: true, Seed: 9, Output: Must(Uniform(1, 1000))})
	require.NoError(t, err)
	assert.Zero(t, again.Len())
	list := ask(t, again, 4)
	assert.Equal(t, []int{0, 1, 0, 1}, []int{list[0].Entry, list[1].Entry, list[2].Entry, list[3].Entry})
	assert.Equal(t, list[0].Prompt, list[2].Prompt)
	assert.Equal(t, []int{0, 0, 2, 1}, []int{list[0].PossibleCached, list[1].PossibleCached, list[2].PossibleCached, list[3].PossibleCached}, "the second time, all of it was there before")
	assert.NotEqual(t, list[0].Output, list[2].Output, "lengths are drawn for each request")
	assert.Equal(t, list[0].Output.Min, list[0].Output.Max)
}

func TestRowsPossibleCached(t *testing.T) {
	const content = `{"text":"one two three four"}
{"text":"one two three five six"}
{"text":"one two threes"}
{"text":"one two three four"}
{"text":"eight"}
{"text":"one"}`
	for _, row := range []struct {
		name, reason string
		opt          RowsOptions
		want         []int
	}{
		{"with a counter", "up to the last word that is whole in both", RowsOptions{Tokens: count}, []int{0, 3, 2, 4, 0, 1}},
		{"in blocks", "rounded down", RowsOptions{Tokens: count, CacheBlock: 2}, []int{0, 2, 2, 4, 0, 0}},
		{"without", "nothing is known of the lengths", RowsOptions{}, []int{0, 0, 0, 0, 0, 0}},
		{"salted", "all but the first have the salt, too", RowsOptions{Tokens: count, Text: words{}, Salt: Salt{Value: 3}}, []int{0, 7, 6, 8, 4, 5}},
	} {
		t.Run(row.name, func(t *testing.T) {
			rows, err := Read(strings.NewReader(content), "in", row.opt)
			require.NoError(t, err)
			var got []int
			for _, r := range ask(t, rows, 6) {
				got = append(got, r.PossibleCached)
				if row.opt.Tokens != nil {
					assert.Equal(t, count(r.Prompt), r.AskedInput)
				}
			}
			assert.Equal(t, row.want, got, row.reason)
		})
	}
	t.Run("a length in the file", func(t *testing.T) {
		rows, err := Read(strings.NewReader(`{"text":"one two three four"}
{"text":"one two three five","input_tokens":2}`), "in", RowsOptions{Tokens: count})
		require.NoError(t, err)
		assert.Equal(t, 2, ask(t, rows, 2)[1].PossibleCached, "no more than the row has")
	})
	t.Run("bodies", func(t *testing.T) {
		rows, err := Read(strings.NewReader(`{"body":{"a":1},"input_tokens":5}
{"body":{"a":12},"input_tokens":5}
{"body":{"a":1},"input_tokens":5}`), "in", RowsOptions{Tokens: count})
		require.NoError(t, err)
		assert.Equal(t, 5, ask(t, rows, 3)[2].PossibleCached, "an equal body is known, another is not looked into")
	})
}

func TestRowsSalt(t *testing.T) {
	opt := RowsOptions{Text: words{}, Salt: Salt{Value: 3}, Repeat: true}
	const content = `{"text":"hello you","input_tokens":2}` + "\n" + `{"text":"goodbye"}`
	rows, err := Read(strings.NewReader(content), "in", opt)
	require.NoError(t, err)
	list := ask(t, rows, 4)
	salt, rest, _ := strings.Cut(list[0].Prompt, "\n\n")
	assert.Equal(t, "hello you", rest)
	assert.Equal(t, 4, count(salt))
	assert.Equal(t, salt+"\n\ngoodbye", list[1].Prompt, "one salt for all rows")
	assert.NotContains(t, list[2].Prompt, salt, "and another when they begin anew")
	assert.Zero(t, list[0].AskedInput, "the length with the salt is not known")
	assert.Zero(t, list[2].PossibleCached, "a row that comes again has another salt")

	for _, row := range []struct {
		name, reason string
		content      string
		opt          RowsOptions
		want         string
	}{
		{"body", "sent as it is", `{"text":"a"}` + "\n" + `{"body":{}}`, opt, "workload: Salt is on: row 2 of in is a whole request, which is sent as it is"},
		{"no text", "nothing to make it of", content, RowsOptions{Salt: Salt{Value: 3}}, "workload: Text is missing: Salt needs it"},
		{"block", "", content, RowsOptions{CacheBlock: -1}, "workload: CacheBlock is -1: want at least 1, or 0 for the default of 1"},
		{"tokens", "", content, RowsOptions{Text: words{}, Salt: Salt{Tokens: -1}}, "workload: Salt.Tokens is -1: want from 1 to 16777216, or 0 for the default; Off leaves the salt out"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(row.content), "in", row.opt)
			require.EqualError(t, err, row.want, row.reason)
			require.ErrorIs(t, err, ErrOption)
		})
	}
	t.Run("cannot be made", func(t *testing.T) {
		rows, err := Read(strings.NewReader(content), "in", RowsOptions{Text: failing{bad: func(int) bool { return true }}})
		require.NoError(t, err)
		_, err = rows.Request(0)
		require.ErrorIs(t, err, errNoText)
	})
}

func TestFromDataset(t *testing.T) {
	ds, err := dataset.New("quiz", []dataset.Item{{Input: "one"}, {Input: "bad"}, {Input: "none"}, {Input: "two"}})
	require.NoError(t, err)
	cause := errors.New("no template")
	rows, err := FromDataset(ds, func(it dataset.Item) ([]llm.Message, error) {
		switch it.Input {
		case "bad":
			return nil, cause
		case "none":
			return nil, nil
		}
		return []llm.Message{{Role: llm.RoleSystem, Content: "Be short now."}, {Role: llm.RoleUser, Content: it.Input}}, nil
	}, RowsOptions{Tokens: count, Text: words{}, Salt: Salt{Value: 1}})
	require.NoError(t, err)
	first, err := rows.Request(0)
	require.NoError(t, err)
	assert.Regexp(t, `^the \w+ \w+ \w+\n\nBe short now\.$`, first.Messages[0].Content)
	assert.Equal(t, "one", first.Messages[1].Content)
	assert.Equal(t, 8, first.AskedInput)
	last, err := rows.Request(3)
	require.NoError(t, err)
	assert.Equal(t, 7, last.PossibleCached, "salt and system message")
	assert.Equal(t, llm.RoleSystem, last.Chat()[0].Role)
	again, err := rows.Request(0)
	require.NoError(t, err)
	assert.Equal(t, first, again, "the salt is not put into the row itself")
	_, err = rows.Request(1)
	require.ErrorIs(t, err, cause)
	assert.EqualError(t, err, "workload: request 1: item 2 of quiz: no template")
	_, err = rows.Request(2)
	assert.EqualError(t, err, "workload: request 2: item 3 of quiz: the prompt function gave no message")
	assert.Panics(t, func() { _, _ = FromDataset(nil, nil, RowsOptions{}) })
}

func TestCommonBefore(t *testing.T) {
	assert.Empty(t, commonBefore(nil))
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		texts := make([]string, r.IntN(12))
		for i := range texts {
			b := make([]byte, r.IntN(6))
			for k := range b {
				b[k] = "ab"[r.IntN(2)]
			}
			texts[i] = string(b)
		}
		want := make([]int, len(texts))
		for i := range texts {
			for j := range i {
				want[i] = max(want[i], commonBytes(texts[i], texts[j]))
			}
		}
		require.Equal(t, want, commonBefore(texts), "%q", texts)
	}
}
