package agent

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func v1(requests string) string {
	return `{"schema_version":1,"trajectory_id":"a","requests":[` + requests + `]}`
}

func v2(requests string) string {
	return `{"schema_version":2,"trajectory_id":"a","requests":[` + requests + `]}`
}

func blocksOf(blocks string) string {
	return v2(`{"prompt_tokens":9,"output_tokens":1,"blocks":[` + blocks + `]}`)
}

func TestReadRefuses(t *testing.T) {
	const one = `{"prompt_tokens":10,"output_tokens":5}`
	for _, row := range []struct {
		name, reason, text string
		line               int
		kind               error
		says               string
	}{
		{"bad JSON", "the line is cut", `{"schema_version":1,`, 1, ErrSyntax, ""},
		{"two objects", "nothing may follow", v1(one) + v1(one), 1, ErrSyntax, ""},
		{"array", "a line is an object", `[]`, 1, ErrSyntax, ""},
		{"unknown field", "G19: a typo must not be ignored", `{"schema_version":1,"trajectory_id":"a","requests":[` + one + `],"typo":1}`, 1, ErrSyntax, "typo"},
		{"unknown field of a request", "likewise", v1(`{"prompt_tokens":10,"output_tokens":5,"delay":3}`), 1, ErrSyntax, "delay"},
		{"other case", "names are exact", `{"Schema_Version":1,"trajectory_id":"a","requests":[` + one + `]}`, 1, ErrSyntax, "Schema_Version"},
		{"same field twice", "which one counts is unclear", `{"schema_version":1,"schema_version":1,"trajectory_id":"a","requests":[` + one + `]}`, 1, ErrSyntax, "schema_version"},
		{"no version", "it is needed", `{"trajectory_id":"a","requests":[` + one + `]}`, 1, ErrSyntax, "missing field schema_version"},
		{"no id", "it is needed", `{"schema_version":1,"requests":[` + one + `]}`, 1, ErrSyntax, "missing field trajectory_id"},
		{"no requests", "they are needed", `{"schema_version":1,"trajectory_id":"a"}`, 1, ErrSyntax, "missing field requests"},
		{"no prompt", "it is needed", v1(one + `,{"output_tokens":5}`), 1, ErrSyntax, "request 2 missing field prompt_tokens"},
		{"null prompt", "null is no number", v1(`{"prompt_tokens":null,"output_tokens":5}`), 1, ErrSyntax, "request 1 field prompt_tokens"},
		{"null delay", "null is no number", v1(`{"prompt_tokens":1,"output_tokens":5,"delay_after_ms":null}`), 1, ErrSyntax, "delay_after_ms"},
		{"text for a number", "kinds are exact", v1(`{"prompt_tokens":"1","output_tokens":5}`), 1, ErrSyntax, "prompt_tokens"},
		{"fraction", "tokens are whole", v1(`{"prompt_tokens":1.5,"output_tokens":5}`), 1, ErrSyntax, "prompt_tokens"},
		{"byte order mark", "the file was saved by an editor", "\xef\xbb\xbf" + v1(one), 1, ErrSyntax, "byte order mark"},
		{"not UTF-8", "ids must survive JSON", "{\"schema_version\":1,\"trajectory_id\":\"\xff\",\"requests\":[]}", 1, ErrSyntax, ""},
		{"schema 3", "G19", strings.Replace(v1(one), ":1", ":3", 1), 1, ErrVersion, "unsupported schema_version 3; expected 1 or 2"},
		{"schema 0", "likewise", strings.Replace(v1(one), ":1", ":0", 1), 1, ErrVersion, "unsupported schema_version 0"},
		{"white id", "white space counts as empty", strings.Replace(v1(one), `"a"`, `" \t"`, 1), 1, ErrValue, "trajectory_id must not be empty"},
		{"empty requests", "a trajectory has a turn", v1(``), 1, ErrValue, "requests must contain at least one request"},
		{"zero prompt", "it must be above zero", v1(`{"prompt_tokens":0,"output_tokens":5}`), 1, ErrValue, "request 1 prompt_tokens must be greater than zero"},
		{"zero output", "it must be above zero", v1(`{"prompt_tokens":10,"output_tokens":0}`), 1, ErrValue, "request 1 output_tokens must be greater than zero"},
		{"negative prompt", "lengths are not negative", v1(`{"prompt_tokens":-1,"output_tokens":5}`), 1, ErrValue, "prompt_tokens is -1"},
		{"huge prompt", "sums must not overflow", v1(`{"prompt_tokens":9000000000000000000,"output_tokens":5}`), 1, ErrValue, "9000000000000000000"},
		{"negative delay", "time does not run back", v1(`{"prompt_tokens":10,"output_tokens":5,"delay_after_ms":-1}`), 1, ErrValue, "delay_after_ms is -1"},
		{"huge delay", "clocks must not wrap", v1(`{"prompt_tokens":10,"output_tokens":5,"delay_after_ms":9000000000000000}`), 1, ErrValue, "delay_after_ms"},
		{"first reset", "G19", v1(`{"prompt_tokens":10,"output_tokens":5,"reset_before":true}`), 1, ErrValue, "the first request cannot set reset_before"},
		{"shrinks", "G3: 110 cannot hold 100 and 20", v1(`{"prompt_tokens":100,"output_tokens":20},{"prompt_tokens":110,"output_tokens":5}`), 1, ErrGrowth,
			"request 2 prompt_tokens (110) cannot follow the preceding prompt and output; set reset_before=true to model compaction or reset"},
		{"duplicate id", "G19", v1(one) + "\n\n" + v1(one), 3, ErrDuplicate, `duplicate trajectory_id "a", first on line 1`},
		{"empty", "G19", "", 0, ErrEmpty, "contains no trajectory plans"},
		{"blank lines", "G19", "\n \t\n\r\n", 0, ErrEmpty, "contains no trajectory plans"},
		{"v1 start", "G19", `{"schema_version":1,"trajectory_id":"a","start_after_ms":5,"requests":[` + one + `]}`, 1, ErrVersion, "start_after_ms requires schema_version 2"},
		{"v1 stream", "G19", v1(`{"prompt_tokens":10,"output_tokens":5,"stream":false}`), 1, ErrVersion, "request 1 field stream requires schema_version 2"},
		{"v1 max", "G19", v1(`{"prompt_tokens":10,"output_tokens":5,"max_tokens":1}`), 1, ErrVersion, "field max_tokens requires schema_version 2"},
		{"v1 blocks", "G19", v1(`{"prompt_tokens":10,"output_tokens":5,"blocks":[]}`), 1, ErrVersion, "field blocks requires schema_version 2"},
		{"v1 overhead", "G19", v1(`{"prompt_tokens":10,"output_tokens":5,"overhead_tokens":0}`), 1, ErrVersion, "field overhead_tokens requires schema_version 2"},
		{"v2 max 0", "a cap of nothing", v2(`{"prompt_tokens":10,"output_tokens":5,"max_tokens":0}`), 1, ErrValue, "max_tokens must be greater than zero"},
		{"v2 role", "G19", blocksOf(`{"seed":"x","tokens":1,"role":"narrator"}`), 1, ErrBlocks, `unknown role "narrator"`},
		{"v2 live user", "G19", blocksOf(`{"seed":"x","tokens":1,"role":"user","live":true}`), 1, ErrBlocks, "only assistant blocks can be live"},
		{"v2 empty seed", "a seed names the text", blocksOf(`{"seed":"","tokens":1,"role":"user"}`), 1, ErrBlocks, "block 1 seed must not be empty"},
		{"v2 no blocks in blocks", "an empty prompt", blocksOf(``), 1, ErrBlocks, "at least one block"},
		{"v2 unknown block field", "G19", blocksOf(`{"seed":"x","tokens":1,"role":"user","text":"y"}`), 1, ErrSyntax, "text"},
		{"v2 block without tokens", "they are needed", blocksOf(`{"seed":"x","role":"user"}`), 1, ErrSyntax, "block 1 is missing field tokens"},
		{"v2 mixed", "G19", v2(`{"prompt_tokens":9,"output_tokens":1,"blocks":[{"seed":"x","tokens":9,"role":"user"}]},{"prompt_tokens":19,"output_tokens":1}`), 1, ErrBlocks, "request 2 must define blocks"},
		{"v2 mixed the other way", "likewise", v2(`{"prompt_tokens":9,"output_tokens":1},{"prompt_tokens":19,"output_tokens":1,"blocks":[{"seed":"x","tokens":9,"role":"user"}]}`), 1, ErrBlocks, "request 2 must omit blocks"},
		{"v2 seed redefined", "BatchBench sends whichever came first", blocksOf(`{"seed":"x","tokens":1,"role":"user"},{"seed":"x","tokens":2,"role":"user"}`), 1, ErrBlocks, `redefines seed "x" as user of 2 tokens; in request 1 it is user of 1 tokens`},
		{"v2 seed of another role", "likewise", blocksOf(`{"seed":"x","tokens":1,"role":"user"},{"seed":"x","tokens":1,"role":"tool"}`), 1, ErrBlocks, "redefines seed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(row.text), "dir/plans.jsonl")
			require.ErrorIs(t, err, row.kind, row.reason)
			assert.Contains(t, err.Error(), row.says, row.reason)
			var line *LineError
			if row.line == 0 {
				assert.False(t, errors.As(err, &line))
				return
			}
			require.ErrorAs(t, err, &line)
			assert.Equal(t, row.line, line.Line)
			assert.True(t, strings.HasPrefix(err.Error(), "invalid trajectory plan at dir/plans.jsonl:"), err)
		})
	}
}

func TestRead(t *testing.T) {
	text := "\n" + v1(`{"prompt_tokens":10,"output_tokens":5,"delay_after_ms":25},{"prompt_tokens":15,"output_tokens":1}`) + "\r\n" +
		`{"schema_version":2,"trajectory_id":"b","start_after_ms":400,"metadata":{"any":[1]},"requests":[{"prompt_tokens":9,"output_tokens":1,"reset_before":true,"overhead_tokens":2,"stream":true,"max_tokens":7,` +
		`"blocks":[{"seed":"x","tokens":4,"role":"system"},{"seed":"y","tokens":3,"role":"assistant","live":true}]}]}`
	two, yes := 2, true
	want := []Trajectory{
		{Line: 2, Version: 1, ID: "a", Requests: []Request{{PromptTokens: 10, OutputTokens: 5, DelayAfter: 25 * time.Millisecond}, {PromptTokens: 15, OutputTokens: 1}}},
		{Line: 3, Version: 2, ID: "b", StartAfter: 400 * time.Millisecond, Requests: []Request{{
			PromptTokens: 9, OutputTokens: 1, ResetBefore: true, Overhead: &two, Stream: &yes, MaxTokens: 7,
			Blocks: []Block{{"x", 4, System, false}, {"y", 3, Assistant, true}},
		}}},
	}
	var gz, zst bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(text))
	require.NoError(t, w.Close())
	z, err := zstd.NewWriter(&zst)
	require.NoError(t, err)
	z.Write([]byte(text))
	require.NoError(t, z.Close())
	for _, row := range []struct {
		name, reason string
		stored       []byte
	}{
		{"plain", "as it is", []byte(text)},
		{"gzip", "told apart by its first bytes", gz.Bytes()},
		{"zstd", "told apart by its first bytes", zst.Bytes()},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plans") // no extension
			require.NoError(t, os.WriteFile(path, row.stored, 0o600))
			m, err := Open(path)
			require.NoError(t, err, row.reason)
			assert.Empty(t, cmp.Diff(want, m.Trajectories))
			assert.Equal(t, 2, m.SchemaVersion)
			sum := sha256.Sum256(row.stored)
			assert.Equal(t, hex.EncodeToString(sum[:]), m.SHA256)
		})
	}
	_, err = Read(bytes.NewReader(gz.Bytes()[:gz.Len()-9]), "cut.gz")
	var line *LineError
	require.ErrorAs(t, err, &line, "a cut file is no shorter file")
	_, err = Open(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "failed to open trajectory plan file")
}

func TestReadLongLine(t *testing.T) {
	var long strings.Builder
	for range 5000 {
		long.WriteString(`{"prompt_tokens":10,"output_tokens":5,"reset_before":true},`)
	}
	m := read(t, v1(`{"prompt_tokens":10,"output_tokens":5},`+strings.TrimSuffix(long.String(), ",")))
	assert.Len(t, m.Trajectories[0].Requests, 5001)

	_, err := Read(strings.NewReader(strings.Repeat(" ", maxLine+100<<10)), "blanks")
	assert.ErrorIs(t, err, ErrLineTooLong)
}

func TestWriteReads(t *testing.T) {
	m := read(t, v1(`{"prompt_tokens":10,"output_tokens":5,"delay_after_ms":25},{"prompt_tokens":5,"output_tokens":1,"reset_before":true}`),
		strings.Replace(blocksOf(`{"seed":"s\u0001","tokens":4,"role":"tool_call"},{"seed":"y","tokens":5,"role":"assistant","live":true}`), `"a"`, `"b"`, 1))
	var out bytes.Buffer
	require.NoError(t, Write(&out, m.Trajectories))
	again, err := Read(&out, "again")
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(m.Trajectories, again.Trajectories))

	assert.ErrorIs(t, Write(&out, []Trajectory{m.Trajectories[0], m.Trajectories[0]}), ErrDuplicate)
	m.Trajectories[0].Requests[0].DelayAfter = time.Microsecond
	assert.ErrorIs(t, Write(&out, m.Trajectories), ErrValue, "it would be rounded")
	m.Trajectories[0].Requests[0].DelayAfter, m.Trajectories[0].ID = 0, "\xff"
	assert.ErrorIs(t, Write(&out, m.Trajectories), ErrValue, "JSON would change it")
}

// FuzzRead: whatever a file holds, Read takes it or names a line, and what it
// takes is written, read again and compiled alike.
func FuzzRead(f *testing.F) {
	f.Add([]byte(v1(`{"prompt_tokens":10,"output_tokens":5,"delay_after_ms":25},{"prompt_tokens":15,"output_tokens":1}`)))
	f.Add([]byte(blocksOf(`{"seed":"x","tokens":4,"role":"system"},{"seed":"y","tokens":3,"role":"assistant","live":true}`)))
	f.Add([]byte("\n\n{}"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data), "f")
		if err != nil {
			if strings.Contains(err.Error(), "invalid trajectory plan") {
				var line *LineError
				require.ErrorAs(t, err, &line)
			}
			return
		}
		var out bytes.Buffer
		require.NoError(t, Write(&out, m.Trajectories))
		again, err := Read(&out, "again")
		require.NoError(t, err)
		for i := range m.Trajectories {
			again.Trajectories[i].Line = m.Trajectories[i].Line
		}
		require.Equal(t, m.Trajectories, again.Trajectories)
		p, err := Compile(m, Replay{})
		if err != nil {
			require.ErrorIs(t, err, ErrOverhead, "only its own overheads can be in the way")
			return
		}
		require.Len(t, p.List, len(m.Trajectories))
	})
}
