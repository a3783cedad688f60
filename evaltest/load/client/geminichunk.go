package client

func (c *chunk) geminiField(cur *cursor, key []byte) {
	switch string(key) {
	case "candidates":
		c.text, c.reasoning, c.tool, c.choices, c.finish = 0, 0, 0, 0, nil
		c.list(cur, "candidates", true)
	case "usageMetadata":
		c.usage = object(cur)
	case "modelVersion":
		c.model = stringOrNil(cur)
	case "promptFeedback":
		c.feedback(cur)
	case "error":
		c.failed = isError(cur.skip()) || c.failed
	default:
		cur.skip()
	}
}

// feedback is why the prompt was not answered: there are then no candidates.
func (c *chunk) feedback(cur *cursor) {
	if !cur.open('{') {
		cur.skip()
		return
	}
	for first := true; ; first = false {
		key, ok := cur.key(first)
		if !ok {
			return
		}
		if raw := cur.skip(); string(key) == "blockReason" && len(raw) > 2 && raw[0] == '"' {
			c.finish = raw
		}
	}
}

func (c *chunk) candidate(cur *cursor) {
	if !cur.open('{') {
		c.noteOdd("candidates[0]", cur.skip())
		return
	}
	for first := true; ; first = false {
		key, ok := cur.key(first)
		if !ok {
			return
		}
		switch string(key) {
		case "content":
			c.content(cur)
		case "finishReason":
			if c.finish = stringOrNil(cur); string(c.finish) == `"FINISH_REASON_UNSPECIFIED"` {
				c.finish = nil
			}
		default:
			cur.skip()
		}
	}
}

func (c *chunk) content(cur *cursor) {
	c.text, c.reasoning, c.tool = 0, 0, 0
	if !cur.open('{') {
		c.noteOdd("content", cur.skip())
		return
	}
	for first := true; ; first = false {
		key, ok := cur.key(first)
		if !ok {
			return
		}
		if string(key) != "parts" {
			cur.skip()
			continue
		}
		c.text, c.reasoning, c.tool = 0, 0, 0
		if !cur.open('[') {
			c.noteOdd("parts", cur.skip())
			continue
		}
		for first := true; cur.more(']', first); first = false {
			c.part(cur)
		}
	}
}

func (c *chunk) part(cur *cursor) {
	if !cur.open('{') {
		c.noteOdd("parts", cur.skip())
		return
	}
	text, tool, thought := 0, 0, false
	for first := true; ; first = false {
		key, ok := cur.key(first)
		if !ok {
			break
		}
		switch string(key) {
		case "text":
			text = c.textValue(cur, "text")
		case "thought":
			thought = string(cur.skip()) == "true"
		case "functionCall":
			tool = callLen(cur)
		default:
			cur.skip()
		}
	}
	if thought {
		c.reasoning += text
	} else {
		c.text += text
	}
	c.tool += tool
}

// callLen is the length of a call: its name, and its arguments as they stand.
func callLen(cur *cursor) int {
	if !cur.open('{') {
		cur.skip()
		return 0
	}
	name, args := 0, 0
	for first := true; ; first = false {
		key, ok := cur.key(first)
		if !ok {
			return name + args
		}
		raw := cur.skip()
		switch {
		case cur.bad:
		case string(key) == "name" && raw[0] == '"':
			name = len(raw) - 2
		case string(key) == "args" && string(raw) != "null":
			args = len(raw)
		}
	}
}
