package judge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
)

// FuzzRubricReply: whatever a judge replies and whatever the answer holds, each
// criterion has one legal answer or there is a fault with a reason, and a reply
// that is a piece of the answer is none.
func FuzzRubricReply(f *testing.F) {
	const lines = "GRADE a: yes | \"x\"\nGRADE b: no"
	for _, s := range []string{"", lines, `{"a":{"answer":"yes","quote":"x"},"b":"no"}`, "```json\n{\"a\":\"no\",\"b\":\"partly\"}\n```", `{"criteria":{"a":"yes"}}`,
		`{"a":"yes","a":"no"}`, "GRADE a: yes", "GRADE **a**：yes | no\nGRADE [b]: no", "<think>" + lines, "{", `{"a":`, "\xff\u200bGRADE a: yes", strings.Repeat("{", 300)} {
		f.Add(s, "x")
		f.Add(s, s)
	}
	criteria := []Criterion{{Name: "a", Text: "A.", Weight: 1}, {Name: "b", Text: "B.", Weight: -1}}
	forms := []rubricForm{newRubricForm(criteria, false), newRubricForm(criteria, true)}
	f.Fuzz(func(t *testing.T, reply, answer string) {
		for _, form := range forms {
			found, no := form.read(llm.Response{Text: reply}, newSource(answer, nil))
			if no != nil {
				require.NotEmpty(t, no.reason)
				require.NotEmpty(t, no.why)
				continue
			}
			require.Len(t, found, 2)
			require.False(t, strings.Contains(answer, reply), "a reply that stands in the answer decided: %q", reply)
			for _, g := range found {
				require.Contains(t, answers, g.answer())
				require.False(t, form.strict && g.answer().Score > 0 && !g.stands)
			}
		}
	})
}
