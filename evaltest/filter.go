package evaltest

import (
	"regexp"
	"strings"
)

// A nameFilter foretells which subtests -run and -skip will let through. testing
// decides by itself, and silently: t.Run returns true for a subtest that it
// does not run. A run must know beforehand whether it is narrowed, because
// then its items are assertions; so the two patterns are read here as testing
// reads them. Where the two disagree testing is right, and the run is taken
// for narrowed afterwards.
type nameFilter struct {
	run, skip []alternative
}

// alternative is one of the patterns between top-level |, split at /.
type alternative []*regexp.Regexp

// newNameFilter reads the values of -test.run and -test.skip. testing has
// refused what does not compile.
func newNameFilter(run, skip string) nameFilter {
	return nameFilter{alternatives(run), alternatives(skip)}
}

// deeper reports whether a pattern has something to say about the subtests of
// this test, so that not all of them need run.
func (f nameFilter) deeper(test string) bool {
	depth := strings.Count(test, "/") + 1
	for _, list := range [][]alternative{f.run, f.skip} {
		for _, a := range list {
			if len(a) > depth {
				return true
			}
		}
	}
	return false
}

// selects reports whether the test of this full name runs.
func (f nameFilter) selects(name string) bool {
	elems := strings.Split(name, "/")
	if f.run != nil {
		if ok, _ := match(f.run, elems); !ok {
			return false
		}
	}
	skip, partial := match(f.skip, elems)
	return !skip || partial
}

// match finds the first alternative that matches all elements that both have;
// partial says that it has more elements than the name.
func match(list []alternative, elems []string) (ok, partial bool) {
next:
	for _, a := range list {
		for i, re := range a[:min(len(a), len(elems))] {
			if !re.MatchString(elems[i]) {
				continue next
			}
		}
		return true, len(elems) < len(a)
	}
	return false, false
}

// alternatives splits a pattern at | and / outside of brackets and parentheses.
func alternatives(pattern string) []alternative {
	if pattern == "" {
		return nil
	}
	var list []alternative
	var one alternative
	class, group, start := 0, 0, 0
	element := func(end int) {
		re, err := regexp.Compile(rewritten(pattern[start:end]))
		if err != nil {
			re = regexp.MustCompile("") // testing has ended the process over it
		}
		one = append(one, re)
		start = end + 1
	}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[':
			class++
		case c == ']':
			class = max(0, class-1)
		case c == '(' && class == 0:
			group++
		case c == ')' && class == 0:
			group--
		case c == '/' && class == 0 && group == 0:
			element(i)
		case c == '|' && class == 0 && group == 0:
			element(i)
			list, one = append(list, one), nil
		}
	}
	element(len(pattern))
	return append(list, one)
}

// rewritten writes white space as testing does in names and patterns.
func rewritten(s string) string {
	return strings.Map(func(r rune) rune {
		if isTestingSpace(r) {
			return '_'
		}
		return r
	}, s)
}

func isTestingSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return 0x2000 <= r && r <= 0x200a
}
