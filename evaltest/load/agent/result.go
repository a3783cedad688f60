package agent

import (
	"cmp"
	"slices"
	"time"
)

// A Result is the sum of a run. All times are offsets from Start.
type Result struct {
	// Start is when the clock began: after the first prompts had been made.
	Start time.Time `json:"start"`
	// Duration is how long it took until the last trajectory had ended, tools
	// and drain included.
	Duration time.Duration `json:"duration_ns"`
	// Trajectories are those that were admitted, in order of their agents; none
	// with Config.Discard.
	Trajectories []*Event `json:"trajectories,omitempty"`
	// Completed, Failed and Interrupted count them by their end; NotStarted
	// counts those that were not admitted before the context ended.
	Completed   int `json:"completed"`
	Failed      int `json:"failed"`
	Interrupted int `json:"interrupted"`
	NotStarted  int `json:"not_started"`
	// Planned counts the requests of all plans; the others say what became of
	// each, and add up to it.
	Planned        int `json:"planned_requests"`
	Succeeded      int `json:"succeeded_requests"`
	FailedRequests int `json:"failed_requests"`
	Canceled       int `json:"canceled_requests"`
	Unbuilt        int `json:"unbuilt_requests"`
	NotAttempted   int `json:"not_attempted_requests"`
	// Input, Output and EstimatedCached are tokens, as in Event.
	Input           int64         `json:"input_tokens"`
	Output          int64         `json:"output_tokens"`
	EstimatedCached int64         `json:"estimated_cached_input_tokens"`
	ToolLatency     time.Duration `json:"tool_latency_ns"`
	// Preparation and PreparationWait are sums, as in Event; MaxPreparationWait
	// is the longest of one request.
	Preparation        time.Duration `json:"preparation_ns"`
	PreparationWait    time.Duration `json:"preparation_wait_ns"`
	MaxPreparationWait time.Duration `json:"max_preparation_wait_ns"`
	Fallbacks          int           `json:"live_block_fallbacks"`
	// SinkWait is how long sessions were held back because the sink had not
	// taken what came before, added up: the load was lighter by so much.
	SinkWait time.Duration `json:"sink_wait_ns"`
	// MaxActive is how many slots there were: in an open loop the most that
	// were taken at once.
	MaxActive int `json:"max_active"`
	// LastAdmitted is when the last trajectory began; Drain is what followed.
	LastAdmitted time.Duration `json:"last_admitted_ns"`
	Drain        time.Duration `json:"drain_ns"`
	// Late is how many trajectories of an open loop had to wait for a slot,
	// MaxAdmissionLag the longest wait of any, for whatever reason.
	Late            int           `json:"late_admissions"`
	MaxAdmissionLag time.Duration `json:"max_admission_lag_ns"`
}

// absorb adds a trajectory that has ended.
func (r *Result) absorb(e *Event, cfg *Config) {
	if !cfg.Discard {
		r.Trajectories = append(r.Trajectories, e)
	}
	switch e.End {
	case Completed:
		r.Completed++
	case Failed:
		r.Failed++
	default:
		r.Interrupted++
	}
	r.Succeeded += e.Succeeded
	r.FailedRequests += e.Failed
	r.Canceled += e.Canceled
	r.Unbuilt += e.Unbuilt
	r.NotAttempted += e.NotAttempted
	r.Input += e.Input
	r.Output += e.Output
	r.EstimatedCached += e.EstimatedCached
	r.ToolLatency += e.ToolLatency
	r.Preparation += e.Preparation
	r.PreparationWait += e.PreparationWait
	r.Fallbacks += e.Fallbacks
	r.LastAdmitted = max(r.LastAdmitted, e.Admitted)
	if cfg.Admission == OpenLoop {
		r.MaxAdmissionLag = max(r.MaxAdmissionLag, e.QueueWait())
	}
}

func (r *Result) finish(plans *Plans, admission Admission) {
	r.Duration = time.Since(r.Start)
	r.Drain = r.Duration - r.LastAdmitted
	r.Planned = plans.Turns()
	r.NotStarted = len(plans.List) - r.Completed - r.Failed - r.Interrupted
	r.NotAttempted = r.Planned - r.Succeeded - r.FailedRequests - r.Canceled - r.Unbuilt
	slices.SortFunc(r.Trajectories, func(a, b *Event) int { return cmp.Compare(a.Agent, b.Agent) })
}
