package grade

import "strings"

// reasoningNames are the elements, tags and brackets in which models think
// aloud, in lower case and without a namespace (seed:think is think).
var reasoningNames = map[string]bool{
	"think": true, "thinking": true, "thought": true, "thoughts": true, "reasoning": true,
	"reasoning_content": true, "thinking_process": true, "antthinking": true, "analysis": true,
	"reflection": true, "scratchpad": true, "inner_monologue": true, "chain_of_thought": true, "cot": true,
	"inner_thoughts": true, "inner_thought": true, "internal_thoughts": true, "internal_reasoning": true, "thought_process": true, "think_process": true, "deep_think": true, "deepthink": true, "think_step_by_step": true,
}

// reasoningTokens are the spellings that are no tags.
var reasoningTokens = []struct {
	text, name string
	close      bool
}{
	{"<|begin_of_thought|>", "of_thought", false}, {"<|end_of_thought|>", "of_thought", true},
	{"<|start_thinking|>", "_thinking", false}, {"<|end_thinking|>", "_thinking", true},
	{"<|channel>thought", "channel", false}, {"<channel|>", "channel", true},
	{"<unused94>thought", "unused", false}, {"<unused95>", "unused", true},
	{"<|think|>", "|think|", false}, {"<|/think|>", "|think|", true}, {"</|think|>", "|think|", true},
	{"&lt;think&gt;", "&lt;think&gt;", false}, {"&lt;/think&gt;", "&lt;think&gt;", true},
	{"&lt;thinking&gt;", "&lt;thinking&gt;", false}, {"&lt;/thinking&gt;", "&lt;thinking&gt;", true},
	{"[think]", "[think]", false}, {"[/think]", "[think]", true},
	{"◁think▷", "◁think▷", false}, {"◁/think▷", "◁think▷", true},
}

type reasoningTag struct {
	start, end int
	name       string
	close      bool
}

// stripReasoning returns text without its reasoning blocks: <think>,
// <thinking>, <thought>, <reasoning> and the like in any case and with
// attributes, [THINK], <|begin_of_thought|>, and the analysis and commentary
// channels of <|channel|> transcripts.
//
// A block that is never closed makes the whole text incomplete, whatever
// stands in or before it: the model had not finished thinking. So does a text
// that is nothing but reasoning. A closing tag without an opening one closes
// an implicit block (the chat template had opened it): all before it is
// reasoning. A block ends at the first closing tag of its own name, or, if
// there is none, at the last one of another name. A tag between backticks is
// a word about tags, not a tag.
func stripReasoning(text string) (rest string, incomplete bool) {
	text, seen, incomplete := stripChannels(text)
	if incomplete {
		return text, true
	}
	tags := reasoningTags(text)
	if len(tags) == 0 {
		return text, seen && isBlank(text)
	}
	next, last := closers(tags)
	var out strings.Builder
	pos := 0
	for i, tag := range tags {
		switch {
		case tag.start < pos:
		case tag.close:
			out.Reset()
			pos = tag.end
		default:
			out.WriteString(text[pos:tag.start])
			j := next[i]
			if j < 0 && last > i {
				j = last
			}
			if j < 0 {
				return out.String(), true
			}
			out.WriteByte('\n')
			pos = tags[j].end
		}
	}
	out.WriteString(text[pos:])
	rest = out.String()
	return rest, isBlank(rest)
}

// closers returns, for each tag, the index of the next closing tag of its
// name or -1, and the index of the last closing tag of all or -1.
func closers(tags []reasoningTag) (next []int, last int) {
	next, last = make([]int, len(tags)), -1
	byName := map[string]int{}
	for i := len(tags) - 1; i >= 0; i-- {
		next[i] = -1
		if j, ok := byName[tags[i].name]; ok {
			next[i] = j
		}
		if tags[i].close {
			byName[tags[i].name] = i
			last = max(last, i)
		}
	}
	return next, last
}

// reasoningTags returns the tags in text in order.
func reasoningTags(text string) []reasoningTag {
	var tags []reasoningTag
	for i := 0; i < len(text); {
		if i += mayBeTag(text[i:]); i == len(text) {
			break
		}
		tag, ok := reasoningTagAt(text, i)
		if !ok {
			i++
			continue
		}
		quoted := i > 0 && text[i-1] == '`' && strings.HasPrefix(text[tag.end:], "`")
		if !quoted {
			tags = append(tags, tag)
		}
		i = tag.end
	}
	return tags
}

// mayBeTag returns the offset of the first byte of s with which a tag may begin,
// or the length of s. (strings.IndexAny takes ten times as long with a ◁ among
// what it looks for, and every answer is looked at.)
func mayBeTag(s string) int {
	const triangle = "◁"
	for i := range len(s) {
		switch s[i] {
		case '<', '[', '&':
			return i
		case triangle[0]:
			if strings.HasPrefix(s[i:], triangle) {
				return i
			}
		}
	}
	return len(s)
}

// reasoningTagAt reads the tag that begins at text[i].
func reasoningTagAt(text string, i int) (reasoningTag, bool) {
	for _, t := range reasoningTokens {
		if hasFoldPrefix(text[i:], t.text) {
			return reasoningTag{i, i + len(t.text), t.name, t.close}, true
		}
	}
	name, attrs, end, closing := elementAt(text, i)
	if end < 0 {
		return reasoningTag{}, false
	}
	if k := strings.LastIndexByte(name, ':'); k >= 0 {
		name = name[k+1:]
	}
	// <think/> is an empty block: nothing to strip.
	if !reasoningNames[name] || strings.HasSuffix(attrs, "/") {
		return reasoningTag{}, false
	}
	return reasoningTag{i, end, name, closing}, true
}

// elementAt reads an HTML-like tag at text[i]: its lower-case name, its
// attributes as they stand, the offset after it (-1 if there is no tag), and
// whether it closes.
func elementAt(text string, i int) (name, attrs string, end int, closing bool) {
	const maxTag = 256
	if i >= len(text) || text[i] != '<' {
		return "", "", -1, false
	}
	s := text[i+1 : min(len(text), i+maxTag)]
	if strings.HasPrefix(s, "/") {
		closing, s = true, s[1:]
	}
	n := 0
	for n < len(s) && (isGlue(rune(s[n])) || s[n] == '_' || s[n] == ':' || s[n] == '-') {
		n++
	}
	name = strings.ToLower(s[:n])
	k := strings.IndexAny(s[n:], "<>")
	if n == 0 || k < 0 || s[n+k] == '<' {
		return "", "", -1, false
	}
	attrs = s[n : n+k]
	if attrs != "" && attrs[0] != ' ' && attrs[0] != '\t' && attrs[0] != '\n' && attrs[0] != '\r' && attrs[0] != '/' {
		return "", "", -1, false
	}
	end = i + 1 + n + k + 1
	if closing {
		end++
	}
	return name, attrs, end, closing
}

// stripChannels reduces a transcript with channels (gpt-oss) to the text of
// its last final channel. seen says that there was one. Without a final
// channel the answer is incomplete. It also knows the form that is left when
// a server drops the special tokens: "analysisWe need …assistantfinal18".
func stripChannels(text string) (rest string, seen, incomplete bool) {
	const channel, message, bare = "<|channel|>", "<|message|>", "assistantfinal"
	if strings.Contains(text, channel) {
		k := strings.LastIndex(text, channel+"final")
		if k < 0 {
			return "", true, true
		}
		rest = text[k+len(channel+"final"):]
		m := strings.Index(rest, message)
		if m < 0 {
			return "", true, true
		}
		rest = rest[m+len(message):]
		for _, stop := range []string{"<|end|>", "<|return|>", "<|call|>", "<|start|>", channel} {
			rest, _, _ = strings.Cut(rest, stop)
		}
		return rest, true, false
	}
	if len(text) > len("analysis") && strings.HasPrefix(text, "analysis") && text[len("analysis")] >= 'A' && text[len("analysis")] <= 'Z' {
		k := strings.LastIndex(text, bare)
		if k < 0 {
			return "", true, true
		}
		return text[k+len(bare):], true, false
	}
	return text, false, false
}
