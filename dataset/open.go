package dataset

import (
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
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
	return open(source{}, path, opts)
}

// OpenFS is Open from a file system. It panics if fsys is nil.
func OpenFS(fsys fs.FS, path string, opts ...Option) (iter.Seq2[Item, error], error) {
	return open(sourceFS("OpenFS", fsys), path, opts)
}

// A stream is a file that was verified and can be read again.
type stream struct {
	src  source
	path string
	cfg  *config
	ov   *overrider // as the first pass read it

	stat fs.FileInfo
	sum  string
	// A sample is known after the first pass by its largest key: smaller
	// ones are in it, and the first few of the same.
	threshold uint64
	atThresh  int
}

func open(src source, path string, opts []Option) (iter.Seq2[Item, error], error) {
	c, ov, err := prepare(src, path, opts)
	if err != nil {
		return nil, err
	}
	s := &stream{src: src, path: path, cfg: c, ov: ov}
	if err := s.verify(); err != nil {
		return nil, err
	}
	return s.items, nil
}

// verify is the first pass.
func (s *stream) verify() error {
	in := newIntake(s.cfg, s.ov)
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
	if err := s.pass(each, func(sc *scan) { s.sum = sc.digest.String() }); err != nil {
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
	f, err := s.src.open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fileError(s.path, err)
	}
	if !st.Mode().IsRegular() {
		return &Error{Path: s.path, Err: fmt.Errorf("%w: it is not a regular file and cannot be read twice; use Load", ErrFormat)}
	}
	if s.stat == nil {
		s.stat = st
	} else if !unchanged(s.stat, st) {
		return changed(s.path)
	}
	if err := scanFile(s.cfg, s.path, f, true, each, done); err != nil {
		return err
	}
	if now, err := f.Stat(); err == nil && !unchanged(s.stat, now) {
		return changed(s.path)
	}
	return nil
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
	in := newIntake(s.cfg, s.ov.anew())
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
	other := false
	err := s.pass(each, func(sc *scan) { other = sc.digest.String() != s.sum })
	switch {
	case broke:
	case err != nil:
		yield(Item{}, err)
	case other:
		yield(Item{}, changed(s.path))
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
