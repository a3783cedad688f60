package peer

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/goevals/evals/grade"
)

var mgsmNumber = regexp.MustCompile(digits + `+\.?` + digits + `*`)

// SimpleEvalsMGSM grades as simple-evals grades MGSM: the last number after
// the last occurrence of prefix, commas dropped, without its sign, zeros and
// dot at the end of a fraction dropped, equal as text. The project's prefix
// for English is "Answer"; it has one a language, such as "Antwort" and
// "答案". An empty prefix panics: it would stand everywhere.
func SimpleEvalsMGSM(prefix string) grade.Grader { return newMGSM(prefix) }

func newMGSM(prefix string) *rule {
	if prefix == "" {
		panic(`peer: SimpleEvalsMGSM: the prefix is empty, want a word such as "Answer"`)
	}
	return &rule{
		name:   fmt.Sprintf("simple-evals.mgsm(prefix=%s)", prefix),
		source: source{"openai/simple-evals", "ee3b031"},
		about:  fmt.Sprintf("the last unsigned number after the last %q, equal as text", prefix),
		compare: func(response, target string) (finding, error) {
			i := strings.LastIndex(response, prefix)
			if i < 0 {
				return finding{grade.Unparsed, ""}, nil
			}
			answer, ok := last(mgsmNumber, strings.ReplaceAll(response[i+len(prefix):], ",", ""))
			if !ok {
				return finding{grade.Unparsed, ""}, nil
			}
			answer = strings.TrimRight(answer, ".")
			got := answer
			if strings.Contains(got, ".") {
				got = strings.TrimRight(strings.TrimRight(got, "0"), ".")
			}
			return found(got == strings.ReplaceAll(target, ",", ""), answer), nil
		},
	}
}
