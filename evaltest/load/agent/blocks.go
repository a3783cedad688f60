package agent

import "maps"

// blocks is the conversation of a plan whose prompts are blocks: each prompt
// is put together anew from texts that hang on their seeds.
type blocks struct {
	plan    *Plan
	maker   maker
	replies Replies
	seen    *sent

	texts map[string]string // what was made, by seed
	live  map[string]reply  // replies that took a live block's place, by its seed
	// fallen are the live blocks for which a text was made for want of a reply
	// since the last reset, fell how many there were in all.
	fallen []string
	fell   int

	msgs  messages
	tools []byte
	links []link
	// end is the chain of the prompt before, to know which reply the server
	// has just generated behind it.
	end uint64
}

// stage makes what turn t needs and no reply will give: the first live block
// that is new takes the reply before it, unless there is none.
func (b *blocks) stage(t int) error {
	turn := &b.plan.Turns[t]
	if turn.Reset {
		b.forget(turn.Blocks)
	}
	free := t > 0 && !turn.Reset && b.replies == Live // the reply has no place yet
	taken := ""
	for _, block := range turn.Blocks {
		_, made := b.texts[block.Seed]
		if made || b.live[block.Seed] != nil || block.Seed == taken {
			continue
		}
		if block.Live && free {
			free, taken = false, block.Seed
			continue
		}
		text, err := b.maker.block(block)
		if err != nil {
			return fieldError(err, "%s block with seed %q of request %d", block.Role, block.Seed, t+1)
		}
		b.texts[block.Seed] = text
		if block.Live && b.replies == Live {
			b.fell++
			b.fallen = append(b.fallen, block.Seed)
		}
	}
	return nil
}

// forget drops the replies, what stands in their place, and the texts that a
// conversation which starts over with these blocks does not begin with. The
// texts are not needed: the turn before has been put together.
func (b *blocks) forget(first []Block) {
	clear(b.live)
	for _, seed := range b.fallen {
		delete(b.texts, seed)
	}
	b.fallen = b.fallen[:0]
	needed := make(map[string]bool, len(first))
	for _, block := range first {
		needed[block.Seed] = true
	}
	maps.DeleteFunc(b.texts, func(seed, _ string) bool { return !needed[seed] })
}

func (b *blocks) advance(t int, message []byte) error {
	turn := &b.plan.Turns[t]
	fresh, err := b.take(turn, message)
	if err != nil {
		return err
	}
	b.links, b.tools = b.links[:0], b.tools[:0]
	b.msgs.reset()
	var pending []string // ids of calls without an answer, oldest first
	for _, block := range turn.Blocks {
		l := link{name: "s" + block.Seed, tokens: block.Tokens}
		r := b.live[block.Seed]
		if r != nil { // its bytes are this session's own
			l.name = "l" + b.plan.ID + "\x00" + block.Seed
			l.held = block.Seed == fresh
			b.msgs.assistant(r)
		} else if pending, err = b.add(block, b.texts[block.Seed], pending); err != nil {
			return err
		}
		b.links = append(b.links, l)
	}
	b.msgs.seal()
	return nil
}

// take gives the reply to the live block that stage left for it, if there is
// one, and returns its seed.
func (b *blocks) take(turn *Turn, message []byte) (seed string, err error) {
	for _, block := range turn.Blocks {
		if _, made := b.texts[block.Seed]; made || b.live[block.Seed] != nil {
			continue
		}
		r, err := parseReply(message)
		if err != nil {
			return "", err
		}
		b.live[block.Seed] = r
		return block.Seed, nil
	}
	return "", nil
}

// add appends a block that was made of text.
func (b *blocks) add(block Block, text string, pending []string) ([]string, error) {
	switch block.Role {
	case ToolDefinition:
		if len(b.tools) > 0 {
			b.tools = append(b.tools, ',')
		}
		var err error
		b.tools, err = appendDefinition(b.tools, block.Seed, text)
		return pending, err
	case Assistant:
		r, err := textReply(text)
		b.msgs.assistant(r)
		return pending, err
	case ToolCall:
		arguments, err := appendArguments(text)
		id := callID(block.Seed)
		b.msgs.call(id, toolName(block.Seed), string(arguments))
		return append(pending, id), err
	case Tool:
		id := callID(block.Seed)
		if len(pending) > 0 {
			id, pending = pending[0], pending[1:]
		}
		return pending, b.msgs.answer(id, text)
	}
	return pending, b.msgs.say(block.Role, text)
}

func (b *blocks) prompt() (messages, tools []byte) { return b.msgs.buf, b.tools }
func (b *blocks) fallbacks() int                   { return b.fell }

func (b *blocks) cacheable(int) (known int) {
	known, b.end = b.seen.prompt(b.links, b.end)
	return known
}
