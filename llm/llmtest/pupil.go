package llmtest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/goevals/evals/llm"
)

// A Fate is what becomes of a question that a [Pupil] is asked.
type Fate string

// The fates.
const (
	FateRight   Fate = "right"   // the right answer, behind "####"
	FateWrong   Fate = "wrong"   // another one
	FateVague   Fate = "vague"   // no answer at all, until it thinks: then the right one
	FateMumbled Fate = "mumbled" // says that it has answered, and nothing that a grader can compare
)

// A Pupil is a Reply for a [Server]: a fake model of known accuracy, for
// questions whose answers are known. What becomes of a question is drawn from
// Seed and the question alone, so it is the same in each run and for each try,
// and Fate says it beforehand: a test knows how many answers will be right
// before it asks. What the answers are billed is in [Server.Counts].
//
// Set the fields before the first call; safe for concurrent use.
type Pupil struct {
	// Answers are the right answers by question.
	Answers map[string]string
	// Question finds the question in a prompt, which is the last message's
	// text. Nil takes the whole text.
	Question func(prompt string) string
	// Wrong, Vague and Mumbled are how likely each of these fates is; the rest is
	// right. Fate and Reply panic if one is negative or no number, or all are more
	// than 1.
	Wrong, Vague, Mumbled float64
	// Thinks reports whether a call asks for thoughts; nil means none does. Such
	// an answer has Reasoning.
	Thinks func(Chat) bool
	// Cached is how many tokens of each prompt are told as read from a cache: as
	// many in each run, unlike with [PrefixCache], where that depends on the
	// order in which calls come. 0 leaves the counting to the server. Else the
	// answer says what it took ([Reply].Tokens), as [WordUsage] counts: the
	// server's Tokens, if set, counts for its limits and where it cuts, and no
	// longer what is billed; its Cache is not asked, and an answer that CapOutput
	// cuts is billed whole.
	Cached int
	// First is the time until an answer's first token, drawn for each question
	// once: however often and whoever asks, it takes as long, so that two ways
	// to ask the same questions can be compared. Nil leaves it to the server's
	// Latency, which draws anew for each try.
	First Dist
	// Seed is what fates and times are drawn from.
	Seed uint64
}

// draws is where a question's fate, and then its time, are drawn from.
func (p *Pupil) draws(question string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(question))
	return rand.New(rand.NewPCG(h.Sum64(), p.Seed))
}

// Fate is what becomes of a question.
func (p *Pupil) Fate(question string) Fate {
	p.check()
	draw := p.draws(question).Float64()
	for _, f := range []struct {
		fate  Fate
		share float64
	}{{FateWrong, p.Wrong}, {FateVague, p.Vague}, {FateMumbled, p.Mumbled}} {
		if draw -= f.share; draw < 0 {
			return f.fate
		}
	}
	return FateRight
}

// maxShares is what the shares may add up to: 1, but for the rounding of their
// sum.
const maxShares = 1 + 1e-9

func (p *Pupil) check() {
	for _, s := range []struct {
		name  string
		share float64
	}{{"Wrong", p.Wrong}, {"Vague", p.Vague}, {"Mumbled", p.Mumbled}} {
		if !(s.share >= 0) { // NaN too
			panic(fmt.Sprintf("llmtest: Pupil.%s is %v, want a share of 0 to 1", s.name, s.share))
		}
	}
	if all := p.Wrong + p.Vague + p.Mumbled; all > maxShares {
		panic(fmt.Sprintf("llmtest: a Pupil's Wrong, Vague and Mumbled are %v, %v and %v, which is %v in all, want at most 1", p.Wrong, p.Vague, p.Mumbled, all))
	}
}

// Reply answers a call. A question that is not known gets a 400 that says so.
func (p *Pupil) Reply(c Chat) Reply {
	question := c.Last()
	if p.Question != nil {
		question = p.Question(question)
	}
	right, ok := p.Answers[question]
	if !ok {
		return Reply{Raw: Status(400, `{"error":{"message":"the pupil does not know this question","type":"invalid_request_error"}}`)}
	}
	thinks := p.Thinks != nil && p.Thinks(c)
	fate := p.Fate(question)
	r := Reply{}
	if p.First != nil {
		d := p.draws(question)
		d.Float64() // the fate's
		r.FirstToken = p.First(d)
	}
	if thinks {
		r.Reasoning = "Let me see what is asked, and go through it once more from the start. "
		if fate == FateVague {
			fate = FateRight
		}
	}
	switch fate {
	case FateRight:
		r.Text = "Step by step, this comes to the following.\n#### " + right
	case FateWrong:
		r.Text = "Step by step, this comes to the following.\n#### " + right + "7"
	case FateVague:
		r.Text = "That is hard to say without a closer look."
	case FateMumbled:
		r.Text = "I have worked it out, and the result is as it should be."
	}
	if p.Cached > 0 {
		r.Tokens = p.bill(c, r)
	}
	return r
}

// bill is what the call took, Cached of it from a cache.
func (p *Pupil) bill(c Chat, r Reply) *llm.Usage {
	var req llm.Request
	for _, m := range c.Messages {
		req.Messages = append(req.Messages, llm.Message{Content: m.Content})
	}
	u := WordUsage(0, req, llm.Response{Reasoning: r.Reasoning, Text: r.Text})
	u.CachedInput = min(u.Input, int64(p.Cached))
	return &u
}
