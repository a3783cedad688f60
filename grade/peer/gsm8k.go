package peer

import (
	"errors"
	"regexp"
	"strings"

	"github.com/goevals/evals/grade"
)

var gsm8kAnswer = regexp.MustCompile(`#### (-?[0-9.,]+)`)

var gsm8kOriginal = &rule{
	name:    "gsm8k.original",
	source:  source{"openai/grade-school-math", "3101c7d"},
	about:   `the number after the first "#### ", commas dropped, equal as text`,
	compare: compareGSM8K,
}

// GSM8K grades as the script published with the dataset: the characters
// 0-9 . , and a leading minus after the first "#### ", commas dropped, equal
// as text. "18.0" and "18." are not 18. The target is a reference solution
// with its "#### " line, or the bare number.
func GSM8K() grade.Grader { return gsm8kOriginal }

func compareGSM8K(response, target string) (finding, error) {
	want, ok := extractGSM8K(target)
	if !ok {
		want, ok = extractGSM8K("#### " + target)
	}
	if !ok {
		return finding{}, errors.New(`it is neither a number nor a solution with a "#### 18" line`)
	}
	got, ok := extractGSM8K(response)
	if !ok {
		return finding{grade.Unparsed, ""}, nil
	}
	return found(got == want, got), nil
}

func extractGSM8K(s string) (string, bool) {
	m := gsm8kAnswer.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	return strings.ReplaceAll(m[1], ",", ""), true
}
