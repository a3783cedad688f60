package dataset

import "strings"

// A nearest looks for the id that somebody probably meant.
type nearest struct {
	want string
	best string
	dist int
}

func newNearest(want string) *nearest { return &nearest{want: want, dist: -1} }

// offer considers an id.
func (n *nearest) offer(id string) {
	d := distance(n.want, id)
	if n.dist < 0 || d < n.dist {
		n.best, n.dist = id, d
	}
}

// words is "" if nothing is near.
func (n *nearest) words() string {
	if n.dist < 0 || n.dist > max(2, len(n.want)/2) {
		return ""
	}
	return "; the nearest is " + quote(n.best)
}

// distance says how unlike a and b are. What people do when they type an id by
// hand comes first: wrong case, or only its end ("42" for "gsm8k-0042").
func distance(a, b string) int {
	const most = 200 // longer ids are compared by their beginnings
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	switch {
	case strings.EqualFold(a, b):
		return 0
	case len(a) > 0 && (strings.HasSuffix(b, a) || strings.HasPrefix(b, a)):
		return 1
	}
	return levenshtein(a, b)
}

// levenshtein counts the bytes to change, add or remove.
func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
