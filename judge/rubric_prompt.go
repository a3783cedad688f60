package judge

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// rubricRole tells the judge what it is; the weights are not told, so that it
// cannot aim at a score.
const rubricRole = "You grade an answer by a list of criteria. You are given a question and one answer to it%s. " +
	"Each criterion is a statement about the answer: say of each, by itself, whether it is so: yes, partly or no. Be strict: what is not there is not so."

// answers is what each criterion is answered with.
var answers = menu{
	{Word: "yes", Mark: grade.Correct, Score: 1},
	{Word: "partly", Also: []string{"partially"}, Mark: grade.Incorrect, Score: 0.5},
	{Word: "no", Mark: grade.Incorrect},
}

// A rubricForm is some criteria that are asked about in one call.
type rubricForm struct {
	criteria   []Criterion
	index      map[string]int // by name in lower case
	strict     bool
	schema     *llm.Schema
	json, line string
}

func newRubricForm(criteria []Criterion, strict bool) rubricForm {
	f := rubricForm{criteria: criteria, index: map[string]int{}, strict: strict}
	var properties, required, sample, lines []string
	for i, c := range criteria {
		f.index[strings.ToLower(c.Name)] = i
		required = append(required, `"`+c.Name+`"`)
		properties = append(properties, `"`+c.Name+`":{"type":"object","properties":{"reason":{"type":"string"},"quote":{"type":"string"},`+
			`"answer":{"type":"string","enum":["yes","partly","no"]}},"required":["reason","quote","answer"],"additionalProperties":false}`)
		sample = append(sample, `"`+c.Name+`": {"reason": "…", "quote": "…", "answer": "…"}`)
		lines = append(lines, marker+" "+c.Name+`: … | "…"`)
	}
	f.schema = &llm.Schema{Name: "rubric", Strict: true, JSON: json.RawMessage(
		`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false}`)}
	f.json = "Reply with one JSON object and nothing else, with one entry for each criterion: {" + strings.Join(sample, ", ") + "}. " +
		"The reason is one sentence. The quote is the words of the answer that show it, copied exactly, or empty if there are none. The answer is exactly " + answers.words() + "."
	f.line = "Say of each criterion why, in one sentence. Then end your reply with one line for each criterion, and nothing after them: " +
		marker + ", the name of the criterion, a colon, exactly one of " + answers.words() + ", a |, and in quotation marks the words of the answer that show it, copied exactly, if there are any:\n" + strings.Join(lines, "\n")
	return f
}

// names lists the criteria for an error.
func (f rubricForm) names() string {
	if len(f.criteria) == 1 {
		return "criterion " + f.criteria[0].Name
	}
	return fmt.Sprintf("%d criteria", len(f.criteria))
}

// prompt is the question about one answer.
func (r *Rubric) prompt(f rubricForm, item dataset.Item, answer string, calls []llm.ToolCall) question {
	blocks, given := r.ask.opening(item)
	blocks = append(blocks, r.ask.answerBlocks("ANSWER", answer, calls)...)
	data, nonce, left := delimit(blocks...)
	var s strings.Builder
	r.ask.introduce(&s, fmt.Sprintf(rubricRole, given))
	s.WriteString("\n\n" + dataRule(nonce))
	if left > 0 {
		fmt.Fprintf(&s, " The answer was too long: %d bytes in its middle are left out where a line says so. Judge it by the rest.", left)
	}
	s.WriteString("\n\nThe criteria are:")
	for _, c := range f.criteria {
		s.WriteString("\n- " + c.Name + ": " + c.Text)
	}
	return question{system: s.String(), user: data, schema: f.schema, json: f.json, line: f.line}
}

// opening is what stands before the answers: the question and what is right;
// given says so in the judge's role.
func (a *asker) opening(item dataset.Item) (blocks []block, given string) {
	blocks = []block{{name: "QUESTION", text: item.Input}}
	if refs := references(item); a.reference && len(refs) > 0 {
		blocks = append(blocks, block{name: "REFERENCE", text: strings.Join(refs, "\nor\n")})
		given = ", beside a reference that is right"
	}
	return blocks, given
}

// answerBlocks are an answer and the tools that it called.
func (a *asker) answerBlocks(name, answer string, calls []llm.ToolCall) []block {
	blocks := []block{{name: name, text: answer, most: a.maxCandidate}}
	if len(calls) > 0 {
		blocks = append(blocks, block{name: "TOOL CALLS OF " + name, text: callsText(calls), most: a.maxCandidate})
	}
	return blocks
}

func callsText(calls []llm.ToolCall) string {
	if len(calls) == 0 {
		return ""
	}
	b, err := json.Marshal(calls)
	if err != nil {
		return fmt.Sprintf("%v", calls) // arguments are a text: cannot happen
	}
	return string(b)
}

// introduce writes what the judge is, or what Instructions say, and Criteria.
func (a *asker) introduce(s *strings.Builder, role string) {
	if a.instructions != "" {
		role = a.instructions
	}
	s.WriteString(role)
	if a.criteria != "" {
		s.WriteString("\n\n" + a.criteria)
	}
}
