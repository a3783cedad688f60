package agent

import (
	"cmp"
	"slices"
	"time"
)

// A Result is the sum of a run. All times are offsets from Start.
type Result struct {
	// Start is when the clock began: after the first prompts had been made.
	Start time.Time
	// Duration is how long it took until the last trajectory had ended, tools
	// and drain included.
	Duration time.Duration
	// Trajectories are those that were admitted, in order of their agents.
	Trajectories []*Event
	// Completed, Failed and Interrupted count them by their end; NotStarted
	// counts those that were not admitted before the context ended.
	Completed, Failed, Interrupted, NotStarted int
	// Planned counts the requests of all plans; the others say what became of
	// each, and add up to it.
	Planned, Succeeded, FailedRequests, Canceled, Unbuilt, NotAttempted int
	// Input, Output and EstimatedCached are tokens, as in Event.
	Input, Output, EstimatedCached int64
	ToolLatency                    time.Duration
	// Preparation and PreparationWait are sums, as in Event; MaxPreparationWait
	// is the longest of one request.
	Preparation, PreparationWait, MaxPreparationWait time.Duration
	Fallbacks                                        int
	// MaxActive is how many slots there were: in an open loop the most that
	// were taken at once.
	MaxActive int
	// LastAdmitted is when the last trajectory began; Drain is what followed.
	LastAdmitted, Drain time.Duration
	// Late is how many trajectories of an open loop had to wait for a slot,
	// MaxAdmissionLag the longest wait of any, for whatever reason.
	Late            int
	MaxAdmissionLag time.Duration
}

// absorb adds a trajectory that has ended.
func (r *Result) absorb(e *Event, admission Admission) {
	r.Trajectories = append(r.Trajectories, e)
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
	if admission == OpenLoop {
		r.MaxAdmissionLag = max(r.MaxAdmissionLag, e.QueueWait())
	}
}

func (r *Result) finish(plans *Plans, admission Admission) {
	r.Duration = time.Since(r.Start)
	r.Drain = r.Duration - r.LastAdmitted
	r.Planned = plans.Turns()
	r.NotStarted = len(plans.List) - len(r.Trajectories)
	r.NotAttempted = r.Planned - r.Succeeded - r.FailedRequests - r.Canceled - r.Unbuilt
	slices.SortFunc(r.Trajectories, func(a, b *Event) int { return cmp.Compare(a.Agent, b.Agent) })
}
