package trace_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/trace"
)

const azureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\n"

func TestReadErrors(t *testing.T) {
	mooncake := func(row string) string {
		return `{"timestamp":0,"input_length":1,"output_length":1}` + "\n" + row + "\n"
	}
	azure := func(row string) string { return azureHeader + "2023-11-16 18:15:46,1,1\n" + row + "\n" }
	burst := func(row string) string { return "Timestamp,Request tokens,Response tokens\n1,1,1\n" + row + "\n" }
	chat := `{"trace_id":"t","span_id":"1","start_time":"2023-11-14T22:13:22Z","end_time":"2023-11-14T22:13:23Z","attributes":{"gen_ai.operation.name":"chat",`
	tests := []struct {
		name, reason string
		in           string
		o            trace.Options
		is           error
		line         int // 0: the error is about the file
		says         string
	}{
		{name: "empty", reason: "nothing to replay", in: "", is: trace.ErrEmpty},
		{name: "blank", reason: "nothing to replay", in: " \n\n", is: trace.ErrEmpty},
		{name: "byte order mark only", reason: "nothing to replay", in: "\xef\xbb\xbf", is: trace.ErrEmpty},
		{name: "header only", reason: "no row", in: azureHeader, is: trace.ErrEmpty, says: "0 rows were read"},
		{name: "all dropped", reason: "says why", in: azureHeader + "2023-11-16 18:15:46,1,0\n", is: trace.ErrEmpty, says: "1 no output"},
		{name: "unknown header", reason: "names what was seen and what is known", in: "time,in,out\n1,2,3\n", is: trace.ErrKind, says: `a header of "time", "in", "out"; known are azure, bailian, burstgpt, mooncake, otel, sharegpt`},
		{name: "unknown object", reason: "names the keys", in: `{"a":1,"b":2}`, is: trace.ErrKind, says: `an object with "a", "b"`},
		{name: "list of rows", reason: "Mooncake is JSONL", in: `[{"input_length":1,"output_length":1}]`, is: trace.ErrKind, says: `a list of objects with "input_length"`},
		{name: "manifest", reason: "needs no import", in: `{"schema_version":1,"trajectory_id":"x","requests":[]}`, is: trace.ErrKind, says: "use agent.Open"},
		{name: "weka", reason: "known but not supported", in: `{"id":"x","block_size":64,"requests":[]}`, is: trace.ErrKind, says: "Weka"},
		{name: "terminal escapes in a header", reason: "hostile", in: "\x1b[31mred,in\n", is: trace.ErrKind, says: `"\x1b[31mred"`},
		{name: "zip", reason: "a common mistake", in: "PK\x03\x04xx", is: trace.ErrKind, says: "unpack it"},
		{name: "parquet", reason: "a common mistake", in: "PAR1xx", is: trace.ErrKind, says: "Parquet"},
		{name: "UTF-16", reason: "a common mistake", in: "\xff\xfeT\x00", is: trace.ErrKind, says: "UTF-16"},
		{name: "HTML", reason: "a download that failed", in: "<!DOCTYPE html><html>", is: trace.ErrKind, says: "HTML"},
		{name: "LFS pointer", reason: "a clone without LFS", in: "version https://git-lfs.github.com/spec/v1\n", is: trace.ErrKind, says: "git lfs pull"},

		{name: "not JSON", reason: "names the line", in: mooncake(`{"timestamp":}`), is: trace.ErrSyntax, line: 2},
		{name: "broken line", reason: "it has its end: not cut off", in: mooncake(`{"timestamp":1`), is: trace.ErrSyntax, line: 2, says: "not a whole JSON object"},
		{name: "cut off", reason: "no line end", in: `{"timestamp":1,"input_length":2,"hash_ids":[1,`, is: trace.ErrTruncated, line: 1},
		{name: "list in JSONL", reason: "a row is an object", in: mooncake(`[1]`), is: trace.ErrSyntax, line: 2},
		{name: "two objects on a line", reason: "the second would be lost", in: mooncake(`{"input_length":1,"output_length":1}{}`), is: trace.ErrSyntax, line: 2},
		{name: "twice a name", reason: "which one counts?", in: mooncake(`{"input_length":1,"input_length":2,"output_length":1}`), is: trace.ErrSyntax, line: 2},
		{name: "bad UTF-8", reason: "hostile", in: mooncake("{\"session_id\":\"\xff\",\"input_length\":1,\"output_length\":1}"), is: trace.ErrSyntax, line: 2},
		{name: "no input", reason: "a row without a length is no request", in: mooncake(`{"output_length":1}`), is: trace.ErrColumn, line: 2, says: "input_length"},
		{name: "null output", reason: "null is as absent", in: mooncake(`{"input_length":1,"output_length":null}`), is: trace.ErrColumn, line: 2, says: "output_length"},
		{name: "negative length", reason: "out of range", in: mooncake(`{"input_length":-1,"output_length":1}`), is: trace.ErrValue, line: 2, says: `"input_length": bad value: "-1"`},
		{name: "fraction of a token", reason: "no rounding", in: mooncake(`{"input_length":1.5,"output_length":1}`), is: trace.ErrValue, line: 2, says: "whole number"},
		{name: "huge length", reason: "out of range", in: mooncake(`{"input_length":1e300,"output_length":1}`), is: trace.ErrValue, line: 2},
		{name: "beyond a float", reason: "out of range", in: mooncake(`{"input_length":1e999999999,"output_length":1}`), is: trace.ErrValue, line: 2},
		{name: "length as text", reason: "another kind of file", in: mooncake(`{"input_length":"12","output_length":1}`), is: trace.ErrValue, line: 2, says: "not a number"},
		{name: "negative time", reason: "out of range", in: mooncake(`{"timestamp":-1,"input_length":1,"output_length":1}`), is: trace.ErrValue, line: 2},
		{name: "time beyond clocks", reason: "out of range", in: mooncake(`{"timestamp":1e30,"input_length":1,"output_length":1}`), is: trace.ErrValue, line: 2},
		{name: "span of 32 years", reason: "a wrong unit", in: mooncake(`{"timestamp":1010000000000,"input_length":1,"output_length":1}`), is: trace.ErrValue, line: 2, says: "are the timestamps in milliseconds?"},
		{name: "delay of 32 years", reason: "agent has the same bound", in: mooncake(`{"session_id":"s","delay":1010000000000,"input_length":1,"output_length":1}`), is: trace.ErrValue, line: 2},
		{name: "too many hash ids", reason: "another block size", in: mooncake(`{"input_length":100,"output_length":1,"hash_ids":[1,2,3]}`), is: trace.ErrValue, line: 2, says: "Options.BlockTokens"},
		{name: "too few hash ids", reason: "another block size", in: mooncake(`{"input_length":2048,"output_length":1,"hash_ids":[1]}`), is: trace.ErrValue, line: 2, says: "Options.BlockTokens"},
		{name: "negative hash id", reason: "out of range", in: mooncake(`{"input_length":1,"output_length":1,"hash_ids":[-1]}`), is: trace.ErrValue, line: 2},
		{name: "hash ids as object", reason: "RAGPulse", in: mooncake(`{"input_length":1,"output_length":1,"hash_ids":{"history":[1]}}`), is: trace.ErrValue, line: 2},
		{name: "payload", reason: "whole requests are another room's", in: mooncake(`{"payload":{}}`), is: trace.ErrValue, line: 2, says: "workload"},
		{name: "text and length", reason: "which one counts?", in: mooncake(`{"text_input":"a","input_length":1,"output_length":1}`), is: trace.ErrColumn, line: 2},
		{name: "text and messages", reason: "which one counts?", in: mooncake(`{"text_input":"a","messages":[],"output_length":1}`), is: trace.ErrColumn, line: 2},
		{name: "delta without messages", reason: "nothing to add", in: mooncake(`{"message_mode":"delta","input_length":1,"output_length":1}`), is: trace.ErrColumn, line: 2},
		{name: "unknown mode", reason: "no guess", in: mooncake(`{"message_mode":"all","input_length":1,"output_length":1}`), is: trace.ErrValue, line: 2},
		{name: "mixed modes", reason: "AIPerf refuses it too", in: `{"session_id":"s","message_mode":"delta","messages":[{"role":"user","content":"a"}],"output_length":1}` + "\n" +
			`{"session_id":"s","messages":[{"role":"user","content":"a"}],"output_length":1}`, is: trace.ErrValue, line: 2, says: "mixes"},
		{name: "content parts", reason: "no text", in: `{"messages":[{"role":"user","content":[{"type":"text"}]}],"output_length":1}`, is: trace.ErrValue, line: 1},
		{name: "message without content", reason: "no text", in: `{"messages":[{"role":"user"}],"output_length":1}`, is: trace.ErrColumn, line: 1},
		{name: "tool calls in messages", reason: "would be lost", in: `{"messages":[{"role":"assistant","content":"","tool_calls":[]}],"output_length":1}`, is: trace.ErrValue, line: 1},
		{name: "long session name", reason: "hostile", in: mooncake(`{"session_id":"` + strings.Repeat("x", 1025) + `","input_length":1,"output_length":1}`), is: trace.ErrValue, line: 2},

		{name: "bailian without parent", reason: "needed", in: `{"chat_id":1,"parent_chat_id":null,"input_length":1,"output_length":1,"timestamp":1}`, is: trace.ErrColumn, line: 1},
		{name: "bailian without time", reason: "needed", in: `{"chat_id":1,"parent_chat_id":-1,"input_length":1,"output_length":1}`, is: trace.ErrColumn, line: 1},

		{name: "azure: too few fields", reason: "columns would shift", in: azure("2023-11-16 18:15:46,1"), is: trace.ErrColumn, line: 3},
		{name: "azure: too many fields", reason: "columns would shift", in: azure("2023-11-16 18:15:46,1,2,3"), is: trace.ErrColumn, line: 3},
		{name: "azure: cut off", reason: "no line end", in: azureHeader + "2023-11-16 18:15", is: trace.ErrTruncated, line: 2},
		{name: "azure: not a date", reason: "seconds are another kind's", in: azure("12.5,1,2"), is: trace.ErrValue, line: 3, says: "not a date"},
		{name: "azure: month 13", reason: "out of range", in: azure("2023-13-16 18:15:46,1,2"), is: trace.ErrValue, line: 3},
		{name: "azure: year 1", reason: "out of range", in: azure("0001-01-01 00:00:00,1,2"), is: trace.ErrValue, line: 3, says: "1970"},
		{name: "azure: year 9999", reason: "out of range", in: azure("9999-01-01 00:00:00,1,2"), is: trace.ErrValue, line: 3},
		{name: "azure: NaN", reason: "not a number", in: azure("2023-11-16 18:15:46,NaN,2"), is: trace.ErrValue, line: 3, says: "contexttokens"},
		{name: "azure: Inf", reason: "not a number", in: azure("2023-11-16 18:15:46,Inf,2"), is: trace.ErrValue, line: 3},
		{name: "azure: hexadecimal", reason: "not as people write numbers", in: azure("2023-11-16 18:15:46,0x10,2"), is: trace.ErrValue, line: 3},
		{name: "azure: underscore", reason: "not as people write numbers", in: azure("2023-11-16 18:15:46,1_0,2"), is: trace.ErrValue, line: 3},
		{name: "azure: empty cell", reason: "absent is not 0", in: azure("2023-11-16 18:15:46,,2"), is: trace.ErrValue, line: 3, says: "empty"},
		{name: "azure: open quote", reason: "must not swallow the file", in: azure(`"2023-11-16 18:15:46,1,2`), is: trace.ErrSyntax, line: 3},
		{name: "azure: text behind a quote", reason: "no CSV", in: azure(`"2023"x,1,2`), is: trace.ErrSyntax, line: 3},
		{name: "azure: quote inside", reason: "no CSV", in: azure(`20"23,1,2`), is: trace.ErrSyntax, line: 3},
		{name: "twice a column", reason: "which one counts?", in: "TIMESTAMP,ContextTokens,GeneratedTokens,timestamp\n", is: trace.ErrColumn, line: 1},
		{name: "named kind, other header", reason: "names what is missing", in: "Timestamp,Request tokens,Response tokens\n1,1,1\n", o: trace.Options{Kind: trace.Azure}, is: trace.ErrColumn, line: 1, says: `"contexttokens"`},
		{name: "burst: negative time", reason: "out of range", in: burst("-5,1,1"), is: trace.ErrValue, line: 3, says: "Timestamp"},
		{name: "burst: NaN time", reason: "not a number", in: burst("nan,1,1"), is: trace.ErrValue, line: 3},

		{name: "sharegpt: no conversations", reason: "not a conversation", in: `[{"id":"a","conversations":[]},` + "\n" + `{"id":"b"}]`, is: trace.ErrColumn, line: 2, says: "conversation 2"},
		{name: "sharegpt: cut off", reason: "the list has no end", in: `[{"id":"a","conversations":[]},` + "\n" + `{"id":"b","conver`, is: trace.ErrTruncated, line: 2},
		{name: "sharegpt: list without end", reason: "the list has no end", in: `[{"id":"a","conversations":[]}` + "\n", is: trace.ErrTruncated, line: 2},
		{name: "sharegpt: unknown role", reason: "no guess", in: `[{"conversations":[{"from":"martian","value":"x"}]}]`, is: trace.ErrValue, line: 1, says: `"martian"`},
		{name: "sharegpt: number in list", reason: "not an object", in: `[{"conversations":[]}, 5]`, is: trace.ErrSyntax, line: 1},
		{name: "sharegpt: window", reason: "there are no times", in: `[{"conversations":[{"from":"human","value":"x"},{"from":"gpt","value":"y"}]}]`, o: trace.Options{To: time.Second}, is: trace.ErrNoTimes},

		{name: "otel: no span", reason: "neither export nor span", in: `{"resourceSpans":[]}` + "\n" + `{"a":1}`, is: trace.ErrColumn, line: 2, says: "spanId"},
		{name: "otel: no span id", reason: "a span without its id", in: `{"trace_id":"t","span_id":null}`, is: trace.ErrColumn, line: 1},
		{name: "otel: no calls", reason: "says why", in: `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"1"}]}]}]}`, is: trace.ErrEmpty, says: "1 not a model call"},
		{name: "otel: cut off", reason: "the export has no end", in: `{"resourceSpans":[{"scopeSpans":[` + "\n", is: trace.ErrTruncated, line: 2},
		{name: "otel: ends before it starts", reason: "clocks of two machines", in: `{"traceId":"t","spanId":"1","startTimeUnixNano":"5","endTimeUnixNano":"4","attributes":{"gen_ai.usage.input_tokens":1}}`, is: trace.ErrValue, line: 1},
		{name: "otel: no start", reason: "a call needs its time", in: `{"traceId":"t","spanId":"1","attributes":{"gen_ai.usage.input_tokens":1}}`, is: trace.ErrValue, line: 1},
		{name: "otel: two counts", reason: "old and new name disagree", in: chat + `"gen_ai.usage.input_tokens":5,"gen_ai.usage.prompt_tokens":6}}`, is: trace.ErrValue, line: 1, says: "under its other name"},
		{name: "otel: negative count", reason: "out of range", in: chat + `"gen_ai.usage.input_tokens":-5}}`, is: trace.ErrValue, line: 1},
		{name: "otel: text in a list", reason: "a span is an object", in: `{"resourceSpans":["x"]}`, is: trace.ErrSyntax, line: 1},

		{name: "long line", reason: "capped", in: mooncake(`{"session_id":"` + strings.Repeat("x", 500) + `"}`), o: trace.Options{MaxLine: 400}, is: trace.ErrLineTooLong, line: 2},
		{name: "long CSV line", reason: "capped", in: azure(strings.Repeat("9", 100<<10)), o: trace.Options{MaxLine: 80 << 10}, is: trace.ErrLineTooLong, line: 3},
		{name: "long value in a list", reason: "capped", in: `[{"conversations":[{"from":"human","value":"` + strings.Repeat("x", 500<<10) + `"}]}]`, o: trace.Options{MaxLine: 1000}, is: trace.ErrLineTooLong, line: 1},
		{name: "deep nesting", reason: "hostile", in: `{"resourceSpans":` + strings.Repeat("[", 20_000), is: trace.ErrSyntax, line: 1},
		{name: "deep spans", reason: "hostile", in: strings.Repeat(`{"resourceSpans":[`, 20_000), is: trace.ErrSyntax, line: 1},

		{name: "cut gzip", reason: "a download that failed", in: gzipped(t, strings.Repeat(azure(""), 1))[:40], is: trace.ErrTruncated},
		{name: "cut zstd", reason: "a download that failed", in: zstded(t, azureHeader+strings.Repeat("2023-11-16 18:15:46,1,1\n", 9))[:30], is: trace.ErrTruncated},
		{name: "gzip and more", reason: "a damaged file", in: gzipped(t, azureHeader+"2023-11-16 18:15:46,1,1\n") + "more", is: trace.ErrCorrupt, line: 3},
		{name: "gzip twice", reason: "compressed twice", in: gzipped(t, gzipped(t, azureHeader)), is: trace.ErrKind, says: "unpack it once"},

		{name: "option kind", reason: "misuse", in: azureHeader, o: trace.Options{Kind: "csv"}, is: trace.ErrKind, says: `"csv"`},
		{name: "option handling", reason: "misuse", in: azureHeader, o: trace.Options{NoOutput: 7}, is: trace.ErrOption, says: "7"},
		{name: "option from", reason: "misuse", in: azureHeader, o: trace.Options{From: -1}, is: trace.ErrOption},
		{name: "option to", reason: "an empty window", in: azureHeader, o: trace.Options{From: time.Second, To: time.Second}, is: trace.ErrOption},
		{name: "option limit", reason: "misuse", in: azureHeader, o: trace.Options{Limit: -1}, is: trace.ErrOption, says: "-1"},
		{name: "option block", reason: "misuse", in: azureHeader, o: trace.Options{BlockTokens: -1}, is: trace.ErrOption},
		{name: "option line", reason: "misuse", in: azureHeader, o: trace.Options{MaxLine: -1}, is: trace.ErrOption},
	}
	names := map[string]bool{}
	for _, tt := range tests {
		require.False(t, names[tt.name], "duplicate name %s", tt.name)
		require.NotEmpty(t, tt.reason, tt.name)
		names[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			tr, err := trace.Read(strings.NewReader(tt.in), "in", tt.o)
			require.ErrorIs(t, err, tt.is)
			assert.Nil(t, tr)
			if tt.is != trace.ErrTruncated {
				assert.NotErrorIs(t, err, trace.ErrTruncated, "it has its end")
			}
			assert.ErrorContains(t, err, tt.says)
			var le *trace.LineError
			if errors.As(err, &le) {
				assert.Equal(t, "in", le.File)
				assert.Equal(t, tt.line, le.Line)
			} else {
				assert.Zero(t, tt.line, "not a LineError: %v", err)
			}
			assert.Less(t, len(err.Error()), 1200, "an error must not print the file")
			for _, c := range err.Error() {
				assert.True(t, c >= ' ' && c != 0x7f, "control character in %q", err)
			}

			// Stream finds the same, unless it lies in what is not streamed.
			var last error
			for _, err := range trace.Stream(strings.NewReader(tt.in), "in", tt.o, nil) {
				last = err
			}
			if tt.is != trace.ErrNoTimes {
				require.Error(t, last)
				assert.Equal(t, err.Error(), last.Error())
			}
		})
	}
}

func TestOpen(t *testing.T) {
	text := azureHeader + "2023-11-16 18:15:46,10,5\n2023-11-16 18:15:47,20,6\n"
	for _, tt := range []struct{ name, reason, content string }{
		{"plain.csv", "as it is", text},
		{"rows.csv.gz", "gzip", gzipped(t, text)},
		{"members.gz", "two gzip members are one file", gzipped(t, text[:50]) + gzipped(t, text[50:])},
		{"padded.gz", "zeros behind it, as tar leaves them", gzipped(t, text) + strings.Repeat("\x00", 600)},
		{"skippable.zst", "a skippable frame before the data", "\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstded(t, text)},
		{"rows.csv.zst", "zstd", zstded(t, text)},
		{"frames.zst", "two zstd frames are one file", zstded(t, text[:50]) + zstded(t, text[50:])},
		{"lies.jsonl", "told by what it holds, not by its name", zstded(t, "\xef\xbb\xbf"+strings.ReplaceAll(text, "\n", "\r\n"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.name)
			require.NoError(t, os.WriteFile(path, []byte(tt.content), 0o600))
			tr, err := trace.Open(path, trace.Options{})
			require.NoError(t, err)
			assert.Equal(t, trace.Azure, tr.Report().Kind)
			offsets, err := tr.Offsets(1)
			require.NoError(t, err)
			assert.Equal(t, []time.Duration{0, time.Second}, offsets)
		})
	}
	_, err := trace.Open(filepath.Join(t.TempDir(), "none"), trace.Options{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// endless gives the same bytes for ever, and counts them.
type endless struct {
	head string
	n    int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.head != "" {
		n := copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	for i := range p {
		p[i] = '7'
	}
	e.n += len(p)
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	for _, tt := range []struct{ name, reason, head string }{
		{"csv", "a number without end", azureHeader},
		{"jsonl", "a number without end", `{"input_length":`},
		{"sharegpt", "a text without end", `[{"conversations":[{"from":"human","value":"`},
		{"otel", "a text without end", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := &endless{head: tt.head}
			_, err := trace.Read(in, "in", trace.Options{MaxLine: 1 << 20})
			require.ErrorIs(t, err, trace.ErrLineTooLong)
			assert.Less(t, in.n, 4<<20, "it is not read on")
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestReaderFails(t *testing.T) {
	for _, tt := range []struct{ name, reason, head string }{
		{"at once", "nothing was read", ""},
		{"in a table", "after the header", azureHeader},
		{"in JSONL", "after a row", `{"input_length":1,"output_length":1}` + "\n"},
		{"in a list", "after a conversation", `[{"conversations":[]},`},
		{"in an export", "inside", `{"resourceSpans":[`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := trace.Read(io.MultiReader(strings.NewReader(tt.head), brokenReader{}), "in", trace.Options{})
			require.ErrorIs(t, err, io.ErrClosedPipe, "the reader's own error must be found")
		})
	}
}

func TestParseKind(t *testing.T) {
	for _, k := range trace.Kinds() {
		got, err := trace.ParseKind(strings.ToUpper(string(k)))
		require.NoError(t, err)
		assert.Equal(t, k, got)
		assert.NotEmpty(t, k.Unit())
	}
	got, err := trace.ParseKind("auto")
	require.NoError(t, err)
	assert.Empty(t, got)
	_, err = trace.ParseKind("csv")
	require.ErrorIs(t, err, trace.ErrKind)
	assert.ErrorContains(t, err, "mooncake")
	assert.Equal(t, 512, trace.Mooncake.BlockTokens())
	assert.Equal(t, 16, trace.Bailian.BlockTokens())
	assert.Zero(t, trace.Azure.BlockTokens())
}
