package gate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goevals/evals/evaltest/result"
)

// A Mismatch is a field of the fingerprint in which two runs differ.
type Mismatch struct {
	Field string
	// Old and New are the values; HasOld and HasNew say whether there was one
	// at all, which an empty text does not.
	Old, New       string
	HasOld, HasNew bool
}

// String is the mismatch in a few words, with what comes from outside quoted:
// model was "a", is "b".
func (m Mismatch) String() string {
	switch {
	case !m.HasOld:
		return fmt.Sprintf("%s is %s, the baseline does not say what it was", visibleName(m.Field), quoted(m.New))
	case !m.HasNew:
		return fmt.Sprintf("%s was %s, this run does not say what it is", visibleName(m.Field), quoted(m.Old))
	}
	return fmt.Sprintf("%s was %s, is %s", visibleName(m.Field), quoted(m.Old), quoted(m.New))
}

// visibleName leaves a plain field name as it is and quotes any other.
func visibleName(s string) string {
	if q := quoted(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// Fields of fingerprints that say what was asked: of all items, or only what
// every run can tell without looking at each.
const (
	FieldItems    = "items"                // what is asked and wanted, in any order
	FieldDataset  = "dataset"              // the file, which may hold the same items in another order
	FieldRequests = "requests"             // what every item is asked
	FieldRequest  = "first item's request" // what the first one is
)

// finer are pairs of fields of which the first says more. Two runs are compared
// by the first if both have it, and by the second if one has only that.
var finer = [][2]string{{FieldItems, FieldDataset}, {FieldRequests, FieldRequest}}

// CompareFingerprints returns the fields in which they differ, by name. A field
// that only one of them has is a difference too: what is not known to be equal
// is not. Of [FieldItems] and [FieldDataset], and of [FieldRequests] and
// [FieldRequest], the first is compared if both have it, else the second if both
// have that.
func CompareFingerprints(old, now map[string]string) []Mismatch {
	fields := map[string]bool{}
	for f := range old {
		fields[f] = true
	}
	for f := range now {
		fields[f] = true
	}
	have := func(f string) bool { return old[f] != "" && now[f] != "" }
	for _, p := range finer {
		switch {
		case have(p[0]):
			delete(fields, p[1])
		case have(p[1]):
			delete(fields, p[0])
		}
	}
	var list []Mismatch
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		m := Mismatch{Field: f}
		m.Old, m.HasOld = old[f]
		m.New, m.HasNew = now[f]
		if m.Old != m.New || m.HasOld != m.HasNew {
			list = append(list, m)
		}
	}
	return list
}

// FingerprintOf is what a journal's header says of how its run was made, as a
// fingerprint: dataset and selection, strategy, grader, judge, samples and
// attempts, and whatever the header's own fingerprint has: the model, the
// prompt's hash, versions.
func FingerprintOf(h result.Header) map[string]string {
	f := maps.Clone(h.Fingerprint)
	if f == nil {
		f = map[string]string{}
	}
	put := func(field, value string) {
		if value != "" {
			f[field] = value
		}
	}
	put(FieldDataset, h.Dataset.SHA256)
	put("selection", h.Dataset.Selection)
	put("strategy", h.Strategy)
	put("grader", h.Grader)
	put("judge", h.Judge)
	if h.Samples > 0 {
		f["samples"] = strconv.Itoa(h.Samples)
	}
	if h.Attempts > 0 {
		f["attempts"] = strconv.Itoa(h.Attempts)
	}
	return f
}

// A MismatchError is a comparison that was refused, because the runs were not
// made in the same way.
type MismatchError struct{ Mismatches []Mismatch }

// Error names every field.
func (e *MismatchError) Error() string {
	return "gate: the runs are not comparable: " + mismatchText(e.Mismatches)
}

func mismatchText(list []Mismatch) string {
	var texts []string
	for _, m := range list {
		texts = append(texts, m.String())
	}
	return strings.Join(texts, "; ")
}
