package judge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
)

// marks are the expectations of the shared cases.
var marks = map[string]grade.Mark{"pass": grade.Correct, "fail": grade.Incorrect, "ungraded": grade.Ungraded}

// A fixture is a judge's reply of the shared cases.
type fixture struct {
	ID, Title, Reply string
	Want             grade.Mark
}

// fixtures are the replies of all cases about judges.
func fixtures(t *testing.T) []fixture {
	t.Helper()
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(dir, "cases", "cases.json"))
	if os.IsNotExist(err) {
		t.Skip("cases/cases.json is not here; it lies beside the project, in the folder that EVALTEST_SHARED names (default ../shared)")
	}
	require.NoError(t, err)
	var cases []struct {
		ID, Area, Title string
		Fixtures        []struct {
			Reply  *string `json:"judge_reply"`
			Expect any
		}
	}
	require.NoError(t, json.Unmarshal(text, &cases))
	var all []fixture
	for _, c := range cases {
		for _, f := range c.Fixtures {
			if c.Area != "judge" || f.Reply == nil {
				continue
			}
			want, _ := f.Expect.(string)
			require.Contains(t, marks, want, c.ID)
			all = append(all, fixture{c.ID, c.Title, *f.Reply, marks[want]})
		}
	}
	require.Greater(t, len(all), 10)
	return all
}

func TestParseReplyCases(t *testing.T) {
	for _, f := range fixtures(t) {
		v, r := judge.ParseReply(f.Reply)
		assert.Equal(t, f.Want, v.Mark, "%s %s: %q: %s", f.ID, f.Title, f.Reply, v.Why)
		assert.NoError(t, v.Check())
		assert.Equal(t, f.Reply, r.Reply)
		assert.Equal(t, v.Mark != grade.Ungraded, r.Legal)
	}
}

const (
	right = grade.Correct
	wrong = grade.Incorrect
	none  = grade.Ungraded
)

// TestParseReply: rows of the same kinds as the cases, and of others.
func TestParseReply(t *testing.T) {
	rows := []struct {
		name, reply string
		want        grade.Mark
		reason      grade.Reason // of the verdict; "" for any
		why         string       // why that is right
	}{
		// J01, J02: fields of JSON.
		{"pass alone", `{"pass":true}`, right, "", "one field is enough"},
		{"fail alone", `{"pass":false}`, wrong, grade.ReasonWrong, ""},
		{"score of 1", `{"score":1}`, right, "", ""},
		{"score of 0 as 0.0", `{"score":0.0}`, wrong, grade.ReasonWrong, "the same number"},
		{"high score", `{"score":0.9,"reason":"nearly"}`, right, "", "above one half"},
		{"low score", `{"score":0.3}`, wrong, "", ""},
		{"half a score", `{"score":0.5}`, none, judge.ReasonOffMenu, "neither"},
		{"pass with half a score", `{"pass":true,"score":0.5}`, right, "", "the score does not contradict"},
		{"pass with a low score", `{"pass":true,"score":0.49}`, wrong, judge.ReasonContradictory, "both must hold"},
		{"fail with a full score", `{"pass":false,"score":1}`, wrong, judge.ReasonContradictory, ""},
		{"score beyond 1", `{"pass":true,"score":8}`, none, judge.ReasonOffMenu, "another scale"},
		{"negative score", `{"score":-1}`, none, judge.ReasonOffMenu, ""},
		{"huge score", `{"score":1e999}`, none, judge.ReasonOffMenu, ""},
		{"score as text", `{"score":"1"}`, none, judge.ReasonOffMenu, ""},
		{"null", `{"pass":null,"score":1}`, none, judge.ReasonOffMenu, "null is no verdict, and no absence either"},
		{"pass as a number", `{"pass":1}`, none, judge.ReasonOffMenu, ""},
		{"pass as text", `{"pass":"false"}`, wrong, "", "a text that is not empty is not true"},
		{"pass in words", `{"pass":"absolutely"}`, none, judge.ReasonOffMenu, ""},
		{"verdict", `{"reasoning":"same","verdict":"C"}`, right, "", ""},
		{"verdict spelled out", `{"verdict":"Incorrect"}`, wrong, "", ""},
		{"verdict off the menu", `{"verdict":"CI"}`, none, judge.ReasonOffMenu, ""},
		{"verdict as a list", `{"verdict":["C"]}`, none, judge.ReasonOffMenu, ""},
		{"verdict against pass", `{"verdict":"C","pass":false}`, wrong, judge.ReasonContradictory, ""},
		{"two passes", `{"pass":true,"passed":false}`, wrong, judge.ReasonContradictory, ""},
		{"verdict against score", `{"verdict":"C","score":0}`, wrong, judge.ReasonContradictory, ""},
		{"two verdicts", `{"verdict":"C","grade":"I"}`, wrong, judge.ReasonContradictory, ""},
		{"a key twice", `{"pass":false,"pass":true}`, none, grade.ReasonDuplicateKey, "readers disagree"},
		{"a key twice, in two cases", `{"pass":false,"Pass":true}`, none, grade.ReasonDuplicateKey, ""},
		{"a key twice by an escape", `{"pass":false,"p\u0061ss":true}`, none, grade.ReasonDuplicateKey, ""},
		{"reason twice", `{"reason":"a","reason":"b","pass":true}`, right, "", "nothing depends on it"},
		{"no field", `{}`, none, judge.ReasonNoVerdict, ""},
		{"nested", `{"result":{"pass":true}}`, none, judge.ReasonNoVerdict, "not in its place"},
		{"in a string", `{"reason":"it says {\"pass\":true}"}`, none, judge.ReasonNoVerdict, ""},
		{"marker in a string", `{"reason":"GRADE: C"}`, none, judge.ReasonNoVerdict, ""},
		{"think in a string", `{"reason":"it wrote <think>","pass":false}`, wrong, "", "is text"},
		{"objects that differ", "{\"pass\":true}\n{\"pass\":false}", none, judge.ReasonAmbiguous, ""},
		{"objects that agree", "Draft: {\"pass\":true}\nFinal: {\"pass\":true,\"score\":1}", right, "", ""},
		{"other object beside it", `The data {"a":1} is right. {"pass":true}`, right, "", ""},
		{"JSON against a marker", "{\"pass\":true}\nGRADE: I", none, judge.ReasonAmbiguous, ""},
		{"JSON with a marker", "{\"pass\":true}\nGRADE: C", right, "", ""},
		{"JSON with a bad marker", "{\"pass\":true}\nGRADE: CI", none, judge.ReasonAmbiguous, ""},
		{"more objects than a reply has", strings.Repeat(`{"pass":true}`, 65), none, judge.ReasonAmbiguous, "noise"},
		{"single quotes", `{'pass': true}`, none, judge.ReasonMalformed, ""},
		{"trailing comma", `{"pass": true,}`, none, judge.ReasonMalformed, ""},
		{"malformed, then a marker", "{'pass': False}\nGRADE: C", none, judge.ReasonMalformed, "what it said in the JSON counts"},
		{"cut in a fence", "```json\n{\"pass\": true, \"reason\": \"the", none, judge.ReasonTruncated, ""},
		{"cut after a verdict", `{"pass": true, "score": 1`, none, judge.ReasonTruncated, "a prefix is no reply"},
		{"array", `[{"pass":true},{"pass":false}]`, none, judge.ReasonAmbiguous, ""},
		// J10: fences.
		{"fence on one line", "```json {\"pass\": true}```", right, "", ""},
		{"fence with tildes", "~~~\n{\"pass\": false}\n~~~", wrong, "", ""},
		{"fenced marker", "```\nGRADE: C\n```", right, "", "the fence is decoration"},
		{"byte order mark", "\ufeff{\"pass\":true}", right, "", ""},
		// J05, J07: the marker.
		{"marker", "It matches.\nGRADE: C", right, "", ""},
		{"marker I", "It differs.\nGRADE: I", wrong, grade.ReasonWrong, ""},
		{"incorrect contains correct", "GRADE: Incorrect", wrong, "", ""},
		{"bold", "**GRADE: C**", right, "", ""},
		{"bold marker", "**GRADE:** C", right, "", ""},
		{"code", "`GRADE: I`", wrong, "", ""},
		{"heading", "### Final GRADE: **C**.", right, "", ""},
		{"in quotes", `GRADE: "C"`, right, "", ""},
		{"in brackets", "GRADE: [C]", right, "", ""},
		{"both spellings", "GRADE: C (correct)", right, "", ""},
		{"spellings that differ", "GRADE: C (incorrect)", none, judge.ReasonOffMenu, ""},
		{"both letters", "GRADE: C/I", none, judge.ReasonOffMenu, ""},
		{"the template", "GRADE: C or I", none, judge.ReasonOffMenu, ""},
		{"would be wrong", "GRADE: C would be wrong", none, judge.ReasonOffMenu, ""},
		{"not correct", "GRADE: not correct", none, judge.ReasonOffMenu, ""},
		{"partially correct", "GRADE: partially correct", none, judge.ReasonOffMenu, ""},
		{"another letter", "GRADE: B", none, judge.ReasonOffMenu, ""},
		{"no word", "GRADE:", none, judge.ReasonOffMenu, ""},
		{"word in the next line", "**GRADE:**\nC", right, "", ""},
		{"other key", "**Answer: C**", none, judge.ReasonNoVerdict, "not what was offered"},
		{"no colon", "GRADE C", none, judge.ReasonNoVerdict, ""},
		{"downgrade", "downgrade: C", none, judge.ReasonNoVerdict, "GRADE is bounded"},
		{"upgrade", "I would upGRADE: C", none, judge.ReasonNoVerdict, ""},
		{"grades", "GRADES: C", none, judge.ReasonNoVerdict, ""},
		{"zero width", "GRADE\u200b:\u200b C\u200b", right, "", "what cannot be seen is nothing"},
		{"zero width in the marker", "G\u200bRADE: I", wrong, "", ""},
		{"no-break space", "GRADE\u00a0:\u00a0C", right, "", ""},
		{"full-width colon", "GRADE： C", right, "", ""},
		{"full-width letter", "GRADE: Ｃ", none, judge.ReasonOffMenu, "another character"},
		{"Cyrillic letter", "GRADE: С", none, judge.ReasonOffMenu, "it looks the same and is another"},
		{"right to left", "GRADE: \u202eC", none, judge.ReasonOffMenu, "what is seen may be another"},
		{"other language", "GRADE: richtig", none, judge.ReasonOffMenu, ""},
		{"other language 2", "GRADE: 正确", none, judge.ReasonOffMenu, ""},
		{"last one counts", "GRADE: C\nNo, the sign differs.\nGRADE: I", wrong, "", ""},
		{"contradiction never passes", "GRADE: I\nOn reflection it is fine.\nGRADE: C", none, judge.ReasonAmbiguous, ""},
		{"last one is no word", "GRADE: C\nGRADE: unsure", none, judge.ReasonOffMenu, "an earlier one is never used"},
		{"middle of the line", "The answer ends with GRADE: C", none, judge.ReasonNoVerdict, "a quotation"},
		{"text behind it", "The answer says:\nGRADE: C\nThat is an injection. I give no grade.", none, judge.ReasonNoVerdict, "a quotation"},
		{"quoted line", "It says:\n> GRADE: C", none, judge.ReasonNoVerdict, ""},
		{"fenced quotation", "It says:\n```\nGRADE: C\n```", none, judge.ReasonNoVerdict, ""},
		{"rule behind it", "GRADE: C\n---\n", right, "", "no word follows"},
		{"carriage returns", "It matches.\r\nGRADE: C\r\n", right, "", ""},
		// J13: the whole reply.
		{"one word", "CORRECT.", right, "", ""},
		{"one letter", " c\n", right, "", ""},
		{"sentence", "This is incorrect.", wrong, "", ""},
		{"article", "This is a", none, judge.ReasonNoVerdict, ""},
		{"not correct, whole", "The answer is not correct", none, judge.ReasonNoVerdict, ""},
		{"isn't", "It's not correct.", none, judge.ReasonNoVerdict, ""},
		{"question", "Correct?", none, judge.ReasonNoVerdict, ""},
		{"yes", "Yes", none, judge.ReasonNoVerdict, "was not offered"},
		{"bare last line", "The answer matches.\nCorrect", none, judge.ReasonNoVerdict, "no marker"},
		{"blank", " \n\u200b\t", none, judge.ReasonEmpty, ""},
		// Reasoning.
		{"closed block", "<think>GRADE: I</think>\nGRADE: C", right, "", "thoughts do not count"},
		{"open block", "<think>It matches.\nGRADE: C", none, judge.ReasonIncomplete, "never left"},
		{"only a block", "<think>GRADE: C</think>", none, judge.ReasonIncomplete, ""},
		{"end of a block", "It might be right. GRADE: C\n</think>\nGRADE: I", wrong, "", "the template opened it"},
		{"JSON behind a block", "<think>hm</think>{\"pass\":false}", wrong, "", ""},
		{"JSON in a block", "<think>{\"pass\":true}</think>", none, judge.ReasonIncomplete, ""},
		{"invalid bytes", "\xff\xfeGRADE: C\xff", none, "", ""},
	}
	seen := map[string]bool{}
	for _, row := range rows {
		require.False(t, seen[row.name], row.name)
		seen[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			v, r := judge.ParseReply(row.reply)
			require.Equal(t, row.want, v.Mark, "%q: %s: %s", row.reply, row.why, v.Why)
			if row.reason != "" {
				assert.Equal(t, row.reason, v.Reason, v.Why)
			}
			if v.Mark != right {
				assert.NotEmpty(t, v.Why)
				assert.NotEmpty(t, v.Reason)
			}
			assert.NotEmpty(t, v.How)
			assert.Equal(t, row.reply, r.Reply, "the raw reply is kept")
		})
	}
}

func TestParseResponseFinish(t *testing.T) {
	const good = `{"pass":true,"score":1}`
	for _, row := range []struct {
		name   string
		resp   llm.Response
		want   grade.Mark
		reason grade.Reason
	}{
		{"stop", llm.Response{Text: good, Finish: llm.FinishStop}, right, ""},
		{"none", llm.Response{Text: good}, right, ""},
		{"unknown", llm.Response{Text: good, Finish: "eos"}, right, ""},
		{"length (J11)", llm.Response{Text: good, Finish: llm.FinishLength}, none, judge.ReasonTruncated},
		{"length, marker (J11)", llm.Response{Text: "GRADE: C", Finish: llm.FinishLength}, none, judge.ReasonTruncated},
		{"length, empty (J11)", llm.Response{Finish: llm.FinishLength}, none, judge.ReasonTruncated},
		{"filter", llm.Response{Text: good, Finish: llm.FinishContentFilter}, none, judge.ReasonBlocked},
		{"refusal", llm.Response{Text: good, Finish: llm.FinishRefusal}, none, judge.ReasonRefused},
		{"refusal field", llm.Response{Text: good, Refusal: "no"}, none, judge.ReasonRefused},
		{"tool", llm.Response{Text: good, ToolCalls: []llm.ToolCall{{Name: "grade"}}}, none, judge.ReasonNoVerdict},
		{"thoughts", llm.Response{Reasoning: "GRADE: C"}, none, judge.ReasonEmpty},
	} {
		t.Run(row.name, func(t *testing.T) {
			v, _ := judge.ParseResponse(row.resp)
			assert.Equal(t, row.want, v.Mark, v.Why)
			assert.Equal(t, row.reason, v.Reason)
		})
	}
}

func TestParseReplyChoices(t *testing.T) {
	abc := []judge.Choice{
		{Word: "A", Mark: right, Score: 1}, {Word: "B", Mark: wrong, Score: 0.5}, {Word: "C", Mark: wrong},
		{Word: "U", Also: []string{"cannot tell"}, Mark: none},
	}
	for _, row := range []struct {
		reply, word string
		score       float64
		mark        grade.Mark
	}{
		{"This is a B", "B", 0.5, wrong}, // J13
		{"This is a", "", 0, none},
		{"This is an A.", "A", 1, right},
		{"GRADE: b", "B", 0.5, wrong},
		{"GRADE: Correct", "", 0, none},
		{"GRADE: cannot tell", "U", 0, none},
		{`{"score":0.5}`, "B", 0.5, wrong},
		{`{"score":0.7}`, "", 0, none},
		{`{"verdict":"B","score":0.5}`, "B", 0.5, wrong},
		{`{"verdict":"A","verdict":"B"}`, "", 0, none},
		{`{"verdict":"B","grade":"C"}`, "", 0, none},
	} {
		v, r := judge.ParseReply(row.reply, abc...)
		assert.Equal(t, row.mark, v.Mark, row.reply)
		assert.Equal(t, row.word, r.Choice.Word, "%s: %s", row.reply, v.Why)
		assert.Equal(t, row.score, v.Score, row.reply)
	}
	// A menu without a verdict that passes: true and scores say nothing.
	sides := []judge.Choice{{Word: "first", Mark: right, Score: 1}, {Word: "second", Mark: right, Score: 1}}
	v, r := judge.ParseReply(`{"pass":true,"score":1}`, sides...)
	assert.Equal(t, none, v.Mark)
	v, r = judge.ParseReply(`{"verdict":"second","score":0}`, sides...)
	assert.Equal(t, right, v.Mark)
	assert.Equal(t, "second", r.Choice.Word)
	// Nor does "wrong" say anything against one side.
	v, _ = judge.ParseReply("{\"verdict\":\"second\"}\nThe first one is wrong, but close.", sides...)
	assert.Equal(t, right, v.Mark, v.Why)
	v, _ = judge.ParseReply("Verdict: first\nGRADE: second", sides...)
	assert.Equal(t, none, v.Mark)
}

// mayPass is what a reply must hold to pass, told in another way than the
// parser's: a legal word, a true or a number.
var mayPass = regexp.MustCompile(`(?i)(^|[^a-z])c(orrect)?([^a-z]|$)|true|\d`)

func FuzzParseReply(f *testing.F) {
	for _, s := range []string{
		"GRADE: C", "GRADE: CI", `{"pass":true,"score":0}`, "```json\n{\"verdict\":\"C\"}\n```", "<think>x</think>GRADE: I",
		"This is a B", "{{{{[[[", `{"a":{"a":{"a":`, "GRADE\u200b:\u200b C", "\xff", "GRADE:\n", "{\"verdict\":\"\\u0043\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		v, r := judge.ParseReply(reply)
		require.NoError(t, v.Check())
		require.Equal(t, reply, r.Reply)
		again, _ := judge.ParseReply(reply)
		require.Equal(t, v, again)
		switch v.Mark {
		case right:
			seen := strings.Map(func(r rune) rune {
				if strings.ContainsRune("\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", r) || r >= 0xfe00 && r <= 0xfe0f {
					return -1
				}
				return r
			}, reply)
			if !strings.Contains(reply, `\u`) {
				require.Regexp(t, mayPass, seen)
			}
			cut, _ := judge.ParseResponse(llm.Response{Text: reply, Finish: llm.FinishLength})
			require.Equal(t, none, cut.Mark)
		case wrong, none:
			require.NotEmpty(t, v.Why)
		default:
			t.Fatalf("mark %q", v.Mark)
		}
	})
}

// TestParseReplyIsLinear: the time of hostile replies grows with their length.
func TestParseReplyIsLinear(t *testing.T) {
	const n = 50_000
	for name, reply := range map[string]string{
		"braces":      strings.Repeat("{", n),
		"objects":     strings.Repeat(`{"a":`, n),
		"pairs":       strings.Repeat(`{"a":1}`, n),
		"verdicts":    strings.Repeat(`{"pass":true}`, n),
		"half pairs":  strings.Repeat(`{"a":1,`, n),
		"markers":     strings.Repeat("GRADE: C\n", n),
		"leads":       strings.Repeat("final ", n) + "GRADE: C",
		"no newline":  strings.Repeat("GRADE: ", n),
		"fences":      strings.Repeat("```\n", n),
		"tags":        strings.Repeat("<think>", n),
		"claims":      strings.Repeat("verdict: ", n) + `{"pass":true}`,
		"claims 2":    strings.Repeat("verdict: x,\n", n) + "GRADE: C",
		"announced":   strings.Repeat("it says ", n) + ":\nGRADE: C",
		"inner":       `{"pass":true,"a":` + strings.Repeat(`{"pass":true,"a":`, n/10) + "1" + strings.Repeat("}", n/10) + "}",
		"behind":      `{"pass":true}` + strings.Repeat("\nit is so", n/5),
		"stops":       "GRADE: C" + strings.Repeat("<|im_end|>", n),
		"wrapped":     "GRADE: " + strings.Repeat("(", n) + "C" + strings.Repeat(")", n),
		"zero widths": strings.Repeat("\u200b", n),
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := judge.ParseReply(reply)
			assert.NoError(t, v.Check())
		})
	}
}
