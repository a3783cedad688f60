package report

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// What a summary keeps of texts from outside is bounded: a hostile journal
// must not grow it without end.
const (
	maxGroups   = 10_000
	maxKinds    = 64
	maxModels   = 20
	maxWarnings = 50
	maxSlowest  = 3
	maxExample  = 2_000 // bytes of a message or warning
	otherName   = "(others)"
)

// A Summary adds up a run's records. Its methods are safe for concurrent use.
// It keeps 8 bytes an answer (the latency), a counter a group and, unless
// Labels.Samples is 1, about 40 bytes an item and 24 an answer.
type Summary struct {
	labels Labels
	seed   maphash.Seed

	mu         sync.Mutex
	recorded   int
	resumed    int
	answered   int
	before     int // of those, resumed
	replaced   int
	confirmed  int
	outcomes   map[result.Outcome]int
	reasons    map[grade.Reason]int
	groups     map[string]*Group
	items      map[uint64]tally // by hashed id
	sampled    bool             // items have several samples
	score      int64            // in units of 1e-9: a sum that does not depend on the order
	hasScores  bool
	usage      llm.UsageTotal
	judgeUsage llm.UsageTotal
	cost       costSum
	judgeCost  costSum
	attempts   map[int]int
	failed     map[int]int
	waits      Waits
	latencies  []time.Duration
	recLatency int
	first      time.Time
	last       time.Time
	judge      Judge
	replayed   int
	live       int
	abandoned  int
	models     map[string]int
	errors     map[llm.ErrorKind]*ErrorGroup
	slowest    []Slow
	warnings   map[string]int
	moreWarned int
}

// New makes an empty summary. Labels may be zero.
func New(labels Labels) *Summary {
	labels.Overrides = slices.Clone(labels.Overrides)
	return &Summary{
		labels:   labels,
		sampled:  labels.Samples > 1,
		seed:     maphash.MakeSeed(),
		outcomes: map[result.Outcome]int{},
		reasons:  map[grade.Reason]int{},
		groups:   map[string]*Group{},
		items:    map[uint64]tally{},
		attempts: map[int]int{},
		failed:   map[int]int{},
		models:   map[string]int{},
		errors:   map[llm.ErrorKind]*ErrorGroup{},
		warnings: map[string]int{},
	}
}

// Add counts one record. Add each [result.Key] once: the summary keeps no ids
// and cannot tell. Of one that [result.Record.Confirms] only what it spent
// counts. The record is not kept and not changed.
func (s *Summary) Add(r *result.Record) { s.add(r, false) }

// AddResumed counts a record that an earlier run of the same journal wrote. It
// differs from Add only in what this run's speed is reckoned from.
func (s *Summary) AddResumed(r *result.Record) { s.add(r, true) }

// AddSpent counts only what a record's calls spent: tokens, cost and calls, of
// answers and judges. It is for records that another one of the same key
// replaces: what they spent was spent, and nothing else of them counts.
func (s *Summary) AddSpent(r *result.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addSpent(r)
	s.spentApart(r)
}

// spentApart counts a record of which only what it spent counts.
func (s *Summary) spentApart(r *result.Record) {
	switch {
	case r.Confirms:
		s.confirmed++
	case r.Usage.Calls+r.JudgeUsage.Calls > 0:
		s.replaced++
	}
}

func (s *Summary) addSpent(r *result.Record) {
	s.usage.Merge(r.Usage)
	s.judgeUsage.Merge(r.JudgeUsage)
	s.cost.addAnswer(r)
	s.judgeCost.addJudge(r)
}

func (s *Summary) add(r *result.Record, resumed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Confirms {
		s.addSpent(r)
		s.spentApart(r)
		return
	}
	s.recorded++
	if resumed {
		s.resumed++
	}
	if answered(r) {
		s.answered++
		if resumed {
			s.before++
		}
	}
	correct := r.Outcome == result.Correct
	count(s.outcomes, r.Outcome, result.Outcome(otherName), maxKinds)
	s.addScore(r.Score)
	s.addItem(r, correct)
	s.addVerdict(r)
	s.addCalls(r)
	s.addTimes(r, resumed)
	// Of an answer that did not run, the error says why the run stopped, which
	// is told once; unless somebody ignored that.
	if r.Error != nil && !correct && (r.Outcome != result.NotRun || r.Abandoned) {
		s.addError(r)
	}
	for _, w := range distinctWarnings(r) {
		if _, known := s.warnings[w]; known || len(s.warnings) < maxWarnings {
			s.warnings[w]++
		} else {
			s.moreWarned++
		}
	}
}

// answered reports whether a record holds an answer, correct or not.
func answered(r *result.Record) bool {
	return r.Outcome != result.Errored && r.Outcome != result.NotRun
}

// count adds 1 to m[key], or to m[other] if m has room for no more keys.
func count[K comparable](m map[K]int, key, other K, room int) {
	if _, known := m[key]; !known && len(m) >= room {
		key = other
	}
	m[key]++
}

func (s *Summary) addScore(score float64) {
	if !(score >= 0 && score <= 1) { // NaN too: only a damaged journal holds it
		return
	}
	s.score += int64(score*1e9 + 0.5)
	s.hasScores = s.hasScores || score != 0 && score != 1
}

func (s *Summary) addItem(r *result.Record, correct bool) {
	if g := r.Item.Group; g != "" {
		group := s.groups[g]
		if group == nil && len(s.groups) >= maxGroups {
			g = otherName
			group = s.groups[g]
		}
		if group == nil {
			group = &Group{Name: strings.Clone(g)}
			s.groups[group.Name] = group
		}
		group.Total++
		if correct {
			group.Correct++
		}
	}
	s.sampled = s.sampled || r.Sample > 0
	if s.labels.Samples != 1 || r.Sample > 0 {
		key := maphash.String(s.seed, r.Item.ID)
		t := s.items[key]
		t.answers = append(t.answers, s.sampleOf(r, correct))
		s.items[key] = t
	}
}

func (s *Summary) addVerdict(r *result.Record) {
	switch {
	case r.Outcome == result.Correct:
	case r.Verdict != nil && r.Verdict.Reason != "":
		count(s.reasons, r.Verdict.Reason, otherName, maxKinds)
	case r.Outcome == result.Refused:
		count(s.reasons, grade.ReasonRefusal, otherName, maxKinds)
	}
	if r.Graded == nil && r.JudgeUsage.Calls == 0 {
		return
	}
	s.judge.Called++
	switch r.Outcome {
	case result.Correct:
		s.judge.Decided++
		s.judge.Passed++
	case result.Incorrect:
		s.judge.Decided++
	}
	switch {
	case r.Verdict == nil || r.Verdict.Mark == grade.Ungraded:
		s.judge.Ungraded++
	case r.Graded != nil && r.Graded.Mark != r.Verdict.Mark:
		s.judge.Overturned++
	}
}

func (s *Summary) addCalls(r *result.Record) {
	s.addSpent(r)
	if n := len(r.Attempts); n > 0 {
		of := s.failed
		if answered(r) {
			of = s.attempts
		}
		count(of, n, 0, 1000)
	}
	s.waits.add(r)
	if r.Abandoned {
		s.abandoned++
	}
	if r.Response == nil {
		return
	}
	if r.Replayed {
		s.replayed++
	} else {
		s.live++
	}
	if m := r.Response.Model; m != "" {
		count(s.models, clip(m), otherName, maxModels)
	}
}

func (s *Summary) addTimes(r *result.Record, resumed bool) {
	if !r.Start.IsZero() && !resumed {
		if end := r.Start.Add(r.Duration); end.After(s.last) {
			s.last = end
		}
		if s.first.IsZero() || r.Start.Before(s.first) {
			s.first = r.Start
		}
	}
	if r.Latency <= 0 || !answered(r) { // how fast calls fail is no latency of answers
		return
	}
	s.latencies = append(s.latencies, r.Latency)
	if r.Replayed || r.Response != nil && r.Response.Replayed {
		s.recLatency++
	}
	if n := len(s.slowest); n == maxSlowest && r.Latency < s.slowest[n-1].Latency {
		return
	}
	s.slowest = append(s.slowest, Slow{r.Item.ID, r.Sample, r.Latency})
	slices.SortFunc(s.slowest, func(a, b Slow) int {
		return cmp.Or(cmp.Compare(b.Latency, a.Latency), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Sample, b.Sample))
	})
	s.slowest = s.slowest[:min(len(s.slowest), maxSlowest)]
}

func (s *Summary) addError(r *result.Record) {
	kind := r.Error.Kind
	if kind == "" {
		kind = llm.KindUnknown
	}
	g := s.errors[kind]
	if g == nil && len(s.errors) >= maxKinds {
		kind = otherName
		g = s.errors[kind]
	}
	if g == nil {
		g = &ErrorGroup{Kind: kind}
		s.errors[kind] = g
	}
	g.Count++
	if g.Count == 1 || betterExample(r.Item.ID, r.Error.Message, g) {
		g.ID, g.Message = strings.Clone(r.Item.ID), clip(r.Error.Message)
	}
}

// betterExample prefers what a provider said of a call to what the scope said
// of one that it did not make, then the least id.
func betterExample(id, message string, g *ErrorGroup) bool {
	a, b := strings.HasPrefix(message, call.ErrStopped.Error()), strings.HasPrefix(g.Message, call.ErrStopped.Error())
	if a != b {
		return b
	}
	return id < g.ID
}

// clip copies the start of s: it must neither grow the summary nor keep the
// whole record alive.
func clip(s string) string { return strings.Clone(s[:min(len(s), maxExample)]) }

// distinctWarnings are the record's and its response's, each once.
func distinctWarnings(r *result.Record) []string {
	if len(r.Warnings) == 0 && (r.Response == nil || len(r.Response.Warnings) == 0) {
		return nil
	}
	var all []string
	for _, w := range r.Warnings {
		all = append(all, clip(w))
	}
	if r.Response != nil {
		for _, w := range r.Response.Warnings {
			all = append(all, clip(w))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
