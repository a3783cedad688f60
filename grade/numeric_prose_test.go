package grade

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// TestNumericAfterwords: what assistants write behind an answer is not the
// answer.
func TestNumericAfterwords(t *testing.T) {
	var rows []numericRow
	for _, behind := range []string{
		"\n\nNote: this assumes 30 days in a month.", "\n\n*Note: 16 eggs is the daily production.*", "\n(Note: 16 eggs a day.)", "\n\nNote that each week has 7 days.", "\n\nP.S. There are 7 days in a week.",
		"\n\nCheck: 9 + 7 = 16 ✓", "\n\n**Verification:** 3 + 4 + 9 = 16", "\n\nLet's check: 18 / 2 = 9, 9 + 3 + 4 = 16. Correct!", "\n\nTo verify, 18 ÷ 2 = 9 eggs, and 9 + 7 = 16.",
		"\n\n### Verification\n- 9 + 7 = 16\n- 16 - 7 = 9", "\n\nDouble-check: 9 + 7 = 16 eggs. ✅",
		" Confidence: 0.95", "\n\nConfidence: 95%", "\n(Confidence: 95%)", "\n\nDifficulty: 2/5", "\n\nTokens used: 212",
		" [1][2].\n\n[1] https://example.com/a1", "[^1]\n\n[^1]: Assumes 16 eggs.", "\n\nSources:\n1. An encyclopedia (2020)\n2. A paper, 2021",
		" Would you like me to show the 2 steps?", " Is there anything else? I can solve 5 more problems.", "\n\nI hope this helps! Let me know if you want 2 more examples.",
	} {
		rows = append(rows, numericRow{name: "behind " + strings.ReplaceAll(behind, "/", ""), reason: "an afterword", response: "She makes $18." + behind, target: "18", want: Correct})
	}
	rows = append(rows,
		numericRow{name: "note in the middle", reason: "the solution goes on", response: "16 - 7 = 9.\nNote: each egg costs $2.\n9 * 2 = 18 dollars.", target: "18", want: Correct},
		numericRow{name: "check in the middle", reason: "a conclusion follows", response: "She has 9 eggs.\nCheck: 9 + 7 = 16.\nSo she makes 9 * 2 = $18.", target: "18", want: Correct},
		numericRow{name: "failed check", reason: "the check takes the answer back", response: "She makes $17.\n\nCheck: 17 / 2 = 8.5, which is wrong. It is 9 * 2 = 18.", target: "18", want: Correct},
		numericRow{name: "check alone", reason: "nothing stands before it", response: "Check: 9 * 2 = 18", target: "18", want: Correct},
		numericRow{name: "reasoning first", reason: "a solution, no afterword", response: "She has 16 eggs and eats 3 of them, so that many are left for her to use.\nReasoning: 16 - 7 = 9, 9 * 2 = 18", target: "18", want: Correct},
		numericRow{name: "breakdown", reason: "the parts of a short answer", response: "Total: $18\n\nBreakdown:\n- 9 eggs\n- $2 each", target: "18", want: Correct},
		numericRow{name: "first line", reason: "an answer alone, then why", response: "$18\n\nHere's why:\n- 16 eggs\n- minus 3\n- minus 4\n- times 2", target: "18", want: Correct},
		numericRow{name: "first line, prose", reason: "an answer alone, then prose", response: "18\n\nJanet has 16 eggs, eats 3 and bakes 4. She sells them for $2.", target: "18", want: Correct},
		numericRow{name: "first line, given", reason: "what is computed is another number", response: "16 eggs\n\n16 - 7 = 9\n\n9 x 2 = 18", target: "18", want: Correct},
	)
	runNumericRows(t, rows)
}

// TestNumericCircumstances: a sentence may name more numbers than the one that
// it is about.
func TestNumericCircumstances(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "from", reason: "what it comes from", response: "So, she makes $18 from selling 9 eggs.", target: "18", want: Correct},
		{name: "from, false pass", reason: "9 is not the answer", response: "Thus Janet earns 18 dollars each day from 9 eggs.", target: "9", want: Incorrect},
		{name: "in", reason: "how long", response: "In total she earns 9 x $2 = $18 in 1 day.", target: "18", want: Correct},
		{name: "places", reason: "where", response: "x = 18\n\nSo there are 18 eggs in 2 baskets.", target: "18", want: Correct},
		{name: "computed circumstance", reason: "the result of the last equation", response: "36 / 2 = 18. So she eats 5 cakes in 18 days.", target: "18", want: Correct},
		{name: "equation in the sentence", reason: "what was worked out", response: "She should leave 12 + 5 = 17 minutes before Wayne and arrive 5 minutes sooner.", target: "17", want: Correct},
		{name: "equation and a result word", reason: "a word leads on", response: "She has 16 - 7 = 9 eggs and earns 18 dollars.", target: "18", want: Correct},
		{name: "rows of stars", reason: "a size is a circumstance", response: "There are 40 / 5 = 8 rows of 5 stars.", target: "8", want: Correct},
		{name: "gerund", reason: "how", response: "Janet makes $18 every day selling 9 eggs at the market for $2 each.", target: "18", want: Correct},
		{name: "result", reason: "a comma leads to the result", response: "She sells 9 eggs for $2 each, earning $18.", target: "18", want: Correct},
		{name: "price", reason: "money behind for", response: "She sells 9 eggs for 18 dollars.", target: "18", want: Correct},
		{name: "for", reason: "what for", response: "She pays $64 for 16 glasses.", target: "64", want: Correct},
		{name: "purpose", reason: "what it is needed for", response: "Betty needs $5 more to buy the $100 wallet.", target: "5", want: Correct},
		{name: "purpose, false pass", reason: "100 is not the answer", response: "Betty needs $5 more to buy the $100 wallet.", target: "100", want: Incorrect},
		{name: "over", reason: "how long", response: "The program had 366 downloads over 3 months.", target: "366", want: Correct},
		{name: "because", reason: "why", response: "She makes $18 because she sells 9 eggs.", target: "18", want: Correct},
		{name: "after", reason: "a clause", response: "7 apples are left after John gives away 5.", target: "7", want: Correct},
		{name: "left with", reason: "what is left is no circumstance", response: "After giving 5 away, John is left with 7.", target: "7", want: Correct},
		{name: "out of", reason: "the whole", response: "7 apples remain out of the original 12.", target: "7", want: Correct},
		{name: "of the", reason: "the whole", response: "7 of the 12 apples remain.", target: "7", want: Correct},
		{name: "comparison", reason: "compared with", response: "He has 7 apples, 5 fewer than the 12 he had.", target: "7", want: Correct},
		{name: "twice as many", reason: "a factor is not worked out", response: "He has twice as many as Mary's 4.", target: "4", want: Unparsed},
		{name: "twice as many, worked out", reason: "the number that is", response: "He has 8 apples, twice as many as Mary's 4.", target: "8", want: Correct},
		{name: "French", reason: "how long", response: "Natalia a vendu 72 pinces en 2 mois.", target: "72", want: Correct},
		{name: "parts", reason: "they add up to the number before the colon", response: "Natalia sold 72 clips: 48 in April and 24 in May.", target: "72", want: Correct},
		{name: "no parts", reason: "they do not", response: "On day 2: 48 clips and 24 pins.", target: "2", want: Unparsed},
		{name: "bracket of several", reason: "the bracket explains", response: "18 (9 eggs at $2)", target: "18", want: Correct},
		{name: "bracket, restated", reason: "the bracket explains", response: "20% (= 1/5)", target: "20", want: Correct},
		{name: "bracket, rounded", reason: "the bracket explains", response: "1/3 (about 0.333)", target: "1/3", want: Correct},
		{name: "rounded", reason: "the exact side counts", response: "1/3 ≈ 0.333", target: "1/3", want: Correct},
		{name: "two units", reason: "one quantity", response: "150 minutes, or 2.5 hours", target: "150", want: Correct},
		{name: "two units, not equal", reason: "two quantities", response: "150 minutes, or 3 hours", target: "150", want: Unparsed},
		{name: "two units, converted", reason: "a step and its result", response: "It takes 120 minutes. That is 2 hours.", target: "2", want: Correct},
		{name: "product restated", reason: "the second works out the first", response: "He runs 9 sprints of 60 meters, or 540 meters.", target: "540", want: Correct},

		{name: "marked, gerund first", reason: "the marked sentence's number", response: "Final Answer:\n\nBy selling 9 eggs, Janet makes 18 dollars per day.", target: "18", want: Correct},
		{name: "marked, result", reason: "a word leads to the result", response: "Answer: Janet sells 9 eggs for $2 each and earns $18 per day.", target: "18", want: Correct},
		{name: "marked, result, false pass", reason: "9 is not the answer", response: "Answer: Janet sells 9 eggs for $2 each and earns $18 per day.", target: "9", want: Incorrect},
		{name: "marked, two persons", reason: "two statements", response: "Answer: She has 18 marbles and Tom has 5 marbles.", target: "5", want: Unparsed, why: ReasonAmbiguous},
		{name: "marked, two persons, computed", reason: "the last equation decides", response: "9 * 2 = 18\nAnswer: She has 18 marbles and Tom has 5 marbles.", target: "18", want: Correct},
		{name: "marked, two sentences", reason: "a solution without an equation", response: "Answer: Janet sells 9 eggs for $2 each. She earns $18.", target: "9", want: Unparsed},
		{name: "marked, of", reason: "a sum is its total", response: "The answer is the sum of 10 and 15, which is 25.", target: "25", want: Correct},
		{name: "marked, of, open", reason: "a sum is neither operand", response: "The answer is the sum of 10 and 15.", target: "15", want: Unparsed},
		{name: "marked, or", reason: "worked out behind or", response: "The answer is 40 minus 15, or 25.", target: "25", want: Correct},
		{name: "marked, dash", reason: "a dash explains", response: "The answer is 25 - she had 40 and lost 15.", target: "25", want: Correct},
		{name: "given up", reason: "a first answer is none", response: "My first answer was 5, but the correct one is 7.", target: "7", want: Correct},
		{name: "box taken back", reason: "the text denies 5", response: "\\boxed{7}\n\nMy earlier \\boxed{5} was wrong.", target: "7", want: Correct},
		{name: "two boxes", reason: "two answers", response: `\boxed{72} or \boxed{73}`, target: "73", want: Unparsed, why: ReasonAmbiguous},
		{name: "one box twice", reason: "one answer", response: `\boxed{72} or \boxed{72.0}`, target: "72", want: Correct},
		{name: "semicolon", reason: "two answers", response: "72; 73", target: "73", want: Unparsed},
		{name: "or on its own", reason: "two answers", response: "72\nor\n73", target: "73", want: Unparsed},
		{name: "questions", reason: "two answers", response: "Maybe 72? Or 73?", target: "73", want: Unparsed},
		{name: "functions", reason: "a root is not worked out", response: "Answer: sqrt(16)", target: "16", want: Unparsed},
		{name: "function value", reason: "its result", response: "sqrt(16) = 4", target: "4", want: Correct},
		{name: "functions in words", reason: "a root is not worked out", response: "the square root of 81", target: "81", want: Unparsed},
		{name: "functions in words, value", reason: "its result", response: "The square root of 81 is 9.", target: "9", want: Correct},
		{name: "speed and time", reason: "the slash belongs to the unit", response: "Its average speed is 80 km/h over 3 hours.", target: "80", want: Correct},
		{name: "on a", reason: "a circumstance", response: "The tip is $20 on a $100 bill.", target: "20", want: Correct},
		{name: "remainder", reason: "two numbers", response: "5 remainder 2", target: "2", want: Unparsed},
		{name: "remainder, then", reason: "the conclusion", response: "17 ÷ 3 = 5 remainder 2, so she needs 6 boxes.", target: "6", want: Correct},
		{name: "since, then", reason: "the conclusion follows the reason", response: "x = 17 or -17; since lengths are positive, 17.", target: "17", want: Correct},
		{name: "bags of pounds", reason: "a size is a circumstance", response: "He needs 3 bags of 10 pounds each.", target: "3", want: Correct},
		{name: "adds up", reason: "up to is no bound here", response: "It adds up to 42.", target: "42", want: Correct},
		{name: "rounds up", reason: "up to is no bound here", response: "25.7 rounds up to 26", target: "26", want: Correct},
		{name: "decimal places", reason: "how exact", response: "3.14, rounded to 2 decimals", target: "3.14", want: Correct},
		{name: "between, aside", reason: "where it lies", response: "The mean score is 75 points, between 70 and 80.", target: "75", want: Correct},
		{name: "between alone", reason: "a range is no number", response: "It is between 70 and 80.", target: "80", want: Unparsed},
		{name: "up from", reason: "what it was", response: "The new price is $130, up 30% from $100.", target: "130", want: Correct},
		{name: "since", reason: "the reason has numbers of its own", response: "There are 29 computers, since 5 were added on each of 4 days to the 9 that were there.", target: "29", want: Correct},
		{name: "since, fragment", reason: "the reason has numbers of its own", response: "15 pencils. Since each box has 5 pencils and there are 3 boxes.", target: "15", want: Correct},
		{name: "since first", reason: "the answer follows", response: "She sold 9. Since each costs $2, she has 18 dollars.", target: "18", want: Correct},
		{name: "product of parts", reason: "they multiply to the number before the colon", response: "There are 15 pencils: 5 in each of the 3 boxes.", target: "15", want: Correct},
		{name: "each has", reason: "a rate", response: "There are 15 pencils; each box has 5.", target: "15", want: Correct},
		{name: "marked, bracket", reason: "the bracket explains", response: "Answer: In total, Tom has 15 pencils (3 × 5).", target: "15", want: Correct},
		{name: "assignment in a bracket", reason: "the bracket explains", response: "p=15 (b=5)", target: "15", want: Correct},
		{name: "how sure", reason: "95% is not the answer", response: "It's 15. I'm 95% sure.", target: "15", want: Correct},
		{name: "could be", reason: "two answers", response: "Could be 15, could be 20.", target: "20", want: Unparsed},
		{name: "two questions", reason: "two answers", response: "15? 20?", target: "20", want: Unparsed},
		{name: "em dash", reason: "a range", response: "15—20", target: "20", want: Unparsed},
		{name: "answer in commas", reason: "a marker", response: "The answer, 64, is twice 32.", target: "64", want: Correct},
		{name: "is not", reason: "32 is denied", response: "64 is correct. 32 is not.", target: "64", want: Correct},
		{name: "unfinished repetition", reason: "the first time counts", response: "The answer is 18. The answer is", target: "18", want: Correct},
		{name: "unfinished", reason: "another answer was coming", response: "The answer is 17. No, that forgets the 2 eggs she sold. The answer is", target: "17", want: Unparsed},
		{name: "edit", reason: "a correction", response: "Answer: 5\nEDIT: 7", target: "7", want: Correct},
		{name: "no and exactly", reason: "a correction without the hedge", response: "Answer: approximately 25? No, exactly 25.", target: "25", want: Correct},
		{name: "no, not number", reason: "No. answers here", response: "17? No. 18.", target: "18", want: Correct},
	})
}

func TestNumericNotations(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "ten raised", reason: "a power of ten has a value", response: "Answer: $10^3$", target: "1000", want: Correct},
		{name: "ten raised, negative", reason: "a power of ten has a value", response: "10^{-3}", target: "0.001", want: Correct},
		{name: "spaced fraction", reason: "1 / 2 is a half", response: "Answer: 1 / 2", target: "0.5", want: Correct},
		{name: "spaced division", reason: "36 / 2 is not worked out", response: "Answer: 36 / 2", target: "18", want: Unparsed},
		{name: "spaced date", reason: "no fraction", response: "Answer: 3 / 4 / 2024", target: "0.75", want: Unparsed},
		{name: "raised fraction", reason: "HTML", response: "<sup>5</sup>/<sub>6</sub>", target: "5/6", want: Correct},
		{name: "mixed with and", reason: "recipes", response: "3 and 1/2 cups", target: "3.5", want: Correct},
		{name: "half in words", reason: "its value", response: "2 and a half hours", target: "2.5", want: Correct},
		{name: "one half", reason: "in words", response: "Answer: one half", target: "0.5", want: Correct},
		{name: "three quarters", reason: "in words", response: "Answer: three quarters", target: "0.75", want: Correct},
		{name: "three quarters are not three", reason: "a false pass", response: "Answer: three quarters", target: "3", want: Incorrect},
		{name: "one and a half", reason: "in words", response: "Answer: one and a half", target: "1.5", want: Correct},
		{name: "ordinal in words", reason: "no fraction", response: "Answer: twenty third", target: "20", want: Unparsed},
		{name: "a hundred", reason: "in words", response: "Answer: a hundred and fifty", target: "150", want: Correct},
		{name: "words alone", reason: "no digit in the text", response: "She makes eighteen dollars.", target: "18", want: Correct},
		{name: "words, hedged", reason: "a bound is no value", response: "about four", target: "4", want: Unparsed, why: ReasonAmbiguous},
		{name: "words, two", reason: "two answers", response: "four or five", target: "4", want: Unparsed},
		{name: "words, denied", reason: "not four", response: "not four", target: "4", want: Unparsed},
		{name: "words, pronoun", reason: "one is a pronoun", response: "That one is hard.", target: "1", want: Unparsed},
		{name: "words, one", reason: "the whole text", response: "One.", target: "1", want: Correct},
		{name: "words and a rate", reason: "its unit", response: "Answer: Eighteen dollars per day", target: "18", want: Correct},
		{name: "negative", reason: "a sign in words", response: "The answer is negative 10.", target: "-10", want: Correct},
		{name: "negative, false pass", reason: "a sign in words", response: "The answer is negative 10.", target: "10", want: Incorrect},
		{name: "minus", reason: "a sign in words", response: "#### minus 10", target: "-10", want: Correct},
		{name: "minus as operator", reason: "a difference", response: "16 eggs minus 7 is 9", target: "9", want: Correct},
		{name: "minus in a list", reason: "a step", response: "Take 16 eggs, then minus 7: 9 are left.", target: "9", want: Correct},
		{name: "glued power of a unit", reason: "cubic centimetres", response: "12cm^3", target: "12", want: Correct},
		{name: "template", reason: "the brackets were copied", response: "The answer is <42>", target: "42", want: Correct},
		{name: "escaped line end", reason: "escaped once too often", response: `42\n`, target: "42", want: Correct},
		{name: "escaped line ends", reason: "escaped once too often", response: `6*7\nAnswer: 42\n\nDone in 2 steps`, target: "42", want: Correct},
		{name: "closed heading", reason: "markdown", response: "#### 18 ####", target: "18", want: Correct},
		{name: "spaced ratio", reason: "no number", response: "The ratio is 3 : 4", target: "4", want: Unparsed},
		{name: "spaced label", reason: "a French label", response: "Jour 1 : 40 œufs", target: "40", want: Correct},
		{name: "final result", reason: "a marker", response: "Final result: 18\n\nThis uses 9 eggs at 2 dollars.", target: "18", want: Correct},
		{name: "plain heading", reason: "a line that says nothing else", response: "16 eggs.\n\nFinal Answer\n18 dollars for 2 days", target: "18", want: Correct},
	})
}

func TestNumericMoreBounds(t *testing.T) {
	var rows []numericRow
	for _, text := range []string{
		"42-ish", "42 or thereabouts", "42 eggs or more", "42 eggs or so", "42 dollars at most", "42, more or less", "in the neighborhood of 42", "on the order of 42", "greater than or equal to 42", "less than or equal to 42",
		"as many as 42", "upwards of 42", "in excess of 42", "anything but 42", "it would be wrong to say 42", "c. 42", "По крайней мере 42", "Около 42", "не более 42", "más o menos 42", "pelo menos 42", "almeno 42", "à peu près 42",
		"大于42", "42个以上", "42 이상", "적어도 42", "少なくとも42",
	} {
		rows = append(rows, numericRow{name: text, reason: "a bound or an estimate is no value", response: text, target: "42", want: Unparsed})
	}
	rows = append(rows,
		numericRow{name: "minimum", reason: "a value that has a name", response: "42 is the minimum", target: "42", want: Correct},
		numericRow{name: "and more", reason: "the pears are more", response: "She buys 42 apples and some more pears.", target: "42", want: Correct})
	runNumericRows(t, rows)
}

func TestNumericCutOff(t *testing.T) {
	loop := strings.Repeat("After one more day it is 9 * 2 = 18 feet tall.\n", 5)
	runNumericRows(t, []numericRow{
		{name: "behind an equals sign", reason: "the result never came", response: "So she makes 9 * 2 =", target: "2", want: Unparsed, why: ReasonIncomplete},
		{name: "behind an article", reason: "in the middle of a sentence", response: "16 - 3 - 4 = 9. She then sells the", target: "9", want: Unparsed, why: ReasonIncomplete},
		{name: "in a calculation", reason: "a calculator note never closed", response: "She has 3/440 = <<3/440=0.0068", target: "440", want: Unparsed, why: ReasonIncomplete},
		{name: "in a loop", reason: "the same line again and again", response: loop + "After one more day it is 9 * 2 = 18 fe", target: "18", want: Unparsed, why: ReasonIncomplete},
		{name: "a list that ends", reason: "lines of one form may end in the answer", response: "Day 1: 9\nDay 2: 12\nDay 3: 15\nDay 4: 18", target: "18", want: Correct},
		{name: "marked before", reason: "a marked answer stands", response: "Answer: 18\n\nShe sells the", target: "18", want: Correct},
	})
}

func TestNumericNewTurns(t *testing.T) {
	var rows []numericRow
	for _, turn := range []string{"### Problem 2\n", "## Question\n", "**Question 2**\n", "[Question]\n", "Task: ", "Follow-up question: ", "1. Question: ", "<question>", "2. How far is it in 3 hours at 30 km/h?\n"} {
		rows = append(rows, numericRow{name: "turn " + turn, reason: "begins a new turn", response: "#### 26\n\n" + turn + "A train travels for 3 hours.\n#### 90", target: "26", want: Correct})
	}
	rows = append(rows,
		numericRow{name: "heading before the answer", reason: "the solution's own headings", response: "### Question\nHow many of 16 eggs?\n### Solution\n16 - 7 = 9\n#### 9", target: "9", want: Correct},
		numericRow{name: "list behind the answer", reason: "statements are no questions", response: "#### 9\n\n1. She has 16 eggs.\n2. She uses 7.\n#### 9", target: "9", want: Correct})
	for _, tag := range [][2]string{{"&lt;think&gt;", "&lt;/think&gt;"}, {"<inner_thoughts>", "</inner_thoughts>"}, {"<thought_process>", "</thought_process>"}} {
		rows = append(rows,
			numericRow{name: "closed " + tag[0], reason: "a reasoning block", response: tag[0] + "The answer is 17" + tag[1] + "\nIt is 18.", target: "18", want: Correct},
			numericRow{name: "open " + tag[0], reason: "an unfinished block", response: tag[0] + "The answer is 18", target: "18", want: Unparsed, why: ReasonIncomplete})
	}
	runNumericRows(t, rows)
}

// TestNumericScaledQuestion: where the question asks for billions, 2 billion is
// 2.
func TestNumericScaledQuestion(t *testing.T) {
	for _, row := range []struct {
		name, question, response, target string
		want                             Mark
	}{
		{"asked for", "How many billions of people live there?", "A: 2 billion", "2", Correct},
		{"asked for, in", "What is the cost, in millions of dollars?", "#### 1.5 million", "1.5", Correct},
		{"asked for, written out", "How many billions of people live there?", "A: 2 billion", "2000000000", Correct},
		{"not asked for", "There were 2 billion people. How many live there?", "A: 2 billion", "2", Incorrect},
		{"another scale", "How many millions of people live there?", "A: 2 billion", "2", Incorrect},
	} {
		item := dataset.Item{ID: row.name, Input: row.question, Target: row.target}
		v, err := Numeric().Grade(context.Background(), item, llm.Response{Text: row.response})
		require.NoError(t, err)
		assert.Equal(t, row.want, v.Mark, "%s: %+v", row.name, v)
	}
}

// TestNumericOfficialGSM8K compares with the rule that gave GSM8K's published
// verdicts, the last "A: " and its number as a text, and says where a careful
// person departs from it.
func TestNumericOfficialGSM8K(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "plain", reason: "alike", response: "9*2=18\nA: 18", target: "18", want: Correct},
		{name: "unit", reason: "alike", response: "A: 5 minutes", target: "5", want: Correct},
		{name: "percent", reason: "alike", response: "A: 20%", target: "20", want: Correct},
		{name: "comma", reason: "alike", response: "A: 1,200", target: "1200", want: Correct},
		{name: "negative", reason: "alike", response: "A: -3", target: "3", want: Incorrect},
		{name: "dozens", reason: "alike", response: "A: 5 dozen", target: "5", want: Correct},
		{name: "last of several", reason: "alike", response: "A: 5\nA: 7", target: "5", want: Incorrect},
		{name: "job A", reason: "the official last match, too", response: "Job A: 2000\nJob B: 18\nA: 2018", target: "2018", want: Correct},
		{name: "stop", reason: "theirs is wrong: the text is 18.", response: "A: 18.", target: "18", want: Correct},
		{name: "decimals", reason: "theirs is wrong: the text is 18.0", response: "A: 18.0", target: "18", want: Correct},
		{name: "dollar", reason: "theirs has no match", response: "A: $18", target: "18", want: Correct},
		{name: "fraction", reason: "theirs is right: it reads 1", response: "A: 1/5", target: "1", want: Incorrect},
		{name: "scale", reason: "theirs is right: it reads 2", response: "A: 2 billion", target: "2", want: Incorrect},
		{name: "time", reason: "theirs is right: it reads 5", response: "A: 5:30", target: "5", want: Unparsed},
		{name: "no line", reason: "theirs is wrong; a finished solution has an answer", response: "She makes 9*2=<<9*2=18>>18 dollars.", target: "18", want: Correct},
		{name: "no line, cut", reason: "alike", response: "She makes 9*2=<<9*2=18>>18 dollars for the", target: "18", want: Unparsed},
	})
}
