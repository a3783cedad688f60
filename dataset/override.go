package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// An Override corrects the label of one item, or leaves the item out, without
// an edit of the data. It says why, and the run's summary shows it.
type Override struct {
	// ID is the item's. An id that the dataset does not hold is an error:
	// an override that no longer applies should go.
	ID string
	// Target is the right answer; Targets are further ones. They replace the
	// row's Target and Targets.
	Target  string
	Targets []string
	// Skip leaves the item out. Give either Target or Skip.
	Skip bool
	// Reason is required: who found out what.
	Reason string
	// Was is the target that was replaced, filled in by [Dataset.Overrides].
	Was string

	from string // file and line, or "option"
}

// check refuses an override that is not whole.
func (o *Override) check() error {
	switch {
	case o.ID == "":
		return fmt.Errorf("%w: it names no id", ErrOverride)
	case o.Reason == "":
		return fmt.Errorf("%w of %s: it gives no reason", ErrOverride, quote(o.ID))
	case !validTexts(o.Target, o.Reason) || !validTexts(o.Targets...):
		return fmt.Errorf("%w of %s: it holds text that is not UTF-8", ErrOverride, quote(o.ID))
	case o.Skip && (o.Target != "" || len(o.Targets) > 0):
		return fmt.Errorf("%w of %s: both a target and skip", ErrOverride, quote(o.ID))
	case !o.Skip && o.Target == "":
		return fmt.Errorf("%w of %s: neither a target nor skip", ErrOverride, quote(o.ID))
	}
	return nil
}

// Overrides corrects labels that are known to be wrong. Several Overrides and
// OverridesFile options add up; two overrides of one id are an error.
func Overrides(overrides ...Override) Option {
	overrides = slices.Clone(overrides)
	return func(c *config) {
		for _, o := range overrides {
			o.from, o.Was = "option Overrides", ""
			c.overrides = append(c.overrides, o)
		}
	}
}

// OverridesFile reads overrides from a JSONL file, plain or compressed, one a
// line:
//
//	{"id": "gsm8k-0042", "target": "14", "reason": "8 + 14 is asked, issue 25"}
//	{"id": "gsm8k-0043", "skip": true, "reason": "the question has no answer"}
//
// The key targets holds a list of further right answers. Other keys are
// refused. LoadFS reads the file from the same file system.
func OverridesFile(path string) Option {
	return func(c *config) { c.overrideFiles = append(c.overrideFiles, path) }
}

// parseOverride reads one checked row of an overrides file.
func parseOverride(row json.RawMessage) (Override, error) {
	var cols map[string]json.RawMessage
	if err := json.Unmarshal(row, &cols); err != nil {
		return Override{}, err
	}
	var o Override
	for _, name := range columnNames(row) {
		v := jsontext.Value(cols[name])
		var err error
		switch name {
		case "id":
			o.ID, err = idText(v)
		case "target":
			err = o.setTarget(v)
		case "targets":
			var more []string
			more, err = listTexts(v)
			o.Targets = append(o.Targets, more...)
		case "skip":
			err = json.Unmarshal(v, &o.Skip)
		case "reason":
			if v.Kind() != '"' {
				err = errors.New("is not a text")
			} else {
				o.Reason, err = anyText(v)
			}
		default:
			err = errors.New("is none of id, target, targets, skip, reason")
		}
		if err != nil {
			return o, fmt.Errorf("%w: key %s: %w", ErrOverride, quote(name), err)
		}
	}
	return o, o.check()
}

func (o *Override) setTarget(v jsontext.Value) error {
	if v.Kind() != '[' {
		var err error
		o.Target, err = anyText(v)
		return err
	}
	list, err := targetList(v)
	if err != nil {
		return err
	}
	o.Target, o.Targets = list[0], append(list[1:len(list):len(list)], o.Targets...)
	return nil
}

// An overrider applies overrides to items as they come.
type overrider struct {
	byID    map[string]*Override
	order   []*Override
	met     map[string]bool
	applied []Override
	stale   []error
}

// overrider reads and checks the overrides of the options.
func (c *config) overrider(src source) (*overrider, error) {
	ov := &overrider{byID: map[string]*Override{}, met: map[string]bool{}}
	for i := range c.overrides {
		o := &c.overrides[i]
		if err := o.check(); err != nil {
			return nil, &Error{Path: o.from, Err: err}
		}
		if err := ov.add(o); err != nil {
			return nil, &Error{Path: o.from, Err: err}
		}
	}
	for _, path := range c.overrideFiles {
		if err := ov.readFile(path, src); err != nil {
			return nil, err
		}
	}
	return ov, nil
}

// anew is ov before it was applied to anything.
func (ov *overrider) anew() *overrider {
	return &overrider{byID: ov.byID, order: ov.order, met: map[string]bool{}}
}

func (ov *overrider) add(o *Override) error {
	if other := ov.byID[o.ID]; other != nil {
		return fmt.Errorf("%w of %s: it is overridden already (%s)", ErrOverride, quote(o.ID), other.from)
	}
	ov.byID[o.ID] = o
	ov.order = append(ov.order, o)
	return nil
}

func (ov *overrider) readFile(path string, src source) error {
	f, err := src.open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return ov.readFrom(path, f)
}

func (ov *overrider) readFrom(path string, r io.Reader) error {
	var last Override
	cfg := &config{maxLine: DefaultMaxLine}
	cfg.decode = func(row json.RawMessage) (Item, error) {
		var err error
		last, err = parseOverride(row)
		return Item{ID: last.ID}, err
	}
	return scanFile(cfg, path, r, true, func(_ *Item, line int) error {
		o := last
		o.from = fmt.Sprintf("%s:%d", path, line)
		return ov.add(&o)
	}, nil)
}

// apply corrects it, or says that it is to be left out.
func (ov *overrider) apply(it *Item) (skip bool) {
	o := ov.byID[it.ID]
	if o == nil {
		return false
	}
	ov.met[it.ID] = true
	done := *o
	done.Was = it.Target
	if !o.Skip {
		if it.Target == o.Target && slices.Equal(it.Targets, o.Targets) {
			ov.stale = append(ov.stale, fmt.Errorf("the override of %s (%s) changes nothing: the target is %s already", quote(o.ID), o.from, quote(o.Target)))
		}
		it.Target, it.Targets = o.Target, slices.Clone(o.Targets)
	}
	ov.applied = append(ov.applied, done)
	return o.Skip
}

// unmet returns the first override whose id did not come by.
func (ov *overrider) unmet() *Override {
	for _, o := range ov.order {
		if !ov.met[o.ID] {
			return o
		}
	}
	return nil
}
