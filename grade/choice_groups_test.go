package grade_test

import "testing"

// Further replies to items of four options, by what they have in common: the
// letters after each are what must be right, or none, or ambiguous.
var choiceGroups = []struct {
	reason string
	texts  []string
	want   string
	reply  []string
}{
	{reason: "markers and fillers", want: "B", reply: []string{
		"Answer - B", "ANSWER : B", "Answer: Option B", "Final Answer: $\\boxed{B}$", "The final answer is: **B**",
		"Therefore, the correct answer is B) because it is.", "So the answer must be (B).", "The best answer is therefore B.", "Correct Answer: B",
		"correct answer is b", "ANSWER:B", "ANSWER:\u00a0B", "answer is b.", "answer=B", "Answer → B", "Answer: **B. 12 apples**", "Answer: B. A car moves",
		"The correct option is **B: Paris**.", "Q: what?\nA: B", "{\"choice\": \"B\"}", "```json\n{\"answer\": \"B\"}\n```", "=> B", "→ B"}},
	{reason: "wrappers", want: "B", reply: []string{
		"ANSWER: B!", "ANSWER: [B]", "ANSWER: {B}", "ANSWER: <B>", "ANSWER: \"(B)\"", "ANSWER: ***B***", "`ANSWER: B`", "ANSWER: B_", "ANSWER: B\u200b",
		"ANSWER: B…", "ANSWER: B...", "ANSWER: 'B' is correct", "ANSWER: ⟨B⟩", "$\\text{ANSWER: B}$", "\\[ \\text{ANSWER: } \\boxed{B} \\]",
		"ANSWER: \\text{B}", "ANSWER: \\textbf{B}", "ANSWER: $\\mathbf{B}$", "**B) 4**", "**B**) 4", "  B  ", "B\n", "- B", "> B", "# B"}},
	{reason: "languages", want: "B", reply: []string{
		"Réponse : B", "Risposta: B", "Odpowiedź: B", "回答：B", "答案是 B", "正确答案是B。", "정답: B", "उत्तर: B", "الجواب: B", "Svar: B", "Cevap: B", "Đáp án: B",
		"Die richtige Antwort ist B.", "La respuesta correcta es B.", "La bonne réponse est B", "A resposta correta é B", "Die Antwort lautet B", "Ответ: B",
		"选B", "应选B。", "A选项错误。B选项正确。", "正解はBです"}},
	{reason: "phrases that choose", want: "B", reply: []string{
		"I'd go with B, although A is tempting.", "My answer is B.", "I believe the answer is B", "Option B", "option b", "(B) because it moves", "B: it moves",
		"B because it moves", "I choose option (B)", "I'm going with B.", "Let's pick B", "It must be B.", "This leaves option B.", "Thus, B.",
		"Hence option B is correct.", "Not A, not C, so B.", "A, C and D are wrong, so it must be B.", "Some say A. I say B.", "A) no\nB) yes\n\nI would choose B."}},
	{reason: "an explanation speaks of the others", want: "B", reply: []string{
		"Answer: B\n\nExplanation: A is wrong since it is too small. C and D are wrong too.",
		"Answer: B\n\nExplanation: Option A is incorrect because a car moves. Option C is irrelevant.",
		"The correct answer is B. A is wrong because it's a noun.", "ANSWER: B, not A", "ANSWER: B (not A)", "ANSWER: B rather than A",
		"ANSWER: B instead of A", "The answer is B and not A.", "ANSWER: B because A or C would be too big", "ANSWER: B. Either A or C would be too small.",
		"ANSWER: B (A is a decoy)", "**Answer: B**. A car moves because C is slow.", "ANSWER: B. None of the above", "ANSWER: B\n\nI hope this helps."}},
	{reason: "the last answer wins", want: "B", reply: []string{
		"Answer: A. Wait, that's wrong. Answer: B", "ANSWER: A. Correction: B", "ANSWER: A\n\nSorry, I meant B.", "ANSWER: A\nOn second thought, B.",
		"I pick A... actually B", "A. No, B.", "A? No, B.", "ANSWER: B\nANSWER: A\nANSWER: B", "<answer>A</answer> no wait <answer>B</answer>",
		"\\boxed{A} then \\boxed{B}", "ANSWER: A\n\nB", "A is right. Actually B is right."}},
	{reason: "an invented turn does not count", want: "D", reply: []string{"ANSWER: D\n\nQuestion: foo\nANSWER: A"}},
	{reason: "A as a letter", want: "A", reply: []string{"A", "a", "A.", "a)", "\"A\"", "(A)", "A)", "A: it moves", "ANSWER: a", "The answer is a.", "Answers: A", "ANSWER: Ａ"}},
	{reason: "nothing, or a word, behind the marker", want: "none", reply: []string{
		"ANSWER: $LETTER", "ANSWER: LETTER", "ANSWER:", "ANSWER: $", "ANSWER: DAD", "ANSWER: All of the above", "ANSWER: Cannot say", "ANSWER: Because",
		"ANSWER: Death", "ANSWER: Apple", "ANSWER: I don't know", "ANSWER: Do not know", "ANSWER: N/A", "Antwort: Aber C ist auch gut",
		"Antwort: Das weiß ich nicht", "Antwort: Alle", "Réponse: Aucune", "the answer is a good one", "Answer the question. A car moves.", "The answer to A is unclear."}},
	{reason: "letters beyond the options, or glued to others", want: "none", reply: []string{
		"ANSWER: e", "E", "\\boxed{E}", "I choose E.", "ANSWER: 2", "ANSWER: B2", "ANSWER: 2B", "ANSWER: C = 5", "ANSWER: В", "ANSWER: Aµ",
		"ANSWER: A²", "ANSWER: ßA", "ANSWER: öB", "B2B", "A1", "B-flat", "C#"}},
	{reason: "articles, names and words", want: "none", reply: []string{
		"A car", "A car moves because B.", "a car", "An apple a day", "Dogs", "C'est la vie", "D'accord", "vitamin C", "Plan B", "grade A", "Hepatitis B",
		"Everyone gets a D.", "I got a B in maths.", "Let me consider A. It is too small. B. It is fine."}},
	{reason: "denied, asked or weighed", want: "none", reply: []string{
		"The answer isn't B.", "It is not A.", "Neither A nor B is correct; C is.", "Is it A? Is it B?", "It could be A or it could be B", "A不对，B对。"}},
	{reason: "several", want: "ambiguous", reply: []string{
		"ANSWER: both A and B", "ANSWER: A or C?", "ANSWER: A|B", "ANSWER: ABCD", "ANSWER: CAB", "A/C", "C or D", "either C or D", "C/D", "A and B",
		"I'm torn between A and C.", "Both B and C work.", "A, B", "A; B", "Possibly A, possibly B", "答案：A和B", "答案：A或B",
		"I think A is right, but B is also right.", "The answer is C; A or B would be wrong."}},
	{reason: "the text of B", texts: cities, want: "B", reply: []string{
		"It's Paris!", "I choose Paris.", "The answer is Paris, not London.", "ANSWER: paris", "ANSWER: **Paris**", "ANSWER: Paris, France", "ANSWER: B, which is Paris",
		"<answer>Paris</answer>", "I would say Paris.", "Actually, Paris.", "ANSWER: London. No, Paris.", "ANSWER: B Paris", "The answer is option B, Paris.", "B - Paris is on the Seine"}},
	{reason: "no option's text is given as the answer", texts: cities, want: "none", reply: []string{
		"The capital is Paris.", "Paris is the capital of France.", "ANSWER: the city of Paris", "not Paris", "ANSWER: not Paris", "The answer is Parisian",
		"ANSWER: A) London is not right, B) Paris"}},
	{reason: "two options by letter or text", texts: cities, want: "ambiguous", reply: []string{
		"ANSWER: Paris or Rome", "ANSWER: Paris/Rome", "ANSWER: C) Paris", "ANSWER: C. Paris", "ANSWER: C (Paris)", "ANSWER: C - Paris", "ANSWER: C: Paris",
		"ANSWER: C Paris", "C) Paris", "\\boxed{C. Paris}", "Paris\nLondon", "A Paris"}},
}

func TestChoiceGroups(t *testing.T) {
	for _, g := range choiceGroups {
		for _, reply := range g.reply {
			row := choiceRow{name: reply, reason: g.reason, texts: g.texts, reply: reply, want: g.want}
			if g.texts == nil {
				row.n = 4
			}
			t.Run(reply, func(t *testing.T) { testChoiceRow(t, row) })
		}
	}
}
