package token

// A Tokenizer turns text into the ids that a model reads, and back.
// Implementations are safe for concurrent use.
type Tokenizer interface {
	// Name says which tokenizer it is: an encoding, a path, or the id of a
	// repository and the revision.
	Name() string
	// Encode returns the ids of text. It adds no special tokens, such as a
	// begin-of-text; special tokens that are spelled out in the text become
	// their ids where the model's server would read them so. Text that is not
	// valid UTF-8 is taken as encoding/json sends it: each invalid byte is
	// U+FFFD.
	Encode(text string) []int
	// Decode returns the text of ids. Byte-level vocabularies have tokens that
	// are parts of characters, so it need not be valid UTF-8, but
	// Decode(a)+Decode(b) is Decode(a+b). An id that names no token is U+FFFD.
	Decode(ids []int) string
	// Size says where the ordinary ids end: they are 0 to Size()-1, less those
	// that Special reports. Ids from Size on are tokens added to the
	// vocabulary, if anything.
	Size() int
	// Special reports whether an id must not occur in ordinary text: it is a
	// control token, or names no token at all.
	Special(id int) bool
}

// counter is what a Tokenizer has that counts without making the ids.
type counter interface{ Count(text string) int }

// Count returns the number of tokens that t makes of text, without special
// tokens added: len(t.Encode(text)), but faster where t can do better.
func Count(t Tokenizer, text string) int {
	if c, ok := t.(counter); ok {
		return c.Count(text)
	}
	return len(t.Encode(text))
}
