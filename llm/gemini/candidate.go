package gemini

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/internal/jsonraw"
)

// candidate is one candidate of a body or chunk, as it came. What may hold an
// answer is raw, so that a field of another type is an error with its name:
// encoding/json would leave it out, and an answer without it would be graded.
type candidate struct {
	Index, Finish, Message, Content json.RawMessage
}

// The names of the fields that are read. A content's text is one that the API
// does not have.
var (
	candidateNames = jsonraw.Names{"index", "finishReason", "finishMessage", "content"}
	contentNames   = jsonraw.Names{"parts", "text"}
	partNames      = jsonraw.Names{"text", "thought", "thoughtSignature", "functionCall"}
	callNames      = jsonraw.Names{"id", "name", "args", "partialArgs"}
)

// answerPart is one part of an answer: a text, a thought, or a call.
type answerPart struct {
	Text, Thought, Signature, Call json.RawMessage
}

type answerCall struct {
	ID, Name, Args, Partial json.RawMessage
}

// addCandidates adds those of a body or chunk, and reports whether the model
// generated something in them. The error is of a field of another type.
func (a *answer) addCandidates(raw json.RawMessage, whole bool) (generated bool, err error) {
	list, err := client.Elements("candidates", raw)
	if err != nil {
		return false, err
	}
	first := true
	for i, raw := range list {
		var c candidate
		err := client.Object("", raw, candidateNames, &c.Index, &c.Finish, &c.Message, &c.Content)
		index := 0
		if err == nil {
			index, err = client.Index("index", c.Index, i)
		}
		none := client.Nothing(c.Finish) && client.Nothing(c.Content)
		switch {
		case err != nil || none && index == 0: // null, or an object of something else
		case index != 0 || whole && !first:
			a.warn("the answer has several candidates: only the first is used")
		default:
			var some bool
			first = false
			some, err = a.candidate(c)
			generated = generated || some
		}
		if err != nil {
			return generated, under(err, "candidates["+strconv.Itoa(i)+"]")
		}
	}
	return generated, nil
}

// under is err with the path of the field that it is about.
func under(err error, path string) error {
	if err == nil {
		return nil
	}
	var odd *client.Odd
	if errors.As(err, &odd) {
		return odd.Under(path)
	}
	return err
}

func (a *answer) candidate(c candidate) (generated bool, err error) {
	generated, noParts, err := a.content(c.Content)
	if err != nil {
		return generated, under(err, "content")
	}
	finish := ""
	if !client.Nothing(c.Finish) {
		if finish, err = client.Text("finishReason", c.Finish); err != nil {
			return generated, err
		}
	}
	if finish == "" && noParts {
		return generated, nil // holds no answer
	}
	a.candidates++
	if finish != "" && finish != "FINISH_REASON_UNSPECIFIED" {
		a.finish = finish
	}
	if s, _ := client.Text("", c.Message); s != "" { // words for people: one of another type is none
		a.message = s
	}
	return generated, nil
}

func (a *answer) content(raw json.RawMessage) (generated, none bool, err error) {
	var partList, text json.RawMessage
	if err := client.Object("", raw, contentNames, &partList, &text); err != nil {
		return false, false, err
	}
	if partList == nil && !client.Nothing(text) {
		return false, false, client.OddField("parts", nil, "a list")
	}
	list, err := client.Elements("parts", partList)
	for i, raw := range list {
		var some bool
		if some, err = a.part(raw); err != nil {
			return generated, false, under(err, "parts["+strconv.Itoa(i)+"]")
		}
		generated = generated || some
	}
	return generated, isNull(partList), err
}

// part adds one part, and reports whether the model generated something in it.
func (a *answer) part(raw json.RawMessage) (generated bool, err error) {
	var p answerPart
	if err := client.Object("", raw, partNames, &p.Text, &p.Thought, &p.Signature, &p.Call); err != nil {
		return false, err
	}
	signature, err := client.Text("thoughtSignature", p.Signature)
	if err != nil {
		return false, err
	}
	if !client.Nothing(p.Call) {
		return true, under(a.call(p.Call, signature), "functionCall")
	}
	thought := false
	if !client.Nothing(p.Thought) {
		if thought = string(p.Thought) == "true"; !thought {
			return false, client.OddField("thought", p.Thought, "a boolean")
		}
	}
	text, err := client.Text("text", p.Text)
	switch {
	case err != nil:
		return false, err
	case thought:
		a.reasoning.WriteString(text)
	case text == "":
		a.other(raw)
	default:
		a.text.WriteString(text)
	}
	return text != "", nil
}

// perCall is what keeping a call takes beside its texts, in bytes.
const perCall = 64

func (a *answer) call(raw json.RawMessage, signature string) error {
	var f answerCall
	if err := client.Object("", raw, callNames, &f.ID, &f.Name, &f.Args, &f.Partial); err != nil {
		return err
	}
	name, err := client.Text("name", f.Name)
	if err != nil {
		return err
	}
	id, err := client.Text("id", f.ID)
	if err != nil {
		return err
	}
	signature, warning := checkSignature(signature)
	if warning != "" {
		a.warn(warning)
	}
	if name == "" {
		a.warn("a tool call has no name")
	}
	if !isNull(f.Partial) {
		a.warn("the arguments of a tool call came in pieces, which are left out: streamFunctionCallArguments is not read by this client")
	}
	tc := llm.ToolCall{ID: joinID(id, name, len(a.calls), signature), Name: name, Arguments: arguments(f.Args)}
	a.calls = append(a.calls, tc)
	a.callBytes += perCall + len(tc.ID) + len(tc.Name) + len(tc.Arguments)
	return nil
}
