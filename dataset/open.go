package dataset

import (
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
	"os"
	"slices"
)

// Open reads a file in two passes without holding it: the first, before Open
// returns, checks the whole file as Load does; the second yields the items,
// anew each time the sequence is ranged over. What is kept of the first pass
// is about 9 bytes an item, and 16 more for each item of a Sample.
//
// The error beside an item is nil but for the last pair, which may say that
// the file has changed or cannot be read any more; the item is then zero. The
// file must be a regular one: a pipe cannot be read twice.
func Open(path string, opts ...Option) (iter.Seq2[Item, error], error) {
	return open(openFile, path, opts)
}

// OpenFS is Open from a file system.
func OpenFS(fsys fs.FS, path string, opts ...Option) (iter.Seq2[Item, error], error) {
	return open(openFS(fsys), path, opts)
}

// A stream is a file that was verified and can be read again.
type stream struct {
	open opener
	path string
	cfg  *config

	stat fs.FileInfo
	sum  string
	// A sample is known after the first pass by its largest key: smaller
	// ones are in it, and the first few of the same.
	threshold uint64
	atThresh  int
}

func open(o opener, path string, opts []Option) (iter.Seq2[Item, error], error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, withPath(path, err)
	}
	s := &stream{open: o, path: path, cfg: c}
	if err := s.verify(); err != nil {
		return nil, err
	}
	return s.items, nil
}

// verify is the first pass.
func (s *stream) verify() error {
	ov, err := s.cfg.overrider(s.open)
	if err != nil {
		return err
	}
	in := newIntake(s.cfg, ov)
	ids := newIDSet()
	sample := &draw[struct{}]{n: s.cfg.sel.sample}
	each := func(it *Item, _ int) error {
		ids.add(it.ID)
		ok, err := in.take(it)
		if ok && sample.n > 0 {
			sample.offer(in.sel.key(it.ID), in.sel.sharded, func() struct{} { return struct{}{} })
		}
		return err
	}
	err = s.pass(each, func(sc *scan) { s.sum = sc.digest.String() })
	if err != nil {
		return err
	}
	if err := s.duplicates(ids.repeated()); err != nil {
		return err
	}
	if len(sample.entries) > 0 {
		s.threshold = sample.entries[0].key
		for _, e := range sample.entries {
			if e.key == s.threshold {
				s.atThresh++
			}
		}
	}
	return in.finish(s.path, s.eachID)
}

// pass reads the file once. It refuses a file other than the first pass saw.
func (s *stream) pass(each func(*Item, int) error, done func(*scan)) error {
	f, err := s.open(s.path)
	if err != nil {
		return fileError(s.path, err)
	}
	defer f.Close()
	if file, ok := f.(fs.File); ok {
		st, err := file.Stat()
		if err != nil {
			return fileError(s.path, err)
		}
		if !st.Mode().IsRegular() {
			return &Error{Path: s.path, Err: fmt.Errorf("%w: it is not a regular file and cannot be read twice; use Load", ErrFormat)}
		}
		if s.stat == nil {
			s.stat = st
		} else if !unchanged(s.stat, st) {
			return &Error{Path: s.path, Err: ErrChanged, Hint: "Open it again."}
		}
	}
	return scanFile(s.cfg, s.path, f, true, each, done)
}

func unchanged(a, b fs.FileInfo) bool {
	if a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
		return false
	}
	// Only files of the operating system can be told apart by more.
	return a.Sys() == nil || b.Sys() == nil || os.SameFile(a, b)
}

// eachID reads the file again, for the rare error that wants to name ids.
func (s *stream) eachID(f func(string)) error {
	return s.pass(func(it *Item, _ int) error { f(it.ID); return nil }, nil)
}

// duplicates looks at ids whose hashes met. Hashes may meet by chance: the
// file is read again, and only equal ids are duplicates.
func (s *stream) duplicates(hashes map[uint64]bool, h func(string) uint64) error {
	if len(hashes) == 0 {
		return nil
	}
	lines := map[string]int{}
	return s.pass(func(it *Item, line int) error {
		if !hashes[h(it.ID)] {
			return nil
		}
		if first, dup := lines[it.ID]; dup {
			return fmt.Errorf("%w: %s stands on line %d already", ErrDuplicateID, quote(it.ID), first)
		}
		lines[it.ID] = line
		return nil
	}, nil)
}

// items is the second pass.
func (s *stream) items(yield func(Item, error) bool) {
	// Filters and overrides are set up anew: each pass counts for itself.
	ov, err := s.cfg.overrider(s.open)
	if err != nil {
		yield(Item{}, err)
		return
	}
	in := newIntake(s.cfg, ov)
	limit, given, equal, broke := s.cfg.sel.limit, 0, 0, false
	each := func(it *Item, _ int) error {
		ok, err := in.take(it)
		if err != nil || !ok {
			return err
		}
		if s.cfg.sel.sample > 0 {
			key := in.sel.key(it.ID)
			if key == s.threshold {
				equal++
			}
			if key > s.threshold || key == s.threshold && equal > s.atThresh {
				return nil
			}
		}
		given++
		if !yield(own(it), nil) {
			broke = true
			return errStop
		}
		if given == limit {
			broke = true
			return errStop
		}
		return nil
	}
	changed := false
	err = s.pass(each, func(sc *scan) { changed = sc.digest.String() != s.sum })
	switch {
	case broke:
	case err != nil:
		yield(Item{}, err)
	case changed:
		yield(Item{}, &Error{Path: s.path, Err: ErrChanged, Hint: "Open it again."})
	}
}

// An idSet finds ids that occur twice, in 8 bytes an id and the slack of
// growing slices: it keeps 64-bit hashes and sorts them at the end. A hash
// table of whole hashes would need half as much again for its empty places.
// The seed is random, so that no file can be made to collide.
type idSet struct {
	seed maphash.Seed
	// Split by the first byte, so that growing copies a 256th at a time.
	parts [256][]uint64
}

func newIDSet() *idSet { return &idSet{seed: maphash.MakeSeed()} }

func (s *idSet) hash(id string) uint64 { return maphash.String(s.seed, id) }

func (s *idSet) add(id string) {
	h := s.hash(id)
	p := &s.parts[h>>56]
	if len(*p) == cap(*p) {
		grown := make([]uint64, len(*p), len(*p)+len(*p)/8+16)
		copy(grown, *p)
		*p = grown
	}
	*p = append(*p, h)
}

// repeated returns the hashes that were added twice, and the hash function.
func (s *idSet) repeated() (map[uint64]bool, func(string) uint64) {
	twice := map[uint64]bool{}
	for _, p := range s.parts {
		slices.Sort(p)
		for i := 1; i < len(p); i++ {
			if p[i] == p[i-1] {
				twice[p[i]] = true
			}
		}
	}
	return twice, s.hash
}
