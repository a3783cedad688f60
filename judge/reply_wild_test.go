package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
)

// A wildReply is a reply as judges write them, labelled by hand before it was
// read: what a person who knows what was offered (C, correct, I, incorrect)
// takes it for, and ungraded where two persons would not agree.
type wildReply struct {
	name, reply string
	want        grade.Mark
	reason      string // why that is right
}

// wildJSON are replies that hold JSON.
var wildJSON = []wildReply{
	{"schema, right", `{"reasoning":"Both name Paris.","verdict":"C"}`, right, "as asked"},
	{"schema, wrong", `{"reasoning":"It names Lyon.","verdict":"I"}`, wrong, "as asked"},
	{"indented", "{\n  \"reasoning\": \"Both name Paris.\",\n  \"verdict\": \"C\"\n}\n", right, "white space is nothing"},
	{"fence", "```json\n{\"reasoning\":\"It names Lyon.\",\"verdict\":\"I\"}\n```", wrong, "as many models do"},
	{"fence in capitals", "```JSON\n{\"verdict\":\"C\"}\n```", right, "the language tag is decoration"},
	{"fence without tag, prose before", "Here is my evaluation:\n\n```\n{\"verdict\": \"C\"}\n```", right, "prose that leads up to it"},
	{"prose before, no fence", "Sure! Here is the JSON:\n{\"reasoning\":\"same\",\"verdict\":\"C\"}", right, "prose that leads up to it"},
	{"on the line of the prose", `My verdict: {"verdict":"I"}`, wrong, "it ends the reply"},
	{"polite words behind it", "```json\n{\"verdict\":\"C\"}\n```\nLet me know if you need anything else!", right, "they say nothing about the answer"},
	{"reason behind it", "{\"verdict\":\"C\"}\n\n**Explanation:** The answer names the same city as the reference.", right, "it agrees"},
	{"second thoughts behind it", "{\"verdict\":\"C\"}\n\nWait, the answer says Lyon. That is incorrect.", none, "it takes the verdict back"},
	{"second thoughts without a key word", "```json\n{\"verdict\":\"C\"}\n```\nActually, on second thought the city differs.", none, "it takes the verdict back"},
	{"second thoughts, German", "{\"verdict\":\"C\"}\nHalt, das ist doch falsch.", none, "it takes the verdict back"},
	{"second thoughts, Chinese", "{\"verdict\":\"C\"}\n等等，这个答案是错误的。", none, "it takes the verdict back"},
	{"the template, refused", `I cannot reply {"reasoning": "why", "verdict": "C"} because the answer is missing.`, none, "talk about the form"},
	{"an object denied", `It is not {"verdict":"C"}.`, none, "denied"},
	{"an object denied behind it", `{"verdict":"C"} would be too generous here.`, none, "denied in its own line"},
	{"a failing object denied", `It is not {"verdict":"I"}.`, none, "denied"},
	{"a failing object spoken of", `{"verdict":"I"} would be too harsh: both name Paris.`, none, "denied in its own line"},
	{"failing, taken back", "{\"verdict\":\"I\"}\nWait, it does name Paris.", none, "it takes the verdict back"},
	{"failing, explained", "{\"verdict\":\"I\"}\nThe correct answer is Paris, but it names Lyon instead.", wrong, "it agrees"},
	{"announced as the answer's", "The answer ends with:\n```json\n{\"verdict\":\"C\"}\n```", none, "a quotation"},
	{"the form explained", "You want one of:\n{\"verdict\":\"C\"} if it is right\n{\"verdict\":\"I\"} if it is not", none, "the menu"},
	{"capital keys", `{"REASONING":"same","VERDICT":"C"}`, right, "case is nothing"},
	{"title case, spelled out", `{"Reasoning":"differs","Verdict":"Incorrect"}`, wrong, "case is nothing"},
	{"final_verdict", `{"analysis":"same city","final_verdict":"C"}`, right, "the same field with an adjective"},
	{"Final Verdict with a blank", `{"Analysis":"differs","Final Verdict":"I"}`, wrong, "the same field with an adjective"},
	{"finalGrade", `{"finalGrade":"C"}`, right, "the same field with an adjective"},
	{"grade", `{"grade":"C","explanation":"same"}`, right, "a synonym"},
	{"GRADE", `{"GRADE":"I"}`, wrong, "a synonym"},
	{"result", `{"result":"correct"}`, right, "a synonym with an offered word"},
	{"label", `{"label":"I"}`, wrong, "a synonym with an offered word"},
	{"result that is something else", `{"result":"42","verdict":"I"}`, wrong, "the result is the computation's"},
	{"label that is something else", `{"label":"cat"}`, none, "not on the menu"},
	{"verdict against result", `{"verdict":"C","result":"incorrect"}`, wrong, "a contradiction does not pass"},
	{"verdict against a result off the menu", `{"verdict":"C","result":"fail"}`, none, "it may take the verdict back"},
	{"verdict against label", `{"label":"I","verdict":"C"}`, wrong, "a contradiction does not pass"},
	{"verdict against final_verdict", `{"verdict":"C","final_verdict":"I"}`, wrong, "a contradiction does not pass"},
	{"verdict and its opposite field", `{"verdict":"C","incorrect":true}`, wrong, "a contradiction does not pass"},
	{"failed", `{"failed":true}`, wrong, "one field that says it"},
	{"pass and fail", `{"pass":true,"fail":true}`, wrong, "a contradiction does not pass"},
	{"true as text", `{"pass":"true"}`, right, "text that is true"},
	{"True as text", `{"correct":"True","reason":"same"}`, right, "text that is true"},
	{"FALSE as text", `{"is_correct":"FALSE"}`, wrong, "text that is false"},
	{"isCorrect", `{"isCorrect":false}`, wrong, "a spelling of is_correct"},
	{"Is Correct", `{"Is Correct":true}`, right, "a spelling of is_correct"},
	{"one", `{"pass":1}`, none, "no truth value"},
	{"yes", `{"correct":"yes"}`, none, "not offered"},
	{"verdict as a truth value", `{"verdict":true}`, right, "there is one thing that it can mean"},
	{"verdict as a false value", `{"verdict":false,"reasoning":"differs"}`, wrong, "there is one thing that it can mean"},
	{"verdict PASS", `{"verdict":"PASS"}`, none, "not offered"},
	{"verdict yes", `{"verdict":"yes"}`, none, "not offered"},
	{"verdict with its meaning", `{"verdict":"C: the answer is correct"}`, right, "as the menu lists it"},
	{"verdict with a wrong meaning", `{"verdict":"C: the answer is incorrect"}`, none, "it contradicts itself"},
	{"verdict, both words", `{"verdict":"C|I"}`, none, "the template"},
	{"verdict, nothing", `{"verdict":""}`, none, "no word"},
	{"verdict, partly", `{"verdict":"partially correct"}`, none, "not offered"},
	{"verdict, cannot tell", `{"verdict":"unknown"}`, none, "not offered"},
	{"verdict as a number", `{"verdict":1}`, none, "no word"},
	{"nested verdict", `{"evaluation":{"verdict":"C"}}`, none, "not in its place"},
	{"nested against outer", `{"checks":{"verdict":"I"},"verdict":"C"}`, none, "one of them does not pass"},
	{"a list of checks against outer", `{"criteria":[{"name":"city","pass":false}],"verdict":"C"}`, none, "one of them does not pass"},
	{"a list of checks with outer", `{"criteria":[{"name":"city","pass":true}],"verdict":"C"}`, right, "they agree"},
	{"failing outer, passing checks", `{"criteria":[{"name":"city","pass":true}],"verdict":"I"}`, wrong, "the outer one decides"},
	{"score of ten", `{"score":10,"verdict":"C"}`, none, "another scale"},
	{"score as a share in text", `{"score":"9/10"}`, none, "no number"},
	{"score of 1, wrong", `{"score":1,"verdict":"I"}`, wrong, "a contradiction does not pass"},
	{"confidence", `{"verdict":"C","confidence":0.2}`, right, "it says how sure, not what"},
	{"no verdict", `{"reasoning":"The answer is correct."}`, none, "prose"},
	{"array of one", `[{"verdict":"C"}]`, right, "one object"},
	{"array of two", `[{"verdict":"C"},{"verdict":"I"}]`, none, "they differ"},
	{"two equal", "{\"verdict\":\"I\"}\n{\"verdict\":\"I\"}", wrong, "they agree"},
	{"draft and final differ", "Draft:\n```json\n{\"verdict\":\"I\"}\n```\nFinal:\n```json\n{\"verdict\":\"C\"}\n```", none, "they differ"},
	{"Python", `{'reasoning': 'same', 'verdict': 'C'}`, none, "no JSON"},
	{"Python, then JSON", "{'verdict': 'I'}\n{\"verdict\":\"C\"}", none, "they differ"},
	{"malformed, then JSON", "{\"verdict\": \"I\",}\n{\"verdict\":\"C\"}", none, "they differ"},
	{"prose, Python, then a marker", "My check:\n{'pass': False}\nGRADE: C", none, "they differ"},
	{"Python truth", `{"pass": True}`, none, "no JSON"},
	{"comments", "{\n  \"verdict\": \"C\" // same city\n}", none, "no JSON"},
	{"line break in a string", "{\"reasoning\":\"one\ntwo\",\"verdict\":\"C\"}", none, "no JSON"},
	{"no quotes", `{verdict: C}`, none, "no JSON"},
	{"JSON lines cut", "{\"verdict\":\"C\"}\n{\"verdict\":", none, "it ends within JSON"},
	{"twice encoded", `"{\"verdict\":\"C\"}"`, none, "a string"},
	{"tool call in text", `<tool_call>{"name":"grade","arguments":{"verdict":"C"}}</tool_call>`, none, "not in its place"},
	{"function call in text", `{"name":"submit_verdict","parameters":{"verdict":"C"}}`, none, "not in its place"},
	{"schema echoed", `{"type":"object","properties":{"reasoning":{"type":"string"},"verdict":{"type":"string","enum":["C","I"]}},"required":["reasoning","verdict"]}`, none, "the schema itself"},
	{"form echoed", `{"reasoning": "why, in a few sentences", "verdict": "C or I"}`, none, "the form itself"},
	{"thoughts, then JSON", "<think>Maybe {\"verdict\":\"I\"}?</think>\n{\"verdict\":\"C\"}", right, "thoughts do not count"},
	{"reasoning that takes it back", `{"reasoning":"It names Lyon.\nGRADE: I","verdict":"C"}`, none, "two verdicts"},
	{"reasoning that says wrong, as a field", `{"reasoning":"Verdict: incorrect","verdict":"C"}`, none, "two verdicts"},
	{"reasoning that names a word", `{"reasoning":"It is not incorrect, since both name Paris.","verdict":"C"}`, right, "prose"},
	{"JSON and a marked line that agree", "{\"verdict\":\"I\"}\n\nGRADE: I", wrong, "they agree"},
	{"JSON and a marked line that differ", "{\"verdict\":\"C\"}\n\nGRADE: I", none, "they differ"},
	{"JSON and a headed verdict that differ", "**Verdict: Incorrect**\n```json\n{\"verdict\":\"C\"}\n```", none, "they differ"},
	{"empty object", "{}", none, "nothing"},
	{"null", "null", none, "nothing"},
	{"string", `"C"`, right, "the word alone, in quotation marks"},
	{"Unicode escapes", `{"verdict":"\u0043"}`, right, "the same letter"},
	{"NUL in the word", `{"verdict":"C\u0000"}`, none, "another word"},
	{"zero width in the word", "{\"verdict\":\"C\u200b\"}", right, "what cannot be seen is nothing"},
	{"Cyrillic word", `{"verdict":"С"}`, none, "it looks the same and is another"},
	{"Cyrillic key", `{"vеrdict":"I","verdict":"C"}`, right, "another key, as any"},
	{"stop token", "{\"verdict\":\"C\"}<|im_end|>", right, "some servers let it through"},
	{"end of sequence", "{\"verdict\":\"I\"}</s>", wrong, "some servers let it through"},
}

// wildLines are replies that end, or should end, with a marked line.
var wildLines = []wildReply{
	{"as asked, right", "The answer names Paris, as the reference does.\n\nGRADE: C", right, "as asked"},
	{"as asked, wrong", "The answer names Lyon.\n\nGRADE: I", wrong, "as asked"},
	{"bold marker", "Same city.\n\n**GRADE:** C", right, "emphasis"},
	{"bold word", "Same city.\n\nGRADE: **C**", right, "emphasis"},
	{"all bold", "It differs.\n\n**GRADE: I**", wrong, "emphasis"},
	{"bold before the colon", "**GRADE**: C", right, "emphasis"},
	{"italic", "_GRADE: I_", wrong, "emphasis"},
	{"bold italic", "***GRADE: C***", right, "emphasis"},
	{"heading 1", "# Evaluation\n\nSame.\n\n# GRADE: C", right, "a heading"},
	{"heading 3 and bold", "### **GRADE: I**", wrong, "a heading"},
	{"bullet", "- Question: capital\n- Answer: Paris\n- GRADE: C", right, "a list"},
	{"asterisk bullet", "* It differs\n* GRADE: I", wrong, "a list"},
	{"numbered", "1. The reference says Paris.\n2. The answer says Paris.\n3. GRADE: C", right, "a list"},
	{"numbered, bold", "1. It differs.\n2. **GRADE:** I", wrong, "a list"},
	{"final verdict before it", "Final verdict: GRADE: C", right, "words that lead up to it"},
	{"final verdict, bold", "**Final Verdict:** GRADE: I", wrong, "words that lead up to it"},
	{"my final grade", "My final GRADE: C", right, "words that lead up to it"},
	{"therefore", "Therefore, GRADE: I", wrong, "words that lead up to it"},
	{"conclusion", "In conclusion, GRADE: C", right, "words that lead up to it"},
	{"the answer before it", "The answer: GRADE: C", none, "a quotation"},
	{"final answer before it", "The final answer given was GRADE: C", none, "a quotation"},
	{"table", "| Criterion | Verdict |\n|---|---|\n| GRADE | C |", none, "no marked line"},
	{"table with a colon", "| GRADE: | C |", none, "no marked line"},
	{"full stop", "GRADE: C.", right, "punctuation"},
	{"Chinese full stop", "两者一致。\nGRADE: C。", right, "punctuation"},
	{"Chinese colon", "不一致。\nGRADE：I", wrong, "punctuation"},
	{"no blank", "GRADE:C", right, "white space is nothing"},
	{"blank before the colon", "GRADE : I", wrong, "white space is nothing"},
	{"dash", "GRADE - C", none, "no colon"},
	{"equals", "GRADE = C", none, "no colon"},
	{"trailing blanks", "GRADE: C   \n\n\n", right, "white space is nothing"},
	{"lower case", "grade: incorrect", wrong, "case is nothing"},
	{"spelled out in brackets", "GRADE: I (Incorrect)", wrong, "two spellings of one"},
	{"spelled out, letter in brackets", "GRADE: Correct (C)", right, "two spellings of one"},
	{"spelled out behind a dash", "GRADE: C - Correct", right, "two spellings of one"},
	{"meaning behind a colon", "GRADE: C: the answer is correct", right, "as the menu lists it"},
	{"meaning in brackets", "GRADE: I (the answer is incorrect)", wrong, "as the menu lists it"},
	{"meaning of the other", "GRADE: C (the answer is incorrect)", none, "it contradicts itself"},
	{"reason on the line", "GRADE: C because both name Paris", none, "not exactly a word"},
	{"doubt on the line", "GRADE: C, although the year is wrong", none, "not exactly a word"},
	{"conditional", "GRADE: C if spelling is ignored", none, "not exactly a word"},
	{"negated", "GRADE: not C", none, "not exactly a word"},
	{"letter grade C minus", "GRADE: C-", none, "a school grade"},
	{"letter grade C plus", "GRADE: C+", none, "a school grade"},
	{"letter grade A", "GRADE: A", none, "a school grade"},
	{"question mark", "GRADE: C?", none, "no decision"},
	{"struck out", "GRADE: ~~C~~", none, "taken back"},
	{"struck out, then the other", "~~GRADE: C~~\nGRADE: I", wrong, "the last line"},
	{"cross", "GRADE: C ❌", none, "it contradicts itself"},
	{"number", "GRADE: 1", none, "not offered"},
	{"percentage", "GRADE: 100%", none, "not offered"},
	{"PASS", "GRADE: PASS", none, "not offered"},
	{"yes", "GRADE: Yes", none, "not offered"},
	{"mostly", "GRADE: mostly correct", none, "not offered"},
	{"N/A", "GRADE: N/A", none, "not offered"},
	{"placeholder", "GRADE: <C or I>", none, "the template"},
	{"boxed", "GRADE: \\boxed{C}", right, "LaTeX is wrapping"},
	{"boxed in dollars", "GRADE: $\\boxed{\\text{I}}$", wrong, "LaTeX is wrapping"},
	{"in dollars", "GRADE: $C$", right, "LaTeX is wrapping"},
	{"boxed line", "$\\boxed{\\text{GRADE: C}}$", right, "LaTeX is wrapping"},
	{"boxed without marker", "The answers agree.\n\n\\boxed{C}", none, "no marker"},
	{"boxed other", "GRADE: \\boxed{CI}", none, "not offered"},
	{"boxed and other", "GRADE: \\boxed{C} \\boxed{I}", none, "two words"},
	{"angle brackets", "GRADE: <C>", right, "brackets"},
	{"opened bracket only", "GRADE: C (", none, "cut, who knows before what"},
	{"comma at the end", "GRADE: C,", none, "cut, who knows before what"},
	{"stop token", "GRADE: C<|im_end|>", right, "some servers let it through"},
	{"Llama's stop token", "It differs.\nGRADE: I<|eot_id|>", wrong, "some servers let it through"},
	{"Gemma's stop token", "GRADE: C<end_of_turn>", right, "some servers let it through"},
	{"end of sequence", "GRADE: C</s>", right, "some servers let it through"},
	{"box tokens", "GRADE: <|begin_of_box|>C<|end_of_box|>", right, "GLM marks its answers so"},
	{"runs on into another turn", "GRADE: C<|im_end|>\n<|im_start|>user\nThank you", none, "not the last line"},
	{"explanation behind it", "GRADE: C\n\nExplanation: both name Paris.", none, "not the last line"},
	{"explanation that takes it back", "GRADE: C\n\nHowever, the answer is about Lyon.", none, "not the last line"},
	{"twice", "GRADE: C\n\nTo sum up, they agree.\n\nGRADE: C", right, "they agree"},
	{"changed to wrong", "GRADE: C\nWait, it says Lyon.\nGRADE: I", wrong, "the last line, and it does not pass"},
	{"changed to right", "GRADE: I\nWait, it says Paris.\nGRADE: C", none, "a contradiction does not pass"},
	{"headed otherwise", "**Verdict: Incorrect**\n\nGRADE: C", none, "a contradiction does not pass"},
	{"headed otherwise, JSON-like", "is_correct: false\nGRADE: C", none, "a contradiction does not pass"},
	{"headed alike", "**Verdict: Correct**\n\nGRADE: C", right, "they agree"},
	{"headed wrong twice", "Verdict: incorrect\nGRADE: I", wrong, "they agree"},
	{"in a quotation", "> GRADE: C", none, "a quotation"},
	{"in the middle of a sentence", "I would write GRADE: C", none, "not a line of its own"},
	{"announced as the answer's", "The response ends with the line:\nGRADE: C", none, "a quotation"},
	{"announced as the answer's 2", "The candidate wrote:\n\n**GRADE: C**", none, "a quotation"},
	{"announced as an instruction", "The text instructs me to output:\nGRADE: C", none, "a quotation"},
	{"announced as its own", "Here is my verdict:\nGRADE: C", right, "its own"},
	{"fenced at the end", "The answer contains this:\n```\nGRADE: C\n```", none, "a quotation"},
	{"fenced whole", "```text\nGRADE: I\n```", wrong, "decoration"},
	{"tilde fence whole", "~~~\nGRADE: C\n~~~", right, "decoration"},
	{"one-line fence", "```GRADE: C```", right, "decoration"},
	{"verdict as the marker", "Verdict: C", none, "not the marker"},
	{"answer as the marker", "Answer: C", none, "not the marker"},
	{"score as the marker", "Score: 1", none, "not the marker"},
	{"rating", "Rating: [[C]]", none, "not the marker"},
	{"GRADES", "GRADES: C", none, "not the marker"},
	{"German", "Die Antwort ist richtig.\nGRADE: C", right, "the prose may be any language"},
	{"German word", "GRADE: Richtig", none, "not offered"},
	{"French marker", "NOTE : C", none, "not the marker"},
	{"Spanish", "La respuesta es incorrecta.\nGRADE: I", wrong, "the prose may be any language"},
	{"Russian", "Ответ верный.\nGRADE: C", right, "the prose may be any language"},
	{"Russian word", "GRADE: верно", none, "not offered"},
	{"Arabic with marks", "الإجابة صحيحة\n\u200fGRADE: C\u200f", right, "marks of direction are nothing"},
	{"Japanese word", "GRADE: 正解", none, "not offered"},
	{"Korean", "정답입니다.\nGRADE: C", right, "the prose may be any language"},
	{"Thai marker", "เกรด: C", none, "not the marker"},
	{"Turkish dotless i", "GRADE: ı", none, "another letter"},
	{"Turkish dotted I", "GRADE: İ", none, "another letter"},
	{"bold mathematical letter", "GRADE: 𝐂", none, "another letter"},
	{"roman numeral one", "GRADE: Ⅰ", none, "another letter"},
	{"lower case l", "GRADE: l", none, "another letter"},
	{"no-break and thin blanks", "GRADE:\u00a0\u2009C\u202f", right, "blanks"},
}

// wildOthers are thoughts, whole replies of a word, refusals and nothing.
var wildOthers = []wildReply{
	{"think block", "<think>\nCould be GRADE: I.\n</think>\n\nSame city.\nGRADE: C", right, "thoughts do not count"},
	{"thinking block", "<thinking>The grade is C</thinking>\nGRADE: I", wrong, "thoughts do not count"},
	{"think never ends", "<think>\nIt matches.\nGRADE: C", none, "unfinished"},
	{"think only", "<think>GRADE: C</think>\n", none, "nothing behind it"},
	{"think ends with the verdict", "<think>It differs</think>GRADE: I", wrong, "behind the block"},
	{"closing tag alone", "It may be C.\nGRADE: C\n</think>\n\nGRADE: I", wrong, "the template opened it"},
	{"Mistral's thoughts", "[THINK]It matches.\nGRADE: C[/THINK]It differs.\nGRADE: I", wrong, "the last line"},
	{"Mistral's thoughts never end", "[THINK]\nHm, the city matches.\nGRADE: C", none, "unfinished"},
	{"Kimi's thoughts never end", "◁think▷\nHm, the city matches.\nGRADE: C", none, "unfinished"},
	{"harmony", "<|channel|>analysis<|message|>maybe GRADE: I<|end|><|start|>assistant<|channel|>final<|message|>GRADE: C", right, "the final channel"},
	{"harmony, analysis only", "<|channel|>analysis<|message|>It matches.\nGRADE: C", none, "unfinished"},
	{"letter", "C", right, "the word alone"},
	{"letter and stop", "I.", wrong, "the word alone"},
	{"word", "Incorrect", wrong, "the word alone"},
	{"bold word", "**Correct**", right, "the word alone"},
	{"word in quotation marks", "“incorrect”", wrong, "the word alone"},
	{"word with exclamation mark", "Correct!", right, "the word alone"},
	{"letter with meaning", "C: the answer is correct", right, "as the menu lists it"},
	{"letter and word", "C (correct)", right, "two spellings of one"},
	{"letter bracket", "C)", none, "an option of a multiple choice"},
	{"sentence", "The answer is correct.", right, "it says one of the words"},
	{"sentence, wrong", "The response is incorrect", wrong, "it says one of the words"},
	{"sentence with a letter", "The answer is C.", none, "the judge may be answering a multiple choice"},
	{"sentence with a letter 2", "It is C", none, "the judge may be answering a multiple choice"},
	{"sentence with a letter 3", "I choose C", none, "the judge may be answering a multiple choice"},
	{"my grade", "My grade is C.", right, "a grade"},
	{"the grade", "The grade is I", wrong, "a grade"},
	{"not correct", "The answer is not correct.", none, "negated"},
	{"not incorrect", "Not incorrect", none, "negated"},
	{"isn't correct", "The answer isn't correct.", none, "negated"},
	{"hardly correct", "hardly correct", none, "negated"},
	{"word and reason", "Correct. Both name Paris.", none, "no marker"},
	{"word, newline, reason", "Incorrect\n\nIt names Lyon.", none, "no marker"},
	{"reason, word", "Both name Paris, so it is correct.", none, "no marker"},
	{"both words", "Correct or incorrect?", none, "no decision"},
	{"question", "Is it correct?", none, "no decision"},
	{"yes", "Yes.", none, "not offered"},
	{"no", "No", none, "not offered"},
	{"true", "True", none, "not offered"},
	{"check mark", "✅", none, "not offered"},
	{"number", "1", none, "not offered"},
	{"option list", "C\nI", none, "both"},
	{"word twice", "C C", none, "not a word"},
	{"I as a pronoun", "I", wrong, "the word alone"},
	{"I as a pronoun, cut", "I cannot", none, "a sentence"},
	{"apology", "I apologize, but I cannot evaluate this answer.", none, "a refusal"},
	{"refusal", "I'm sorry, I can't help with that.", none, "a refusal"},
	{"refusal in JSON", `{"error":"content policy"}`, none, "a refusal"},
	{"refusal with the form", "I cannot comply. The format would be GRADE: C or GRADE: I.", none, "a refusal"},
	{"asks back", "Please provide the answer that you would like me to grade.", none, "nothing decided"},
	{"answers the question itself", "The capital of France is Paris.", none, "nothing decided"},
	{"answers with a final answer", "#### 42", none, "nothing decided"},
	{"answers in the answer's place", "ANSWER: C", none, "the judge may be answering a multiple choice"},
	{"repeats the prompt", "The verdicts are:\nC: the answer is correct\nI: the answer is incorrect", none, "the menu"},
	{"repeats the rule", "End your reply with a last line that is GRADE: and exactly one of C or I, such as\nGRADE: C", none, "the form"},
	{"empty", "", none, "nothing"},
	{"blanks", " \t\r\n ", none, "nothing"},
	{"zero widths", "\u200b\u200b\ufeff", none, "nothing"},
	{"fence without content", "```json\n```", none, "nothing"},
	{"stop token alone", "<|im_end|>", none, "nothing"},
	{"dots", "...", none, "nothing"},
	{"NUL", "\x00", none, "nothing"},
	{"loop", strings.Repeat("GRADE: ", 500), none, "no word"},
	{"loop of verdicts", strings.Repeat("GRADE: C\nGRADE: I\n", 100), wrong, "the last line, and it does not pass"},
	{"loop of verdicts, cut", strings.Repeat("GRADE: I\nGRADE: C\n", 100), none, "a contradiction does not pass"},
	{"error page", "<html><body><h1>502 Bad Gateway</h1></body></html>", none, "nothing"},
	{"XML", "<verdict>C</verdict>", none, "not asked for"},
	{"YAML", "reasoning: same\nverdict: C", none, "not asked for"},
	{"YAML with the marker", "reasoning: same\ngrade: C", right, "the marker, whatever its case"},
}

func TestParseReplyWild(t *testing.T) {
	seen := map[string]bool{}
	n := 0
	for theme, rows := range map[string][]wildReply{"JSON": wildJSON, "lines": wildLines, "others": wildOthers} {
		t.Run(theme, func(t *testing.T) {
			for _, row := range rows {
				require.NotEmpty(t, row.reason, row.name)
				require.False(t, seen[theme+row.name], row.name)
				seen[theme+row.name] = true
				n++
				t.Run(row.name, func(t *testing.T) {
					v, _ := judge.ParseResponse(llm.Response{Text: row.reply, Finish: llm.FinishStop})
					assert.Equal(t, row.want, v.Mark, "%.200q: %s; %s", row.reply, row.reason, v.Why)
					cut, _ := judge.ParseResponse(llm.Response{Text: row.reply, Finish: llm.FinishLength})
					assert.Equal(t, none, cut.Mark, "cut at a limit")
				})
			}
		})
	}
	require.Greater(t, n, 250)
}

// TestCutAnywhere: a reply that ends early is never another verdict than the
// whole one, whether or not the provider says that it was cut.
func TestCutAnywhere(t *testing.T) {
	for _, row := range []struct {
		name, reply string
		want        grade.Mark
	}{
		{"JSON, right", `{"reasoning":"Both \"name\" Paris: {it}.","verdict":"C"}`, right},
		{"JSON, wrong", "```json\n{\n  \"reasoning\": \"It names Lyon\",\n  \"pass\": false,\n  \"score\": 0\n}\n```\nHope that helps.", wrong},
		{"contradiction", `{"pass":true,"score":0.2}`, wrong},
		{"line, right", "Both name Paris.\n\n**GRADE:** C (correct)\n", right},
		{"line, wrong", "It names Lyon.\n\n**Final GRADE: Incorrect**", wrong},
		{"thoughts", "<think>Perhaps GRADE: C? No.</think>\nIt names Lyon.\nGRADE: I", wrong},
		{"LaTeX", `GRADE: $\boxed{\text{I}}$`, wrong},
		{"second thoughts", "GRADE: I\nWait, no.\nGRADE: I", wrong},
		{"meaning", "GRADE: I (the answer is incorrect)", wrong},
	} {
		t.Run(row.name, func(t *testing.T) {
			whole, _ := judge.ParseReply(row.reply)
			require.Equal(t, row.want, whole.Mark, whole.Why)
			for i := range row.reply {
				v, _ := judge.ParseResponse(llm.Response{Text: row.reply[:i], Finish: llm.FinishStop})
				assert.Contains(t, []grade.Mark{row.want, none}, v.Mark, "%q", row.reply[:i])
				v, _ = judge.ParseResponse(llm.Response{Text: row.reply[:i], Finish: llm.FinishLength})
				assert.Equal(t, none, v.Mark, "%q", row.reply[:i])
			}
		})
	}
}
