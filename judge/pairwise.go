package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A Side is which of two answers is the better one. "" is no legal verdict.
type Side string

// The sides.
const (
	SideA   Side = "a"
	SideB   Side = "b"
	SideTie Side = "tie"
)

// ErrPairwise is wrapped by every error of [Pairwise.Compare] beside that of the
// call itself.
var ErrPairwise = errors.New("judge: pairwise")

// A Preference is what a [Pairwise] judge says of two answers.
type Preference struct {
	// Winner is the better answer, SideTie if neither is or if the two orders
	// disagree, and "" if one of them got no legal verdict: then the pair is
	// ungraded, and Reason and Why say why.
	Winner Side
	// AB is what was said when a came first, BA when b did.
	AB, BA Side
	// Disagreed is whether AB and BA are legal and differ: the order decided,
	// not the answers.
	Disagreed bool
	// How says how Winner was reached.
	How string
	// Reason and Why explain a pair that is ungraded. Why may quote an answer or
	// the judge: escape it before it is shown.
	Reason grade.Reason
	Why    string
	// Calls are the calls that were made, first those of AB.
	Calls []llm.Response
}

// A Pairwise asks a model which of two answers is the better one, once in each
// order, and counts how often the order decides. Make one with [NewPairwise] and
// use it from any number of goroutines.
type Pairwise struct {
	ask  *asker
	name string
	form question // schema, json and line alone

	mu    sync.Mutex
	total PairwiseSummary
}

// pairChoices are read with the rules of the verdict judge. All of them pass, so
// that none of them, copied from an answer, counts.
var pairChoices = menu{
	{Word: "FIRST", Also: []string{"1", "answer 1", "first answer", "the first"}, Means: "answer 1 is better", Mark: grade.Correct, Score: 1},
	{Word: "SECOND", Also: []string{"2", "answer 2", "second answer", "the second"}, Means: "answer 2 is better", Mark: grade.Correct, Score: 1},
	{Word: "TIE", Also: []string{"both", "equal"}, Means: "neither is better", Mark: grade.Correct, Score: 1},
}

// NewPairwise makes a pairwise judge of a model. [Criteria] says what makes an
// answer better; default: that it is right, and answers the question. It panics
// if m is nil or options contradict each other, and on [Choices] and [Cache],
// which it does not take.
func NewPairwise(m llm.Model, opts ...Option) *Pairwise {
	c := newConfig(opts)
	c.refuseOthers("NewPairwise")
	p := &Pairwise{ask: newAsker("NewPairwise", m, c), form: question{
		schema: pairChoices.schemaFor(), json: pairChoices.jsonForm(), line: pairChoices.lineForm(),
	}}
	p.name = nameOf("pairwise", p.ask.name, c.fingerprint())
	return p
}

// Name is "pairwise", the version of the prompt, the model's name and eight
// digits that change with the settings.
func (p *Pairwise) Name() string { return p.name }

// Compare asks which of two answers to item is the better one, in both orders at
// once. The answers are called 1 and 2, whoever gave them. Two answers that are
// the same are a tie, and cost nothing. An answer without text or tool calls, a
// refusal, and one that never left its reasoning are not compared: the pair is
// ungraded.
//
// An error is a call that failed, or the context's; the calls that were made are
// in the preference.
func (p *Pairwise) Compare(ctx context.Context, item dataset.Item, a, b llm.Response) (Preference, error) {
	pref, same, err := p.compare(ctx, item, a, b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total.add(pref, same, err)
	return pref, err
}

func (p *Pairwise) compare(ctx context.Context, item dataset.Item, a, b llm.Response) (pref Preference, same bool, err error) {
	if err := ctx.Err(); err != nil {
		return pref, false, fmt.Errorf("%w: not asked: %w", ErrPairwise, err)
	}
	var texts [2]string
	for i, resp := range []llm.Response{a, b} {
		text, v, ok := answerOf(resp)
		if !ok {
			return Preference{How: "pairwise: not asked", Reason: v.Reason, Why: "answer " + string([]Side{SideA, SideB}[i]) + ": " + v.Why}, false, nil
		}
		texts[i] = text
	}
	one := pairAnswer{texts[0], a.ToolCalls}
	two := pairAnswer{texts[1], b.ToolCalls}
	if strings.TrimSpace(one.text) == strings.TrimSpace(two.text) && callsText(one.calls) == callsText(two.calls) {
		return Preference{Winner: SideTie, AB: SideTie, BA: SideTie, How: "pairwise: the answers are the same, not asked"}, true, nil
	}
	var got [2]Reading
	var faults [2]*fault
	var spent [2][]llm.Response
	errs := gather(2, 2, func(i int) (err error) {
		first, second := one, two
		if i == 1 {
			first, second = two, one
		}
		shown := strings.Join([]string{first.text, callsText(first.calls), second.text, callsText(second.calls)}, "\n")
		read := func(r llm.Response) (Reading, *fault) { return pairChoices.readFor(r, shown) }
		got[i], faults[i], spent[i], err = ask(ctx, p.ask, p.prompt(item, first, second), read)
		return err
	})
	pref.Calls = append(append(pref.Calls, spent[0]...), spent[1]...)
	if _, err := firstOf(errs); err != nil {
		return pref, false, fmt.Errorf("%w: %w", ErrPairwise, err)
	}
	pref.settle(got, faults, spent)
	return pref, false, nil
}

// settle makes two readings one preference.
func (pref *Preference) settle(got [2]Reading, faults [2]*fault, spent [2][]llm.Response) {
	sides := [2]Side{}
	for i, no := range faults {
		if no == nil {
			sides[i] = sideOf(got[i].Choice.Word, i == 1)
			continue
		}
		if pref.Reason == "" {
			v := ungraded("pairwise", no, spent[i], nil)
			pref.Reason, pref.Why = v.Reason, fmt.Sprintf("with %s first: %s", []Side{SideA, SideB}[i], v.Why)
		}
	}
	pref.AB, pref.BA = sides[0], sides[1]
	switch {
	case pref.AB == "" || pref.BA == "":
		pref.How = "pairwise: no legal verdict"
	case pref.AB == pref.BA:
		pref.Winner, pref.How = pref.AB, "pairwise: both orders say "+string(pref.AB)
	default:
		pref.Winner, pref.Disagreed = SideTie, true
		pref.How = fmt.Sprintf("pairwise: the orders disagree, %s with a first and %s with b first: a tie", pref.AB, pref.BA)
	}
}

// sideOf returns whose answer a word names.
func sideOf(word string, swapped bool) Side {
	switch {
	case word == "TIE":
		return SideTie
	case (word == "FIRST") != swapped:
		return SideA
	}
	return SideB
}

type pairAnswer struct {
	text  string
	calls []llm.ToolCall
}

const (
	pairRole = "You compare two answers to one question%s, and decide which of them is better. Their order, their length and how sure they sound are no reason to prefer one."
	// better is what makes an answer better, unless Criteria says more.
	better = "The better answer is the one that is right and answers what the question asks for. If both are, or neither is, and you see no difference that matters, it is a tie."
)

// prompt is the question about two answers in this order.
func (p *Pairwise) prompt(item dataset.Item, first, second pairAnswer) question {
	blocks, given := p.ask.opening(item)
	blocks = append(blocks, p.ask.answerBlocks("ANSWER 1", first.text, first.calls)...)
	blocks = append(blocks, p.ask.answerBlocks("ANSWER 2", second.text, second.calls)...)
	data, nonce, left := delimit(blocks...)
	var s strings.Builder
	p.ask.introduce(&s, fmt.Sprintf(pairRole, given))
	if p.ask.criteria == "" {
		s.WriteString("\n\n" + better)
	}
	s.WriteString("\n\n" + dataRule(nonce))
	if left > 0 {
		fmt.Fprintf(&s, " The answers were too long: %d bytes in their middle are left out where a line says so. Judge them by the rest.", left)
	}
	s.WriteString("\n\nThe verdicts are:\n" + pairChoices.list())
	q := p.form
	q.system, q.user = s.String(), data
	return q
}

// Summary is what was counted so far.
func (p *Pairwise) Summary() PairwiseSummary {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}
