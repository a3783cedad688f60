package token

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Why a tokenizer.json was refused, for errors.Is. The error is a [*FileError].
var (
	// ErrUnsupported: the file may be right, but this package cannot do what
	// it asks for, and would count wrongly if it left that out.
	ErrUnsupported = errors.New("not supported")
	// ErrDamaged: the file is no tokenizer.json, or contradicts itself.
	ErrDamaged = errors.New("damaged")
)

// A FileError is why a tokenizer.json was refused.
type FileError struct {
	File string // as it was given
	Part string // of the file: "pre_tokenizer", "model"; "" for the whole
	Err  error  // wraps ErrUnsupported or ErrDamaged and names the value
}

// Error names the file, the part and the value.
func (e *FileError) Error() string {
	if e.Part == "" {
		return fmt.Sprintf("token: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("token: %s: %s: %v", e.File, e.Part, e.Err)
}

// Unwrap returns e.Err.
func (e *FileError) Unwrap() error { return e.Err }

// maxID bounds the ids of a file. The largest vocabularies have 262,144; an id
// of two billion would take as many places in a table.
const maxID = 1 << 22

// maxFile bounds the size of a tokenizer.json in bytes. The largest in use has
// 33 MB.
const maxFile = 256 << 20

// Open reads the tokenizer.json at path, or in the folder at path. Its name is
// the path. Files larger than 256 MiB are refused.
func Open(path string) (Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	file := path
	if info.IsDir() {
		file = filepath.Join(path, fileName)
		if info, err = os.Stat(file); err != nil {
			return nil, fmt.Errorf("token: the folder %s holds no %s (a SentencePiece model, tokenizer.model, cannot be read): %w", path, fileName, err)
		}
	}
	if info.Size() > maxFile {
		return nil, &FileError{File: file, Err: fmt.Errorf("%w: it has %d bytes, more than %d", ErrUnsupported, info.Size(), maxFile)}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	return parse(path, file, data)
}

// fileName is what Hugging Face calls the file of a fast tokenizer.
const fileName = "tokenizer.json"

// Parse makes a tokenizer of the content of a tokenizer.json: byte-level BPE,
// as GPT-2, Llama 3, Qwen, DeepSeek, Mistral's Tekken and gpt-oss have it.
// What else a file may ask for (other models, normalizers that are not Unicode
// forms, other pre-tokenizers or decoders) is refused by its name, with a
// [*FileError]. A post-processor only adds special tokens and is not needed;
// truncation and padding are left out, as servers do.
//
// A pattern that is not one of the models above runs on a backtracking matcher
// without a time limit: do not load files from people you do not trust.
func Parse(name string, data []byte) (Tokenizer, error) { return parse(name, name, data) }

type document struct {
	Added        []added        `json:"added_tokens"`
	Normalizer   jsontext.Value `json:"normalizer"`
	PreTokenizer jsontext.Value `json:"pre_tokenizer"`
	Decoder      jsontext.Value `json:"decoder"`
	Model        jsontext.Value `json:"model"`
}

func parse(name, file string, data []byte) (Tokenizer, error) {
	fail := func(part string, err error) (Tokenizer, error) {
		if !errors.Is(err, ErrUnsupported) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil, &FileError{File: file, Part: part, Err: err}
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return fail("", err)
	}
	t := &bpe{name: name}
	var vocab map[string]int // as it is spelled in the file
	for _, step := range []struct {
		part string
		set  func() error
	}{
		{"model", func() (err error) { vocab, err = t.setModel(doc.Model); return err }},
		{"normalizer", func() (err error) { t.normalize, err = newNormalizer(doc.Normalizer); return err }},
		{"pre_tokenizer", func() (err error) { t.split, err = newPreTokenizer(doc.PreTokenizer); return err }},
		{"decoder", func() error { return checkDecoder(doc.Decoder) }},
		{"added_tokens", func() error { return t.setAdded(doc.Added, vocab) }},
	} {
		if err := step.set(); err != nil {
			return fail(step.part, err)
		}
	}
	return t, nil
}

// A model is the member of that name. Members with a meaning that is not
// built are here to be refused.
type model struct {
	Type         string         `json:"type"`
	Vocab        map[string]int `json:"vocab"`
	Merges       []mergePair    `json:"merges"`
	Dropout      *float64       `json:"dropout"`
	Prefix       string         `json:"continuing_subword_prefix"`
	Suffix       string         `json:"end_of_word_suffix"`
	ByteFallback bool           `json:"byte_fallback"`
	Unknown      *string        `json:"unk_token"`
	IgnoreMerges bool           `json:"ignore_merges"`
}

// A mergePair is written as "a b" or, newer, as ["a", "b"].
type mergePair struct{ left, right string }

// UnmarshalJSONFrom reads either form.
func (p *mergePair) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		var pair []string
		if err := json.UnmarshalDecode(d, &pair); err != nil {
			return err
		}
		if len(pair) != 2 {
			return fmt.Errorf("a merge of %d tokens, want 2", len(pair))
		}
		p.left, p.right = pair[0], pair[1]
		return nil
	}
	var s string
	if err := json.UnmarshalDecode(d, &s); err != nil {
		return err
	}
	var ok bool
	if p.left, p.right, ok = strings.Cut(s, " "); !ok || strings.Contains(p.right, " ") {
		return fmt.Errorf("the merge %s, want two tokens with a space between", quote(s))
	}
	return nil
}

func (t *bpe) setModel(value jsontext.Value) (map[string]int, error) {
	var kind struct {
		Type   string         `json:"type"`
		Merges jsontext.Value `json:"merges"`
	}
	if value == nil || value.Kind() == 'n' {
		return nil, errors.New("it is missing")
	}
	if err := json.Unmarshal(value, &kind); err != nil {
		return nil, err
	}
	// Files of 2020, GPT-2's among them, name no type.
	if kind.Type != "BPE" && (kind.Type != "" || kind.Merges == nil) {
		return nil, fmt.Errorf("%w: type %s, only BPE is", ErrUnsupported, quote(kind.Type))
	}
	var m model
	if err := json.Unmarshal(value, &m); err != nil {
		return nil, err
	}
	switch {
	case m.Dropout != nil && *m.Dropout != 0:
		return nil, fmt.Errorf("%w: dropout %v makes tokens at random", ErrUnsupported, *m.Dropout)
	case m.Prefix != "":
		return nil, fmt.Errorf("%w: continuing_subword_prefix %s", ErrUnsupported, quote(m.Prefix))
	case m.Suffix != "":
		return nil, fmt.Errorf("%w: end_of_word_suffix %s", ErrUnsupported, quote(m.Suffix))
	case m.ByteFallback:
		return nil, fmt.Errorf("%w: byte_fallback: the vocabulary is SentencePiece's, not byte-level", ErrUnsupported)
	}
	if err := t.setVocab(m.Vocab, m.IgnoreMerges); err != nil {
		return nil, err
	}
	if t.vocab.holes && m.Unknown != nil {
		return nil, fmt.Errorf("%w: unk_token %s stands for bytes that the vocabulary lacks", ErrUnsupported, quote(*m.Unknown))
	}
	return m.Vocab, t.setMerges(m.Vocab, m.Merges)
}

func (t *bpe) setVocab(vocab map[string]int, whole bool) error {
	top := -1
	for s, id := range vocab {
		if id < 0 || id >= maxID {
			return fmt.Errorf("token %s has the id %d, want 0 to %d", quote(s), id, maxID-1)
		}
		top = max(top, id)
	}
	t.tokens, t.known = make([]string, top+1), make([]bool, top+1)
	v := &t.vocab
	v.seed = maphash.MakeSeed()
	for i := range v.bytes {
		v.bytes[i] = -1
	}
	if whole {
		v.whole = make(map[string]int32, len(vocab))
	}
	for s, id := range vocab {
		if t.known[id] {
			return fmt.Errorf("two tokens have the id %d, %s is one", id, quote(s))
		}
		t.known[id] = true
		raw, ok := unspell(s)
		if !ok { // it stands for itself and is only reached as an added token
			t.tokens[id] = s
			continue
		}
		t.tokens[id] = raw
		if len(raw) == 1 {
			v.bytes[raw[0]] = int32(id)
		}
		if whole {
			v.whole[raw] = int32(id)
		}
	}
	for b, id := range v.bytes {
		switch {
		case id >= 0:
		case needed(byte(b)):
			return fmt.Errorf("%w: no token is the byte 0x%02x, so the vocabulary is not byte-level", ErrUnsupported, b)
		default: // C0, C1 and F5 to FF occur in no UTF-8
			v.holes = v.holes || b != 0xc0 && b != 0xc1 && b < 0xf5
		}
	}
	return nil
}

// needed reports whether each byte-level vocabulary has this byte: what text of
// any language is made of. Vocabularies that were trained without an initial
// alphabet, as SmolLM2's, lack what did not occur: control characters, and first
// bytes of far planes.
func needed(b byte) bool {
	return b == '\t' || b == '\n' || b == '\r' || b >= ' ' && b < 0x7f || b >= 0x80 && b < 0xc0
}

func (t *bpe) setMerges(vocab map[string]int, merges []mergePair) error {
	t.vocab.merges = make(map[uint64]merge, len(merges))
	for i, m := range merges {
		l, ok1 := vocab[m.left]
		r, ok2 := vocab[m.right]
		both, ok3 := vocab[m.left+m.right]
		for _, c := range []struct {
			ok   bool
			what string
		}{{ok1, m.left}, {ok2, m.right}, {ok3, m.left + m.right}} {
			if !c.ok {
				return fmt.Errorf("merge %d, of %s and %s: %s is not in the vocabulary", i, quote(m.left), quote(m.right), quote(c.what))
			}
		}
		t.vocab.merges[pairKey(int32(l), int32(r))] = merge{int32(i), int32(both)} // a later one counts, as in the original
	}
	return nil
}

func (t *bpe) setAdded(list []added, vocab map[string]int) error {
	t.added = make(map[int]added, len(list))
	for _, a := range list {
		if a.ID < 0 || a.ID >= maxID {
			return fmt.Errorf("%s has the id %d, want 0 to %d", quote(a.Content), a.ID, maxID-1)
		}
		if id, ok := vocab[a.Content]; ok {
			a.ID = id // whatever it says, as in the original
		}
		if have, ok := t.added[a.ID]; ok && have != a {
			return fmt.Errorf("%s and %s have the id %d", quote(have.Content), quote(a.Content), a.ID)
		}
		t.added[a.ID] = a
	}
	for _, id := range slices.Sorted(maps.Keys(t.added)) {
		a := t.added[id]
		switch {
		case !a.Normalized:
			t.raw.insert(a, a.Content)
		case t.normalize != nil:
			t.later.insert(a, t.normalize(a.Content))
		default:
			t.later.insert(a, a.Content)
		}
	}
	return nil
}
