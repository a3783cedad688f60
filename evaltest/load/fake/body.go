package fake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A parser reads bodies, one at a time. It looks at each byte at most twice, and
// keeps nothing of a body. What is nested deeper than 10,000 is refused by
// jsontext, as is an object with the same name twice: servers disagree on which
// one counts.
type parser struct {
	server *Server
	saw    bool
	prompt prompt

	dec     *jsontext.Decoder
	src     bytes.Buffer
	scratch []byte
	body    []byte
	// messages, tools and text are values that are read when all fields are
	// known, since a template puts tools first.
	messages, tools, text jsontext.Value
	most, least           int // limits of the answer; -1 is none
}

func newParser(s *Server) *parser {
	p := &parser{server: s, saw: s.Saw != nil, prompt: prompt{server: s}}
	p.dec = jsontext.NewDecoder(&p.src)
	return p
}

// parse reads a body. The order is valid until it is used, whatever is read next.
func (p *parser) parse(body []byte, what target, o *order) *problem {
	p.body, p.messages, p.tools, p.text = body, nil, nil, nil
	p.most, p.least = -1, -1
	p.prompt.reset()
	p.prompt.template(p.server.PerRequest * btoi(what == chat))
	p.read(body)
	if problem := p.object("the body", func(name []byte) *problem { return p.field(name, what, o) }); problem != nil {
		return problem
	}
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return wrong("", "there is more behind the body's JSON object")
	}
	if problem := p.content(what, o); problem != nil {
		return problem
	}
	return p.length(o)
}

func (p *parser) read(b []byte) {
	p.src = *bytes.NewBuffer(b)
	p.dec.Reset(&p.src)
}

// object reads one and calls field for each of its names; field reads the value.
func (p *parser) object(what string, field func(name []byte) *problem) *problem {
	tok, err := p.dec.ReadToken()
	if err != nil {
		return syntax(err)
	}
	if tok.Kind() != '{' {
		return wrong("", what+" is no JSON object")
	}
	for p.dec.PeekKind() == '"' {
		name, err := p.dec.ReadValue()
		if err != nil {
			return syntax(err)
		}
		text, problem := p.unquote(name)
		if problem != nil {
			return problem
		}
		if problem := field(text); problem != nil {
			return problem
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	return nil
}

// list reads one and calls item for each of its values, which item reads.
func (p *parser) list(name string, item func(i int) *problem) *problem {
	if p.dec.PeekKind() != '[' {
		return p.not(name, "a list")
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	for i := 0; p.dec.PeekKind() != ']' && p.dec.PeekKind() > 0; i++ {
		if problem := item(i); problem != nil {
			return problem
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	return nil
}

// string reads one; nil is null. It is valid until the next is read.
func (p *parser) string(name string) ([]byte, *problem) {
	switch p.dec.PeekKind() {
	case 'n':
		return nil, p.skip()
	case '"':
	default:
		return nil, p.not(name, "a string")
	}
	v, err := p.dec.ReadValue()
	if err != nil {
		return nil, syntax(err)
	}
	return p.unquote(v)
}

func (p *parser) unquote(v jsontext.Value) ([]byte, *problem) {
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1 : len(v)-1], nil
	}
	var err error
	p.scratch, err = jsontext.AppendUnquote(p.scratch[:0], v)
	if err != nil {
		return nil, syntax(err)
	}
	return p.scratch, nil
}

// number reads a whole one of at least least; null is given as -1.
func (p *parser) number(name string, least int) (int, *problem) {
	switch p.dec.PeekKind() {
	case 'n':
		return -1, p.skip()
	case '0':
	default:
		return 0, p.not(name, "a whole number")
	}
	v, err := p.dec.ReadValue()
	if err != nil {
		return 0, syntax(err)
	}
	n, err := strconv.Atoi(string(v))
	if err != nil || n < least {
		return 0, wrong(name, fmt.Sprintf("%s is %s: want a whole number of at least %d", name, cut(v), least))
	}
	return n, nil
}

func (p *parser) bool(name string, to *bool) *problem {
	switch p.dec.PeekKind() {
	case 't':
		*to = true
	case 'f', 'n':
		*to = false
	default:
		return p.not(name, "true or false")
	}
	return p.skip()
}

// value reads any and returns it as it stands in the body, where it stays.
func (p *parser) value() (jsontext.Value, *problem) {
	v, err := p.dec.ReadValue()
	if err != nil {
		return nil, syntax(err)
	}
	end := int(p.dec.InputOffset())
	return p.body[end-len(v) : end : end], nil
}

func (p *parser) skip() *problem {
	if err := p.dec.SkipValue(); err != nil {
		return syntax(err)
	}
	return nil
}

// not says that a value is not of its type, or that there is none.
func (p *parser) not(name, want string) *problem {
	v, err := p.dec.ReadValue()
	if err != nil {
		return syntax(err)
	}
	return wrong(name, fmt.Sprintf("%s is %s: want %s", name, cut(v), want))
}

// syntax is for what is no JSON.
func syntax(err error) *problem {
	return wrong("", "the body is no JSON that this server reads: "+cut([]byte(err.Error())))
}

// cut shortens what a message quotes.
func cut(b []byte) string {
	const most = 200
	if len(b) > most {
		return string(bytes.ToValidUTF8(b[:most], nil)) + "…"
	}
	return string(b)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
