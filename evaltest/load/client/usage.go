package client

import (
	"strconv"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// usage reads a usage object. What OpenAI's servers usually send is read here;
// everything else, and everything that is odd, wire.ReadUsage reads, which knows
// what they all mean and takes a hundred times as long.
func usage(raw []byte) (llm.Usage, []string) {
	if u, ok := plainUsage(raw); ok {
		return u, nil
	}
	return wire.ReadUsage(raw)
}

// plainUsage reads a usage object of prompt_tokens, completion_tokens and what
// belongs to them; ok is false if there is anything in it that needs thought.
func plainUsage(raw []byte) (u llm.Usage, ok bool) {
	cur := cursor{b: raw}
	if !cur.open('{') {
		return u, false
	}
	in, out, total, cached, reasoning := -1, -1, -1, -1, -1
	for first := true; ; first = false {
		key, more := cur.key(first)
		if !more {
			break
		}
		fits := false
		switch string(key) {
		case "prompt_tokens":
			fits = count(&cur, &in)
		case "completion_tokens":
			fits = count(&cur, &out)
		case "total_tokens":
			fits = count(&cur, &total)
		case "prompt_tokens_details":
			fits = detail(&cur, "cached_tokens", &cached)
		case "completion_tokens_details":
			fits = detail(&cur, "reasoning_tokens", &reasoning)
		}
		if !fits {
			return u, false
		}
	}
	cached, reasoning = max(cached, 0), max(reasoning, 0)
	if cur.end(); cur.bad || in < 0 || out < 0 || total >= 0 && total != in+out || cached > in || reasoning > out {
		return u, false
	}
	return llm.Usage{Input: int64(in), CachedInput: int64(cached), Output: int64(out), Reasoning: int64(reasoning), Known: true}, true
}

// count takes a whole number of at most 15 digits, once.
func count(cur *cursor, n *int) bool {
	raw := cur.skip()
	if *n >= 0 || len(raw) == 0 || len(raw) > 15 {
		return false
	}
	v, err := strconv.ParseUint(string(raw), 10, 63)
	if err != nil {
		return false
	}
	*n = int(v)
	return true
}

// detail takes an object in which only this field matters, or null.
func detail(cur *cursor, name string, n *int) bool {
	if !cur.open('{') {
		return string(cur.skip()) == "null"
	}
	if *n >= 0 {
		return false // a second one
	}
	for first := true; ; first = false {
		key, more := cur.key(first)
		if !more {
			return !cur.bad
		}
		switch string(key) {
		case name:
			if cur.peek() == 'n' {
				cur.skip()
			} else if !count(cur, n) {
				return false
			}
		case "audio_tokens", "text_tokens", "image_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens":
			cur.skip()
		default:
			return false
		}
	}
}
