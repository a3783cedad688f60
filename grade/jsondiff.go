package grade

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

const (
	// diffLines is how many differences an explanation lists.
	diffLines = 8
	// diffValue is how many bytes of a value a difference shows.
	diffValue = 60
	// diffPath is how many bytes of a path a difference shows.
	diffPath = 120
)

// sameJSON reports whether got is want, and the differences if not, a line
// each. With subset, an object of got may have keys that want has not, at any
// depth; arrays must still have the same length, element by element.
//
// The lines are our own: the text of cmp.Diff varies on purpose and must not
// be compared or stored.
func sameJSON(want, got any, subset bool) (equal bool, diff string) {
	var r diffReporter
	equal = cmp.Equal(want, got, append(jsonOptions(subset), cmp.Reporter(&r))...)
	return equal, r.String()
}

// equalJSON is sameJSON without the differences.
func equalJSON(want, got any, subset bool) bool {
	return cmp.Equal(want, got, jsonOptions(subset)...)
}

func jsonOptions(subset bool) []cmp.Option {
	opts := []cmp.Option{cmp.Comparer(jsonNumber.equal)}
	if subset {
		opts = append(opts, cmp.FilterPath(isFurtherKey, cmp.Ignore()))
	}
	return opts
}

// isFurtherKey reports whether the path ends at a key that only the response's
// object has.
func isFurtherKey(p cmp.Path) bool {
	step, ok := p.Last().(cmp.MapIndex)
	if !ok || step.Key().Kind() != reflect.String {
		return false
	}
	want, _ := step.Values()
	return !want.IsValid()
}

// A diffReporter writes the first differences as lines `/path: want, got` and
// counts the rest.
type diffReporter struct {
	path  cmp.Path
	lines []string
	more  int
}

var _ interface {
	PushStep(cmp.PathStep)
	Report(cmp.Result)
	PopStep()
} = (*diffReporter)(nil)

// PushStep, Report and PopStep are called by cmp.
func (r *diffReporter) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }
func (r *diffReporter) PopStep()                { r.path = r.path[:len(r.path)-1] }
func (r *diffReporter) Report(res cmp.Result) {
	if res.Equal() {
		return
	}
	if len(r.lines) == diffLines {
		r.more++
		return
	}
	want, got := r.path.Last().Values()
	where := r.pointer()
	switch {
	case !got.IsValid():
		r.lines = append(r.lines, fmt.Sprintf("%s: missing, want %s", where, showJSON(want.Interface())))
	case !want.IsValid():
		r.lines = append(r.lines, fmt.Sprintf("%s: not wanted, got %s", where, showJSON(got.Interface())))
	default:
		r.lines = append(r.lines, fmt.Sprintf("%s: want %s, got %s", where, showJSON(want.Interface()), showJSON(got.Interface())))
	}
}

// pointer is the JSON pointer (RFC 6901) of the current place.
func (r *diffReporter) pointer() string {
	var b strings.Builder
	for _, s := range r.path {
		step, ok := s.(cmp.MapIndex)
		if !ok {
			continue
		}
		b.WriteByte('/')
		if k := step.Key(); k.Kind() == reflect.String {
			b.WriteString(pointerEscaper.Replace(k.String()))
		} else {
			b.WriteString(strconv.FormatInt(k.Int(), 10))
		}
		if b.Len() > diffPath {
			break
		}
	}
	if b.Len() == 0 {
		return "the value"
	}
	return strings.Trim(quoteAt(b.String(), diffPath), `"`)
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// String returns the lines and the count of the rest.
func (r *diffReporter) String() string {
	if r.more == 0 {
		return strings.Join(r.lines, "\n")
	}
	return fmt.Sprintf("%s\nand %d more", strings.Join(r.lines, "\n"), r.more)
}

// showJSON writes the beginning of a value as JSON, keys in order, so that
// the same difference always reads the same.
func showJSON(v any) string {
	var b strings.Builder
	writeJSON(&b, v)
	s := b.String()
	if len(s) <= diffValue {
		return s
	}
	return strings.ToValidUTF8(s[:diffValue], "") + "…"
}

// writeJSON stops soon after diffValue bytes: a big value is not written out
// only to be cut.
func writeJSON(b *strings.Builder, v any) {
	if b.Len() > diffValue {
		return
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		b.WriteString(strconv.Quote(v[:min(len(v), 2*diffValue)]))
	case jsonNumber:
		b.WriteString(v.text[:min(len(v.text), 2*diffValue)])
	case jsonArray:
		b.WriteByte('[')
		for i := 0; i < len(v) && b.Len() <= diffValue; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, v[i])
		}
		b.WriteByte(']')
	case jsonObject:
		writeJSONObject(b, v)
	}
}

func writeJSONObject(b *strings.Builder, obj jsonObject) {
	keys := make([]string, 0, len(obj))
	for k := range obj {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b.WriteByte('{')
	for i, k := range keys {
		if b.Len() > diffValue {
			return
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(k[:min(len(k), 2*diffValue)]) + ":")
		writeJSON(b, obj[k])
	}
	b.WriteByte('}')
}
