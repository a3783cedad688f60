package peer

import (
	"regexp"
	"strings"

	"github.com/goevals/evals/grade"
)

// The unescaped dot is the project's: any character may join two numbers.
var helmNumber = regexp.MustCompile(`-?[` + digits + `,]+(?:.` + digits + `+)?`)

var helmFinalNumber = &rule{
	name:   "helm.final_number_exact_match",
	source: source{"stanford-crfm/helm", "63754d05d"},
	about:  "the last number of response and of target, commas dropped, equal as text",
	compare: func(response, target string) (finding, error) {
		got, want := helmFinal(response), helmFinal(target)
		return found(got != "" && got == want, got), nil
	},
}

// HELMFinalNumber grades as HELM's metric final_number_exact_match: the last
// number of the response and the last of the target, commas dropped, equal as
// text. Two numbers with one character between them are one: "18 2", "3/4".
// Without a number it says Incorrect, as the metric does.
func HELMFinalNumber() grade.Grader { return helmFinalNumber }

func helmFinal(s string) string {
	m, _ := last(helmNumber, s)
	return strip(strings.ReplaceAll(m, ",", ""))
}
