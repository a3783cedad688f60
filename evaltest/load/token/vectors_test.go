package token

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// readJSON decodes a file, which may be compressed.
func readJSON(t testing.TB, path string, to any) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(strings.NewReader(string(data)))
		require.NoError(t, err)
		require.NoError(t, json.NewDecoder(z).Decode(to))
		return
	}
	require.NoError(t, json.Unmarshal(data, to))
}

// A variant is testdata/tokenizer.json with other members, and what the
// original library makes of testdata/texts.json with it.
type variant struct {
	Name  string
	Patch map[string]any // of the file
	Model map[string]any // of its model
	IDs   [][]int
}

func (v variant) document(t testing.TB) []byte {
	t.Helper()
	var doc map[string]any
	readJSON(t, "testdata/tokenizer.json", &doc)
	maps.Copy(doc, v.Patch)
	if len(v.Model) > 0 {
		maps.Copy(doc["model"].(map[string]any), v.Model)
	}
	data, err := json.Marshal(doc)
	require.NoError(t, err)
	return data
}

func variants(t testing.TB) (list []variant, texts []string) {
	t.Helper()
	readJSON(t, "testdata/variants.json.gz", &list)
	readJSON(t, "testdata/texts.json", &texts)
	return list, texts
}

// small returns a variant as a tokenizer.
func small(t testing.TB, name string) *bpe {
	t.Helper()
	list, _ := variants(t)
	for _, v := range list {
		if v.Name == name {
			got, err := Parse(name, v.document(t))
			require.NoError(t, err)
			return got.(*bpe)
		}
	}
	t.Fatalf("there is no variant %s", name)
	return nil
}

// check holds a tokenizer against the ids of the original. changes says what
// it does to a text before it encodes it; nil: nothing.
func check(t *testing.T, tok Tokenizer, texts []string, ids [][]int, changes func(string) string) {
	t.Helper()
	require.Len(t, ids, len(texts))
	wrong := 0
	for i, text := range texts {
		got := tok.Encode(text)
		if len(got) == 0 && len(ids[i]) == 0 {
			continue
		}
		if n := Count(tok, text); n != len(got) {
			t.Errorf("%q: Count %d, Encode %d", text, n, len(got))
		}
		if !assert.ObjectsAreEqual(ids[i], got) {
			if wrong++; wrong <= 20 {
				t.Errorf("%.200q:\ngot  %.400s\nwant %.400s", text, pieces(tok, got), pieces(tok, ids[i]))
			}
			continue
		}
		if changes != nil {
			text = changes(text)
		}
		if back := tok.Decode(got); back != text {
			t.Errorf("%.200q comes back as %.200q", text, back)
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d texts are wrong", wrong, len(texts))
	}
}

// pieces shows ids with their text.
func pieces(tok Tokenizer, ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		data, _ := json.Marshal(tok.Decode([]int{id}))
		b.WriteString(strings.Trim(string(data), `"`) + "|")
	}
	return b.String()
}

func TestSmallVectors(t *testing.T) {
	list, texts := variants(t)
	changes := map[string]func(string) string{
		"qwen":       norm.NFC.String,
		"forms":      func(s string) string { return norm.NFKC.String(norm.NFD.String(s)) },
		"decomposed": norm.NFKD.String,
	}
	for _, v := range list {
		t.Run(v.Name, func(t *testing.T) {
			tok, err := Parse(v.Name, v.document(t))
			require.NoError(t, err)
			change := changes[v.Name]
			if v.Name == "added" || v.Name == "removed" { // these lose spaces
				change = func(s string) string { return tok.Decode(tok.Encode(s)) }
			}
			check(t, tok, texts, v.IDs, change)
		})
	}
}

// TestNewMarks: marks that are newer than Unicode 9 stay where they are, as in
// the original.
func TestNewMarks(t *testing.T) {
	tok := small(t, "qwen")
	for text, want := range map[string]string{
		"\u0cc7\u0c3c\u0338":               "\u0cc7\u0c3c\u0338", // by today's tables the last two change places
		"a\u1ac1\u0301":                    "a\u1ac1\u0301",      // and these would become á and U+1AC1
		"a\u0323\u0301":                    "\u1ea1\u0301",
		"a\u0301\u1ac1\u1ac1e\u0301\u1ac1": "\u00e1\u1ac1\u1ac1\u00e9\u1ac1",
	} {
		assert.Equal(t, want, tok.Decode(tok.Encode(text)), "%+q", text)
	}
}

// TestMergesAsText reads the older spelling of merges.
func TestMergesAsText(t *testing.T) {
	list, texts := variants(t)
	v := list[0]
	var doc struct{ Model struct{ Merges [][2]string } }
	require.NoError(t, json.Unmarshal(v.document(t), &doc))
	var merges []string
	for _, m := range doc.Model.Merges {
		merges = append(merges, m[0]+" "+m[1])
	}
	require.NotEmpty(t, merges)
	v.Model = map[string]any{"merges": merges, "type": nil}
	tok, err := Parse(v.Name, v.document(t))
	require.NoError(t, err)
	check(t, tok, texts, v.IDs, norm.NFC.String)
}

func TestTiktokenVectors(t *testing.T) {
	var want map[string][][]int
	var texts []string
	readJSON(t, "testdata/tiktoken.json.gz", &want)
	readJSON(t, "testdata/texts.json", &texts)
	require.Len(t, want, len(encodings))
	for name, ids := range want {
		t.Run(name, func(t *testing.T) {
			tok, err := Encoding(name)
			require.NoError(t, err)
			check(t, tok, texts, ids, nil)
		})
	}
}

// TestRealVectors needs real tokenizers, whose licences differ, so they are
// not here: a folder that EVALS_TEST_TOKENIZERS names, with texts.json, a list
// of texts, and for each tokenizer a folder with its tokenizer.json and
// ids.json, the ids that the library "tokenizers" makes of each text without
// special tokens.
func TestRealVectors(t *testing.T) {
	dir := os.Getenv("EVALS_TEST_TOKENIZERS")
	if dir == "" {
		t.Skip("EVALS_TEST_TOKENIZERS names no folder of real tokenizers")
	}
	var texts []string
	readJSON(t, filepath.Join(dir, "texts.json"), &texts)
	all := strings.Join(texts, "\n")
	found, err := filepath.Glob(filepath.Join(dir, "*", fileName))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, path := range found {
		folder := filepath.Dir(path)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			start := time.Now()
			tok, err := Open(folder)
			require.NoError(t, err)
			load := time.Since(start)
			var ids [][]int
			readJSON(t, filepath.Join(folder, "ids.json"), &ids)
			var change func(string) string
			if tok.(*bpe).normalize != nil {
				change = tok.(*bpe).normalize
			}
			check(t, tok, texts, ids, change)
			require.True(t, utf8.ValidString(all))
			start = time.Now()
			n := Count(tok, all)
			t.Logf("%d texts; loaded in %v; %d tokens of %d bytes at %.1f MB/s", len(texts), load.Round(time.Millisecond), n, len(all), float64(len(all))/1e6/time.Since(start).Seconds())
			checkMakers(t, tok)
		})
	}
}
