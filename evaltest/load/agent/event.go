package agent

import (
	"encoding/json"
	"time"
)

// End is how a trajectory ended.
type End string

// Ends.
const (
	Completed   End = "completed"   // all turns were answered, the last delay included
	Failed      End = "failed"      // a turn failed, or could not be built
	Interrupted End = "interrupted" // the run's context ended
)

// An Event is what became of one trajectory. All times are offsets from the
// run's start.
//
// As JSON it is one row of BatchBench's agent events, with times in seconds
// and further fields behind: BatchBench sorts its rows by agent when all is
// over; here a row is written when its trajectory ends.
type Event struct {
	Agent      int
	Trajectory string
	Slot       int
	Rank       *int // Slot modulo Config.Ranks; nil without ranks
	// Scheduled is when it was due: its StartAfter in an open loop, else 0.
	Scheduled time.Duration
	// Admitted is when it began, with its first prompt at hand; Finished when
	// it gave its slot back.
	Admitted, Finished time.Duration
	End                End
	// Planned counts its requests. Each was answered, failed, was canceled in
	// flight, could not be built, or was not attempted after one of those.
	Planned, Succeeded, Failed, Canceled, Unbuilt, NotAttempted int
	// Input and Output are what the server reported for the answered ones.
	Input, Output int64
	// EstimatedCached is BatchBench's estimate, see [EstimateCached].
	EstimatedCached int64
	// ToolLatency is how long its tools took, Model how long its requests
	// were at the server, the last try of each.
	ToolLatency, Model time.Duration
	// Preparation is how long texts were made and put together for it.
	// PreparationWait is how much later than due its requests were ready for
	// that reason: the load was lighter by so much. It is in no service
	// latency.
	Preparation, PreparationWait time.Duration
	// Fallbacks is how many live blocks had no reply to take.
	Fallbacks int
	// Err is why it failed; nil if it did not.
	Err error
}

type eventRow struct {
	Agent           int     `json:"agent_id"`
	Trajectory      string  `json:"trajectory_id"`
	Slot            int     `json:"routing_slot"`
	Rank            *int    `json:"dp_rank"`
	Scheduled       float64 `json:"scheduled_at_seconds"`
	Admitted        float64 `json:"admitted_at_seconds"`
	QueueWait       float64 `json:"queue_wait_seconds"`
	Finished        float64 `json:"finished_at_seconds"`
	Runtime         float64 `json:"runtime_seconds"`
	Completed       bool    `json:"completed"`
	End             End     `json:"end"`
	Planned         int     `json:"planned_requests"`
	Succeeded       int     `json:"successful_requests"`
	Failed          int     `json:"failed_requests"`
	Canceled        int     `json:"canceled_requests"`
	Unbuilt         int     `json:"unbuilt_requests"`
	NotAttempted    int     `json:"not_attempted_requests"`
	Input           int64   `json:"input_tokens"`
	Output          int64   `json:"output_tokens"`
	EstimatedCached int64   `json:"estimated_cached_input_tokens"`
	ToolLatency     float64 `json:"tool_call_latency_seconds"`
	Model           float64 `json:"model_seconds"`
	Preparation     float64 `json:"preparation_seconds"`
	PreparationWait float64 `json:"preparation_wait_seconds"`
	Fallbacks       int     `json:"live_block_fallbacks"`
	Error           string  `json:"error,omitempty"`
}

// QueueWait is how much later than scheduled the trajectory was admitted.
func (e *Event) QueueWait() time.Duration { return max(0, e.Admitted-e.Scheduled) }

// Runtime is how long the trajectory held its slot.
func (e *Event) Runtime() time.Duration { return e.Finished - e.Admitted }

// MarshalJSON writes the row.
func (e *Event) MarshalJSON() ([]byte, error) {
	row := eventRow{
		Agent: e.Agent, Trajectory: e.Trajectory, Slot: e.Slot, Rank: e.Rank,
		Scheduled: e.Scheduled.Seconds(), Admitted: e.Admitted.Seconds(), QueueWait: e.QueueWait().Seconds(),
		Finished: e.Finished.Seconds(), Runtime: e.Runtime().Seconds(),
		Completed: e.End == Completed, End: e.End,
		Planned: e.Planned, Succeeded: e.Succeeded, Failed: e.Failed, Canceled: e.Canceled, Unbuilt: e.Unbuilt, NotAttempted: e.NotAttempted,
		Input: e.Input, Output: e.Output, EstimatedCached: e.EstimatedCached,
		ToolLatency: e.ToolLatency.Seconds(), Model: e.Model.Seconds(),
		Preparation: e.Preparation.Seconds(), PreparationWait: e.PreparationWait.Seconds(), Fallbacks: e.Fallbacks,
	}
	if e.Err != nil {
		row.Error = e.Err.Error()
	}
	return json.Marshal(row)
}
