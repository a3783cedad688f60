package grade_test

import "testing"

var (
	truths   = []string{"True", "False"}
	yesNo    = []string{"Yes", "No", "Maybe"}
	orders   = []string{"O(n)", "O(n log n)", "O(n^2)", "O(1)"}
	speeds   = []string{"5 m/s", "10 m/s", "15 m/s", "20 m/s"}
	roots    = []string{"$x = 5$", "$x = -5$", "$x = 10$", "$x = 0$"}
	shares   = []string{`$\frac{1}{2}$`, `$\frac{1}{3}$`, `$\sqrt{2}$`, `$\pi$`}
	prices   = []string{"$5", "$10", "$15", "$20"}
	products = []string{"2*3", "23", "2+3", "2^3"}
	clauses  = []string{"The enzyme is denatured", "The substrate is consumed", "The inhibitor binds the active site", "It cannot be determined"}
	romans   = []string{"I only", "II only", "I and II", "Neither I nor II"}
	vitamins = []string{"Vitamin A", "Vitamin B", "Vitamin C", "Vitamin D"}
)

// choiceKinds are replies that were once misread, by the kind of mistake.
var choiceKinds = []struct {
	reason string
	texts  []string
	want   string
	reply  []string
}{
	{reason: "pictures and fences around a letter", want: "B", reply: []string{
		"B ✅", "✅ B", "👉 B", "Answer: ✅ B", "The answer is B 😊", "```\nB\n```", "~~~\nB\n~~~", "The answer is:\n\n```text\nB\n```", "---\nB\n---", "=== B ===",
		"• B", "『B』", "《B》", "ANSWER: Ⓑ", "🅱️", "𝐁", "Answer: 𝗕", "<|assistant|>B", "<choice>B</choice>", "<result>\nB\n</result>", "[ANSWER] B"}},
	{reason: "a cross is no tick", want: "none", reply: []string{"❌ B", "B ❌", "Answer: ❌ B", "B is wrong ✅"}},
	{reason: "each option is called right or wrong", want: "B", reply: []string{
		"A: incorrect\nB: correct\nC: incorrect\nD: incorrect", "A. ✗\nB. ✓\nC. ✗\nD. ✗", "- A: No\n- B: Yes\n- C: No\n- D: No",
		"- Option A: Incorrect. Mars has two.\n- Option B: Correct. It has one.\n- Option C: Incorrect.\n- Option D: Incorrect.",
		"| Option | Verdict |\n|---|---|\n| A | wrong |\n| B | correct |\n| C | wrong |\n| D | wrong |", "[ ] A\n[x] B\n[ ] C\n[ ] D",
		"A: wrong. B: right. C: wrong. D: wrong.", "(A) Wrong (B) Right (C) Wrong (D) Wrong", "A is incorrect.\nB is correct.\nC is incorrect.\nD is incorrect."}},
	{reason: "each option is called right or wrong, with its text", texts: cities, want: "B", reply: []string{
		"A) London - incorrect\nB) Paris - correct\nC) Rome - incorrect\nD) Berlin - incorrect", "A) London ❌\nB) Paris ✅\nC) Rome ❌\nD) Berlin ❌",
		"A) London\nB) Paris ✓\nC) Rome\nD) Berlin", "A) London\nB) Paris (correct answer)\nC) Rome\nD) Berlin", "A) London\n**B) Paris**\nC) Rome\nD) Berlin",
		"- [ ] London\n- [x] Paris\n- [ ] Rome\n- [ ] Berlin", "A) London\nB) Paris\nC) Rome\nD) Berlin\n\nB) Paris"}},
	{reason: "no option, or not every one, is called right or wrong", want: "none", reply: []string{
		"A: incorrect\nB: incorrect\nC: incorrect\nD: incorrect", "A: correct\nB: correct\nC: correct\nD: correct", "A: wrong. C: wrong.", "A) 1 B) 2 C) 3 D) 4"}},
	{reason: "several are called right", want: "ambiguous", reply: []string{"- A: Yes\n- B: No\n- C: Yes\n- D: No"}},
	{reason: "elimination", want: "D", reply: []string{
		"We can eliminate A and B. C is too big. That leaves D.", "Ruling out A, B and C, we're left with D.", "A, B and C can be eliminated, leaving D.",
		"Options A, B, and C can be ruled out. Therefore D.", "By elimination: D", "D is the only one left.", "Not A. D.", "A isn't right; D is.", "Only D satisfies both conditions."}},
	{reason: "longer ways to announce", want: "C", reply: []string{
		"The answer has to be C.", "The answer can only be C.", "The answer is going to be C.", "The answer is clearly and unambiguously C.", "The answer is... C",
		"The answer? C.", "The option that best fits is C.", "So it has to be C.", "In conclusion, C.", "Response: C", "Result: C", "Assistant: C", "The winner is C.",
		"This corresponds to C.", "x = 14, matching choice (C).", "The evidence points to C.", "Hard to say, but probably C.", "I suppose C.", "C most likely.", "C it is.", "C?",
		"You should choose C.", "I'd respond with C.", "C makes the most sense.", "C stands out as the right answer.", "C looks like the best answer."}},
	{reason: "two are weighed, one is chosen", want: "B", reply: []string{
		"Between A and B, B is better.", "Between A and B, I'd choose B.", "A and B are close, but B is the better answer.", "All of A, C and D are wrong, so B.",
		"It can't be A, C or D. So it's B.", "I'm not sure, but B seems most likely."}},
	{reason: "languages", want: "B", reply: []string{
		"A resposta correta é a B.", "A opção B está correta.", "Alternativa B", "Antwort B ist richtig.", "B ist richtig.", "La opción B es correcta.", "L'option B est correcte.",
		"C'est B.", "L'opzione B è corretta.", "Poprawna odpowiedź to B.", "Odpowiedź B jest poprawna.", "Cevap B", "Doğru cevap B'dir.", "Cevap B şıkkıdır.", "Đáp án đúng là B.",
		"Chọn B.", "Jawabannya adalah B", "Jawaban yang benar adalah B.", "الجواب الصحيح هو B.", "सही उत्तर B है", "Rätt svar är B.", "Det rätte svar er B.", "Oikea vastaus on B.",
		"Jibu sahihi ni B.", "Răspuns corect: B", "คำตอบที่ถูกต้องคือ B", "پاسخ صحیح B است", "Вариант B верный.", "B选项", "Bが正解です。", "選択肢Bが最も適切です。", "よってB。",
		"答案：B\n\n解析：选项A是错误的，选项C也是错误的。"}},
	{reason: "denied in other languages", want: "none", reply: []string{
		"La respuesta no es B.", "Antwort B ist nicht richtig.", "Die Antwort ist nicht B.", "La réponse n'est pas B.", "A resposta não é B.", "Вариант B неверный.", "答案不是B。", "Bは正解ではない。"}},
	{reason: "the answer of somebody else, or of another case", want: "none or ambiguous", reply: []string{
		"You might think the answer is B.", "You might think the answer is B, but it isn't.", "The wrong answer is B.", "The incorrect option is B.", "A common wrong answer is B.",
		"The answer would be B if x were 2.", "B would be correct if x were 2.", "B was correct until 1990.", "If x = 2, the answer is B. If x = 3, the answer is C.",
		"Assuming x = 2, the answer is B; otherwise C.", "The answer is B for men and C for women.", "The answer I first thought of was B.", "The first letter of the answer is B.",
		"D is correct only if x<0.", "How do we know A is true?", "B is true but irrelevant.", "B is a good answer but not the best."}},
	{reason: "a letter in a name", want: "none", reply: []string{
		"Angle C is right.", "In triangle ABC, angle C is right.", "Hepatitis B is correct.", "Vitamin C is correct.", "A is a better student than B.", `C:\Windows`}},
	{reason: "called wrong at once", want: "none", reply: []string{
		"Answer: A (wrong)", "B makes no sense.", "(B) is out.", "B) this contradicts the passage, so it can be eliminated."}},
	{reason: "the last sentence is a letter", want: "B", reply: []string{
		"It is the hottest planet. B", "It is the hottest planet. (B)", "It is the hottest planet! Option B.", "It is Venus, option B.", "1. B", "Q1: B", "1) B", "Question 1: **B**", "Step 1: …\nStep 2: B"}},
	{reason: "the last word is a letter", want: "none", reply: []string{"It is the planet B", "Grade: A", "This is plan B."}},
	{reason: "the first of two choices", want: "A", reply: []string{"Correct: A. Incorrect: B, C, D."}},
	{reason: "taken back", want: "B", reply: []string{"Answer: A\nEdit: B", "Answer: A... no, B."}},
	{reason: "further hedges", want: "ambiguous", reply: []string{
		"The answer is B or, possibly, C.", "Answer: B, alternatively C", "The answer is B and/or C.", "Answer: B (C is also possible)", "First choice: A. Second choice: B.", "B? C?", "B - C", "B vs C"}},
	{reason: "an explanation that sets conditions for others", want: "B", reply: []string{
		"**Answer: B**\n\n**Explanation:**\nA is wrong. C is wrong. D is correct only if x<0.", "B\n\nD would be right if the sign were flipped."}},
	{reason: "an invented question behind a bare letter", want: "B", reply: []string{
		"B\n\nQ: Next one?\nA: C", "B\n\n\nQuestion: Which is a fruit?\nA. dog\nB. cat\nC. apple\nD. car\nAnswer: C", "(B)\n###\nQuestion: x\nAnswer: (D)"}},

	{reason: "a text that begins the reply", texts: yesNo, want: "B", reply: []string{"No, because it rains.", "No. The statement is inaccurate.", "No - it isn't.", "**No**, it is not."}},
	{reason: "a text that only begins a sentence", texts: cities, want: "none", reply: []string{"Paris is the capital of France.", "Paris and its suburbs are large."}},
	{reason: "a statement is called true or false", texts: truths, want: "B", reply: []string{"The statement is false.", "The claim is false.", "**False.** Penguins cannot fly."}},
	{reason: "formulas", texts: orders, want: "B", reply: []string{`Answer: $O(n \log n)$`, "O(n log n)", "`O(n log n)`"}},
	{reason: "formulas", texts: roots, want: "B", reply: []string{"x = -5", "$x=-5$", `\boxed{x = -5}`}},
	{reason: "fractions", texts: shares, want: "A", reply: []string{`\dfrac{1}{2}`, "1/2", `\boxed{\frac{1}{2}}`}},
	{reason: "units and an equation", texts: speeds, want: "C", reply: []string{"v = 15 m/s", `\boxed{15 \text{ m/s}}`, `$15\ \text{m/s}$`}},
	{reason: "money", texts: prices, want: "B", reply: []string{"$10", "The answer is $10.", "**$10**"}},
	{reason: "a star of a product is no emphasis", texts: products, want: "A", reply: []string{"2*3", "Answer: 2*3"}},
	{reason: "nor may one be dropped", texts: products, want: "B", reply: []string{"23", "Answer: **23**"}},
	{reason: "a text that begins with a filler or a denial", texts: clauses, want: "D", reply: []string{"It cannot be determined.", "Answer: It cannot be determined", "The answer is that it cannot be determined."}},
	{reason: "a text in a that-clause", texts: clauses, want: "C", reply: []string{"The answer is that the inhibitor binds the active site.", "The inhibitor binds the active site because of its shape."}},
	{reason: "a text that begins with neither", texts: romans, want: "D", reply: []string{"Neither I nor II", "Answer: Neither I nor II"}},
	{reason: "a text that is called the answer", texts: vitamins, want: "D", reply: []string{"Vitamin D is the answer.", "I checked. Vitamin D is correct."}},
	{reason: "a text that is called none", texts: vitamins, want: "none", reply: []string{"Vitamin D is not the answer.", "Vitamin D is the answer?", "If vitamin D is the answer, I am lost."}},
	{reason: "an option that says none or all", texts: withNo, want: "D", reply: []string{"None of the above is correct.", "None of the listed options is right, so D."}},
	{reason: "question and answer", texts: cities, want: "B", reply: []string{"Q: capital of France?\nA: Paris", "Q: What is the capital?\nA: B) Paris"}},
	{reason: "a list of the options on one line", texts: cities, want: "none or ambiguous", reply: []string{"A. London B. Paris C. Rome D. Berlin"}},
}

func TestChoiceKinds(t *testing.T) {
	for _, g := range choiceKinds {
		for _, reply := range g.reply {
			row := choiceRow{name: reply, reason: g.reason, texts: g.texts, reply: reply, want: g.want}
			if g.texts == nil {
				row.n = 4
			}
			t.Run(reply, func(t *testing.T) { testChoiceRow(t, row) })
		}
	}
}
