package gemini

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/internal/jsonlist"
	"github.com/goevals/evals/llm/wire"
)

// detail is what an error body of Google's says.
type detail struct {
	wire.ErrorBody
	quotas []quota
}

// quota is one that the body says is used up.
type quota struct {
	Metric string `json:"quotaMetric"`
	ID     string `json:"quotaId"`
	Value  string `json:"quotaValue"`
}

// readDetail reads an error body. The names of quotas are masked here, before
// anything cuts them.
func readDetail(body []byte, mask func(string) string) detail {
	d := detail{ErrorBody: wire.ReadError(body)}
	if len(body) > maxDetailed {
		return d
	}
	var list jsonlist.List[json.RawMessage]
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var b struct {
		Error struct {
			Details jsonlist.List[json.RawMessage] `json:"details"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &b) // what is not there says nothing
	for _, raw := range b.Error.Details {
		var one struct {
			Type       string               `json:"@type"`
			Violations jsonlist.List[quota] `json:"violations"`
			Metadata   struct {
				Limit  string `json:"quota_limit"`
				Metric string `json:"quota_metric"`
				Value  string `json:"quota_limit_value"`
			} `json:"metadata"`
		}
		_ = json.Unmarshal(raw, &one)
		switch {
		case strings.HasSuffix(one.Type, "google.rpc.QuotaFailure"):
			d.quotas = append(d.quotas, one.Violations...)
		case strings.HasSuffix(one.Type, "google.rpc.ErrorInfo") && one.Metadata.Limit != "":
			d.quotas = append(d.quotas, quota{one.Metadata.Metric, one.Metadata.Limit, one.Metadata.Value})
		}
	}
	for i, q := range d.quotas {
		d.quotas[i] = quota{mask(q.Metric), mask(q.ID), mask(q.Value)}
	}
	return d
}

// maxDetailed is the longest error body whose details are read, in bytes.
const maxDetailed = 1 << 20

// statusOf are the HTTP statuses of Google's words, for errors that come after
// the status has gone out.
var statusOf = map[string]int{
	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400,
	"UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
	"ABORTED": 409, "ALREADY_EXISTS": 409, "RESOURCE_EXHAUSTED": 429, "CANCELLED": 499,
	"INTERNAL": 500, "UNKNOWN": 500, "DATA_LOSS": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}

// status is the HTTP status that the body stands for, 200 if it does not say.
func (d detail) status() int {
	if d.HTTP != 0 {
		return d.HTTP
	}
	if s := statusOf[d.Status]; s != 0 {
		return s
	}
	return http.StatusOK
}

var noQuota = regexp.MustCompile(`\blimit: 0(?:$|[^\d.]|\.(?:\s|$))`)

// kind says what a refusal with this status means; 200 is an error that names
// no status, inside a good answer. The table is that of llm/wire, but for what
// holds of this API alone. A status from 500 on is the server's trouble,
// whatever its body says: no gateway of another provider stands behind it. A
// 429 is always about a quota, be it one of nothing at all, for which no run
// can wait.
func (d detail) kind(status int) llm.ErrorKind {
	if status >= 500 {
		return llm.KindServer
	}
	k := d.ErrorBody.Kind(status)
	switch {
	case status != http.StatusTooManyRequests || k == llm.KindBalance:
		return k
	case k == llm.KindQuota || d.nothing():
		return llm.KindQuota
	}
	return llm.KindRateLimit
}

// nothing reports whether a quota is zero: the account may not use the model.
func (d detail) nothing() bool {
	for _, q := range d.quotas {
		if q.Value == "0" {
			return true
		}
	}
	return noQuota.MatchString(strings.ToLower(d.Message))
}

// quotaName names what is used up: the metric, the quota and its size.
func (d detail) quotaName() string {
	var names []string
	for _, q := range d.quotas {
		s := q.Metric
		if q.ID != "" {
			s = strings.TrimSpace(s + " (" + q.ID)
			if q.Value != "" {
				s += ", " + q.Value
			}
			s += ")"
		}
		if s != "" && len(names) < 3 {
			names = append(names, client.Cut(s, client.MaxName))
		}
	}
	return strings.Join(names, "; ")
}

// prepaid stands in what is said of an empty account: "Your prepayment credits
// are depleted. Please go to AI Studio at https://ai.studio/projects to manage
// your project and billing."
const prepaid = "prepayment credits"

// hint says what a person can do about it.
func (d detail) hint(kind llm.ErrorKind, to target) string {
	switch {
	case kind == llm.KindQuota && d.nothing():
		return "this account has no quota for " + to.model + " at all: " + cmp.Or(d.quotaName(), "the limit is 0") + "; enable billing, or choose another model"
	case kind == llm.KindQuota:
		return "a day's quota is used up: " + cmp.Or(d.quotaName(), "the server does not name it") + "; it resets at midnight Pacific time: go on then, or raise the quota"
	case kind == llm.KindRateLimit:
		if name := d.quotaName(); name != "" {
			return "used up for now: " + name
		}
		return "fewer calls at once, or RPM and TPM in call.Limits, keep below it"
	case kind == llm.KindBalance && strings.Contains(strings.ToLower(d.Message), prepaid):
		return "top up the credits of the key's project in AI Studio"
	case kind == llm.KindBalance && strings.Contains(strings.ToLower(d.Message), "spending cap"):
		return "raise the spending cap of the key's project or account in AI Studio"
	case kind == llm.KindBalance:
		return "enable billing for the key's project"
	case kind == llm.KindAuth && strings.Contains(strings.ToLower(d.Message), "location is not supported"):
		return "the API is not offered where this machine is"
	case kind == llm.KindAuth && d.Reason == "SERVICE_DISABLED":
		return "enable the API for the project"
	case kind == llm.KindAuth && to.token:
		return "check the credentials, and that they may use Vertex AI in the project"
	case kind == llm.KindAuth:
		return "check the key in " + to.keyEnvs
	case kind == llm.KindNotFound && to.vertex:
		return fmt.Sprintf("check Config.Model, %q, and that the location has it", to.model)
	case kind == llm.KindNotFound:
		return fmt.Sprintf("check Config.Model, %q", to.model)
	case kind == llm.KindContext:
		return "shorten the prompt, lower MaxOutputTokens or take a model of a larger context"
	}
	return ""
}
