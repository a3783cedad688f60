package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A row is one response to grade, as it stands in the input. Fields that are
// not among these are left alone: rows may carry more than grading needs.
type row struct {
	ID        jsontext.Value `json:"id"`
	Input     jsontext.Value `json:"input"`
	Response  jsontext.Value `json:"response"`
	Target    jsontext.Value `json:"target"`
	Targets   jsontext.Value `json:"targets"`
	Choices   jsontext.Value `json:"choices"`
	Mode      jsontext.Value `json:"mode"`
	Locale    jsontext.Value `json:"locale"`
	ToolCalls jsontext.Value `json:"tool_calls"`
	Reply     jsontext.Value `json:"judge_reply"`
	Finish    jsontext.Value `json:"finish"`

	item     dataset.Item
	resp     llm.Response
	mode     string
	locale   string
	options  int  // how many options a row has that gives no texts
	replaced bool // bytes that are no UTF-8 were replaced by U+FFFD
}

// What a row must hold depends on the grader.
type rowNeeds struct {
	json      bool // a target that is an array is one JSON value, not a list of answers
	noTarget  bool // the grader may do without
	choices   bool
	toolCalls bool
	// judgeReply: the text to grade is a judge's, in fields of its own.
	judgeReply bool
}

// parseRow reads a line. number is the row's, from 1, and its id if it has none.
func parseRow(line []byte, number int, needs rowNeeds) (*row, error) {
	r := &row{}
	if err := json.Unmarshal(line, r); err != nil {
		// Models and applications return anything. A response is graded with
		// U+FFFD in place of what is no text, and the output says so.
		*r = row{replaced: true}
		if lenient := json.Unmarshal(line, r, jsontext.AllowInvalidUTF8(true)); lenient != nil {
			return nil, syntax(lenient, line)
		}
	}
	answer := "response"
	if needs.judgeReply {
		answer, r.Response = "judge_reply", r.Reply // it stands in the output as response
	}
	for _, field := range []struct {
		name string
		read func() error
	}{
		{"id", func() error { return r.readID(number) }},
		{"input", func() (err error) {
			if r.Input.Kind() == '"' { // messages and the like are nothing to look for
				r.item.Input, err = text(r.Input)
			}
			return err
		}},
		{answer, func() error { return r.readResponse(needs) }},
		{"finish", func() error { return r.readFinish(needs) }},
		{"target", func() error { return r.readTargets(needs) }},
		{"choices", func() error { return r.readChoices(needs) }},
		{"mode", func() (err error) { r.mode, err = word(r.Mode); return }},
		{"locale", func() (err error) { r.locale, err = word(r.Locale); return }},
		{"tool_calls", func() error { return r.readToolCalls(needs) }},
	} {
		if err := field.read(); err != nil {
			return nil, fmt.Errorf("field %q: %w", field.name, err)
		}
	}
	return r, nil
}

// absent reports a field that is not there, or null.
func absent(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

// kind names what a value is, for errors.
func kind(v jsontext.Value) string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	}
	return "a list"
}

// text is a string's text; of anything else the JSON as it stands, so that a
// number keeps its digits.
func text(v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return string(v), nil
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil && !utf8.Valid(b) {
		return "", err
	}
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD"))), nil
}

// word is the text of an optional field that must be a string.
func word(v jsontext.Value) (string, error) {
	if absent(v) {
		return "", nil
	}
	if v.Kind() != '"' {
		return "", fmt.Errorf("it is %s; write a string", kind(v))
	}
	return text(v)
}

func (r *row) readID(number int) (err error) {
	switch {
	case absent(r.ID):
		r.item.ID = strconv.Itoa(number)
		r.ID, err = jsontext.AppendQuote(nil, r.item.ID)
		return err
	case r.ID.Kind() != '"' && r.ID.Kind() != '0':
		return fmt.Errorf("it is %s; write a string or a number", kind(r.ID))
	}
	r.item.ID, err = text(r.ID)
	return err
}

func (r *row) readResponse(needs rowNeeds) (err error) {
	switch {
	case len(r.Response) == 0 && needs.toolCalls && !absent(r.ToolCalls):
		r.Response = jsontext.Value(`""`)
		return nil
	case len(r.Response) == 0:
		return errors.New(`it is missing; each row needs the text to grade ("" if there was none)`)
	case r.Response.Kind() == 'n':
		return nil // "content": null is how providers write that no text came
	case r.Response.Kind() != '"':
		return fmt.Errorf(`it is %s; write the text to grade as a string ("" if there was none)`, kind(r.Response))
	}
	r.resp.Text, err = text(r.Response)
	return err
}

// readFinish reads why a judge's reply ended, in our words or a provider's.
func (r *row) readFinish(needs rowNeeds) error {
	if !needs.judgeReply {
		return nil
	}
	w, err := word(r.Finish)
	switch w = strings.ToLower(w); w {
	case "max_tokens", "max_output_tokens":
		r.resp.Finish = llm.FinishLength
	case "safety":
		r.resp.Finish = llm.FinishContentFilter
	default:
		r.resp.Finish = llm.FinishReason(w)
	}
	return err
}

func (r *row) readTargets(needs rowNeeds) error {
	var all []string
	add := func(v jsontext.Value) error {
		if v.Kind() == 'n' {
			return errors.New("null is no answer; leave it out")
		}
		s, err := text(v)
		all = append(all, s)
		return err
	}
	switch {
	case needs.judgeReply: // has no target
		return nil
	case r.Target.Kind() == 'n' && needs.json: // null is a JSON value like another
		all = []string{"null"}
	case !absent(r.Target):
		values := []jsontext.Value{r.Target}
		if r.Target.Kind() == '[' && !needs.json {
			var err error
			if values, err = list(r.Target); err != nil {
				return err
			}
		}
		for _, v := range values {
			if err := add(v); err != nil {
				return err
			}
		}
	}
	if !absent(r.Targets) {
		values, err := list(r.Targets)
		if err != nil {
			return fmt.Errorf("targets: %w", err)
		}
		for _, v := range values {
			if err := add(v); err != nil {
				return fmt.Errorf("targets: %w", err)
			}
		}
	}
	if len(all) == 0 {
		if needs.noTarget {
			return nil
		}
		return errors.New("it is missing; each row needs the right answer in target, or several in targets")
	}
	r.item.Target, r.item.Targets = all[0], all[1:]
	return nil
}

// list returns the elements of an array, each as it stands.
func list(v jsontext.Value) ([]jsontext.Value, error) {
	var values []jsontext.Value
	if v.Kind() != '[' {
		return nil, fmt.Errorf("it is %s; write a list", kind(v))
	}
	err := json.Unmarshal(v, &values, jsontext.AllowInvalidUTF8(true))
	if err == nil && len(values) == 0 {
		err = errors.New("the list is empty; fill it, or leave the field out")
	}
	return values, err
}

func (r *row) readChoices(needs rowNeeds) error {
	const most = 26 // A to Z
	switch {
	case absent(r.Choices):
		if needs.choices {
			return errors.New("it is missing; write how many options there are (4 for A to D), or a list of their texts")
		}
		return nil
	case r.Choices.Kind() == '0':
		n, err := strconv.Atoi(string(r.Choices))
		if err != nil || n < 2 || n > most {
			return fmt.Errorf("%s is no number of options; write 2 to %d, or a list of texts", r.Choices, most)
		}
		r.options = n
		return nil
	}
	if r.Choices.Kind() != '[' {
		return fmt.Errorf("it is %s; write a list of the options' texts, or their number", kind(r.Choices))
	}
	values, err := list(r.Choices)
	if err != nil {
		return err
	}
	for _, v := range values {
		s, err := text(v)
		if err != nil {
			return err
		}
		r.item.Choices = append(r.item.Choices, s)
	}
	return nil
}

// readToolCalls takes calls as llm.ToolCall has them, and as OpenAI does.
// Arguments may be an object, or the text that the model wrote.
func (r *row) readToolCalls(needs rowNeeds) error {
	if absent(r.ToolCalls) || !needs.toolCalls || string(r.ToolCalls) == "[]" {
		return nil
	}
	values, err := list(r.ToolCalls)
	if err != nil {
		return err
	}
	for i, v := range values {
		call, err := toolCall(v)
		if err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
		r.resp.ToolCalls = append(r.resp.ToolCalls, call)
	}
	return nil
}

func toolCall(v jsontext.Value) (llm.ToolCall, error) {
	const want = `write {"name": …, "arguments": {…}}`
	var c struct {
		Function  jsontext.Value `json:"function"`
		ID        jsontext.Value `json:"id"`
		Name      jsontext.Value `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	for { // once more for what stands in "function"
		if v.Kind() != '{' {
			return llm.ToolCall{}, fmt.Errorf("it is %s; %s", kind(v), want)
		}
		c.Function = nil
		if err := json.Unmarshal(v, &c, jsontext.AllowInvalidUTF8(true)); err != nil {
			return llm.ToolCall{}, plain(err)
		}
		if absent(c.Function) {
			break
		}
		v = c.Function
	}
	var out llm.ToolCall
	var err error
	if out.ID, err = word(c.ID); err != nil {
		return out, fmt.Errorf("id: %w", err)
	}
	if out.Name, err = word(c.Name); err != nil {
		return out, fmt.Errorf("name: %w", err)
	}
	if out.Name == "" {
		return out, errors.New("it has no name; " + want)
	}
	if !absent(c.Arguments) {
		out.Arguments, err = text(c.Arguments)
	}
	return out, err
}

// syntax says what is wrong with a line that is no row.
func syntax(err error, line []byte) error {
	var se *jsontext.SyntacticError
	at := ""
	if errors.As(err, &se) {
		at = fmt.Sprintf(" at byte %d of the line", se.ByteOffset+1)
	}
	const want = "a file holds one JSON object a line"
	switch {
	case line[0] == '[':
		return fmt.Errorf("it is a list; %s (jq -c '.[]' makes such a file of a list)", want)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("a key stands twice in one object%s; readers disagree on which of them counts", at)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the row ends before its object does; %s (jq -c . makes one of a document that spans lines)", want)
	case se == nil && line[0] != '{':
		return fmt.Errorf("it is %s; %s", kind(jsontext.Value(line)), want)
	}
	return fmt.Errorf("it is not JSON%s: %w; %s", at, plain(err), want)
}

// plain drops the names of packages and types from a JSON error.
func plain(err error) error {
	var se *jsontext.SyntacticError
	if errors.As(err, &se) && se.Err != nil {
		err = se.Err
	}
	s := err.Error()
	for _, prefix := range []string{"jsontext: ", "json: "} {
		s = strings.TrimPrefix(s, prefix)
	}
	return errors.New(s)
}
