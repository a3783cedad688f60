package trace

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A span is what is needed of one.
type span struct {
	key           spanKey
	parent        string
	line          int
	start, end    int64
	started       bool
	session       string
	model         string
	input, output int
	failed        bool
	skip          Reason
}

// A spanParser reads the members of a span: of OTLP in JSON, in camel or snake
// case, or as SDKs print spans, with a flat object of attributes.
type spanParser struct {
	span
	operation         string
	hasInput, hasUsed bool
}

// modelCalls are the operations of the GenAI conventions that generate text.
var modelCalls = []string{"chat", "text_completion", "generate_content"}

// finish decides what the span is. Without an operation, as old
// instrumentations have it, token counts make it a model call. An invoke_agent
// span has the sum of its calls' counts and is none.
func (p *spanParser) finish() span {
	call := p.operation == "" && p.hasUsed
	for _, name := range modelCalls {
		call = call || p.operation == name
	}
	switch {
	case !call:
		p.skip = NotModelCall
	case !p.hasInput && p.failed:
		p.skip = RequestFailed
	case !p.hasInput:
		p.skip = NoUsage
	}
	return p.span
}

func (p *spanParser) member(name string, v jsontext.Value) (err error) {
	switch name {
	case "traceId", "trace_id":
		p.key.trace, err = nameOf(v)
	case "spanId", "span_id":
		p.key.id, err = nameOf(v)
	case "parentSpanId", "parent_span_id", "parent_id":
		p.parent, err = nameOf(v)
	case "context":
		var o objectReader
		return o.read(v, func(name string, v jsontext.Value) error {
			if name == "trace_id" || name == "span_id" {
				return p.member(name, v)
			}
			return nil
		})
	case "startTimeUnixNano", "start_time_unix_nano":
		p.start, err = nanosOf(v)
		p.started = true
	case "endTimeUnixNano", "end_time_unix_nano":
		p.end, err = nanosOf(v)
	case "startTime", "start_time":
		p.start, err = dateOf(v)
		p.started = true
	case "endTime", "end_time":
		p.end, err = dateOf(v)
	case "attributes":
		err = p.attributes(v)
	case "status":
		err = p.status(v)
	}
	return err
}

func nanosOf(v jsontext.Value) (int64, error) {
	text, err := nameOf(v) // OTLP writes 64-bit numbers as texts
	if err != nil {
		return 0, err
	}
	return parseTime(text, time.Nanosecond)
}

func dateOf(v jsontext.Value) (int64, error) {
	text, err := stringOf(v)
	if err != nil {
		return 0, err
	}
	ns, _, err := parseDate(text)
	return ns, err
}

func (p *spanParser) status(v jsontext.Value) error {
	if v.Kind() == '"' {
		text, err := stringOf(v)
		p.failed = p.failed || strings.HasSuffix(strings.ToUpper(text), "ERROR")
		return err
	}
	var o objectReader
	return o.read(v, func(name string, v jsontext.Value) error {
		if name != "code" && name != "status_code" {
			return nil
		}
		code, err := nameOf(v)
		p.failed = p.failed || code == "2" || strings.HasSuffix(strings.ToUpper(code), "ERROR")
		return err
	})
}

// attributes reads a list of {key, value}, as OTLP has it, or an object.
func (p *spanParser) attributes(v jsontext.Value) error {
	var o objectReader
	if v.Kind() == '{' {
		return o.read(v, p.attribute)
	}
	return eachOf(v, func(v jsontext.Value) error {
		var key string
		var value jsontext.Value
		err := o.read(v, func(name string, v jsontext.Value) (err error) {
			switch name {
			case "key":
				key, err = stringOf(v)
			case "value":
				value = v.Clone()
			}
			return err
		})
		if err != nil || value == nil {
			return err
		}
		if value, err = anyValue(value); err != nil || value == nil {
			return named(quote(key), err)
		}
		return named(quote(key), p.attribute(key, value))
	})
}

// anyValue takes the value out of OTLP's {"intValue": "12"}; nil if it has
// none, or a list or map, of which nothing is read.
func anyValue(v jsontext.Value) (value jsontext.Value, err error) {
	if v.Kind() != '{' {
		return v, nil
	}
	var o objectReader
	err = o.read(v, func(name string, v jsontext.Value) error {
		switch name {
		case "stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value", "double_value", "bool_value":
			value = v.Clone()
		}
		return nil
	})
	return value, err
}

func (p *spanParser) attribute(key string, v jsontext.Value) (err error) {
	switch key {
	case "gen_ai.operation.name":
		p.operation, err = nameOf(v)
	case "gen_ai.conversation.id":
		p.session, err = nameOf(v)
	case "gen_ai.response.model":
		p.model, err = nameOf(v)
	case "gen_ai.request.model":
		if p.model == "" {
			p.model, err = nameOf(v)
		}
	case "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens":
		p.hasInput, p.hasUsed = true, true
		p.input, err = countOf(v, p.input)
	case "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens":
		p.hasUsed = true
		p.output, err = countOf(v, p.output)
	case "error.type":
		p.failed = true
	}
	return err
}

// countOf reads a number of tokens. Some instrumentations write the old and
// the new name; they must agree.
func countOf(v jsontext.Value, before int) (int, error) {
	text, err := nameOf(v)
	if err != nil {
		return 0, err
	}
	n, err := parseTokens(text)
	if err == nil && before != 0 && before != n {
		err = fmt.Errorf("%w: it is %d here and %d under its other name", ErrValue, n, before)
	}
	return n, err
}
