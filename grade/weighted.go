package grade

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A Part is one grader of a [Weighted] and what it counts.
type Part struct {
	Grader Grader
	// Weight is 0 or more, on any scale: the parts' weights are divided by
	// their sum. A part of weight 0 is asked and counts nothing.
	Weight float64
}

// Weighted scores the weighted mean of its parts' scores and is Correct from
// threshold on, which lies above 0 and at most 1. All parts are asked.
//
// A part that could not decide counts 0, but only where it changes nothing:
// if the mark would be another one had that part scored 1, Weighted is
// Ungraded if such a part is, else Unparsed.
//
// Weights, scores and threshold are summed and compared as the decimals they
// are written as: 0.7 + 0.2 reaches 0.9. No parts, a nil grader, a weight that
// is negative, NaN or infinite, weights that are all 0, or another threshold
// panic.
func Weighted(threshold float64, parts ...Part) Grader {
	if !(threshold > 0 && threshold <= 1) {
		panic(fmt.Sprintf("grade: Weighted(%v, …): the threshold must lie above 0 and be at most 1", threshold))
	}
	w := weighted{threshold: threshold, total: new(big.Rat)}
	for i, p := range parts {
		if math.IsNaN(p.Weight) || math.IsInf(p.Weight, 0) || p.Weight < 0 {
			panic(fmt.Sprintf("grade: Weighted: part %d has the weight %v: give a number of 0 or more", i+1, p.Weight))
		}
		w.parts = append(w.parts, p.Grader)
		w.weights = append(w.weights, decimalRat(p.Weight))
		w.total.Add(w.total, w.weights[i])
	}
	checkParts("weighted", w.parts)
	if w.total.Sign() == 0 {
		panic("grade: Weighted: all weights are 0: give one part a weight")
	}
	return w
}

type weighted struct {
	threshold float64
	parts     []Grader
	weights   []*big.Rat
	total     *big.Rat
}

var (
	_ Grader = weighted{}
	_ Named  = weighted{}
)

// Name returns weighted(…) with the parts' names.
func (w weighted) Name() string { return namesOf("weighted", w.parts) }

func (w weighted) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	var (
		out       Verdict
		sum, room = new(big.Rat), new(big.Rat) // room: what undecided parts could add
		open      = -1
		seen      []Verdict
	)
	for i := range w.parts {
		v, err := gradePart(ctx, "weighted", w.parts, i, item, resp)
		out.Calls = append(out.Calls, v.Calls...)
		if err != nil {
			return Verdict{Calls: out.Calls}, err
		}
		seen = append(seen, v)
		if v.Mark == Correct || v.Mark == Incorrect {
			sum.Add(sum, new(big.Rat).Mul(w.weights[i], decimalRat(v.Score)))
			continue
		}
		room.Add(room, w.weights[i])
		if w.weights[i].Sign() > 0 && (open < 0 || v.Mark == Ungraded && seen[open].Mark == Unparsed) {
			open = i
		}
	}
	need := new(big.Rat).Mul(decimalRat(w.threshold), w.total)
	score, _ := new(big.Rat).Quo(sum, w.total).Float64()
	out.Score = min(max(score, 0), 1)
	out.Answer = firstAnswer(seen)
	out.How = w.how(seen, out.Score)
	switch {
	case sum.Cmp(need) >= 0 && out.Score > 0:
		out.Mark = Correct
	case open >= 0 && room.Add(room, sum).Cmp(need) >= 0:
		v := attribute(seen[open], "weighted", w.parts, open)
		out.Mark, out.Reason, out.Why, out.Score = v.Mark, v.Reason, v.Why, 0
	default:
		out.Mark, out.Reason, out.Why = Incorrect, ReasonWrong, w.why(seen, out.Score)
	}
	return out, nil
}

// how lists what each part contributed.
func (w weighted) how(seen []Verdict, score float64) string {
	parts := make([]string, len(seen))
	for i, v := range seen {
		weight, _ := w.weights[i].Float64()
		parts[i] = fmt.Sprintf("%g × %s %s (%.4g)", weight, NameOf(w.parts[i]), v.Mark, v.Score)
	}
	return fmt.Sprintf("weighted: %.4g, threshold %.4g: %s", score, w.threshold, strings.Join(parts, ", "))
}

func (w weighted) why(seen []Verdict, score float64) string {
	lines := []string{fmt.Sprintf("the weighted score %.4g is below %.4g", score, w.threshold)}
	for i, v := range seen {
		if v.Mark != Correct {
			lines = append(lines, fmt.Sprintf("part %d of %d (%s): %s", i+1, len(seen), NameOf(w.parts[i]), v.Why))
		}
	}
	return strings.Join(lines, "\n")
}

func firstAnswer(seen []Verdict) string {
	for _, v := range seen {
		if v.Answer != "" {
			return v.Answer
		}
	}
	return ""
}

// decimalRat is f as its shortest decimal: 0.1 is a tenth. f is finite.
func decimalRat(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("grade: %v is no finite number", f))
	}
	return r
}
