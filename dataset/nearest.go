package dataset

import "strings"

// A nearest looks for the id that somebody probably meant.
type nearest struct {
	want string
	best string
	dist int // of best; -1 before there is one
	row  []int
}

func newNearest(want string) *nearest { return &nearest{want: want, dist: -1} }

// offer considers an id. Of equally near ones the first by order of text wins,
// so that the order in which they are offered does not matter.
func (n *nearest) offer(id string) {
	d := n.distance(id)
	if d <= n.far() && (n.dist < 0 || d < n.dist || d == n.dist && id < n.best) {
		n.best, n.dist = id, d
	}
}

// far is the largest distance that is still near.
func (n *nearest) far() int { return max(2, len(n.want)/2) }

// words is "" if nothing is near.
func (n *nearest) words() string {
	if n.dist < 0 {
		return ""
	}
	return " (the nearest is " + quote(n.best) + ")"
}

// distance says how unlike the ids are; only that it is large if it is. What
// people do when they type an id by hand comes first: wrong case, or only its
// end ("42" for "gsm8k-0042").
func (n *nearest) distance(id string) int {
	a, b := n.want, id
	switch {
	case strings.EqualFold(a, b):
		return 0
	case len(a) > 0 && (strings.HasSuffix(b, a) || strings.HasPrefix(b, a)):
		return 1
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	// Millions of ids may be offered: what is long and different throughout is
	// not near, and not worth the square of its length.
	const most = 64
	if len(a) > most || len(b) > most {
		return n.far() + 1
	}
	return n.levenshtein(a, b)
}

// levenshtein counts the bytes to change, add or remove.
func (n *nearest) levenshtein(a, b string) int {
	n.row = n.row[:0]
	for j := range len(b) + 1 {
		n.row = append(n.row, j)
	}
	for i := range len(a) {
		diag := n.row[0]
		n.row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, n.row[j], n.row[j+1])
			}
			diag, n.row[j+1] = n.row[j+1], cost
		}
	}
	return n.row[len(b)]
}
