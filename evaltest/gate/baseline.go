package gate

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// A Baseline is a run by its items: the accepted one that later runs are
// compared with, or the run at hand. It is not changed by anything here.
type Baseline struct {
	Header BaselineHeader
	// Items are sorted by id, each id once.
	Items []BaselineItem
}

// A BaselineHeader is the first line of a baseline's file.
type BaselineHeader struct {
	// Format is [BaselineFormat]; writing sets it.
	Format string `json:"format"`
	// Created is when the run was accepted. It is left out unless it is given:
	// the file of the same run is then the same, byte for byte.
	Created time.Time `json:"created,omitzero"`
	// Fingerprint holds what must be equal for runs to be compared, by name:
	// see [FingerprintOf] and [CompareFingerprints].
	Fingerprint map[string]string `json:"fingerprint"`
	// Items is how many items follow, Samples how many answers each has, at
	// least 1 and at most [MaxSamples].
	Items   int `json:"items"`
	Samples int `json:"samples"`
	// Counts are all answers by outcome.
	Counts result.Counts `json:"counts"`
	// Usage and JudgeUsage are what all answers and judges spent, which is
	// what a run like it may be expected to spend.
	Usage      llm.UsageTotal `json:"usage,omitzero"`
	JudgeUsage llm.UsageTotal `json:"judge_usage,omitzero"`
	// CostUSD and JudgeCostUSD are their exact decimal costs; empty if that of
	// one answer is unknown. What came from a recording is in them with what
	// it had cost then.
	CostUSD      string `json:"cost_usd,omitempty"`
	JudgeCostUSD string `json:"judge_cost_usd,omitempty"`
}

// A BaselineItem is what became of one item.
type BaselineItem struct {
	ID    string `json:"id"`
	Group string `json:"group,omitempty"` // the item's, for clustering and minima
	// Outcomes are those of its samples, in their order; not_run for one that
	// has no record.
	Outcomes []result.Outcome `json:"outcomes"`
	// Scores are those of its samples, 0..1; nil if each is 1 for a correct
	// answer and 0 for any other.
	Scores []float64 `json:"scores,omitempty"`
	// Input and Output are the tokens of all its answers, judges excluded; 0
	// if they are not known.
	Input  int64 `json:"input,omitzero"`
	Output int64 `json:"output,omitzero"`
}

// MaxSamples is the most answers to an item that a baseline holds.
const MaxSamples = 1000

// Correct is how many of the item's samples are correct.
func (it *BaselineItem) Correct() int { return count(it.Outcomes, result.Correct) }

// first is the item with its first k samples only, which are not copied.
func (it *BaselineItem) first(k int) *BaselineItem {
	few := *it
	few.Outcomes = it.Outcomes[:k]
	if it.Scores != nil {
		few.Scores = it.Scores[:k]
	}
	return &few
}

// majority reports whether more than half of the samples are correct.
func (it *BaselineItem) majority() bool { return 2*it.Correct() > len(it.Outcomes) }

// ran reports whether no sample is missing.
func (it *BaselineItem) ran() bool { return !slices.Contains(it.Outcomes, result.NotRun) }

// unanswered reports whether a sample says nothing of the model: it ended in
// an error, or nobody could grade it.
func (it *BaselineItem) unanswered() bool {
	return slices.Contains(it.Outcomes, result.Errored) || slices.Contains(it.Outcomes, result.Ungraded)
}

// score is the mean score of the samples.
func (it *BaselineItem) score() float64 {
	if it.Scores == nil {
		return float64(it.Correct()) / float64(len(it.Outcomes))
	}
	sum := 0.0
	for _, s := range it.Scores {
		sum += s
	}
	return sum / float64(len(it.Scores))
}

func count(list []result.Outcome, o result.Outcome) (n int) {
	for _, x := range list {
		if x == o {
			n++
		}
	}
	return n
}

// A Recorder makes a Baseline of a run's records as they come. The zero
// Recorder is ready. It is not safe for concurrent use.
type Recorder struct {
	items   map[string]*recorded
	samples int
}

type recorded struct {
	group   string
	answers []*answer // by sample; nil: no record yet
}

type answer struct {
	outcome          result.Outcome
	score            float64
	usage, judge     llm.UsageTotal
	cost, judgeCost  string
	asked, judgeUsed bool
}

// Owe says that the run has this item, so that it is not_run until it has a
// record.
func (r *Recorder) Owe(id, group string) { r.item(id, group) }

func (r *Recorder) item(id, group string) *recorded {
	it := r.items[id]
	if it == nil {
		if r.items == nil {
			r.items = map[string]*recorded{}
		}
		it = &recorded{}
		r.items[id] = it
	}
	it.group = group
	return it
}

// Add takes a record; nothing of it is kept alive. A record of the same item
// and sample as an earlier one takes its place, as in a resumed journal. One
// that [result.Record.Confirms] is no part of the run's accuracy, and left out.
func (r *Recorder) Add(rec *result.Record) {
	if rec.Confirms {
		return
	}
	it := r.item(rec.Item.ID, rec.Item.Group)
	for len(it.answers) <= rec.Sample {
		it.answers = append(it.answers, nil)
	}
	it.answers[rec.Sample] = &answer{
		outcome: rec.Outcome, score: rec.Score, usage: rec.Usage, judge: rec.JudgeUsage,
		cost: rec.CostUSD, judgeCost: rec.JudgeCostUSD,
		asked: rec.Usage.Calls > 0 || rec.Response != nil, judgeUsed: rec.JudgeUsage.Calls > 0,
	}
	r.samples = max(r.samples, rec.Sample+1)
}

// Baseline returns what was recorded so far. Of h it takes the fingerprint,
// Created, and Samples (0: as many as the records have); the rest it counts.
// It returns an error if a record has an outcome that is none, a score outside
// 0..1, a sample beyond h.Samples, or an id that is not UTF-8 or empty.
func (r *Recorder) Baseline(h BaselineHeader) (*Baseline, error) {
	if h.Samples == 0 {
		h.Samples = max(1, r.samples)
	}
	if h.Samples < r.samples {
		return nil, fmt.Errorf("gate: a record of sample %d, and the run has %s an item", r.samples-1, plural(h.Samples, "sample"))
	}
	b := &Baseline{Header: BaselineHeader{
		Format: BaselineFormat, Created: h.Created, Fingerprint: maps.Clone(h.Fingerprint), Samples: h.Samples, Items: len(r.items),
		Counts: result.Counts{},
	}}
	if b.Header.Fingerprint == nil {
		b.Header.Fingerprint = map[string]string{}
	}
	var cost, judgeCost costSum
	for _, id := range slices.Sorted(maps.Keys(r.items)) {
		was := r.items[id]
		it := BaselineItem{ID: id, Group: was.group}
		for k := range h.Samples {
			a := &answer{outcome: result.NotRun}
			if k < len(was.answers) && was.answers[k] != nil {
				a = was.answers[k]
			}
			it.Outcomes, it.Scores = append(it.Outcomes, a.outcome), append(it.Scores, a.score)
			it.Input, it.Output = it.Input+a.usage.Input, it.Output+a.usage.Output
			b.Header.Counts[a.outcome]++
			b.Header.Usage.Merge(a.usage)
			b.Header.JudgeUsage.Merge(a.judge)
			cost.add(a.asked, a.cost)
			judgeCost.add(a.judgeUsed, a.judgeCost)
		}
		if plainScores(&it) {
			it.Scores = nil
		}
		if err := it.check(h.Samples); err != nil {
			return nil, fmt.Errorf("gate: item %s: %w", quoted(id), err)
		}
		b.Items = append(b.Items, it)
	}
	b.Header.CostUSD, b.Header.JudgeCostUSD = cost.text(), judgeCost.text()
	return b, nil
}

// BaselineOf is the Baseline of a run's records: see [Recorder.Baseline].
func BaselineOf(h BaselineHeader, records iter.Seq[*result.Record]) (*Baseline, error) {
	var r Recorder
	for rec := range records {
		r.Add(rec)
	}
	return r.Baseline(h)
}

// plainScores reports whether the scores say nothing that the outcomes do not.
func plainScores(it *BaselineItem) bool {
	for i, s := range it.Scores {
		want := 0.0
		if it.Outcomes[i] == result.Correct {
			want = 1
		}
		if s != want {
			return false
		}
	}
	return true
}

// A costSum adds exact decimals; one that is missing makes the sum unknown.
type costSum struct {
	sum          decimal.Decimal
	any, unknown bool
}

func (c *costSum) add(asked bool, usd string) {
	if usd == "" {
		c.unknown = c.unknown || asked
		return
	}
	d, err := parseUSD(usd)
	if err != nil {
		c.unknown = true
		return
	}
	c.sum, c.any = c.sum.Add(d), true
}

func (c *costSum) text() string {
	if c.unknown || !c.any {
		return ""
	}
	return c.sum.String()
}

// parseUSD reads a decimal that is no larger than a cost can be: decimals with
// an exponent of millions take the memory of millions of digits.
func parseUSD(text string) (decimal.Decimal, error) {
	if len(text) > 64 {
		return decimal.Decimal{}, fmt.Errorf("%d characters are no cost", len(text))
	}
	d, err := decimal.NewFromString(text)
	switch {
	case err != nil:
		return d, fmt.Errorf("%s is no decimal", quoted(text))
	case d.IsNegative() || d.Exponent() > 15 || d.Exponent() < -60:
		return d, fmt.Errorf("%s is no cost", quoted(text))
	}
	return d, nil
}

// A fieldError is a field that cannot be what it is.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return fmt.Sprintf("field %q: %v", e.field, e.err) }
func (e *fieldError) Unwrap() error { return e.err }

func badField(field, format string, args ...any) error {
	return &fieldError{field, fmt.Errorf(format, args...)}
}

// check reports the first field of an item that cannot be.
func (it *BaselineItem) check(samples int) error {
	switch {
	case it.ID == "":
		return badField("id", "it is missing or empty")
	case !utf8.ValidString(it.ID):
		return badField("id", "it is not UTF-8")
	case !utf8.ValidString(it.Group):
		return badField("group", "it is not UTF-8")
	case len(it.Outcomes) != samples:
		return badField("outcomes", "%d of them, and the header says %s an item", len(it.Outcomes), plural(samples, "sample"))
	case it.Scores != nil && len(it.Scores) != samples:
		return badField("scores", "%d of them, and the header says %s an item", len(it.Scores), plural(samples, "sample"))
	case it.Input < 0:
		return badField("input", "%d tokens; want 0 or more", it.Input)
	case it.Output < 0:
		return badField("output", "%d tokens; want 0 or more", it.Output)
	}
	for _, o := range it.Outcomes {
		if !slices.Contains(result.Outcomes, o) {
			return badField("outcomes", "unknown outcome %s", quoted(string(o)))
		}
	}
	for _, s := range it.Scores {
		if math.IsNaN(s) || s < 0 || s > 1 {
			return badField("scores", "score %v is not between 0 and 1", s)
		}
	}
	return nil
}

// check reports the first field of the header that cannot be.
func (h *BaselineHeader) check() error {
	switch {
	case h.Samples < 1 || h.Samples > MaxSamples:
		return badField("samples", "%d; want 1 to %d", h.Samples, MaxSamples)
	case h.Items < 0:
		return badField("items", "%d; want 0 or more", h.Items)
	case h.Fingerprint == nil:
		return badField("fingerprint", "it is missing; {} says that nothing is known")
	case h.Counts == nil:
		return badField("counts", "it is missing")
	}
	total := 0
	for _, o := range slices.Sorted(maps.Keys(h.Counts)) {
		n := h.Counts[o]
		if !slices.Contains(result.Outcomes, o) {
			return badField("counts", "unknown outcome %s", quoted(string(o)))
		}
		if n < 0 || n > math.MaxInt-total {
			return badField("counts", "%d %s", n, o)
		}
		total += n
	}
	if h.Items > math.MaxInt/h.Samples || total != h.Items*h.Samples {
		return badField("counts", "they come to %d, and %s with %s each were said", total, plural(h.Items, "item"), plural(h.Samples, "sample"))
	}
	for _, u := range []struct {
		field string
		t     llm.UsageTotal
	}{{"usage", h.Usage}, {"judge_usage", h.JudgeUsage}} {
		if min(u.t.Input, u.t.CachedInput, u.t.Output, u.t.Reasoning, u.t.CacheWrite, u.t.CacheWriteHour, int64(u.t.Calls), int64(u.t.Unknown)) < 0 {
			return badField(u.field, "a number in it is negative")
		}
	}
	for _, c := range []struct{ field, usd string }{{"cost_usd", h.CostUSD}, {"judge_cost_usd", h.JudgeCostUSD}} {
		if c.usd != "" {
			if _, err := parseUSD(c.usd); err != nil {
				return badField(c.field, "%v", err)
			}
		}
	}
	return nil
}

// Groups are the run's counts by the group of the items; those without one are
// under "".
func (b *Baseline) Groups() map[string]Counts {
	groups := map[string]Counts{}
	for i := range b.Items {
		it := &b.Items[i]
		c := groups[it.Group]
		c.Items++
		c.Total += len(it.Outcomes)
		c.Correct += it.Correct()
		c.Errored += count(it.Outcomes, result.Errored)
		c.Ungraded += count(it.Outcomes, result.Ungraded)
		c.NotRun += count(it.Outcomes, result.NotRun)
		groups[it.Group] = c
	}
	return groups
}
