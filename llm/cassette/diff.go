package cassette

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// diffValues appends how two decoded JSON values differ, depth first in the
// order of the keys.
func diffValues(path string, recorded, asked any, out *[]string) {
	if len(*out) > 10*maxDifferences {
		return
	}
	switch a := recorded.(type) {
	case map[string]any:
		if b, ok := asked.(map[string]any); ok {
			diffObjects(path, a, b, out)
			return
		}
	case []any:
		if b, ok := asked.([]any); ok {
			for i := range min(len(a), len(b)) {
				diffValues(fmt.Sprintf("%s[%d]", path, i), a[i], b[i], out)
			}
			if len(a) != len(b) {
				*out = append(*out, fmt.Sprintf("%s has %d elements there and %d here", name(path), len(a), len(b)))
			}
			return
		}
	case string:
		if b, ok := asked.(string); ok {
			if a != b {
				*out = append(*out, diffText(name(path), a, b))
			}
			return
		}
	}
	x, y := appendValue(nil, recorded), appendValue(nil, asked)
	if string(x) != string(y) {
		*out = append(*out, fmt.Sprintf("%s is %s there and %s here", name(path), clip(string(x)), clip(string(y))))
	}
}

func diffObjects(path string, a, b map[string]any, out *[]string) {
	keys := make([]string, 0, len(a)+len(b))
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		p := k
		if path != "" {
			p = path + "." + k
		}
		x, inA := a[k]
		y, inB := b[k]
		switch {
		case !inB:
			*out = append(*out, fmt.Sprintf("%s is %s there and absent here", name(p), clip(string(appendValue(nil, x)))))
		case !inA:
			*out = append(*out, fmt.Sprintf("%s is absent there and %s here", name(p), clip(string(appendValue(nil, y)))))
		default:
			diffValues(p, x, y, out)
		}
	}
}

func name(path string) string {
	if path == "" {
		return "the body"
	}
	if len(path) > 120 {
		path = path[:120]
	}
	for _, r := range path {
		if r < ' ' || r > '~' {
			return fmt.Sprintf("%q", path)
		}
	}
	return path
}

func clip(s string) string {
	r := []rune(s)
	if len(r) > 40 {
		return fmt.Sprintf("%q…", string(r[:40]))
	}
	for _, c := range r {
		if c < ' ' || c == 0x7f || c == utf8.RuneError {
			return fmt.Sprintf("%q", s)
		}
	}
	return s
}

// How many characters are shown before and after the place where two texts
// part.
const (
	before = 8
	after  = 16
)

// diffText says where two texts part, in characters from 1, and shows both
// from a little before.
func diffText(what, recorded, asked string) string {
	a, b := []rune(recorded), []rune(asked)
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(i-before, 0)
	show := func(r []rune) string {
		s := string(r[min(from, len(r)):min(i+after, len(r))])
		if from > 0 {
			s = "…" + s
		}
		if i+after < len(r) {
			s += "…"
		}
		return s
	}
	return fmt.Sprintf("%s differs from character %d on: %q there, %q here", what, i+1, show(a), show(b))
}
