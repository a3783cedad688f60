package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/goevals/evals/evaltest/result"
)

// Stats returns the numbers so far. They share nothing with the summary.
func (s *Summary) Stats() *Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &Stats{
		Labels:   s.labelsCopy(),
		Total:    max(s.labels.Planned, s.recorded),
		Recorded: s.recorded,
		Resumed:  s.resumed,
		Answered: s.answered, AnsweredBefore: s.before,
		Replaced:  s.replaced,
		Confirmed: s.confirmed,
		Outcomes:  maps.Clone(s.outcomes),
		Reasons:   maps.Clone(s.reasons),
		Groups:    s.sortedGroups(),
		HasScores: s.hasScores,
		Usage:     s.usage, JudgeUsage: s.judgeUsage,
		Cost: s.cost.total(), JudgeCost: s.judgeCost.total(),
		Attempts: maps.Clone(s.attempts), Failed: maps.Clone(s.failed),
		Waits:    s.waits,
		Latency:  latencyOf(s.latencies, s.recLatency),
		Judge:    s.judge,
		Replayed: s.replayed, Live: s.live, Abandoned: s.abandoned,
		Models:       maps.Clone(s.models),
		Errors:       s.sortedErrors(),
		Slowest:      slices.Clone(s.slowest),
		Warnings:     s.sortedWarnings(),
		MoreWarnings: s.moreWarned,
	}
	if missing := out.Total - s.recorded; missing > 0 {
		out.Outcomes[result.NotRun] += missing
	}
	if out.Total > 0 {
		out.MeanScore = float64(s.score) / 1e9 / float64(out.Total)
	}
	s.countItems(out)
	if !s.first.IsZero() {
		out.Wall, out.Spanned = s.last.Sub(s.first), true
	}
	return out
}

func (s *Summary) labelsCopy() Labels {
	l := s.labels
	l.Overrides = slices.Clone(l.Overrides)
	return l
}

// countItems sets Items and Consistency. Items without a record are known only
// by the plan.
func (s *Summary) countItems(out *Stats) {
	out.Items = out.Total
	if !s.sampled {
		return
	}
	out.Items = len(s.items)
	if k := s.labels.Samples; k > 1 {
		out.Items = max(out.Items, s.labels.Planned/k)
	}
	out.Items = min(out.Items, out.Total)
	out.Consistency = s.consistency()
}

func (s *Summary) sortedGroups() []Group {
	var out []Group
	for _, g := range s.groups {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Correct*b.Total, b.Correct*a.Total), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (s *Summary) sortedErrors() []ErrorGroup {
	var out []ErrorGroup
	for _, g := range s.errors {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b ErrorGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

func (s *Summary) sortedWarnings() []Warning {
	var out []Warning
	for text, n := range s.warnings {
		out = append(out, Warning{text, n})
	}
	slices.SortFunc(out, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return out
}

func latencyOf(raw []time.Duration, recorded int) Latency {
	if len(raw) == 0 {
		return Latency{}
	}
	sorted := slices.Sorted(slices.Values(raw))
	at := func(percent int) time.Duration {
		return sorted[(len(sorted)*percent+99)/100-1] // nearest rank
	}
	return Latency{N: len(sorted), Recorded: recorded, P50: at(50), P90: at(90), P99: at(99), Max: sorted[len(sorted)-1]}
}
