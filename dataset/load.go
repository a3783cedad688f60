package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// Load reads a JSONL file, plain or compressed with gzip or zstd. The whole
// file is read and checked before Load returns, whatever part is selected. A
// file that changes meanwhile is [ErrChanged]. Errors are of type [*Error].
func Load(path string, opts ...Option) (*Dataset, error) {
	return load(source{}, path, opts)
}

// LoadFS is Load from a file system, such as an embed.FS. Overrides files come
// from it too. It panics if fsys is nil.
func LoadFS(fsys fs.FS, path string, opts ...Option) (*Dataset, error) {
	return load(sourceFS("LoadFS", fsys), path, opts)
}

// Read is Load from a reader; name is the dataset's name and stands in errors.
func Read(r io.Reader, name string, opts ...Option) (*Dataset, error) {
	c, ov, err := prepare(source{}, name, opts)
	if err != nil {
		return nil, err
	}
	return read(c, ov, name, "", name, r)
}

// prepare makes sense of the options before anything is read.
func prepare(src source, name string, opts []Option) (*config, *overrider, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, nil, withPath(name, err)
	}
	ov, err := c.overrider(src)
	return c, ov, err
}

func load(src source, path string, opts []Option) (*Dataset, error) {
	c, ov, err := prepare(src, path, opts)
	if err != nil {
		return nil, err
	}
	f, err := src.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, fileError(path, err)
	}
	d, err := read(c, ov, nameOf(path), path, path, f)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err == nil && !unchanged(before, now) {
		return nil, changed(path)
	}
	return d, nil
}

// read makes a dataset of a stream. shown stands in errors.
func read(c *config, ov *overrider, name, path, shown string, r io.Reader) (*Dataset, error) {
	in := newIntake(c, ov)
	narrow := c.sel.narrows()
	k := newKeeper(in, narrow)
	ids := map[string]int{} // and the lines they stand on
	each := func(it *Item, line int) error {
		if first, dup := ids[it.ID]; dup {
			return fmt.Errorf("%w: %s stands on line %d already", ErrDuplicateID, quote(it.ID), first)
		}
		ids[it.ID] = line
		return k.keep(it)
	}
	d := &Dataset{name: name, path: path}
	var warn []error
	err := scanFile(c, shown, r, narrow, each, func(s *scan) {
		d.sha256 = s.digest.String()
		warn = s.in.warn()
		in.autoIDs, in.named = s.autoIDs, s.rows-s.autoIDs
	})
	if err != nil {
		return nil, err
	}
	if err := in.finish(shown, eachKey(ids)); err != nil {
		return nil, err
	}
	d.items = k.items()
	d.describe(in)
	d.warnings = append(warn, d.warnings...)
	return d, nil
}

// eachKey hands out the ids of a map, for in.finish.
func eachKey(ids map[string]int) func(func(string)) error {
	return func(offer func(string)) error {
		for id := range ids {
			offer(id)
		}
		return nil
	}
}

// scanFile reads one file through each, and calls done when all went well.
func scanFile(c *config, path string, r io.Reader, reuse bool, each func(*Item, int) error, done func(*scan)) error {
	in, err := uncompress(markedReader{r})
	if err != nil {
		return &Error{Path: path, Err: plainIO(err), Hint: hint(err)}
	}
	defer in.close()
	s := &scan{cfg: c, in: in, path: path, reuse: reuse, each: each}
	if err := s.run(); err != nil {
		err.Err = plainIO(err.Err)
		return err
	}
	if done != nil {
		done(s)
	}
	return nil
}

// plainIO shows errors of the underlying reader for what they are.
func plainIO(err error) error {
	var re readError
	if errors.As(err, &re) {
		return fmt.Errorf("cannot be read: %w", re.err)
	}
	return err
}

// New makes a dataset of items made in code. Items without an ID are numbered
// from 1. Errors are of type [*Error], with the item's number as the line.
func New(name string, items []Item, opts ...Option) (*Dataset, error) {
	c, ov, err := prepare(source{}, name, opts)
	if err != nil {
		return nil, err
	}
	for _, given := range []string{"Fields", "Decode", "MaxLine"} {
		if c.has(given) {
			return nil, withPath(name, fmt.Errorf("%w: %s says how a file is read; New takes items that are made", ErrOption, given))
		}
	}
	b := &builder{cfg: c, in: newIntake(c, ov), ids: map[string]int{}, sum: newDigest()}
	b.k = newKeeper(b.in, false)
	s := &scan{path: name}
	for i, it := range items {
		s.rows++
		if err := b.add(it, i+1); err != nil {
			s.refuse(i+1, err)
		} else if s.badRows == 0 {
			s.good++
		}
	}
	if s.badRows > 0 {
		return nil, s.rowsError()
	}
	if err := b.in.finish(name, eachKey(b.ids)); err != nil {
		return nil, err
	}
	d := &Dataset{name: name, sha256: b.sum.String(), items: b.k.items()}
	d.describe(b.in)
	return d, nil
}

// A builder takes in items made in code.
type builder struct {
	cfg *config
	in  *intake
	k   *keeper
	ids map[string]int
	sum digest
}

func (b *builder) add(it Item, n int) error {
	if it.Raw != nil {
		row := bytes.Clone(bytes.Trim(it.Raw, " \t\r\n"))
		if err := (&rowReader{}).scan(row); err != nil {
			return fmt.Errorf("item %s: its Raw: %w", quote(it.ID), err)
		}
		it.Raw = row
	}
	it.Targets, it.Choices = slices.Clone(it.Targets), slices.Clone(it.Choices) // the caller may go on using theirs
	if err := b.cfg.number(&it, n); err != nil {
		return err
	}
	if first, dup := b.ids[it.ID]; dup {
		return fmt.Errorf("%w: %s is item %d already", ErrDuplicateID, quote(it.ID), first)
	}
	b.ids[it.ID] = n
	line, err := json.Marshal(it)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRow, err)
	}
	b.sum.add(append(line, '\n'))
	return b.k.keep(&it)
}
