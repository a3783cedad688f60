package openai

import (
	"encoding/json"
	"slices"
	"strings"
)

// filterHits names the categories in which Azure's content filter stopped a
// prompt or an answer: "violence (medium), jailbreak". It is "" if in none, or
// if raw is no such object.
func filterHits(raw json.RawMessage) string {
	var categories map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &categories) != nil {
		return ""
	}
	var hits []string
	for name, v := range categories {
		var c struct {
			Filtered bool   `json:"filtered"`
			Severity string `json:"severity"`
		}
		if json.Unmarshal(v, &c) != nil || !c.Filtered {
			continue
		}
		if c.Severity != "" {
			name += " (" + c.Severity + ")"
		}
		hits = append(hits, name)
	}
	slices.Sort(hits)
	return strings.Join(hits, ", ")
}
