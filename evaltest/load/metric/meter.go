package metric

import (
	"cmp"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// A Meter adds up the requests of one run as they finish. Make it with [New].
// It is safe for concurrent use. Its memory does not grow with the number of
// requests, but for the sessions that are under way and the users.
type Meter struct {
	mu     sync.Mutex
	config Config

	pools    map[Name]*Pool
	finished series // of answers, by t_end
	due      series
	sent     series
	time     timeline
	scratch  []int64

	counts   Counts
	whole    period // of measured requests that ended
	cooldown period
	users    map[int]period

	input, output, possible, cached total
	sources                         map[Source]int64
	noTPOT                          map[NoTPOT]int64
	estimated                       estimates
	mismatch                        Mismatches
	unfinishedPieces                int64

	good      goods
	errors    failures
	tries     failures
	unwanted  int64 // cached tokens
	uncounted int64 // whole answers of which nobody counted the tokens
	finishes  words
	models    words
	failed    []FailedRequest
	unkept    int64

	turns, contexts map[int]*bucket
	sessions        map[string]*session
	jobs            jobs
	bad             error // the first refused record
}

// total is a sum of what is known and of how many it is not.
type total struct{ sum, known, unknown int64 }

func (t *total) add(n int64, known bool) {
	if !known {
		t.unknown++
		return
	}
	t.sum, t.known = t.sum+n, t.known+1
}

// figure is the sum if all of it is known.
func (t total) figure() Figure {
	if t.unknown > 0 || t.known == 0 {
		return Figure{}
	}
	return Some(float64(t.sum))
}

// period is the span of some times.
type period struct {
	from, to time.Duration
	any      bool
}

func (p *period) add(from, to time.Duration) {
	if !p.any {
		*p = period{from, to, true}
		return
	}
	p.from, p.to = min(p.from, from), max(p.to, to)
}

func (p period) length() time.Duration { return p.to - p.from }

// series is the span of some events and their number.
type series struct {
	period
	n int64
}

func (s *series) add(at time.Duration) {
	s.period.add(at, at)
	s.n++
}

// rate is (n-1)/(last-first): n events have n-1 gaps.
func (s series) rate() Figure {
	if s.n < 2 {
		return Figure{}
	}
	return ratio(float64(s.n-1), s.length().Seconds())
}

// estimates counts answers whose tokens were not counted fragment by fragment.
type estimates struct{ first, rest int64 }

// New returns a Meter, or what is wrong with the configuration.
func New(c Config) (*Meter, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Meter{
		config: c, pools: map[Name]*Pool{}, users: map[int]period{}, sources: map[Source]int64{},
		noTPOT: map[NoTPOT]int64{}, errors: failures{}, tries: failures{}, finishes: words{}, models: words{},
		turns: map[int]*bucket{}, contexts: map[int]*bucket{}, sessions: map[string]*session{},
	}, nil
}

// Add adds a finished request, of any phase. It does not keep r. A record that
// cannot be true, such as one whose times run backwards, is refused with an
// [RecordError], counted, and makes the run invalid.
func (m *Meter) Add(r *record.Request) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := check(r); err != nil {
		m.counts.Refused++
		if m.bad == nil {
			m.bad = err
		}
		return err
	}
	v := measure(m.scratch, r, m.config.ClockNoise)
	m.scratch = v.counts
	if sent(r) {
		m.clock(r, &v)
	}
	switch r.Phase {
	case record.Warmup:
		m.counts.Warmup++
	case record.Cooldown:
		m.counts.Cooldown++
		m.cooldown.add(r.Due, r.Due)
	case record.Measured, "":
		m.count(r, &v)
	default:
		m.counts.OtherPhase++
	}
	return nil
}

// clock notes what happened when, whatever the phase: a token of a warm-up
// request that comes inside the window is the server's work in the window.
func (m *Meter) clock(r *record.Request, v *View) {
	m.time.inFlight(r.FirstSent, r.Done)
	m.session(r)
	if canceled(r) {
		return
	}
	u := m.users[r.User]
	u.add(r.FirstSent, r.Done)
	m.users[r.User] = u
	if !r.OK() {
		return
	}
	m.time.at(r.Done).answers++
	begun := r.Done
	for i, f := range r.Fragments {
		n := v.counts[i]
		if i == 0 {
			begun, n = f.At, n+v.Output-v.Streamed // hidden reasoning came before the first text
		}
		m.time.at(f.At).output += n
	}
	if len(r.Fragments) == 0 {
		m.time.at(r.Done).output += v.Output
	}
	if b := m.time.at(begun); r.Usage.Known {
		b.input += r.Usage.Input
	} else {
		b.unknownInput++
	}
}

func canceled(r *record.Request) bool {
	return r.Failure != nil && r.Failure.Class == record.Canceled
}

// count adds a request of the measured phase.
func (m *Meter) count(r *record.Request, v *View) {
	m.counts.Due++
	m.due.add(r.Due)
	m.counts.Retries += int64(len(r.Tries))
	for _, t := range r.Tries {
		m.tries.add(t.Failure.Class, t.Status, t.Failure.Message)
	}
	if sent(r) {
		m.client(r, v)
	}
	switch {
	case canceled(r):
		m.counts.Incomplete++
		m.unfinishedPieces += int64(len(r.Fragments))
		m.good.unfinished(m.config.SLO, r, v)
		return
	case !r.OK():
		m.counts.Failed++
		m.errors.add(r.Failure.Class, r.Status, r.Failure.Message)
		m.fail(r)
		m.good.fail()
	default:
		m.counts.OK++
		m.answer(r, v)
	}
	if sent(r) {
		m.whole.add(r.FirstSent, r.Done)
	}
}

// client adds what concerns the client, and counts in whatever came of it.
func (m *Meter) client(r *record.Request, v *View) {
	m.sent.add(r.FirstSent)
	for _, c := range []struct {
		name  Name
		value Figure
	}{{Lag, v.Lag}, {Queue, v.Queue}, {Connection, v.Connection}} {
		m.put(c.name, c.value)
	}
	if !canceled(r) {
		m.put(Retry, v.Retry)
	}
	if late, _ := v.Lag.Get(); late > float64(m.config.Limits.LagP99) && m.config.Limits.LagP99 > 0 {
		m.counts.Late++
	}
}

// answer adds a request that was answered.
func (m *Meter) answer(r *record.Request, v *View) {
	m.finished.add(r.Done)
	for _, c := range [...]struct {
		name  Name
		value Figure
	}{
		{TTFT, v.TTFT}, {TTFO, v.TTFO}, {ResponseTTFT, v.ResponseTTFT}, {E2E, v.E2E}, {ResponseE2E, v.ResponseE2E},
		{Finish, v.Finish}, {Answer, v.Answer}, {TPOT, v.TPOT}, {NTPOT, v.NTPOT},
	} {
		m.put(c.name, c.value)
	}
	if tpot, ok := v.TPOT.Get(); ok {
		m.put(UserRate, ratio(1e9, tpot))
	}
	if r.Streamed {
		m.tokens(r, v)
	}
	if v.NoTPOT != "" {
		m.noTPOT[v.NoTPOT]++
	}
	m.sources[v.Source]++
	if v.Source == FromFragments && !r.Streamed {
		m.uncounted++
	}
	m.output.add(v.Output, v.Source != FromNothing)
	m.input.add(r.Usage.Input, r.Usage.Known)
	m.cached.add(r.Usage.CachedInput, r.Usage.Known)
	m.possible.add(int64(r.PossibleCached), true)
	m.unwanted += unwanted(r)
	m.lengths(r, v)
	m.finishes.add(r.Finish)
	m.models.add(r.Model)
	m.good.judge(m.config.SLO, v)
	m.bucket(r, v)
}

// byChance is how many tokens prompts of random words have in common with one
// of those before, for nothing: of some thousand words, and many thousand prompts,
// the first one or two.
const byChance = 4

// unwanted is how many tokens came from the server's cache that neither the
// workload's shared prefixes explain nor what the server adds to each prompt: a
// chat template's own text is the same in all of them.
func unwanted(r *record.Request) int64 {
	if !r.Usage.Known {
		return 0
	}
	explained := int64(r.PossibleCached)
	if r.AskedInput > 0 {
		explained += max(0, r.Usage.Input-int64(r.AskedInput))
	}
	if len(r.Tries) > 0 {
		explained = max(explained, r.Usage.Input) // a try before may have been read to its end
	}
	return max(0, r.Usage.CachedInput-explained-byChance)
}

// tokens adds the gaps of an answer.
func (m *Meter) tokens(r *record.Request, v *View) {
	if len(r.Fragments) < 2 {
		return
	}
	if v.FirstEstimated {
		m.estimated.first++
	}
	if v.RestEstimated {
		m.estimated.rest++
	}
	itl, icl := m.pool(ITL), m.pool(ICL)
	v.gaps(r.Fragments, func(raw, whole time.Duration, tokens int64) {
		icl.Add(float64(raw), 1)
		if tokens > 0 {
			itl.Add(float64(whole)/float64(tokens), tokens)
		}
	})
}

func (m *Meter) lengths(r *record.Request, v *View) {
	if r.AskedInput > 0 && r.Usage.Known {
		m.mismatch.InputAsked++
		m.pool(InputDiff).Add(float64(r.Usage.Input-int64(r.AskedInput)), 1)
		if !m.config.InputTolerance.allows(int64(r.AskedInput), r.Usage.Input) {
			m.mismatch.Input++
		}
	}
	if r.AskedOutput > 0 && v.Source == FromUsage {
		m.mismatch.OutputAsked++
		m.pool(OutputDiff).Add(float64(v.Output-int64(r.AskedOutput)), 1)
		if !m.config.OutputTolerance.allows(int64(r.AskedOutput), v.Output) {
			m.mismatch.Output++
		}
	}
}

func (m *Meter) pool(n Name) *Pool {
	p := m.pools[n]
	if p == nil {
		p = &Pool{Exact: m.config.Exact}
		m.pools[n] = p
	}
	return p
}

// values is a pool to read, empty if nothing was ever added.
func (m *Meter) values(n Name) *Pool { return cmp.Or(m.pools[n], &Pool{}) }

func (m *Meter) put(n Name, f Figure) {
	if v, ok := f.Get(); ok {
		m.pool(n).Add(v, 1)
	}
}

// fail keeps a failed request for the list of failures, if there is room.
func (m *Meter) fail(r *record.Request) {
	if len(m.failed) >= m.config.Failures {
		m.unkept++
		return
	}
	m.failed = append(m.failed, failedRequest(r))
}

// Drop counts an arrival of the measured phase that was due and never became
// a request. It is bad, and it stands in goodput's denominator. A negative
// time panics, and so does one of more than a year.
func (m *Meter) Drop(due time.Duration) {
	if due < 0 || due > longest {
		panic(fmt.Sprintf("metric: Meter.Drop(%v): want 0 to %v", due, longest))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Due++
	m.counts.Dropped++
	m.due.add(due)
	m.good.fail()
}

// Progress is what a display of a running load shows.
type Progress struct {
	Counts        Counts
	Input, Output int64 // tokens of answers, as far as they are known
}

// Progress returns the counts so far. Unlike [Meter.Result] it sorts nothing,
// so it may be called every few milliseconds.
func (m *Meter) Progress() Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Progress{Counts: m.counts, Input: m.input.sum, Output: m.output.sum}
}

// dists summarizes the pools.
func (m *Meter) dists() map[Name]Dist {
	d := map[Name]Dist{}
	for name, p := range maps.All(m.pools) {
		d[name] = p.Dist()
	}
	return d
}
