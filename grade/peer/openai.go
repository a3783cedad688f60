package peer

import (
	"strings"
	"unicode/utf8"

	"github.com/goevals/evals/grade"
)

var openAISource = source{"openai/evals", "4bfc1f58"}

var (
	openAIMatch = &rule{
		name: "openai-evals.Match", source: openAISource,
		about: "the response begins with the target",
		compare: func(response, target string) (finding, error) {
			return found(strings.HasPrefix(response, target), response), nil
		},
	}
	openAIIncludes = &rule{
		name: "openai-evals.Includes", source: openAISource,
		about: "the target stands somewhere in the response",
		compare: func(response, target string) (finding, error) {
			return found(strings.Contains(response, target), response), nil
		},
	}
	openAIFuzzy = &rule{
		name: "openai-evals.FuzzyMatch", source: openAISource,
		about:   "response or target contains the other, both in lower case without punctuation and articles",
		compare: compareFuzzy,
	}
)

// OpenAIMatch grades as openai/evals' Match: the response begins with the
// target, byte for byte. White space before it counts.
func OpenAIMatch() grade.Grader { return openAIMatch }

// OpenAIIncludes grades as openai/evals' Includes with its default, which
// minds the case: the target stands somewhere in the response.
func OpenAIIncludes() grade.Grader { return openAIIncludes }

// OpenAIFuzzyMatch grades as openai/evals' FuzzyMatch: one of response and
// target contains the other after lower case, without ASCII punctuation and
// without the words a, an, the. If one of them is empty then, both must be.
func OpenAIFuzzyMatch() grade.Grader { return openAIFuzzy }

func compareFuzzy(response, target string) (finding, error) {
	got, want := fuzzyNormal(response), fuzzyNormal(target)
	if got == "" || want == "" {
		return found(got == want, got), nil
	}
	return found(strings.Contains(got, want) || strings.Contains(want, got), got), nil
}

func fuzzyNormal(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune(asciiPunctuation, r) {
			return -1
		}
		return r
	}, lower(s))
	return strings.Join(strings.FieldsFunc(dropArticles(s), isSpace), " ")
}

// dropArticles makes each word a, an, the a space. A word is a longest run of
// word characters, so that "a-b" holds two and "été" one.
func dropArticles(s string) string {
	var b strings.Builder
	word := func(w string) {
		switch w {
		case "a", "an", "the":
			w = " "
		}
		b.WriteString(w)
	}
	start := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWord(r) {
			word(s[start:i])
			b.WriteString(s[i : i+size])
			start = i + size
		}
		i += size
	}
	word(s[start:])
	return b.String()
}
