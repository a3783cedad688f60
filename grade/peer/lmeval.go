package peer

import (
	"regexp"
	"strings"

	"github.com/goevals/evals/grade"
)

var lmEvalSource = source{"EleutherAI/lm-evaluation-harness", "4e7e0d47f"}

// The harness takes the first non-empty group of a match.
var (
	lmEvalFlexibleRE = regexp.MustCompile(`(-?[$0-9.,]{2,})|(-?[0-9]+)`)
	lmEvalCoTRE      = regexp.MustCompile(`The answer is (-?[0-9.,]+).`) // the last dot is any character but a newline
	lmEvalLlamaRE    = regexp.MustCompile(`The final answer is ((?:-?[$0-9.,]{2,})|(?:-?[0-9]+))`)
)

var (
	lmEvalStrict = lmEval("lm-eval.gsm8k.strict-match", gsm8kAnswer, first, asIs,
		`the number after the first "#### ", exact_match`)
	lmEvalFlexible = lmEval("lm-eval.gsm8k.flexible-extract", lmEvalFlexibleRE, final, asIs,
		"the last run of $0-9., of two characters, or of digits, exact_match")
	lmEvalCoTStrict = lmEval("lm-eval.gsm8k_cot.strict-match", lmEvalCoTRE, first, afterMarker,
		`the number after the first "The answer is " and before one more character, exact_match`)
	lmEvalCoTFlexible = lmEval("lm-eval.gsm8k_cot.flexible-extract", lmEvalFlexibleRE, final, afterMarker,
		"the last run of $0-9., of two characters, or of digits, exact_match")
	lmEvalCoTLlama = lmEval("lm-eval.gsm8k_cot_llama.strict-match", lmEvalLlamaRE, final, afterMarker,
		`the number after the last "The final answer is ", exact_match`)
)

// LMEvalStrict grades as lm-evaluation-harness' filter strict-match of task
// gsm8k: the number after the first "#### ". It is compared by exact_match,
// like what all the harness' filters here extract: on both sides commas,
// dollar signs, everything up to the last "#### " and one final dot are
// deleted, then the lower-cased strings must be equal.
func LMEvalStrict() grade.Grader { return lmEvalStrict }

// LMEvalFlexible grades as the filter flexible-extract of task gsm8k: the last
// thing in the response that looks like a number, whatever stands around it.
func LMEvalFlexible() grade.Grader { return lmEvalFlexible }

// LMEvalCoTStrict grades as the filter strict-match of task gsm8k_cot: the
// number after the first "The answer is ". One more character must follow it,
// so that without a full stop the last digit is lost: "The answer is 18" is
// read as 1.
func LMEvalCoTStrict() grade.Grader { return lmEvalCoTStrict }

// LMEvalCoTFlexible grades as the filter flexible-extract of the tasks
// gsm8k_cot and gsm8k_cot_llama. It differs from [LMEvalFlexible] only in how
// the target is read.
func LMEvalCoTFlexible() grade.Grader { return lmEvalCoTFlexible }

// LMEvalCoTLlama grades as the filter strict-match of task gsm8k_cot_llama:
// the number after the last "The final answer is ".
func LMEvalCoTLlama() grade.Grader { return lmEvalCoTLlama }

// Which match a filter takes.
func first([][]string) int     { return 0 }
func final(all [][]string) int { return len(all) - 1 }

// How a task reads its target.
func asIs(target string) string { return target }
func afterMarker(target string) string {
	if i := strings.LastIndex(target, "####"); i >= 0 {
		target = target[i+len("####"):]
	}
	return strip(target)
}

func lmEval(name string, re *regexp.Regexp, which func([][]string) int, read func(string) string, about string) *rule {
	return &rule{name: name, source: lmEvalSource, about: about,
		compare: func(response, target string) (finding, error) {
			all := re.FindAllStringSubmatch(response, -1)
			if len(all) == 0 {
				return finding{grade.Unparsed, ""}, nil
			}
			match := all[which(all)]
			answer := match[1]
			for _, group := range match[2:] {
				if answer == "" {
					answer = group
				}
			}
			return found(lmEvalNormal(answer) == lmEvalNormal(read(target)), answer), nil
		}}
}

var lmEvalDelete = strings.NewReplacer(",", "", "$", "")

// lmEvalNormal applies the metric's four deletions in their order, then lower
// case. The harness holds the strings in numpy arrays, which drop NULs at the
// end.
func lmEvalNormal(s string) string {
	s = lmEvalDelete.Replace(s)
	if i := strings.LastIndex(s, "#### "); i >= 0 {
		s = s[i+len("#### "):]
	}
	return strings.TrimRight(lower(dropFinalDot(s)), "\x00")
}
