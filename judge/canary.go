package judge

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// ErrCanary is wrapped by what [Canaries.Verdict] returns: the judge's verdicts
// are not to be relied on.
var ErrCanary = errors.New("judge: canaries")

// A CanaryReport is what a run asks a judge when all is judged: whether its
// verdicts can be relied on. An error says why not; then a run counts every
// answer that this judge decided as ungraded, with the error as its note.
// [Canaries] implements it.
type CanaryReport interface{ Verdict() error }

// A CanaryConfig says when canaries are judged. The zero value works.
type CanaryConfig struct {
	// Rate is the share of judged answers beside which a canary is judged, above
	// 0 and at most 1. Which answers, and which canary, follows from Seed, the
	// item's id and the sample index alone. 0, the default, judges each canary
	// once, one beside each of the first answers.
	Rate float64
	// Seed changes the choice; any value will do.
	Seed uint64
	// Misses is how many canaries may be missed; default 0.
	Misses int
}

// Canaries is a [grade.Grader] that slips answers whose mark is known among
// those that its judge is asked about. An item's verdict is the judge's own,
// whatever comes of the canary. Make one with [WithCanaries] and use it from any
// number of goroutines.
type Canaries struct {
	judge  grade.Grader
	known  []Labelled
	config CanaryConfig

	mu     sync.Mutex
	beside int            // answers that were judged
	open   []int          // without a Rate: canaries still to be judged
	fails  []int          // how often the call of each failed
	done   map[uint64]int // with a Rate: where a canary was judged, and how often its call failed
	asked  []CanaryResult
}

var (
	_ grade.Grader        = (*Canaries)(nil)
	_ grade.Named         = (*Canaries)(nil)
	_ grade.TargetChecker = (*Canaries)(nil)
	_ CanaryReport        = (*Canaries)(nil)
)

// canaryTries is how often a canary whose call fails is judged in all.
const canaryTries = 3

// WithCanaries slips canaries among what g judges: answers like the run's whose
// mark is known without doubt, some correct and some incorrect. Their items need
// ids, all different. It panics if g is nil or has canaries already, if c cannot
// be meant, on labels that are none, and if all canaries are of one kind: a judge
// that always says the same would pass.
//
// Make a new one for each run: it counts what it has seen.
func WithCanaries(g grade.Grader, canaries []Labelled, c CanaryConfig) *Canaries {
	if g == nil {
		panic("judge.WithCanaries: the judge is nil")
	}
	if _, ok := g.(*Canaries); ok { // a run asks the outer one alone
		panic("judge.WithCanaries: the judge has canaries already: give all of them at once")
	}
	switch {
	case math.IsNaN(c.Rate) || c.Rate < 0 || c.Rate > 1:
		panic(fmt.Sprintf("judge.WithCanaries: Rate is %v; give a share above 0 and at most 1, or 0 to judge each canary once", c.Rate))
	case c.Misses < 0 || c.Misses > 0 && c.Misses >= len(canaries):
		panic(fmt.Sprintf("judge.WithCanaries: Misses is %d of %d canaries; give 0 or more, and fewer than all", c.Misses, len(canaries)))
	}
	seen, kinds := map[string]bool{}, map[grade.Mark]int{}
	for i, l := range canaries {
		if err := l.check(i); err != nil {
			panic("judge.WithCanaries: " + err.Error())
		}
		if _, v, ok := answerOf(l.Response); !ok {
			panic(fmt.Sprintf("judge.WithCanaries: canary %d (item %q): nothing can be judged: %s", i+1, l.Item.ID, v.Why))
		}
		if l.Item.ID == "" || seen[l.Item.ID] {
			panic(fmt.Sprintf("judge.WithCanaries: canary %d: the item's id %q is empty or stands twice", i+1, l.Item.ID))
		}
		seen[l.Item.ID] = true
		kinds[l.Label]++
	}
	if len(kinds) != 2 {
		panic(fmt.Sprintf("judge.WithCanaries: %d canaries are correct and %d incorrect; give at least one of each: a judge that always says the same would pass",
			kinds[grade.Correct], kinds[grade.Incorrect]))
	}
	k := &Canaries{judge: g, known: append([]Labelled(nil), canaries...), config: c, fails: make([]int, len(canaries)), done: map[uint64]int{}}
	if c.Rate == 0 {
		for i := range canaries {
			k.open = append(k.open, i)
		}
	}
	return k
}

// Name is the judge's own: canaries change no verdict.
func (k *Canaries) Name() string { return grade.NameOf(k.judge) }

// CheckTarget implements [grade.TargetChecker] as far as the judge does.
func (k *Canaries) CheckTarget(item dataset.Item) error { return grade.CheckTarget(k.judge, item) }

// Grade judges the answer and, now and then, a canary at the same time. The
// verdict and the error are the judge's own. Calls has the answer's calls and
// then the canary's: both are paid for.
//
// A canary is asked about under an item id and sample index of its own, so that
// a cassette finds it again, beside whichever answer it is judged. One whose
// call fails is judged again beside a later answer, three times in all.
func (k *Canaries) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (grade.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return grade.Verdict{}, fmt.Errorf("judge: canaries: not asked: %w", err)
	}
	if _, _, ok := answerOf(resp); !ok {
		return k.judge.Grade(ctx, item, resp) // nothing is judged: no canary
	}
	p, ok := k.pick(item.ID, llm.SampleIndex(ctx))
	if !ok {
		return k.judge.Grade(ctx, item, resp)
	}
	var v, other grade.Verdict
	errs := gather(2, 2, func(i int) (err error) {
		if i == 0 {
			v, err = k.judge.Grade(ctx, item, resp)
			return err
		}
		l := k.known[p.canary]
		mine := llm.WithSample(llm.WithItem(ctx, "canary "+l.Item.ID), p.sample)
		other, err = k.judge.Grade(mine, l.Item, l.Response)
		if err == nil {
			err = other.Check()
		}
		return err
	})
	k.note(p, other, errs[1], ctx.Err() != nil)
	v.Calls = append(v.Calls[:len(v.Calls):len(v.Calls)], other.Calls...)
	return v, errs[0]
}

// A pick is a canary that is judged beside an answer.
type pick struct {
	canary int
	sample int
	key    uint64
}

// hashOf decides about an answer.
func (k *Canaries) hashOf(id string, sample int) (first, second, third uint64) {
	b := binary.LittleEndian.AppendUint64(nil, k.config.Seed)
	b = binary.LittleEndian.AppendUint64(b, uint64(sample))
	sum := sha256.Sum256(append(b, id...))
	return binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]), binary.LittleEndian.Uint64(sum[16:])
}

func (k *Canaries) pick(id string, sample int) (pick, bool) {
	draw, which, key := k.hashOf(id, sample)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.beside++
	if k.config.Rate == 0 {
		if len(k.open) == 0 {
			return pick{}, false
		}
		at := int(which % uint64(len(k.open)))
		p := pick{canary: k.open[at], key: key}
		k.open = append(k.open[:at:at], k.open[at+1:]...)
		return p, true
	}
	if float64(draw>>11)/(1<<53) >= k.config.Rate {
		return pick{}, false
	}
	if n, ok := k.done[key]; ok && n == 0 || n >= canaryTries {
		return pick{}, false // another attempt at the same answer
	}
	// The sample index tells the canary beside one answer from the same one
	// beside another: it must not be answered by one recording.
	return pick{canary: int(which % uint64(len(k.known))), sample: int(key >> 33), key: key}, true
}

// note keeps what came of a canary. If the caller gave up, nothing did.
func (k *Canaries) note(p pick, v grade.Verdict, err error, over bool) {
	l := k.known[p.canary]
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil && over {
		if k.config.Rate == 0 {
			k.open = append(k.open, p.canary)
		}
		return
	}
	if err != nil {
		if k.config.Rate != 0 {
			k.done[p.key]++
		} else if k.fails[p.canary]++; k.fails[p.canary] < canaryTries {
			k.open = append(k.open, p.canary)
		}
	} else if k.config.Rate != 0 {
		k.done[p.key] = 0
	}
	v.Calls = nil // they are in the item's verdict
	k.asked = append(k.asked, CanaryResult{Item: l.Item.ID, Label: l.Label, Verdict: v, Err: err})
}

// A CanaryResult is what came of one canary that was judged.
type CanaryResult struct {
	Item    string     // the canary's id
	Label   grade.Mark // what it is
	Verdict grade.Verdict
	Err     error // the call failed; Verdict is zero
}

// Hit reports whether the judge said what the canary is.
func (r CanaryResult) Hit() bool { return r.Err == nil && r.Verdict.Mark == r.Label }

// Missed reports whether the judge gave the opposite verdict.
func (r CanaryResult) Missed() bool {
	return r.Err == nil && r.Verdict.Mark != r.Label && (r.Verdict.Mark == grade.Correct || r.Verdict.Mark == grade.Incorrect)
}

// A CanaryCount is what came of all canaries.
type CanaryCount struct {
	// Answers is how many answers were judged, Canaries how many canaries there
	// are.
	Answers, Canaries int
	// Hit and Missed are the canaries that got a legal verdict, Ungraded those
	// that got none, Errored the calls that failed, Waiting the canaries that were
	// to be judged and were not: there were too few answers.
	Hit, Missed, Ungraded, Errored, Waiting int
	// Results are all that were judged, in the order in which they ended.
	Results []CanaryResult
	// Allowed is how many may be missed.
	Allowed int
}

// Report is what came of the canaries so far.
func (k *Canaries) Report() CanaryCount {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := CanaryCount{Answers: k.beside, Canaries: len(k.known), Waiting: len(k.open), Allowed: k.config.Misses}
	c.Results = append(c.Results, k.asked...)
	for _, r := range c.Results {
		switch {
		case r.Err != nil:
			c.Errored++
		case r.Hit():
			c.Hit++
		case r.Missed():
			c.Missed++
		default:
			c.Ungraded++
		}
	}
	return c
}

// Verdict implements [CanaryReport]: an error that wraps [ErrCanary] if more
// canaries were missed than may be, or if canaries of a kind were judged and
// none of them got a legal verdict: then it is not known whether the judge can
// tell that kind. It is no error that no canary was judged, as in a run of few
// answers, or with a small Rate: Report shows it.
func (k *Canaries) Verdict() error {
	c := k.Report()
	if c.Missed > c.Allowed {
		var missed []string
		for _, r := range c.Results {
			if r.Missed() {
				missed = append(missed, fmt.Sprintf("%.100q is %s and was judged %s", r.Item, r.Label, r.Verdict.Mark))
			}
		}
		return fmt.Errorf("%w: the judge missed %d of %d (%d may be missed): %s", ErrCanary, c.Missed, c.Hit+c.Missed, c.Allowed, cut(strings.Join(missed, "; "), whyLimit))
	}
	for _, kind := range []grade.Mark{grade.Correct, grade.Incorrect} {
		tried, legal, why := 0, 0, ""
		for _, r := range c.Results {
			switch {
			case r.Label != kind:
			case r.Hit() || r.Missed():
				legal++
			case r.Err != nil:
				tried, why = tried+1, "the last call failed: "+quote(r.Err.Error())
			default:
				tried, why = tried+1, "the last verdict was "+string(r.Verdict.Mark)+": "+quote(r.Verdict.Why)
			}
		}
		if tried > 0 && legal == 0 {
			return fmt.Errorf("%w: none of the %d judgements of %s ones gave a legal verdict, so that nothing is known of the judge; %s", ErrCanary, tried, kind, why)
		}
	}
	return nil
}

// String is a line for people.
func (c CanaryCount) String() string {
	s := fmt.Sprintf("%d canaries beside %d judged answers: hit %d, missed %d, ungraded %d, errors %d",
		c.Canaries, c.Answers, c.Hit, c.Missed, c.Ungraded, c.Errored)
	if c.Waiting > 0 {
		s += fmt.Sprintf(", not judged %d", c.Waiting)
	}
	return s
}
