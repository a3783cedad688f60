package metric

import (
	"cmp"
	"slices"

	"github.com/goevals/evals/evaltest/load/record"
)

// A Source says who counted the output tokens.
type Source string

// Sources, the most trusted first.
const (
	FromUsage     Source = "usage"          // the server's usage
	FromCounts    Source = "client-count"   // the client counted every fragment
	FromFragments Source = "fragment-count" // nobody did: one token a fragment is assumed
	FromNothing   Source = "none"           // there was neither usage nor text
)

// output returns how many tokens the answer has and who says so. A usage of
// no output beside text is a server that does not count: it is not believed.
func output(r *record.Request) (int64, Source) {
	if r.Usage.Known && (r.Usage.Output > 0 || len(r.Fragments) == 0) {
		return r.Usage.Output, FromUsage
	}
	if len(r.Fragments) == 0 {
		return 0, FromNothing
	}
	if sum, all := counted(r.Fragments); all {
		return sum, FromCounts
	}
	return int64(len(r.Fragments)), FromFragments
}

// counted returns the client's counts added up and whether it counted every
// fragment.
func counted(fragments []record.Fragment) (sum int64, all bool) {
	for _, f := range fragments {
		if f.Tokens == 0 {
			return 0, false
		}
		sum += int64(f.Tokens)
	}
	return sum, true
}

// unseen returns how many of the output tokens were never streamed: those of
// reasoning that the server counts but keeps to itself.
func unseen(r *record.Request, n int64, source Source) int64 {
	if source != FromUsage || r.Usage.Reasoning <= 0 || len(r.Fragments) == 0 {
		return 0
	}
	for _, f := range r.Fragments {
		if f.Kind == record.Reasoning {
			return 0
		}
	}
	return min(n, r.Usage.Reasoning)
}

// spread says how the streamed tokens lie on the fragments. It appends their
// counts to buf; they add up to n. first reports that the first fragment's
// count is an estimate, rest that one of the others' is.
//
// Known counts stay. Where they do not add up to what the server says (end of
// text and other special tokens have no text), what is left for the fragments
// behind the first is shared out by their counts; where nobody counted, all
// tokens are shared out by bytes. As many tokens as fragments is one each.
func spread(buf []int64, fragments []record.Fragment, n int64) (counts []int64, first, rest bool) {
	size := len(fragments)
	switch size {
	case 0:
		return buf, false, false
	case 1: // all in it, whatever the client made of it
		return append(buf, n), false, false
	}
	sum, all := counted(fragments)
	weight := func(i int) int64 { return int64(fragments[i].Bytes) }
	if all {
		weight = func(i int) int64 { return int64(fragments[i].Tokens) }
	}
	head := int64(fragments[0].Tokens)
	switch {
	case all && sum == n:
		for _, f := range fragments {
			buf = append(buf, int64(f.Tokens))
		}
		return buf, false, false
	case n == int64(size) && !all && head <= 1:
		for range fragments {
			buf = append(buf, 1)
		}
		return buf, false, false
	case head > 0 && head <= n:
		buf = append(buf, head)
		buf = share(buf, n-head, size-1, func(i int) int64 { return weight(i + 1) })
		return buf, false, true
	}
	if n == 1 { // the one token is the first's: nothing lies between two
		return fewer(append(buf, 1), 0, size-1), true, true
	}
	return share(buf, n, size, weight), true, true
}

// share appends size counts that add up to n, in proportion to weights by
// largest remainder, each at least 1 if n allows it. Of fewer tokens than
// fragments the last gets one, and the first if there are two: times are
// measured up to them.
func share(buf []int64, n int64, size int, weight func(int) int64) []int64 {
	if size == 0 {
		return buf
	}
	at := len(buf)
	base, left := int64(1), n-int64(size)
	if left < 0 {
		base, left = 0, n
	}
	var total float64
	for i := range size {
		total += float64(weight(i))
	}
	if total == 0 {
		total, weight = float64(size), func(int) int64 { return 1 }
	}
	if base == 0 {
		return fewer(buf, n, size)
	}
	given := int64(0)
	for i := range size {
		c := int64(float64(left) * float64(weight(i)) / total)
		buf = append(buf, base+c)
		given += c
	}
	remainder(buf[at:], left-given, func(i int) float64 {
		exact := float64(left) * float64(weight(i)) / total
		return exact - float64(int64(exact))
	})
	return buf
}

// fewer appends size counts of 0 and 1 that add up to n < size: the first, the
// last, and the others evenly between.
func fewer(buf []int64, n int64, size int) []int64 {
	at := len(buf)
	for range size {
		buf = append(buf, 0)
	}
	if n == 1 {
		buf[at+size-1] = 1
		return buf
	}
	for k := range n {
		buf[at+int(k*int64(size-1)/(n-1))] = 1
	}
	return buf
}

// remainder adds n to counts, one each to those with the largest part, the
// first of equal ones before the later. n < 0 is a rounding error of the
// division and is taken from the largest.
func remainder(counts []int64, n int64, part func(int) float64) {
	if n == 0 {
		return
	}
	if n < 0 || n > int64(len(counts)) {
		i := slices.Index(counts, slices.Max(counts))
		counts[i] += n
		return
	}
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(part(b), part(a)) })
	for _, i := range order[:n] {
		counts[i]++
	}
}
