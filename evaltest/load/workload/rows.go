package workload

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// RowsOptions say what is made of the rows of a file. The zero value sends each
// row once, as it is.
type RowsOptions struct {
	// Repeat begins anew after the last row. Default: a request beyond it is
	// ErrEnd.
	Repeat bool
	// Output is how long answers are to be. Default: as the server likes. It is
	// given for whole bodies, too: whoever sends them decides.
	Output Dist
	// Seed is the root of the random numbers of Output. Default: drawn by
	// [NewSeed]; [Rows.Options] has it.
	Seed uint64
	// Tokens counts the tokens of a text: evaltest/load/token has it. With it
	// AskedInput is known for rows without input_tokens, and PossibleCached for
	// rows that only begin alike; what is not known is 0. Default: only what the
	// rows say is known. It must be safe for concurrent use.
	Tokens func(text string) int
	// Text makes the salt's text. Default: no salt, and Salt must be the zero
	// value. The salt stands before the first message, with an empty line
	// between; it is the same for all rows, so that what they have in common
	// stays so, and another each time that the rows begin anew. Rows that are
	// whole bodies cannot have it. The length of the text is then known only
	// with Tokens.
	Text Text
	Salt Salt
	// CacheBlock is as in [Options].
	CacheBlock int
}

// Rows are the requests of a file or a dataset. They are safe for concurrent
// use.
type Rows struct {
	opt    RowsOptions
	name   string
	sha256 string
	rows   []row
	warn   []error
}

// A row is one of: text, messages, body, err.
type row struct {
	text     string
	messages []llm.Message
	body     json.RawMessage
	err      error

	input  int // tokens; 0 if unknown
	cached int // of them, in a row before
}

// Load reads requests from a JSONL file, plain or compressed with gzip or zstd,
// as package dataset does. A line is one of:
//
//	{"text": "…"}                 one message of the user
//	{"body": {…}}                 a whole request, sent byte for byte
//	{"messages": […], …}          a whole request as well, or one with "prompt",
//	                              "input" or "contents"
//
// Each may have "input_tokens", the length of its input; a whole request on its
// own is sent without it and without "line_idx". Blank lines are skipped. Other
// keys beside text and body have no meaning and are a warning.
//
// The whole file is read and checked first. Errors of lines are
// [*dataset.Error]s with file and line, of options [*OptionError]s.
func Load(path string, opt RowsOptions) (*Rows, error) {
	return read(opt, func(decode dataset.Option) (*dataset.Dataset, error) { return dataset.Load(path, decode) })
}

// Read is [Load] from a reader; name stands in errors.
func Read(r io.Reader, name string, opt RowsOptions) (*Rows, error) {
	return read(opt, func(decode dataset.Option) (*dataset.Dataset, error) { return dataset.Read(r, name, decode) })
}

func read(opt RowsOptions, load func(dataset.Option) (*dataset.Dataset, error)) (*Rows, error) {
	var rows []row
	var unused unusedKeys
	ds, err := load(dataset.Decode(func(line json.RawMessage) (dataset.Item, error) {
		r, err := parseLine(line, &unused)
		if err != nil {
			return dataset.Item{}, err
		}
		rows = append(rows, r)
		// Not empty: an item without input and target would be a warning.
		return dataset.Item{Input: keyText, Target: keyText}, nil
	}))
	if err != nil {
		return nil, err
	}
	return newRows(ds, rows, append(ds.Warnings(), unused.warnings()...), opt)
}

// FromDataset makes a request of each item of a dataset. prompt returns the
// conversation that asks it; where it fails, or gives no message, that request
// is a [*BuildError]. It is called here, for one item after the other. It
// panics if ds or prompt is nil.
func FromDataset(ds *dataset.Dataset, prompt func(dataset.Item) ([]llm.Message, error), opt RowsOptions) (*Rows, error) {
	if ds == nil || prompt == nil {
		panic("workload: FromDataset with a nil dataset or prompt")
	}
	rows := make([]row, 0, ds.Len())
	for it := range ds.All() {
		messages, err := prompt(it)
		switch {
		case err != nil:
			err = fmt.Errorf("item %s of %s: %w", it.ID, ds.Name(), err)
		case len(messages) == 0:
			err = fmt.Errorf("item %s of %s: the prompt function gave no message", it.ID, ds.Name())
		}
		rows = append(rows, row{messages: slices.Clone(messages), err: err})
	}
	return newRows(ds, rows, ds.Warnings(), opt)
}

func newRows(ds *dataset.Dataset, rows []row, warn []error, opt RowsOptions) (*Rows, error) {
	r := &Rows{name: ds.Name(), sha256: ds.SHA256(), rows: rows, warn: warn}
	switch {
	case opt.CacheBlock < 0:
		return nil, badOption("CacheBlock", opt.CacheBlock, "want at least 1, or 0 for the default of 1")
	case opt.Text == nil && opt.Salt != Salt{} && !opt.Salt.Off:
		return nil, &OptionError{Option: "Text", Reason: "is missing: Salt needs it"}
	case opt.Text == nil:
		opt.Salt.Off = true
	}
	var err error
	if opt.Salt, err = opt.Salt.resolve(); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(rows, func(w row) bool { return w.body != nil }); i >= 0 && !opt.Salt.Off {
		return nil, badOption("Salt", "on", fmt.Sprintf("row %d of %s is a whole request, which is sent as it is", i+1, ds.Name()))
	}
	if opt.Seed == 0 {
		opt.Seed = NewSeed()
	}
	opt.CacheBlock = max(1, opt.CacheBlock)
	r.opt = opt
	r.count()
	return r, nil
}

// Options returns the options with what was drawn or is a default filled in.
func (r *Rows) Options() RowsOptions { return r.opt }

// Name is the file's name without folder and endings, or the dataset's name.
func (r *Rows) Name() string { return r.name }

// SHA256 is the hash, in hex, of the uncompressed content, as
// [dataset.Dataset.SHA256] has it.
func (r *Rows) SHA256() string { return r.sha256 }

// Rows is how many rows there are, at least 1.
func (r *Rows) Rows() int { return len(r.rows) }

// Warnings are oddities that a person should know of, such as keys that have
// no meaning.
func (r *Rows) Warnings() []error { return slices.Clone(r.warn) }

// Len is the number of requests; 0 with Repeat.
func (r *Rows) Len() int {
	if r.opt.Repeat {
		return 0
	}
	return len(r.rows)
}

// Request makes the request with this number. See [Source].
func (r *Rows) Request(seq int) (Request, error) {
	if seq < 0 {
		panic(fmt.Sprintf("workload: request %d was asked for; they are counted from 0", seq))
	}
	req := Request{Seq: seq, Group: -1, Entry: seq % len(r.rows)}
	if seq >= len(r.rows) && !r.opt.Repeat {
		req.Entry = -1
		return req, &BuildError{Seq: seq, Err: fmt.Errorf("%w: %s has %d rows; Repeat begins anew", ErrEnd, r.name, len(r.rows))}
	}
	if !r.opt.Output.IsZero() {
		n := r.opt.Output.Draw(Rand(r.opt.Seed, uint64(seq), OutputLength))
		req.Output = Output{n, n}
	}
	from, lap := &r.rows[req.Entry], seq/len(r.rows)
	req.AskedInput = from.input
	if from.err != nil {
		return req, &BuildError{Seq: seq, Tokens: from.input, Err: from.err}
	}
	req.Prompt, req.Messages, req.Body = from.text, from.messages, from.body
	seen := from.cached
	if lap > 0 && r.opt.Salt.Off {
		seen = from.input
	}
	if !r.opt.Salt.Off {
		if err := r.salt(&req, lap); err != nil {
			return req, &BuildError{Seq: seq, Tokens: from.input, Err: err}
		}
		if req.Entry > 0 {
			seen += r.opt.Salt.Tokens
		}
	}
	req.PossibleCached = blocks(seen, r.opt.CacheBlock)
	return req, nil
}

// salt puts the salt of a lap before the first message.
func (r *Rows) salt(req *Request, lap int) error {
	text, err := r.opt.Text.Make(Rand(r.opt.Salt.Value, uint64(lap), SharedSalt), r.opt.Salt.Tokens)
	if err != nil {
		return fmt.Errorf("the salt: %w", err)
	}
	req.AskedInput = 0
	if req.Messages == nil {
		req.Prompt = text + "\n\n" + req.Prompt
	} else {
		req.Messages = slices.Clone(req.Messages)
		req.Messages[0].Content = text + "\n\n" + req.Messages[0].Content
	}
	if r.opt.Tokens != nil {
		req.AskedInput = r.tokens(req.Prompt, req.Messages)
	}
	return nil
}

func (r *Rows) tokens(text string, messages []llm.Message) int {
	n := 0
	if text != "" {
		n += r.opt.Tokens(text)
	}
	for _, m := range messages {
		if m.Content != "" {
			n += r.opt.Tokens(m.Content)
		}
	}
	return n
}

// count fills in the rows' lengths, and what rows before them have in common
// with them.
func (r *Rows) count() {
	keys := make([]string, len(r.rows))
	for i := range r.rows {
		w := &r.rows[i]
		if r.opt.Tokens != nil && w.body == nil && w.input == 0 {
			w.input = r.tokens(w.text, w.messages)
		}
		keys[i] = w.key()
	}
	for i, equal := range commonBefore(keys) {
		w := &r.rows[i]
		switch {
		case w.err != nil:
		case equal == len(keys[i]):
			w.cached = w.input
		case r.opt.Tokens != nil && w.body == nil:
			w.cached = min(w.input, r.tokensWithin(w, equal))
		}
	}
}

// key is the row as one text: what a server would see of it from the beginning
// on, with marks between the messages.
func (w *row) key() string {
	switch {
	case w.err != nil:
		return ""
	case w.body != nil:
		return string(w.body)
	case w.messages == nil:
		return string(llm.RoleUser) + "\x00" + w.text + "\x00"
	}
	var b strings.Builder
	for _, m := range w.messages {
		b.WriteString(string(m.Role) + "\x00" + m.Content + "\x00")
	}
	return b.String()
}

// tokensWithin counts the tokens of the messages that are in the first so many
// bytes of the key. A text that is cut there is counted up to its last space:
// a word that goes on is another token.
func (r *Rows) tokensWithin(w *row, bytes int) int {
	n := 0
	for _, m := range (&Request{Prompt: w.text, Messages: w.messages}).Chat() {
		bytes -= len(m.Role) + 1
		if bytes <= 0 {
			break
		}
		text := m.Content
		if bytes < len(text) {
			text = text[:max(0, strings.LastIndexAny(text[:bytes], " \n"))]
		}
		if text != "" {
			n += r.opt.Tokens(text)
		}
		bytes -= len(m.Content) + 1
	}
	return n
}
