package grade

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStripReasoning(t *testing.T) {
	for _, row := range []struct {
		name, reason, text, rest string
		incomplete               bool
	}{
		{"none", "nothing to strip", "The answer is B.", "The answer is B.", false},
		{"block", "thoughts", "<think>A?</think>B", "\nB", false},
		{"case and attributes", "HTML habits", "<Thinking depth=\"2\">A?</THINKING> B", "\n B", false},
		{"namespace", "seed:think", "<seed:think>A?</seed:think>B", "\nB", false},
		{"around", "text before a block is kept", "So <think>A?</think>B", "So \nB", false},
		{"unclosed", "never finished", "So <think>A", "So ", true},
		{"implicit", "the template opened it", "A? no.</think>B", "B", false},
		{"nothing left", "an answer never came", "<think>A</think> \n", "\n \n", true},
		{"implicit, nothing left", "an answer never came", "A</think>", "", true},
		{"self-closing", "an empty block is no block", "<think/>B", "<think/>B", false},
		{"longer name", "thinker is no reasoning tag", "<thinker>B", "<thinker>B", false},
		{"backticks", "a word about tags", "write `<think>` then B", "write `<think>` then B", false},
		{"other name", "the last closing tag ends it", "<think>A</thought>B", "\nB", false},
		{"own name first", "another name inside", "<think>A</thought>A</think>B", "\nB", false},
		{"opened twice", "a lone closing tag follows", "<think>a<think>b</think>c</think>B", "B", false},
		{"harmony", "the last final channel", "<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>", "B", false},
		{"harmony, constrained", "a final channel with a format", "<|channel|>final <|constrain|>json<|message|>B", "B", false},
		{"harmony, cut", "no final channel", "<|channel|>analysis<|message|>A", "", true},
		{"harmony, bare", "special tokens dropped", "analysisWe think A.assistantfinalB", "B", false},
		{"harmony, bare, cut", "no final part", "analysisWe think A.", "", true},
		{"analysis as a word", "an ordinary sentence", "analysis shows B", "analysis shows B", false},
	} {
		rest, incomplete := stripReasoning(row.text)
		assert.Equal(t, row.rest, rest, "%s: %s", row.name, row.reason)
		assert.Equal(t, row.incomplete, incomplete, "%s: %s", row.name, row.reason)
	}
}

func TestFinalTurn(t *testing.T) {
	question := "Janet has 16 eggs. How many does she sell?"
	for _, row := range []struct{ name, reason, text, input, want string }{
		{"no further turn", "nothing to cut", "ANSWER: B", "", "ANSWER: B"},
		{"after a marker", "an invented question", "ANSWER: B\n\nQuestion: next?\nANSWER: C", "", "ANSWER: B\n\n"},
		{"before a marker", "the question comes first", "Question: what?\nANSWER: B", "", "Question: what?\nANSWER: B"},
		{"empty marker", "nothing has been answered yet", "Answer:\nQuestion: what?\nANSWER: B", "", "Answer:\nQuestion: what?\nANSWER: B"},
		{"echo", "the item's own question is repeated", "It is 9.\nQuestion: Janet has 16 eggs. How many does she sell?\nAnswer: 9", question, "It is 9.\nQuestion: Janet has 16 eggs. How many does she sell?\nAnswer: 9"},
		{"not an echo", "another question", "It is 9.\nQuestion: Tom has 16 eggs.\nAnswer: 5", question, "It is 9.\n"},
		{"lead-over", "a line that ends in a colon has not answered", "In 2 steps:\nQuestion: what?\nAnswer: 5", "", "In 2 steps:\nQuestion: what?\nAnswer: 5"},
		{"token", "the end of a turn", "B<|im_end|>\n<|im_start|>user", "", "B"},
		{"leading token", "a header is no end", "<|im_start|>B", "", "<|im_start|>B"},
		{"middle of a line", "behind a marked number", "#### 26 Question: next? #### 90", "", "#### 26 "},
		{"question word in prose", "no colon, no turn", "ANSWER: B\nQuestion is answered.", "", "ANSWER: B\nQuestion is answered."},
	} {
		assert.Equal(t, row.want, finalTurn(row.text, row.input), "%s: %s", row.name, row.reason)
	}
}

func TestAnswerMarks(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       []string // marker name and what it announces
	}{
		{"none", "I see 13 boxes", nil},
		{"order", "Answer: 1\n#### 2\n\\boxed{3}", []string{"Answer:|1\n", "####| 2\n", "boxed|3"}},
		{"verb", "We answer the question. Answers vary.", nil},
		{"inside a word", "The unanswered: 3, ansible: 4", nil},
		{"option list", "A: 1\nB: 2", nil},
		{"letter", "x\n A: 1", []string{"A:| 1"}},
		{"heading", "## Final Answer\nB", []string{"Answer|\nB"}},
		{"heading of more", "## Answer key\nB", nil},
		{"long", "The answer to question 3 is B", []string{"answer is|B"}},
		{"too long", "The answer, " + strings.Repeat("very ", 40) + "is B", nil},
		{"tag", "<answer>B</answer> C", []string{"<answer>|B"}},
		{"empty element", `<answer value="B"/> C`, nil},
		{"field", `{"answer": "B", "c": 1}`, []string{`"answer"|"B`}},
		{"field list", `{"final_answer": ["A", "B"]}`, []string{`"final_answer"|["A", "B"`}},
		{"boxes in a box", `\boxed{a \boxed{b} c}`, []string{`boxed|a \boxed{b} c`, "boxed|b"}},
		{"escaped brace", `\boxed{a \} b}`, []string{`boxed|a \} b`}},
		{"heading level four", "#### Plan\nfirst\n#### 3", []string{"####| 3"}},
		{"CJK", "所以答案是B。", []string{"答案 is|B。"}},
		{"two words", "Antwort:\n\nAntwort: C", []string{"Antwort:|\n\n", "Antwort:|C"}},
	} {
		var got []string
		for _, m := range answerMarks(row.text) {
			got = append(got, m.name+"|"+row.text[m.end:m.stop])
		}
		assert.Equal(t, row.want, got, row.name)
	}
	marks := answerMarks("R: 1 R: 2 Answer: 3", "R: ")
	require.Len(t, marks, 2, "custom markers replace the built-in ones")
}

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]string{
		"B": "B", " B ": "B", "**B**": "B", "$B$": "B", `\(B\)`: "B", "(B)": "B", "`B`": "B", `"B"`: "B", "“B”": "B", "[B]": "B", `\boxed{B}`: "B", `\text{B}.`: "B", "**(B)**.": "B", "___B___": "B",
		"(3.14).": "3.14", "3.14.": "3.14", "f(x)": "f(x)", "(a) or (b)": "(a) or (b)", "*a* b *c*": "*a* b *c*", "": "", "()": "", "**": "", "(": "(", "don't": "don't", "$$x$$": "x", "B!": "B",
	} {
		assert.Equal(t, want, unwrap(in), "%q", in)
	}
}

// FuzzAnswerText: the preparation never panics, only ever removes text, and its
// markers lie within the text and in order.
func FuzzAnswerText(f *testing.F) {
	for _, seed := range []string{"<think>17</think>The answer is 18.", "#### 26\n\nQuestion: 5?", `\boxed{\boxed{1}`, `{"answer": [1, 2}`, "A</think>", "<|channel|>final<|message|>B", "Answer:\nQ: x", "答案是B", "<answer>B", "**A** \\(B\\)"} {
		f.Add(seed, "question")
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		rest, _ := stripReasoning(text)
		require.LessOrEqual(t, len(rest), len(text)+strings.Count(text, "<")+strings.Count(text, "[")+strings.Count(text, "◁"))
		turn := finalTurn(rest, input)
		require.True(t, strings.HasPrefix(rest, turn))
		start := 0
		for _, m := range answerMarks(turn) {
			require.LessOrEqual(t, start, m.start)
			require.LessOrEqual(t, m.start, m.end)
			require.LessOrEqual(t, m.end, m.stop)
			require.LessOrEqual(t, m.stop, len(turn))
			start = m.start
		}
		require.LessOrEqual(t, len(unwrap(text)), len(text))
	})
}
