package grade

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// F1 gives partial credit for shared words, as question answering on SQuAD is
// scored (Rajpurkar et al. 2016, and the normalisation of its official
// script): lower case, ASCII punctuation removed, the words a, an and the
// removed, split at white space. The score is 2·P·R/(P+R) over the words with
// their counts, the highest over the item's target and
// [dataset.Item.Targets]. The whole response is compared: ask for a short one.
//
// The verdict is Correct from threshold on, which lies above 0 and at most 1;
// anything else panics. The score is kept in either case. A response of which
// nothing is left is Unparsed with [ReasonNoAnswer]; an item of whose targets
// nothing is left is an error that wraps [ErrTarget].
//
// Removing punctuation makes 3.14 and 314 one word, and -5 and 5: do not use
// F1 for numbers.
func F1(threshold float64) Grader {
	if !(threshold > 0 && threshold <= 1) {
		panic(fmt.Sprintf("grade: F1(%v): the threshold must lie above 0 and be at most 1", threshold))
	}
	return f1Grader{threshold}
}

type f1Grader struct{ threshold float64 }

var (
	_ Grader = f1Grader{}
	_ Named  = f1Grader{}
)

// Name returns "f1".
func (f1Grader) Name() string { return "f1" }

func (g f1Grader) Grade(_ context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	text, v, ok := finalText(g.Name(), item, resp)
	if !ok {
		return v, nil
	}
	targets := accepted(item)
	words := squadWords(text)
	best, usable := 0.0, false
	for _, t := range targets {
		want := squadWords(t)
		usable = usable || len(want) > 0
		best = max(best, f1(words, want))
	}
	if !usable {
		return Verdict{}, &TargetError{g.Name(), item.ID, item.Target, "no word is left of it after normalisation"}
	}
	if len(words) == 0 {
		return unparsed(g.Name(), ReasonNoAnswer, "no word is left of the reply after normalisation"), nil
	}
	v = graded(best >= g.threshold, strings.TrimSpace(text), fmt.Sprintf("%s: %.4g, threshold %.4g", g.Name(), best, g.threshold),
		fmt.Sprintf("the best match among %s is %.4g, below %.4g", wanted(targets), best, g.threshold))
	v.Score = best
	return v, nil
}

// f1 is 2·shared/(len(a)+len(b)), which is 2·P·R/(P+R) rounded once.
func f1(a, b []string) float64 {
	counts := make(map[string]int, len(b))
	for _, w := range b {
		counts[w]++
	}
	shared := 0
	for _, w := range a {
		if counts[w] > 0 {
			counts[w]--
			shared++
		}
	}
	if shared == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}

// squadWords is the official script's normalisation, in its order: lower case,
// punctuation out, articles out, split.
func squadWords(s string) []string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			return -1
		}
		return r
	}, strings.ToLower(s))
	return strings.Fields(dropArticles(s))
}

// dropArticles drops a, an and the wherever they stand between runes that are
// no letters or digits, which is more than between spaces: the—end is —end.
func dropArticles(s string) string {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	var b strings.Builder
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) })
		if n < 0 {
			n = len(s)
		}
		switch word := s[:n]; word {
		case "a", "an", "the":
			b.WriteByte(' ')
		default:
			b.WriteString(word)
		}
		s = s[n:]
		n = strings.IndexFunc(s, isWord)
		if n < 0 {
			n = len(s)
		}
		b.WriteString(s[:n])
		s = s[n:]
	}
	return b.String()
}
