package token

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"github.com/tiktoken-go/tokenizer"
)

func seedTexts(f *testing.F) {
	var texts []string
	readJSON(f, "testdata/texts.json", &texts)
	for _, s := range texts {
		f.Add(s)
	}
}

// FuzzRoundTrip: what was encoded comes back, Count agrees with Encode, and no
// id is out of range.
func FuzzRoundTrip(f *testing.F) {
	seedTexts(f)
	list := []Tokenizer{}
	for _, name := range []string{"llama3", "gpt2", "o200k", "tekken", "deepseek", "pattern", "digits", "literal"} {
		list = append(list, small(f, name))
	}
	for name := range encodings {
		tok, err := Encoding(name)
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, tok)
	}
	qwen := small(f, "qwen")
	f.Fuzz(func(t *testing.T, s string) {
		want := string([]rune(s))
		for _, tok := range list {
			ids := tok.Encode(s)
			if got := tok.Decode(ids); got != want {
				t.Errorf("%s: %q comes back as %q", tok.Name(), want, got)
			}
			if n := Count(tok, s); n != len(ids) {
				t.Errorf("%s: %q: Count %d, Encode %d", tok.Name(), s, n, len(ids))
			}
		}
		// A normalizer may be applied once only.
		if got := qwen.Decode(qwen.Encode(s)); got != qwen.normalize(want) && !strings.Contains(s, "<|endoftext|>") {
			t.Errorf("qwen: %q comes back as %q", want, got)
		}
	})
}

// FuzzScanners holds the scanners against the patterns that they are written
// for, as a backtracking matcher understands them.
func FuzzScanners(f *testing.F) {
	seedTexts(f)
	needClasses()
	slow := map[string]splitter{}
	for pattern := range scanners {
		slow[pattern] = matching{regexp2.MustCompile(spell(pattern), multiline), false}
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = validUTF8(s)
		for pattern, scan := range scanners {
			var got, want []string
			scanning{scan, false}.split(s, func(p string) { got = append(got, p) })
			slow[pattern].split(s, func(p string) { want = append(want, p) })
			if strings.Join(got, "\x00|") != strings.Join(want, "\x00|") {
				t.Errorf("%q by %s:\ngot  %q\nwant %q", s, pattern, got, want)
			}
			if strings.Join(got, "") != s {
				t.Errorf("%q by %s: pieces %q are not the text", s, pattern, got)
			}
		}
	})
}

// FuzzTiktoken holds our merging against the library's, on letters and digits:
// v0.10.0 splits some others wrongly ("\x7f" is no token, "x\n \n \ny  " is six
// instead of five in cl100k_base), as the vectors of the original show.
func FuzzTiktoken(f *testing.F) {
	seedTexts(f)
	f.Add(strings.Repeat("abcabcd", 40))
	theirs := map[string]tokenizer.Codec{}
	for name := range encodings {
		codec, err := tokenizer.Get(tokenizer.Encoding(name))
		if err != nil {
			f.Fatal(err)
		}
		theirs[name] = codec
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.Join(strings.FieldsFunc(validUTF8(s), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N) }), " ")
		for name, codec := range theirs {
			tok, err := Encoding(name)
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := codec.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			got := tok.Encode(s)
			if len(got) != len(want) {
				t.Errorf("%s: %q: %d tokens, the library has %d", name, s, len(got), len(want))
				continue
			}
			for i := range got {
				if got[i] != int(want[i]) {
					t.Errorf("%s: %q: token %d is %d, the library's is %d", name, s, i, got[i], want[i])
				}
			}
		}
	})
}

// FuzzParse: any file is refused or gives a tokenizer that works.
func FuzzParse(f *testing.F) {
	list, _ := variants(f)
	for _, v := range list {
		f.Add(v.document(f))
	}
	tiny, err := json.Marshal(object{"model": object{"type": "BPE", "vocab": object{"a": 0}, "merges": []any{}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(tiny)
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":-1},"merges":[["a"]]},"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"}]}}`))
	f.Add([]byte(`{"pre_tokenizer":` + strings.Repeat(`{"type":"Sequence","pretokenizers":[`, 300) + strings.Repeat(`]}`, 300) + `,"model":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Parse("fuzz", data)
		if err != nil {
			if tok != nil {
				t.Error("a tokenizer and an error")
			}
			if !strings.HasPrefix(err.Error(), "token: fuzz: ") || len(err.Error()) > 2000 {
				t.Errorf("the error is %q", err)
			}
			return
		}
		ids := tok.Encode("Hello,\n wörld's 12345  😀\x00")
		if len(ids) != Count(tok, "Hello,\n wörld's 12345  😀\x00") {
			t.Error("Count is not Encode's")
		}
		_ = tok.Decode(ids)
	})
}

// FuzzID: whatever passes stays below the cache folder, and is a path of its
// own.
func FuzzID(f *testing.F) {
	for _, id := range append([]string{"Qwen/Qwen3-0.6B", "a/b@refs/pr/1"}, badIDs...) {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		repo, revision, err := splitID(id)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b\x00") || !utf8.ValidString(err.Error()) {
				t.Errorf("the error is %q", err)
			}
			return
		}
		folder := "models--" + strings.ReplaceAll(repo, "/", "--")
		for _, path := range []string{folder, filepath.Join("refs", filepath.FromSlash(revision))} {
			if !filepath.IsLocal(path) || filepath.Clean(path) != path || strings.Contains(path, "..") {
				t.Errorf("%q becomes the path %q", id, path)
			}
		}
		if strings.ContainsRune(folder, os.PathSeparator) || strings.Count(folder, "--") != 1+strings.Count(repo, "/") {
			t.Errorf("%q becomes the folder %q", id, folder)
		}
	})
}
