package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/workload"
)

// Schema is the version of a report's JSON.
const Schema = "evals-load-run/1"

// ErrInvalid is what the problem of a run is whose numbers do not speak of the
// server: the client was the limit, or two things were measured at once.
var ErrInvalid = errors.New("the run is not valid")

// A Report says what was asked, what was sent and what came of it. It can be
// written as JSON; times are in nanoseconds.
type Report struct {
	Schema  string    `json:"schema"`
	Started time.Time `json:"started"`
	// URL is where requests went, without secrets, and Model the name asked for.
	URL   string `json:"url"`
	Model string `json:"model"`
	// Seed is the root of arrivals and jitter, or of all of a run of agents, and
	// Workload the source's options with what was drawn for it. With both, and
	// what the caller set besides, the same bytes can be sent again.
	Seed     uint64 `json:"seed"`
	Workload any    `json:"workload,omitempty"`
	// Users and RequestsPerUser are a closed loop's, Schedule an open one's in
	// words, and Rate its arrivals a second.
	Users           int            `json:"users,omitempty"`
	RequestsPerUser int            `json:"requests_per_user,omitempty"`
	Schedule        string         `json:"schedule,omitempty"`
	Rate            float64        `json:"rate_per_s,omitempty"`
	Phases          arrival.Phases `json:"phases,omitzero"`
	// MaxInFlight is an open loop's limit, beyond which arrivals are dropped.
	MaxInFlight int           `json:"max_in_flight,omitempty"`
	Client      client.Limits `json:"client"`
	// Arrivals is how well due times were kept; absent for agents, whose turns
	// are due when the one before and its tool are done. Where a source ends the
	// run, the arrivals that found no request left are counted here, and nowhere
	// else.
	Arrivals *arrival.Report `json:"arrivals,omitempty"`
	// Agents is what became of trajectories.
	Agents *agent.Result `json:"agents,omitempty"`
	// SinkWait is how long requests that had ended were held back because
	// the sink, of a Load or of Agents, had not taken those before them, added up.
	SinkWait time.Duration `json:"sink_wait_ns,omitempty"`
	// Interrupted says that the caller's context ended the run.
	Interrupted bool `json:"interrupted,omitempty"`
	// Warnings are what a reader should know, the result's not included.
	Warnings []string `json:"warnings,omitempty"`
	// Result is what the requests come to.
	Result *metric.Result `json:"result"`
}

// Problem is why a run should not be believed, or used: it wraps
// [metric.ErrNothing] if no request was answered, or [ErrInvalid] with every
// check that is broken. It is nil if there is none. Failed requests are none:
// how many are too many is for the caller to say.
func (r *Report) Problem() error {
	if r.Result.Counts.Due == 0 {
		return fmt.Errorf("load: %w: none was due in the measured part: it, or the source, ended before the first arrival, or the warm-up took them all", metric.ErrNothing)
	}
	if r.Result.Counts.OK == 0 {
		_, err := r.Result.Metrics()
		return fmt.Errorf("load: %w", err)
	}
	broken := r.Result.Validity.Broken()
	if len(broken) == 0 && r.Result.Validity.Valid {
		return nil
	}
	var b strings.Builder
	for i, c := range broken {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s is %s (limit %s)", c.Name, said(c.Figure, c.Unit), said(c.Limit, c.Unit))
		if c.Why != "" {
			b.WriteString(": " + c.Why)
		}
	}
	return fmt.Errorf("load: %w: %s", ErrInvalid, b.String())
}

// said is a figure with its unit, as a person reads it.
func said(f metric.Figure, unit string) string {
	v, ok := f.Get()
	switch {
	case !ok:
		return "not known"
	case unit == "1":
		return strconv.FormatFloat(v, 'g', 4, 64)
	case unit == "ns":
		return time.Duration(v).Round(time.Microsecond).String()
	}
	return strings.TrimSpace(strconv.FormatFloat(v, 'g', 4, 64) + " " + unit)
}

// WriteJSON writes the report as indented JSON, with the formula of each number.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("load: the report: %w", err)
	}
	return nil
}

// report puts together what is known when all has ended.
func (r *runner) report(arrivals arrival.Report, health metric.Health) *Report {
	rep := &Report{
		Schema: Schema, Started: r.start.UTC(), URL: r.client.URL(), Model: r.Load.Client.Model, Seed: r.Seed, Workload: described(r.Source),
		Users: r.Users, RequestsPerUser: r.RequestsPerUser, Phases: r.Phases, Client: r.client.Limits(), Arrivals: &arrivals, Result: r.meter.Result(health),
	}
	if r.open() {
		rep.Schedule, rep.Rate, rep.MaxInFlight = r.Schedule.String(), r.rate(), r.MaxInFlight
	}
	rep.SinkWait = time.Duration(r.rec.waited.Load())
	rep.warn(r.client, r.rec.refused)
	if n := r.drop.Load(); n > 0 {
		rep.warnf("%d arrivals were dropped because %d requests were in flight: raise MaxInFlight, or lower the rate", n, r.MaxInFlight)
	}
	if arrivals.End == arrival.Exhausted && (r.Phases.Measured.For > 0 || r.Phases.Measured.Count > 0) {
		rep.warnf("the source ended before the measured part did: %d requests were due in it", rep.Result.Counts.Due)
	}
	if r.minimumLost() {
		rep.warnf("this API has no least length of an answer: only the most was sent, and answers may be shorter than asked")
	}
	return rep
}

// minimumLost reports whether answers of an exact length were asked for where
// only their most can be said.
func (r *runner) minimumLost() bool {
	if r.Load.Client.API != client.Gemini && r.Load.Client.Lengths != client.OpenAI {
		return false
	}
	req, err := r.Source.Request(0)
	return err == nil && req.Output.Min > 0
}

// described is what a source says of itself, as far as it does.
func described(s workload.Source) any {
	switch s := s.(type) {
	case *workload.Workload:
		return s.Options()
	case *workload.Rows:
		opt := s.Options()
		return struct {
			Name   string        `json:"name"`
			SHA256 string        `json:"sha256"`
			Rows   int           `json:"rows"`
			Repeat bool          `json:"repeat,omitempty"`
			Seed   uint64        `json:"seed"`
			Output workload.Dist `json:"output"`
			Salt   workload.Salt `json:"salt"`
		}{s.Name(), s.SHA256(), s.Rows(), opt.Repeat, opt.Seed, opt.Output, opt.Salt}
	}
	return nil
}

func (r *Report) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// warn takes in what the client found odd.
func (r *Report) warn(c *client.Client, refused []error) {
	for _, err := range c.Limits().Check() {
		r.Warnings = append(r.Warnings, err.Error())
	}
	odd := c.Warnings()
	words := make([]string, 0, len(odd))
	for text, n := range odd {
		words = append(words, fmt.Sprintf("%s (%d times)", text, n))
	}
	slices.Sort(words)
	r.Warnings = append(r.Warnings, words...)
	for _, err := range refused {
		r.warnf("a record that could not be true was refused: %v", err)
	}
}
