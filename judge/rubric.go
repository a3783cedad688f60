package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A Criterion is one thing that a [Rubric] asks about an answer.
type Criterion struct {
	// Name is what the judge calls it: 1 to 64 ASCII letters, digits, _ and -,
	// with a letter or digit at each end, so that emphasis around it is told from
	// it. Two names that differ in case only are the same.
	Name string
	// Text is a statement about the answer that is so or not: "It names its
	// source." It goes to the judge as it is.
	Text string
	// Weight is what it counts, on any scale. A negative one is a penalty: it is
	// taken off as far as the statement is so. It is a finite number and not 0:
	// a criterion that counts nothing is left out.
	Weight float64
}

// A Rubric is a [grade.Grader] that asks a model about each criterion of a list
// and counts the answers itself. Make one with [NewRubric] and use it from any
// number of goroutines.
//
// Each criterion is answered yes (1), partly (½) or no (0). The score is the sum
// of weight times answer, divided by the sum of the positive weights; penalties
// can take it down to 0, not below. Weights are summed as the decimals that
// they are written as. A number that the model gives is not read. The verdict is
// [grade.Correct] from the [Threshold] on, else [grade.Incorrect] with the score
// as partial credit.
type Rubric struct {
	ask      *asker
	name     string
	criteria []Criterion
	rubricConfig
	// forms are what is asked, each in a call of its own: one for all criteria,
	// or one for each.
	forms []rubricForm
}

var (
	_ grade.Grader = (*Rubric)(nil)
	_ grade.Named  = (*Rubric)(nil)
)

// A RubricOption changes how a [Rubric] is made. Every [Option] is one, except
// for [Choices] and [Cache].
type RubricOption interface{ applyRubric(*rubricConfig) }

type rubricConfig struct {
	opts      []Option
	threshold float64
	each      bool
	strict    bool
}

func (o Option) applyRubric(c *rubricConfig) { c.opts = append(c.opts, o) }

type rubricOption func(*rubricConfig)

func (o rubricOption) applyRubric(c *rubricConfig) { o(c) }

// Threshold is the score from which a [Rubric] is correct, above 0 and at most
// 1; default 1: each criterion of a positive weight is met, and no penalty
// applies, not even partly.
func Threshold(score float64) RubricOption {
	if !(score > 0 && score <= 1) {
		panic(fmt.Sprintf("judge.Threshold(%v): give a score above 0 and at most 1", score))
	}
	return rubricOption(func(c *rubricConfig) { c.threshold = score })
}

// OneCallEach asks about each criterion in a call of its own, all at once;
// default: one call for all. It costs as many calls as there are criteria, and
// one answer cannot colour the next.
func OneCallEach() RubricOption { return rubricOption(func(c *rubricConfig) { c.each = true }) }

// RequireQuotes lets no yes and no partly count whose quotation does not stand
// in the answer, or that has none: the judge is asked again, and then the
// verdict is [grade.Ungraded]. Case, blanks and the form of quotation marks do
// not matter, and what is left out may be marked by an ellipsis. What nobody can
// quote, such as that something is absent, is better asked as a penalty for its
// presence.
//
// By default such a quotation is noted, in the verdict's How, and the verdict
// stands: models that judge well quote from memory.
func RequireQuotes() RubricOption { return rubricOption(func(c *rubricConfig) { c.strict = true }) }

// mostCriteria is how many criteria a rubric may have: more are no longer
// answered in one reply.
const mostCriteria = 64

// NewRubric makes a rubric judge of a model. It panics if m is nil, if there are
// no criteria or more than 64, if one has a name that is none or stands twice,
// no text, or a weight that is NaN, infinite or 0, if no weight is positive, and
// if options contradict each other.
//
// A criterion that the reply leaves out, answers twice or answers in another
// word, and one that was not asked for, make the reply no verdict: it is asked
// for again ([Reasks]), and then the verdict is [grade.Ungraded]. [Criteria]
// adds what the judge must know to apply the criteria.
func NewRubric(m llm.Model, criteria []Criterion, opts ...RubricOption) *Rubric {
	rc := rubricConfig{threshold: 1}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("judge.NewRubric: option %d is nil", i+1))
		}
		o.applyRubric(&rc)
	}
	c := newConfig(rc.opts)
	c.refuseOthers("NewRubric")
	checkCriteria(criteria)
	r := &Rubric{criteria: append([]Criterion(nil), criteria...), rubricConfig: rc, ask: newAsker("NewRubric", m, c)}
	if rc.each {
		for i := range r.criteria {
			r.forms = append(r.forms, newRubricForm(r.criteria[i:i+1], rc.strict))
		}
	} else {
		r.forms = []rubricForm{newRubricForm(r.criteria, rc.strict)}
	}
	settings, err := json.Marshal(struct {
		Criteria     []Criterion
		Threshold    float64
		Each, Strict bool
	}{criteria, rc.threshold, rc.each, rc.strict})
	if err != nil {
		panic("judge.NewRubric: " + err.Error()) // the weights are finite
	}
	r.name = nameOf("rubric", r.ask.name, string(settings)+c.fingerprint())
	return r
}

// refuseOthers panics on options that only New can mean.
func (c config) refuseOthers(who string) {
	if !reflect.DeepEqual(c.offered, menu(Verdicts())) {
		panic("judge." + who + ": Choices is set; this judge offers words of its own: leave it out")
	}
	if c.store != nil {
		panic("judge." + who + ": Cache is set; it keeps verdicts of judge.New only: leave it out, and record the run with a cassette")
	}
}

var criterionName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$`)

func checkCriteria(criteria []Criterion) {
	if len(criteria) == 0 || len(criteria) > mostCriteria {
		panic(fmt.Sprintf("judge.NewRubric: %d criteria; give 1 to %d", len(criteria), mostCriteria))
	}
	seen, positive := map[string]bool{}, false
	for i, c := range criteria {
		key := strings.ToLower(c.Name)
		switch {
		case !criterionName.MatchString(c.Name):
			panic(fmt.Sprintf("judge.NewRubric: criterion %d: the name %q is not 1 to 64 letters, digits, _ and -, with a letter or digit at each end", i+1, c.Name))
		case whyFields[key] || key == wrapper:
			panic(fmt.Sprintf("judge.NewRubric: criterion %d: the name %q means something else in a reply; give another", i+1, c.Name))
		case seen[key]:
			panic(fmt.Sprintf("judge.NewRubric: criterion %d: the name %q stands twice", i+1, c.Name))
		case strings.TrimSpace(c.Text) == "":
			panic(fmt.Sprintf("judge.NewRubric: criterion %q: the text is empty; say what is so if it is met", c.Name))
		case math.IsNaN(c.Weight) || math.IsInf(c.Weight, 0) || c.Weight == 0:
			panic(fmt.Sprintf("judge.NewRubric: criterion %q: the weight is %v; give a finite number that is not 0", c.Name, c.Weight))
		}
		seen[key] = true
		positive = positive || c.Weight > 0
	}
	if !positive {
		panic("judge.NewRubric: no criterion has a positive weight: no answer could earn a score")
	}
}

// Name is "rubric", the version of the prompt, the model's name and eight digits
// that change with the criteria and settings.
func (r *Rubric) Name() string { return r.name }

// Grade asks the model about one answer. The verdict is [grade.Ungraded] if
// after all re-asks a criterion has no legal answer. Its Calls are the calls
// that were made, with their raw replies, usage and times. An answer without
// text or tool calls, a refusal, and one that never left its reasoning are
// [grade.Unparsed] and cost nothing.
//
// An error is a call that failed, or the context's; the calls that were made are
// in the verdict's Calls.
func (r *Rubric) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (grade.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return grade.Verdict{}, fmt.Errorf("judge: rubric: not asked: %w", err)
	}
	answer, v, ok := answerOf(resp)
	if !ok {
		return v, nil
	}
	source := newSource(answer, resp.ToolCalls)
	found := make([][]finding, len(r.forms))
	faults := make([]*fault, len(r.forms))
	spent := make([][]llm.Response, len(r.forms))
	errs := gather(len(r.forms), len(r.forms), func(i int) (err error) {
		f := r.forms[i]
		read := func(resp llm.Response) ([]finding, *fault) { return f.read(resp, source) }
		found[i], faults[i], spent[i], err = ask(ctx, r.ask, r.prompt(f, item, answer, resp.ToolCalls), read)
		return err
	})
	var calls []llm.Response
	var all []finding
	for i := range r.forms {
		calls = append(calls, spent[i]...)
		all = append(all, found[i]...)
	}
	if i, err := firstOf(errs); err != nil {
		return grade.Verdict{Calls: calls}, fmt.Errorf("judge: rubric: %s: %w", r.forms[i].names(), err)
	}
	for i, no := range faults {
		if no != nil {
			return ungraded("rubric", no, spent[i], calls), nil
		}
	}
	v = r.verdict(all)
	v.Calls = calls
	return v, nil
}

// ungraded is the verdict after a last reply that could not be used.
func ungraded(kind string, no *fault, asked, all []llm.Response) grade.Verdict {
	why := no.why
	if n := len(asked); n > 0 && asked[n-1].Text != "" {
		why += "; it replied " + quote(asked[n-1].Text)
	}
	return grade.Verdict{Mark: grade.Ungraded, How: kind + ": no legal verdict", Reason: no.reason, Why: why, Calls: all}
}

// whyLimit keeps an explanation short, however many criteria or members there
// are.
const whyLimit = 3500

// verdict counts the findings, one for each criterion in its order.
func (r *Rubric) verdict(all []finding) grade.Verdict {
	score := r.score(all)
	number := scoreText(score, r.threshold)
	v := grade.Verdict{Mark: grade.Correct}
	if v.Score, _ = score.Float64(); v.Score == 1 && !score.IsInt() {
		v.Score = math.Nextafter(1, 0) // not all was met
	}
	var says, whys, invented []string
	for i, f := range all {
		c := r.criteria[i]
		says = append(says, c.Name+" "+f.answer().Word)
		if f.quote != "" && !f.stands {
			invented = append(invented, c.Name)
		}
		if full := f.answer().Score == 1; full == (c.Weight > 0) && (full || f.answer().Score == 0) {
			continue // nothing was lost by it
		}
		why := fmt.Sprintf("%s (weight %v): %s", c.Name, c.Weight, f.answer().Word)
		if f.reason != "" {
			why += ", it says " + quote(f.reason)
		}
		if f.quote != "" {
			why += ", quoting " + quote(f.quote)
		}
		whys = append(whys, why)
	}
	v.How = "rubric: score " + number + ": " + cut(strings.Join(says, ", "), whyLimit/2)
	note := ""
	if len(invented) > 0 {
		note = "; what it quotes does not stand in the answer: " + cut(strings.Join(invented, ", "), whyLimit/4)
		v.How += note
	}
	if score.Cmp(ratOf(r.threshold)) < 0 {
		v.Mark, v.Reason = grade.Incorrect, grade.ReasonWrong
		v.Why = fmt.Sprintf("the score is %s, and correct from %v on; ", number, r.threshold) + cut(strings.Join(whys, "; "), whyLimit) + note
	}
	return v
}

// score is exact.
func (r *Rubric) score(all []finding) *big.Rat {
	sum, most := new(big.Rat), new(big.Rat)
	for i, f := range all {
		w := ratOf(r.criteria[i].Weight)
		if w.Sign() > 0 {
			most.Add(most, w)
		}
		sum.Add(sum, w.Mul(w, ratOf(f.answer().Score)))
	}
	if sum.Sign() < 0 {
		return new(big.Rat)
	}
	return sum.Quo(sum, most)
}

// scoreText is a score in four digits, or in as many as show that it is below a
// threshold.
func scoreText(score *big.Rat, threshold float64) string {
	x, _ := score.Float64()
	for _, digits := range []int{4, -1} {
		text := strconv.FormatFloat(x, 'g', digits, 64)
		shown, ok := new(big.Rat).SetString(text)
		if ok && shown.Cmp(ratOf(threshold)) >= 0 == (score.Cmp(ratOf(threshold)) >= 0) {
			return text
		}
	}
	if score.Cmp(ratOf(threshold)) >= 0 {
		return strconv.FormatFloat(threshold, 'g', -1, 64)
	}
	return "below " + strconv.FormatFloat(threshold, 'g', -1, 64)
}

// ratOf is the decimal that a finite number is written as: 0.1 is a tenth.
func ratOf(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("judge: %v is no finite number", f))
	}
	return r
}
