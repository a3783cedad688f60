package grade

import "fmt"

// compare returns "" if the calls of got are the wanted ones, else what is
// missing or wrong.
func (g toolCallGrader) compare(want, got []toolCall) string {
	switch {
	case len(got) < len(want), len(got) > len(want) && !g.further:
		return fmt.Sprintf("want %d calls: %s\ngot %d: %s", len(want), showWanted(want), len(got), quote(showCalls(got)))
	case g.anyOrder:
		return g.compareAnyOrder(want, got)
	case g.further:
		return g.compareWithin(want, got)
	}
	for i := range want {
		if miss := g.compareCall(want[i], got[i]); miss != "" {
			return fmt.Sprintf("call %d: %s", i+1, miss)
		}
	}
	return ""
}

// compareCall compares two calls.
func (g toolCallGrader) compareCall(want, got toolCall) string {
	if want.name != got.name {
		return fmt.Sprintf("want %s, got %s", quote(want.name), quote(got.name))
	}
	if equal, diff := sameJSON(want.args, got.args, g.subset); !equal {
		return want.name + ": " + diff
	}
	return ""
}

func (g toolCallGrader) matches(want, got toolCall) bool {
	return want.name == got.name && equalJSON(want.args, got.args, g.subset)
}

// compareWithin looks for the wanted calls in order, others between them. The
// earliest fit is always as good as a later one.
func (g toolCallGrader) compareWithin(want, got []toolCall) string {
	next := 0
	for i, w := range want {
		for next < len(got) && !g.matches(w, got[next]) {
			next++
		}
		if next == len(got) {
			return fmt.Sprintf("wanted call %d, %s, is not there in its place", i+1, showWanted(want[i:i+1]))
		}
		next++
	}
	return ""
}

// compareAnyOrder gives each wanted call one of its own. With subsets a call
// may fit several wanted ones, so taking the first that fits is not enough:
// the search moves earlier choices out of the way (augmenting paths).
func (g toolCallGrader) compareAnyOrder(want, got []toolCall) string {
	taken := make([]int, len(got)) // by which wanted call, from 1
	fits := make([][]int, len(want))
	for i, w := range want {
		for j, c := range got {
			if g.matches(w, c) {
				fits[i] = append(fits[i], j)
			}
		}
	}
	var place func(i int, seen []bool) bool
	place = func(i int, seen []bool) bool {
		for _, j := range fits[i] {
			if seen[j] {
				continue
			}
			seen[j] = true
			if taken[j] == 0 || place(taken[j]-1, seen) {
				taken[j] = i + 1
				return true
			}
		}
		return false
	}
	for i := range want {
		if !place(i, make([]bool, len(got))) {
			return fmt.Sprintf("wanted call %d, %s, is not there", i+1, showWanted(want[i:i+1]))
		}
	}
	return ""
}

// showWanted shows calls of a target, which are JSON text of the dataset.
func showWanted(calls []toolCall) string { return quote(showCalls(calls)) }
