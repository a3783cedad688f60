package openai

import (
	"net/http"
	"strings"

	"github.com/goevals/evals/llm"
)

// kindOf classifies an error body: by what only these providers say, then as
// llm/wire does for all. status is 200 for one inside a good answer.
func (d detail) kindOf(status int) llm.ErrorKind {
	switch {
	case d.limit == "openrouter_in_flight_budget":
		return llm.KindRateLimit // calls under way hold the balance
	case status == http.StatusForbidden && d.moderated:
		return llm.KindBlocked
	}
	body := d.ErrorBody
	body.Message += "\n" + d.raw
	body.Daily = body.Daily || strings.Contains(d.limit, "daily")
	return body.Kind(status)
}
