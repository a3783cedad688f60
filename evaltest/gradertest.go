package evaltest

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A GraderExample is an answer whose mark is known.
type GraderExample struct {
	Name     string // of the subtest
	Item     dataset.Item
	Response llm.Response
	Mark     grade.Mark // what the grader must say
}

// TestGrader checks, as subtests of t, that the graders which newGrader makes
// keep the promises of [grade.Grader] that a run relies on: they give the marks
// of the examples and legal verdicts (see [grade.Verdict.Check]) on anything,
// the same ones whenever and by whomever they are asked, from many goroutines
// at once (run it with -race); they change nothing that they are given, do not
// panic, and return soon from a cancelled context. At least one example must be
// Correct, or the rest would show little.
//
// It is for graders that depend on their arguments alone. A judge depends on
// its model: give it one that answers always alike.
func TestGrader(t *testing.T, newGrader func() grade.Grader, examples ...GraderExample) {
	t.Helper()
	correct := false
	for _, e := range examples {
		correct = correct || e.Mark == grade.Correct
	}
	switch {
	case newGrader == nil || newGrader() == nil:
		t.Fatal("evaltest.TestGrader: newGrader gives no grader")
	case !correct:
		t.Fatalf("evaltest.TestGrader: none of the %d examples is %s: give at least one answer that is right", len(examples), grade.Correct)
	}
	g := &graderTest{newGrader, examples}
	t.Run("examples", g.marks)
	t.Run("same again", g.deterministic)
	t.Run("arguments unchanged", g.pure)
	t.Run("any text", g.anyText)
	t.Run("cancelled", g.cancelled)
	t.Run("concurrent", g.concurrent)
}

type graderTest struct {
	newGrader func() grade.Grader
	examples  []GraderExample
}

// judged is what one call came to, in words that can be compared.
func judged(ctx context.Context, g grade.Grader, it dataset.Item, r llm.Response) (v grade.Verdict, text string, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			text, panicked = fmt.Sprintf("panic: %v\n%s", p, debug.Stack()), true
		}
	}()
	v, err := g.Grade(ctx, it, r)
	if err != nil {
		return v, "error: " + err.Error(), false
	}
	return v, fmt.Sprintf("%+v", v), false
}

func (g *graderTest) marks(t *testing.T) {
	for _, e := range g.examples {
		v, text, panicked := judged(t.Context(), g.newGrader(), cloneItem(e.Item), cloneResponse(e.Response))
		switch {
		case panicked || strings.HasPrefix(text, "error: "):
			t.Errorf("%s: Grade(%q) of target %q: %s; want mark %s", e.Name, e.Response.Text, e.Item.Target, text, e.Mark)
		case v.Mark != e.Mark:
			t.Errorf("%s: Grade(%q) of target %q = %s (answer %q, how %q, why %q), want %s", e.Name, e.Response.Text, e.Item.Target, v.Mark, v.Answer, v.How, v.Why, e.Mark)
		case v.How == "":
			t.Errorf("%s: the verdict does not say how it was reached: set How", e.Name)
		}
		if err := v.Check(); err != nil && !panicked {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

func (g *graderTest) deterministic(t *testing.T) {
	one := g.newGrader()
	for _, e := range g.examples {
		_, first, _ := judged(t.Context(), one, cloneItem(e.Item), cloneResponse(e.Response))
		for i, other := range []grade.Grader{one, one, g.newGrader()} {
			if _, again, _ := judged(t.Context(), other, cloneItem(e.Item), cloneResponse(e.Response)); again != first {
				t.Errorf("%s: call %d of the same answer differs:\n%s\n%s", e.Name, i+2, first, again)
				break
			}
		}
	}
}

func (g *graderTest) pure(t *testing.T) {
	for _, e := range g.examples {
		it, r := cloneItem(e.Item), cloneResponse(e.Response)
		judged(t.Context(), g.newGrader(), it, r)
		if !reflect.DeepEqual(it, cloneItem(e.Item)) || !reflect.DeepEqual(r, cloneResponse(e.Response)) {
			t.Errorf("%s: Grade changed its arguments: other goroutines read them at the same time", e.Name)
		}
	}
}

func cloneItem(it dataset.Item) dataset.Item {
	it.Targets = append([]string{}, it.Targets...)
	it.Choices = append([]string{}, it.Choices...)
	it.Raw = append([]byte{}, it.Raw...)
	return it
}

func cloneResponse(r llm.Response) llm.Response {
	r.ToolCalls = append([]llm.ToolCall{}, r.ToolCalls...)
	r.Warnings = append([]string{}, r.Warnings...)
	return r
}

// awkward are texts that models and servers do return.
var awkward = []struct{ name, text string }{
	{"empty", ""},
	{"spaces", " \n\t "},
	{"invalid UTF-8", "\xff\xfe answer: 4\xc3"},
	{"NUL and ESC", "\x00\x1b[31m4\x16"},
	{"one megabyte", strings.Repeat("4 ", 1<<19)},
	{"deep brackets", strings.Repeat("[{(<", 20_000)},
	{"long number", strings.Repeat("9", 100_000)},
	{"huge exponent", "1e999999999"},
	{"unclosed block", "<think>4"},
	{"format verbs", "%s %d %v %!"},
}

// unbearable is how long no grader may take for one text: it tells a hang, and
// must not tell a busy machine under -race.
const unbearable = time.Minute

func (g *graderTest) anyText(t *testing.T) {
	one := g.newGrader()
	for _, a := range awkward {
		for _, e := range g.examples {
			r := e.Response
			r.Text = a.text
			v, got, panicked, late := timed(t.Context(), one, cloneItem(e.Item), cloneResponse(r))
			switch {
			case late:
				t.Fatalf("%s as the answer to example %s: no verdict after %v", a.name, e.Name, unbearable)
			case panicked:
				t.Errorf("%s as the answer to example %s: %s", a.name, e.Name, got)
			case strings.HasPrefix(got, "error: "):
				t.Errorf("%s as the answer to example %s: %s; a bad answer is a verdict, never an error", a.name, e.Name, got)
			default:
				if err := v.Check(); err != nil {
					t.Errorf("%s as the answer to example %s: %v", a.name, e.Name, err)
				}
			}
		}
	}
}

// timed gives a grader a limited time.
func timed(ctx context.Context, g grade.Grader, it dataset.Item, r llm.Response) (v grade.Verdict, text string, panicked, late bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		v, text, panicked = judged(ctx, g, it, r)
	}()
	timer := time.NewTimer(unbearable)
	defer timer.Stop()
	select {
	case <-done:
		return v, text, panicked, false
	case <-timer.C:
		return grade.Verdict{}, "", false, true
	}
}

func (g *graderTest) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range g.examples {
		_, text, panicked, late := timed(ctx, g.newGrader(), cloneItem(e.Item), cloneResponse(e.Response))
		if late {
			t.Fatalf("%s: Grade did not return within %v of a cancelled context", e.Name, unbearable)
		}
		if panicked {
			t.Errorf("%s: with a cancelled context: %s", e.Name, text)
		}
	}
}

func (g *graderTest) concurrent(t *testing.T) {
	one := g.newGrader()
	want := make([]string, len(g.examples))
	for i, e := range g.examples {
		_, want[i], _ = judged(t.Context(), g.newGrader(), cloneItem(e.Item), cloneResponse(e.Response))
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i, e := range g.examples {
				if _, got, _ := judged(t.Context(), one, cloneItem(e.Item), cloneResponse(e.Response)); got != want[i] {
					t.Errorf("%s: asked by several goroutines at once:\n%s\nalone:\n%s", e.Name, got, want[i])
				}
			}
		})
	}
	wait.Wait()
}
