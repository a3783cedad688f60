package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriter(t *testing.T) {
	d := mustRead(t, `{"uid":"é 1","text":"a\u2028b","label":1.50,"level":3,"m":{"x":[1,null]}}`+"\n"+
		`{"uid":"2","text":"","label":["x","y"],"c":["x","y","z"],"topic":"t"}`+"\n",
		Fields(Mapping{ID: "uid", Input: "text", Target: "label", Choices: "c", Group: "topic"}))
	magic := map[string]string{"x.jsonl": "{", "x.jsonl.gz": "\x1f\x8b", "x.zst": "\x28\xb5\x2f\xfd"}
	for name, begins := range magic {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			for range 2 { // the second time over the first
				w, err := Create(path)
				require.NoError(t, err)
				defer w.Abort()
				for it := range d.All() {
					require.NoError(t, w.Write(it))
				}
				require.NoError(t, w.Close())
				assert.ErrorIs(t, w.Close(), ErrClosed)
			}
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(content), begins))
			again, err := Load(path)
			require.NoError(t, err)
			require.Equal(t, d.Len(), again.Len())
			for i := range d.Len() {
				assert.True(t, d.At(i).sameFields(again.At(i)), "%+v", again.At(i))
				want, err := d.At(i).Metadata()
				require.NoError(t, err)
				got, err := again.At(i).Metadata()
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, left, 1, "no temporary file is left")
			info, err := left[0].Info()
			require.NoError(t, err)
			plain, err := os.Create(filepath.Join(t.TempDir(), "plain"))
			require.NoError(t, err)
			defer plain.Close()
			like, err := plain.Stat()
			require.NoError(t, err)
			assert.Equal(t, like.Mode(), info.Mode(), "others may read it, as the umask says")
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	mapped := mustRead(t, `{"prompt":"p","question":"q","answer":1}`, Fields(Mapping{Input: "question"})).At(0)
	double := mustRead(t, `{"question":"q","answer":1,"target":2}`, Fields(Mapping{Target: "answer"})).At(0)
	extra := mustRead(t, `{"question":"q","answer":1,"targets":["x"]}`, Fields(Mapping{Targets: NoColumn})).At(0)
	tests := []struct {
		name, reason string
		items        []Item
		is           error
	}{
		{"no id", "it would be numbered anew", []Item{{Input: "q"}}, ErrRow},
		{"duplicate id", "it would not load", []Item{{ID: "a"}, {ID: "a"}}, ErrDuplicateID},
		{"invalid UTF-8", "it would not load", []Item{{ID: "a", Input: "\xff"}}, ErrSyntax},
		{"target not among the choices", "it would not load", []Item{{ID: "a", Target: "z", Choices: []string{"x"}}}, ErrTarget},
		{"column read as a second input", "it would not load", []Item{mapped}, ErrField},
		{"column read as the target", "it would not load", []Item{double}, ErrDuplicateKey},
		{"column read as further targets", "it would load as another item", []Item{extra}, ErrField},
		{"nothing", "an empty file would not load", nil, ErrEmpty},
	}
	var seen []string
	for _, tt := range tests {
		unique(t, &seen, tt.name, tt.reason)
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.jsonl")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			w, err := Create(path)
			require.NoError(t, err)
			for _, it := range tt.items {
				err = w.Write(it)
			}
			if tt.items != nil {
				require.ErrorIs(t, err, tt.is, tt.reason)
				require.ErrorIs(t, w.Write(Item{ID: "fine"}), tt.is, "the first error stays")
			}
			require.ErrorIs(t, w.Close(), tt.is)
			old, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "old", string(old), "the older file stays")
			left, _ := os.ReadDir(dir)
			assert.Len(t, left, 1)
		})
	}
}

func TestWriteRow(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	require.NoError(t, w.WriteRow(json.RawMessage(`{"question":"q","answer":1.50}`)))
	require.NoError(t, w.WriteRow(json.RawMessage("{\n  \"question\": \"p\",\n  \"answer\": 2\n}\n")))
	require.NoError(t, w.Close())
	assert.Equal(t, "{\"question\":\"q\",\"answer\":1.50}\n{\"question\":\"p\",\"answer\":2}\n", b.String())
	for row, is := range map[string]error{`[1]`: ErrRow, `{"a":1,"a":2}`: ErrDuplicateKey, `{"a"`: ErrSyntax, "{\n\"a\"": ErrSyntax, ``: ErrSyntax} {
		assert.ErrorIs(t, NewWriter(&b).WriteRow(json.RawMessage(row)), is, row)
	}
	assert.ErrorIs(t, w.WriteRow(json.RawMessage(`{}`)), ErrClosed)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriterFailure(t *testing.T) {
	full := errors.New("no space left")
	w := NewWriter(failing{full})
	require.NoError(t, w.Write(Item{ID: "a"}), "still in the buffer")
	require.ErrorIs(t, w.Close(), full)

	_, err := Create(filepath.Join(t.TempDir(), "none", "x.jsonl"))
	require.ErrorIs(t, err, os.ErrNotExist)

	dir := t.TempDir()
	w, err = Create(filepath.Join(dir, "x.jsonl.gz"))
	require.NoError(t, err)
	require.NoError(t, w.Write(Item{ID: "a"}))
	w.Abort()
	w.Abort()
	require.ErrorIs(t, w.Write(Item{ID: "b"}), ErrClosed)
	left, _ := os.ReadDir(dir)
	assert.Empty(t, left)
}
