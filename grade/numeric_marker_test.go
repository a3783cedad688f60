package grade

import "testing"

func TestNumericHashMarker(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "plain", reason: "GSM8K's own", response: "9*2=18\n#### 18", target: "18", want: Correct, answer: "18"},
		{name: "stop", reason: "the stop ends the sentence", response: "#### 18.", target: "18", want: Correct, answer: "18"},
		{name: "dollar", reason: "currency", response: "#### $18", target: "18", want: Correct},
		{name: "glued", reason: "no blank", response: "####18", target: "18", want: Correct},
		{name: "bold", reason: "markdown", response: "#### **18**", target: "18", want: Correct},
		{name: "all bold", reason: "markdown", response: "**#### 18**", target: "18", want: Correct},
		{name: "code", reason: "markdown", response: "`#### 18`", target: "18", want: Correct},
		{name: "escaped", reason: "markdown escapes", response: `\#\#\#\# 18`, target: "18", want: Correct},
		{name: "colon", reason: "a colon between", response: "####: 18", target: "18", want: Correct},
		{name: "equals", reason: "an equation behind", response: "#### 9*2 = 18", target: "18", want: Correct},
		{name: "math", reason: "LaTeX", response: `#### \(18\)`, target: "18", want: Correct},
		{name: "dollar math", reason: "LaTeX", response: "#### $18$", target: "18", want: Correct},
		{name: "boxed", reason: "LaTeX", response: `#### $\boxed{18}$`, target: "18", want: Correct},
		{name: "next line", reason: "a line end between", response: "####\n18", target: "18", want: Correct},
		{name: "inline", reason: "in the middle of a line", response: "She has 9*2 = 18 #### 18", target: "18", want: Correct},
		{name: "three", reason: "a heading that is a number", response: "So:\n### 18", target: "18", want: Correct},
		{name: "words first", reason: "the last line of the text is no heading", response: "9*2=18\n#### Total: 18 dollars", target: "18", want: Correct},
		{name: "nothing", reason: "no number where it was announced", response: "9*2=18\n#### .", target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "word", reason: "no fall back to 18", response: "9*2=18\n#### unknown", target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "end", reason: "cut", response: "9*2=18\n####", target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "heading", reason: "a heading is no marker", response: "#### Step 1: eggs\n16-7=9\n#### Step 2: money\n9*2=18", target: "18", want: Correct},
		{name: "numbered heading", reason: "a list number is no answer", response: "#### 1. Eggs\n16-7=9\n#### 2. Money\n9*2=18", target: "18", want: Correct},
		{name: "conclusion heading", reason: "a heading is no marker", response: "#### Conclusion\nShe earns $18.", target: "18", want: Correct},
		{name: "last wins", reason: "self-correction", response: "#### 8\nWait, I miscounted.\n#### 18", target: "18", want: Correct},
		{name: "first loses", reason: "self-correction", response: "#### 8\nWait, I miscounted.\n#### 18", target: "8", want: Incorrect},
	})
}

func TestNumericWordMarkers(t *testing.T) {
	rows := []numericRow{
		{name: "next lines", reason: "blank lines between", response: "Answer:\n\n18", target: "18", want: Correct},
		{name: "bold word", reason: "markdown", response: "**Answer:** 18", target: "18", want: Correct},
		{name: "bold word, colon outside", reason: "markdown", response: "**Answer**: 18", target: "18", want: Correct},
		{name: "heading", reason: "a heading announces", response: "16 eggs for 2 days.\n\n### Final Answer\n\n**18**\n", target: "18", want: Correct},
		{name: "bold heading", reason: "a heading announces", response: "16 eggs.\n\n**Final Answer**\n18 dollars", target: "18", want: Correct},
		{name: "heading and box", reason: "a heading announces", response: "**Final Answer**\n\n\\[\n\\boxed{18}\n\\]", target: "18", want: Correct},
		{name: "display math", reason: "a line of wrapping says nothing", response: "The final answer is:\n\n$$\n18\n$$", target: "18", want: Correct},
		{name: "fenced", reason: "a line of wrapping says nothing", response: "Answer:\n```\n18\n```", target: "18", want: Correct},
		{name: "words between", reason: "the answer is the number of eggs, 18", response: "The answer is the number of eggs, 18.", target: "18", want: Correct},
		{name: "to the question", reason: "a longer phrase", response: "So the answer to question 2 is 18.", target: "18", want: Correct},
		{name: "in brackets", reason: "a longer phrase", response: "Answer (in dollars): 18", target: "18", want: Correct},
		{name: "in commas", reason: "a longer phrase", response: "The final answer, in dollars, is 18.", target: "18", want: Correct},
		{name: "two numbers", reason: "the first statement", response: "The answer is 18 eggs for 2 people", target: "18", want: Correct},
		{name: "two numbers, second", reason: "the first statement", response: "The answer is 18 eggs for 2 people", target: "2", want: Incorrect},
		{name: "explained", reason: "the first statement", response: "Answer: 18. Each of the 9 eggs costs 2.", target: "18", want: Correct},
		{name: "explained below", reason: "the first statement", response: "Answer: 18\n\nExplanation: she sells 9 eggs at 2 dollars in 1 day.", target: "18", want: Correct},
		{name: "because", reason: "the first statement", response: "The answer is 18 because 9*2=18.", target: "18", want: Correct},
		{name: "since", reason: "x = 2 explains", response: "The answer is 18 since x = 2.", target: "18", want: Correct},
		{name: "equation", reason: "its result", response: "Answer: 3*30=90", target: "90", want: Correct, answer: "90"},
		{name: "equation, operand", reason: "its result", response: "Answer: 3*30=90", target: "3", want: Incorrect},
		{name: "equation with units", reason: "its result", response: "Answer: 16 - 7 = 9 dollars", target: "9", want: Correct},
		{name: "equation with units inside", reason: "its result", response: "A: 3 apples + 4 apples = 7 apples", target: "7", want: Correct},
		{name: "equation of prices", reason: "its result", response: "Answer: $3 + $4 = $7", target: "7", want: Correct},
		{name: "equation in words", reason: "its result", response: "The answer is 9 times 2, which is 18.", target: "18", want: Correct},
		{name: "equation reversed", reason: "its single side", response: "The answer is 18 = 9*2", target: "18", want: Correct},
		{name: "division", reason: "its result", response: "The answer is 36/2 = 18", target: "18", want: Correct},
		{name: "LaTeX equation", reason: "its result", response: `The answer is $9 \times 2 = 18$.`, target: "18", want: Correct},
		{name: "aligned", reason: "its result", response: "Answer:\n9*2\n= 18", target: "18", want: Correct},
		{name: "of", reason: "a share that is worked out", response: "The answer is 50% of 36, which is 18.", target: "18", want: Correct},
		{name: "of, share", reason: "a share that is worked out", response: "The answer is 50% of 36, which is 18.", target: "50", want: Incorrect},
		{name: "open expression", reason: "not worked out", response: "Answer: 9*2", target: "18", want: Unparsed, why: ReasonAmbiguous},
		{name: "open expression, operand", reason: "not worked out", response: "Answer: 9*2", target: "9", want: Unparsed},
		{name: "variable", reason: "x + 5 is no number", response: "Answer: x + 5", target: "5", want: Unparsed},
		{name: "total", reason: "a name before the equals sign", response: "Answer: total = 9*2 = $18", target: "18", want: Correct},
		{name: "or", reason: "two answers", response: "Answer: 18 or 20", target: "20", want: Unparsed, why: ReasonAmbiguous},
		{name: "or, first", reason: "two answers", response: "Answer: 18 or 20", target: "18", want: Unparsed, why: ReasonAmbiguous},
		{name: "and", reason: "two answers", response: "The answer is 3 apples and 4 oranges.", target: "3", want: Unparsed, why: ReasonAmbiguous},
		{name: "list", reason: "two answers", response: "Answer: 18, 20", target: "18", want: Unparsed},
		{name: "range", reason: "no number", response: "Answer: 15-20", target: "15", want: Unparsed},
		{name: "range, en dash", reason: "no number", response: "Answer: 15–20", target: "20", want: Unparsed},
		{name: "range in words", reason: "no number", response: "The answer is between 15 and 20.", target: "15", want: Unparsed},
		{name: "hours and minutes", reason: "one quantity in two numbers", response: "Answer: 5 hours and 30 minutes", target: "5", want: Unparsed},
		{name: "hours minutes", reason: "one quantity in two numbers", response: "Answer: 5 hours 30 minutes", target: "30", want: Unparsed},
		{name: "5h30", reason: "one quantity in two numbers", response: "Answer: 5h30", target: "5", want: Unparsed},
		{name: "the same twice", reason: "no contradiction", response: "Answer: 18 or 18.0", target: "18", want: Correct},
		{name: "no number", reason: "no fall back to 17", response: "I tried 17.\nANSWER: unknown", target: "17", want: Unparsed, why: ReasonNoAnswer},
		{name: "no number, later text", reason: "17 is not what was announced", response: "ANSWER: unknown\nI tried 17.", target: "17", want: Unparsed, why: ReasonNoAnswer},
		{name: "cut", reason: "nothing behind the marker", response: "9*2=18\nAnswer:", target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "circumstance", reason: "in 2 days", response: "The answer is that in 2 days she sells 18.", target: "18", want: Correct},
		{name: "circumstance, wrong", reason: "in 2 days", response: "The answer is that in 2 days she sells 18.", target: "2", want: Incorrect},
		{name: "solution", reason: "the marker introduces a worked solution", response: "Answer: Janet sells 16 - 3 - 4 = 9 duck eggs a day. She makes 9 * 2 = $18 every day.", target: "18", want: Correct},
		{name: "solution, step", reason: "9 is a step", response: "Answer: Janet sells 16 - 3 - 4 = 9 duck eggs a day. She makes 9 * 2 = $18 every day.", target: "9", want: Incorrect},
		{name: "solution, prose start", reason: "16 is given", response: "Answer: Janet has 16 eggs. She eats 3 and bakes 4, 16-7=9. So 9*2=18.", target: "18", want: Correct},
		{name: "solution below", reason: "the marker is a heading", response: "**Answer:**\nJanet sells her eggs.\nShe earns 18.", target: "18", want: Correct},
		{name: "few-shot chain", reason: "the later marker", response: "A: There are 15 trees. Then there were 21. So 21 - 15 = 6. The answer is 6.", target: "6", want: Correct},
		{name: "options", reason: "A: is an option", response: "A: 5\nB: 7\nC: 9\nSo it is 7.", target: "7", want: Correct},
		{name: "job A", reason: "A: inside a line is a name", response: "Job A: 2000\nA: 18", target: "18", want: Correct},
		{name: "calculator note", reason: "<<…>> is not said", response: "She earns 9*2=<<9*2=18>>18 dollars\nA: 18", target: "18", want: Correct},
		{name: "calculator note last", reason: "<<…>> is not said", response: "A: 18<<9*2=18>>", target: "18", want: Correct, answer: "18"},
		{name: "tag", reason: "an element", response: "<answer>18</answer> for 2 days", target: "18", want: Correct},
		{name: "tag with attributes", reason: "an element", response: `<Answer type="int"> $18 </Answer>`, target: "18", want: Correct},
		{name: "tag, unclosed", reason: "cut", response: "<answer>1", target: "1", want: Unparsed},
		{name: "tag, empty", reason: "no number where announced", response: "18 <answer></answer>", target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "JSON", reason: "a field", response: `{"steps": [16, 9], "answer": 18, "unit": 2}`, target: "18", want: Correct},
		{name: "JSON string", reason: "a field", response: `{"answer": "18", "confidence": 0.9}`, target: "18", want: Correct},
		{name: "JSON fenced", reason: "a field", response: "```json\n{\n  \"final_answer\": 18,\n  \"n\": 2\n}\n```", target: "18", want: Correct},
		{name: "JSON null", reason: "no number where announced", response: `{"n": 18, "answer": null}`, target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "JSON list", reason: "two answers", response: `{"answer": [18, 20]}`, target: "18", want: Unparsed},
		{name: "minerva", reason: "two markers in one line", response: "Final Answer: The final answer is $18$. I hope it is correct.", target: "18", want: Correct},
		{name: "word", reason: "a person reads eighteen as 18", response: "Answer: eighteen", target: "18", want: Correct, answer: "eighteen"},
		{name: "words", reason: "hyphens and and", response: "The answer is two hundred and forty-five dollars.", target: "245", want: Correct, answer: "two hundred and forty-five"},
		{name: "word, wrong", reason: "eighteen is not 8", response: "Answer: eighteen", target: "8", want: Incorrect},
		{name: "pronoun", reason: "one of them is no number", response: "The answer is one of them.", target: "1", want: Unparsed},
		{name: "pronoun with number", reason: "one is a pronoun, 18 the number", response: "The answer is the one with 18 eggs", target: "18", want: Correct},
		{name: "dash", reason: "a dash for a colon", response: "Answer - 18", target: "18", want: Correct},
		{name: "equals sign", reason: "an equals sign for a colon", response: "Answer = 18", target: "18", want: Correct},
		{name: "cut short", reason: "no number, no crash", response: "Let me identify the ", target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "empty", reason: "no text", response: " \n", target: "18", want: Unparsed, why: ReasonNoResponse},
		{name: "prose", reason: "no number", response: "I cannot solve this.", target: "18", want: Unparsed, why: ReasonNoAnswer},
	}
	for _, prefix := range []string{
		"Answer:", "ANSWER:", "answer:", "Answer :", "Final answer:", "The answer is", "The final answer is", "The correct answer is:", "So the answer would be", "Ans:", "Ans.", "A:",
		"Antwort:", "Die Antwort ist", "Die Antwort lautet", "Respuesta:", "La respuesta es", "Réponse :", "La réponse est", "Ответ:", "ответ —", "Risposta:", "La risposta è", "Resposta:", "A resposta é",
		"Antwoord:", "Odpowiedź:", "Cevap:", "Svar:", "Jibu:", "উত্তর:", "సమాధానం:", "คำตอบ:", "คำตอบคือ", "答案：", "答案是", "答案:", "答え:", "答えは", "정답:", "답은", "उत्तर:", "الجواب:", "Đáp án:", "【答案】",
	} {
		rows = append(rows, numericRow{name: "prefix " + prefix, reason: "a marker in some language", response: "16, 7, 9.\n" + prefix + " 18 (2 + 16 eggs)", target: "18", want: Correct})
	}
	runNumericRows(t, rows)
}

func TestNumericBox(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "last wins", reason: "a slip is fixed", response: `Try 1: \boxed{5}. That forgot a step; fixing it gives \boxed{7}.`, target: "7", want: Correct},
		{name: "first loses", reason: "a slip is fixed", response: `Try 1: \boxed{5}. That forgot a step; fixing it gives \boxed{7}.`, target: "5", want: Incorrect},
		{name: "inside a phrase", reason: "two markers, one answer", response: `The answer is \boxed{18}.`, target: "18", want: Correct},
		{name: "text behind", reason: "the box decides", response: `\boxed{18} dollars for 2 days`, target: "18", want: Correct},
		{name: "nested braces", reason: "braces match", response: `\boxed{\text{$18 \text{ dollars}$}}`, target: "18", want: Correct},
		{name: "nested boxes", reason: "the inner one is the answer", response: `\boxed{\boxed{18}}`, target: "18", want: Correct},
		{name: "variable", reason: "x = 18", response: `\boxed{x = 18}`, target: "18", want: Correct},
		{name: "two", reason: "two answers", response: `\boxed{18, 20}`, target: "18", want: Unparsed},
		{name: "pair", reason: "a point is no number", response: `\boxed{(2,3)}`, target: "23", want: Unparsed},
		{name: "empty", reason: "no number where announced", response: `18 \boxed{}`, target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "word", reason: "no number where announced", response: `18 \boxed{\text{none}}`, target: "18", want: Unparsed, why: ReasonNoAnswer},
		{name: "word number", reason: "in words", response: `\boxed{\text{eighteen}}`, target: "18", want: Correct},
		{name: "unclosed", reason: "cut", response: `So it is \boxed{1`, target: "1", want: Unparsed, why: ReasonNoAnswer},
		{name: "minus outside", reason: "half of the number is outside", response: `x = -\boxed{5}`, target: "5", want: Unparsed},
		{name: "bold inside", reason: "LaTeX", response: `\boxed{\mathbf{18}}`, target: "18", want: Correct},
		{name: "fbox", reason: "LaTeX", response: `\fbox{18}`, target: "18", want: Correct},
		{name: "no braces", reason: "TeX takes one token", response: `\boxed 7`, target: "7", want: Correct},
		{name: "display", reason: "LaTeX", response: "\\[\n\\boxed{18}\n\\]", target: "18", want: Correct},
		{name: "money", reason: "LaTeX", response: `\boxed{\$18.00}`, target: "18", want: Correct},
	})
}

func TestNumericTurn(t *testing.T) {
	runOn := "13 + 13 = 26\n#### 26\n\nQuestion: A train travels 3 hours at 30 km/h. How far?\nAnswer: 3*30=90\n#### 90"
	rows := []numericRow{
		{name: "run-on", reason: "the answer before the invented question", response: runOn, target: "26", want: Correct},
		{name: "run-on, wrong", reason: "the invented question's answer", response: runOn, target: "90", want: Incorrect},
		{name: "question only", reason: "5 belongs to the invented question", response: "#### 18\n\nQuestion: Tom has 5 apples.", target: "18", want: Correct},
		{name: "same line", reason: "no line end between", response: "The answer is 18. Q: Tom has 5 apples. A: 5", target: "18", want: Correct},
		{name: "without marker", reason: "a number ends the line before", response: "So she earns 18 dollars.\n\nQuestion: Tom has 5 apples.\nAnswer: 5", target: "18", want: Correct},
		{name: "behind a rule", reason: "a line of dashes says nothing", response: "So she has 18 left.\n\n---\n\nQ: What is 5+5?\nA: 10", target: "18", want: Correct},
		{name: "echo first", reason: "the question is repeated before the answer", response: "Question: Janet has 16 eggs.\nAnswer: 18", target: "18", want: Correct},
		{name: "self-correction and run-on", reason: "both rules together", response: "#### 8\nWait, I miscounted.\n#### 18\n\nQ: Tom?\nA: 5", target: "18", want: Correct},
		{name: "end token", reason: "the model's turn is over", response: "#### 18<|im_end|>\n<|im_start|>user\n5 more?", target: "18", want: Correct},
		{name: "eos", reason: "the model's turn is over", response: "#### 18</s> 5 6 7", target: "18", want: Correct},
		{name: "struck out", reason: "<s> strikes out", response: "It is <s>17</s> 18", target: "18", want: Correct},
		{name: "struck out, markdown", reason: "~~ strikes out", response: "It is 18 ~~17~~", target: "18", want: Correct},
	}
	for _, turn := range []string{"Q:", "**Question:**", "### Question 2:", "Question 2:", "Problem:", "Human:", "User:", "Frage:", "Pregunta:", "Вопрос:", "问题：", "質問:", "Example 2:", "### Instruction:", "Exercise 3:"} {
		rows = append(rows, numericRow{name: "turn " + turn, reason: "begins a new turn", response: "The answer is 18.\n\n" + turn + " Tom has 5 apples?\nThe answer is 5.", target: "18", want: Correct})
	}
	runNumericRows(t, rows)
}

func TestNumericReasoning(t *testing.T) {
	rows := []numericRow{
		{name: "closed", reason: "the thoughts do not count", response: "<think>maybe 17, check... 17</think>The answer is 18.", target: "18", want: Correct},
		{name: "closed, thought", reason: "the thoughts do not count", response: "<think>maybe 17, check... 17</think>The answer is 18.", target: "17", want: Incorrect},
		{name: "no marker", reason: "the thoughts do not count", response: "<think>The answer is 17.</think>18", target: "18", want: Correct},
		{name: "unclosed", reason: "the model never finished", response: "<think>so maybe 18", target: "18", want: Unparsed, why: ReasonIncomplete},
		{name: "unclosed behind text", reason: "the model began again", response: "The answer is 18. <think>or is it", target: "18", want: Unparsed, why: ReasonIncomplete},
		{name: "implicit", reason: "the template opened the block", response: "so 17?\n</think>\n\nThe answer is 18.", target: "18", want: Correct},
		{name: "implicit, thought", reason: "the template opened the block", response: "The answer is 17\n</think>\n\n18", target: "17", want: Incorrect},
		{name: "nothing but thoughts", reason: "no answer left the block", response: "<think>18</think>\n", target: "18", want: Unparsed, why: ReasonIncomplete},
		{name: "two blocks", reason: "both are thoughts", response: "<think>1</think>The answer is 18.<think>or 17</think>", target: "18", want: Correct},
		{name: "nested", reason: "the last end counts", response: "<think>a <think>17</think> so 17 </think>The answer is 18.", target: "18", want: Correct},
		{name: "mentioned", reason: "a tag in backticks is a word", response: "Without `<think>` it is 18", target: "18", want: Correct},
		{name: "channels", reason: "only the final channel", response: "<|channel|>analysis<|message|>17?<|end|><|start|>assistant<|channel|>final<|message|>The answer is 18.<|return|>", target: "18", want: Correct},
		{name: "channels, no final", reason: "the model never finished", response: "<|channel|>analysis<|message|>so 18", target: "18", want: Unparsed, why: ReasonIncomplete},
		{name: "bare channels", reason: "special tokens dropped by the server", response: "analysisWe need 17? no.assistantfinalThe answer is 18.", target: "18", want: Correct},
		{name: "other closing tag", reason: "models mix names", response: "<thinking>17</think>The answer is 18.", target: "18", want: Correct},
	}
	for _, tag := range [][2]string{{"<Think>", "</THINK>"}, {`<think id="1">`, "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"}, {"<reasoning>", "</reasoning>"}, {"<seed:think>", "</seed:think>"}, {"[THINK]", "[/THINK]"}, {"<|begin_of_thought|>", "<|end_of_thought|>"}, {"◁think▷", "◁/think▷"}, {"<scratchpad>", "</scratchpad>"}} {
		rows = append(rows,
			numericRow{name: "closed " + tag[0], reason: "a reasoning block", response: tag[0] + "The answer is 17" + tag[1] + "\nIt is 18.", target: "18", want: Correct},
			numericRow{name: "open " + tag[0], reason: "an unfinished block", response: tag[0] + "The answer is 18", target: "18", want: Unparsed, why: ReasonIncomplete})
	}
	runNumericRows(t, rows)
}

func TestNumericLastNumber(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "contained", reason: "3 is not the answer", response: "I see 13 boxes in 3 rows; the answer is 2.", target: "3", want: Incorrect},
		{name: "steps", reason: "the result of the last equation", response: "Step 1: 16-3-4=9. Step 2: 9*2=18 dollars", target: "18", want: Correct},
		{name: "label behind", reason: "a label is no answer", response: "9*2=18, as in Step 2", target: "18", want: Correct},
		{name: "list", reason: "list numbers are no answers", response: "1. She has 16 eggs.\n2. She sells 9 for 18 dollars\n3. Done", target: "18", want: Correct},
		{name: "list in brackets", reason: "list numbers are no answers", response: "(1) 16-7=9\n(2) 9*2=18\n(3) Done", target: "18", want: Correct},
		{name: "bare number with stop", reason: "18. alone is the answer", response: "18.", target: "18", want: Correct},
		{name: "bare number", reason: "a whole answer", response: "18", target: "18", want: Correct},
		{name: "ordinal behind", reason: "3rd is not the answer", response: "She earns 18 dollars in the 3rd week.", target: "18", want: Correct},
		{name: "ordinal alone", reason: "the 5th day is day 5", response: "He finishes on the 5th day.", target: "5", want: Correct},
		{name: "adjective behind", reason: "a 24-hour day", response: "She sleeps 18 hours of a 24-hour day.", target: "18", want: Correct},
		{name: "or", reason: "two answers", response: "It is 18 or 20.", target: "20", want: Unparsed, why: ReasonAmbiguous},
		{name: "hedged", reason: "two answers", response: "Between 5 and 10.", target: "10", want: Unparsed},
		{name: "open expression", reason: "not worked out", response: "So she makes 9 * 2", target: "2", want: Unparsed},
		{name: "citation", reason: "[1] is no answer", response: "She earns 18 dollars.[1]", target: "18", want: Correct},
		{name: "decimals", reason: "18.50 is not 18", response: "She earns $18.50", target: "18", want: Incorrect},
		{name: "two statements", reason: "the last number", response: "She sold 9 eggs and earned 18 dollars.", target: "18", want: Correct},
		{name: "table", reason: "the last cell", response: "| day | $ |\n|---|---|\n| total | 18 |", target: "18", want: Correct},
		{name: "code word", reason: "no letters of a word", response: "It is 18 (see R2D2)", target: "18", want: Correct},
	})
}

func TestNumericCorrection(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "wait", reason: "a correction without a marker", response: "Answer: 17. Wait, that's wrong; it is 18.", target: "18", want: Correct},
		{name: "wait, withdrawn", reason: "17 was taken back", response: "Answer: 17. Wait, that's wrong; it is 18.", target: "17", want: Incorrect},
		{name: "actually", reason: "a correction without a marker", response: "The answer is 17. Actually, it's 18.", target: "18", want: Correct},
		{name: "behind a box", reason: "a correction without a marker", response: `\boxed{17}. No, that is wrong. It should be 18.`, target: "18", want: Correct},
		{name: "behind hashes", reason: "a correction without a marker", response: "#### 8\nWait, I miscounted. It should be 18.", target: "18", want: Correct},
		{name: "check", reason: "a check that agrees", response: "Answer: 18. Wait, let me check: 9*2 = 18. Yes.", target: "18", want: Correct},
		{name: "check without number", reason: "a mere check", response: "Answer: 18. Hmm, let me double-check. Yes.", target: "18", want: Correct},
		{name: "withdrawn", reason: "nothing takes its place", response: "Answer: 17. No, that is wrong.", target: "17", want: Unparsed},
		{name: "question", reason: "17 is asked, 18 said", response: "Is the answer 17? No, the answer is 18.", target: "18", want: Correct},
	})
}
