package gemini

import (
	"encoding/json"

	"github.com/goevals/evals/llm/internal/jsonraw"
)

// counts are the fields of an answer's usage objects. A stream repeats its
// counts so far in each chunk: the last value of a field counts, and one that
// the last chunk lacks keeps its earlier value. The zero value has none.
type counts struct {
	at     map[string]int // a field's name → its place in values
	values []json.RawMessage
}

// add reads one usage object. It reports false, and forgets all, if raw is none.
func (c *counts) add(raw json.RawMessage) bool {
	if raw[0] != '{' {
		*c = counts{}
		return false
	}
	if c.at == nil {
		c.at = map[string]int{}
	}
	jsonraw.Fields(raw, func(name, value []byte) {
		if isNull(value) {
			return
		}
		i, known := c.at[string(name)]
		if !known {
			i = len(c.values)
			c.at[string(name)] = i
			c.values = append(c.values, nil)
		}
		c.values[i] = append(c.values[i][:0], value...) // a chunk is not kept for its counts
	})
	return true
}

func (c *counts) has(name string) bool { _, ok := c.at[name]; return ok }

// object is one object of the fields so far, nil if there was no usage.
func (c *counts) object() json.RawMessage {
	if c.at == nil {
		return nil
	}
	fields := map[string]json.RawMessage{}
	for name, i := range c.at {
		fields[name] = c.values[i]
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return b
}
