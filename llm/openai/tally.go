package openai

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// tally is the usage of one answer. Some servers report it with every chunk,
// cumulatively: the last value of a field counts, and a field that the last
// chunk lacks keeps its earlier value. It is added up nowhere.
type tally struct {
	last   json.RawMessage            // the only report so far
	fields map[string]json.RawMessage // of several
	odd    json.RawMessage            // the last one of several, if it is no object
}

func (t *tally) add(usage json.RawMessage) {
	if len(usage) == 0 || string(usage) == "null" {
		return
	}
	if t.last != nil && t.fields == nil {
		t.fields = map[string]json.RawMessage{}
		t.merge(t.last)
	}
	t.last = bytes.Clone(usage) // not all of its chunk
	if t.fields != nil {
		t.merge(usage)
	}
}

func (t *tally) merge(usage json.RawMessage) {
	var m map[string]json.RawMessage
	if json.Unmarshal(usage, &m) != nil {
		t.odd = usage
		return
	}
	t.odd = nil
	maps.DeleteFunc(m, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	maps.Copy(t.fields, m)
}

// sum is the usage, what the provider says it cost, and what is odd about it.
func (t *tally) sum() (llm.Usage, string, []string) {
	usage := t.last
	if t.odd != nil {
		usage = t.odd // the counts before it are of half an answer; ReadUsage says what it is
	} else if len(t.fields) > 0 {
		if b, err := json.Marshal(t.fields); err == nil {
			usage = b
		}
	}
	u, warnings := wire.ReadUsage(usage)
	return u, wire.ReadCost(usage), warnings
}
