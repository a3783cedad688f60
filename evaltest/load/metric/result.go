package metric

import (
	"fmt"
	"maps"
	"time"
)

// Schema is the version of a result's JSON.
const Schema = "evals-load-result/1"

// A Result is what a run's requests come to. Counts and distributions are of
// the measured phase, the steady window of what happened inside it.
type Result struct {
	Schema   string  `json:"schema"`
	Loop     Loop    `json:"loop"`
	Validity Verdict `json:"validity"`
	Health   Health  `json:"health"`
	// Warnings are what a reader should know and what makes nothing invalid.
	Warnings []string `json:"warnings,omitempty"`

	Counts Counts `json:"counts"`
	Whole  Window `json:"whole"`
	Steady Window `json:"steady"`
	Rates  Rates  `json:"rates"`

	Dists map[Name]Dist `json:"distributions"`
	// ErrorsAsInfinite are ttft, e2e and their response times with every failed
	// or dropped request as +Inf.
	ErrorsAsInfinite map[Name]Dist `json:"errors_as_infinite,omitempty"`
	// NoTPOT counts answers without a time per output token, by reason.
	NoTPOT map[NoTPOT]int64 `json:"tpot_undefined,omitempty"`
	// UserRateAtP90 is 1/TPOT_p90, MLPerf Endpoints' tps_per_user.
	UserRateAtP90 Figure `json:"user_tok_per_s_at_p90_tpot"`

	Tokens   Tokens       `json:"tokens"`
	Lengths  Mismatches   `json:"lengths"`
	Goodput  *Goodput     `json:"goodput,omitempty"`
	Errors   []ErrorClass `json:"errors,omitempty"`
	Retried  []ErrorClass `json:"retried_errors,omitempty"` // of tries that were followed by another
	Finishes []Word       `json:"finish_reasons,omitempty"`
	Models   []Word       `json:"models,omitempty"` // as the server named them
	Turns    []Bucket     `json:"by_turn,omitempty"`
	Contexts []Bucket     `json:"by_input_tokens,omitempty"`
	Jobs     *Jobs        `json:"jobs,omitempty"`

	Symbols     string       `json:"symbols"`
	Definitions []Definition `json:"definitions"`

	failed []FailedRequest
	unkept int64
	legacy legacy
}

// legacy are batchbench's latencies, by its own rule of percentiles, in ns.
type legacy struct {
	latency, wall [3]Figure
}

// Counts says what became of the requests. Due = OK + Failed + Incomplete +
// Dropped.
type Counts struct {
	Due    int64 `json:"due"`
	OK     int64 `json:"ok"`
	Failed int64 `json:"failed"`
	// Incomplete were in flight when the run ended. They are in no numerator
	// and in no window.
	Incomplete int64 `json:"incomplete"`
	Dropped    int64 `json:"dropped"` // due and never sent
	// Late were sent more than the limit of the lag's p99 after they were due.
	Late    int64 `json:"late"`
	Retries int64 `json:"retries"` // tries before the last, of all requests
	// Warmup and Cooldown requests are excluded, OtherPhase had a phase that
	// nobody knows, and Refused were records that could not be true.
	Warmup     int64 `json:"warm_up"`
	Cooldown   int64 `json:"cool_down"`
	OtherPhase int64 `json:"other_phase"`
	Refused    int64 `json:"refused"`
}

// A Window is what happened in a span of time.
type Window struct {
	Rule string `json:"rule"`
	// Absent says why there is no such window; all else is then 0 or absent.
	Absent string        `json:"absent,omitempty"`
	From   time.Duration `json:"from_ns"`
	To     time.Duration `json:"to_ns"`

	Answers int64 `json:"answers"`
	Output  int64 `json:"output_tokens"`
	// Input is known if the server reported the input of every answer.
	Input Figure `json:"input_tokens"`

	RequestRate Figure `json:"requests_per_s"` // answers, not attempts
	OutputRate  Figure `json:"output_tok_per_s"`
	InputRate   Figure `json:"input_tok_per_s"`
	TotalRate   Figure `json:"total_tok_per_s"`

	// Concurrency is the mean number in flight (Little's law), InFlight the
	// most at any bin's edge.
	Concurrency Figure `json:"concurrency_mean"`
	InFlight    int64  `json:"in_flight_max"`
}

// Length is To - From.
func (w Window) Length() time.Duration { return w.To - w.From }

func (w *Window) rates() {
	seconds := w.Length().Seconds()
	w.RequestRate, w.OutputRate = ratio(float64(w.Answers), seconds), ratio(float64(w.Output), seconds)
	if in, ok := w.Input.Get(); ok {
		w.InputRate, w.TotalRate = ratio(in, seconds), ratio(in+float64(w.Output), seconds)
	}
}

// Rates are of events, (n-1)/(last-first), a second.
type Rates struct {
	Asked    Figure `json:"asked_arrivals_per_s"`    // by the configuration
	Offered  Figure `json:"offered_arrivals_per_s"`  // by the schedule: due times
	Achieved Figure `json:"achieved_arrivals_per_s"` // by the clock: first sends
	Finished Figure `json:"finish_requests_per_s"`   // answers, by t_end
	// AskedConcurrency is the number of users, absent if nobody said.
	AskedConcurrency Figure `json:"asked_concurrency"`
}

// Tokens are of answers of the measured phase.
type Tokens struct {
	Output  int64            `json:"output"`
	Sources map[Source]int64 `json:"sources"` // answers by who counted their output
	Mixed   bool             `json:"mixed"`   // by more than one
	// FirstEstimated answers have a TPOT whose n_1 was estimated,
	// RestEstimated ones an ITL whose weights were.
	FirstEstimated int64 `json:"first_fragment_estimated"`
	RestEstimated  int64 `json:"weights_estimated"`
	// Input and Cached are the server's, absent unless it reported them for
	// every answer; UsageMissing counts those for which it did not.
	Input        Figure `json:"input"`
	Cached       Figure `json:"cached_input"`
	UsageMissing int64  `json:"usage_missing"`
	// PossibleCached is what a perfect prefix cache could have held.
	PossibleCached int64 `json:"possible_cached_input"`
	// CachedShare is Cached / Input, CacheEfficiency Cached / PossibleCached.
	CachedShare     Figure `json:"cached_share"`
	CacheEfficiency Figure `json:"cache_efficiency"`
	// IncompletePieces are fragments of unfinished requests, in no rate.
	IncompletePieces int64 `json:"incomplete_fragments"`
}

// Mismatches counts lengths beyond the tolerance, among answers that asked for
// one and whose length the server reported.
type Mismatches struct {
	InputAsked  int64 `json:"input_asked"`
	Input       int64 `json:"input_mismatches"`
	OutputAsked int64 `json:"output_asked"`
	Output      int64 `json:"output_mismatches"`
}

// Result says what the requests so far come to. It may be called while more
// are added; the result does not change afterwards.
func (m *Meter) Result(h Health) *Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &Result{
		Schema: Schema, Loop: m.config.Loop, Health: h, Counts: m.counts, Lengths: m.mismatch,
		Dists: m.dists(), NoTPOT: maps.Clone(m.noTPOT), Tokens: m.tokenResult(), Goodput: m.goodput(),
		Rates: Rates{Offered: m.due.rate(), Achieved: m.sent.rate(), Finished: m.finished.rate()},
		Whole: m.wholeWindow(), Steady: m.steadyWindow(),
		Errors: m.errors.list(), Retried: m.tries.list(), Finishes: m.finishes.list(), Models: m.models.list(),
		Turns: bucketList(m.turns), Contexts: bucketList(m.contexts), Jobs: m.jobsResult(),
		Symbols: Symbols, Definitions: Definitions(), failed: sortFailed(m.failed), unkept: m.unkept,
	}
	if m.config.Rate > 0 {
		r.Rates.Asked = Some(m.config.Rate)
	}
	if m.config.Users > 0 {
		r.Rates.AskedConcurrency = Some(float64(m.config.Users))
	}
	if tpot, ok := r.Dists[TPOT].At(0.9).Value.Get(); ok {
		r.UserRateAtP90 = ratio(1e9, tpot)
	}
	if infinite := m.counts.Failed + m.counts.Dropped; infinite > 0 {
		r.ErrorsAsInfinite = map[Name]Dist{}
		for _, n := range []Name{TTFT, ResponseTTFT, E2E, ResponseE2E} {
			r.ErrorsAsInfinite[n] = m.values(n).dist(infinite)
		}
	}
	for i, q := range []float64{0.5, 0.9, 0.99} {
		r.legacy.latency[i] = m.values(Answer).Quantile(q, Batchbench)
		r.legacy.wall[i] = m.jobs.wall.Quantile(q, Batchbench)
	}
	r.Validity = m.verdict(r, h)
	r.Warnings = m.warnings(r)
	return r
}

func (m *Meter) tokenResult() Tokens {
	t := Tokens{
		Output: m.output.sum, Sources: maps.Clone(m.sources), Mixed: len(m.sources) > 1,
		FirstEstimated: m.estimated.first, RestEstimated: m.estimated.rest,
		Input: m.input.figure(), Cached: m.cached.figure(), UsageMissing: m.input.unknown,
		PossibleCached: m.possible.sum, IncompletePieces: m.unfinishedPieces,
	}
	if m.input.known > 0 {
		t.CachedShare = ratio(float64(m.cached.sum), float64(m.input.sum))
	}
	if cached, ok := t.Cached.Get(); ok {
		t.CacheEfficiency = ratio(cached, float64(t.PossibleCached))
	}
	return t
}

const (
	wholeRule  = "from the first send to the last end of the measured requests that ended"
	openRule   = "the arrival window: from the first to the last due time of the measured phase"
	closedRule = "from when all users run until the first has ended its last answer, inside the measured phase"
)

func (m *Meter) wholeWindow() Window {
	w := Window{Rule: wholeRule, From: m.whole.from, To: m.whole.to, Answers: m.counts.OK, Output: m.output.sum, Input: m.input.figure()}
	if w.Length() <= 0 {
		return Window{Rule: wholeRule, Absent: "no request took any time"}
	}
	w.rates()
	if t, ok := m.time.between(w.From, w.To); ok {
		w.Concurrency, w.InFlight = ratio(t.busy.Seconds(), (t.to-t.from).Seconds()), t.most
	}
	return w
}

func (m *Meter) steadyWindow() Window {
	rule, p := m.steadyPeriod()
	t, ok := m.time.between(p.from, p.to)
	if !ok {
		why := "there is no time in which all users run"
		if m.config.Loop == Open {
			why = "the arrivals span no time"
		}
		return Window{Rule: rule, Absent: why}
	}
	w := Window{Rule: rule, From: t.from, To: t.to, Answers: t.answers, Output: t.output, InFlight: t.most}
	if t.unknownInput == 0 {
		w.Input = Some(float64(t.input))
	}
	w.rates()
	w.Concurrency = ratio(t.busy.Seconds(), w.Length().Seconds())
	return w
}

func (m *Meter) steadyPeriod() (rule string, p period) {
	if m.config.Loop == Open {
		return openRule, m.due.period
	}
	p = m.whole
	if m.cooldown.any {
		p.to = min(p.to, m.cooldown.from)
	}
	for _, u := range m.users {
		p.from, p.to = max(p.from, u.from), min(p.to, u.to)
	}
	return closedRule, p
}

// warnings says what is odd and not wrong.
func (m *Meter) warnings(r *Result) []string {
	var list []string
	warn := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if m.bad != nil {
		warn("%d records were refused, the first because %v", m.counts.Refused, m.bad)
	}
	if n := r.Counts.OtherPhase; n > 0 {
		warn("%d requests had an unknown phase and count nowhere", n)
	}
	if n := r.Counts.Incomplete; n > 0 {
		warn("%d requests were in flight at the end: they and their %d fragments are in no number", n, r.Tokens.IncompletePieces)
	}
	if r.Steady.Absent != "" && r.Counts.OK > 0 {
		warn("no steady window: %s; rates are of the whole run, its ramp and its drain included", r.Steady.Absent)
	}
	if n := m.sources[FromFragments] - m.uncounted; n > 0 {
		warn("nobody counted the tokens of %d streamed answers: each event is taken for one token, and there are more if the server sends several at once", n)
	}
	if n := r.Tokens.FirstEstimated; n > 0 {
		warn("the tokens of the first fragment were estimated in %d answers: their tpot_ns is an estimate", n)
	}
	if n := r.Tokens.RestEstimated; n > 0 {
		warn("the tokens of later fragments were estimated in %d answers: their itl_ns is weighted by an estimate", n)
	}
	if n := m.config.Users; m.config.Loop != Open && n > 0 && len(m.users) < n {
		warn("only %d of %d users ever sent a request", len(m.users), n)
	}
	if n := m.noTPOT[NoText]; n > 0 {
		warn("%d of %d answers held no text at all", n, m.counts.OK)
	}
	if n := r.Lengths.Input; n > 0 {
		median := r.Dists[InputDiff].At(0.5).Value
		warn("%d of %d inputs had not the asked length, by %s tokens at the median: a chat template adds some to each prompt", n, r.Lengths.InputAsked, median)
	}
	if n := r.Lengths.Output; n > 0 {
		warn("%d of %d outputs had not the asked length", n, r.Lengths.OutputAsked)
	}
	if len(r.Models) > 1 {
		warn("the server answered as %d models", len(r.Models))
	}
	return list
}
