package metric

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/report"
)

// A Job is a session that ended: an agent's whole trajectory. The player of
// trajectories fills it in; times are offsets from the run's start.
type Job struct {
	// Trajectory is that of its requests' records; Agent its number, from 0.
	Trajectory string
	Agent      int
	// Due is when it should have begun, Admitted when it got a slot, Finished
	// when it ended, its last tool included.
	Due, Admitted, Finished time.Duration
	// Turns is how many requests were planned; Tool the time spent in tools.
	Turns int
	Tool  time.Duration
	// Completed says that every turn was answered. Canceled says that the run
	// ended first: it then counts neither as a success nor as a failure.
	Completed, Canceled bool
	// Replaced says that it took the slot of one that had ended.
	Replaced bool
}

// session is what is kept of a session under way.
type session struct {
	model, lag time.Duration
	prefix     Prefix
}

// session adds a request to its session, whatever the phase: a job is whole.
func (m *Meter) session(r *record.Request) {
	if r.Trajectory == "" {
		return
	}
	s := m.sessions[r.Trajectory]
	if s == nil {
		s = &session{}
		m.sessions[r.Trajectory] = s
	}
	s.model += r.Done - r.FirstSent
	s.lag += max(0, r.FirstSent-r.Due)
	if r.Reset {
		s.prefix.Reset()
	}
	if r.OK() && r.Usage.Known {
		m.jobs.cached += s.prefix.Add(r.Usage.Input)
	}
}

// Prefix is batchbench's estimate of how much of a session's input a prefix
// cache could have held: of each answered request the smaller of its input and
// that of the one before. What the server generated in between is left out, so
// a real cache may hold more. The zero value is a session that has not begun.
type Prefix struct {
	before int64
}

// Add returns the estimate for the session's next answered request, whose
// input has that many tokens.
func (p *Prefix) Add(input int64) int64 {
	hit := min(p.before, input)
	p.before = input
	return hit
}

// Reset says that the conversation begins anew.
func (p *Prefix) Reset() { p.before = 0 }

// jobs adds up sessions that ended.
type jobs struct {
	total, completed, failed, canceled int64
	planned                            int64
	tool                               time.Duration
	period                             period
	lastReplacement                    time.Duration
	cached                             int64 // estimated, of all sessions

	wall, model, tools, lag, other, queue Pool
}

// AddJob adds a session that ended, after its last request. A job whose times
// run backwards is refused.
func (m *Meter) AddJob(j Job) error {
	if j.Due < 0 || j.Admitted < 0 || j.Finished < j.Admitted || j.Finished > longest || j.Due > longest || j.Tool < 0 || j.Turns < 0 {
		return fmt.Errorf("metric: job %q: due %v, admitted %v, finished %v, in tools %v, %d turns: want times that do not run backwards",
			j.Trajectory, j.Due, j.Admitted, j.Finished, j.Tool, j.Turns)
	}
	if j.Completed && j.Canceled {
		return fmt.Errorf("metric: job %q is both completed and canceled", j.Trajectory)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := cmp.Or(m.sessions[j.Trajectory], &session{})
	delete(m.sessions, j.Trajectory)
	name := report.Escape(j.Trajectory, exampleBytes)
	for i := range m.failed {
		if m.failed[i].Trajectory == name {
			m.failed[i].Agent = j.Agent
		}
	}
	d := &m.jobs
	d.total++
	d.planned += int64(j.Turns)
	d.tool += j.Tool
	d.period.add(j.Admitted, j.Finished)
	if j.Replaced {
		d.lastReplacement = max(d.lastReplacement, j.Admitted)
	}
	d.queue.Add(float64(max(0, j.Admitted-j.Due)), 1)
	switch {
	case j.Canceled:
		d.canceled++
	case !j.Completed:
		d.failed++
	default:
		d.completed++
		wall := j.Finished - j.Admitted
		d.wall.Add(float64(wall), 1)
		d.model.Add(float64(s.model), 1)
		d.tools.Add(float64(j.Tool), 1)
		d.lag.Add(float64(s.lag), 1)
		d.other.Add(float64(wall-s.model-j.Tool-s.lag), 1)
	}
	return nil
}

// Jobs is what a run's sessions come to. Times are those of completed ones.
type Jobs struct {
	Total     int64 `json:"total"`
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
	// Canceled were still running when the run ended: neither good nor bad.
	Canceled int64 `json:"canceled"`
	// Planned is how many requests all jobs had planned.
	Planned int64 `json:"planned_turns"`
	// Success is Completed / (Completed + Failed); 0 to 1.
	Success Figure `json:"success_fraction"`
	// PerHour is completed jobs an hour, from the first admission to the last end.
	PerHour Figure `json:"completed_per_hour"`
	// Wall is admission to end, ModelTime the part in which a request was in
	// flight (tries included), ToolTime that in tools, ClientLag that in which
	// a due request waited for the client, Other the rest, such as preparation;
	// below 0 if turns overlapped. QueueWait is due to admission, of all jobs.
	Wall      Dist `json:"wall_ns"`
	ModelTime Dist `json:"model_time_ns"`
	ToolTime  Dist `json:"tool_time_ns"`
	ClientLag Dist `json:"client_lag_ns"`
	Other     Dist `json:"other_ns"`
	QueueWait Dist `json:"queue_wait_ns"`
	// ToolTotal is the time in tools of all jobs, LastReplacement when the last
	// job was admitted to a used slot (0: none was), Drain the time from then
	// to the last job's end.
	ToolTotal       time.Duration `json:"tool_total_ns"`
	LastReplacement time.Duration `json:"last_replacement_ns"`
	Drain           time.Duration `json:"drain_ns"`
	// Elapsed is from the first admission to the last end.
	Elapsed time.Duration `json:"elapsed_ns"`
	// EstimatedCached is batchbench's estimate of cached input: see [Prefix].
	EstimatedCached int64 `json:"estimated_cached_input_tokens"`
}

func (m *Meter) jobsResult() *Jobs {
	d := &m.jobs
	if d.total == 0 {
		return nil
	}
	return &Jobs{
		Total: d.total, Completed: d.completed, Failed: d.failed, Canceled: d.canceled, Planned: d.planned,
		Success: ratio(float64(d.completed), float64(d.completed+d.failed)),
		PerHour: ratio(float64(d.completed), d.period.length().Hours()),
		Wall:    d.wall.Dist(), ModelTime: d.model.Dist(), ToolTime: d.tools.Dist(),
		ClientLag: d.lag.Dist(), Other: d.other.Dist(), QueueWait: d.queue.Dist(),
		ToolTotal: d.tool, LastReplacement: d.lastReplacement, Elapsed: d.period.length(),
		Drain: d.period.to - max(d.lastReplacement, d.period.from), EstimatedCached: d.cached,
	}
}

func failedRequest(r *record.Request) FailedRequest {
	return FailedRequest{
		Agent: -1, User: r.User, Turn: r.Turn, Seq: r.Seq,
		Trajectory: report.Escape(r.Trajectory, exampleBytes), Message: report.Escape(r.Failure.Error(), exampleBytes),
	}
}

// sortFailed orders failures as batchbench does: by user or agent, then turn.
func sortFailed(list []FailedRequest) []FailedRequest {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b FailedRequest) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.User, b.User), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Seq, b.Seq))
	})
	return list
}
