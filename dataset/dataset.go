package dataset

import (
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Dataset is a verified list of items. It never changes and is safe for
// concurrent use.
type Dataset struct {
	name      string
	path      string
	sha256    string
	items     []Item
	selection string
	overrides []Override
	skipped   map[string]string
	warnings  []error
}

// Len is the number of items, at least 1.
func (d *Dataset) Len() int { return len(d.items) }

// At returns the i-th item, from 0. It panics if there is none.
func (d *Dataset) At(i int) Item { return d.items[i] }

// All yields the items in order.
func (d *Dataset) All() iter.Seq[Item] { return slices.Values(d.items) }

// Items returns the items in order, in a list of the caller's own.
func (d *Dataset) Items() []Item { return slices.Clone(d.items) }

// Name is what the dataset is called: the name it was made with, or the file's
// without folder, .jsonl, .gz and .zst.
func (d *Dataset) Name() string { return d.name }

// Path is the file as it was given to Load or LoadFS; "" if the items do not
// come from a file.
func (d *Dataset) Path() string { return d.path }

// SHA256 is the hash, in hex, of the whole uncompressed content, before any
// override and selection: what gunzip -c FILE | sha256sum prints. Two datasets
// with the same hash have the same rows. For items made in code it is the hash
// of the items as JSON.
func (d *Dataset) SHA256() string { return d.sha256 }

// Selection says in words what part of the content this is, such as "shard 1
// of 4 (331 of 1319), limit 10 (10 of 331)"; "" if it is all. Items skipped by
// an override are not counted.
func (d *Dataset) Selection() string { return d.selection }

// Overrides returns the overrides that were applied, in file order: those of
// items in this selection, and all skips.
func (d *Dataset) Overrides() []Override { return slices.Clone(d.overrides) }

// Warnings are oddities that a person should know of: empty targets, overrides
// that change nothing, compressed data without checksums.
func (d *Dataset) Warnings() []error { return slices.Clone(d.warnings) }

// Select returns the part of d that opts select: IDs, Filter, Shard, Sample
// and Limit, and Overrides before them. Options that say how a file is read
// are refused. The selection is of what is in d: two calls narrow twice.
func (d *Dataset) Select(opts ...Option) (*Dataset, error) {
	c, err := newConfig(opts)
	if err == nil {
		for _, name := range c.given {
			if slices.Contains([]string{"Fields", "Decode", "AutoID", "MaxLine"}, name) {
				err = fmt.Errorf("%w: %s says how a file is read; give it to Load", ErrOption, name)
			}
		}
	}
	if err != nil {
		return nil, withPath(d.name, err)
	}
	ov, err := c.overrider(source{})
	if err != nil {
		return nil, err
	}
	in := newIntake(c, ov)
	in.skipped = cloneMap(d.skipped)
	k := newKeeper(in, false)
	for i := range d.items {
		it := d.items[i]
		if err := k.keep(&it); err != nil {
			return nil, &Error{Path: d.name, Err: fmt.Errorf("item %s: %w", quote(it.ID), err)}
		}
	}
	ids := func(offer func(string)) error {
		for i := range d.items {
			offer(d.items[i].ID)
		}
		return nil
	}
	if err := in.finish(d.name, ids); err != nil {
		return nil, err
	}
	s := *d
	s.items = k.items()
	if len(s.items) < len(d.items)/2 {
		// A small part must not keep the blocks of the whole alive.
		for i := range s.items {
			s.items[i] = own(&s.items[i])
		}
	}
	s.describe(in)
	s.selection = joinWords(d.selection, s.selection)
	s.warnings = append(slices.Clone(d.warnings), ov.stale...)
	s.overrides = append(slices.Clone(d.overrides), s.overrides...)
	s.pruneOverrides()
	return &s, nil
}

// describe notes what was done to the items.
func (d *Dataset) describe(in *intake) {
	d.selection = in.sel.words()
	d.overrides = in.ov.applied
	d.skipped = in.skipped
	d.warnings = in.warnings()
	d.pruneOverrides()
}

// pruneOverrides drops the overrides of items that were not selected.
func (d *Dataset) pruneOverrides() {
	if len(d.overrides) == 0 {
		return
	}
	here := make(map[string]bool, len(d.items))
	for i := range d.items {
		here[d.items[i].ID] = true
	}
	d.overrides = slices.DeleteFunc(d.overrides, func(o Override) bool { return !o.Skip && !here[o.ID] })
}

func joinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", then " + b
}

func cloneMap(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// nameOf is a file's name without what says how it is written.
func nameOf(file string) string {
	name := path.Base(filepath.ToSlash(file))
	for _, ext := range []string{".gz", ".zst", ".jsonl", ".ndjson", ".json"} {
		if rest, ok := strings.CutSuffix(name, ext); ok && rest != "" {
			name = rest
		}
	}
	return name
}

// A keeper collects the items that an intake lets through.
type keeper struct {
	in   *intake
	copy bool // items share memory that will be used again
	list []Item
	draw *draw[Item]
}

func newKeeper(in *intake, copyItems bool) *keeper {
	k := &keeper{in: in, copy: copyItems}
	if n := in.sel.sample; n > 0 {
		k.draw = &draw[Item]{n: n}
	}
	return k
}

func (k *keeper) keep(it *Item) error {
	ok, err := k.in.take(it)
	if err != nil || !ok {
		return err
	}
	take := func() Item {
		if k.copy {
			return own(it)
		}
		return *it
	}
	sel := k.in.sel
	switch {
	case k.draw != nil:
		k.draw.offer(sel.key(it.ID), sel.sharded, take)
	case sel.limit == 0 || len(k.list) < sel.limit:
		k.list = append(k.list, take())
	}
	return nil
}

func (k *keeper) items() []Item {
	items := k.list
	if k.draw != nil {
		items = k.draw.inOrder()
	}
	if n := k.in.sel.limit; n > 0 && len(items) > n {
		items = items[:n:n]
	}
	return slices.Clip(items)
}
