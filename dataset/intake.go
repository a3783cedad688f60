package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An intake is what every item goes through after its row was read, whether it
// comes from a file, from code or from another dataset: overrides, the check
// of choices, the selection.
type intake struct {
	cfg     *config
	ov      *overrider
	sel     *selector
	skipped map[string]string // id → reason

	autoIDs, named int // rows without and with an id of their own
	emptyTarget    tally
	emptyInput     tally
}

// A tally counts items and remembers the first few.
type tally struct {
	n     int
	first []string
}

func (t *tally) add(id string) {
	if t.n++; len(t.first) < 3 {
		t.first = append(t.first, strings.Clone(id))
	}
}

func (t *tally) String() string {
	more := ""
	if t.n > len(t.first) {
		more = ", …"
	}
	return quoteAll(t.first) + more
}

func newIntake(cfg *config, ov *overrider) *intake {
	return &intake{cfg: cfg, ov: ov, sel: newSelector(&cfg.sel), skipped: map[string]string{}}
}

// take reports whether the item is selected. It may correct it.
func (in *intake) take(it *Item) (bool, error) {
	if err := in.checkTexts(it); err != nil {
		return false, err
	}
	if in.ov.apply(it) {
		in.skipped[it.ID] = in.ov.byID[it.ID].Reason
		return false, nil
	}
	if err := it.checkChoices(); err != nil {
		return false, err
	}
	if !in.sel.admit(it) {
		return false, nil
	}
	if it.Target == "" && in.cfg.mapping.Target != NoColumn {
		in.emptyTarget.add(it.ID)
	}
	if it.Input == "" && in.cfg.mapping.Input != NoColumn {
		in.emptyInput.add(it.ID)
	}
	return true, nil
}

// checkTexts refuses texts that could not be written to a file again. Those of
// mapped columns cannot be so.
func (in *intake) checkTexts(it *Item) error {
	if it.cols != nil {
		return nil
	}
	if !validTexts(it.ID, it.Input, it.Target, it.Group) || !validTexts(it.Targets...) || !validTexts(it.Choices...) {
		return fmt.Errorf("%w: item %s holds text that is not UTF-8", ErrRow, quote(it.ID))
	}
	return nil
}

func validTexts(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
}

// finish says what is wrong with the overrides and the selection as a whole.
// ids calls its function with every id of the dataset, to look for near ones.
func (in *intake) finish(path string, ids func(func(string)) error) error {
	if o := in.ov.unmet(); o != nil {
		near := newNearest(o.ID)
		if err := ids(near.offer); err != nil {
			return err
		}
		return &Error{Path: o.from, Err: fmt.Errorf("%w %s: %s holds no such item%s", ErrUnknownID, quote(o.ID), path, near.words()),
			Hint: "Remove the override, or correct its id."}
	}
	if missing := in.sel.missing(); len(missing) > 0 {
		return in.missing(path, missing, ids)
	}
	if in.sel.sharded == 0 {
		why := "there is nothing in it"
		switch {
		case in.sel.narrows():
			why = "the selection leaves nothing: " + in.sel.words()
		case len(in.skipped) > 0:
			why = "the overrides skip every item"
		}
		return &Error{Path: path, Err: fmt.Errorf("%w: %s", ErrEmpty, why)}
	}
	return nil
}

func (in *intake) missing(path string, missing []string, ids func(func(string)) error) error {
	if reason, ok := in.skipped[missing[0]]; ok {
		return &Error{Path: path, Err: fmt.Errorf("%w: %s is skipped by an override: %s", ErrUnknownID, quote(missing[0]), quote(reason))}
	}
	listed := missing[:min(len(missing), 3)]
	near := make([]*nearest, len(listed))
	for i, id := range listed {
		near[i] = newNearest(id)
	}
	err := ids(func(id string) {
		for _, n := range near {
			n.offer(id)
		}
	})
	if err != nil {
		return err
	}
	var parts []string
	for _, n := range near {
		parts = append(parts, quote(n.want)+n.words())
	}
	more := ""
	if n := len(missing) - len(listed); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return &Error{Path: path, Err: fmt.Errorf("%w %s%s", ErrUnknownID, strings.Join(parts, ", "), more)}
}

// warnings are what a person should know but no reason to fail.
func (in *intake) warnings() []error {
	var warn []error
	if in.emptyTarget.n > 0 {
		warn = append(warn, fmt.Errorf("%s with an empty target: %s", count(in.emptyTarget.n, "item"), &in.emptyTarget))
	}
	if in.emptyInput.n > 0 {
		warn = append(warn, fmt.Errorf("%s with an empty input: %s", count(in.emptyInput.n, "item"), &in.emptyInput))
	}
	if in.autoIDs > 0 && in.named > 0 {
		warn = append(warn, fmt.Errorf("%d of %d rows have no id and are known by their row number; it changes when rows are added before them", in.autoIDs, in.autoIDs+in.named))
	}
	return append(warn, in.ov.stale...)
}

// own returns an item that shares no memory with the block it came from.
func own(it *Item) Item {
	c := *it
	c.Raw = bytes.Clone(it.Raw)
	return c
}

// withPath gives an error the path it lacks.
func withPath(path string, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{Path: path, Err: err}
}
