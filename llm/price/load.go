package price

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// maxTable is the largest file that is read, in bytes.
const maxTable = 16 << 20

// Load reads a file of prices and returns the default table with them in it,
// as [Table.With] does. The file is a TSV table like the default's own, whose
// first line names the columns, or JSON: a list of objects, or one a line. The
// fields of a row, of which only model is a must:
//
//	provider, model              who bills, and its id of the model
//	aliases                      further ids: a list, or separated by spaces
//	from                         when the prices began: 2026-08-16 or 2026-08-16T16:00:00Z
//	above                        the row is for prompts of more tokens than this
//	in, cached_in, out, …        prices, as [ParseEntry] takes them
//	peak                         "x2 mon-fri 01:00-04:00 except 2026-10-01": hours in UTC that cost more
//	as_of, source, via           whence the prices are
//
// An error that is about the content is a [*FieldError] with file, line, field
// and value.
func Load(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("price: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(f, maxTable+1))
	if err != nil {
		return nil, fmt.Errorf("price: %w", err)
	}
	if len(text) > maxTable {
		return nil, fmt.Errorf("price: %s is larger than %d MiB; a table of prices is not", path, maxTable>>20)
	}
	entries, err := parse(path, text)
	if err != nil {
		return nil, err
	}
	return Default().With(entries...), nil
}

// A field is one value of a row, with its name.
type field struct{ name, value string }

// parse reads a table in either format.
func parse(file string, text []byte) ([]Entry, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	p := &parser{file: file, drafts: map[draftKey]*draft{}}
	read := p.tsv
	if head := bytes.TrimLeft(text, " \t\r\n"); len(head) > 0 && (head[0] == '[' || head[0] == '{') {
		read = p.json
	}
	if err := read(text); err != nil {
		return nil, err
	}
	return p.entries()
}

type draftKey struct{ provider, model, from string }

// A draft is a model of whose rows more may come.
type draft struct {
	line  int
	entry Entry
	set   priceSet
}

type parser struct {
	file   string
	order  []*draft
	drafts map[draftKey]*draft
}

func (p *parser) fail(line int, f field, err error) error {
	return &FieldError{File: p.file, Line: line, Field: f.name, Value: f.value, Err: err}
}

func (p *parser) tsv(text []byte) error {
	var header []string
	line := 0
	for l := range bytes.Lines(text) {
		line++
		l := strings.TrimRight(string(l), "\r\n")
		if strings.TrimSpace(l) == "" || l[0] == '#' {
			continue
		}
		cells := strings.Split(l, "\t")
		if header == nil {
			header = cells
			for i, name := range header {
				if err := checkField(name); err != nil {
					return p.fail(line, field{"column", name}, err)
				}
				if slices.Contains(header[:i], name) {
					return p.fail(line, field{"column", name}, errors.New("the column stands twice"))
				}
			}
			continue
		}
		if len(cells) != len(header) {
			return p.fail(line, field{}, fmt.Errorf("the row has %d cells, the first line %d; cells are separated by one tab each", len(cells), len(header)))
		}
		row := make([]field, 0, len(cells))
		for i, c := range cells {
			if c = strings.TrimSpace(c); c != "" {
				row = append(row, field{header[i], c})
			}
		}
		if err := p.row(line, row); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) json(text []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	line, counted := 1, 0
	at := func() int { // the line that the decoder has come to
		to := min(int(dec.InputOffset()), len(text))
		line, counted = line+bytes.Count(text[counted:to], []byte("\n")), to
		return line
	}
	syntax := func(err error) error {
		return p.fail(at(), field{}, fmt.Errorf("it is not JSON: %w; want a list of objects", err))
	}
	for {
		switch dec.PeekKind() {
		case '[', ']':
			if _, err := dec.ReadToken(); err != nil {
				return syntax(err)
			}
			if dec.StackDepth() > 1 {
				return p.fail(at(), field{}, errors.New("it is a list in a list; want a list of objects"))
			}
			continue
		case '{':
		default:
			v, err := dec.ReadValue()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return syntax(err)
			}
			return p.fail(at(), field{}, fmt.Errorf("%s is no row; want an object such as {\"model\":\"gpt-4o\",\"in\":\"2.5\",\"out\":\"10\"}", clip(string(v))))
		}
		dec.ReadToken() //nolint:errcheck // peeked
		begin := at()
		var row []field
		for dec.PeekKind() == '"' {
			name, _ := dec.ReadToken()
			f := field{name: name.String()}
			v, err := dec.ReadValue()
			if err != nil {
				return syntax(err)
			}
			if err := checkField(f.name); err != nil {
				return p.fail(at(), field{f.name, string(v)}, err)
			}
			if f.value, err = cell(v); err != nil {
				return p.fail(at(), field{f.name, string(v)}, err)
			}
			if f.value != "" {
				row = append(row, f)
			}
		}
		if _, err := dec.ReadToken(); err != nil {
			return syntax(err)
		}
		if err := p.row(begin, row); err != nil {
			return err
		}
	}
}

// cell is a JSON value as a cell of a TSV table.
func cell(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case 'n':
		return "", nil
	case '0':
		return string(v), nil // its digits are kept
	case '"':
		s, err := jsontext.AppendUnquote(nil, v)
		return strings.TrimSpace(string(s)), err
	case '[':
		var words []string
		dec := jsontext.NewDecoder(bytes.NewReader(v))
		dec.ReadToken() //nolint:errcheck // the value is whole
		for dec.PeekKind() == '"' {
			t, _ := dec.ReadToken()
			words = append(words, t.String())
		}
		if dec.PeekKind() == ']' {
			return strings.Join(words, " "), nil
		}
	}
	return "", errors.New("want a string, a number, or a list of strings")
}

var columns = []string{"provider", "model", "aliases", "from", "above", "peak", "as_of", "source", "via"}

func checkField(name string) error {
	if isPrice(name) || slices.Contains(columns, name) {
		return nil
	}
	return fmt.Errorf("no field has this name; they are %s, and prices: %s, each also with the prefix batch_ and a suffix such as _above_200k", strings.Join(columns, ", "), strings.Join(keys, ", "))
}

// row takes one row: a model, or a further tier of one.
func (p *parser) row(line int, row []field) error {
	value := func(name string) string {
		for _, f := range row {
			if f.name == name {
				return f.value
			}
		}
		return ""
	}
	if value("model") == "" {
		return p.fail(line, field{"model", ""}, errors.New("it is missing; each row needs the id of a model"))
	}
	above, err := threshold(value("above"))
	if err != nil {
		return p.fail(line, field{"above", value("above")}, err)
	}
	key := draftKey{canonical(value("provider")), value("model"), value("from")}
	d := p.drafts[key]
	switch {
	case d == nil && above > 0:
		return p.fail(line, field{"above", value("above")}, errors.New("the model's row without above must stand before it"))
	case d != nil && above == 0:
		return p.fail(line, field{"model", key.model}, fmt.Errorf("the model has a row in line %d already", d.line))
	case d == nil:
		d = &draft{line: line, entry: Entry{Provider: key.provider, Model: key.model}}
		p.drafts[key], p.order = d, append(p.order, d)
	}
	for _, f := range row {
		err := error(nil)
		switch {
		case isPrice(f.name):
			err = d.set.set(f.name, f.value, above)
		case above == 0:
			err = d.entry.meta(f)
		case f.name == "aliases" || f.name == "peak":
			err = errors.New("it belongs into the model's row without above")
		}
		if err != nil {
			return p.fail(line, f, err)
		}
	}
	return nil
}

func threshold(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > 1e12 {
		return 0, errors.New("want a whole number of tokens, 1 or more")
	}
	return n, nil
}

// meta reads what is no price.
func (e *Entry) meta(f field) (err error) {
	switch f.name {
	case "aliases":
		e.Aliases = strings.Fields(f.value)
	case "from":
		e.From, err = moment(f.value)
	case "as_of":
		e.AsOf, err = moment(f.value)
	case "peak":
		e.Peak, err = parsePeak(f.value)
	case "source":
		e.Source = f.value
	case "via":
		e.Via = f.value
	}
	return err
}

// moment reads a day, or a time of one.
func moment(s string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("want a day such as 2026-08-16, or a time such as 2026-08-16T16:00:00Z")
}

func (p *parser) entries() ([]Entry, error) {
	out := make([]Entry, 0, len(p.order))
	for _, d := range p.order {
		if err := d.set.fill(&d.entry); err != nil {
			return nil, p.fail(d.line, field{"model", d.entry.Model}, err)
		}
		out = append(out, d.entry)
	}
	return out, nil
}
