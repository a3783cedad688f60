package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/jsonraw"
)

// ReadUsage reads a provider's usage object as it came over the wire: of
// OpenAI's chat completions or responses, of the many that imitate them
// (DeepSeek, OpenRouter, vLLM, …), of Anthropic, of Bedrock's converse, or
// Gemini's usageMetadata.
//
// The result means what [llm.Usage] says: cached tokens are part of Input,
// reasoning tokens part of Output, wherever the provider counts them. 12.0 is
// 12. A count that is no whole number ("12", 12.5, a negative one) makes the
// usage unknown, and a warning says which. An absent or null object is unknown
// without a warning.
func ReadUsage(raw json.RawMessage) (llm.Usage, []string) {
	var c usageCounts
	if len(raw) > 0 && !json.Valid(raw) {
		c.note("usage", raw)
	} else {
		c.merge(raw)
	}
	return c.usage()
}

// usageCounts are the fields seen so far. Streams may report usage in every
// chunk, cumulatively: the last value of a field wins, and a field that the
// last chunk lacks keeps its earlier value.
type usageCounts struct {
	n    map[string]int64
	bad  map[string]string
	cost string // in USD
}

// merge reads one usage object, which is valid JSON; what is not an object is
// ignored if it is null, else noted.
func (c *usageCounts) merge(raw json.RawMessage) {
	value := bytes.TrimSpace(raw)
	if !isSet(value) {
		return
	}
	if value[0] != '{' {
		c.note("usage", raw)
		return
	}
	var places [1 + len(usageFields) + len(usageObjects)]json.RawMessage // of usageNames
	usageNames.ReadExact(value, places[:])
	costs, fields, details := places[0], places[1:1+len(usageFields)], places[1+len(usageFields):]
	if len(costs) > 0 {
		c.cost = cmp.Or(cost(costs), c.cost)
	}
	for i, name := range usageFields {
		c.read(name, fields[i])
	}
	for i, d := range usageDetails {
		var most [max(len(cacheFields), len(reasoningFields), len(hourFields))]json.RawMessage
		inner := most[:len(d.fields)]
		d.fields.ReadExact(details[i], inner)
		for j, name := range d.names {
			c.read(name, inner[j])
		}
	}
}

var usageFields = [...]string{
	"prompt_tokens", "completion_tokens", "total_tokens", "prompt_cache_hit_tokens", "cached_tokens", "reasoning_tokens",
	"input_tokens", "output_tokens", "cached_input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
	"inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens",
	"promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount", "toolUsePromptTokenCount",
}

// usageObjects are the objects inside a usage object, with one of the lists of
// fields before them.
var (
	cacheFields     = [...]string{"cached_tokens", "cache_write_tokens"}
	reasoningFields = [...]string{"reasoning_tokens"}
	hourFields      = [...]string{"ephemeral_1h_input_tokens"}

	usageObjects = [...]struct {
		name   string
		fields jsonraw.Names
	}{
		{"prompt_tokens_details", cacheFields[:]},
		{"completion_tokens_details", reasoningFields[:]},
		{"input_tokens_details", cacheFields[:]},
		{"output_tokens_details", reasoningFields[:]},
		{"cache_creation", hourFields[:]},
	}
)

// A usageDetail is one of usageObjects; names are its fields behind the object's
// name and a dot, as counts are kept.
type usageDetail struct {
	fields jsonraw.Names
	names  []string
}

// usageNames are what merge reads of an object: cost, usageFields, and
// usageObjects, which usageDetails are in the same order.
var usageNames, usageDetails = nameUsage()

func nameUsage() (names jsonraw.Names, details []usageDetail) {
	names = append(jsonraw.Names{"cost"}, usageFields[:]...)
	for _, o := range usageObjects {
		d := usageDetail{fields: o.fields}
		for _, f := range o.fields {
			d.names = append(d.names, o.name+"."+f)
		}
		names, details = append(names, o.name), append(details, d)
	}
	return names, details
}

func (c *usageCounts) read(name string, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	n, ok := wholeNumber(raw)
	if !ok {
		c.note(name, raw)
		return
	}
	if c.n == nil {
		c.n = map[string]int64{}
	}
	c.n[name] = n
	delete(c.bad, name)
}

func (c *usageCounts) note(name string, raw json.RawMessage) {
	if c.bad == nil {
		c.bad = map[string]string{}
	}
	text := string(raw)
	if len(text) > 24 { // no count is: do not repeat what it may be
		text = fmt.Sprintf("%.1s… of %d bytes", text, len(text))
	}
	c.bad[name] = text
}

// wholeNumber reads a JSON number that is a whole one, however it is spelled,
// and not absurd.
func wholeNumber(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, n >= 0 && n < 1<<53 // sums of such counts cannot overflow
	}
	if len(raw) == 0 || raw[0] == '"' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func (c *usageCounts) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := c.n[n]; return ok })
}

// first is the first of these fields that was reported, else 0.
func (c *usageCounts) first(names ...string) int64 {
	for _, n := range names {
		if v, ok := c.n[n]; ok {
			return v
		}
	}
	return 0
}

func (c *usageCounts) usage() (llm.Usage, []string) {
	if len(c.bad) > 0 {
		var warns []string
		for name, text := range c.bad {
			warns = append(warns, fmt.Sprintf("usage is unknown: %s is %q, which is not a whole number of tokens", name, text))
		}
		slices.Sort(warns)
		return llm.Usage{}, warns
	}
	var u llm.Usage
	var odd []string
	switch {
	case c.has("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"):
		u = llm.Usage{
			Input:       c.first("promptTokenCount") + c.first("toolUsePromptTokenCount"),
			CachedInput: c.first("cachedContentTokenCount"),
			Output:      c.first("candidatesTokenCount") + c.first("thoughtsTokenCount"),
			Reasoning:   c.first("thoughtsTokenCount"),
		}
	case c.has("prompt_tokens", "completion_tokens"):
		u, odd = c.openAI("prompt_tokens", "completion_tokens")
		if !c.has("prompt_tokens") {
			return llm.Usage{}, []string{"usage is unknown: prompt_tokens is missing"}
		}
		if !c.has("completion_tokens", "total_tokens") {
			return llm.Usage{}, []string{"usage is unknown: completion_tokens is missing"}
		}
	case c.has("input_tokens") && c.has("output_tokens"):
		u, odd = c.openAI("input_tokens", "output_tokens")
		// Anthropic counts what it read from and wrote to its cache beside
		// input_tokens, not in it.
		u.Input += c.first("cache_read_input_tokens") + c.first("cache_creation_input_tokens")
		if c.has("cache_read_input_tokens") {
			u.CachedInput = c.first("cache_read_input_tokens")
		}
	case c.has("inputTokens") && c.has("outputTokens"): // Bedrock's converse
		u = llm.Usage{
			Input:       c.first("inputTokens") + c.first("cacheReadInputTokens") + c.first("cacheWriteInputTokens"),
			CachedInput: c.first("cacheReadInputTokens"),
			Output:      c.first("outputTokens"),
		}
	default:
		return llm.Usage{}, nil
	}
	u.Known = true
	u.CacheWrite = c.first("prompt_tokens_details.cache_write_tokens", "input_tokens_details.cache_write_tokens", "cache_creation_input_tokens", "cacheWriteInputTokens")
	u.CacheWriteHour = c.first("cache_creation.ephemeral_1h_input_tokens")
	u, warns := checkUsage(u)
	return u, append(odd, warns...)
}

func (c *usageCounts) openAI(in, out string) (llm.Usage, []string) {
	u := llm.Usage{
		Input:       c.first(in),
		CachedInput: c.first("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens", "cached_input_tokens"),
		Output:      c.first(out),
		Reasoning:   c.first("completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens"),
	}
	total, ok := c.n["total_tokens"]
	more := total - u.Input - u.Output
	switch {
	case !ok:
	case !c.has(out):
		u.Output = max(total-u.Input, 0)
	case u.Reasoning > 0 && more == u.Reasoning:
		// A few providers count reasoning beside the completion; their own
		// total tells.
		u.Output += u.Reasoning
	case more > 0 && u.Reasoning == 0 && !c.has("cache_read_input_tokens", "cache_creation_input_tokens"):
		// Gemini's compatible endpoint has its thoughts in the total only.
		u.Output += more
		return u, []string{fmt.Sprintf("usage reports a total of %d tokens more than input and output: taken as output", more)}
	}
	return u, nil
}

// checkUsage keeps the parts within their wholes, and says if it had to.
func checkUsage(u llm.Usage) (llm.Usage, []string) {
	var warns []string
	if u.CachedInput > u.Input {
		warns = append(warns, fmt.Sprintf("usage reports %d cached of %d input tokens: taken as %d", u.CachedInput, u.Input, u.Input))
		u.CachedInput = u.Input
	}
	if most := u.Input - u.CachedInput; u.CacheWrite > most {
		warns = append(warns, fmt.Sprintf("usage reports %d tokens written to a cache of %d that were not cached: taken as %d", u.CacheWrite, most, most))
		u.CacheWrite = most
	}
	if u.CacheWriteHour > u.CacheWrite {
		warns = append(warns, fmt.Sprintf("usage reports %d tokens cached for an hour of %d written: taken as %d", u.CacheWriteHour, u.CacheWrite, u.CacheWrite))
		u.CacheWriteHour = u.CacheWrite
	}
	if u.Reasoning > u.Output {
		warns = append(warns, fmt.Sprintf("usage reports %d reasoning of %d output tokens: taken as %d", u.Reasoning, u.Output, u.Output))
		u.Reasoning = u.Output
	}
	return u, warns
}
