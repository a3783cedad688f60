package fake

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// field reads the value of one field of the body.
func (p *parser) field(name []byte, what target, o *order) *problem {
	switch string(name) {
	case "model":
		return p.model(o)
	case "messages":
		return p.later(&p.messages)
	case "prompt":
		return p.later(&p.text)
	case "tools":
		return p.later(&p.tools)
	case "max_tokens":
		return p.limit("max_tokens", &p.most, 1)
	case "max_completion_tokens":
		return p.limit("max_completion_tokens", &p.most, 1)
	case "max_new_tokens":
		return p.limit("max_new_tokens", &p.most, 1)
	case "min_tokens":
		return p.limit("min_tokens", &p.least, 0)
	case "min_new_tokens":
		return p.limit("min_new_tokens", &p.least, 0)
	case "n":
		n, problem := p.number("n", 1)
		if problem == nil && n > 1 {
			return wrong("n", fmt.Sprintf("n is %d: this server gives one answer", n))
		}
		return problem
	case "stream":
		return p.bool("stream", &o.stream)
	case "stream_options":
		return p.options(o)
	case "user":
		user, problem := p.string("user")
		if p.saw {
			o.user = string(user)
		}
		return problem
	}
	return p.skip() // ignore_eos, temperature and the like change no length
}

func (p *parser) model(o *order) *problem {
	switch p.dec.PeekKind() {
	case 'n':
		return p.skip()
	case '"':
		v, problem := p.value()
		o.model = append(o.model[:0], v...)
		return problem
	}
	return p.not("model", "a string")
}

// later keeps a value that is not null.
func (p *parser) later(to *jsontext.Value) *problem {
	if p.dec.PeekKind() == 'n' {
		return p.skip()
	}
	v, problem := p.value()
	*to = v
	return problem
}

// limit reads one; fields that mean the same have to say the same.
func (p *parser) limit(name string, to *int, least int) *problem {
	n, problem := p.number(name, least)
	switch {
	case problem != nil || n < 0:
		return problem
	case *to >= 0 && *to != n:
		return wrong(name, fmt.Sprintf("%s is %d, and another field that means the same is %d", name, n, *to))
	}
	*to = n
	return nil
}

func (p *parser) options(o *order) *problem {
	if p.dec.PeekKind() == 'n' {
		return p.skip()
	}
	return p.object("stream_options", func(name []byte) *problem {
		if string(name) == "include_usage" {
			return p.bool("stream_options.include_usage", &o.usage)
		}
		return p.skip()
	})
}

// length decides how many tokens the answer has.
func (p *parser) length(o *order) *problem {
	least, most := max(p.least, 0), p.most
	o.limited = most >= 0
	if most < 0 {
		most = max(orDefault(p.server.Output, DefaultOutput), least)
	}
	switch {
	case least > most:
		return wrong("min_tokens", fmt.Sprintf("min_tokens is %d, more than max_tokens, %d", least, most))
	case most > MaxOutput:
		return wrong("max_tokens", fmt.Sprintf("max_tokens is %d: this server answers at most %d", most, MaxOutput))
	}
	o.tokens = most
	return nil
}

// content counts the prompt.
func (p *parser) content(what target, o *order) *problem {
	if what == completions {
		if p.messages != nil || p.text == nil {
			return wrong("prompt", "a completion needs a prompt, and has no messages")
		}
		p.read(p.text)
		return p.prompts()
	}
	if p.messages == nil {
		return wrong("messages", "messages are needed")
	}
	if p.text != nil {
		return wrong("prompt", "a chat completion has no prompt: its texts are messages")
	}
	if p.tools != nil {
		p.read(p.tools)
		if problem := p.list("tools", p.tool); problem != nil {
			return problem
		}
	}
	p.read(p.messages)
	problem := p.list("messages", func(int) *problem {
		o.messages++
		return p.message()
	})
	if problem == nil && o.messages == 0 {
		return wrong("messages", "messages is empty: at least one is needed")
	}
	return problem
}

// tool counts a tool as the JSON that a template would print, without the
// space between its parts.
func (p *parser) tool(int) *problem {
	if p.dec.PeekKind() != '{' {
		return p.not("tools", "a list of objects")
	}
	v, err := p.dec.ReadValue()
	if err != nil {
		return syntax(err)
	}
	compact := jsontext.Value(append(p.scratch[:0], v...))
	if err := compact.Compact(); err != nil {
		return syntax(err)
	}
	p.scratch = compact
	p.prompt.mark(markTool)
	p.prompt.text(compact)
	return nil
}

// message counts one message. Its fields stand in the prompt as they came.
func (p *parser) message() *problem {
	p.prompt.message()
	role := false
	problem := p.object("a message", func(name []byte) *problem {
		switch string(name) {
		case "role":
			b, problem := p.string("messages.role")
			role = role || len(b) > 0
			p.prompt.markText(b)
			return problem
		case "content":
			return p.parts("messages.content")
		case "refusal":
			return p.counted("messages.refusal")
		case "reasoning_content", "reasoning":
			p.prompt.mark(markReasoning)
			return p.counted("messages.reasoning")
		case "name":
			return p.named("messages.name")
		case "tool_calls":
			return p.calls()
		}
		return p.skip()
	})
	if problem == nil && !role {
		return wrong("messages.role", "a message has no role")
	}
	return problem
}

// counted reads a string or null and counts it.
func (p *parser) counted(name string) *problem {
	b, problem := p.string(name)
	if problem == nil && b != nil {
		p.prompt.text(b)
	}
	return problem
}

// named reads a name, which counts only if the server says so.
func (p *parser) named(name string) *problem {
	b, problem := p.string(name)
	switch {
	case problem != nil || b == nil:
	case p.server.Names:
		p.prompt.text(b)
	default:
		p.prompt.markText(b)
	}
	return problem
}

// parts reads a content: a text, or a list of them.
func (p *parser) parts(name string) *problem {
	if p.dec.PeekKind() != '[' {
		return p.counted(name)
	}
	return p.list(name, func(int) *problem {
		kind := "text"
		problem := p.object("a part of a content", func(field []byte) *problem {
			switch string(field) {
			case "type":
				b, problem := p.string(name + ".type")
				kind = cut(b)
				return problem
			case "text", "refusal":
				return p.counted(name + ".text")
			}
			return p.skip()
		})
		if problem == nil && kind != "text" && kind != "refusal" {
			return wrong(name, fmt.Sprintf("a part of type %q: this server counts texts only", kind))
		}
		return problem
	})
}

func (p *parser) calls() *problem {
	const name = "messages.tool_calls"
	if p.dec.PeekKind() == 'n' {
		return p.skip()
	}
	return p.list(name, func(int) *problem {
		p.prompt.mark(markCall)
		return p.object("a tool call", func(field []byte) *problem {
			if string(field) != "function" {
				return p.skip()
			}
			return p.object("the function of a tool call", func(field []byte) *problem {
				switch string(field) {
				case "name":
					return p.named(name + ".function.name")
				case "arguments":
					return p.counted(name + ".function.arguments")
				}
				return p.skip()
			})
		})
	})
}

// prompts reads the prompt of a completion: a text, a list of one, the numbers
// of tokens, or a list of one list of them.
func (p *parser) prompts() *problem {
	if p.dec.PeekKind() == '"' {
		return p.counted("prompt")
	}
	count, lists := 0, bytes.HasPrefix(bytes.TrimLeft(p.text[1:], " \t\r\n"), []byte{'['})
	id := func(int) *problem {
		count++
		return p.promptToken()
	}
	one := false // the list's only item has been read
	problem := p.list("prompt", func(i int) *problem {
		text := p.dec.PeekKind() == '"'
		switch {
		case one || i > 0 && text:
			return wrong("prompt", "more than one prompt: this server gives one answer")
		case lists:
			one = true
			return p.list("prompt", id)
		case text:
			one = true
			count++
			return p.counted("prompt")
		}
		return id(i)
	})
	if problem == nil && count == 0 {
		return wrong("prompt", "the prompt is an empty list")
	}
	return problem
}

func (p *parser) promptToken() *problem {
	if p.dec.PeekKind() != '0' {
		return p.not("prompt", "a text or the numbers of tokens")
	}
	n, problem := p.number("prompt", 0)
	if problem == nil {
		p.prompt.token(uint64(n))
	}
	return problem
}

func orDefault(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
