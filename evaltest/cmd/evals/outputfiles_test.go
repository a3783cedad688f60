package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOutputFiles has the files that are refused before any is opened: one that
// another flag reads or writes, and "-".
func TestOutputFiles(t *testing.T) {
	const (
		search = " -search -search-start 5 -requests 1 -slo-e2e 1s -cache-wanted"
		server = " -host http://127.0.0.1:1 -model m -max-retries 0"
	)
	before := self
	t.Cleanup(func() { self = before })
	self = func(...string) (*exec.Cmd, error) { return nil, errors.New("a calibration began") } // the test itself would run again
	here, err := os.Getwd()
	require.NoError(t, err)
	for _, row := range []struct{ name, reason, args, says string }{
		{"dataset", "it would be gone", "load -dataset-jsonl IN -requests-jsonl IN", "-dataset-jsonl and -requests-jsonl are both"},
		{"dataset by another name", "the same file", "load -jsonl IN -results-csv DIR/../DIRNAME/in.jsonl", "-dataset-jsonl and -results-csv"},
		{"dataset by a link", "the same file", "load -jsonl IN -json LINK", "-dataset-jsonl and -json"},
		{"bench is added to", "and the file no dataset any more", "load -jsonl IN -bench IN", "-dataset-jsonl and -bench"},
		{"trace", "it would be gone", "load -trace IN -json IN", "-trace and -json"},
		{"lengths", "likewise", "load -input-lengths IN -json IN", "-input-lengths and -json"},
		{"a column of lengths", "the file is what is before it", "load -output-lengths IN:n -json IN", "-output-lengths and -json"},
		{"tokenizer", "likewise", "load -tokenizer IN -json IN", "-tokenizer and -json"},
		{"tokenizer's folder", "the file in it", "load -tokenizer DIR -json DIR/tokenizer.json", "-tokenizer and -json"},
		{"two outputs", "one would overwrite the other", "load -results-csv DIR/new/a -json DIR/new/./a", "-results-csv and -json"},
		{"two outputs, one absolute", "the same file, though there is none yet", "load -results-csv none -requests-jsonl " + filepath.Join(here, "none"), "-results-csv and -requests-jsonl"},
		{"two outputs, one by a linked folder", "likewise", "load -results-csv DIR/none -bench DIRLINK/none", "-results-csv and -bench"},
		{"search", "its answer over the dataset", "load -jsonl IN -json IN" + search, "-dataset-jsonl and -json"},
		{"agent's manifest", "it would be gone", "agent -agent-plans-jsonl IN -json IN", "-agent-plans-jsonl and -json"},
		{"agent's manifest by a link", "the same file", "agent -agent-plans-jsonl IN -agent-events-jsonl LINK", "-agent-plans-jsonl and -agent-events-jsonl"},
		{"agent's trace", "it would be gone", "agent -trace IN -write-plans IN", "-trace and -write-plans"},
		{"agent's tokenizer", "likewise", "agent -tokenizer-model DIR -json DIR/tokenizer.json", "-tokenizer-model and -json"},
		{"agent's outputs", "one would overwrite the other", "agent -results-csv DIR/a -bench DIR/a", "-results-csv and -bench"},
		{"-", "no standard output", "load -json -", `-json is "-": want a file`},
		{"- of the others", "likewise", "load -requests-jsonl - -results-csv x", `-requests-jsonl is "-"`},
		{"- of a search", "likewise", "load -json -" + search, `-json is "-"`},
		{"- of a calibration", "likewise", "load -calibrate -json -", `-json is "-"`},
		{"- of agent", "likewise", "agent -bench -", `-bench is "-"`},
		{"- for events", "likewise", "agent -agent-events-jsonl -", `-agent-events-jsonl is "-"`},
		{"- for plans", "likewise", "agent -write-plans -", `-write-plans is "-"`},
		{"benchmark's name", "refused when all was paid for", "load -bench DIR/a -bench-name load", `-bench-name: benchmark name "load": want it to begin with an upper-case letter`},
		{"benchmark's name of agent", "likewise", "agent -bench DIR/a -bench-name 9", `-bench-name: benchmark name "9"`},
		{"no benchmark's name", "likewise", "agent -bench DIR/a -bench-name=", `-bench-name: benchmark name ""`},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.NotEmpty(t, row.reason)
			dir := t.TempDir()
			in, link, folder := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "link"), filepath.Join(t.TempDir(), "folder")
			require.NoError(t, os.WriteFile(in, []byte(`{"text":"a"}`+"\n"), 0o666))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte("{}"), 0o666))
			if strings.Contains(row.args, "LINK") {
				if runtime.GOOS == "windows" {
					t.Skip("links take a right of their own there")
				}
				require.NoError(t, os.Symlink(in, link))
				require.NoError(t, os.Symlink(dir, folder))
			}
			args := strings.NewReplacer("DIRLINK", folder, "DIRNAME", filepath.Base(dir), "DIR", dir, "LINK", link, "IN", in).Replace(row.args)
			if !strings.Contains(args, "-calibrate") {
				args += server
			}
			r := evals("", noEnv, strings.Fields(args)...)
			assert.Equal(t, 2, r.code, "%s%s", r.stdout, r.stderr)
			assert.Contains(t, r.stderr, row.says)
			assert.Empty(t, r.stdout)
			text, err := os.ReadFile(in)
			require.NoError(t, err)
			assert.Equal(t, `{"text":"a"}`+"\n", string(text), "what is read stays as it is")
			for _, name := range []string{"-", "x", "none", filepath.Join(dir, "new"), filepath.Join(dir, "a")} {
				if _, err := os.Lstat(name); assert.ErrorIs(t, err, os.ErrNotExist, name) {
					continue
				}
				require.NoError(t, os.Remove(name))
			}
		})
	}
}

// TestOutputFilesAllowed has what looks like one file for two and harms none.
func TestOutputFilesAllowed(t *testing.T) {
	dir := t.TempDir()
	lengths := filepath.Join(dir, "lengths.csv")
	require.NoError(t, os.WriteFile(lengths, []byte("in,out\n3,4\n"), 0o666))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "o200k_base"), 0o777))
	for _, row := range []struct {
		name, reason  string
		inputs, files []namedFile
	}{
		{"two that are read", "columns of one table", []namedFile{{"input-lengths", lengths}, {"output-lengths", lengths}}, nil},
		{"null", "nothing is kept there", nil, []namedFile{{"write-plans", os.DevNull}, {"agent-events-jsonl", os.DevNull}}},
		{"none", "flags that were not given", []namedFile{{"trace", ""}}, []namedFile{{"write-plans", ""}}},
		{"two files", "as it should be", []namedFile{{"trace", lengths}}, []namedFile{{"write-plans", lengths + ".out"}}},
		{"the name of a tokenizer", "it is no file", tokenizerFiles("tokenizer", "o200k_base"), []namedFile{{"json", "o200k_base"}}},
		{"a file called -", "it is asked for", nil, []namedFile{{"json", "./-"}}},
	} {
		require.NotEmpty(t, row.reason)
		o := outputFlags{benchName: "Load"}
		assert.NoError(t, o.check(row.inputs, row.files...), row.name)
	}
}
